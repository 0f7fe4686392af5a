"""A course folder: its roster, rules and decisions, and the marks that come of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grading.book import decisions, names, roster, rules, worksheet
from grading.book.decisions import Decision
from grading.book.labclass import LabClass, aliases
from grading.book.marks import Arrival, Mark, absent, mark, of_several
from grading.book.roster import Found, Roster
from grading.book.rules import LAST, LabRule, Rules
from grading.book.times import NoTime, in_utc
from grading.book.worksheet import Worksheet
from grading.define.place import places
from grading.judge.outcome import REFUSED
from grading.keep.record import AttemptRecord
from grading.keep.store import Store
from kafkalab.files import write_whole


def keep_roster(file: Path, folder: Path) -> None:
    """Make a table the roster of a course folder, if it is one; the former one stays beside it."""
    roster.read(file)
    content, kept = file.read_bytes(), folder / roster.FILE
    if kept.exists() and (former := kept.read_bytes()) != content:
        write_whole(kept.with_suffix(".before.csv"), former)
    write_whole(kept, content)


@dataclass(frozen=True)
class ClassBook:
    """A course folder with what the teacher put there."""

    folder: Path
    roster: Roster
    rules: Rules

    @classmethod
    def read(cls, folder: Path) -> ClassBook:
        """A CourseError where one of its files cannot be used."""
        people, rule = folder / roster.FILE, folder / rules.FILE
        read = cls(
            folder,
            roster.read(people) if people.exists() else Roster(),
            rules.read(rule) if rule.exists() else Rules(),
        )
        for lab in read.rules.labs.values():
            read._worksheet(lab)
        return read

    def remarks(self) -> list[str]:
        """What a teacher should know of the files in the folder."""
        unused = ", ".join(self.roster.unused)
        known = {int(place.number) for place in places()}
        return [
            *([f"{roster.FILE}: these columns mean nothing here: {unused}"] if unused else []),
            *(
                f"{rules.FILE}: there is no lab {number:02d}"
                for number in self.rules.labs
                if number not in known
            ),
        ]

    def labs(self) -> list[str]:
        """Every lab of which something is graded."""
        return [file.parent.name for file in self.folder.glob("*/class.json")]

    def lab(self, lab: str) -> LabClass:
        """The class of a lab now."""
        store, rule = Store(self.folder, lab), self.rules.of(lab)
        sheet = self._worksheet(rule)
        decided = decisions.read(store.folder)
        several = _hand_ins(store) if rule.attempts or rule.counts != LAST else {}
        marks = [
            self._mark(record, several.get(record.id, []), rule, sheet, decided)
            for record in store.class_records()
        ]
        marks.sort(key=lambda one: (names.in_order(one.name), one.id))
        there = {one.found.person.id for one in marks if one.found.person}
        missing = sorted(
            (person for person in self.roster.people if person.id not in there),
            key=lambda person: (names.in_order(person.shown), person.id),
        )
        of_waiting = [(one, self._found(one, sheet)) for one in store.waiting()]
        begun = [(one, found.person) for one, found in of_waiting]
        wait = {person.id for _, person in begun if person}
        perhaps: dict[str, set[str]] = defaultdict(set)
        for record, found in [*((one.record, one.found) for one in marks), *of_waiting]:
            for id in found.could_be:
                perhaps[id].add(record.student)
        graded = {one.id for one in marks}
        first = [pair for pair in begun if pair[0].id not in graded]
        return LabClass(
            lab,
            tuple(marks),
            tuple(
                absent(
                    one,
                    decisions.of_person(decided, {decisions.of_roster(one.id)}),
                    waits=one.id in wait,
                    perhaps=tuple(sorted(perhaps[one.id])),
                )
                for one in missing
            ),
            bool(self.roster.people),
            tuple(decided),
            waiting=tuple(sorted(p.label if p else one.student for one, p in first)),
            unclaimed=tuple(sorted(one.student for one, person in first if person is None)),
            again=tuple(sorted(one.student for one, _ in begun if one.id in graded)),
        )

    def _found(self, record: AttemptRecord, sheet: Worksheet) -> Found:
        """Who of the class somebody is."""
        also = sheet.of(record.number).also
        return self.roster.find(record.number, record.plain or record.student, record.login, also)

    def _worksheet(self, rule: LabRule) -> Worksheet:
        return worksheet.read(self.folder / rule.worksheet) if rule.worksheet else Worksheet()

    def _mark(
        self,
        counted: AttemptRecord,
        several: Sequence[AttemptRecord],
        rule: LabRule,
        sheet: Worksheet,
        decided: Sequence[Decision],
    ) -> Mark:
        """The mark of a person. several: all that they handed in, the first one first."""
        said = sheet.of(counted.number)
        found = self._found(counted, sheet)
        # What could not be read counts only where there is nothing else, and then the latest.
        read = [one for one in several if one.outcome not in REFUSED]
        hand_ins = [counted if one.hand_in == counted.hand_in else one for one in read]
        if counted not in hand_ins:
            hand_ins.append(counted)
        dated = [(one, self._arrival([one.handed_in])) for one in hand_ins]
        if all(arrival.when for _, arrival in dated):
            dated.sort(key=lambda pair: in_utc(pair[1].when) if pair[1].when else 0)
        else:
            # A worksheet and a roster have one time for a person: that of the latest hand-in.
            times = found.person.times if found.person else {}
            latest = dated[-1][0]
            written = [latest.handed_in, said.time, times.get(rules.number_of(counted.lab), "")]
            dated[-1] = latest, self._arrival(written)
        theirs = decisions.of_person(decided, aliases(counted, found.person))
        return of_several([mark(one, found, rule, at, theirs) for one, at in dated], rule)

    def _arrival(self, written: Sequence[str]) -> Arrival:
        """The first of these times that can be read."""
        arrival = Arrival()
        for text in filter(None, written):
            try:
                return Arrival(self.rules.moment(text))
            except NoTime as why:
                arrival = Arrival(why=str(why))
        return arrival


def _hand_ins(store: Store) -> dict[str, list[AttemptRecord]]:
    """Person -> the latest record of each hand-in, in the order in which they were first graded."""
    found: dict[str, dict[str, AttemptRecord]] = defaultdict(dict)
    for record in sorted(store.all_records(), key=lambda one: one.started):
        if record.is_final:
            found[record.id][record.hand_in] = record
    return {person: list(records.values()) for person, records in found.items()}
