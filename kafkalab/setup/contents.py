"""The learner's own contents: how far they are on each page, the words learnt, what still runs."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

from kafkalab.files import write_whole
from kafkalab.notebook import running_pages
from kafkalab.notebook.text import Text
from kafkalab.places import repository
from kafkalab.setup.copies import REFERENCE
from kafkalab.setup.way import Stage, following, steps

FILE = "contents.ipynb"
COLUMNS = ("page", "minutes", "how far", "predictions", "exercises")
TERM = re.compile(r"\*\*([^*\n]+)\*\*")
SENTENCE = re.compile(r"(?<=[.?!:])\s+(?=[A-Z*`])")
FRESH = "from kafkalab.setup import contents\n\ncontents.show()"
INTRODUCTION = """# Contents

Run the cell below (Shift and Enter) to see how far you are now. What you answer and reach is kept
in `progress.json` beside this page, and goes nowhere else."""


def show() -> Text:
    """As it is now, of the copies in the folder that this is run in."""
    return Text(as_markdown(repository(), Path.cwd()))


def write(course: Path, work: Path) -> None:
    """Write the page, with what it says now as if its cell had just been run."""
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

    text = as_markdown(course, work)
    data = {"text/markdown": text, "text/plain": text}
    output = new_output("execute_result", data=data, execution_count=1)
    cells = [
        new_markdown_cell(INTRODUCTION, id="introduction"),
        new_code_cell(FRESH, id="contents", execution_count=1, outputs=[output]),
    ]
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    page = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    write_whole(work / FILE, json.dumps(page, indent=1) + "\n")


def as_markdown(course: Path, work: Path) -> str:
    """The next step, lessons by part, labs, words, and pages that still run."""
    found = steps(course, work)
    parts = ["\n".join(_next(following(found)))]
    for heading, stages in itertools.groupby(found, key=lambda step: step.part):
        rows = [_row(step) for step in stages]
        head = f"| | {' | '.join(COLUMNS)} |"
        parts.append("\n".join([f"## {heading}", "", head, "|---" * 6 + "|", *rows]))
    parts.append("\n".join(["## To look up", "", *_reference(course)]))
    if words := list(_words(course, found)):
        parts.append("\n".join(["## Words so far", "", *words]))
    if running := list(_running(work)):
        parts.append("\n".join(["## Still running", "", *running]))
    return "\n\n".join(parts)


def in_words(step: Stage) -> tuple[str, str, str, str, str]:
    """Of one page what stands under COLUMNS."""
    minutes = "" if step.minutes is None else str(step.minutes)
    solved = str(step.solved) if step.solved else ""
    return step.title, minutes, _how_far(step), _foretold(step), solved


def _how_far(step: Stage) -> str:
    if step.points is not None:
        reached, full = step.points
        return f"{reached:g} of {full:g} points"
    if step.is_done:
        return "done"
    return "begun" if step.is_begun else ""


def _foretold(step: Stage) -> str:
    if not step.close + step.off:
        return ""
    return f"{step.close} close, {step.off} off"


def _next(step: Stage | None) -> Iterator[str]:
    if step is None:
        yield "**You have been everywhere.** Thank you for reading."
        return
    needs = f" It builds on {', '.join(step.needs)}." if step.is_lab and step.needs else ""
    yield f"**Next:** [{step.title}]({step.page.as_posix()}).{needs}"


def _row(step: Stage) -> str:
    title, *told = in_words(step)
    title = re.sub(r"^(Lab )?\d\d ", "", title)
    return f"| {' | '.join([step.number, f'[{title}]({step.page.as_posix()})', *told])} |"


def _reference(course: Path) -> Iterator[str]:
    for page in sorted((course / REFERENCE).glob("*.md")):
        title = page.read_text("utf-8").splitlines()[0].strip("# ")
        yield f"- [{title}]({(REFERENCE / page.name).as_posix()})"


def _words(course: Path, found: list[Stage]) -> Iterator[str]:
    """Each term of the lessons that are done, with the sentence in which it is explained."""
    told: set[str] = set()
    for step in found:
        if step.is_lab or not step.is_done:
            continue
        for term, sentence in terms(course / step.page):
            if term.lower() not in told:
                told.add(term.lower())
                yield f"- {sentence} ({step.number})"


def terms(page: Path) -> Iterator[tuple[str, str]]:
    """What a lesson sets in bold, with its sentence; its opening has no terms."""
    cells = json.loads(page.read_text("utf-8"))["cells"]
    for cell in cells[2:]:
        if cell["cell_type"] != "markdown":
            continue
        for paragraph in "".join(cell["source"]).split("\n\n"):
            text = " ".join(paragraph.split())
            if text.startswith(("|", "#", "<", "---")):
                continue
            for sentence in SENTENCE.split(text):
                for term in TERM.findall(sentence):
                    yield term, sentence.removeprefix("- ")


def _running(work: Path) -> Iterator[str]:
    for page in running_pages.found(work):
        kernel = running_pages.kernel(page)
        memory = f", {running_pages.memory(kernel)}" if kernel else ""
        closed = "" if page.tabs else ", in no tab"
        yield f"- {page.name}{memory}{closed}"
