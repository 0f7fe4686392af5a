"""The command line: one table of verbs, quick to answer, plain when it fails."""

import importlib
import inspect
import subprocess
import sys

import pytest

from commands import app, verbs
from kafkalab.errors import CourseError


def fail_with(monkeypatch, error: BaseException) -> None:
    """Let the verb `test` end in `error`."""

    def test() -> None:
        raise error

    monkeypatch.setattr("commands.test.test", test)


def test_every_verb_has_its_module():
    assert verbs.VERBS == verbs.ALL


@pytest.mark.parametrize("name", app.VERBS)
def test_a_verb_is_a_documented_function_of_its_module(name):
    function = getattr(importlib.import_module(f"commands.{app.VERBS[name].module}"), name)

    assert inspect.getdoc(function)


@pytest.mark.process
def test_help_lists_the_verbs_and_imports_nothing_heavy():
    said = subprocess.run(
        [sys.executable, "-P", "-X", "importtime", "-m", "commands.app", "--help"],
        capture_output=True,
        text=True,
    )

    for verb in app.VERBS.values():
        assert verb.help.split()[0] in said.stdout
    imported = {line.rpartition("|")[2].strip() for line in said.stderr.splitlines()}
    heavy = {"pandas", "pyspark", "kafka", "cryptography", "jupyter_client", "matplotlib", "yaml"}
    assert not heavy & imported


def test_a_wrong_verb_is_wrong_usage(capsys):
    assert app.main(["nonsense"]) == 2
    assert "nonsense" in capsys.readouterr().err


def test_a_wrong_option_is_wrong_usage():
    assert app.main(["setup", "--nonsense"]) == 2


def test_one_choice_does_not_replace_another(capsys):
    """--quick -m cluster ran the slow ones."""
    assert app.main(["test", "--quick", "-m", "cluster"]) == 2
    assert "choose by -k or by a path" in capsys.readouterr().err


def test_a_course_error_is_told_in_its_lines(monkeypatch, capsys):
    fail_with(monkeypatch, CourseError("No broker.", "It was killed.", "./course up single"))

    assert app.main(["test"]) == 1
    assert capsys.readouterr().err == "No broker.\nIt was killed.\n./course up single\n"


def test_an_interrupt_is_one_line(monkeypatch, capsys):
    fail_with(monkeypatch, KeyboardInterrupt())

    assert app.main(["test"]) == 130
    assert capsys.readouterr().err.strip() == "Interrupted."


def test_a_refusal_of_the_system_is_told_without_a_log(monkeypatch, capsys, tmp_path):
    fail_with(monkeypatch, PermissionError(13, "Permission denied", str(tmp_path / "x")))

    assert app.main(["test"]) == 1
    what, why, mend = capsys.readouterr().err.splitlines()
    assert what == f"{tmp_path / 'x'}: Permission denied."
    assert why == f"{tmp_path} cannot be written by you."
    assert mend == f"See whose it is: ls -ld {tmp_path}"


def test_a_failure_that_nobody_foresaw_is_one_line_and_a_file(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("KAFKALAB_CACHE", str(tmp_path))
    fail_with(monkeypatch, KeyError("offset"))

    assert app.main(["test", "-k", "some thing"]) == 1

    said = capsys.readouterr().err
    (log,) = (tmp_path / "logs").iterdir()
    assert said.count("\n") == 1
    assert "KeyError: 'offset'" in said
    assert str(log) in said
    assert "Traceback" in log.read_text("utf-8")
    assert "some thing" in log.read_text("utf-8")


def test_the_exit_code_of_a_verb_stands(monkeypatch):
    fail_with(monkeypatch, SystemExit(3))

    assert app.main(["test"]) == 3


@pytest.mark.slow
def test_what_a_script_starts_in_the_background_still_ends_by_an_interrupt(tmp_path):
    """Such a script lets its children ignore it; kernels and programs of lessons must not."""
    (tmp_path / "test_probe.py").write_text(
        "import signal\n"
        "def test_it():\n"
        "    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
    )
    command = f"trap '' INT; exec '{sys.executable}' -P -m commands.app test '{tmp_path}'"

    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)

    assert done.returncode == 0, done.stdout[-1000:]
