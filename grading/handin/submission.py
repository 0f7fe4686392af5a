"""Which notebook of a person counts, and what is to be said of the others."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from grading.handin import names
from grading.handin.archives import is_foreign
from grading.handin.names import Who
from grading.handin.notebookfile import NotebookFile, Unreadable
from grading.judge.outcome import Outcome

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


def told_apart(submissions: list[Submission]) -> list[Submission]:
    """In the order of their names; those who share one are shown with their number."""
    shared = Counter(one.plain for one in submissions)
    told = [
        replace(one, student=f"{one.plain} ({one.number})")
        if shared[one.plain] > 1 and one.number
        else one
        for one in submissions
    ]
    return sorted(told, key=lambda one: (one.student, one.id))


def counting(person: Gathered, lab: str) -> Submission:
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
        if why := why_not(name):
            yield f"{name}: because {why}"


def why_not(name: str) -> str:
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
