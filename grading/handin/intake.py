"""Any upload -> one hand-in per student, or a clear refusal. Never stops at a bad one.

An upload is a notebook, a zip, or a folder: of notebooks, of a folder per student, or of what a
learning platform makes of them (Moodle's `Name_123_assignsubmission_file_`, Canvas's
`name_123_456_file.ipynb`). Names in it are data and never become paths.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grading.handin import upload
from grading.handin.notebookfile import NotebookFile, Unreadable, read
from grading.judge.outcome import Outcome
from kafkalab.errors import CourseError

MOODLE = re.compile(r"^(?P<who>.+?)_\d+_assignsubmission_.*$")
CANVAS = re.compile(r"^(?P<who>[^_]+)_(?:LATE_)?\d+_\d+_.+$")
COPY_NUMBER = re.compile(r"(?:-|\()(\d{1,3})\)?$")


@dataclass(frozen=True)
class Submission:
    """What one student handed in. `student` is a name to show and to draw a seed from."""

    student: str
    notebook: NotebookFile | None
    refusal: Outcome | None = None
    why: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Intake:
    """The hand-ins of an upload, in the order of their students, and what was left aside."""

    submissions: tuple[Submission, ...]
    ignored: tuple[str, ...]


@dataclass(frozen=True)
class Candidate:
    """A notebook of a student: read, or why not. Its bytes are not kept."""

    place: PurePosixPath
    changed: float
    content: NotebookFile | Unreadable


def collect(path: Path, lab: str) -> Intake:
    """Read an upload for a lab."""
    if not path.exists():
        raise CourseError(
            f"There is nothing at {path}.", "", "Name a notebook, a folder or a zip file."
        )
    ignored: list[str] = []
    found: dict[str, list[Candidate]] = {}
    for file in _opened(path, ignored):
        of_student = found.setdefault(student_of(file.place), [])
        if file.place.suffix.lower() == ".zip":
            of_student += _unzipped(file, ignored)
        elif file.place.suffix.lower() == ".ipynb":
            of_student.append(_candidate(file))
        else:
            ignored.append(f"{file.place}: no notebook")
            if len(file.place.parts) == 1 and not of_student:
                del found[student_of(file.place)]  # a stray file is nobody's hand-in
    if not found:
        raise CourseError(
            f"{path} holds no hand-in.",
            "; ".join(ignored[:5]),
            "Name a notebook, a folder or a zip file with notebooks.",
        )
    submissions = [_submission(student, found[student], lab) for student in sorted(found)]
    return Intake(tuple(submissions), tuple(ignored))


def _opened(path: Path, ignored: list[str]) -> Iterator[upload.File]:
    try:
        yield from upload.files(path, ignored)
    except upload.CannotOpen as why:
        raise CourseError(f"{path} gives no hand-ins: {why}.", "", "Look into it.") from None


def student_of(place: PurePosixPath) -> str:
    """The student whose file stands at a place: the folder's name, else the file's."""
    name = place.parts[0] if len(place.parts) > 1 else place.stem
    for pattern in (MOODLE, CANVAS):
        if match := pattern.match(name):
            name = match["who"]
            break
    name = unicodedata.normalize("NFC", name)
    return "".join(c for c in name if c.isprintable()).strip()[:100] or "unnamed"


def _candidate(file: upload.File) -> Candidate:
    try:
        content: NotebookFile | Unreadable = read(file.data())
    except upload.CannotOpen as why:
        content = Unreadable(str(why))
    except Unreadable as why:
        content = why
    return Candidate(file.place, file.changed, content)


def _unzipped(file: upload.File, ignored: list[str]) -> list[Candidate]:
    try:
        return [
            _candidate(member)
            for member in upload.inner_files(file, ignored)
            if member.place.suffix.lower() == ".ipynb"
        ]
    except upload.CannotOpen as why:
        return [Candidate(file.place, file.changed, Unreadable(str(why)))]


def _submission(student: str, candidates: list[Candidate], lab: str) -> Submission:
    """The notebook that counts among those of a student: of this lab, the latest."""
    if not candidates:
        return Submission(student, None, Outcome.NOTHING_HANDED_IN, "no notebook was found")
    readable: list[tuple[Candidate, NotebookFile]] = []
    refusals: list[str] = []
    for candidate in sorted(candidates, key=_age):
        if isinstance(candidate.content, Unreadable):
            refusals.append(f"{candidate.place.name}: because {candidate.content}")
        else:
            readable.append((candidate, candidate.content))
    if not readable:
        return Submission(student, None, Outcome.UNREADABLE, "; ".join(refusals))
    notes = [f"{refusal}; left aside" for refusal in refusals]
    own = [(candidate, notebook) for candidate, notebook in readable if notebook.lab == lab]
    if not own:
        others = sorted({notebook.lab or "no lab that it names" for _, notebook in readable})
        why = f"the notebook belongs to {', '.join(others)}, not to {lab}"
        return Submission(student, None, Outcome.WRONG_LAB, why, tuple(notes))
    chosen, notebook = own[-1]
    notes += [f"{other.place.name} was handed in too; the latest counts" for other, _ in own[:-1]]
    notes += [f"{chosen.place.name} {note}" for note in notebook.notes]
    return Submission(student, notebook, notes=tuple(notes))


def _age(candidate: Candidate) -> tuple[int, float]:
    """By the number that platforms and browsers append (lab-2, lab (2)), then by time."""
    counted = COPY_NUMBER.search(candidate.place.stem)
    return int(counted[1]) if counted else 0, candidate.changed
