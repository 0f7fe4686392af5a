"""Hand-ins of many kinds, for the benchmark of fairness: honest ones, and cheats.

An honest one is the solution of a lab as other people would hand it in: by another tool (formats),
in other cells (cells), in another style (styles), or by another route (routes). A cheat is a blank
lab with code that wants points, other people's records, or to stay.
"""
