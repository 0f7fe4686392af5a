"""The sandbox in which the code of a hand-in runs, and the doors that lead out of it."""
