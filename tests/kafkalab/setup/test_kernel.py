"""Which Python a notebook would run in, by the descriptions that Jupyter finds."""

import json
import sys
from pathlib import Path

import pytest

from kafkalab.setup.kernel import kernel


@pytest.fixture
def described(tmp_path, monkeypatch):
    """Writes a description that Jupyter finds before all others."""
    folder = tmp_path / "kernels" / "python3"
    folder.mkdir(parents=True)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")

    def describe(program: str) -> Path:
        spec = {"argv": [program, "-m", "ipykernel_launcher"], "display_name": "Python 3"}
        (folder / "kernel.json").write_text(json.dumps(spec))
        return folder

    return describe


def test_a_bare_name_stands_for_this_python(described):
    described("python")
    assert kernel().is_ours


def test_a_link_of_this_environment_is_this_python(described):
    described(str(Path(sys.executable).with_name("python3")))
    assert kernel().is_ours


def test_the_python_of_another_project_is_not_ours_though_it_is_the_same_file(described, tmp_path):
    other = tmp_path / "other" / "python"
    other.parent.mkdir()
    other.symlink_to(Path(sys.executable).resolve())
    folder = described(str(other))
    found = kernel()
    assert not found.is_ours
    assert (found.program, found.described_in) == (other, folder)
