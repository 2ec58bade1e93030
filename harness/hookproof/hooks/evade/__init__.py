"""Other ways to do what a guard refuses, and harmless things that only look like it."""
