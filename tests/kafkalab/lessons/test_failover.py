"""The drawings of lesson 07, and what is said of wrong answers to its exercises."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from kafkalab.errors import CourseError
from kafkalab.lessons import failover

pytestmark = pytest.mark.usefixtures("no_figure_stays")


@dataclass(frozen=True)
class Written:
    """What the drawing needs of a batch."""

    base_offset: int
    last_offset: int
    leader_epoch: int


def test_offsets_have_the_shade_of_their_epoch_in_every_row() -> None:
    logs = {
        "apart": [Written(0, 4, 1), Written(5, 7, 2)],
        "leader": [Written(0, 4, 1), Written(5, 30, 3)],
    }
    ax = failover.epochs(logs, start=3)
    boxes = [text.get_text() for text in ax.texts]
    assert boxes == ["apart", *"34567", "leader", *map(str, range(3, 15)), "…"]
    shades = [patch.get_facecolor() for patch in ax.patches]
    assert len(set(shades[:2] + shades[5:7])) == 1  # epoch 1 in both rows
    assert shades[2] != shades[7]
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == [f"written in epoch {epoch}" for epoch in (1, 2, 3)]


def looks(during: str, began: float, *seen: tuple[float, int | None, int]) -> list[dict]:
    return [
        {"during": during, "began": began, "seconds": at, "leader": leader, "in_sync": in_sync}
        for at, leader, in_sync in seen
    ]


def test_a_strip_shows_who_leads_and_how_many_are_in_sync() -> None:
    stop = looks("stop", 10.0, (0.0, 0, 3), (0.1, None, 3), (0.2, 1, 2), (0.9, 1, 2))
    back = looks("restart", 20.0, (0.0, 1, 2), (2.0, 1, 3))
    ax = failover.leader_and_in_sync(pd.DataFrame([*back, *stop]), session=3)
    left, right = ax.get_figure().axes  # type: ignore[union-attr]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["stop", "restart"]
    assert [text.get_text() for text in ax.texts] == [
        "moved after 0.2 s",
        "stays",
        " session timeout",
    ]
    led, in_sync = failover.drawn(left), failover.drawn(right)
    assert [len(strip) for strip in led] == [3, 2]  # white where nobody led
    assert led[0][0] != led[0][1] == led[0][2] == led[1][0] == led[1][1]
    assert in_sync[0][0] == in_sync[0][1] == in_sync[1][1] != in_sync[0][2] == in_sync[1][0]
    low, high = ax.get_ylim()
    assert low > high  # read from above


def test_without_a_look_there_is_nothing_to_draw() -> None:
    columns = ["during", "began", "seconds", "leader", "in_sync"]
    ax = failover.leader_and_in_sync(pd.DataFrame(columns=columns), session=3)
    assert ax.texts[0].get_text() == "nothing to draw"


class Logging:
    def logs(self, node: int | str, lines: int) -> str:
        return "one cut a\ntwo cut b\nthree\n"


def test_the_newest_line_with_all_words_is_found() -> None:
    assert failover.last_line(Logging(), 0, "cut") == "two cut b"  # type: ignore[arg-type]
    assert failover.last_line(Logging(), 0, "cut", "a") == "one cut a"  # type: ignore[arg-type]
    with pytest.raises(CourseError, match="No line in the log of 0 has cut, three"):
        failover.last_line(Logging(), 0, "cut", "three")  # type: ignore[arg-type]


class Fetching:
    def logs(self, node: int | str, lines: int) -> str:
        state = "InitialFetchState(Some(id),BrokerEndPoint[id={}, host=h, port=1],{},{})"
        return "\n".join(
            f"Added fetcher to broker 1 for partitions HashMap({maps})"
            for maps in (
                f"orders-0 -> {state.format(1, 0, 0)}",
                f"other-orders-0 -> {state.format(1, 2, 9)}, orders-0 -> {state.format(2, 1, 13)}",
                f"orders-1 -> {state.format(1, 2, 7)}",
            )
        )


def test_a_follower_says_from_where_it_fetches() -> None:
    assert failover.asked_first(Fetching(), 0, "orders-0") == 13  # type: ignore[arg-type]
    assert failover.asked_first(Fetching(), 0, "orders-1") == 7  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "why"), [(34, ""), (41, "epoch 5"), (20, "both"), (50, "same epochs")]
)
def test_where_a_reader_cuts(said: int, why: str) -> None:
    told = failover.not_the_cut(said)
    assert bool(told) == bool(why)
    assert why in told


@pytest.mark.parametrize(
    ("said", "why"), [(1, ""), (4, "all five"), (3, "write"), (2, "copies are certain")]
)
def test_how_many_a_reader_lets_burn(said: int, why: str) -> None:
    told = failover.not_how_many(said)
    assert bool(told) == bool(why)
    assert why in told


def test_ten_records_more_are_counted_from_before_they_were_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where the disks are read so slowly that all ten are there by then."""
    monkeypatch.setattr(failover, "preferred_lead", lambda *asked: None)
    sent: list[int] = []
    cluster: Any = SimpleNamespace(
        log_ends=lambda topic: {0: len(sent), 1: len(sent)},
        copies=lambda topic, noted: SimpleNamespace(equal=True, ends={0: len(sent), 1: len(sent)}),
    )
    failover.start_over(cluster, "orders", lambda: sent.append(1))
    assert len(sent) == 10
