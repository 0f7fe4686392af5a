"""How the cells of a lab say what they are, in scripts, notebooks and hints alike."""

from __future__ import annotations

import re

TASK = re.compile(r"task-([1-9]\d*)$")
"""The tag in a script and the id in a notebook of the cell with an answer."""
CHECK = re.compile(r"check-([1-9]\d*)$")
"""The same of the cell that looks at the answer."""
TASK_LINE = re.compile(r"\s*#\s*task\s+([1-9]\d*)\b", re.IGNORECASE)
"""The first line of the cell of a task, which a student sees."""
HINT = re.compile(r"^## task-([1-9]\d*)\s*$", re.MULTILINE)
"""What stands above a hint in hints.md."""
