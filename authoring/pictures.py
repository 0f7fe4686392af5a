"""The pictures of the README: charts of executed lessons, each with its text alternative."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import nbformat

from authoring import marked
from kafkalab.errors import CourseError
from kafkalab.files import write_whole

FOLDER = Path("lessons", "pictures")
IMAGE = re.compile(r'<img alt="(?P<alternative>[^"]*)"[^>]*base64,(?P<png>[^"]+)"')


@dataclass(frozen=True)
class Chart:
    """A chart of a lesson: the last one in the first cell that calls `drawn_by`."""

    name: str
    lesson: str
    """By name: numbers change."""
    drawn_by: str
    about: str


@dataclass(frozen=True)
class Taken:
    """A picture and what it says to those who do not see it."""

    name: str
    png: bytes
    alternative: str
    about: str


def take(chart: Chart, executed: Path) -> Taken:
    """Out of an executed notebook; CourseError if no cell draws it."""
    for cell in nbformat.read(executed, as_version=4).cells:
        if cell.cell_type == "code" and chart.drawn_by in cell.source:
            html = [one.get("data", {}).get("text/html", "") for one in cell.outputs]
            found = [match for text in html for match in IMAGE.finditer("".join(text))]
            if found:
                png = base64.b64decode(found[-1]["png"])
                return Taken(chart.name, png, unescape(found[-1]["alternative"]), chart.about)
    raise CourseError(
        f"{executed.stem} has no picture of {chart.drawn_by}",
        "The lesson draws it no more, or in another way.",
        "Say in commands/pictures.py which cell draws it now.",
    )


def hang(course: Path, taken: list[Taken], readmes: list[Path]) -> None:
    """Write them below lessons/pictures, and between the marks of each page that shows them."""
    for picture in taken:
        write_whole(course / FOLDER / f"{picture.name}.png", picture.png)
    shown = [
        f"![{picture.alternative}]({(FOLDER / picture.name).as_posix()}.png)\n\n*{picture.about}*"
        for picture in taken
    ]
    for readme in readmes:
        text = readme.read_text("utf-8")
        write_whole(readme, marked.put(text, "pictures", "\n\n".join(shown)))
