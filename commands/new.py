"""`./course new`: a lesson or a lab that builds, runs and is proved before a word is changed."""

import re
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape

from authoring.build import Course
from kafkalab.errors import CourseError
from kafkalab.files import write_whole

# A small course of one lesson and one lab, both called 00_title.
TEMPLATE = Path(__file__).resolve().parent.parent / "authoring" / "template"
FOLDERS = {"lesson": ("lessons",), "lab": ("labs", "grading/labs")}
NAME = re.compile(r"(?P<number>\d\d)_(?P<words>[a-z][a-z0-9_]*)$")


def new(
    kind: Annotated[Literal["lesson", "lab"], typer.Argument(help="What to begin.")],
    name: Annotated[str, typer.Argument(help="Number and name, as in 21_my_idea.")],
) -> None:
    """Begin a lesson or a lab from the template. Nothing that is there is overwritten."""
    course = Course()
    match = NAME.match(name)
    if not match:
        raise typer.BadParameter(f"{name} is no NN_name in small letters, as 21_my_idea is")
    sources = course.lessons() if kind == "lesson" else [m.parent for m in course.masters()]
    for source in sources:
        if source.stem.startswith(match["number"]):
            raise typer.BadParameter(f"the number {match['number']} is taken by {source.stem}")
    files = begun(kind, match["number"], match["words"])
    if there := [str(file) for file in files if (course.root / file).exists()]:
        raise CourseError(f"{there[0]} is there already.", mend="Choose another name.")
    console = Console(highlight=False, soft_wrap=True)
    for file, text in files.items():
        write_whole(course.root / file, text)
        console.print(escape(str(file)))
    after = f"run {match['number']}" if kind == "lesson" else f"verify lab{match['number']}"
    console.print(f"Then ./course build and ./course {after}. It works as it is: change it.")


def begun(kind: str, number: str, words: str) -> dict[Path, str]:
    """The files of a new lesson or lab, relative to the course."""
    title = words.replace("_", " ").capitalize()
    found = {}
    for folder in FOLDERS[kind]:
        for file in sorted((TEMPLATE / folder).rglob("*")):
            if not file.is_file() or "__pycache__" in file.parts:
                continue
            path, text = file.relative_to(TEMPLATE).as_posix(), file.read_text("utf-8")
            for old, new in (
                ("00_title", f"{number}_{words}"),
                ("00 Title", f"{number} {title}"),
                ('"Title"', f'"{title}"'),
                ("title-", f"{words.replace('_', '-')}-"),  # names of topics
            ):
                path, text = path.replace(old, new), text.replace(old, new)
            found[Path(path)] = text
    return found
