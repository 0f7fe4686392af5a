"""Clumsy and hostile notebooks, one for each way to go wrong, with what must come of each.

The tiny lab has 2 points for task 1, 4 for task 2 (2 of them hidden) and 2 for task 3.
"""

import os

import psutil
import pytest

from grading.handin.notebookfile import NotebookFile
from grading.handin.submission import Submission
from grading.handin.weave import HandedIn, as_handed_in
from grading.judge.outcome import Outcome
from grading.keep import report
from grading.keep.store import Store
from grading.run.lanes import Lanes
from grading.run.plan import plan
from tests import sandboxed

STRAY = f"kafka_course_stray_process_{os.getpid()}"
STARTS_A_CHILD = f"""
import subprocess, sys
child = [sys.executable, "-c", "import time; {STRAY} = time.sleep(600)"]
"""
# name -> answers that differ from the solution, outcome, points
ZOO = {
    "right": ({}, Outcome.PASS, 8),
    "warns": (
        {1: "import sys, warnings\nwarnings.warn('old')\nprint('error', file=sys.stderr)\n"
            "double = 2 * p.number"}, Outcome.PASS, 8),
    "raises": ({1: "1 / 0"}, Outcome.STUDENT_ERROR, 6),
    "raises_after_the_answer": ({1: "double = 2 * p.number\n1 / 0"}, Outcome.PASS, 8),
    "not_python": ({1: "double = = 2"}, Outcome.STUDENT_ERROR, 6),
    "sys_exit": ({1: "double = 2 * p.number\nimport sys\nsys.exit(0)"}, Outcome.PASS, 8),
    "exit": ({2: "exit()"}, Outcome.STUDENT_EXIT, 2),
    "os_exit_0": ({2: "import os\nos._exit(0)"}, Outcome.STUDENT_EXIT, 2),
    "kills_the_kernel": ({2: "import os\nos.kill(os.getpid(), 9)"}, Outcome.KERNEL_DIED, 2),
    "crashes": ({2: "import ctypes\nctypes.string_at(0)"}, Outcome.KERNEL_DIED, 2),
    "no_memory": ({1: "raise MemoryError('none left')"}, Outcome.OUT_OF_MEMORY, 6),
    "loops": ({2: "while True:\n    pass"}, Outcome.TIMEOUT, 4),
    "loops_and_will_not_stop": (
        {2: "while True:\n    try:\n        while True:\n            pass\n"
            "    except BaseException:\n        pass"}, Outcome.TIMEOUT, 2),
    "waits_for_input": ({1: "double = int(input())"}, Outcome.STUDENT_ERROR, 6),
    "prints_forever": ({2: "while True:\n    print('x' * 1000)"}, Outcome.OUTPUT_LIMIT, 2),
    "prints_one_giant": ({2: "print('x' * 30_000_000)"}, Outcome.OUTPUT_LIMIT, 2),
    "prints_in_the_background": (
        {2: "import threading\n\ndef shout():\n    while True:\n        print('x' * 1000)\n\n"
            "threading.Thread(target=shout, daemon=True).start()\n"
            "def reverse(text):\n    return text[::-1]"}, Outcome.OUTPUT_LIMIT, None),
    "equal_to_everything": (
        {1: "class Equal:\n    __eq__ = lambda self, other: True\n"
            "    tolist = lambda self: self\ndouble = Equal()"}, Outcome.PART, 6),
    "rewrites_later_cells": (
        {1: "get_ipython().input_transformers_cleanup.append(lambda lines: ['pass'])"},
        Outcome.FAIL, 0),
    "patches_the_shell": (
        {1: "get_ipython().run_cell = None\nget_ipython().showtraceback = print"}, None, None),
    "patches_json": (
        {1: "import json\njson.dumps = lambda *a, **k: '42'\ndouble = 1"}, Outcome.KERNEL_DIED, 0),
    "patches_the_grader": (
        {1: "import grading.judge.checks, grading.judge.plain\ngrading.judge.checks.run = None\n"
            "grading.judge.plain.plain = lambda *given: 42\ndouble = 42"}, Outcome.FAIL, 0),
    "kills_the_process_that_grades": (
        {2: "import os\nos.kill(os.getppid(), 9)\nos.kill(os.getppid(), 0)\n"
            "def reverse(text):\n    return text[::-1]"},
        # In a sandbox its parent is the first process there, which the kill does not reach: it is
        # still there, the cell goes on to its answer, and all is graded.
        *((Outcome.KERNEL_DIED, 2) if sandboxed.why_not() else (Outcome.PASS, 8))),
    "overwrites_the_parameters": (
        {1: "double = 2 * p.number\np.clear()"}, Outcome.STUDENT_ERROR, 6),
    "forks": ({1: "import os\nif os.fork() == 0:\n    os._exit(0)\ndouble = 2 * p.number"},
              Outcome.PASS, 8),
    "leaves_a_child": (
        {1: STARTS_A_CHILD + "subprocess.Popen(child, start_new_session=True, env={})\n"
            "double = 2 * p.number"}, Outcome.PASS, 8),
    "leaves_a_grandchild": (
        {1: STARTS_A_CHILD + "code = f'import subprocess; subprocess.Popen({child!r}, "
            "start_new_session=True, env={{}})'\n"
            "subprocess.run([sys.executable, '-c', code])\nimport os\nos._exit(1)"},
        Outcome.KERNEL_DIED, 0),
    "shows_a_script": (
        {1: "print('<script>alert(1)</script>')\ndouble = 2 * p.number"}, Outcome.PASS, 8),
    "says_it_in_a_message": ({1: "double = '<img src=x onerror=alert(1)>'"}, Outcome.PART, 6),
}  # fmt: skip


def strays():
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if any(STRAY in word for word in process.info["cmdline"] or [])
    ]


@pytest.fixture(scope="module")
def graded(tiny, solved, tmp_path_factory):
    """The whole zoo, graded as a class: name -> record, and its store."""
    submissions = []
    for name, (answers, _, _) in ZOO.items():
        cells = []
        for cell in as_handed_in(solved):
            number = cell.id.partition("-")[2] if cell.id.startswith("task-") else ""
            text = answers.get(int(number), cell.text) if number else cell.text
            cells.append(HandedIn(cell.id, cell.kind, text))
        submissions.append(Submission(name, NotebookFile(tuple(cells), tiny.name)))
    store = Store(tmp_path_factory.mktemp("grades"), tiny.name)
    work, _ = plan(tiny, submissions, store, b"secret", rerun=False)
    records = Lanes(tiny, store, around=sandboxed.around()).run(work, jobs=2)
    return {record.student: record for record in records}, store


@pytest.mark.cluster
@pytest.mark.parametrize("name", ZOO)
def test_what_comes_of_it(graded, name):
    records, _ = graded
    _, outcome, points = ZOO[name]
    record = records[name]
    assert record.outcome not in {Outcome.INFRA, Outcome.CHECK_ERROR}, record.why
    if outcome is not None:
        assert record.outcome is outcome, record.why
    if points is not None:
        assert record.reached == points


@pytest.mark.cluster
def test_nothing_outlives_an_attempt(graded):
    assert strays() == []


@pytest.mark.cluster
def test_pages_show_nothing_unescaped(graded, tiny):
    _, store = graded
    report.write(tiny, store)
    pages = [page.read_text() for page in store.folder.rglob("*.html")]
    assert len(pages) == len(ZOO) + 1
    for page in pages:
        assert "<script" not in page
        assert "<img" not in page
    assert any("&lt;script&gt;" in page for page in pages)


@pytest.mark.cluster
def test_pages_of_students_do_not_name_hidden_checks(graded, tiny):
    _, store = graded
    report.write(tiny, store)
    for page in (store.folder / "students").glob("*.html"):
        text = page.read_text()
        for check in tiny.hidden_checks():
            assert check.id not in text


@pytest.mark.cluster
def test_a_notebook_with_tag_tricks_and_copies_is_the_same_to_us(hand_in, solved):
    cells = [
        HandedIn(cell.id, cell.kind, cell.text, ("skip-execution", "raises-exception"))
        for cell in as_handed_in(solved)
    ]
    attempted = hand_in([*cells, *cells])
    assert {result.outcome for result in attempted.evidence.results} == {Outcome.PASS}
