"""Whether a disk is full. What a program says of it, it often says to that very disk."""

from __future__ import annotations

import shutil
from pathlib import Path

# Less than this is none: what could not be written may have been larger than a block.
NONE = 1_000_000


def is_full(folder: Path) -> bool:
    """Whether nothing worth mention can be written to the disk of this folder."""
    return shutil.disk_usage(folder).free < NONE
