"""What lessons and labs say about themselves: navigation, and the table of the README."""

import itertools
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from authoring import marked, rules
from authoring.percent import Script
from kafkalab.setup import way

QUESTION = re.compile(r"[^.?!\n]*\?")
CONTENTS = PurePosixPath("notebooks", "README.md")


@dataclass(frozen=True)
class Page:
    """A lesson or a lab as its neighbours see it."""

    notebook: PurePosixPath  # relative to the repository
    title: str
    number: str
    lab: bool
    question: str
    minutes: int | None
    needs: tuple[str, ...]  # numbers of lessons


def page(script: Script) -> Page:
    """Read from the first two cells of a script that the builder accepts."""
    title = rules.title(script)
    assert title, "the builder refuses a script without one"
    opening = "\n".join(script.cells[0].lines[1:])
    facts = script.cells[1].text if len(script.cells) > 1 else ""
    question = QUESTION.search(re.sub(r"(?<=\S)\n(?=\S)", " ", opening))
    folder = PurePosixPath(script.path).parent.name
    return Page(
        notebook=PurePosixPath(
            *(("labs", folder) if title.lab else ("notebooks",)), f"{rules.name(script)}.ipynb"
        ),
        title=title.text,
        number=title.number,
        lab=title.lab,
        question=question[0].strip() if question else "",
        minutes=way.minutes(facts),
        needs=way.needs(facts),
    )


def navigation(page: Page, pages: list[Page]) -> str:
    """The last cell: previous, contents, next; and between a lab and the lessons it needs."""
    row = [other for other in pages if other.lab == page.lab]
    here = row.index(page)
    parts = []
    if here > 0:
        parts.append(f"Previous: {_link(page, row[here - 1])}")
    parts.append(f"[Contents]({_way(page, CONTENTS)})")
    if here + 1 < len(row):
        parts.append(f"Next: {_link(page, row[here + 1])}")
    lines = ["---", " · ".join(parts)]
    if page.lab:
        related = [other for other in pages if not other.lab and other.number in page.needs]
    else:
        related = [other for other in pages if other.lab and page.number in other.needs]
    if related:
        links = ", ".join(_link(page, other) for other in related)
        kind = "Lesson" if page.lab else "Lab"
        lines += ["", f"{kind}{'s' if len(related) > 1 else ''}: {links}"]
    return "\n".join(lines)


def contents(pages: list[Page]) -> str:
    """The page that the navigation leads to. It is copied with the notebooks for each learner."""
    note = "<!-- Made by ./course build from the scripts in lessons/. -->"
    return f"{note}\n\n# Contents\n\n{table(pages, '../')}\n"


def table(pages: list[Page], root: str = "") -> str:
    """The tables of lessons and labs, in Markdown; `root` leads to the root of the repository."""
    lessons = [page for page in pages if not page.lab]
    labs = [page for page in pages if page.lab]
    lines = ["| | lesson | question | minutes |", "|---|---|---|---|"]
    for part, pages_of in itertools.groupby(lessons, key=lambda page: way.part(page.number)):
        lines.append(f"| | **{part}** | | |")
        lines += [_row(page, page.question, root) for page in pages_of]
    lines += ["", "| | lab | builds on | minutes |", "|---|---|---|---|"]
    lines += [_row(page, ", ".join(page.needs), root) for page in labs]
    return "\n".join(lines)


def put_table(readme: str, pages: list[Page]) -> str:
    """The README with the tables between the two marks renewed."""
    return marked.put(readme, "lessons", table(pages))


def _row(page: Page, told: str, root: str) -> str:
    return (
        f"| {page.number} | [{page.title}]({root}{page.notebook}) | {told} | {page.minutes or ''} |"
    )


def _link(page: Page, other: Page) -> str:
    title = f"Lab {other.number} {other.title}" if other.lab else f"{other.number} {other.title}"
    return f"[{title}]({_way(page, other.notebook)})"


def _way(page: Page, target: PurePosixPath) -> str:
    """The link from a page to a file; both are relative to the repository."""
    if target.parent == page.notebook.parent:
        return target.name
    return "../" * len(page.notebook.parent.parts) + str(target)
