"""A program that is made of the cells of a lab."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from grading.lab import Lab
from kafkalab import CourseError


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


@pytest.fixture
def lab() -> Lab:
    return Lab.__new__(Lab)  # without a cluster: a program is made of cells alone


def test_the_last_version_of_each_cell_counts(shell: InteractiveShell, lab: Lab) -> None:
    shell.run_cell("# Task 2\nvalue = 1", store_history=True)
    shell.run_cell("# Task 3\ndef doubled():\n    return 2 * value", store_history=True)
    shell.run_cell("value = 100  # of no task", store_history=True)
    shell.run_cell("# Task 2\nvalue = 21", store_history=True)
    file = lab.program("made.py", tasks=[2, 3], end="print(doubled())")
    run = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=30)
    assert run.stdout == "42\n"


def test_a_program_is_whole_or_the_former_one(
    shell: InteractiveShell, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no room left")

    shell.run_cell("# Task 2\nvalue = 1", store_history=True)
    file = lab.program("made.py", tasks=[2], end="print(value)")
    assert [path.name for path in file.parent.glob("*made*")] == ["made.py"]
    with file.open() as former:
        lab.program("made.py", tasks=[2], end="print(2 * value)")
        assert former.read().endswith("print(value)"), "who reads it goes on with what it was"
    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no room left"):
        lab.program("made.py", tasks=[2], end="print(3 * value)")
    assert file.read_text().endswith("print(2 * value)")


def test_a_cell_that_was_not_run_is_named(shell: InteractiveShell, lab: Lab) -> None:
    shell.run_cell("# Task 2\nvalue = 1", store_history=True)
    with pytest.raises(CourseError, match=r"(?s)lacks task 3, 4\..*as they were last run"):
        lab.program("made.py", tasks=[2, 3, 4], end="")
    assert not Path("made.py").exists()
