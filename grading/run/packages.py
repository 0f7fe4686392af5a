"""What pip does in a hand-in: it installs into the folder of the attempt, and from one folder.

Into the grader's own packages it would change how everybody after it is graded, and without a
network there is no index to ask.
"""

from __future__ import annotations

import os
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

PACKAGES = "packages"
NOT_FOUND = re.compile(r"^ERROR: No matching distribution found for ([^\s(]+)", re.MULTILINE)


def variables(folder: Path, wheels: Path | None) -> dict[str, str]:
    """For the kernel of the attempt in this folder, and for all that it starts."""
    return {
        "PIP_PREFIX": str(folder / PACKAGES),
        "PIP_NO_INDEX": "1",
        # An address, in which a blank is no end.
        **({"PIP_FIND_LINKS": wheels.as_uri()} if wheels else {}),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_CACHE_DIR": "1",
        "PIP_NO_INPUT": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_WARN_SCRIPT_LOCATION": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        "PYTHONPATH": str(installed(folder)),
    }


def installed(folder: Path) -> Path:
    """Where pip puts modules then. Has to be there first: Python remembers what was not."""
    prefix = str(folder / PACKAGES)
    scheme = sysconfig.get_preferred_scheme("prefix")
    return Path(sysconfig.get_path("purelib", scheme, {"base": prefix, "platbase": prefix}))


def missed(output: str) -> Iterator[str]:
    """A sentence for each package that pip looked for in vain, by what a cell printed."""
    for name in dict.fromkeys(NOT_FOUND.findall(output)):
        yield (
            f"pip found no {name[:100]}: hand-ins are graded without a network, with the packages "
            "of the course and those that the teacher gives (--wheels). The rest is graded."
        )
