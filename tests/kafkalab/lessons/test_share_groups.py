"""The helpers of lesson 15: what workers did, who was overtaken, and what the exercises say."""

import json
from collections import Counter
from types import SimpleNamespace as Namespace

import pytest
from matplotlib.colors import to_hex

from kafkalab.errors import CourseError
from kafkalab.lessons import share_groups
from kafkalab.lessons.share_groups import Turn
from kafkalab.members import Event
from tests.kafkalab.drawn import words

pytestmark = pytest.mark.usefixtures("no_figure_stays")

REFUSED = ["KafkaError{code=INVALID_RECORD_STATE}"]


def worker(name, *events, state="running"):
    """Each event: second, what, and its facts."""
    return Namespace(
        name=name,
        state=state,
        events=[Event("started", 0), *(Event(w, int(s * 1e9), f) for s, w, f in events)],
    )


CREW = {
    "Ada": worker(
        "Ada",
        (1, "begins", {"offset": 0, "tries": 1}),
        (5, "done", {"offset": 0, "errors": REFUSED}),
        (6, "begins", {"offset": 3, "tries": 1}),
        state="ended",
    ),
    "Bob": worker(
        "Bob",
        (1.5, "begins", {"offset": 1, "tries": 1}),
        (2, "done", {"offset": 1, "errors": []}),
        (3, "begins", {"offset": 0, "tries": 2}),
        (5.5, "done", {"offset": 0, "errors": []}),
    ),
}


def test_work_is_told_in_the_order_in_which_it_was_begun():
    assert share_groups.turns(CREW) == [
        Turn("Ada", 0, 1, 5, 1),
        Turn("Bob", 1, 1.5, 2, 1),
        Turn("Bob", 0, 3, 5.5, 2),
        Turn("Ada", 3, 6, None, 1),
    ]
    assert share_groups.dead(CREW) == ["Ada"]


def test_a_group_that_counts_no_deliveries_has_turns_too():
    loner = {"Cleo": worker("Cleo", (1, "begins", {"offset": 7}), (2, "done", {"offset": 7}))}
    assert share_groups.turns(loner) == [Turn("Cleo", 7, 1, 2, 0)]


def test_films_count_as_done_when_somebody_has_ended_each():
    done = share_groups.wait_for_films(CREW, [0, 1])
    assert [(turn.worker, turn.offset) for turn in done] == [("Ada", 0), ("Bob", 1), ("Bob", 0)]
    with pytest.raises(CourseError, match="3 films"):
        share_groups.wait_for_films(CREW, [0, 1, 3], timeout=0.05)


def test_the_heir_of_a_record_is_somebody_else():
    assert share_groups.holder(CREW, 0).worker == "Ada"
    assert share_groups.holder(CREW, 0, besides=["Ada"]).tries == 2
    with pytest.raises(CourseError, match="record 1"):
        share_groups.holder(CREW, 1, besides=["Bob"], timeout=0.05)


def test_work_is_settled_when_nobody_is_at_it():
    assert len(share_groups.settled(CREW, 0, quiet=0)) == 2
    with pytest.raises(CourseError, match="record 3"):
        share_groups.settled(CREW, 3, quiet=0, timeout=0.05)


def test_each_answer_belongs_to_its_record():
    assert share_groups.answers(CREW, 0) == [REFUSED, []]
    assert share_groups.answer_to(CREW["Ada"], 0) == REFUSED
    with pytest.raises(CourseError, match="an answer to Ada"):
        share_groups.answer_to(CREW["Ada"], 3, timeout=0.05)


def test_who_ends_before_the_first_record_has_overtaken_it():
    first = [Turn("Ada", 4, 0, 3), Turn("Bob", 5, 0, 1), Turn("Bob", 6, 1, 4)]
    assert share_groups.overtakers(first) == 1
    assert share_groups.overtakers([Turn("Ada", 4, 0, 1), Turn("Ada", 5, 1, 2)]) == 0
    assert share_groups.seconds_of(first) == 4
    assert list(share_groups.by_worker(first)) == ["Ada", "Bob"]


def test_the_bars_name_crews_and_who_has_nothing():
    work = [Turn("Ada", 4, 0, 3), Turn("Bob", 5, 0, 1)]
    ax = share_groups.work_over_time(work, {"one": ["Ada", "Cleo"], "other": ["Bob"]})
    assert sorted(words(ax)) == ["0", "1", "no record", "one", "other"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Bob", "Cleo", "Ada"]
    colours = {bar.get_width(): to_hex(bar.get_facecolor()) for bar in ax.patches}
    assert colours[3] != colours[1]  # the first record stands out


def test_by_tries_the_bars_have_the_number_of_the_delivery():
    ax = share_groups.work_over_time(share_groups.turns(CREW)[:3], {"": CREW}, label="tries")
    assert sorted(filter(None, words(ax))) == ["1", "1", "2"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a try begins"]


def test_a_record_that_was_never_handed_out_has_a_bar_of_nothing():
    ax = share_groups.deliveries_per_record({0: 1, 1: 9}, {0: 1, 1: 5, 2: 1}, records=3)
    assert words(ax) == ["1", "9", "0", "1", "5", "1"]


def test_titles_are_what_was_found(capsys):
    in_line = [Turn("Ada", 0, 1, 5), Turn("Ada", 1, 5, 6)]
    shared = [Turn("Bob", 0, 1, 4), Turn("Eve", 1, 1, 2)]
    share_groups.show_both(in_line, shared, ["Ada", "Cleo"], ["Bob", "Eve"])
    title = "Consumer group: 5.0 s, 1 at work. Share group: 3.0 s, 2 at work. "
    assert capsys.readouterr().out.startswith(title)
    share_groups.show_deliveries({0: 1, 1: 9}, {0: 1, 1: 5, 2: 1}, bad=1, records=3)
    title = "Share group: 5 tries, and all others came. Consumer group: 1 wait. "
    assert capsys.readouterr().out.startswith(title)
    share_groups.show_deliveries({0: 1, 1: 9}, {0: 1, 1: 5}, bad=1, records=3)
    assert "and 1 others came" in capsys.readouterr().out


def test_a_film_is_seconds_or_cannot_be_developed():
    share_groups.develop(b"0")
    with pytest.raises(ValueError, match="torn"):
        share_groups.develop(b"torn")


def test_what_cannot_be_developed_is_told():
    assert share_groups.developed(b"0")
    assert not share_groups.developed(b"torn")


def word(busy, torn):
    return {b"busy": Namespace(name=busy), b"torn": Namespace(name=torn)}


@pytest.mark.parametrize(
    ("came", "torn", "said"),
    [
        ({1: 2, 2: 1, 4: 2}, "REJECT", ""),
        ({1: 2, 2: 1, 4: 2}, "ACCEPT", "never was"),  # its deliveries look the same
        ({1: 2, 2: 5, 4: 2}, "RELEASE", "5 times"),
        ({1: 1, 2: 1, 4: 1}, "REJECT", "never developed"),
        ({1: 3, 2: 1, 4: 2}, "REJECT", "too often"),
    ],
)
def test_wrong_answers_are_seen_by_what_came_and_what_was_said(came, torn, said):
    answer = word("RELEASE", torn)
    found = share_groups.spoilt(Counter(came), answer, busy=(1, 4), torn=2)
    assert said in found if said else found == ""


def test_a_refused_setting_is_an_error():
    share_groups.agreed({"group": {"films": "OK"}})
    with pytest.raises(CourseError, match="films"):
        share_groups.agreed({"group": {"films": "[Error 40] InvalidConfigurationError: no"}})


def test_the_newest_state_of_each_record_of_one_group_is_told():
    def entry(group, *batches):
        names = ("firstOffset", "lastOffset", "deliveryState", "deliveryCount")
        data = {"stateBatches": [dict(zip(names, batch, strict=True)) for batch in batches]}
        return json.dumps({"key": {"data": {"groupId": group}}, "value": {"data": data}})

    gone = json.dumps({"key": {"data": {"groupId": "films"}}, "value": None})
    written = entry("films") + entry("films", (0, 1, 0, 1)) + "\n" + entry("held", (0, 0, 2, 1))
    written += entry("films", (1, 1, 4, 5)) + gone
    assert share_groups.told(written, "films") == {0: ("available", 1), 1: ("given up", 5)}
    assert share_groups.told(written, "held") == {0: ("accepted", 1)}
    assert share_groups.told("", "films") == {}


def test_each_program_that_does_not_fit_has_its_reason():
    assert share_groups.fits({"b", "d"}) == ""
    assert "order" in share_groups.fits({"a", "b", "d"})
    assert "damaged" in share_groups.fits({"d"})
    assert "transaction" in share_groups.fits({"b", "c", "d"})
    assert "slow" in share_groups.fits({"b"})
    assert "no program" in share_groups.fits({"b", "d", "x"})
