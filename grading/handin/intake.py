"""Any upload -> one hand-in per person, or a clear refusal. Never stops at a bad one.

An upload is a notebook, an archive, or a folder: of notebooks, of a folder per student, or of what
a learning platform makes of them (grading/handin/names.py). Names in it are data and never become
paths. Whose hand-in it is says the platform's number, where there is one, and never the name alone.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from grading.handin import gradescope, names, upload
from grading.handin.archives import CannotOpen, is_archive, is_foreign
from grading.handin.names import Said
from grading.handin.notebookfile import NotebookFile, Unreadable, read
from grading.handin.submission import (
    MOST_NAMED,
    Candidate,
    Gathered,
    Submission,
    counting,
    told_apart,
    why_not,
)
from kafkalab.errors import CourseError

NAMED_BY_BLACKBOARD = re.compile(r"^Name:\s*(.+?)\s*\(([^()]+)\)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Intake:
    """The hand-ins of an upload, in the order of their students, and what was left aside."""

    submissions: tuple[Submission, ...]
    ignored: tuple[str, ...]


def collect(path: Path, lab: str) -> Intake:
    """Read an upload for a lab."""
    if not path.exists():
        raise CourseError(
            f"There is nothing at {path}.", "", "Name a notebook, a folder or an archive."
        )
    ignored: list[str] = []
    found = _gather(path, ignored)
    if not found:
        raise CourseError(
            f"{path} holds no hand-in.",
            "; ".join(ignored[:MOST_NAMED]),
            "Name a notebook, a folder or an archive with notebooks.",
        )
    submissions = [counting(one, lab) for one in found]
    return Intake(tuple(told_apart(submissions)), tuple(ignored))


def _gather(path: Path, ignored: list[str]) -> list[Gathered]:
    found: dict[str, Gathered] = {}
    submitters: dict[str, gradescope.Submitter] = {}
    for file in _opened(path, ignored):
        said = names.said(file.place)
        if file.place.name == gradescope.METADATA:
            submitters |= gradescope.submitters(_bytes(file))
            continue
        if not (_is_work(file) or said.platform or len(file.place.parts) > 1):
            # a stray file is nobody's hand-in
            ignored.append(f"{file.place}: {why_not(file.place.name) or 'no notebook'}")
            continue
        person = found.setdefault(said.who.id, Gathered(said.who, platform=said.platform))
        if said.is_late and "Canvas marks it as late" not in person.notes:
            person.notes.append("Canvas marks it as late")
        _take(file, said, person, ignored)
    return list(_named_by_gradescope(found, submitters))


def _opened(path: Path, ignored: list[str]) -> Iterator[upload.File]:
    try:
        yield from upload.files(path, ignored)
    except CannotOpen as why:
        raise CourseError(f"{path} gives no hand-ins: {why}.", "", "Look into it.") from None


def _is_work(file: upload.File) -> bool:
    """Whether somebody may have meant to hand it in."""
    name = file.place.name
    return name.endswith(".py") or is_archive(name) or is_foreign(name) or file.is_notebook()


def _take(file: upload.File, said: Said, person: Gathered, ignored: list[str]) -> None:
    if is_archive(file.place.name):
        bound = upload.Bound(upload.MOST_INNER_WORK)
        person.candidates += _from_archive(file, person, ignored, bound)
    elif file.is_notebook():
        person.candidates.append(_candidate(file, said.when))
    elif said.platform == "Blackboard" and (named := _named(file, said)):
        person.who = replace(person.who, name=named)
    else:
        if file.place.name != "(empty folder)":
            ignored.append(f"{file.place}: no notebook")
            person.others.append(file.place.name)
    if said.when is not None:
        person.when = max(person.when or said.when, said.when)


def _named(file: upload.File, said: Said) -> str:
    """The name in the note that Blackboard puts beside an attempt."""
    match = NAMED_BY_BLACKBOARD.search(_bytes(file).decode(errors="replace"))
    return names.shown(match[1]) if match and match[2] == said.who.login else ""


def _bytes(file: upload.File) -> bytes:
    try:
        return file.data()
    except CannotOpen:
        return b""


def _candidate(file: upload.File, when: datetime.datetime | None) -> Candidate:
    try:
        content: NotebookFile | Unreadable = read(file.data())
    except CannotOpen as why:
        content = Unreadable(str(why))
    except Unreadable as why:
        content = why
    return Candidate(file.place, file.changed, content, when)


def _from_archive(
    file: upload.File, person: Gathered, ignored: list[str], bound: upload.Bound, depth: int = 1
) -> list[Candidate]:
    """The notebooks of an archive and of those in it. One that is too much gives nothing."""
    found: list[Candidate] = []
    when = names.said(file.place).when
    try:
        if depth > bound.deepest:
            raise CannotOpen(f"archives lie more than {bound.deepest} deep in one another")
        for member in upload.inner_files(file, ignored):
            bound.spend(member)
            if is_archive(member.place.name):
                found += _from_archive(member, person, ignored, bound, depth + 1)
            elif member.is_notebook():
                found.append(_candidate(member, when))
            else:
                person.others.append(member.place.name)
    except CannotOpen as why:
        if bound.left < 0 and depth > 1:
            raise
        kept = [] if bound.left < 0 else found
        return [*kept, Candidate(file.place, file.changed, Unreadable(str(why)), when)]
    return found


def _named_by_gradescope(
    found: dict[str, Gathered], submitters: dict[str, gradescope.Submitter]
) -> Iterator[Gathered]:
    for id, one in found.items():
        if submitter := submitters.get(id):
            one.who, one.when = submitter.who, submitter.when
            one.candidates = [replace(each, when=submitter.when) for each in one.candidates]
            if submitter.together:
                one.notes.append(f"handed in together with {', '.join(submitter.together)}")
        yield one
