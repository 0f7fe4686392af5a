"""A notebook is run in a process of its own and judged from outside."""

from dataclasses import replace

import psutil
import pytest

from grading.handin.weave import HandedIn, as_handed_in
from grading.judge.outcome import Outcome
from grading.judge.score import total
from grading.run import pace
from grading.run.attempt import Attempt
from grading.run.job import Job
from tests.grading.tiny import forged

pytestmark = pytest.mark.slow


def outcomes(evidence):
    return {result.check: result.outcome for result in evidence.results}


def test_the_solution_passes_everything(hand_in, tiny):
    attempted = hand_in(t1="double = 2 * p.number\nimport sys\n"
                        "print('hidden:', [m for m in sys.modules if 'hidden' in m])")  # fmt: skip
    evidence = attempted.evidence
    assert evidence.is_complete
    assert evidence.fault is None
    assert evidence.trouble == []
    assert set(outcomes(evidence).values()) == {Outcome.PASS}
    checks = (*tiny.checks, *tiny.hidden_checks())
    assert total(checks, {result.check: result for result in evidence.results}).reached == 8
    assert [cell.state for cell in evidence.cells.values()] == [Outcome.RAN] * 3
    assert evidence.answers[3] == "# Task 3\nsaid = p.name"
    assert evidence.cells[1].output == "hidden: []", "the kernel never holds hidden checks"
    text = str(attempted.notebook)
    assert "count = 2" in text
    assert "the check cell" in text
    assert "check cell of task 1 ran'" not in text
    assert "demo cell" not in text, "what a lab shows costs a student's run nothing"


def test_the_notebook_that_ran_holds_its_outputs_and_nothing_of_ours(hand_in):
    attempted = hand_in(t1="print('hello')\n1 / 0", t2="def reverse(text):\n    return text[::-1]")
    cells = {cell["id"]: cell for cell in attempted.notebook["cells"]}
    stream, error = cells["task-1"]["outputs"]
    assert stream["text"] == "hello\n"
    assert error["ename"] == "ZeroDivisionError"
    (check,) = cells["check-1"]["outputs"]
    assert "✗ The number is doubled (0 of 2)" in check["data"]["text/plain"]
    assert "any word" not in str(attempted.notebook).lower(), "hidden checks are not shown"
    assert len(cells) == len(attempted.notebook["cells"])
    assert "papermill" not in str(attempted.notebook)


def test_a_line_for_the_grader_reaches_nobody_without_a_sandbox_too(hand_in):
    """The marks of a blank lab were full once: the pipe of the parent can be opened."""
    evidence = hand_in(t1=forged()).evidence
    assert evidence.is_complete
    assert outcomes(evidence).pop("doubled") is Outcome.FAIL


@pytest.mark.cluster
def test_a_grading_process_that_dies_is_our_fault_and_takes_all_with_it(changed, solved):
    lab = changed("lab.toml", {"cell = 3": "cell = 100", "run = 20": "run = 100"})
    cells = [
        replace(cell, text="import signal\n\nsignal.pause()") if cell.id == "task-2" else cell
        for cell in as_handed_in(solved)
    ]
    attempt = Attempt(lab)
    below = []

    def kill(event):
        if event["event"] == "cell" and event["task"] == 2:
            below.extend(psutil.Process(attempt.process.pid).children(recursive=True))
            attempt.process.kill()

    attempted = attempt.run(Job("anna", "seed", cells), kill)
    assert attempted.evidence.refusal is Outcome.INFRA
    assert "ended with -9" in attempted.evidence.why
    assert [result.check for result in attempted.evidence.results] == ["doubled"]
    assert below
    assert psutil.wait_procs(below, timeout=30)[1] == []


def test_a_cell_has_longer_where_the_machine_has_much_to_do(hand_in, monkeypatch):
    """Cells of 60 s were cut off on two processors with thirty that wanted them."""
    monkeypatch.setattr(pace, "now", lambda: 6.0)
    evidence = hand_in(t1="import time\ntime.sleep(4)\ndouble = 2 * p.number").evidence
    assert evidence.cells[1].state is Outcome.RAN, evidence.cells[1]
    assert outcomes(evidence)["doubled"] is Outcome.PASS


@pytest.mark.cluster
def test_the_whole_run_has_a_limit_and_keeps_what_was_reached(changed, solved, monkeypatch):
    monkeypatch.setattr(pace, "now", lambda: 1.0)
    lab = changed("lab.toml", {"run = 20": "run = 3", "cell = 3": "cell = 20"})
    cells = [
        replace(cell, text="while True: pass") if cell.id == "task-2" else cell
        for cell in as_handed_in(solved)
    ]
    evidence = Attempt(lab).run(Job("anna", "seed", cells)).evidence
    assert evidence.fault is None
    assert evidence.ended is Outcome.TIMEOUT
    assert evidence.why == "the whole notebook took longer than 3 s"
    assert outcomes(evidence) == {
        "doubled": Outcome.PASS,
        "words_reversed": Outcome.FAIL,
        "any_word_reversed": Outcome.NEEDS,
        "name_said": Outcome.NOT_REACHED,
    }


@pytest.mark.cluster
def test_a_set_up_that_fails_before_any_answer_is_our_fault(changed, solved):
    lab = changed("lab.py", {"import os\n": "import no_such_module\n"})
    job = Job("anna", "seed", as_handed_in(solved))
    evidence = Attempt(lab).run(job).evidence
    assert evidence.refusal is Outcome.INFRA
    assert "SetUpFailed" in evidence.why
    assert "no_such_module" in evidence.why


def test_a_process_that_cannot_start_says_why(tiny):
    attempt = Attempt(replace(tiny, place=replace(tiny.place, folder="91_gone")))
    evidence = attempt.run(Job("anna", "seed", [])).evidence
    assert evidence.refusal is Outcome.INFRA
    assert "There is no lab lab91_gone" in evidence.why


def test_what_a_lab_shows_runs_where_it_is_asked_for(tiny, solved):
    """As for a reader: a cluster that it starts is one of its own."""
    job = Job("anna", "seed", as_handed_in(solved), demos=True)
    attempted = Attempt(tiny).run(replace(job, cluster=None))
    assert attempted.evidence.trouble == []
    assert "the demo cell ran with no cluster" in str(attempted.notebook)
    assert set(outcomes(attempted.evidence).values()) == {Outcome.PASS}


def test_a_run_ends_after_the_checks_of_the_task_that_it_is_told(tiny, solved):
    events = []
    attempted = Attempt(tiny).run(
        Job("anna", "seed", as_handed_in(solved), last=2), lambda event: events.append(event)
    )
    evidence = attempted.evidence
    assert evidence.is_complete
    assert evidence.fault is None
    assert sorted(evidence.cells) == [1, 2]
    assert outcomes(evidence) == dict.fromkeys(
        ("doubled", "words_reversed", "any_word_reversed"), Outcome.PASS
    )
    assert not [event for event in events if event.get("task") == 3]


def test_a_students_cells_find_the_docker_engine_of_the_grader(hand_in, monkeypatch, tmp_path):
    (tmp_path / ".docker").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("DOCKER_CONFIG", raising=False)
    monkeypatch.setenv("DOCKER_HOST", "unix:///somewhere/docker.sock")
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xint")
    show = "double = 2 * p.number\nimport os\nprint(sorted(n for n in os.environ if '{}' in n))"
    named = "['DOCKER_CONFIG', 'DOCKER_HOST']\n"

    monkeypatch.setenv("KAFKALAB_ENGINE", "docker")
    assert hand_in(t1=show.format("DOCKER")).evidence.cells[1].output == named[:-1]
    monkeypatch.setenv("KAFKALAB_ENGINE", "process")
    for letters in ("DOCKER", "JAVA_TOOL"):
        assert hand_in(t1=show.format(letters)).evidence.cells[1].output == "[]"


def test_several_cells_of_a_task_count_as_one_and_a_given_cell_that_fails_is_told(solved, tiny):
    cells = []
    for cell in as_handed_in(solved):
        if cell.id == "task-1":
            cells.append(HandedIn("a", "code", "def helper():\n    print('helped')\n    return p"))
            cells.append(HandedIn("task-1", "code", "# Task 1\nfound = helper().number"))
            cells.append(HandedIn("b", "code", "double = 2 * found\nprint('done')\n1 / 0"))
        elif cell.id == "task-2":
            cells.append(HandedIn("task-2", "code", "# Task 2\nreverse = None"))
        else:
            cells.append(cell)
    evidence = Attempt(tiny).run(Job("anna", "seed", cells)).evidence
    assert outcomes(evidence)["doubled"] is Outcome.PASS
    assert evidence.cells[1].state is Outcome.STUDENT_ERROR, "the worst of the three"
    assert evidence.cells[1].output.startswith("helped\ndone")
    assert evidence.answers[1].splitlines()[0] == "def helper():"
    assert evidence.answers[1].endswith("1 / 0")
    (words,) = [one for one in evidence.oddities if one.startswith("Task 2")]
    assert "the course's own cell “reversed_words" in words
    assert "TypeError" in words


def test_a_hand_in_that_nobody_can_read_is_refused_and_not_scored_in_silence(solved, tiny):
    cells = [
        replace(cell, id="", text=cell.text.replace("# Task 1\n", ""))
        for cell in as_handed_in(solved)
        if cell.id != "check-1"
    ]
    cells.append(HandedIn("", "code", "double = 5"))
    attempted = Attempt(tiny).run(Job("anna", "seed", cells))
    assert attempted.evidence.refusal is Outcome.UNCLEAR
    assert "“double = 5”" in attempted.evidence.why
    assert attempted.evidence.is_complete
    assert attempted.notebook is None
