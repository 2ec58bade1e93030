"""One script, many agents: what its own answers come to in each, why, and the smallest change that makes them agree.

matrix.py reads the answers everywhere, change.py looks for the change, words.py tells both.
"""
