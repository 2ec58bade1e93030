"""The proof of a gate: which faulty settings files does a validator refuse, and which correct ones?"""
