"""papermill, without its ways to stores and to the web: no hand-in lies there.

Where pyarrow is installed, as it is for Spark, papermill loads all of it for one of them. With the
client for the web that is more than half a second in the process of each attempt.
"""

from __future__ import annotations

import sys
from types import ModuleType

_WITHOUT: dict[str, ModuleType | None] = {
    "pyarrow.fs": None,  # papermill does without
    "requests": ModuleType("requests"),  # papermill names it, and uses it for addresses alone
}
_there = {name: sys.modules[name] for name in _WITHOUT if name in sys.modules}
sys.modules.update(_WITHOUT)  # type: ignore[arg-type]
try:
    from papermill.clientwrap import PapermillNotebookClient
    from papermill.engines import NBClientEngine, papermill_engines
    from papermill.exceptions import PapermillExecutionError
    from papermill.execute import execute_notebook
finally:
    for _name in _WITHOUT:  # checks may want them
        del sys.modules[_name]
    sys.modules.update(_there)

__all__ = [
    "NBClientEngine",
    "PapermillExecutionError",
    "PapermillNotebookClient",
    "execute_notebook",
    "papermill_engines",
]
