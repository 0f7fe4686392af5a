"""A member is a program that ends by itself, whatever becomes of the one that started it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest
from IPython.core.interactiveshell import InteractiveShell

from kafkalab import CourseError, environment, members, wait_until
from kafkalab.clients import opened
from kafkalab.members import Event, Member, events

pytestmark = pytest.mark.process

TURNS = """
import time
number = 0
while running():
    note("turn", number=number)
    number += 1
    time.sleep(0.02)
"""


@pytest.fixture(autouse=True)
def none_is_left() -> Iterator[None]:
    yield
    opened.close_all()
    assert not [process for process in psutil.Process().children() if is_member(process.pid)]


def is_member(pid: int) -> bool:
    try:
        process = psutil.Process(pid)
        ended = process.status() == psutil.STATUS_ZOMBIE
        return not ended and any("kafkalab.members" in word for word in process.cmdline())
    except psutil.NoSuchProcess:
        return False


def whats(member: Member) -> list[str]:
    return [event.what for event in member.events]


def begun(member: Member) -> Event:
    return member.wait_for(
        lambda events: next((e for e in events if e.what == "turn"), None), what="a turn"
    )


def test_it_is_found_among_the_processes_by_its_name() -> None:
    member = members.start(TURNS, "ada")
    begun(member)
    assert psutil.Process(member.pid).cmdline()[-1] == "ada"
    member.stop()


def test_it_writes_down_what_happened_by_the_clock_of_the_machine() -> None:
    before = time.monotonic_ns()
    member = members.start("note('one', of=whole)\nnote('two')", "ada", whole=[1, 2])
    member.wait_for_end()
    assert whats(member) == ["started", "one", "two", "ended"]
    assert member.events[1].facts == {"of": [1, 2]}
    assert member.events[-1].facts == {"why": "done"}
    at = [before, *(event.at for event in member.events), time.monotonic_ns()]
    assert at == sorted(at)
    assert repr(member) == "ada: ended, 4 events"


def test_a_line_without_its_end_is_no_event() -> None:
    first, second = Event("one", 1, {"n": 5}), Event("two", 2)
    written = first.line() + second.line()
    for cut in range(len(written) + 1):
        whole = [first, second][: written[:cut].count(b"\n")]
        assert events.read(written[:cut]) == (whole, sum(len(event.line()) for event in whole))


def test_its_events_are_read_on_and_none_twice() -> None:
    member = members.start(TURNS, "ada")
    begun(member)
    first = member.events
    member.wait_for(lambda events: len(events) > len(first), what="another turn")
    assert member.events[: len(first)] == first
    turns = [event.facts["number"] for event in member.events[1:]]
    assert turns == list(range(len(turns)))


def test_it_ends_when_it_is_stopped() -> None:
    member = members.start(TURNS, "ada")
    begun(member)
    member.stop()
    assert member.state == "ended"
    assert member.events[-1].facts == {"why": "stopped"}
    member.stop()
    member.wait_for_end()


def test_it_ends_at_its_limit() -> None:
    member = members.start(TURNS, "ada", limit=0.3)
    member.wait_for_end()
    assert member.events[-1].facts == {"why": "its time was over"}


def test_also_while_it_is_frozen() -> None:
    member = members.start(TURNS, "ada", limit=8)
    begun(member)
    member.freeze()
    member.wait_for_end()
    assert member.events[-1].facts == {"why": "its time was over"}


def test_a_frozen_one_goes_on_where_it_stood() -> None:
    member = members.start(TURNS, "ada")
    begun(member)
    member.freeze()
    assert member.state == "frozen"
    before = member.events
    assert member.events == before
    member.thaw()
    member.wait_for(lambda events: len(events) > len(before), what="another turn")
    assert member.state == "running"
    member.freeze()
    member.stop()
    assert member.events[-1].facts == {"why": "stopped"}


def test_a_killed_one_tells_nobody() -> None:
    member = members.start(TURNS, "ada")
    begun(member)
    member.kill()
    assert member.state == "ended"
    assert whats(member)[-1] == "turn"
    member.wait_for_end()  # this is no fault of its lines


def test_a_second_one_of_its_name_ends_it() -> None:
    first = members.start(TURNS, "ada")
    other = members.start(TURNS, "bob")
    begun(first)
    second = members.start(TURNS, "ada")
    assert first.events[-1].facts == {"why": "stopped"}
    begun(second)
    assert [first.state, second.state, other.state] == ["ended", "running", "running"]


def test_all_are_stopped_also_those_that_nobody_has_a_name_for() -> None:
    both = [members.start(TURNS, name) for name in ("ada", "bob")]
    for one in both:
        begun(one)
    members.stop_all()
    assert [one.events[-1].facts for one in both] == [{"why": "stopped"}] * 2
    members.stop_all()


def test_a_cell_that_is_run_again_ends_what_it_started() -> None:
    shell = InteractiveShell.instance()
    try:
        opened._look_for_cells()
        shell.push({"members": members, "TURNS": TURNS})
        shell.run_cell(
            "both = [members.start(TURNS, name) for name in ('ada', 'bob')]", cell_id="a"
        )
        both = shell.user_ns["both"]
        shell.run_cell("'another'", cell_id="b").raise_error()
        assert [one.state for one in both] == ["running", "running"]
        shell.run_cell("one = members.start(TURNS, 'ada')", cell_id="a").raise_error()
        wait_until(lambda: {one.state for one in both} == {"ended"}, timeout=20, what="their end")
        assert shell.user_ns["one"].state == "running"
    finally:
        opened.close_all()
        InteractiveShell.clear_instance()


def test_an_interrupt_of_the_kernel_is_not_for_it() -> None:
    member = members.start(TURNS, "ada")
    assert os.getpgid(member.pid) == member.pid


def test_a_fault_of_its_lines_is_told_with_the_line() -> None:
    member = members.start("note('one')\nnot_there", "ada")
    with pytest.raises(CourseError, match="ada has ended without two") as told:
        member.wait_for(lambda events: len(events) > 9, what="two")
    assert "NameError: name 'not_there'" in told.value.why
    assert "    not_there\n" in told.value.why  # the line of the cell
    assert member.events[-1].facts["why"].startswith("NameError")
    with pytest.raises(CourseError, match="ended with 1"):
        member.wait_for_end()


def test_what_it_printed_can_be_read() -> None:
    member = members.start("print('hello')", "ada")
    member.wait_for_end()
    assert member.said == "hello\n"
    assert whats(member) == ["started", "ended"]


STARTER = f"""
import json, sys, time
from kafkalab import members
TURNS = {TURNS!r}
if __name__ == "__main__":
    ada, bob = members.start(TURNS, "ada"), members.start(TURNS, "bob")
    for one in (ada, bob):
        one.wait_for(lambda events: len(events) > 1, what="a turn")
    bob.freeze()
    print(json.dumps([ada.pid, bob.pid]), flush=True)
    time.sleep(600)
"""


def test_they_end_with_a_starter_that_was_killed() -> None:
    """Also one that stands still: it can hear nothing until the system wakes it."""
    # In a session of its own, as Jupyter starts a kernel.
    with subprocess.Popen(
        [sys.executable, "-P", "-c", STARTER],
        stdout=subprocess.PIPE,
        env=environment.for_python(),
        start_new_session=True,
    ) as starter:
        try:
            assert starter.stdout is not None
            pids = json.loads(starter.stdout.readline())
            assert all(is_member(pid) for pid in pids)
            assert psutil.Process(pids[1]).status() == psutil.STATUS_STOPPED
        finally:
            starter.send_signal(signal.SIGKILL)
    wait_until(
        lambda: not any(is_member(pid) for pid in pids), timeout=30, what="the end of the members"
    )


def test_the_events_of_all_stand_in_one_table() -> None:
    member = members.start("note('one', offset=5)", "ada")
    member.wait_for_end()
    other = members.start("note('two')", "bob")
    other.wait_for_end()
    table = members.events_of([other, member])
    assert list(table["member"]) == ["ada"] * 3 + ["bob"] * 3
    assert list(table["what"]) == ["started", "one", "ended", "started", "two", "ended"]
    assert table["seconds"].is_monotonic_increasing
    assert table["seconds"].iloc[0] == 0
    assert table["offset"].dropna().tolist() == [5]
    assert list(members.events_of([]).columns) == ["seconds", "member", "what"]


def test_work_is_noted_and_dropped_by_who_shall_end() -> None:
    member = members.start("work(0)\nwork(61)\nwork(60)", "ada")
    member.wait_for(lambda events: any(e.what == "works" for e in events), what="its work")
    began = time.monotonic()
    member.let_go()
    member.wait_for(lambda events: sum(e.what == "works" for e in events) >= 2, what="more work")
    member.stop()
    assert time.monotonic() - began < 5
    assert [e.facts["seconds"] for e in member.events if e.what == "works"] == [61, 60]
    assert member.events[-1].facts == {"why": "stopped"}
