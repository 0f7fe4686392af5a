"""Which notebook this kernel runs, and what a person would call this process.

Jupyter does not say so in one place: JupyterLab and the notebook server put the path into the
environment of a kernel, VS Code into the names of its cells. A kernel of papermill is a child of
the program that was called with the notebook.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

ENDING = ".ipynb"
# JupyterLab's kernels have it from their server; `./course run` sets it for its own.
SESSION = "JPY_SESSION_NAME"
VS_CODE = "__vsc_ipynb_file__"


def shell() -> InteractiveShell | None:
    """IPython, where this process has it; it is not imported for the question."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def file() -> Path | None:
    """The notebook whose cells this process runs, where it is known and there.

    One that was renamed while its kernel ran is not found under its new name.
    """
    running = shell()
    if running is None or not hasattr(running, "kernel"):
        return None
    named = [running.user_ns.get(VS_CODE), os.environ.get(SESSION), *_of_parent()]
    for name in named:
        if isinstance(name, str) and name.endswith(ENDING) and Path(name).is_file():
            return Path(name)
    return None


def can_show_widgets() -> bool:
    """Whether a page that draws widgets runs this process, as JupyterLab and VS Code do.

    Jupyter Server tells its kernels for which notebook they run; papermill and nbclient do not.
    """
    running = shell()
    return SESSION in os.environ or bool(running and VS_CODE in running.user_ns)


def owner() -> str:
    """This process in a person's words: its notebook by name, or the program."""
    if (found := file()) is not None:
        return found.name
    running = shell()
    if running is not None:
        return "a notebook" if hasattr(running, "kernel") else "IPython in a terminal"
    program = Path(sys.argv[0] if sys.argv else "")
    if program.parts[-2:] == ("commands", "app.py"):
        return " ".join(["./course", *sys.argv[1:2]])
    if program.name == "__main__.py":
        return program.parent.name
    if program.name == "-c":
        return "python -c"
    return program.name or "Python in a terminal"


def _of_parent() -> list[str]:
    with contextlib.suppress(psutil.Error):
        parent = psutil.Process().parent()
        if parent is not None:
            folder = Path(parent.cwd())
            words = parent.cmdline()
            return [str(folder / word) for word in words if word.endswith(ENDING)]
    return []
