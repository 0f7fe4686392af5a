"""Everybody of a lab: who has a mark, who has none, and whom a teacher means."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from grading.book import decisions, names
from grading.book.decisions import Decision
from grading.book.marks import Absent, Mark
from grading.book.roster import Person
from grading.keep.record import AttemptRecord
from kafkalab.errors import CourseError

MOST_NAMED = 10
MOODLE = "Moodle"


@dataclass(frozen=True)
class LabClass:
    """Everybody of a lab, in the order of names."""

    lab: str
    marks: tuple[Mark, ...]
    missing: tuple[Absent, ...]
    """On the roster, and no hand-in is theirs."""
    has_roster: bool
    decided: tuple[Decision, ...] = ()
    waiting: tuple[str, ...] = ()
    """Whose hand-ins are to be graded, and nothing of theirs is yet."""
    unclaimed: tuple[str, ...] = ()
    """Those of them who are nobody on the roster."""
    again: tuple[str, ...] = ()
    """Whose hand-ins are to be graded, and what was graded before counts till then."""

    def problems(self) -> list[str]:
        """What a teacher should look at."""
        found = self.unfinished()
        unsettled = [
            one
            for one in self.missing
            if one.points is None and not one.is_excused and one.is_missing
        ]
        if unsettled:
            names_of_them = "; ".join(one.person.label for one in unsettled)
            found.append(f"nothing was handed in by {names_of_them}")
        if self.has_roster:
            found += [
                f"{one.record.student}: {one.found.why}{_what_tells(one)}"
                for one in self.marks
                if one.found.person is None
            ]
        people = Counter(one.found.person.id for one in self.marks if one.found.person)
        found += [
            f"{id}: {count} hand-ins are from one person"
            for id, count in people.items()
            if count > 1
        ]
        undated: dict[str, list[str]] = {}
        for one in self.marks:
            if one.unknown:
                undated.setdefault(one.unknown, []).append(one.name)
        found += [
            f"counted as in time, because {why}: {'; '.join(people)}"
            for why, people in undated.items()
        ]
        return found + self._without_object()

    def unfinished(self) -> list[str]:
        """Whose hand-ins are still to be graded."""
        found = []
        if self.waiting:
            of = "; ".join(self.waiting)
            found.append(f"not graded yet, and the same ./course grade goes on with it: {of}")
        if self.again:
            of = "; ".join(self.again)
            found.append(f"to be graded again, and what was graded before counts till then: {of}")
        return found

    def _without_object(self) -> list[str]:
        """Decisions about somebody, or a check, that is not there any more."""
        people = {name for one in self.everybody for name in decided_as(one)}
        checks = {""} | {line.check["id"] for one in self.marks for line in one.lines}
        return [
            f"{one.kind} of {one.who} for {one.person} {one.check}: that is not there any more"
            for one in self.decided
            if one.person not in people or one.check not in checks
        ]

    def find(self, words: str) -> Mark | Absent:
        """The one whom a teacher means by an id, a login or a name."""
        wanted = words.casefold()
        by_word = [one for one in self.everybody if wanted in known_as(one)]
        by_name = [one for one in self.everybody if names.same(words, name_of(one))]
        by_part = [one for one in self.everybody if names.within(words, name_of(one))]
        found = by_word or by_name or by_part
        if len(found) == 1:
            return found[0]
        if found:
            who = "; ".join(label_of(one) for one in found)
            raise CourseError(
                f"{words} may be {len(found)} people.",
                f"There are {who}.",
                "Name them by what the others have not: id, login or name.",
            )
        some = "; ".join(label_of(one) for one in self.everybody[:MOST_NAMED])
        raise CourseError(
            f"Nobody in {self.lab} is called {words}.", f"There are {some}.", "Name one of them."
        )

    @property
    def full(self) -> float:
        """The points of the lab, where nothing is excused."""
        return max((one.record.full for one in self.marks), default=0)

    def standing(self, one: Mark | Absent) -> tuple[Decision, ...]:
        """What was decided about somebody and holds."""
        return decisions.of_person(self.decided, decided_as(one)).standing

    def named(self, whose: str) -> Mark | Absent:
        """The one whom a decision names so."""
        return next(one for one in self.everybody if whose in decided_as(one))

    def one_each(self) -> tuple[Mark, ...]:
        """The marks; of several hand-ins that are from one person, the better one."""
        best: dict[str, Mark] = {}
        for one in self.marks:
            key = f"roster {one.found.person.id}" if one.found.person else f"hand-in {one.id}"
            if key not in best or _worth(one) > _worth(best[key]):
                best[key] = one
        return tuple(best.values())

    @property
    def everybody(self) -> list[Mark | Absent]:
        return [*self.marks, *self.missing]


def _what_tells(one: Mark) -> str:
    """What a teacher can do where nothing tells some people apart."""
    if not one.found.could_be or one.record.platform != MOODLE:
        return ""
    return "; Moodle's grading worksheet tells, if class.toml names it"


def _worth(one: Mark) -> float:
    return -1 if one.points is None else one.points


def name_of(one: Mark | Absent) -> str:
    return one.name if isinstance(one, Mark) else one.person.shown


def id_of(one: Mark | Absent) -> str:
    """What tells somebody from all others of the lab."""
    return one.id if isinstance(one, Mark) else one.person.id


def label_of(one: Mark | Absent) -> str:
    """Name and id."""
    name, id = name_of(one), id_of(one)
    return name if name == id or f"({id})" in name else f"{name} [{id}]"


def known_as(one: Mark | Absent, numbers: bool = True) -> set[str]:
    """All that a teacher may call somebody, in small letters.

    numbers: also what only the platform gives that the hand-in came from.
    """
    person = one.found.person if isinstance(one, Mark) else one.person
    words = [person.id, person.name, person.login] if person else []
    if isinstance(one, Mark):
        record = one.record
        words += [record.plain or record.student, record.login]
        if numbers:
            words += [one.id, one.name, record.student, record.number]
    return {word.casefold() for word in words if word}


def decided_as(one: Mark | Absent) -> set[str]:
    """How decisions may name somebody."""
    if isinstance(one, Absent):
        return {decisions.of_roster(one.person.id)}
    return aliases(one.record, one.found.person)


def aliases(record: AttemptRecord, person: Person | None) -> set[str]:
    by_roster = {decisions.of_roster(person.id)} if person else set()
    return {decisions.of_hand_in(record.id)} | by_roster
