"""The helpers of lesson 14: the slow service, who is overtaken, days of work, and the checks."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace as Namespace

import pytest

from kafkalab.lessons import consumer_patterns
from kafkalab.lessons.consumer_patterns import Call, Service, answers, service
from kafkalab.wait import WaitTimeout
from tests.kafkalab.drawn import words

pytestmark = pytest.mark.usefixtures("no_figure_stays")


def order(offset, key=b"ada", partition=0):
    return Namespace(partition=partition, offset=offset, key=key)


def test_an_order_is_overtaken_by_a_later_one_of_the_same_customer():
    assert service.overtaken([("ada", 0), ("bob", 1), ("ada", 2), ("bob", 3)]) == 0
    assert service.overtaken([("ada", 2), ("bob", 1), ("ada", 0), ("ada", 1), ("ada", 3)]) == 2


def test_each_seventh_order_takes_longer_so_others_overtake_it_in_a_pool():
    slow = Service(seconds=0.005)
    with ThreadPoolExecutor(4) as pool:
        for offset in range(8):
            pool.submit(slow.call, order(offset))
    took = {call.offset: call.ended - call.began for call in slow.calls}
    assert all(took[late] >= 0.03 for late in (0, 7))
    assert all(took[quick] >= 0.005 for quick in range(1, 7))
    assert slow.overtaken >= 1
    assert 0 < slow.rate < 8 / 0.03


def test_a_silent_service_answers_all_but_one(monkeypatch):
    monkeypatch.setattr(service, "SILENCE", 0.01)
    silent = Service(seconds=0, silent=3)
    silent.call_all([order(offset) for offset in range(5)])
    assert [call.offset for call in silent.calls] == [0, 1, 2, 4]
    silent.wait_for(4, timeout=1)
    with pytest.raises(WaitTimeout, match="5 answers"):
        silent.wait_for(5, timeout=0.05)


def cluster(*standings):
    """At each look another committed offset; ten records in each of two partitions."""
    looks = iter(standings)
    partitions = [Namespace(partition=number, end_offset=10) for number in (0, 1)]
    return Namespace(
        topic=lambda _: Namespace(partitions=partitions),
        group=lambda _: Namespace(
            offsets={("orders", number): done for number, done in next(looks).items()}
        ),
    )


def test_a_partition_without_a_commit_has_all_of_it_to_go():
    assert consumer_patterns.lags(cluster({0: 4}), "orders") == {0: 6, 1: 10}


def test_a_day_ends_when_all_is_done_but_what_is_stuck():
    stuck, worked = [], []

    def work():
        worked.append(1)
        if len(worked) == 2:
            stuck.append(1)

    days = cluster({0: 10, 1: 4}, {0: 10, 1: 4}, {})
    assert consumer_patterns.evening(work, days, "orders", but=stuck) == {0: 0, 1: 6}
    assert len(worked) == 2


def test_threads_end_with_their_block_whatever_ends_it():
    ended = []

    def run(name, stop):
        assert stop.wait(10)
        ended.append(name)

    with (
        pytest.raises(ValueError, match="broken"),
        consumer_patterns.threads(3, run, "ada"),
    ):
        raise ValueError("broken")
    assert ended == ["ada"] * 3
    assert threading.active_count() < 50


def test_only_the_end_without_a_gap_may_be_committed():
    def right(received, done):
        return next((offset for offset in received if offset not in done), received[-1] + 1)

    assert consumer_patterns.gap_free(right) == ""
    assert "all but 3 are done" in consumer_patterns.gap_free(lambda _, done: max(done) + 1)
    assert "all are done" in consumer_patterns.gap_free(
        lambda received, done: min(set(received) - done, default=received[-1])
    )


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (["rush"] * 12 + ["normal"] * 12, ""),
        (["rush"] * 4 + ["normal"] * 12 + ["rush"] * 8, "a normal order came after 4 rush orders."),
        (["rush"] * 12, "12 orders never came: is a partition paused for good?"),
    ],
)
def test_rush_orders_come_first_and_then_the_others(monkeypatch, kinds, said):
    monkeypatch.setattr(answers, "served", lambda *_: kinds)
    assert consumer_patterns.rush_first(Namespace())(None) == said


def test_the_charts_name_days_and_numbers():
    evenings = [{0: 0, 1: 0, 2: 0}, {0: 0, 1: 6, 2: 0}, {0: 0, 1: 0, 2: 0}]
    ax = consumer_patterns.lag_by_day(evenings, changed=3, what="dead letter topic")
    assert words(ax) == ["dead letter topic"]
    assert [line.get_ydata().tolist() for line in ax.lines[:3]] == [[0, 0, 0], [0, 6, 0], [0, 0, 0]]

    fast, slow = Service(), Service()
    now = time.monotonic()
    fast._calls = [Call(0, n, b"ada", now, now + 1, "") for n in (1, 0)]
    slow._calls = [Call(0, n, b"ada", now, now + 2, "") for n in (0, 1)]
    left = consumer_patterns.models({"a pool": fast, "one": slow})
    assert words(left) == ["2", "1"]
    assert words(left.figure.axes[1]) == ["1", "0"]
