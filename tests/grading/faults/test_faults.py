"""What breaks while a cell runs: told by what the cell does, mended after it, never a number."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from IPython.core.interactiveshell import InteractiveShell
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from grading.define import definition
from grading.define.seed import Parameters
from grading.faults import injection, processes
from grading.faults.breaker import Breaker
from grading.faults.fault import Fault, Injected, fault
from grading.faults.injection import Beside, Breaking, injection_of, without_its_fault
from grading.faults.processes import program_of
from grading.handin.weave import as_handed_in
from grading.judge.checks import Check, Unseen
from grading.judge.outcome import Outcome
from grading.judge.score import total
from grading.judge.view import ClusterView
from grading.keep.evidence import Evidence
from grading.run.attempt import Attempt
from grading.run.job import Job
from kafkalab import clients, members, quick
from kafkalab.cluster.cluster import Cluster
from kafkalab.errors import CourseError
from kafkalab.wait import wait_until

FAULTS = """\
from pathlib import Path
from grading.faults.fault import fault

HERE = Path(FOLDER)

@fault(task=1)
def answers_a_question(f):
    f.note(f"set up for {f.p.number}")
    yield
    f.until(lambda: (HERE / "question").exists(), "a question")
    (HERE / "answer").touch()
"""
ASKS = """\
from pathlib import Path
from kafkalab.wait import wait_until

(Path(FOLDER) / "question").touch()
wait_until((Path(FOLDER) / "answer").exists, timeout=1.5, what="the fault")
double = 2 * p.number
"""


@fault(task=1)
def FAULTLESS(f):
    yield


@pytest.fixture
def broken(course, tmp_path):
    """The tiny lab with a fault in task 1; told(text) is a script with its folder."""
    root = tmp_path / "course"
    shutil.copytree(course, root)

    def load(faults: str = FAULTS):
        text = faults.replace("FOLDER", repr(str(tmp_path)))
        (root / "labs" / "90_tiny" / "faults.py").write_text(text)
        return definition.load("lab90", root)

    return load


@pytest.fixture
def run(solved, tmp_path):
    """Run the solution with another answer to task 1."""

    def attempt(lab, answer: str) -> Evidence:
        cells = [
            replace(cell, text=answer.replace("FOLDER", repr(str(tmp_path))))
            if cell.id == "task-1"
            else cell
            for cell in as_handed_in(solved)
        ]
        return Attempt(lab).run(Job("anna", "seed", cells)).evidence

    return attempt


def doubled(evidence):
    return next(result for result in evidence.results if result.check == "doubled")


@pytest.mark.slow
def test_a_fault_acts_while_the_cell_runs_and_is_evidence(broken, run):
    evidence = run(broken(), ASKS)
    assert doubled(evidence).outcome is Outcome.PASS, evidence.cells[1]
    (injected,) = evidence.faults
    assert injected.is_reached
    number = evidence.parameters["number"]
    assert [words for _, words in injected.steps] == [f"set up for {number}", "a question"]
    assert Evidence.from_json(json.loads(json.dumps(evidence.to_json()))).faults == [injected]


@pytest.mark.slow
def test_a_fault_is_there_for_each_cell_of_a_task_until_one_meets_it(broken, solved, tmp_path):
    """Split in JupyterLab: the mark stays in the first half, what asks is in the second."""
    asks = ASKS.replace("FOLDER", repr(str(tmp_path)))
    texts = ["# a helper above", "# Task 1\nhelper = 1", asks, "double"]
    cells = []
    for cell in as_handed_in(solved):
        own = [replace(cell, id=f"mine {text[:9]}", text=text) for text in texts]
        cells += own if cell.id == "task-1" else [cell]
    evidence = Attempt(broken()).run(Job("anna", "seed", cells)).evidence
    assert doubled(evidence).outcome is Outcome.PASS, evidence.cells[1]
    assert [injected.is_reached for injected in evidence.faults] == [True]


@pytest.mark.slow
def test_a_fault_that_a_cell_outruns_is_a_finding_of_its_task(broken, run):
    evidence = run(broken(), "double = 2 * p.number")
    assert evidence.fault is None
    assert doubled(evidence).outcome is Outcome.FAIL
    assert doubled(evidence).messages == ["while your cell ran, this was never seen: a question"]
    others = {result.outcome for result in evidence.results if result.check != "doubled"}
    assert others == {Outcome.PASS}


@pytest.mark.slow
@pytest.mark.parametrize("place", ["    yield\n", '    (HERE / "answer")'])
def test_an_error_of_the_fault_gives_no_number(broken, run, place):
    evidence = run(broken(FAULTS.replace(place, f"    1 / 0\n{place}")), ASKS)
    assert evidence.fault is Outcome.INFRA
    assert doubled(evidence).outcome is Outcome.INFRA
    assert "ZeroDivisionError" in doubled(evidence).detail
    tiny = broken()
    checks = (*tiny.checks, *tiny.hidden_checks())
    assert total(checks, {result.check: result for result in evidence.results}).reached is None


def test_a_fault_of_a_task_that_is_not_there_is_refused(broken):
    with pytest.raises(CourseError, match="fault answers_a_question is about task 7"):
        broken(FAULTS.replace("task=1", "task=7"))


def test_who_practises_meets_the_same_fault(broken, tmp_path, monkeypatch, capsys):
    shell = InteractiveShell.instance()
    monkeypatch.setattr(injection, "get_ipython", lambda: shell)
    lab = broken()
    p = Parameters(number=21)
    (doubled,) = [check for check in lab.checks if check.task == 1]
    Beside(lab, None, p)
    here = Beside(lab, None, p)  # the cell that opens the lab was run twice
    shell.user_ns["p"] = p
    try:
        missing = here.without_its_fault(doubled)
        assert "run the cell of task 1" in missing.messages[0]
        shell.run_cell("# Task 1\ndouble = 42")
        assert "while your cell ran, this was never seen: a question" in capsys.readouterr().out
        assert here.without_its_fault(doubled).outcome is Outcome.FAIL
        shell.run_cell("# Task 1\n" + ASKS.replace("FOLDER", repr(str(tmp_path))))
        said = capsys.readouterr().out
        assert said.count("While your cell ran:") == 1
        assert "set up for 21" in said
        assert here.without_its_fault(doubled) is None
    finally:
        here.leave()
    shell.run_cell("# Task 1\ndouble = 42")
    assert "While" not in capsys.readouterr().out


def test_what_is_not_there_is_told_in_its_own_words():
    @fault(task=1)
    def looks(f):
        raise Unseen("there is no topic t")
        yield

    injection = injection_of(looks, None, Parameters(), os.getpid())
    injection.begin()
    assert injection.end().missed == "there is no topic t"


def test_a_blank_task_says_that_nothing_was_tried():
    looks = fault(task=1)(lambda f: iter(()))
    breaking = Breaking({1: looks}, None, Parameters(), frozenset({1}), None, may_blame=True)
    with breaking.beside(1):
        pass
    check = Check("c", 1, 1, "", "after", None, lambda x: iter(()))
    (words,) = breaking.without_its_fault(check).messages
    assert words == "this task has no answer, so nothing was tried"


def test_a_check_of_another_task_does_not_care():
    check = Check("other", 2, 1, "", "after", None, lambda x: iter(()))
    assert without_its_fault(check, {1: Injected("f", 1, missed="x")}) is None


@pytest.mark.parametrize(
    ("down", "may_blame", "expected"),
    [((2,), True, Outcome.FAIL), ((2,), False, Outcome.INFRA), ((), True, Outcome.INFRA)],
)
def test_a_fault_that_fails_as_a_cell_took_a_broker_away_says_so(down, may_blame, expected):
    check = Check("c", 1, 1, "", "after", None, lambda x: iter(()))
    failed = {1: Injected("f", 1, error="CourseError: broker-2 is not running.", down=down)}
    result = without_its_fault(check, failed, may_blame)
    assert result.outcome is expected
    assert all("broker 2 did not run, as a cell has" in said for said in result.messages)


@pytest.mark.cluster
def test_brokers_and_the_network_break_and_are_mended():
    @fault(task=1)
    def rough(f):
        f.gateway.drop_replies("Produce", count=1)
        yield
        f.until(lambda: f.stored("t") >= 6, "six records on the disks")
        f.kill_process("ada")
        f.pause(1)
        f.kill(2)
        f.cluster.cut(0, nodes=False)

    @fault(task=1)
    def late(f):
        f.kill(0)
        f.pause(1)
        yield

    with Cluster.start("replicated", gateway=True) as cluster:
        with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
            admin.create_topics({"t": {"num_partitions": 3, "replication_factor": 3}})
        cluster.wait_for_topic("t")
        polls = """
with KafkaConsumer("t", bootstrap_servers=address) as consumer:
    while running():
        consumer.poll(timeout_ms=100)
        note("polled")
"""
        ada = members.start(polls, "ada", address=cluster.address)
        ada.wait_for(lambda events: len(events) > 1 or None, what="its first poll")
        # Bears the name, is younger, and is no client.
        decoy = subprocess.Popen([sys.executable, "-c", "input()", "ada"], stdin=subprocess.PIPE)
        injection = injection_of(rough, cluster.slot.record, Parameters(), os.getpid())
        injection.begin()
        producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
        for number in range(5):
            producer.send("t", b"r", partition=number % 3).get(timeout=10)
        # The fault may come before the answer: it looks at the disk of the leader alone.
        producer.send("t", b"r", partition=2)
        steps = injection.breaker.steps
        wait_until(lambda: len(steps) >= 4, timeout=20, what="the fault")
        # By SIGKILL alone. The end takes a moment: 3 to 30 ms, the more the busier the machine.
        ada.wait_for_end()
        assert decoy.poll() is None
        decoy.communicate(timeout=30)
        done = injection.end()
        assert done.is_reached, done
        cluster.wait_for_brokers(timeout=10)
        assert {cluster.state(broker) for broker in cluster.brokers} == {"running"}
        producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
        assert producer.send("t", b"r", partition=0).get(timeout=10).offset >= 2

        view = ClusterView(cluster, client_id="grading")
        assert "late ada" not in view.fetched("t")
        reader = KafkaConsumer(
            "t",
            bootstrap_servers=cluster.address,
            client_id="late ada",
            auto_offset_reset="earliest",
            **quick.consumer,
        )
        got = {(one.partition, one.offset) for one in clients.records_until_end(reader)}
        assert view.fetched("t")["late ada"] == got

        cluster.kill(1)  # what a cell may do as well
        injection = injection_of(late, cluster.slot.record, Parameters(), os.getpid())
        injection.begin()
        assert injection.end().down == (1,), "and not the one that the fault has killed"


def test_a_process_of_the_cell_is_frozen_and_killed():
    sleeper = [sys.executable, "-c", "input()", "consumer-1"]
    running = [subprocess.Popen(sleeper, stdin=subprocess.PIPE) for _ in range(2)]
    go_on = threading.Event()

    @fault(task=1)
    def kills(f):
        yield
        f.until(go_on.is_set, "the word")
        f.kill_process("consumer-1")
        f.until(lambda: len([p for p in running if p.poll() is not None]) == 1, "its end")
        f.freeze_process("consumer-1")
        f.kill_process("nobody")

    injection = injection_of(kills, None, Parameters(), os.getpid())
    injection.begin()
    go_on.set()
    wait_until(lambda: len(injection.breaker.steps) == 4, timeout=10, what="the fault")
    done = injection.end()
    assert (
        done.missed
        == "while your cell ran, this was never seen: a process with 'nobody' among its arguments"
    )
    assert running[1].wait(timeout=10) == -9, "the youngest of this name"
    (left,) = [process for process in running if process.poll() is None]
    left.stdin.close()
    assert left.wait(timeout=30) != -9, "it was thawed, and read the end of its input"
    assert isinstance(kills, Fault)


PYTHON = [sys.executable, "-c"]
CONNECTS = """
import socket, sys
input()
line = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
input()
"""


@pytest.mark.process
def test_a_client_that_is_not_connected_yet_is_waited_for(monkeypatch):
    @fault(task=1)
    def kills(f):
        yield
        f.kill_process("ada")

    with socket.create_server(("127.0.0.1", 0)) as broker:
        port = broker.getsockname()[1]
        monkeypatch.setattr(Breaker, "ports", {port})
        ada = subprocess.Popen([*PYTHON, CONNECTS, str(port), "ada"], stdin=subprocess.PIPE)
        early = injection_of(kills, None, Parameters(), os.getpid())
        early.begin()
        assert early.end().missed.endswith("that is connected to a broker")
        late = injection_of(kills, None, Parameters(), os.getpid())
        late.begin()
        ada.stdin.write(b"\n")
        ada.stdin.flush()
        assert ada.wait(timeout=20) == -9
        assert late.end().is_reached
        ada.stdin.close()


STARTS = """
import subprocess, sys
waits = "input()"
starts = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()', 'of-ada'])"
for program, name in ((waits, "helper"), (starts, "ada"), (waits, "bob")):
    subprocess.Popen([sys.executable, "-c", program, name])
print("started", flush=True)
input()
"""


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="Linux tells, others do not")
def test_a_program_that_puts_another_in_its_place_is_told_by_more_than_its_number():
    again = "import os, sys; input(); os.execv(sys.executable, sys.orig_argv)"
    pipes = {"stdin": subprocess.PIPE, "text": True, "bufsize": 1}
    with subprocess.Popen([*PYTHON, again], **pipes) as process:
        alive = psutil.Process(process.pid)
        before = program_of(alive)
        assert before
        assert program_of(alive) == before
        process.stdin.write("\n")
        wait_until(lambda: program_of(alive) != before, timeout=10, what="another program")
        assert alive == psutil.Process(process.pid)
        process.kill()


def test_nobody_but_the_members_runs_and_all_go_on_after_it():
    """The notebook is another process here, as it is where a hand-in is graded."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", STARTS], **pipes) as notebook:
        notebook.stdout.readline()
        breaker = injection_of(FAULTLESS, None, Parameters(), notebook.pid).breaker

        def frozen():
            there = {name: breaker.process(name) for name in ("helper", "ada", "of-ada", "bob")}
            there["notebook"] = psutil.Process(notebook.pid)
            stands = psutil.STATUS_STOPPED
            return {name for name, one in there.items() if one and one.status() == stands}

        wait_until(lambda: breaker.process("of-ada"), timeout=20, what="what ada starts")
        with breaker.nobody_but("ada", "bob", "nobody"):
            wait_until(lambda: frozen() == {"notebook", "helper"}, timeout=10, what="the freeze")
        wait_until(lambda: not frozen(), timeout=10, what="the end of it")
        notebook.communicate(b"\n", timeout=20)


@pytest.mark.process
def test_nobody_stands_still_for_longer_than_a_request_may_take(monkeypatch):
    monkeypatch.setattr(processes, "LONGEST_STANDSTILL", 0.3)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([*PYTHON, STARTS], **pipes) as notebook:
        notebook.stdout.readline()
        breaker = injection_of(FAULTLESS, None, Parameters(), notebook.pid).breaker
        with breaker.nobody_but("bob") as stand_still:
            wait_until(lambda: not stand_still(), timeout=10, what="the end of it")
            stands = psutil.STATUS_STOPPED
            helper = psutil.Process(notebook.pid)
            wait_until(lambda: helper.status() != stands, timeout=10, what="it to go on")
        notebook.communicate(b"\n", timeout=20)


@pytest.mark.process
def test_who_practises_is_not_frozen_by_a_fault_in_the_same_process():
    sleeper = [sys.executable, "-c", "input()", "of-the-learner"]
    breaker = injection_of(FAULTLESS, None, Parameters(), os.getpid()).breaker
    with (
        subprocess.Popen(sleeper, stdin=subprocess.PIPE) as one,
        breaker.nobody_but("ada"),
    ):
        assert psutil.Process(one.pid).status() != psutil.STATUS_STOPPED


@pytest.mark.process
def test_members_of_a_group_are_found_by_their_names_and_go_in_both_ways():
    turns = "while running():\n    work(0.05)"
    ada, bob = members.start(turns, "ada"), members.start(turns, "bob")

    @fault(task=1)
    def both_go(f):
        yield
        f.stop_process("ada")
        f.until(lambda: f.process("ada") is None, "the end of ada")
        f.kill_process("bob")

    for one in (ada, bob):
        one.wait_for(lambda events: len(events) > 1, what="its work")
    injection = injection_of(both_go, None, Parameters(), os.getpid())
    injection.begin()
    wait_until(lambda: bob.state == "ended", timeout=20, what="the end of bob")
    done = injection.end()
    assert done.is_reached, done
    assert [words for _, words in done.steps] == [
        *("process ada asked to end", "the end of ada", "process bob killed"),
    ]
    assert ada.events[-1].facts == {"why": "stopped"}
    assert bob.events[-1].what == "works", "it could tell nobody"
