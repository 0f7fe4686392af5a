"""Whether there is memory for a lesson: of the machine, of the container."""

from __future__ import annotations

import psutil

from kafkalab.machine import limits
from kafkalab.setup.doctor.diagnosis import Diagnosis

GIB = limits.GIB
# A replicated cluster, Spark, a kernel and JupyterLab together; see benchmarks/memory.py.
MEMORY = 2 * GIB


def memory() -> Diagnosis:
    """Whether a lesson with three brokers and Spark fits."""
    free, total = psutil.virtual_memory().available, psutil.virtual_memory().total
    group = limits.of_group()
    seen = f"{free / GIB:.1f} GiB free of {total / GIB:.1f} GiB"
    mend = "Close other programs; end clusters of this course: ./course down --all"
    if group is not None and group < free:
        seen = f"{group / GIB:.1f} GiB free in this container or session; of the machine {seen}"
        mend = (
            "Give the container more, such as docker run --memory 4g, or end what runs in it: "
            "./course down --all"
        )
    if min(free, free if group is None else group) < MEMORY:
        return Diagnosis(
            "memory",
            "bad",
            seen,
            f"A lesson with three brokers and Spark wants {MEMORY / GIB:.0f} GiB.",
            mend,
        )
    return Diagnosis("memory", "good", seen)
