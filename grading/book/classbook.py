"""The class of a lab now: each hand-in with whom it belongs to, and who has none."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from grading.book import roster
from grading.book.roster import Found, Person, Roster
from grading.keep.record import AttemptRecord, Store
from kafkalab.files import write_whole


def keep_roster(file: Path, folder: Path) -> None:
    """Make a table the roster of a course folder, if it is one; the former one stays beside it."""
    roster.read(file)
    content, kept = file.read_bytes(), folder / roster.FILE
    if kept.exists() and (former := kept.read_bytes()) != content:
        write_whole(kept.with_suffix(".before.csv"), former)
    write_whole(kept, content)


@dataclass(frozen=True)
class Entry:
    """A hand-in that counts, and whose it is."""

    record: AttemptRecord
    found: Found

    @property
    def name(self) -> str:
        """The roster's spelling, unless the hand-in's tells two people of one name apart."""
        is_alone = self.record.plain in ("", self.record.student)
        return self.found.person.shown if self.found.person and is_alone else self.record.student


@dataclass(frozen=True)
class LabClass:
    """Everybody of a lab, in the order of names."""

    lab: str
    entries: tuple[Entry, ...]
    missing: tuple[Person, ...]
    """On the roster, and no hand-in is theirs."""
    has_roster: bool

    def problems(self) -> list[str]:
        """What a teacher should look at."""
        found = [f"{one.label}: nothing was handed in" for one in self.missing]
        if self.has_roster:
            found += [
                f"{one.record.student}: {one.found.why}"
                for one in self.entries
                if one.found.person is None
            ]
        people = Counter(one.found.person.id for one in self.entries if one.found.person)
        found += [
            f"{id}: {count} hand-ins are from one person"
            for id, count in people.items()
            if count > 1
        ]
        return found


@dataclass(frozen=True)
class Course:
    """A course folder with what the teacher put there."""

    folder: Path
    roster: Roster

    @classmethod
    def read(cls, folder: Path) -> Course:
        file = folder / roster.FILE
        return cls(folder, roster.read(file) if file.exists() else Roster())

    def remarks(self) -> list[str]:
        """What a teacher should know of the files in the folder."""
        unused = ", ".join(self.roster.unused)
        return [f"{roster.FILE}: these columns mean nothing here: {unused}"] if unused else []

    def lab(self, lab: str) -> LabClass:
        """The class of a lab now."""
        entries = [
            Entry(record, self._whose(record)) for record in Store(self.folder, lab).class_records()
        ]
        entries.sort(key=lambda one: (one.name, one.record.id))
        there = {one.found.person.id for one in entries if one.found.person}
        missing = sorted(
            (person for person in self.roster.people if person.id not in there),
            key=lambda person: (person.shown, person.id),
        )
        return LabClass(lab, tuple(entries), tuple(missing), bool(self.roster.people))

    def _whose(self, record: AttemptRecord) -> Found:
        return self.roster.find(record.number, record.plain or record.student, record.login)
