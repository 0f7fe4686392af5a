"""The cells that will run, in their order, while that order is being made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from grading.handin import code
from grading.handin.cells import plain


class Unclear(Exception):
    """Nobody can say which cells answer a task. The text is for the student and the teacher."""


class Kind(Enum):
    """What a cell is to the run."""

    GIVEN = auto()
    SHOWN = auto()
    """Of the course, and no task needs it."""
    CHECK = auto()
    STUB = auto()
    """The cell of a task as the course has it."""
    OWN = auto()


@dataclass(eq=False)
class Piece:
    """One cell. `of`: its place in the master; `place`: its place in the hand-in."""

    kind: Kind
    text: str
    of: int | None = None
    place: int | None = None
    said: int | None = None
    """The task that its mark names; of a check or a stub its task."""
    is_changed: bool = False
    """Of a cell that shows something: the student's version of it."""
    behind: Piece | None = None
    """The given cell that it was put into by the student."""
    above: list[str] = field(default_factory=list)
    """Prose that stands above it in the hand-in."""

    def __str__(self) -> str:
        """For people: where it stands, and how it begins."""
        lines = [line for line in plain(self.text).splitlines() if line.strip()]
        where = "" if self.place is None else f"{self.place + 1} "
        return f"cell {where}(“{lines[0].strip()[:50] if lines else ''}”)"


class Pieces(list[Piece]):
    """All of them; knows which task a cell is about."""

    def __init__(self, names: Mapping[int, frozenset[str]]) -> None:
        super().__init__()
        self.names = names
        self._owner = {name: number for number, some in names.items() for name in some}
        self.claimed: dict[int, Piece] = {}
        """Task -> a cell that was taken for its answer by its place alone."""

    def about(self, piece: Piece) -> set[int]:
        """The tasks that a cell of the student's answers: as it says, else by what it defines."""
        if piece.kind is not Kind.OWN:
            return set()
        if piece.said is not None:
            return {piece.said}
        by_place = {number for number, one in self.claimed.items() if one is piece}
        return by_place | {self._owner[n] for n in code.bound(piece.text) if n in self._owner}

    def answers(self, task: int) -> list[Piece]:
        """The student's cells about a task, in their order."""
        return [piece for piece in self if task in self.about(piece)]

    def own(self, start: int, end: int) -> list[Piece]:
        """The student's cells in a stretch that are about no task."""
        return [p for p in self[start:end] if p.kind is Kind.OWN and not self.about(p)]

    def behind_last_check(self) -> list[Piece]:
        """The student's cells at the end that no check sees, and that are about no task."""
        checks = [at for at, piece in enumerate(self) if piece.kind is Kind.CHECK]
        return self.own(max(checks, default=len(self)), len(self))

    def check(self, task: int) -> Piece | None:
        return next((p for p in self if p.kind is Kind.CHECK and p.said == task), None)

    def stubs(self, task: int) -> list[Piece]:
        return [p for p in self if p.kind is Kind.STUB and p.said == task]

    def of(self, at: int) -> Piece | None:
        """The piece that is this cell of the master."""
        return next((piece for piece in self if piece.of == at), None)

    def behind_own(self, start: int, task: int | None = None) -> int:
        """From here on past the student's cells that are about no other task.

        A blank cell of this task ends nothing: a student may have an answer around it.
        """
        for at in range(start, len(self)):
            one = self[at]
            if one.kind is Kind.STUB and one.said == task is not None:
                continue
            if one.kind is not Kind.OWN or self.about(one) - {task}:
                return at
        return max(start, len(self))

    def at(self, piece: Piece) -> int:
        """Its place; two pieces may read alike."""
        return next(at for at, one in enumerate(self) if one is piece)

    def checked_next(self) -> Iterator[tuple[Piece, int | None]]:
        """Each piece with the task whose check comes next; None behind the last one."""
        following: list[int | None] = []
        task: int | None = None
        for piece in reversed(self):
            if piece.kind is Kind.CHECK:
                task = piece.said
            following.append(task)
        yield from zip(self, reversed(following), strict=True)
