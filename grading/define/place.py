"""Where a lab lies: one folder for the student, one for the teacher, under the same name.

labs/02_iris/            the notebook, lab.toml, parameters, public checks, hints, data
grading/labs/02_iris/    the master with the solutions, hidden checks, wrong answers, tests
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kafkalab.errors import CourseError
from kafkalab.places import repository

FOLDER = re.compile(r"\d\d_\w+$")
NEITHER = {"__pycache__", "wrong", "tests"}


@dataclass(frozen=True)
class Place:
    """The two folders of a lab in the course that lies at `root`."""

    root: Path
    folder: str
    """02_iris"""

    @property
    def name(self) -> str:
        """lab02_iris: what a notebook, a hand-in and the records of a class call it."""
        return f"lab{self.folder}"

    @property
    def number(self) -> str:
        return self.folder.partition("_")[0]

    @property
    def student(self) -> Path:
        return self.root / "labs" / self.folder

    @property
    def teacher(self) -> Path:
        return self.root / "grading" / "labs" / self.folder

    @property
    def master(self) -> Path:
        return self.teacher / "lab.py"

    @property
    def notebook(self) -> Path:
        return self.student / f"{self.name}.ipynb"

    def files(self) -> Iterator[tuple[PurePosixPath, Path]]:
        """The files that run or judge, each with its path in its folder.

        Wrong answers and tests do neither, and the notebook is made from the master.
        """
        for folder in (self.student, self.teacher):
            for file in sorted(folder.rglob("*")):
                path = file.relative_to(folder)
                if file.is_file() and file.suffix != ".ipynb" and not NEITHER & set(path.parts):
                    yield PurePosixPath(path), file


def places(root: Path | None = None) -> list[Place]:
    """Every lab of a course, in order: those with a master, and those that students hold."""
    root = root or repository()
    found = {path.parent.name for path in (root / "grading" / "labs").glob("*/lab.py")}
    found |= {path.parent.name for path in (root / "labs").glob("*/lab.toml")}
    return [Place(root, folder) for folder in sorted(found) if FOLDER.match(folder)]


def find(name: str, root: Path | None = None) -> Place:
    """The lab from what a person types: lab02_iris, 02_iris, lab02 or 2."""
    known = places(root)
    short = f"{int(name):02d}" if name.isdecimal() else name.removeprefix("lab")
    for place in known:
        if short in {place.folder, place.number}:
            return place
    raise CourseError(
        f"There is no lab {name}.",
        f"There are: {', '.join(place.name for place in known) or 'none'}.",
        "Name one of them; its number is enough.",
    )
