"""A reader who runs cells out of order, twice, or after a restart of the kernel.

Each cell then gives its result or a sentence: never a hang, never a traceback of ours.
"""

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from authoring import execute
from authoring.build import Course
from kafkalab.engine import slot

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

COURSE = Course()
LESSONS = [source.stem for source in COURSE.lessons()]
CELL_SECONDS = 60


class Reader(NotebookClient):
    """Runs single cells of a lesson, in any order, in one kernel after the other."""

    def __init__(self, lesson: str, folder: Path) -> None:
        page = nbformat.read(COURSE.root / "notebooks" / f"{lesson}.ipynb", as_version=4)
        super().__init__(
            page,
            kernel_name="python3",
            timeout=CELL_SECONDS,
            resources={"metadata": {"path": str(folder)}},
        )
        self.code = [n for n, cell in enumerate(page.cells) if cell.cell_type == "code"]

    def run(self, number: int) -> str | None:
        """Run one cell; what it says where it fails, else None. A hang raises CellTimeoutError."""
        try:
            self.execute_cell(self.nb.cells[number], number)
        except CellExecutionError as error:
            return f"{error.ename}: {error.traceback}"
        return None

    def restart(self) -> None:
        run_sync(self.km.restart_kernel)(now=True)
        self.kc.stop_channels()
        self.kc = None
        self.start_new_kernel_client()


@pytest.fixture
def reader(request: pytest.FixtureRequest, tmp_path, monkeypatch) -> Iterator[Reader]:
    state = tmp_path / "state"
    state.mkdir()
    monkeypatch.setenv("KAFKALAB_STATE", str(state))
    reader = Reader(request.param, tmp_path)
    with reader.setup_kernel():
        yield reader


@pytest.mark.timeout(4 * execute.LESSON_SECONDS)
@pytest.mark.parametrize("reader", LESSONS, indirect=True)
def test_in_any_order(reader: Reader) -> None:
    # From the end to the start: what a cell needs is not there yet.
    for number in reversed(reader.code):
        said = reader.run(number)
        assert said is None or said.startswith("NameError") or "Traceback" not in said, said
    # The first half, each cell twice.
    middle = len(reader.code) // 2
    for number in (n for n in reader.code[:middle] for _ in range(2)):
        assert (said := reader.run(number)) is None, said
    reader.restart()
    # Where the reader was, in a kernel that knows nothing any more.
    said = reader.run(reader.code[middle])
    assert said is None or said.startswith("NameError"), said
    # From the top, and the second half twice.
    for number in (n for k, n in enumerate(reader.code) for _ in range(1 + (k >= middle))):
        assert (said := reader.run(number)) is None, said
    assert slot.records() == []
