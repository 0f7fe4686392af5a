"""Processes that are forked for the grader: each like one that was started by itself."""

import contextlib
import itertools
import json
import os
import signal

import psutil
import pytest

from grading.handin.notebookfile import NotebookFile
from grading.handin.submission import Submission
from grading.handin.weave import as_handed_in
from grading.keep.store import Store
from grading.run.fork_server import IS_SAFE, UNKNOWN, ForkServer
from grading.run.lanes import Lanes
from grading.run.plan import plan
from kafkalab.wait import wait_until

pytestmark = [
    pytest.mark.skipif(not IS_SAFE, reason="this system has no safe fork"),
    pytest.mark.process,
]
WAITS = "import sys; sys.stdin.read()"
TELLS = """
import json, os, sys
told = {"folder": os.getcwd(), "said": os.environ.get("KAFKALAB_SAID"), "given": sys.stdin.read(),
        "leads": os.getsid(0) == os.getpid(), "open": os.listdir("/proc/self/fd")}
print(json.dumps(told))
"""


@pytest.fixture
def server():
    made = ForkServer(["runpy"])
    yield made
    made.close()


@pytest.fixture
def start(server, tmp_path):
    """Start a program from its text; the process, and the other end of its standard input."""
    files = (tmp_path / f"program_{number}.py" for number in itertools.count())

    def started(text, stdout=1):
        program = next(files)  # the one before may not have been read yet
        program.write_text(text)
        read, write = os.pipe()
        process = server.start("runpy:run_path", [str(program)], read, stdout, 2)
        os.close(read)
        return process, os.fdopen(write, "w")

    return started


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", 0),
        ("raise SystemExit(3)", 3),
        ("1 / 0", 1),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    ],
)
def test_how_it_ended_is_told(start, text, code):
    process, given = start(text)
    with given:
        assert process.wait() == process.poll() == code


def test_it_has_streams_and_surroundings_of_its_own(server, start, monkeypatch, tmp_path):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("KAFKALAB_SAID", "when the server was there")
    with (tmp_path / "out").open("w+") as out:
        process, given = start(TELLS, stdout=out.fileno())
        with given:
            given.write("a job")
        assert process.wait() == 0
        out.seek(0)
        told = json.load(out)
    # The fourth that is open is the listing itself.
    assert told.pop("open") == ["0", "1", "2", "3"]
    assert told == {
        "folder": str(tmp_path / "here"),
        "said": "when the server was there",
        "given": "a job",
        "leads": True,
    }


def test_of_many_each_ends_by_itself(start):
    some = [start(WAITS) for _ in range(4)]
    some[2][0].kill()
    assert some[2][0].wait() == -signal.SIGKILL
    assert [process.poll() for process, _ in some] == [None, None, -signal.SIGKILL, None]
    for _, given in some:
        given.close()
    assert [process.wait() for process, _ in some] == [0, 0, -signal.SIGKILL, 0]


def test_that_the_server_was_ended_is_told(server, start):
    process, given = start(WAITS)
    psutil.Process(process.pid).parent().kill()
    with given:
        assert process.wait() == UNKNOWN
    wait_until(lambda: not server.is_there, timeout=30, what="the end of the server")
    with pytest.raises(OSError, match="Broken pipe"):
        start("")


def test_a_class_is_graded_on_where_the_server_was_ended(tiny, solved, tmp_path):
    ended = []

    def end_the_server(progress):
        for child in psutil.Process().children():
            with contextlib.suppress(psutil.ZombieProcess):
                if "grading.run.fork_server" in child.cmdline():
                    child.kill()
                    ended.append(child)

    class_of = [
        Submission(f"student {number}", NotebookFile(as_handed_in(solved), tiny.name))
        for number in range(3)
    ]
    store = Store(tmp_path, tiny.name)
    work, _ = plan(tiny, class_of, store, b"a secret", rerun=False)
    records = Lanes(tiny, store, end_the_server).run(work, jobs=1)
    assert [record.reached for record in records] == [8, 8, 8]
    assert len(ended) == 1
