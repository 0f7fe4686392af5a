"""What marks the cells of a lab: as tags in its script, as ids in its notebooks."""

import re

TASK = re.compile(r"task-([1-9]\d*)$")
CHECK = re.compile(r"check-([1-9]\d*)$")
DEMO = "demo"
"""A cell that shows something and that no task needs: grading leaves it out."""
