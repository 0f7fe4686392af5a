"""papermill, without the file systems of clusters that it can save to: no hand-in lies there.

Where pyarrow is installed, as it is for Spark, papermill loads all of it for one of them: half a
second in the process of each attempt.
"""

from __future__ import annotations

import sys

_FILES = "pyarrow.fs"
_former = sys.modules.get(_FILES)
sys.modules[_FILES] = None  # type: ignore[assignment]
try:
    from papermill.clientwrap import PapermillNotebookClient
    from papermill.engines import NBClientEngine, papermill_engines
    from papermill.exceptions import PapermillExecutionError
    from papermill.execute import execute_notebook
finally:
    del sys.modules[_FILES]  # checks may want it
    if _former is not None:
        sys.modules[_FILES] = _former

__all__ = [
    "NBClientEngine",
    "PapermillExecutionError",
    "PapermillNotebookClient",
    "execute_notebook",
    "papermill_engines",
]
