"""The time of a send, from frames; what is said of the exercises."""

from types import SimpleNamespace as Namespace

import pytest

from kafkalab.lessons import producers
from tests.kafkalab.drawn import words

pytestmark = pytest.mark.usefixtures("no_figure_stays")

CONFIG = {
    "max_block_ms": 5_000,
    "delivery_timeout_ms": 3_000,
    "linger_ms": 200,
    "request_timeout_ms": 700,
    "retry_backoff_ms": 300,
}


def frame(api, requested, ms=None, error=None, broker=0):
    answered = None if ms is None else requested + ms / 1000
    return Namespace(
        api=api, requested=requested, answered=answered, ms=ms, error=error, broker=broker
    )


FIRST = [
    frame("Metadata", 9.99, 5),  # of the bootstrap
    frame("InitProducerId", 10.01, 10),
    frame("Metadata", 10.13, 5, broker=1),
    frame("Produce", 10.14, 20, broker=2),
    frame("Produce", 10.2, 20),  # of the second send
]


def test_the_waits_of_a_first_send_are_all_of_its_time():
    found = producers.waits(FIRST, 10.0, 10.165)
    rounded = {what: round(ms) for what, ms in found.items()}
    assert rounded == {producers.ID: 20, producers.LEADERS: 115, producers.RECORD: 30}


def test_what_is_answered_first_comes_first():
    frames = [frame("Metadata", 10.01, 5), frame("InitProducerId", 10.02, 20)]
    found = producers.waits(frames, 10.0, 10.1)
    assert list(found) == [producers.LEADERS, producers.ID, producers.RECORD]
    assert [round(ms) for ms in found.values()] == [15, 25, 60]


def test_each_request_of_the_send_has_its_row_before_what_it_was_for():
    ax = producers.on_the_wire(FIRST, 10.0, 10.165)
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "InitProducerId, broker 0",
        "Metadata, broker 1",
        "Produce, broker 2",
    ]
    shown = words(ax)
    assert "10 ms" in shown
    assert "a pause: the last answer is 135 ms old" in shown
    assert "acknowledged " in shown
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        f"{producers.ID}: 20 ms",
        f"{producers.LEADERS}: 115 ms",
        f"{producers.RECORD}: 30 ms",
    ]


def test_a_send_without_an_answer_is_cut_up_by_its_settings():
    frames = [
        frame("Produce", 0.5, 1),  # before the call
        frame("Metadata", 1.0, 400),
        frame("Produce", 1.6),
        frame("Metadata", 2.3),
        frame("Produce", 2.6),
        frame("ApiVersions", 3.3),
    ]
    found = producers.spans(CONFIG, frames, called=1.0, returned=1.4, decided=3.5)
    assert [(part.setting, round(part.ms)) for part in found] == [
        ("max_block_ms 5,000", 400),
        ("delivery_timeout_ms 3,000", 2_100),
        ("linger_ms 200", 200),
        ("request_timeout_ms 700", 700),
        ("retry_backoff_ms 300", 300),
        ("request_timeout_ms 700", 700),
        ("retry_backoff_ms 300", 200),
    ]
    shown = words(producers.clock(found))
    assert "2,100 ms, until the future fails" in shown
    assert "700 ms, sent, time 2: no answer" in shown


def test_a_record_that_never_left_has_no_attempts():
    found = producers.spans(CONFIG, [], called=1.0, returned=1.4, decided=3.5)
    assert len(found) == 2


@pytest.mark.parametrize(
    ("ms", "said"),
    [(8_000, ""), (3_000, "begins where"), (8_900, "within"), (5_000, "two settings")],
)
def test_the_longest_time(ms, said):
    problem = producers.answers.longest(CONFIG)(ms)
    assert said in problem
    assert bool(said) == bool(problem)


def test_the_places_of_failed_futures():
    futures = [Namespace(failed=lambda fails=fails: fails) for fails in (False, True, False, True)]
    problem = producers.answers.failed(futures)
    assert problem([1, 3]) == ""
    assert "place 0" in problem([0, 1, 3])
    assert "missing" in problem([1])
