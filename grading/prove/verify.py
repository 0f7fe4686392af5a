"""The author's proof: a lab that judges wrongly is not shipped.

The reference must reach all points, the blank notebook its floor, and each wrong answer must fail
the checks that it names and no others. Wrong answers are written for one task each and woven
together where they cannot hide one another, so a few runs prove a lab.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from grading.define import master
from grading.define.definition import Definition
from grading.define.seed import course_secret
from grading.handin.intake import Submission
from grading.handin.notebookfile import NotebookFile
from grading.handin.weave import as_handed_in, task_cells
from grading.judge.checks import Check
from grading.judge.outcome import OURS, Outcome
from grading.keep.record import Record, Store, slug
from grading.run.batch import Batch, Watch, plan
from kafkalab.errors import CourseError
from kafkalab.spark.pool import warm_spark

REFERENCE, BLANK = "reference", "blank"


@dataclass(frozen=True)
class WrongAnswer:
    """An answer that is wrong in one way. `fails`: what must fail; `also`: what may fail too."""

    name: str
    task: int
    why: str
    fails: frozenset[str]
    also: frozenset[str]
    answer: str

    @property
    def touches(self) -> frozenset[str]:
        return self.fails | self.also


@dataclass(frozen=True)
class Trial:
    """One run of the proof: the wrong answers in it, and which checks must, may, must not fail."""

    name: str
    wrong: tuple[WrongAnswer, ...] = ()

    @property
    def must(self) -> frozenset[str]:
        return frozenset().union(*(answer.fails for answer in self.wrong))

    @property
    def may(self) -> frozenset[str]:
        return frozenset().union(*(answer.touches for answer in self.wrong))


@dataclass
class Tally:
    """How often a check judged as it should."""

    right: int = 0
    all: int = 0


@dataclass
class Proof:
    """What the runs showed."""

    problems: list[str] = field(default_factory=list)
    checks: dict[str, Tally] = field(default_factory=dict)
    trials: list[str] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return not self.problems


def verify(
    lab: Definition,
    keep: Path,
    repeat: int = 1,
    jobs: int = 1,
    watch: Watch = lambda _: None,
) -> Proof:
    """Prove a lab. Repeats use other parameters and other combinations of wrong answers.

    keep: gets a folder for each run that did not go as expected, as grading/record.py has it. A
    flake may not come again for a hundred runs, so what was seen must stay.
    """
    solved, blank = master.solved(lab), master.blank(lab)
    checks = (*lab.checks, *lab.hidden_checks())
    wrong = wrong_answers(lab, solved)
    proof = Proof(list(gaps(checks, wrong)), {check.id: Tally() for check in checks})
    trials: dict[str, Trial] = {}
    submissions = []
    for number in range(repeat):
        packed = pack(wrong, number)
        proof.trials = [", ".join(answer.name for answer in group) for group in packed]
        todo = [Trial(REFERENCE), Trial(BLANK)]
        todo += [Trial(f"wrong {at}", tuple(group)) for at, group in enumerate(packed, start=1)]
        for trial in todo:
            name = f"{trial.name} (repeat {number + 1})" if repeat > 1 else trial.name
            trials[name] = trial
            notebook = blank if trial.name == BLANK else woven(solved, trial.wrong)
            submissions.append(Submission(name, handed_in(notebook, lab.name)))
    with tempfile.TemporaryDirectory(prefix="kl-verify-") as folder:
        store = Store(Path(folder), lab.name)
        work, _ = plan(lab, submissions, store, course_secret(Path(folder)), rerun=True)
        with warm_spark(jobs):
            proof.records = Batch(lab, store, watch).run(work, jobs)
        if len(proof.records) != len(trials):
            proof.problems.append(f"{len(proof.records)} of {len(trials)} runs have a record")
        for record in proof.records:
            known = len(proof.problems)
            _judge(lab, record, trials[record.student], store, proof)
            if len(proof.problems) > known:
                shutil.copytree(store.attempt(record.key), keep / slug(record.student))
    return proof


def wrong_answers(lab: Definition, solved: NotebookNode) -> list[WrongAnswer]:
    """Everything in wrong/, with replacements made in the reference answer."""
    reference = task_cells(solved)
    found = []
    for file in sorted((lab.place.teacher / "wrong").glob("*.toml")):
        table = tomllib.loads(file.read_text("utf-8"))
        try:
            task = table["task"]
            answer = table.get("answer") or _replaced(reference[task], table["replace"])
            found.append(
                WrongAnswer(
                    file.stem,
                    task,
                    table["why"],
                    frozenset(table["fails"]),
                    frozenset(table.get("also", ())),
                    answer,
                )
            )
        except (KeyError, ValueError) as error:
            raise CourseError(
                f"{file} is no wrong answer.", f"{type(error).__name__}: {error}", "Mend it."
            ) from None
    return found


def _replaced(reference: str, pairs: dict[str, str]) -> str:
    for old, new in pairs.items():
        if reference.count(old) != 1:
            raise ValueError(f"{old!r} stands {reference.count(old)} times in the reference answer")
        reference = reference.replace(old, new)
    return reference


def gaps(checks: Sequence[Check], wrong: Iterable[WrongAnswer]) -> Iterator[str]:
    """Checks that no wrong answer fails, and names that are no checks."""
    ids = {check.id for check in checks}
    wrong = list(wrong)
    for answer in wrong:
        if unknown := answer.touches - ids:
            yield f"{answer.name} names {', '.join(sorted(unknown))}, which is no check"
        if not answer.fails:
            yield f"{answer.name} fails nothing"
    failed = frozenset().union(*(answer.fails for answer in wrong))
    for check in checks:
        if check.id not in failed:
            yield f"no wrong answer fails {check.id}"


def pack(wrong: Sequence[WrongAnswer], variant: int = 0) -> list[list[WrongAnswer]]:
    """Put wrong answers together: other tasks, other checks. First fit, the largest first.

    A variant shuffles those of equal size: what hides behind another answer in one combination
    comes out in the next.
    """
    order = list(wrong)
    random.Random(variant).shuffle(order)
    groups: list[list[WrongAnswer]] = []
    for answer in sorted(order, key=lambda answer: -len(answer.touches)):
        for group in groups:
            if all(o.task != answer.task and not o.touches & answer.touches for o in group):
                group.append(answer)
                break
        else:
            groups.append([answer])
    return groups


def woven(solved: NotebookNode, wrong: Sequence[WrongAnswer]) -> NotebookNode:
    """The solution with some answers replaced."""
    answers = {f"task-{answer.task}": answer.answer for answer in wrong}
    cells = [
        NotebookNode({**cell, "source": answers.get(cell.id, cell.source)}) for cell in solved.cells
    ]
    return NotebookNode({**solved, "cells": cells})


def handed_in(notebook: NotebookNode, lab: str) -> NotebookFile:
    """A notebook of ours as a hand-in."""
    return NotebookFile(tuple(as_handed_in(notebook)), lab)


def _judge(lab: Definition, record: Record, trial: Trial, store: Store, proof: Proof) -> None:
    name = record.student
    if record.outcome in OURS:
        broken = [c for c in record.checks if c["outcome"] in OURS]
        details = "; ".join(f"{c['id']}: {_last_line(c['detail'])}" for c in broken)
        proof.problems.append(f"{name}: {record.outcome}: {details or _last_line(record.why)}")
        return
    evidence = store.evidence(record.key)
    if trial.name == BLANK:
        _judge_blank(lab, record, evidence, proof)
        return
    if trial.name == REFERENCE:
        proof.problems += [f"{name}: a cell of the master failed: {t}" for t in evidence.trouble]
    for check in record.checks:
        identity, passed = check["id"], check["outcome"] == Outcome.PASS
        said = "; ".join(check["messages"]) or check["outcome"]
        tally = proof.checks[identity]
        problem = ""
        if identity in trial.must and passed:
            answers = ", ".join(a.name for a in trial.wrong if identity in a.fails)
            problem = f"{name}: {answers} passes {identity}"
        elif identity not in trial.may and not passed:
            problem = f"{name}: {identity} fails: {said}"
        if identity in trial.must or identity not in trial.may:
            tally.all += 1
            tally.right += not problem
        if problem:
            proof.problems.append(problem)
    if trial.name == REFERENCE and record.reached != record.full:
        proof.problems.append(f"{name}: reaches {record.reached:g} of {record.full:g} points")


def _judge_blank(lab: Definition, record: Record, evidence, proof: Proof) -> None:
    name = record.student
    if record.reached != lab.floor:
        proof.problems.append(f"{name}: scores {record.reached:g}, not its floor {lab.floor:g}")
    for check in record.checks:
        if check["outcome"] == Outcome.PASS and not lab.floor:
            proof.problems.append(f"{name}: {check['id']} passes without an answer")
    first = evidence.cells.get(1)
    if first is None or not first.error.startswith("NotImplementedError: Task 1"):
        seen = first.error or first.state if first else "nothing"
        proof.problems.append(f"{name}: task 1 should stop with our message, saw {seen}")


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""
