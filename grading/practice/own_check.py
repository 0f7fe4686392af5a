"""The learner's own check: what grading does, with the public checks and the practice seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from grading.define import definition, edition
from grading.define.seed import Draw, practice_seed
from grading.handin.notebookfile import NotebookFile, Unreadable, read
from grading.judge.outcome import Outcome
from grading.keep.evidence import Evidence
from grading.practice.hints import causes
from grading.practice.show import Assessment
from grading.run.attempt import Attempt
from grading.run.job import Job
from grading.run.lease import Lease
from kafkalab.errors import CourseError


def check(path: Path, say: Callable[[str], None] = print) -> tuple[Assessment, list[str]]:
    """Run a notebook in a fresh kernel; what came out, and what else a learner should know."""
    notebook, name = _read(path)
    lab = definition.load(name)
    seed = practice_seed(lab.name)
    attempt = Attempt(lab)  # boots while the cluster starts
    lease = Lease(lab, tag=Draw(seed).tag)
    try:
        say("starting the cluster")
        cluster = lease.take()
        notes = [*notebook.notes, *filter(None, edition.told(lab, [notebook.stamp]))]
        job = Job("", seed, notebook.cells, cluster, hidden=False, notes=notes)
        attempted = attempt.run(
            job, lambda event: say(f"task {event['task']}") if event.get("task") else None
        )
    finally:
        attempt.close()
        lease.give_back()
        lease.close()
    evidence = attempted.evidence
    if evidence.refusal is Outcome.INFRA:
        raise CourseError(
            "Your notebook could not be checked.",
            evidence.why.strip().splitlines()[-1],
            "This is not your fault. Try again; ./course doctor looks for the cause.",
        )
    if evidence.refusal is not None:
        raise CourseError(
            "Your notebook cannot be graded as it is.",
            f"{evidence.why[:1].upper()}{evidence.why[1:]}.",
            "Change that in JupyterLab, save it, and check it again.",
        )
    why = causes(evidence.cells, set(evidence.unanswered))
    assessment = Assessment.of(lab, evidence.results, set(lab.tasks), why)
    return assessment, list(_notes(evidence))


def _read(path: Path) -> tuple[NotebookFile, str]:
    """A notebook, and the lab that it names."""
    try:
        notebook = read(path.read_bytes())
    except OSError as error:
        raise CourseError(f"{path} cannot be opened.", f"The system says: {error.strerror}.",
                          "Name your notebook.") from None  # fmt: skip
    except Unreadable as why:
        raise CourseError(
            f"{path} is not a readable notebook: {why}.", "", "Open it in JupyterLab and save it."
        ) from None
    if notebook.lab is None:
        raise CourseError(
            f"{path} does not say which lab it belongs to.",
            "Its metadata and its set-up cell name none.",
            "Copy the lab again and put your answers into its task cells.",
        )
    return notebook, notebook.lab


def _notes(evidence: Evidence) -> Iterator[str]:
    """What is no check's business. The errors of cells stand with their tasks."""
    yield from evidence.oddities
    for number in evidence.unanswered:
        yield f"Task {number} is not answered yet"
    if evidence.ended is not None:
        yield f"The notebook ended early: {evidence.why}"
