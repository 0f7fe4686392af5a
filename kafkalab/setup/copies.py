"""The learner's own copies of notebooks and labs, kept up to date without losing any work.

A copy that the learner has not changed follows the course. One that was changed stays as it is;
the newer version is put beside it under a name of its own. What counts as a change in a notebook
is the text of its cells: running it leaves outputs behind, and that alone changes nothing.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kafkalab.errors import CourseError
from kafkalab.files import new_folder, write_whole
from kafkalab.setup import older_copies, older_lessons
from kafkalab.setup.older_copies import Carried

NOTES = ".course.json"
OLDER = "older"
# A lab that is run in the course's own folder writes its logs there.
NOT_OFFERED = {"__pycache__", "run"}
REFERENCE = Path("lessons", "reference")


@dataclass
class Refreshed:
    """What was done, as paths below the folder of the copies."""

    copied: list[Path] = field(default_factory=list)
    replaced: list[Path] = field(default_factory=list)
    beside: list[Path] = field(default_factory=list)
    outdated: list[Path] = field(default_factory=list)
    """The learner's own versions beside which a newer one of the course lies."""
    carried: Carried = field(default_factory=Carried)
    aside: list[tuple[Path, Path, list[str]]] = field(default_factory=list)
    """Lessons that the course no longer has: where each was and is, and those that follow it."""


@dataclass(frozen=True)
class Reset:
    """A fresh page, and where what was there lies now (None: nothing of it differed)."""

    page: Path
    aside: Path | None
    carried: Carried


def refresh(source: Path, target: Path) -> Refreshed:
    """Bring the copies in `target` up to what `source` holds for learners."""
    target.mkdir(parents=True, exist_ok=True)
    notes = _notes(target / NOTES)
    # First, so that no fresh copy takes the place that a learner's own is to move to.
    paths = list(offered(source))
    done = Refreshed(carried=older_copies.carry(target, paths, notes, digest))
    for old, new in older_lessons.put_aside(target, target / OLDER, paths, notes):
        done.aside.append((old, new, older_lessons.followers(old, paths)))
    for relative in paths:
        _refresh(source / relative, target / relative, relative, notes, done)
    _keep_notes(target, notes)
    return done


def reset(source: Path, target: Path, name: str) -> Reset:
    """Put fresh copies in the place of a lesson or a lab; what differs from them is kept aside.

    `name`: the number of a lesson (03), lab03, or the whole name of either. CourseError for others.
    """
    paths = list(offered(source))
    page = _page(paths, name)
    target.mkdir(parents=True, exist_ok=True)
    notes = _notes(target / NOTES)
    carried = older_copies.carry(target, paths, notes, digest)
    # A lab has a folder of its own, and the programs in it are renewed with the page.
    is_lab = page.parts[0] == "labs"
    mine = [path for path in paths if is_lab and page.parent in path.parents] or [page]
    differing = [path for path in mine if _differs(source / path, target / path)]
    aside = new_folder(target / OLDER, page.stem) if differing else None
    for path in mine:
        content = (source / path).read_bytes()
        if aside is not None and path in differing:
            kept = aside / path.relative_to(page.parent)
            kept.parent.mkdir(parents=True, exist_ok=True)
            (target / path).rename(kept)
        if not (target / path).exists():
            write_whole(target / path, content)
        notes[path.as_posix()] = digest(path.suffix, content)
        for beside in _all_beside(target / path):
            if beside.read_bytes() == content:
                beside.unlink()
    _keep_notes(target, notes)
    return Reset(page, aside.relative_to(target) if aside else None, carried)


def offered(source: Path) -> Iterator[Path]:
    """What a learner gets, relative to the course's folder, in order.

    Of a lab its notebook, and a README and the folders that lie beside it; the grader reads the
    rest. And the pages to look things up in, to which the notebooks link.
    """
    found = sorted((source / "notebooks").rglob("*"))
    found += sorted((source / REFERENCE).glob("*.md"))
    for folder in sorted((source / "labs").glob("*/")):
        found += [folder / f"lab{folder.name}.ipynb", folder / "README.md"]
        found += [path for inner in sorted(folder.glob("*/")) for path in sorted(inner.rglob("*"))]
    for original in found:
        relative = original.relative_to(source)
        unfit = any(part.startswith(".") or part in NOT_OFFERED for part in relative.parts)
        if original.is_file() and not unfit:
            yield relative


def short_name(path: Path) -> str:
    """What `reset` calls the lesson or the lab that a copy belongs to: 03 or lab03."""
    kind, name = path.parts[:2]
    return f"lab{name[:2]}" if kind == "labs" else name[:2]


def digest(suffix: str, content: bytes) -> str:
    """What a file says, as a sum; of a notebook the kind and text of its cells."""
    if suffix == ".ipynb":
        try:
            cells = json.loads(content)["cells"]
            content = json.dumps(
                [[cell["cell_type"], "".join(cell["source"])] for cell in cells]
            ).encode()
        except (ValueError, KeyError, TypeError):
            # A notebook that cannot be read is the learner's own business: compared as it is.
            return hashlib.sha256(content).hexdigest()
    return hashlib.sha256(content).hexdigest()


def _refresh(
    original: Path, copy: Path, relative: Path, notes: dict[str, str], done: Refreshed
) -> None:
    content = original.read_bytes()
    now = digest(original.suffix, content)
    before = notes.get(relative.as_posix())
    notes[relative.as_posix()] = now
    if not copy.exists():
        write_whole(copy, content)
        done.copied.append(relative)
        return
    present = digest(copy.suffix, copy.read_bytes())
    if present == now:
        return
    if present == before:
        write_whole(copy, content)
        done.replaced.append(relative)
        return
    taken = _all_beside(copy)
    is_there = any(digest(one.suffix, one.read_bytes()) == now for one in taken)
    if now != before and not is_there:
        number = 1
        while (beside := _beside(copy, number)) in taken:
            number += 1
        write_whole(beside, content)
        done.beside.append(relative.with_name(beside.name))
    if now != before or taken:
        done.outdated.append(relative)


def _beside(copy: Path, number: int) -> Path:
    return copy.with_name(f"{copy.stem}.new{number if number > 1 else ''}{copy.suffix}")


def _all_beside(copy: Path) -> list[Path]:
    """The newer versions that were put beside a copy."""
    name = re.compile(rf"{re.escape(copy.stem)}\.new\d*{re.escape(copy.suffix)}")
    return [path for path in sorted(copy.parent.glob("*")) if name.fullmatch(path.name)]


def _page(paths: list[Path], name: str) -> Path:
    pages = [path for path in paths if path.suffix == ".ipynb"]
    for page in pages:
        number = page.stem.partition("_")[0]
        # Lab 03 is also known as its folder, 03_stock_producer, and both as 3 for short.
        called = {page.stem, number, number.replace("lab0", "lab").removeprefix("0")}
        if page.parts[0] == "labs":
            called.add(page.parent.name)
        if name.removesuffix(".ipynb") in called:
            return page
    raise CourseError(
        f"There is no lesson and no lab {name}.",
        f"There are {', '.join(page.stem for page in pages)}.",
        "Name one of them; 03 is enough for a lesson, lab03 for a lab.",
    )


def _differs(original: Path, copy: Path) -> bool:
    return copy.exists() and copy.read_bytes() != original.read_bytes()


def _notes(path: Path) -> dict[str, str]:
    """The sums of what was last given out, by path."""
    try:
        notes = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return notes if isinstance(notes, dict) else {}


def _keep_notes(target: Path, notes: dict[str, str]) -> None:
    write_whole(target / NOTES, json.dumps(notes, indent=1, sort_keys=True))
