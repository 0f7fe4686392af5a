"""The helpers of lesson 03: names of groups, what a check says, and the chart of three offsets."""

from types import SimpleNamespace as Namespace

import pytest

from kafkalab.errors import CourseError
from kafkalab.lessons import reading
from kafkalab.lessons.reading import Noted
from tests.kafkalab.drawn import words


def records(*offsets: int) -> list[Namespace]:
    return [Namespace(offset=offset, value=b"order %d" % offset) for offset in offsets]


def test_a_group_that_is_known_gets_another_name():
    cluster = Namespace(groups=lambda: {"audit": "EMPTY", "audit-2": "STABLE", "drivers": "EMPTY"})
    assert reading.new_group(cluster, "audit") == "audit-3"
    assert reading.new_group(cluster, "kitchen") == "kitchen"


def test_the_right_records_are_right():
    assert reading.differs(records(7, 8), [7, 8]) == ""


def test_wrong_records_are_told_apart():
    assert reading.differs([], [7, 8]) == "no record came."
    assert reading.differs(records(6, 7, 8), [7, 8]) == "it begins at 6, which is too early."
    assert "from offset 8 on" in reading.differs(records(8), [7, 8])


def test_it_counts_the_orders_that_nobody_cooked():
    assert reading.uncooked(["order 0"], records(0)) == ""
    assert reading.uncooked([], records(0, 1)) == "2 of 2 orders are not cooked."


class Late:
    """A consumer that has no partition in its first loop."""

    loops = 0

    def __iter__(self):
        self.loops += 1
        return iter(records(0) if self.loops > 1 else [])

    def assignment(self):
        return {"here"} if self.loops > 1 else set()


def test_a_loop_that_ended_before_the_consumer_had_joined_is_begun_again():
    assert reading.looped(Late()) == ["order 0"]


def test_the_chart_tells_where_each_offset_ended():
    steps = [Noted("poll", 6, None, 12), Noted("commit", 6, 6, 12), Noted("poll", 9, 6, 12)]
    shown = words(reading.offsets_over_steps(steps))
    assert {"log end 12", "position 9", "committed offset 6"} <= set(shown)
    assert "read, not\ncommitted" in shown


def test_a_handover_says_what_comes_again(capsys):
    steps = [Noted("commit", 6, 6, 12), Noted("killed", 9, 6, 12)]
    steps.append(reading.begun("next", records(6)[0], steps[-1]))
    reading.show_handover([*steps, Noted("polls", 7, 6, 12)])
    told = capsys.readouterr().out
    assert told.startswith("Position 6, 9, 6, 7 after each step; the committed offset stays at 6")
    assert "3 orders come again: the commit was 6." in told


def test_without_a_commit_it_draws_none():
    shown = words(reading.offsets_over_steps([Noted("poll", 6, None, 12)]))
    assert not any("committed" in word for word in shown)


NOTE_ONE = """
class Reader:
    assignment = lambda self: {"here"}
    committed = lambda self, place: None
    position = lambda self, place: settings["at"]
    end_offsets = lambda self, places: {"here": 12}
note("poll", Reader())
"""


@pytest.mark.process
@pytest.mark.parametrize(
    "end", ["", "os.kill(os.getpid(), signal.SIGKILL)\nnote('never', Reader())"]
)
def test_what_a_program_noted_outlives_it(end, capsys):
    assert reading.run(NOTE_ONE + end, at=6) == [Noted("poll", 6, None, 12)]
    assert capsys.readouterr().out == "poll: position 6, committed None, log end 12\n"


@pytest.mark.process
def test_a_program_with_a_fault_says_so():
    with pytest.raises(CourseError, match="no_such_name"):
        reading.run("no_such_name")
