"""`./course bench`: says how far it is, and what it has found when it is cut off."""

import os
import pty
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commands import app, bench
from kafkalab.places import repository

FAKE = """
import argparse
import signal
import sys
from benchmarks._progress import Progress
from benchmarks._tally import Tally

parser = argparse.ArgumentParser(prog="./course bench fake")
parser.add_argument("names", nargs="*", default=["even", "uneven"])
parser.add_argument("--repeat", type=int, default=2)
parser.add_argument("--fail-at", type=int)
parser.add_argument("--wait-at", type=int)
options = parser.parse_args()
tally = Tally()
done = 0
with Progress(dict.fromkeys(options.names, options.repeat), tally.show) as progress:
    for name, number in progress.goes():
        if done == options.fail_at:
            raise RuntimeError("a broker is gone")
        if done == options.wait_at:
            print("waits", flush=True)
            signal.pause()
        tally.note(name, f"verdict {number}" if name == "uneven" else "verdict", 1.5)
        done += 1
tally.judge()
"""
# The command at home in the folder of the test.
COURSE = """
import sys
from pathlib import Path
from commands import app, bench
bench.repository = lambda: Path(sys.argv[1])
sys.exit(app.main(["bench", *sys.argv[2:]]))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The command at home with one quick benchmark, made of what all benchmarks share."""
    made = tmp_path / "benchmarks"
    made.mkdir()
    for name in ("__init__.py", "_progress.py", "_tally.py"):
        shutil.copy(repository() / "benchmarks" / name, made)
    (made / "fake.py").write_text(FAKE)
    (made / "other.py").write_text("import sys\nprint('other', sys.argv[1:])")
    monkeypatch.setattr(bench, "repository", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def run(folder, capfd):
    """Runs `./course bench` with these arguments; its status, and what was printed."""

    def run(*arguments: str) -> tuple[int, str, str]:
        status = app.main(["bench", *arguments])
        return status, *capfd.readouterr()

    return run


@pytest.fixture
def interrupted(folder):
    """The same in a process that is interrupted, as a terminal does, when it waits."""

    def run(*arguments: str) -> tuple[int, str, str]:
        with subprocess.Popen(
            [sys.executable, "-P", "-c", COURSE, str(folder), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=repository(),
            start_new_session=True,
        ) as process:
            for line in process.stdout:
                if line == "waits\n":
                    break
            os.killpg(process.pid, signal.SIGINT)
            printed = process.communicate(timeout=60)
        return process.returncode, *printed

    return run


@pytest.mark.process
def test_a_part_that_is_done_is_a_line_and_the_table_comes_at_the_end(run):
    status, out, error = run("fake", "even", "--repeat", "3")

    assert "even: 3 in 0 s; 3 of 3" in error
    assert "3 of 3" in out
    assert "verdict" in out
    assert status == 0


@pytest.mark.process
def test_an_experiment_that_ends_in_two_ways_fails(run):
    status, out, error = run("fake")

    assert status == 1
    assert out.count("1 of 2") == 2
    assert "not the same verdict every time: uneven" in error


@pytest.mark.process
def test_a_failure_keeps_what_was_found_before_it(run):
    status, out, error = run("fake", "--fail-at", "3")

    assert status == 1
    assert "2 of 2" in out
    assert "RuntimeError: a broker is gone" in error


@pytest.mark.slow
def test_an_interrupt_keeps_what_was_found_before_it(interrupted):
    status, out, error = interrupted("fake", "--wait-at", "3")

    assert status == 130
    assert "2 of 2" in out
    assert "Interrupted after 3 of 4." in error
    assert "Traceback" not in error


@pytest.mark.slow
def test_an_interrupt_before_the_first_result_prints_no_table(interrupted):
    status, out, error = interrupted("fake", "other", "--wait-at", "0")

    assert status == 130
    assert "verdict" not in out
    assert "other [" not in out  # nor does the next begin
    assert "Interrupted after 0 of 4." in error


@pytest.mark.slow
def test_a_terminal_gets_a_bar(folder):
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.fake", "even"],
            stderr=theirs,
            stdout=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
            timeout=60,
        )
        assert "━" in os.read(ours, 100_000).decode()
        assert done.returncode == 0
    finally:
        os.close(theirs)
        os.close(ours)


@pytest.mark.process
def test_one_that_ends_by_the_interrupt_ends_the_row(run, folder):
    (folder / "benchmarks" / "other.py").write_text("raise KeyboardInterrupt")

    status, out, _ = run("other", "fake")

    assert (status, "verdict" in out) == (130, False)


@pytest.mark.process
def test_arguments_go_to_each_that_is_named(run):
    _, out, _ = run("other", "other", "one", "--two")

    assert out.count("other ['one', '--two']") == 2


@pytest.mark.process
def test_help_is_that_of_the_benchmark_that_is_named(run):
    assert "usage: ./course bench fake" in run("fake", "--help")[1]
    assert "side by side" in run("--help")[1]


def test_a_benchmark_that_is_not_there_is_told_with_those_that_are(run):
    status, _, error = run("nothing")

    assert status == 1
    assert "There are fake, other." in error


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", sorted((repository() / "benchmarks").glob("[!_]*.py")), ids=lambda p: p.stem
)
def test_each_says_how_it_is_called(path: Path):
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{path.stem}", "--help"],
        capture_output=True,
        text=True,
        cwd=repository(),
        timeout=60,
    )

    assert f"usage: ./course bench {path.stem}" in done.stdout
