"""The author's proof: a lab that judges wrongly is not shipped.

The reference must reach all points with everything that the lab shows on the way, the blank
notebook its floor, and each wrong answer must fail the checks that it names and no others. No check
may break, whatever a name of the notebook or a record holds: it is asked again about what the
reference did, with odd values in the place of right ones (grading/prove/hostile.py). A run
of wrong answers ends when it has come to the last check that one of them names: what follows
cannot change what was seen, and is compared only in a proof of the `whole`.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nbformat import NotebookNode

from grading.define import master
from grading.define.definition import Definition
from grading.define.seed import Parameters, course_secret
from grading.handin.notebookfile import NotebookFile
from grading.handin.submission import Submission
from grading.handin.weave import as_handed_in
from grading.judge.checks import Check
from grading.judge.outcome import OURS, Outcome
from grading.judge.witness import unwritten
from grading.keep.evidence import Evidence
from grading.keep.record import AttemptRecord
from grading.keep.store import Store, slug
from grading.prove.hostile import weaknesses
from grading.prove.wrong import WrongAnswer, gaps, last_task, pack, up_to, wrong_answers
from grading.run.lanes import Lanes, Listener
from grading.run.plan import Work, plan
from grading.run.surroundings import OPEN, Surroundings
from kafkalab.errors import CourseError
from kafkalab.files import write_whole
from kafkalab.spark.pool import warm_spark

REFERENCE, BLANK = "reference", "blank"
RIGHT, WRONG = "right", "wrong"


@dataclass(frozen=True)
class Trial:
    """One run of the proof: the wrong answers in it, and which checks must, may, must not fail."""

    name: str
    wrong: tuple[WrongAnswer, ...] = ()
    last: int | None = None
    """The task after whose checks the run ends; None: it comes to its end."""
    demos: bool = False
    """Whether what the lab shows is run too."""
    asked: frozenset[str] = frozenset()
    """The checks that the run comes to."""

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
    records: list[AttemptRecord] = field(default_factory=list)


def verify(
    lab: Definition,
    keep: Path,
    repeat: int = 1,
    jobs: int = 1,
    tell: Listener = lambda _: None,
    pages: Path | None = None,
    whole: bool = False,
    only: str = "",
    around: Surroundings = OPEN,
) -> Proof:
    """Prove a lab. Repeats use other parameters and other combinations of wrong answers.

    keep: gets a folder for each run that did not go as expected, as grading/keep/store.py has it.
    A flake may not come again for a hundred runs, so what was seen must stay. pages: gets the
    reference as it ran, as a notebook and as a web page. whole: run wrong answers to the end too.
    only: RIGHT for the reference and the blank notebook alone, WRONG for the wrong answers alone.
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
        for trial in _trials(packed, checks, whole, demos=number == 0):
            if only and (only == WRONG) is not bool(trial.wrong):
                continue
            name = f"{trial.name} (repeat {number + 1})" if repeat > 1 else trial.name
            trials[name] = trial
            notebook = blank if trial.name == BLANK else woven(solved, trial.wrong)
            submissions.append(Submission(name, handed_in(notebook, lab.name)))
    with tempfile.TemporaryDirectory(prefix="kl-verify-") as folder:
        store = Store(Path(folder), lab.name)
        planned, _ = plan(lab, submissions, store, course_secret(Path(folder)), rerun=True)
        work = [_as_asked(one, trials[one.submission.student]) for one in planned]
        # Nothing outside of a sandbox can be lent to what runs in it.
        with contextlib.nullcontext() if around.is_sandboxed else warm_spark(jobs):
            proof.records = Lanes(lab, store, tell, around).run(work, jobs)
        if len(proof.records) != len(trials):
            proof.problems.append(f"{len(proof.records)} of {len(trials)} runs have a record")
        for record in proof.records:
            known = len(proof.problems)
            trial = trials[record.student]
            _judge(lab, record, trial, store, proof)
            if len(proof.problems) > known:
                shutil.copytree(store.attempt(record.key), keep / slug(record.student))
            if trial.demos and pages is not None:
                _keep_page(store.notebook(record.key), pages / lab.name)
    return proof


def asked_again(lab: Definition, folder: Path) -> Proof:
    """What the checks, as they are now, make of a run of the reference that was kept."""
    kept = folder / "evidence.json"
    if not kept.is_file():
        raise CourseError(
            f"{folder} holds no run that was kept.",
            "There is one in each folder that holds a file evidence.json.",
            "Name one of these; ./course verify says where it has kept what it saw.",
        )
    evidence = Evidence.from_json(json.loads(kept.read_text("utf-8")))
    return Proof(list(_weaknesses(lab, evidence)))


def _weaknesses(lab: Definition, evidence: Evidence) -> Iterator[str]:
    yield from weaknesses(
        (*lab.checks, *lab.hidden_checks()),
        unwritten(evidence.transcript),
        Parameters(evidence.parameters),
        evidence.seed,
    )


def _trials(
    packed: Sequence[Sequence[WrongAnswer]], checks: Sequence[Check], whole: bool, demos: bool
) -> Iterator[Trial]:
    """The runs of one repetition, the longest first."""
    everything = frozenset(check.id for check in checks)
    yield Trial(REFERENCE, demos=demos, asked=everything)
    for at, group in enumerate(packed, start=1):
        last = None if whole else last_task(group, checks)
        asked = everything if last is None else up_to(last, checks)
        yield Trial(f"wrong {at}", tuple(group), last, asked=asked)
    yield Trial(BLANK, asked=everything)


def _as_asked(work: Work, trial: Trial) -> Work:
    """The work of a trial, which is not run as a student's hand-in in every way."""
    assert work.job is not None, "what we hand in can be read"
    job = replace(work.job, demos=trial.demos, transcript=trial.demos, last=trial.last)
    return replace(work, job=job)


def _keep_page(text: str | None, file: Path) -> None:
    """Write a notebook that was run, and its page. Without one there is nothing to show."""
    if text is None:
        return
    import nbformat
    from nbconvert import HTMLExporter

    write_whole(file.with_suffix(".ipynb"), text)
    page, _ = HTMLExporter(template_name="lab").from_notebook_node(nbformat.reads(text, 4))
    write_whole(file.with_suffix(".html"), page)


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


def _judge(
    lab: Definition, record: AttemptRecord, trial: Trial, store: Store, proof: Proof
) -> None:
    name = record.student
    if record.outcome in OURS:
        broken = [c for c in record.checks if c["outcome"] in OURS]
        details = "; ".join(f"{c['id']}: {_last_line(c['detail'])}" for c in broken)
        proof.problems.append(f"{name}: {record.outcome}: {details or _last_line(record.why)}")
        return
    evidence = store.evidence(record.key)
    if evidence is None:
        proof.problems.append(f"{name}: left no evidence")
        return
    if trial.name == BLANK:
        _judge_blank(lab, record, evidence, proof)
        return
    if trial.name == REFERENCE:
        proof.problems += [f"{name}: a cell of the master failed: {t}" for t in evidence.trouble]
        proof.problems += _weaknesses(lab, evidence)
    for check in (check for check in record.checks if check["id"] in trial.asked):
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


def _judge_blank(lab: Definition, record: AttemptRecord, evidence: Evidence, proof: Proof) -> None:
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
