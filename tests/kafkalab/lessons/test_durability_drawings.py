"""The drawings of lesson 08: who answers whom, and what became of the records."""

from types import SimpleNamespace as Namespace

import pandas as pd
import pytest

from kafkalab.lessons import durability
from kafkalab.lessons.durability.acknowledgements import steps, told_before

pytestmark = pytest.mark.usefixtures("no_figure_stays")


def fetch(follower, requested, answered):
    return Namespace(broker=0, source=follower, requested=requested, answered=answered)


def send(requested, answered):
    ms = None if answered is None else (answered - requested) * 1000
    return Namespace(broker=0, requested=requested, answered=answered, ms=ms)


# Each follower waits at the leader, gets the record, and asks for the next; 2 is the slower one.
FETCHES = [
    fetch(1, 0.0, 1.001),
    fetch(2, 0.5, 1.002),
    fetch(1, 1.003, 1.5),
    fetch(2, 1.006, None),
]


def test_a_record_goes_to_the_leader_to_the_followers_and_back():
    way = steps(send(1.0, 1.007), FETCHES)
    assert [(step.start, step.end) for step in way] == [
        (1, 0),
        (2, 0),
        (None, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (2, 0),
        (0, None),
    ]
    assert [round(step.ms) for step in way] == [-1000, -500, 0, 1, 2, 3, 6, 7]
    asked = [step.words for step in way if step.words.endswith("?")]
    assert asked == ["anything?", "anything?", "next one?", "next one?"]  # before it, and after


def test_without_an_answer_nothing_goes_to_the_producer():
    way = steps(send(1.0, None), FETCHES)
    assert None not in {step.end for step in way}
    assert told_before(way) is None


@pytest.mark.parametrize(("answered", "followers"), [(1.0005, 0), (1.004, 1), (1.007, 2)])
def test_followers_are_counted_that_had_asked_again_before_the_answer(answered, followers):
    assert told_before(steps(send(1.0, answered), FETCHES)) == followers


def test_a_follower_that_says_nothing_is_left_out():
    way = steps(send(1.0, 1.001), [fetch(1, 0.0, None), fetch(2, 0.1, 0.9)])
    assert [(step.start, step.end) for step in way] == [(None, 0), (0, None)]


def test_the_sequences_name_everybody_and_all_is_inside_the_picture():
    ax = durability.sequences({"acks=0": send(1.0, None), "acks=all": send(1.0, 1.007)}, FETCHES)
    words = [text.get_text() for text in ax.texts]
    assert words.count("leader 0") == words.count("follower 2") == 2
    assert words.count("no answer") == words.count("answer") == 1
    titles = {ax.get_title(loc) for loc in ("left", "center")}
    assert "Followers that asked for the next record before the answer: 2 with acks=all" in titles
    ax.figure.draw_without_rendering()
    inside = ax.figure.bbox
    for text in ax.texts:
        box = text.get_window_extent()
        assert inside.x0 <= box.x0 < box.x1 <= inside.x1, text.get_text()


def test_a_label_lies_on_no_line_but_its_own():
    """Each node's line is crossed by long arrows, and by no word."""
    ax = durability.sequences({"acks=all": send(1.0, 1.007)}, FETCHES)
    ax.figure.draw_without_rendering()
    lines = [ax.transData.transform((line.get_xdata()[0], 0))[0] for line in ax.lines]
    for text in ax.texts:
        if text.get_text() in ("record", "anything?", "next one?", "answer"):
            box = text.get_window_extent()
            assert not any(box.x0 < line < box.x1 for line in lines), text.get_text()


def test_each_setting_has_a_bar_in_the_given_order():
    frame = pd.DataFrame(
        {"topic": ["b"] * 3 + ["a"] * 2, "fate": ["kept", "lost", "lost", "kept", "refused"]}
    )
    ax = durability.fates(frame, by="topic", order=["b", "a", "c"])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["b", "a", "c"]
    widths = {bars.get_label(): [bar.get_width() for bar in bars] for bars in ax.containers}
    assert widths == {"kept": [1, 1, 0], "lost": [2, 0, 0], "refused": [0, 1, 0]}


def test_no_rows_are_drawn_as_nothing():
    ax = durability.fates(pd.DataFrame(columns=["setting", "fate"], dtype=object))
    assert "nothing to draw" in [text.get_text() for text in ax.texts]
