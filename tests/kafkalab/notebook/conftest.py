"""A learner's copies of the pages, without a JupyterLab: that one is in tests/content."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kafkalab.notebook import page
from kafkalab.setup.copies import NOTES


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The folder of the copies."""
    folder = tmp_path / "work"
    (folder / "notebooks").mkdir(parents=True)
    (folder / NOTES).write_text("{}")
    return folder


@pytest.fixture
def on_page(work: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """From now on, this process runs the page of this name."""

    def turn_to(name: str) -> None:
        monkeypatch.setattr(page, "file", lambda: work / "notebooks" / f"{name}.ipynb")
        monkeypatch.setenv(page.SESSION, str(work / "notebooks" / f"{name}.ipynb"))

    return turn_to
