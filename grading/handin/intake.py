"""Any upload -> one hand-in per person, or a clear refusal. Never stops at a bad one.

An upload is a notebook, an archive, or a folder: of notebooks, of a folder per student, or of what
a learning platform makes of them (grading/handin/names.py). Names in it are data and never become
paths. Whose hand-in it is says the platform's number, where there is one, and never the name alone.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from grading.handin import gradescope, names, upload
from grading.handin.archives import CannotOpen, is_archive, is_foreign
from grading.handin.names import Said, Who
from grading.handin.notebookfile import NotebookFile, Unreadable, read
from grading.judge.outcome import Outcome
from kafkalab.errors import CourseError

NAMED_BY_BLACKBOARD = re.compile(r"^Name:\s*(.+?)\s*\(([^()]+)\)\s*$", re.MULTILINE)
NO_NOTEBOOK = {
    ".py": "it is a Python script; the notebook itself (.ipynb) is what counts",
    ".html": "it is a web page; save the notebook itself (File, Download)",
    ".htm": "it is a web page; save the notebook itself (File, Download)",
    ".pdf": "it is a PDF; the notebook itself (.ipynb) is what counts",
}
FOREIGN = "it is an archive of a kind that is not read; zip and tar.gz are"
MOST_NAMED = 5


@dataclass(frozen=True)
class Submission:
    """What one person handed in. `student` is a name to show, which no other one of the upload has.

    number: the platform's, or a login; "" where the name is all there is. platform: which one; its
    numbers mean nothing to another. plain: the name without
    a number that tells two apart. handed_in: the platform's time, "" where it tells none. person:
    whom the records know already, where that is not the number.
    """

    student: str
    notebook: NotebookFile | None
    refusal: Outcome | None = None
    why: str = ""
    notes: tuple[str, ...] = ()
    number: str = ""
    plain: str = ""
    login: str = ""
    handed_in: str = ""
    person: str = ""
    platform: str = ""

    @property
    def id(self) -> str:
        """Whom it belongs to."""
        return self.person or self.number or self.student


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
    when: datetime.datetime | None = None


@dataclass
class Gathered:
    """What was found of one person."""

    who: Who
    candidates: list[Candidate] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """What is no notebook."""
    notes: list[str] = field(default_factory=list)
    when: datetime.datetime | None = None
    platform: str = ""


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
    submissions = [_submission(one, lab) for one in found]
    return Intake(tuple(_told_apart(submissions)), tuple(ignored))


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
            ignored.append(f"{file.place}: {_why_not(file.place.name) or 'no notebook'}")
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


def _told_apart(submissions: list[Submission]) -> list[Submission]:
    """In the order of their names; those who share one are shown with their number."""
    shared = Counter(one.plain for one in submissions)
    told = [
        replace(one, student=f"{one.plain} ({one.number})")
        if shared[one.plain] > 1 and one.number
        else one
        for one in submissions
    ]
    return sorted(told, key=lambda one: (one.student, one.id))


def _submission(person: Gathered, lab: str) -> Submission:
    """The notebook that counts among those of a student: of this lab, answered, the latest."""
    who = person.who
    id = who.id if who.number or who.login else ""
    refused = Submission(
        who.name, None, notes=tuple(person.notes), number=id, plain=who.name, login=who.login,
        handed_in=as_text(person.when), platform=person.platform,
    )  # fmt: skip
    readable: list[tuple[Candidate, NotebookFile]] = []
    refusals: list[str] = []
    for candidate in sorted(person.candidates, key=_age):
        if isinstance(candidate.content, Unreadable):
            refusals.append(f"{candidate.place.name}: because {candidate.content}")
        else:
            readable.append((candidate, candidate.content))
    if not readable and (refusals := refusals + list(_other_refusals(person.others))):
        return replace(refused, refusal=Outcome.UNREADABLE, why=_some(refusals))
    if not readable:
        why = f"no notebook, but {_some(person.others)}" if person.others else "nothing was there"
        return replace(refused, refusal=Outcome.NOTHING_HANDED_IN, why=why)
    notes = person.notes + [f"{refusal}; left aside" for refusal in refusals]
    own = [(candidate, notebook) for candidate, notebook in readable if notebook.lab == lab]
    others = sorted({notebook.lab or "no lab that it names" for _, notebook in readable} - {lab})
    if not own:
        why = f"the notebook belongs to {', '.join(others)}, not to {lab}"
        return replace(refused, refusal=Outcome.WRONG_LAB, why=why, notes=tuple(notes))
    if others:
        notes.append(f"a notebook of {', '.join(others)} lay beside it; left aside")
    own.sort(key=lambda pair: not pair[1].is_blank)  # stable: the later of its kind stays behind
    chosen, notebook = own[-1]
    for other, content in own[:-1]:
        is_blank = content.is_blank and not notebook.is_blank
        why = "it has no answers" if is_blank else "the latest counts"
        notes.append(f"{other.place.name} was handed in too; {why}")
    notes += [f"{chosen.place.name} {note}" for note in notebook.notes]
    when = as_text(chosen.when or person.when)
    return replace(refused, notebook=notebook, notes=tuple(notes), handed_in=when)


def _other_refusals(others: list[str]) -> Iterator[str]:
    for name in others:
        if why := _why_not(name):
            yield f"{name}: because {why}"


def _why_not(name: str) -> str:
    """Why a file that is no notebook does not count, where that can be said."""
    return FOREIGN if is_foreign(name) else NO_NOTEBOOK.get(PurePosixPath(name).suffix.lower(), "")


def _some(things: list[str]) -> str:
    more = len(things) - MOST_NAMED
    return "; ".join(things[:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")


def as_text(when: datetime.datetime | None) -> str:
    """A time in ISO's form; without a zone where the platform told none."""
    return "" if when is None else when.isoformat(timespec="seconds")


def _age(candidate: Candidate) -> tuple[str, int, float]:
    """By the platform's time, then by the number that is appended to names, then by the file's."""
    return as_text(candidate.when), names.copy_number(candidate.place.name), candidate.changed


def as_known(submissions: Sequence[Submission], known: Collection[str]) -> list[Submission]:
    """The same, but whom the records know by name alone stays known so, while no other has it.

    Otherwise a class that was graded before numbers were kept would get other parameters.
    """
    names = Counter(one.plain for one in submissions)
    return [
        replace(one, person=one.plain)
        if one.plain in known and one.number not in known and names[one.plain] == 1
        else one
        for one in submissions
    ]
