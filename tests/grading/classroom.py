"""A graded class without a run: records as an attempt would leave them."""

import csv
import io
from pathlib import Path

from grading.define.definition import Definition
from grading.define.seed import student_seed
from grading.handin.notebookfile import NotebookFile
from grading.handin.submission import Submission
from grading.handin.weave import HandedIn
from grading.judge.checks import Finding, Result
from grading.judge.outcome import Outcome
from grading.keep import record as records
from grading.keep.evidence import Evidence
from grading.keep.record import AttemptRecord
from grading.keep.store import Store
from grading.run.attempt import Attempted


class Classroom:
    """A course folder into which hand-ins of the tiny lab are graded by a word."""

    def __init__(self, folder: Path, lab: Definition) -> None:
        self.folder, self.lab, self.hidden = folder, lab, lab.hidden_checks()
        self.store = Store(folder, lab.name)

    def write(self, name: str, text: str) -> None:
        """A file of the teacher's."""
        (self.folder / name).write_text(text, "utf-8")

    def hand_in(
        self,
        name: str,
        number: str = "",
        failed: tuple[str, ...] = (),
        refusal: Outcome | None = None,
        text: str = "x = 1",
        answers: dict[int, str] | None = None,
        parameters: dict[str, object] | None = None,
        **fields: str,
    ) -> AttemptRecord:
        """Grade a hand-in: all checks pass but those that are named."""
        cells = (HandedIn("task-1", "code", text),)
        notebook = NotebookFile(cells, self.lab.name) if refusal in (None, Outcome.INFRA) else None
        student = fields.pop("shown", name)
        submission = Submission(student, notebook, number=number, plain=name, **fields)
        begun = records.begun(
            self.lab, submission, student_seed(b"s", self.lab.name, submission.id)
        )
        evidence = Evidence(self.lab.name, name, "seed", is_complete=True, refusal=refusal)
        evidence.answers, evidence.parameters = answers or {}, parameters or {}
        if refusal is None:
            evidence.results = [
                Result(
                    check.id,
                    Outcome.FAIL if check.id in failed else Outcome.PASS,
                    (Finding(check.id not in failed, "saw 3"),),
                )
                for check in (*self.lab.checks, *self.hidden)
            ]
        else:
            evidence.why = "because it is empty"
        self.store.start(begun)
        record = records.ended(begun, evidence, self.lab.checks, self.hidden)
        self.store.finish(record, Attempted(evidence))
        self.store.count(record)
        return record


def table_of(text: str) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
