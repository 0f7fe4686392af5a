"""kafka-python is mended whenever it is imported, and another version of it is refused."""

import logging
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import kafka
import pytest

from kafkalab import CourseError
from kafkalab.clients import arriving

MENDED = "from kafka.producer.sender import Sender; print(hasattr(Sender.run_once, '__wrapped__'))"


def run(*lines: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=60
    )
    return done.stdout + done.stderr


def test_kafkalab_does_not_import_it() -> None:
    assert run("import sys, kafkalab.clients", "print('kafka' in sys.modules)") == "False\n"


@pytest.mark.process
@pytest.mark.parametrize(
    "imports",
    [
        ("import kafkalab", "import kafka"),
        ("import kafka", "import kafkalab"),
        ("import kafkalab.errors", "import kafka.errors"),
        ("import kafkalab", "import kafka.protocol.metadata, kafkalab.cluster.wire"),
    ],
)
def test_it_is_mended_in_any_order(imports: tuple[str, ...]) -> None:
    assert run(*imports, MENDED) == "True\n"


@pytest.mark.process
def test_it_is_not_mended_without_kafkalab() -> None:
    assert run(MENDED) == "False\n"


@pytest.mark.process
def test_its_source_is_found_as_before() -> None:
    lines = ("import kafkalab, kafka, inspect", "print(inspect.getsource(kafka)[:9])")
    assert run(*lines) == "__title__\n"


def test_the_version_is_the_one_that_is_pinned() -> None:
    project = Path(__file__).parents[3] / "pyproject.toml"
    pins = tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"]
    assert f"kafka-python=={arriving.VERSION}" in pins
    assert kafka.__version__ == arriving.VERSION


@pytest.mark.process
@pytest.mark.parametrize("first", ["import kafkalab", ""])
def test_a_file_with_its_name_beside_the_notebook_is_told(first: str, tmp_path: Path) -> None:
    (tmp_path / "kafka.py").write_text("producer = None\n")
    # As in a kernel, whose folder stands first.
    here = f"import sys; sys.path.insert(0, {str(tmp_path)!r})"

    said = run(here, first, "import kafka", "import kafkalab")

    assert f"{tmp_path / 'kafka.py'} has its name" in said
    assert "restart the kernel" in said


def test_another_version_is_refused() -> None:
    other = ModuleType("kafka")
    other.__version__ = "3.1.0"
    with pytest.raises(CourseError, match=r"kafka-python 3\.1\.0.* needs 3\.0\.12") as caught:
        arriving.mend(other)
    assert "./course setup" in caught.value.mend


def test_another_version_is_refused_at_each_import(tmp_path: Path) -> None:
    (tmp_path / "kafka").mkdir()
    (tmp_path / "kafka" / "__init__.py").write_text("__version__ = '2.0.2'")
    said = run(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})",
        "from kafkalab import CourseError",
        "for _ in range(2):",
        "    try:",
        "        import kafka",
        "    except CourseError as error:",
        "        print(error.what)",
    )
    assert said == "This is kafka-python 2.0.2, and the course needs 3.0.12.\n" * 2


@pytest.mark.process
def test_no_logger_is_silenced() -> None:
    level = "print(logging.getLogger('kafka').level)"
    assert run("import logging, kafkalab.cluster.cluster", level) == f"{logging.NOTSET}\n"
