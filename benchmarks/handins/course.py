"""A course folder of the benchmark: hand-ins are put in, graded by the real command, looked at."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading.define.definition import Definition
from grading.keep.store import Store
from kafkalab.files import write_whole
from kafkalab.places import repository

FAULTS = 3  # the exit code of `grade` where a fault of ours left a hand-in without points


@dataclass(frozen=True)
class Course:
    """One lab and its class, in a folder that may be there from a run that was cut off."""

    lab: Definition
    folder: Path

    @property
    def records(self) -> Path:
        return self.folder / "course"

    def grade(self, hand_ins: Iterable[tuple[str, bytes]], jobs: int) -> dict[str, dict[str, Any]]:
        """Hand in and grade; name -> record of everybody in the class."""
        handed_in = self.folder / "handed in"
        for name, data in hand_ins:
            (handed_in / name).mkdir(parents=True, exist_ok=True)
            write_whole(handed_in / name / f"{self.lab.name}.ipynb", data)
        command = [
            *(str(repository() / "course"), "grade", self.lab.name, str(handed_in)),
            *("--jobs", str(jobs), "--out", str(self.records), "--json"),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                printed, _ = process.communicate()
            except KeyboardInterrupt:
                process.wait()  # it hears of it too, and ends what it has started
                raise
        if process.returncode not in (0, FAULTS):
            sys.exit(f"grade ended with {process.returncode}; what it printed stands above")
        return {record["student"]: record for record in json.loads(printed)}

    def digests(self) -> dict[str, str]:
        """Every file of the attempts that are over, and of the secret."""
        files = [*self.records.glob(f"{self.lab.name}/attempts/*/*"), self.records / "secret"]
        return {
            str(file.relative_to(self.records)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in files
            if file.is_file()
        }

    def outputs(self, key: str) -> str:
        """What the cells of an attempt printed."""
        return Store(self.records, self.lab.name).notebook(key) or ""


def lost(record: dict[str, Any]) -> str:
    """What a hand-in lost, in a line."""
    missed = [check for check in record["checks"] if check["reached"] < check["full"]]
    told = "; ".join(
        f"{check['task']} {check['id']} {check['reached']:g} of {check['full']:g} "
        f"({' '.join(check['messages'])[:160]})"
        for check in missed
    )
    why = f"{record['outcome']} {record['why'][:160]}".strip()
    return f"{record['student']}: {record['reached']} of {record['full']:g}, {why}: {told}"
