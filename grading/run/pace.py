"""Limits of time on a machine that has much to do: it must not cost a student anything."""

from __future__ import annotations

import os
from dataclasses import replace

from grading.define.definition import Limits

SLOWEST = 6.0


def slowness(load: float, processors: int | None) -> float:
    """How many times longer than alone something takes while so many processes want to run."""
    return round(min(max(load / (processors or 1), 1.0), SLOWEST), 1)


def now() -> float:
    """The slowness of this machine."""
    return slowness(os.getloadavg()[0], os.cpu_count())


def longer(limits: Limits, times: float) -> Limits:
    """The limits that a cell and a run have there."""
    return replace(limits, cell=limits.cell * times, run=limits.run * times)
