"""What the course adds to kafka-python's clients, which cells build by name.

- `MENDS`: faults of kafka-python that are mended when it is imported, and where each was reported.
- `records_until_end`: a bounded read.
- Of a cell that is run again, the clients of its earlier run are closed first (`opened`).

Settings that only make a lesson quick are in `kafkalab.quick`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from kafkalab.clients.opened import close_all
from kafkalab.clients.reading import records_until_end

if TYPE_CHECKING:
    from kafkalab.clients.mends import MENDS

__all__ = ["MENDS", "close_all", "records_until_end"]


def __getattr__(name: str) -> Any:
    if name == "MENDS":  # not before it is asked for: it imports kafka-python
        return importlib.import_module("kafkalab.clients.mends").MENDS
    raise AttributeError(f"module 'kafkalab.clients' has no attribute {name!r}")
