"""Which version of a lab a notebook is of: written into it when the course is given out.

The student edition (`./course release`) stamps each lab's notebook. A hand-in keeps the stamp, so
that work on another version of the lab is told, and costs nothing by itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from grading.define import master

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from grading.define.definition import Definition

OURS = "kafka_course"
"""The part of a notebook's metadata that is the course's."""
FOR_AUTHORS = "generated"


@dataclass(frozen=True)
class Stamp:
    """The edition, the version of the lab in it, and a digest of the notebook's text."""

    edition: str
    version: int
    text: str

    @classmethod
    def read(cls, notebook: Any) -> Stamp | None:
        """That of a notebook, which may be anybody's; None where there is none."""
        try:
            edition, version, text = (notebook["metadata"][OURS][n] for n in cls.__annotations__)
        except (KeyError, TypeError):
            return None
        fits = isinstance(edition, str) and type(version) is int and isinstance(text, str)
        return cls(edition[:40], version, text) if fits else None


def stamp_of(lab: Definition, edition: str) -> Stamp:
    """What is written into the notebook of a lab."""
    return Stamp(edition, lab.version, text_of(master.blank(lab)))


def text_of(notebook: NotebookNode) -> str:
    """Changes with the text of a cell; not with outputs or metadata."""
    cells = [[cell.cell_type, cell.source] for cell in notebook.cells]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()[:12]


def stamped(notebook: bytes, stamp: Stamp | None) -> bytes:
    """The notebook as it is given out: with its stamp, without what is for authors alone."""
    document = json.loads(notebook)
    known: dict[str, Any] = document["metadata"].setdefault(OURS, {})
    known.pop(FOR_AUTHORS, None)
    known |= asdict(stamp) if stamp else {}
    return f"{json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True)}\n".encode()


def told(lab: Definition, stamps: Iterable[Stamp | None]) -> list[str]:
    """What is to be said of notebooks with these stamps in the lab as it is now; "" if nothing."""
    stamps = list(stamps)
    now = _now(lab) if any(stamps) else None
    return [_difference(stamp, now) if stamp and now else "" for stamp in stamps]


def _difference(stamp: Stamp, now: Stamp) -> str:
    if stamp.version != now.version:
        was = f"version {stamp.version} of the lab, and this is version {now.version}"
    elif stamp.text != now.text:
        was = f"another text of version {now.version} of the lab than this one"
    else:
        return ""
    return f"The notebook was made from {was} (edition {stamp.edition}); that alone costs nothing"


def _now(lab: Definition) -> Stamp:
    """Of the lab that is here; a student edition has it written down."""
    if not lab.place.master.exists() and (own := Stamp.read(master.blank(lab))):
        return own
    return stamp_of(lab, "")
