"""What a cell does that goes otherwise here than on the student's machine, told at its task."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from grading.handin import code
from grading.handin.pieces import Kind, Pieces

ADDRESS = re.compile(r"\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0):\d{2,5}\b")
WINDOW = re.compile(
    r"^(?P<before>\s*%matplotlib\s+)(?:qt\w*|tk|wx|gtk\w*|osx|macosx|widget|ipympl|notebook|nbagg"
    r"|auto|webagg)\b.*$",
    re.MULTILINE,
)
"""Draws in a window or in a page, and grading has neither."""
CLOSES = re.compile(r"^\s*(\w+)\.close\(", re.MULTILINE)


def without_windows(text: str) -> str:
    """The same code with pictures where there is no screen."""
    return WINDOW.sub(r"\g<before>inline", text)


def remarks(pieces: Pieces, tasks: Sequence[int | None]) -> Iterator[str]:
    """What is to be told of the student's cells. tasks: the task of each place in the run."""
    given = [(at, piece.text) for at, piece in enumerate(pieces) if piece.kind is Kind.GIVEN]
    for at, piece in enumerate(pieces):
        if piece.kind is not Kind.OWN:
            continue
        task = tasks[at]
        of = f"Task {task}" if task is not None else "Behind the last check"
        if found := ADDRESS.search(piece.text):
            yield (
                f"{of}: {piece} names the address {found[0]}; the brokers of this lab are at "
                "lab.cluster.address, and what answers at another address differs by machine"
            )
        if found := WINDOW.search(piece.text):
            yield f"{of}: {found[0].strip()} became %matplotlib inline: nobody looks at a window"
        for name in sorted(set(CLOSES.findall(piece.text))):
            if _is_shared(name, at, given) and name not in _bound_before(pieces, at):
                yield (
                    f"{of}: {piece} closes {name}, which the course made and later cells of the "
                    "course use"
                )


def _is_shared(name: str, at: int, given: Collection[tuple[int, str]]) -> bool:
    is_made = any(place < at and name in code.bound(text) for place, text in given)
    return is_made and any(place > at and name in code.needed(text) for place, text in given)


def _bound_before(pieces: Pieces, at: int) -> set[str]:
    """What the student's cells have defined anew by then, this one too."""
    own = (piece.text for piece in pieces[: at + 1] if piece.kind is Kind.OWN)
    return set().union(*map(code.bound, own))
