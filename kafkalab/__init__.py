"""What the lessons import: clusters, the ledger, Spark and charts.

Importing it also mends faults of kafka-python: `kafkalab.clients.MENDS` names them.
"""

from __future__ import annotations

import importlib
from typing import Any

from kafkalab.clients import arriving

# Each name is fetched when it is first asked for: importing the package costs nothing.
_WHERE = {
    "Cluster": "kafkalab.cluster.cluster",
    "CourseError": "kafkalab.errors",
    "Ledger": "kafkalab.evidence.ledger",
    "Prediction": "kafkalab.notebook.prediction",
    "read_topic": "kafkalab.spark.session",
    "spark_session": "kafkalab.spark.session",
    "WaitTimeout": "kafkalab.wait",
    "Watch": "kafkalab.evidence.watch",
    "wait_until": "kafkalab.wait",
}
_MODULES = {
    "charts": "kafkalab.draw.charts",
    "clients": "kafkalab.clients",
    "diagrams": "kafkalab.draw.diagrams",
    "panel": "kafkalab.notebook.panel",
    "quick": "kafkalab.clients.quick",
}

__all__ = sorted([*_WHERE, *_MODULES])


def names() -> dict[str, str]:
    """Name -> the module that it comes from, or that it is."""
    return _WHERE | _MODULES


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    raise AttributeError(f"module 'kafkalab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


arriving.when_imported()
