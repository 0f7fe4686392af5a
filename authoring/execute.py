"""Runs lessons as a reader would: every cell in order, in a kernel of its own, without a screen."""

import logging
import os
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import nbformat
import psutil
from traitlets.config import Config

from authoring import notebooks, rules
from authoring.percent import Script

CELL_SECONDS = 120.0
LESSON_SECONDS = 300.0
# The watcher of a cluster ends it after the kernel that owned it; that takes a moment.
SECONDS_TO_CLEAN_UP = 15.0
MARK = "KAFKALAB_RUN"


@dataclass(frozen=True)
class Outcome:
    """How the run of one lesson went. `problem` is empty if it went well."""

    lesson: str
    seconds: float
    problem: str
    notebook: str
    page: str  # the same as HTML

    @property
    def passed(self) -> bool:
        return not self.problem

    def as_dict(self) -> dict[str, str | float | bool]:
        return {**asdict(self), "passed": self.passed}


def run(
    script: Script,
    text: str,
    output: Path,
    *,
    folder: Path,
    cell_seconds: float = CELL_SECONDS,
    lesson_seconds: float = LESSON_SECONDS,
    backwards: bool = False,
    twice: bool = False,
) -> Outcome:
    """Run the notebook of a script and write what it showed to `output`, also after a failure.

    folder: where the kernel works. Processes that outlive the kernel are reported and ended.
    backwards: before it, all cells from the last to the first (see authoring.untidy); twice: each
    cell of the page two times in a row.
    """
    # a second's work to import, and ./course build shares the command's module
    import papermill
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from nbconvert import HTMLExporter
    from papermill.exceptions import PapermillExecutionError

    from authoring import untidy

    name = rules.name(script)
    folder.mkdir(parents=True, exist_ok=True)
    output.mkdir(parents=True, exist_ok=True)
    executed, page = output / f"{name}.ipynb", output / f"{name}.html"
    executed.write_text(notebooks.to_text(notebooks.solution_notebook(text, script.path)), "utf-8")
    started = time.monotonic()

    def seconds_for(cell: nbformat.NotebookNode) -> float:
        return max(1.0, min(cell_seconds, started + lesson_seconds - time.monotonic()))

    problem = ""
    # Sockets in a private folder instead of ports that every user of the machine can open. Without
    # a folder of its own, two runs would use the same files in the same place.
    with _marked() as mark, tempfile.TemporaryDirectory(prefix="kernel-") as sockets:
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
            problem = f"{_place(script, error.cell_index)}: {error.ename}: {error.evalue}".strip()
        except untidy.Unkind as error:
            problem = f"{_place(script, error.cell)}: {error}"
        except CellTimeoutError as error:
            problem = f"{_place(script, _last_started(executed))}: {str(error).splitlines()[0]}"
        except DeadKernelError:
            problem = f"{_place(script, _last_started(executed))}: the kernel died"
        seconds = time.monotonic() - started
        if left := _left_behind(mark):
            problem = "; ".join(filter(None, [problem, f"left running: {', '.join(left)}"]))
    body, _ = HTMLExporter(template_name="lab").from_notebook_node(nbformat.read(executed, 4))
    page.write_text(body, "utf-8")
    return Outcome(name, round(seconds, 1), problem, str(executed), str(page))


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


@contextmanager
def _marked() -> Iterator[str]:
    """Everything that starts in here carries this mark in its environment."""
    before, mark = os.environ.get(MARK), uuid.uuid4().hex
    os.environ[MARK] = mark
    try:
        yield mark
    finally:
        if before is None:
            del os.environ[MARK]
        else:
            os.environ[MARK] = before


def _left_behind(mark: str) -> list[str]:
    """End the processes that still carry the mark after a grace period; their names."""
    _, alive = psutil.wait_procs(list(_carrying(mark)), timeout=SECONDS_TO_CLEAN_UP)
    names = []
    for process in alive:
        try:
            names.append(f"{process.name()} ({process.pid})")
            process.kill()
        except psutil.NoSuchProcess:
            continue
    return names


def _carrying(mark: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                yield process
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess, OSError):
            continue


def _place(script: Script, cell: int) -> str:
    """Where the cell stands in the source."""
    return f"{script.path}:{script.cells[cell].line}"


def _last_started(executed: Path) -> int:
    """Number of the last cell that papermill began."""
    cells = nbformat.read(executed, 4).cells
    started = [
        number
        for number, cell in enumerate(cells)
        if cell.metadata.get("papermill", {}).get("start_time")
    ]
    return max(started, default=0)
