"""The rules, one family to a file; importing a family registers its rules."""
