"""The families of checks; each is a module, and each module that is here is run."""
