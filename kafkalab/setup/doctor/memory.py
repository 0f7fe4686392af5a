"""Whether there is memory for a lesson: of the machine, of the container, for one process."""

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


def addresses() -> Diagnosis:
    """Whether a process may have as many addresses as Java reserves (`ulimit -v`)."""
    limit = limits.address_space()
    if found := limits.too_few_addresses():
        return Diagnosis("addresses", "bad", f"limited by ulimit -v {(limit or 0) // 1024}", *found)
    seen = "without a limit" if limit is None else f"{limit / GIB:.0f} GiB (ulimit -v)"
    return Diagnosis("addresses", "good", seen)
