"""What the lessons import.

    Cluster        a real Kafka cluster: started, watched, broken and mended
    Ledger         what was sent, acknowledged, stored and read, and the verdict on it
    Watch          what one broker says of a topic while something happens to another
    Prediction     your number, before the measurement
    Choice         your answer of a few, before the evidence
    wait_until     wait for a condition, with a deadline
    spark_session  the Spark of this notebook
    read_topic     a topic as a DataFrame
    charts         drawings of data
    diagrams       drawings of structure
    panel          a live view of a cluster, with a button for every fault
    members        members of consumer groups that are programs of their own
    clients        what the course adds to kafka-python's clients
    quick          settings that make a lesson quick
    CourseError    a failure that a person can mend
    WaitTimeout    a condition that did not come true before its deadline

`help(kafkalab.Cluster)` says more of one; lessons/reference/kafkalab.md has them on one page.
Importing it also mends faults of kafka-python: `kafkalab.clients.MENDS` names them.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from kafkalab.clients import arriving

# Each name is fetched when it is first asked for: importing the package costs nothing.
_WHERE = {
    "Choice": "kafkalab.notebook.choice",
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
    "members": "kafkalab.members",
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
if "IPython" in sys.modules:  # else there are no cells
    for watching in ("missing_names", "ending"):
        importlib.import_module(f"kafkalab.notebook.{watching}").watch()
