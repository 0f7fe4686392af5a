"""Copies of the layout before labs had folders, carried to where the course looks for them now.

    work/labs/lab03_stock_producer.ipynb    work/labs/03_stock_producer/lab03_stock_producer.ipynb
    work/labs/data/                         work/labs/02_iris/data/
    work/labs/delivery/                     work/labs/05_delivery/delivery/

One that the learner has not changed goes away: a fresh copy comes. All others move, also files that
the learner added. Each move is one rename, so that it may be cut off and begun again at any time.
"""

import contextlib
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

PAGE = re.compile(r"lab(\d\d_\w+?)(\.new\d*)?\.ipynb")
FOLDERS = {"data": "02_iris", "delivery": "05_delivery"}
CACHE = "__pycache__"


@dataclass
class Carried:
    """Paths below the folder of the copies: where something was, and where it is."""

    moved: list[tuple[Path, Path]] = field(default_factory=list)
    twice: list[tuple[Path, Path]] = field(default_factory=list)
    """The learner has a copy of both layouts; both stay where they are."""
    refused: list[tuple[Path, str]] = field(default_factory=list)
    """Could not be moved, with the words of the system."""


def carry(
    target: Path,
    offered: Collection[Path],
    notes: dict[str, str],
    digest: Callable[[str, bytes], str],
) -> Carried:
    """Empty the places of the older layout; `notes`, what was given out last, follow the moves."""
    done = Carried()
    for old, new in list(_both_places(target, offered)):
        try:
            _carry(target, old, new, notes, digest, done)
        except OSError as error:
            done.refused.append((old, error.strerror or str(error)))
    for path in list(notes):
        if not (target / path).exists() and _is_older(Path(path)):
            del notes[path]
    for name in FOLDERS:
        _remove_emptied(target / "labs" / name)
    return done


def _both_places(target: Path, offered: Collection[Path]) -> Iterator[tuple[Path, Path]]:
    """Each file of the older layout, and its place in the present one."""
    labs = target / "labs"
    for page in sorted(labs.glob("*.ipynb")):
        match = PAGE.fullmatch(page.name)
        if match and Path("labs", match[1], f"lab{match[1]}.ipynb") in offered:
            yield page.relative_to(target), Path("labs", match[1], page.name)
    for name, lab in FOLDERS.items():
        if (labs / name).is_symlink():
            continue  # what it leads to lies elsewhere
        for file in sorted((labs / name).rglob("*")):
            relative = file.relative_to(labs)
            if file.is_file() and CACHE not in relative.parts:
                yield Path("labs", relative), Path("labs", lab, relative)


def _is_older(path: Path) -> bool:
    return path.parts[0] == "labs" and (len(path.parts) == 2 or path.parts[1] in FOLDERS)


def _carry(
    target: Path,
    old: Path,
    new: Path,
    notes: dict[str, str],
    digest: Callable[[str, bytes], str],
    done: Carried,
) -> None:
    content = (target / old).read_bytes()
    # What was put beside a changed copy as its newer version is what was given out last.
    given_out = notes.get(re.sub(r"\.new\d*(?=\.\w+$)", "", old.as_posix()))
    if digest(old.suffix, content) == given_out:
        (target / old).unlink()
        return
    if (target / new).exists():
        there = (target / new).read_bytes()
        if there == content:
            (target / old).unlink()
            return
        if digest(new.suffix, there) != notes.get(new.as_posix()):
            done.twice.append((old, new))
            return
    (target / new).parent.mkdir(parents=True, exist_ok=True)
    (target / old).replace(target / new)
    done.moved.append((old, new))
    # Without a note the course's version of today is a newer one, and comes beside it.
    notes.pop(new.as_posix(), None)
    if given_out is not None:
        notes[new.as_posix()] = given_out


def _remove_emptied(folder: Path) -> None:
    """Remove a folder in which only Python's own cache is left."""
    inside = list(folder.rglob("*"))
    own = (path for path in inside if CACHE not in path.relative_to(folder).parts)
    if not folder.is_dir() or any(not path.is_dir() for path in own):
        return
    with contextlib.suppress(OSError):
        for path in [*sorted(inside, reverse=True), folder]:
            path.rmdir() if path.is_dir() else path.unlink()
