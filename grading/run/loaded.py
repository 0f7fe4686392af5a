"""What the process of an attempt needs, loaded and found before somebody waits for it."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from grading.define.definition import NO_CLUSTER, Definition
from grading.run.surroundings import OPEN, Surroundings

ALWAYS = (
    *("grading.run.worker", "grading.run.graded_notebook", "grading.run.kernel"),
    *("grading.run.engine", "grading.run.examiner", "grading.handin.weave"),
    # what the first notebook and the first kernel of a process would look up or compile
    *("nbformat.v4:new_notebook", "grading.run.kernel:find_starters"),
)
BESIDE_A_CLUSTER = (
    *("kafka", "kafkalab.cluster.cluster", "grading.judge.view", "grading.sandbox.ways"),
)


OF_A_MASTER = ("authoring.notebooks",)
IN_A_SANDBOX = ("grading.sandbox.bubblewrap:found",)


def loaded(lab: Definition, around: Surroundings = OPEN) -> tuple[str, ...]:
    """Names of modules, and of functions to call once, for an attempt at this lab."""
    return (
        *ALWAYS,
        *(OF_A_MASTER if lab.place.master.exists() else ()),
        *(BESIDE_A_CLUSTER if lab.profile != NO_CLUSTER else ()),
        *(IN_A_SANDBOX if around.is_sandboxed else ()),
    )


def load(names: Iterable[str]) -> None:
    """Import these modules; call the function where a name ends in one."""
    for name in names:
        module, _, function = name.partition(":")
        found = importlib.import_module(module)
        if function:
            getattr(found, function)()
