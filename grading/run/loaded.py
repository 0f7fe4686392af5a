"""The modules that the process of an attempt needs, loaded before somebody waits for them."""

from __future__ import annotations

from grading.define.definition import NO_CLUSTER, Definition

ALWAYS = (
    *("grading.run.worker", "grading.run.graded_notebook", "grading.run.kernel"),
    *("grading.run.engine", "grading.run.examiner", "grading.handin.weave"),
)
BESIDE_A_CLUSTER = (
    *("kafka", "kafkalab.cluster.cluster", "grading.judge.view", "grading.sandbox.ways"),
)


def loaded(lab: Definition) -> tuple[str, ...]:
    """Their names, for an attempt at this lab."""
    return ALWAYS if lab.profile == NO_CLUSTER else (*ALWAYS, *BESIDE_A_CLUSTER)
