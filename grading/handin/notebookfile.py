"""The bytes of an uploaded notebook -> cells, or a sentence that says why not.

Read by hand and not with nbformat: only ids, kinds and texts of cells are wanted, and whatever
else is broken in the file does not matter.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

from grading.define.edition import Stamp
from grading.define.marks import TASK, TASK_LINE
from grading.handin.weave import HandedIn

LARGEST_FILE = 200_000_000  # bytes, with stored outputs, which are read over
LARGEST = 50_000_000  # letters, of what is kept
MOST_CELLS = 2_000
LONGEST_CELL = 200_000
CONFLICT = re.compile(r"^(<{7}|>{7})( |$)", re.MULTILINE)
STUB = re.compile(r"""raise NotImplementedError\(\s*["']Task \d""")
OPENS_LAB = re.compile(r"""Lab\.open\(\s*["'](lab\d\d\w*)["']""")
# grading/labs/02_iris/lab.py; lessons/labs/lab02_iris.py in notebooks of before.
SOURCE = re.compile(r"(?:^|/)(?:(\d\d\w*)/lab|lab(\d\d\w*))\.py$")


class Unreadable(Exception):
    """Not a notebook; the text completes "unreadable: because …"."""


@dataclass(frozen=True)
class NotebookFile:
    """What a hand-in says: its cells, the lab it names, and what was mended on the way."""

    cells: tuple[HandedIn, ...]
    lab: str | None
    notes: tuple[str, ...] = ()
    stamp: Stamp | None = None
    """Of the edition that it was given out with."""

    @property
    def is_blank(self) -> bool:
        """Whether every task still has what stood there when the lab was given out."""
        tasks = [c.text for c in self.cells if TASK.match(c.id) or TASK_LINE.match(c.text)]
        return bool(tasks) and all(not text.strip() or STUB.search(text) for text in tasks)

    @property
    def digest(self) -> str:
        """Of ids and texts: running a notebook again does not make it another hand-in."""
        content = [[cell.id, cell.kind, cell.text] for cell in self.cells]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def read(data: bytes) -> NotebookFile:
    """The cells of a notebook; raises Unreadable."""
    notes: list[str] = []
    document = _document(data, notes)
    cells = tuple(_cell(cell) for cell in _cells(document, notes))
    if not any(cell.text.strip() for cell in cells):
        raise Unreadable("all its cells are empty")
    if sum(len(cell.text) for cell in cells) > LARGEST:
        raise Unreadable(f"its cells hold more than {LARGEST // 1_000_000} MB of text")
    return NotebookFile(cells, _lab(document, cells), tuple(notes), Stamp.read(document))


def _document(data: bytes, notes: list[str]) -> dict[str, Any]:
    if len(data) > LARGEST_FILE:
        raise Unreadable(f"it is larger than {LARGEST_FILE // 1_000_000} MB")
    if not data.strip(b"\0 \t\r\n"):
        raise Unreadable("it is empty")
    text = _text(data, notes)
    start = text.lstrip()[:200].lower()
    if start.startswith(("<!doctype", "<html", "<?xml")):
        raise Unreadable("it is a web page; save the notebook itself (File, Download)")
    try:
        document = json.loads(text)
    except RecursionError:
        raise Unreadable("it is nested too deep") from None
    except ValueError as error:
        if CONFLICT.search(text):
            raise Unreadable("it holds the marks of a merge conflict (<<<<<<<)") from None
        raise Unreadable(f"it is damaged or cut off: it is not JSON ({str(error)[:80]})") from None
    if not isinstance(document, dict):
        kind = "list" if isinstance(document, list) else "single value"
        raise Unreadable(f"it holds a {kind} where a notebook belongs")
    return document


def _text(data: bytes, notes: list[str]) -> str:
    encoding = "utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise Unreadable("it is not text in UTF-8") from None
    if encoding == "utf-16":
        notes.append("was saved as UTF-16")
    elif data.startswith(b"\xef\xbb\xbf"):
        notes.append("began with a byte order mark")
    return text


def _cells(document: dict[str, Any], notes: list[str]) -> list[dict[str, Any]]:
    version = document.get("nbformat")
    cells = document.get("cells")
    if version == 3 or "worksheets" in document:
        raise Unreadable("it is in the old notebook format 3; open it in JupyterLab and save it")
    if isinstance(version, int) and version > 4:
        raise Unreadable(f"it is in notebook format {version}, which this course does not know")
    if not isinstance(cells, list):
        raise Unreadable("it has no list of cells")
    if len(cells) > MOST_CELLS:
        raise Unreadable(f"it has more than {MOST_CELLS} cells")
    good = [cell for cell in cells if isinstance(cell, dict)]
    if len(good) < len(cells):
        notes.append("held things that are no cells")
    return good


def _cell(cell: dict[str, Any]) -> HandedIn:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    if not isinstance(source, str):
        source = ""
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    # lone surrogates can be written in JSON and nowhere else
    return HandedIn(
        id=str(cell.get("id", ""))[:64],
        kind=str(cell.get("cell_type", ""))[:16],
        text=_one_kind_of_line_end(source[:LONGEST_CELL].encode(errors="replace").decode()),
        tags=tuple(str(tag)[:64] for tag in tags[:50]) if isinstance(tags, list) else (),
    )


def _one_kind_of_line_end(text: str) -> str:
    """Editors of other systems write others, and a comment must end where it was seen to end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _lab(document: dict[str, Any], cells: tuple[HandedIn, ...]) -> str | None:
    """The lab that the builder wrote into the metadata; where that is lost, the set-up cell's."""
    try:
        if match := SOURCE.search(document["metadata"]["kafka_course"]["source"]):
            return f"lab{match[1] or match[2]}"
    except (KeyError, TypeError):
        pass
    opened = (OPENS_LAB.search(cell.text) for cell in cells if cell.kind == "code")
    return next((match[1] for match in opened if match), None)
