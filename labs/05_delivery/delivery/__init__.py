"""The client programs of lab 05: a producer, a consumer, and what compares their payload logs.

In a terminal of JupyterLab, in `work/labs/05_delivery`, with a cluster up
(`./course up replicated`):

    ../../../.venv/bin/python -m delivery producer --acks 1 --num-records-per-roll 600
    ../../../.venv/bin/python -m delivery consumer --auto-offset-reset earliest
    ../../../.venv/bin/python -m delivery --help

In a cell a `Run` starts the same programs, each as a process of its own:

    run = Run(cluster, "run/first", topic="first")

Every exercise is done with their options and none needs a change of the code. You may read it.
"""

from __future__ import annotations

from delivery.comparing import (
    Comparison,
    Difference,
    compare,
    compare_all,
    difference,
    findings,
    payloads,
)
from delivery.overview import overview
from delivery.payload import Entry, collect, read, remove
from delivery.programs import Line, Program
from delivery.run import Run, reset

__all__ = [
    "Comparison",
    "Difference",
    "Entry",
    "Line",
    "Program",
    "Run",
    "collect",
    "compare",
    "compare_all",
    "difference",
    "findings",
    "overview",
    "payloads",
    "read",
    "remove",
    "reset",
]
