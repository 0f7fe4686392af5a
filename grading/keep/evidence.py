"""What one attempt left behind: enough to score it again without running it again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from grading.faults.fault import Injected
from grading.judge.checks import Finding, Result
from grading.judge.outcome import OURS, STOPPED, Outcome
from grading.judge.visible import CellState


@dataclass
class Evidence:
    """Facts of one attempt. No points: those are made of it by grading/judge/score.py."""

    lab: str
    student: str
    seed: str
    parameters: dict[str, Any] = field(default_factory=dict)
    cells: dict[int, CellState] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    unanswered: list[int] = field(default_factory=list)
    answers: dict[int, str] = field(default_factory=dict)
    """The code that was graded for each task: what ran of the student's before its check."""
    oddities: list[str] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    """Cells of the master that did not run as they should."""
    faults: list[Injected] = field(default_factory=list)
    """What was broken on purpose while the cells ran."""
    done_to_nodes: list[tuple[float, str]] = field(default_factory=list)
    """What the student's code did to nodes through the door of its sandbox: seconds, and words."""
    ended: Outcome | None = None
    """Why the kernel was gone before the last cell."""
    why: str = ""
    """The reason in words, also for a refusal or a fault of ours."""
    refusal: Outcome | None = None
    is_complete: bool = False
    """Whether the attempt came to its end; what is missing counts as not reached."""
    snapshots: dict[str, Any] = field(default_factory=dict)
    """What the checks looked at after each task, in short."""
    transcript: str = ""
    """What each check asked and was told, where a proof wants it: see grading/judge/witness.py."""
    phases: dict[str, float] = field(default_factory=dict)
    """Seconds; `load` is what the machine had to do, per processor."""

    @classmethod
    def refused(
        cls, lab: str, student: str, seed: str, refusal: Outcome, why: str, notes: Iterable[str]
    ) -> Evidence:
        """Of a hand-in that is not run. Complete: running it would tell no more."""
        notes = list(notes)
        return cls(lab, student, seed, oddities=notes, refusal=refusal, why=why, is_complete=True)

    @property
    def fault(self) -> Outcome | None:
        """A fault of ours that is in it."""
        if self.refusal in OURS:
            return self.refusal
        faults = [result.outcome for result in self.results if result.outcome in OURS]
        return faults[0] if faults else None

    def to_json(self) -> dict[str, Any]:
        """As JSON carries it."""
        return asdict(self)

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> Evidence:
        """The reverse of to_json, from what JSON made of it."""
        return cls(
            **table
            | {
                "cells": {int(n): cell_from_json(cell) for n, cell in table["cells"].items()},
                "answers": {int(n): text for n, text in table.get("answers", {}).items()},
                "results": [result_from_json(result) for result in table["results"]],
                "faults": [fault_from_json(fault) for fault in table.get("faults", [])],
                "ended": Outcome(table["ended"]) if table["ended"] else None,
                "refusal": Outcome(table["refusal"]) if table["refusal"] else None,
            }
        )


def cell_from_json(table: dict[str, Any]) -> CellState:
    return CellState(**table | {"state": Outcome(table["state"])})


def result_from_json(table: dict[str, Any]) -> Result:
    findings = tuple(Finding(**finding) for finding in table["findings"])
    return Result(**table | {"outcome": Outcome(table["outcome"]), "findings": findings})


def fault_from_json(table: dict[str, Any]) -> Injected:
    steps = tuple((at, words) for at, words in table["steps"])
    return Injected(**table | {"steps": steps, "down": tuple(table.get("down", ()))})


def headline(evidence: Evidence, reached: float | None, full: float) -> Outcome:
    """One word for the whole attempt: what a teacher has to know first."""
    if evidence.refusal is not None:
        return evidence.refusal
    if evidence.fault is not None:
        return evidence.fault
    if evidence.ended is not None:
        return evidence.ended
    states = [cell.state for cell in evidence.cells.values()]
    answered = [cell.state for n, cell in evidence.cells.items() if n not in evidence.unanswered]
    for state in STOPPED:
        if state in states:
            return state
    if reached == full:
        return Outcome.PASS
    for state in (Outcome.STUDENT_EXIT, Outcome.STUDENT_ERROR):
        if state in answered:
            return state
    return Outcome.PART if reached else Outcome.FAIL
