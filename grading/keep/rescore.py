"""Points and titles anew from the evidence that is kept, without running anything."""

from __future__ import annotations

from dataclasses import dataclass, field

from grading.define.definition import Definition
from grading.judge.outcome import REFUSED
from grading.keep.evidence import Evidence
from grading.keep.record import AttemptRecord, scored
from grading.keep.store import Store


@dataclass
class Rescored:
    """What became of the records."""

    count: int = 0
    changed: list[tuple[AttemptRecord, AttemptRecord]] = field(default_factory=list)
    """Of those that count: before and after, where the points differ."""
    left: dict[str, str] = field(default_factory=dict)
    """Student -> why the record was left as it was."""
    older: list[str] = field(default_factory=list)
    """Students whose attempt ran with other checks or another lab: what they look at is as then."""


def rescore(lab: Definition, store: Store) -> Rescored:
    """Score every attempt of a lab again."""
    checks, hidden = lab.checks, lab.hidden_checks()
    counting = {record.key for record in store.class_records()}
    done = Rescored()
    for record in store.all_records():
        counts = record.key in counting
        evidence = store.evidence(record.key)
        if why := _cannot(evidence, {check.id for check in (*checks, *hidden)}):
            if counts:
                done.left[record.student] = why
            continue
        assert evidence is not None, "what has none cannot be scored"
        after = scored(record, evidence, checks, hidden)
        if after != record:
            store.rewrite(after)
        if counts:
            done.count += 1
            if (after.reached, after.full) != (record.reached, record.full):
                done.changed.append((record, after))
            if record.lab_digest != lab.digest and record.outcome not in REFUSED:
                done.older.append(record.student)
    return done


def _cannot(evidence: Evidence | None, checks: set[str]) -> str:
    if evidence is None:
        return "its evidence is not there"
    if evidence.refusal is not None or not evidence.is_complete:
        return ""
    new = sorted(checks - {result.check for result in evidence.results})
    return f"{', '.join(new)} never looked at it" if new else ""
