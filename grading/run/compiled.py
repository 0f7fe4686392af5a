"""The course's own modules, compiled before the first attempt: nothing in a sandbox can keep that.

Without it a clone just made compiles what the notebooks load again for each hand-in.
"""

from __future__ import annotations

import compileall
import re

from kafkalab.places import repository

PACKAGES = ("kafkalab", "grading")
NO_MODULES = re.compile(r"[\\/]labs[\\/]")


def compile_once() -> None:
    """What is compiled already costs a look; a folder that cannot be written stays as it is."""
    for name in PACKAGES:
        compileall.compile_dir(repository() / name, rx=NO_MODULES, quiet=2)
