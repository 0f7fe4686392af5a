"""What the lessons import: clusters, clients, the ledger, Spark and charts."""

from __future__ import annotations

import importlib
from typing import Any

# Each name is fetched when it is first asked for: importing the package costs nothing.
_WHERE = {
    "Cluster": "kafkalab.cluster",
    "CourseError": "kafkalab.errors",
    "Prediction": "kafkalab.prediction",
    "WaitTimeout": "kafkalab.wait",
    "wait_until": "kafkalab.wait",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'kafkalab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
