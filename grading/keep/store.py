"""Records on disk: one folder for each attempt, written whole or not at all.

    COURSE/secret                       what the parameters of students are drawn from
    COURSE/LAB/attempts/KEY/record.json     `started`, then replaced by the result
                           /evidence.json   what was seen; points can be made of it again
                           /run.ipynb       the notebook that ran, with its outputs
    COURSE/LAB/class.json               the attempt that counts for each person now
    COURSE/LAB/waiting.json             whose hand-ins were to be run, and may have ended since
    COURSE/LAB/decisions.json           what a teacher decided by hand
    COURSE/students.csv, class.toml     what a teacher wrote: the class, its rules

Evidence is never changed. Another hand-in, another version of the lab or of the grader is another
attempt with another key, so a run that was cut off goes on where it stopped. What counts for a
person changes when an attempt has come to its end, and not before.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from grading.judge.outcome import OURS, Outcome
from grading.keep.evidence import Evidence
from grading.keep.record import FINISHED, AttemptRecord
from grading.run.attempt import Attempted
from kafkalab.files import write_whole


class Store:
    """The records of one lab in a course folder."""

    def __init__(self, course: Path, lab: str) -> None:
        self.course = course
        self.folder = course / lab
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._class = threading.Lock()

    def attempt(self, key: str) -> Path:
        """The folder of an attempt."""
        return self.folder / "attempts" / key

    def find(self, key: str) -> AttemptRecord | None:
        """The record of an attempt, if there is one that can be read."""
        try:
            table = json.loads((self.attempt(key) / "record.json").read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return _of_table(table)

    def evidence(self, key: str) -> Evidence | None:
        """What was seen in an attempt."""
        file = self.attempt(key) / "evidence.json"
        return Evidence.from_json(json.loads(file.read_text("utf-8"))) if file.exists() else None

    def notebook(self, key: str) -> str | None:
        """The text of the notebook that ran in an attempt, with its outputs."""
        file = self.attempt(key) / "run.ipynb"
        return file.read_text("utf-8") if file.exists() else None

    def start(self, record: AttemptRecord) -> None:
        """Write that an attempt began; a left-over of this kind is run again.

        What an earlier attempt with the same key left stays beside it, as KEY.1, KEY.2, …
        """
        folder = self.attempt(record.key)
        before = self.find(record.key)
        if before is not None and before.status == FINISHED:
            number = len(list(folder.parent.glob(f"{record.key}.*"))) + 1
            folder.rename(folder.with_name(f"{record.key}.{number}"))
        write_whole(self.attempt(record.key) / "record.json", _as_text(asdict(record)))

    def finish(self, record: AttemptRecord, attempted: Attempted) -> None:
        """Write what came out. The record is last: it says that the rest is there."""
        folder = self.attempt(record.key)
        write_whole(folder / "evidence.json", _as_text(attempted.evidence.to_json()))
        if attempted.notebook is not None:
            write_whole(folder / "run.ipynb", _as_text(attempted.notebook))
        write_whole(folder / "record.json", _as_text(asdict(record)))

    def rewrite(self, record: AttemptRecord) -> None:
        """Write the record of an attempt in the place of the one that it has."""
        written = replace(record, key=record.key.partition(".")[0])
        write_whole(self.attempt(record.key) / "record.json", _as_text(asdict(written)))

    def count(self, record: AttemptRecord) -> None:
        """From now on this attempt counts for its person.

        But a fault of ours takes nobody's mark away: where the same hand-in had one, that stays.
        """
        with self._class:
            keys = self.class_keys()
            former = self._before(record, keys.get(record.id))
            is_kept = record.outcome in OURS and former is not None
            keys[record.id] = former.key if is_kept and former else record.key
            write_whole(self.folder / "class.json", _as_text(keys))

    def expect(self, records: Iterable[AttemptRecord]) -> None:
        """Remember whose hand-ins are about to be run, beside those that still wait."""
        waiting = {one.id: one for one in (*self.waiting(), *records)}
        table = [asdict(one) for one in waiting.values()]
        write_whole(self.folder / "waiting.json", _as_text(table))

    def waiting(self) -> list[AttemptRecord]:
        """The hand-ins that were to be run and did not come to their end."""
        file = self.folder / "waiting.json"
        table = json.loads(file.read_text("utf-8")) if file.exists() else []
        return [one for one in map(_of_table, table) if not self._has_ended(one)]

    def _has_ended(self, begun: AttemptRecord) -> bool:
        found = self.find(begun.key)
        if found is None or found.status != FINISHED:
            return False
        return found.finished >= begun.started

    def class_keys(self) -> dict[str, str]:
        """Person -> key of the attempt that counts."""
        file = self.folder / "class.json"
        return json.loads(file.read_text("utf-8")) if file.exists() else {}

    def class_records(self) -> list[AttemptRecord]:
        """The record that counts for each person, in the order of their names."""
        found = [record for key in self.class_keys().values() if (record := self.counting(key))]
        names = Counter(record.plain for record in found if record.person != record.plain)
        # a row of before, when people of one name were taken for one
        kept = [r for r in found if not (r.id == r.student and names[r.student] > 1)]
        return sorted(kept, key=lambda record: (record.student, record.id))

    def counting(self, key: str) -> AttemptRecord | None:
        """The record of an attempt; while it is run again, that of the time before."""
        record = self.find(key)
        if record is not None and record.status == FINISHED:
            return replace(record, key=key)
        return next(iter(self.earlier(key)), None)

    def earlier(self, key: str) -> list[AttemptRecord]:
        """What attempts with the same key left before, the latest first."""
        numbers = (folder.suffix[1:] for folder in self.attempt(key).parent.glob(f"{key}.*"))
        names = [f"{key}.{n}" for n in sorted(map(int, filter(str.isdecimal, numbers)))]
        found = ((name, self.find(name)) for name in reversed(names))
        return [replace(record, key=name) for name, record in found if record is not None]

    def all_records(self) -> list[AttemptRecord]:
        """Every attempt that came to its end, run again or not."""
        folders = sorted((self.folder / "attempts").glob("*"))
        found = ((folder.name, self.find(folder.name)) for folder in folders)
        return [replace(r, key=name) for name, r in found if r and r.status == FINISHED]

    def _before(self, record: AttemptRecord, counted: str | None) -> AttemptRecord | None:
        """A mark that the same hand-in had, if it has one."""
        candidates = self.earlier(record.key)
        if counted and counted != record.key and (former := self.counting(counted)):
            candidates.insert(0, former)
        return next((r for r in candidates if r.is_final and r.hand_in == record.hand_in), None)


def _of_table(table: dict[str, Any]) -> AttemptRecord:
    outcome = Outcome(table["outcome"]) if table["outcome"] else None
    return AttemptRecord(**table | {"outcome": outcome})


def slug(student: str) -> str:
    """A file name for a student: readable letters, and a hash that tells people apart."""
    plain = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode().lower()
    letters = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40]
    return f"{letters or 'student'}-{hashlib.sha256(student.encode()).hexdigest()[:8]}"


def _as_text(table: Any) -> str:
    return json.dumps(table, ensure_ascii=False, indent=1) + "\n"
