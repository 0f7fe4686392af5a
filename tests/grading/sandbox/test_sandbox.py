"""What the code of a hand-in can reach and take in its sandbox. One kernel for all that it sees."""

import json
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from grading.handin.weave import HandedIn, as_handed_in
from grading.judge.outcome import Outcome
from grading.run.attempt import Attempt
from grading.run.job import Job
from grading.run.surroundings import Surroundings
from grading.sandbox import proof, room
from kafkalab import places
from tests import sandboxed
from tests.grading.tiny import forged

pytestmark = [
    pytest.mark.skipif(bool(sandboxed.why_not()), reason=sandboxed.why_not()),
    pytest.mark.slow,
]

SANDBOXED = Surroundings(is_sandboxed=True)


@pytest.fixture
def ran(tiny, solved):
    """Run the solution in a sandbox with some answers replaced."""

    def run(**answers):
        cells = [
            HandedIn(
                cell.id,
                cell.kind,
                textwrap.dedent(answers.get(cell.id.replace("task-", "t"), cell.text)),
            )
            for cell in as_handed_in(solved)
        ]
        return Attempt(tiny, SANDBOXED).run(Job("anna", "a seed", cells)).evidence

    return run


STRAY = f"kafka_course_stray_of_a_sandbox_{os.getpid()}"
CHEATS = """
import json, os, pathlib, signal, socket, subprocess, sys
def tried(what):
    try:
        return str(what())[:300]
    except OSError as error:
        return type(error).__name__
def readable(path):
    return tried(lambda: os.listdir(path) if os.path.isdir(path) else open(path).read())
def reached(family, address):
    with socket.socket(family) as way:
        way.settimeout(3)
        return tried(lambda: way.connect(address))
left = [sys.executable, "-c", f"import time; {STRAY} = time.sleep(600)"]
seen = {
    "host": reached(socket.AF_INET, ("127.0.0.1", PORT)),
    "outside": reached(socket.AF_INET, ("192.0.2.1", 80)),
    "nameless": reached(socket.AF_UNIX, NAMELESS),
    "read": {path: readable(path) for path in PATHS},
    "written": {path: tried(lambda: open(path + "/new", "w")) for path in FIXED},
    "replaced": {path: tried(lambda: open(path, "w")) for path in PATHS[:3]},
    "machine": [socket.gethostname(), tried(lambda: socket.gethostbyname(socket.gethostname()))],
    "processes": sorted(map(int, filter(str.isdecimal, os.listdir("/proc")))),
    "environment": dict(os.environ),
    "own": tried(lambda: pathlib.Path("mine").write_text("x")),
    "left": tried(lambda: subprocess.Popen(left, start_new_session=True, env={}).pid > 0),
    "parent": tried(lambda: os.kill(os.getppid(), signal.SIGKILL)),
    "grader": tried(lambda: os.kill(GRADER, signal.SIGKILL)),
}
print("SEEN" + json.dumps(seen))
"""


def test_a_cheat_reads_nothing_changes_nothing_and_gains_nothing(ran, tiny, tmp_path, monkeypatch):
    """All that a cell may try at once: a sandbox for each would cost the suite seconds."""
    monkeypatch.setenv("COURSE_PASSWORD", "secret")
    logins = tmp_path / "docker"
    logins.mkdir()
    (logins / "config.json").write_text('{"auths": {}}')
    monkeypatch.setenv("DOCKER_CONFIG", str(logins))
    records = tmp_path / "grades" / "lab90_tiny" / "attempts" / "another"
    records.mkdir(parents=True)
    kept = [tmp_path / "secret", records / "record.json", tmp_path / "class" / "another.ipynb"]
    kept[2].parent.mkdir()
    for file in kept:
        file.write_text("of somebody else")
    hidden = [
        *(*kept, logins / "config.json", logins, records, tmp_path),
        *(Path.home() / ".bashrc", "/home", "/etc/shadow", "/var"),
        *(places.repository() / name for name in ("lessons", "tests", "work", ".git")),
        *(places.repository() / "grading" / "labs" / name for name in ("", "01_first_topics")),
        *(tiny.place.master, tiny.place.teacher / "hidden.py", places.state() / "locks"),
    ]
    fixed = [places.repository() / "kafkalab", tiny.place.student, "/usr", "/etc", "/dev", "/"]
    nameless = f"\0{STRAY}"
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as unnamed,
    ):
        unnamed.bind(nameless)
        unnamed.listen()
        named = {
            "PORT": server.getsockname()[1],
            "NAMELESS": nameless,
            "PATHS": list(map(str, hidden)),
            "FIXED": list(map(str, fixed)),
            "GRADER": os.getpid(),
            "STRAY": STRAY,
        }
        evidence = ran(t1="".join(f"{n} = {v!r}\n" for n, v in named.items()) + CHEATS)
    seen = json.loads(evidence.cells[1].output.partition("SEEN")[2])
    assert (seen["host"], seen["outside"]) == ("ConnectionRefusedError", "OSError")
    assert seen["nameless"] == "ConnectionRefusedError"
    contents = {path: words for path, words in seen["read"].items() if words != "[]"}
    assert set(contents.values()) <= {"FileNotFoundError", "NotADirectoryError"}, contents
    assert set(seen["written"].values()) == {"OSError"}, seen["written"]  # a read-only file system
    assert set(seen["replaced"].values()) == {"FileNotFoundError"}
    assert {file.read_text() for file in kept} == {"of somebody else"}
    assert seen["machine"] == ["sandbox", "127.0.0.1"], "programs of Java look for its name"
    assert len(seen["processes"]) <= 4
    assert os.getpid() not in seen["processes"]
    assert not {"COURSE_PASSWORD", "DOCKER_CONFIG"} & seen["environment"].keys()
    assert (seen["own"], seen["left"]) == ("1", "True")
    assert seen["parent"] == "None", "a signal that the first process of a sandbox does not get"
    assert seen["grader"] == "ProcessLookupError"
    strays = [one for one in psutil.process_iter(["cmdline"]) if STRAY in str(one.info["cmdline"])]
    assert strays == []
    outcomes = {check.check: check.outcome for check in evidence.results}
    assert outcomes.pop("doubled") is Outcome.FAIL
    assert set(outcomes.values()) == {Outcome.PASS}, "the rest is graded as ever"


def test_a_clone_among_the_files_of_the_system_shows_no_more(tiny, tmp_path, monkeypatch):
    root = places.repository()
    monkeypatch.setattr(room, "SYSTEM", (*room.SYSTEM, str(root.parent)))
    room.prepare(tmp_path)
    (tmp_path / "connection.json").touch()
    inside = [sys.executable, "-c", "import os, sys; print(*os.listdir(sys.argv[1]))", str(root)]
    command = room.command(tmp_path, tiny.place, tiny.limits, inside)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    seen = set(done.stdout.split())
    assert {"kafkalab", "grading", "docker-compose.yml"} <= seen
    assert not {"lessons", "tests", "work", "authoring", "README.md", ".git"} & seen


def test_doctor_finds_no_leak_here():
    assert proof.leaks() == []


def test_a_line_for_the_grader_reaches_nobody(ran):
    evidence = ran(t1=forged())
    assert evidence.is_complete
    assert evidence.results[0].outcome is Outcome.FAIL


MEMBERS = """
import json
from kafkalab import members
team = {name: members.start(TURNS, name) for name in ("ada", "bob", STRAY)}
for one in team.values():
    one.wait_for(lambda events: len(events) > 1, what="its work")
team["ada"].freeze()
found = [team["ada"].state]
team["ada"].stop()
team["bob"].kill()
found += [(one.state, one.events[-1].what) for one in team.values()]
print("SEEN" + json.dumps(found))
"""


def test_members_of_a_group_run_are_frozen_stopped_and_killed_and_none_is_left(ran, small):
    named = {"TURNS": "while running():\n    work(0.05)", "STRAY": STRAY}
    evidence = ran(t1="".join(f"{n} = {v!r}\n" for n, v in named.items()) + MEMBERS)
    assert evidence.cells[1].state is Outcome.RAN, evidence.cells[1]
    seen = json.loads(evidence.cells[1].output.partition("SEEN")[2])
    assert seen == ["frozen", ["ended", "ended"], ["ended", "works"], ["running", "works"]]
    strays = [one for one in psutil.process_iter(["cmdline"]) if STRAY in str(one.info["cmdline"])]
    assert strays == []


PATIENT = "cell = 90\nrun = 200"
BEYOND = {
    "forks without end": ("import os\nwhile True:\n    os.fork()", Outcome.PROCESS_LIMIT),
    "threads without end": (
        "import threading\nstop = threading.Event()\n"
        "while True:\n    threading.Thread(target=stop.wait).start()",
        Outcome.PROCESS_LIMIT,
    ),
    "memory of many": (
        "import os, signal\nfor _ in range(8):\n    if os.fork() == 0:\n"
        "        hog = bytearray(b'x') * 500_000_000\n        signal.pause()\nsignal.pause()",
        Outcome.OUT_OF_MEMORY,
    ),
    "memory of files": (
        "import os, signal\n"
        "for place in ['/dev/shm/1', '/dev/shm/2', '/tmp/1', '1']:\n"
        "    with open(place, 'wb') as file:\n"
        "        file.write(bytes(9 * 10**7))\n"
        "hog = bytearray(b'x') * 1_200_000_000\nsignal.pause()",
        Outcome.OUT_OF_MEMORY,
    ),
    "files beside the sockets": (
        "import os\nwith open(os.environ['HOME'] + '/socket/large', 'wb') as file:\n"
        "    while True:\n        file.write(bytes(10**6))",
        Outcome.DISK_LIMIT,
    ),
}


@pytest.mark.parametrize("name", BEYOND)
def test_what_goes_beyond_a_limit_is_ended_with_an_outcome_of_its_own(ran, small, name):
    code, outcome = BEYOND[name]
    evidence = ran(t1=code)
    assert evidence.cells[1].state is outcome, evidence.cells[1]
    assert evidence.is_complete
    assert evidence.fault is None


def test_a_loop_that_heeds_nothing_is_ended_when_its_time_is_over(ran):
    evidence = ran(
        t1="while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    )
    assert evidence.cells[1].state is Outcome.TIMEOUT, evidence.cells[1]
    assert evidence.is_complete
    assert evidence.fault is None


def test_what_one_process_may_not_take_is_an_error_in_its_cell_and_the_rest_runs(ran, small):
    evidence = ran(
        t1="with open('large', 'wb') as file:\n    while True:\n        file.write(bytes(10**7))",
        t2="for n in range(10**6):\n    with open(f'/tmp/{n}', 'wb') as file:\n"
        "        file.write(bytes(10**7))",
        t3="hog = bytearray(3 * 10**9)\nsaid = p.name",
    )
    states = {number: cell.state for number, cell in evidence.cells.items()}
    full = Outcome.DISK_LIMIT
    assert states == {1: full, 2: full, 3: Outcome.OUT_OF_MEMORY}, evidence.cells
    assert evidence.ended is None


@pytest.fixture
def small(tiny):
    """Limits that are reached soon, in the file from which the process of the attempt has them.

    All but that of time, which a busy machine would reach before it gave a process its memory.
    """
    file = tiny.place.student / "lab.toml"
    before = file.read_text()
    added = "[limits]\nmemory = 1_500_000_000\ndisk = 100_000_000\nprocesses = 200\n"
    file.write_text(before.replace("[limits]\n", added).replace("cell = 3\nrun = 20", PATIENT))
    yield
    file.write_text(before)


def test_nothing_outlives_the_grader(tiny):
    """Killed as by the system: it could tidy nothing."""
    attempt = Attempt(tiny, SANDBOXED)
    try:
        assert json.loads(attempt.reports.readline())["event"] == "ready"
        below = psutil.Process(attempt.process.pid).children(recursive=True)
        assert below
        attempt.process.kill()
        _, alive = psutil.wait_procs(below, timeout=10)
        assert not alive
    finally:
        attempt.close()
