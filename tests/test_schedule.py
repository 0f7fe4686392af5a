"""How many workers share a machine, and which of them a test may go to."""

import os
from types import SimpleNamespace

import psutil
import pytest

from commands import test as verb
from tests import schedule

GB = 1 << 30


@pytest.mark.parametrize(
    ("cores", "memory", "is_quick", "expected"),
    [
        (2, 16 * GB, False, 3),  # that of CI
        (2, 16 * GB, True, 2),
        (2, 7 * GB, False, 2),
        (1, 2 * GB, False, 1),
        (16, 64 * GB, False, verb.MOST_WORKERS),
    ],
)
def test_workers_fit_the_cores_and_the_memory(monkeypatch, cores, memory, is_quick, expected):
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=memory))
    assert verb.workers(is_quick) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], []),
        (["-k", "digest"], []),
        (["-k", "tests", "-p", "no:anyio", "-m", "not slow", "-x"], []),
        (["--deselect", "tests/test_tree.py", "--tb=short"], []),
        (["tests/test_tree.py", "-k", "ruff", "-x", "labs"], ["tests/test_tree.py", "labs"]),
        (["-x", "--lf", "tests/test_tree.py::test_a"], ["tests/test_tree.py::test_a"]),
        (["-kdigest", "--maxfail", "2"], []),
    ],
)
def test_the_value_of_an_option_names_no_test(arguments, expected):
    assert verb.named(arguments) == expected


@pytest.mark.parametrize("arguments", [["-k", "name"], ["-p", "no:anyio"]])
def test_quick_tests_that_are_chosen_by_an_option_have_all_workers(monkeypatch, arguments):
    ran = []
    monkeypatch.setattr(os, "execv", lambda _, command: ran.append(command))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "")  # what the verb takes away comes back
    monkeypatch.chdir(".")
    verb.test(SimpleNamespace(args=arguments), quick=True)
    (command,) = ran
    assert command[-2:] == arguments
    assert command[command.index("-n") + 1] == str(verb.workers(is_quick=True))
    assert command[command.index("--hypothesis-profile") + 1] == "quick"


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("tests/kafkalab/engine/test_docker_engine.py::test_a", "docker"),
        ("tests/kafkalab/gateway/test_gateway.py::test_a[docker]", "docker"),
        ("tests/kafkalab/gateway/test_gateway.py::test_a[process]", None),
        ("tests/content/test_lessons.py::test_lesson[08_durability-breaks]", "itself"),
        ("tests/content/test_labs.py::test_each[05_delivery]", None),
    ],
)
def test_docker_and_lessons_that_break_brokers_need_the_first_worker(test, expected):
    unit = schedule.unit(test)
    assert schedule.needs_the_first_worker(unit) is (expected is not None)
    assert expected is None or unit == {"itself": test}.get(expected, expected)
