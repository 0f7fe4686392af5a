"""The learner's own copies of notebooks and labs, kept up to date without losing any work.

A copy that the learner has not changed follows the course. One that was changed stays as it is;
the newer version is put beside it under a name of its own. What counts as a change in a notebook
is the text of its cells: running it leaves outputs behind, and that alone changes nothing.
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

NOTES = ".course.json"
FOLDERS = ("notebooks", "labs")


@dataclass
class Refreshed:
    """What was done, as paths below the folder of the copies."""

    copied: list[Path] = field(default_factory=list)
    replaced: list[Path] = field(default_factory=list)
    beside: list[Path] = field(default_factory=list)


def refresh(source: Path, target: Path) -> Refreshed:
    """Bring the copies in `target` up to what `source` holds in its folders for learners."""
    target.mkdir(parents=True, exist_ok=True)
    notes = _notes(target / NOTES)
    done = Refreshed()
    for folder in FOLDERS:
        for original in sorted((source / folder).rglob("*")):
            relative = original.relative_to(source)
            hidden = any(part.startswith(".") or part == "__pycache__" for part in relative.parts)
            if original.is_file() and not hidden:
                _refresh(original, target / relative, relative, notes, done)
    _write(target / NOTES, json.dumps(notes, indent=1, sort_keys=True).encode())
    return done


def _refresh(
    original: Path, copy: Path, relative: Path, notes: dict[str, str], done: Refreshed
) -> None:
    content = original.read_bytes()
    offered = digest(original.suffix, content)
    last_offered = notes.get(str(relative))
    notes[str(relative)] = offered
    if not copy.exists():
        _write(copy, content)
        done.copied.append(relative)
        return
    present = digest(copy.suffix, copy.read_bytes())
    if offered in (present, last_offered):
        return
    if present == last_offered:
        _write(copy, content)
        done.replaced.append(relative)
        return
    beside = copy.with_name(f"{copy.stem}.new{copy.suffix}")
    number = 1
    while beside.exists():
        number += 1
        beside = copy.with_name(f"{copy.stem}.new{number}{copy.suffix}")
    _write(beside, content)
    done.beside.append(relative.with_name(beside.name))


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


def _notes(path: Path) -> dict[str, str]:
    try:
        return json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return {}


def _write(path: Path, content: bytes) -> None:
    """All of it or nothing: a full disk must not leave half a notebook in place of a whole one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.writing")
    fresh.write_bytes(content)
    fresh.replace(path)
