"""Runs lessons: every cell in order, in a kernel of its own, without a screen."""

import copy
import logging
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from traitlets.config import Config

from authoring import notebooks, rules
from authoring.leftovers import left_behind, marked
from authoring.percent import Script
from kafkalab.notebook import page as page_of

CELL_SECONDS = 120.0
LESSON_SECONDS = 300.0
WIDGET = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class LessonRun:
    """How the run of one lesson went. `problem` is empty if it went well."""

    lesson: str
    seconds: float
    problem: str
    notebook: str
    """As it ran; its proofs carry the tag `proof`."""
    page: str
    """What a reader sees of it, as HTML."""
    cell_seconds: dict[str, float] = field(default_factory=dict)
    """file:line of each code cell that was begun -> how long it took."""

    @property
    def passed(self) -> bool:
        return not self.problem

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "passed": self.passed}


def run(
    script: Script,
    text: str,
    output: Path,
    *,
    folder: Path,
    proofs: bool = True,
    navigation: str = "",
    environment: Mapping[str, str] | None = None,
    cell_seconds: float = CELL_SECONDS,
    lesson_seconds: float = LESSON_SECONDS,
    backwards: bool = False,
    twice: bool = False,
) -> LessonRun:
    """Run the notebook of a script and write what it showed to `output`, also after a failure.

    folder: where the kernel works. Processes that outlive the kernel are reported and ended.
    proofs: with the proofs between the cells; without, exactly what a reader has (who also has the
    navigation). The HTML page is a reader's in both cases; of the proofs it shows one that failed.
    environment: variables of the kernel, beside those of this process.
    backwards: before it, all cells from the last to the first (see authoring.untidy); twice: each
    cell of the page two times in a row.
    """
    build = notebooks.solution_notebook if proofs else notebooks.student_notebook
    parts = notebooks.with_answers(script if proofs else script.page())
    return _run(
        rules.name(script),
        notebooks.to_text(build(text, script.path, navigation)),
        [f"{script.path}:{cell.line}" for cell in parts.cells],
        output,
        folder,
        environment or {},
        cell_seconds,
        lesson_seconds,
        backwards,
        twice,
    )


def run_page(
    page: Path,
    output: Path,
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    cell_seconds: float = CELL_SECONDS,
    lesson_seconds: float = LESSON_SECONDS,
) -> LessonRun:
    """Run a notebook that was built, where its script is not there. Otherwise as `run`."""
    text = page.read_text("utf-8")
    cells = range(1, 1 + len(nbformat.reads(text, 4).cells))
    return _run(
        page.stem,
        text,
        [f"{page.name}, cell {number}" for number in cells],
        output,
        folder,
        environment or {},
        cell_seconds,
        lesson_seconds,
    )


def _run(
    name: str,
    text: str,
    places: Sequence[str],
    output: Path,
    folder: Path,
    environment: Mapping[str, str],
    cell_seconds: float,
    lesson_seconds: float,
    backwards: bool = False,
    twice: bool = False,
) -> LessonRun:
    """text: of the notebook. places: how each of its cells is called where it fails."""
    # a second's work to import
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    from authoring import untidy

    folder.mkdir(parents=True, exist_ok=True)
    output.mkdir(parents=True, exist_ok=True)
    executed, page = output / f"{name}.ipynb", output / f"{name}.html"
    executed.write_text(text, "utf-8")
    started = time.monotonic()

    def seconds_for(cell: nbformat.NotebookNode) -> float:
        return max(1.0, min(cell_seconds, started + lesson_seconds - time.monotonic()))

    problem = ""
    failed: int | None = None
    # Sockets in a private folder instead of ports that every user of the machine can open. Without
    # a folder of its own, two runs would use the same files in the same place.
    with (
        # As JupyterLab tells a kernel which notebook it runs.
        marked({page_of.SESSION: str(executed.absolute()), **environment}) as mark,
        tempfile.TemporaryDirectory(prefix="kernel-") as sockets,
    ):
        try:
            with _quiet():
                papermill.execute_notebook(
                    executed,
                    executed,
                    cwd=folder,
                    engine_name=untidy.ENGINE,
                    backwards=backwards,
                    twice=twice,
                    progress_bar=False,
                    timeout_func=seconds_for,
                    config=Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/s"}}),
                    # the kernel reports each shutdown as an error
                    extra_arguments=["--IPKernelApp.log_level=CRITICAL"],
                )
        except PapermillExecutionError as error:
            failed = error.cell_index
            problem = f"{error.ename}: {error.evalue}".strip()
        except untidy.Unkind as error:
            failed, problem = error.cell, str(error)
        except CellTimeoutError as error:
            failed, problem = _last_started(executed), str(error).splitlines()[0]
        except DeadKernelError:
            failed, problem = _last_started(executed), "the kernel died"
        seconds = time.monotonic() - started
        if failed is not None:
            problem = f"{places[failed]}: {problem}"
        if left := left_behind(mark):
            problem = "; ".join(filter(None, [problem, f"left running: {', '.join(left)}"]))
    notebook = nbformat.read(executed, 4)
    took = dict(zip(places, _durations(notebook), strict=False))
    page.write_text(_as_page(notebook), "utf-8")
    return LessonRun(
        name,
        round(seconds, 1),
        problem,
        str(executed),
        str(page),
        {place: duration for place, duration in took.items() if duration is not None},
    )


def _as_page(notebook: nbformat.NotebookNode) -> str:
    """What a reader sees, and a proof that failed."""
    from nbconvert import HTMLExporter

    from authoring import untidy

    cells = [cell for cell in notebook.cells if not untidy.is_proof(cell) or _has_failed(cell)]
    shown = nbformat.from_dict(copy.deepcopy({**notebook, "cells": cells}))
    for output in (output for cell in shown.cells for output in cell.get("outputs", [])):
        # a widget lives in a kernel; its words stay
        output.get("data", {}).pop(WIDGET, None)
    body, _ = HTMLExporter(template_name="lab").from_notebook_node(shown)
    return body


@contextmanager
def _quiet() -> Iterator[None]:
    """papermill logs what it also raises."""
    logger = logging.getLogger("papermill")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _last_started(executed: Path) -> int:
    """Number of the last cell that papermill began."""
    cells = nbformat.read(executed, 4).cells
    started = [number for number, cell in enumerate(cells) if _times(cell).get("start_time")]
    return max(started, default=0)


def _durations(notebook: nbformat.NotebookNode) -> list[float | None]:
    """Seconds of each cell; None for prose and for what was not begun.

    papermill marks the cell that failed with two cells of its own, which do not count.
    """
    from papermill.execute import ERROR_MARKER_TAG

    own = [c for c in notebook.cells if ERROR_MARKER_TAG not in c.metadata.get("tags", [])]
    return [_times(cell).get("duration") if cell.cell_type == "code" else None for cell in own]


def _times(cell: nbformat.NotebookNode) -> dict[str, Any]:
    return cell.metadata.get("papermill", {})


def _has_failed(cell: nbformat.NotebookNode) -> bool:
    return any(output.output_type == "error" for output in cell.get("outputs", []))
