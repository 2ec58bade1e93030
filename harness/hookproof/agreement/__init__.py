"""What a real program was seen to do, row by row, is held against what a runner does in the same scene.

rows.py reads the rows, expressible.py says which of them the runner protocol can express (before anything
runs, and without a look at names or outcomes), host.py what the program itself let pass, scene.py lays out
one row and makes its request, story.py puts what happened into a few words on both sides, and compare.py
holds them against each other. Start at `agree.all_rows`.
"""
