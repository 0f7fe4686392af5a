"""What a run of the tests takes, in what order, and what this machine has no program for."""

import gc
import os
import shutil
import subprocess
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import grading  # noqa: F401 - before nbformat, as each process of the tests imports it
from tests import changes, sandboxed
from tests.browser import CHROMIUM
from tests.schedule import FIRST_WORKER, NICENESS, Units, arrange

# Objects made since the last look for garbage; Python's own 700 are for small programs.
GARBAGE = 20_000

# Each example has as much time as it needs: how long one takes says more about what else runs on
# the machine. In CI, Hypothesis chooses such a profile by itself, and the same examples each time.
if not os.environ.get("CI"):
    settings.register_profile(
        "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("any machine")
# For a test after each edit; the suite itself tries four times as many.
settings.register_profile("quick", settings.default, max_examples=25)


def pytest_addoption(parser: pytest.Parser) -> None:
    course = parser.getgroup("course")
    course.addoption(
        "--rest",
        choices=["all", "none", "ci"],
        default="all",
        help="tests marked `rest`: all of them, none, or for which a run of CI has the time, in "
        "turn by the number of commits, and first those that the newest changes touch",
    )
    course.addoption(
        "--changed", metavar="COMMIT", help="only what depends on files changed since this commit"
    )


def pytest_report_header() -> list[str]:
    """Why tests grade without a sandbox, where they do."""
    why = sandboxed.why_not()
    return [f"no sandbox here, so hand-ins of tests run without one: {why}"] if why else []


@cache
def docker_answers() -> bool:
    if not shutil.which("docker"):
        return False
    asked = ["docker", "version", "--format", "{{.Server.Version}}"]
    return subprocess.run(asked, capture_output=True, timeout=30).returncode == 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if commit := config.getoption("--changed"):
        since = changes.changed_since(commit)
        _keep(config, items, [item for item in items if changes.touched(_sources(item), since)])
    if config.getoption("--rest") == "none":
        _keep(config, items, [item for item in items if not _is_rest(item)])
    elif config.getoption("--rest") == "ci":
        now = _have_their_turn([item for item in items if _is_rest(item)])
        _keep(config, items, [item for item in items if not _is_rest(item) or item in now])
    arrange(items)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays to the end. A tenth of the time of the quick tests went
    into looking through it for garbage, again and again.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(GARBAGE)
        gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    worker = getattr(config, "workerinput", {}).get("workerid", FIRST_WORKER)
    if worker != FIRST_WORKER:
        os.nice(NICENESS)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Units:
    return Units(config, log)


def _is_rest(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("rest", "machine", "whole"))


def _have_their_turn(rest: list[pytest.Item]) -> set[pytest.Item]:
    since = changes.changed_since(changes.base())
    touched: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in rest:
        if not item.get_closest_marker("whole"):
            (touched if changes.touched(_sources(item), since) else others).append(item)
    chosen: set[pytest.Item] = set()
    for part in (touched, others):
        left = changes.ROOM - sum(map(_minutes, chosen))
        chosen |= {part[number] for number in changes.in_turn([*map(_minutes, part)], left)}
    return chosen


def _minutes(item: pytest.Item) -> float:
    told = [item.get_closest_marker(name) for name in ("rest", "machine")]
    return max(mark.kwargs.get("minutes", changes.MINUTES) for mark in told if mark)


def _sources(item: pytest.Item) -> list[Path]:
    """Where what a test tests is found: its own file, and what its marker `content` names."""
    own = [item.path.relative_to(changes.ROOT)]
    marker = item.get_closest_marker("content")
    return own + ([Path(source) for source in marker.args] if marker else [])


def _keep(config: pytest.Config, items: list[pytest.Item], kept: list[pytest.Item]) -> None:
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def pytest_runtest_setup(item: pytest.Item) -> None:
    if os.environ.get("CI"):
        return
    if item.get_closest_marker("docker") and not docker_answers():
        pytest.skip("no Docker engine answers on this machine")
    if item.get_closest_marker("browser") and not shutil.which(CHROMIUM):
        pytest.skip("no Chromium on this machine; KAFKALAB_CHROMIUM names one elsewhere")
