"""The helpers of lesson 14: the slow service, who is overtaken, days of work, and the checks."""

import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace as Namespace

import pytest

from kafkalab.lessons import consumer_patterns
from kafkalab.lessons.consumer_patterns import Call, CardService, answers, service
from kafkalab.wait import WaitTimeout
from tests.kafkalab.drawn import words

pytestmark = pytest.mark.usefixtures("no_figure_stays")


def order(offset, key=b"ada", partition=0):
    return Namespace(partition=partition, offset=offset, key=key)


def test_an_order_is_overtaken_by_a_later_one_of_the_same_customer():
    assert service.overtaken([("ada", 0), ("bob", 1), ("ada", 2), ("bob", 3)]) == 0
    assert service.overtaken([("ada", 2), ("bob", 1), ("ada", 0), ("ada", 1), ("ada", 3)]) == 2


def test_each_seventh_order_takes_longer_so_others_overtake_it_in_a_pool():
    slow = CardService(seconds=0.005)
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
    silent = CardService(seconds=0, silent=3)
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


def test_a_day_ends_when_all_is_done_but_what_was_tried_in_vain():
    worked = []

    def work(member, on_bad):
        worked.append(member)
        if len(worked) >= 2:
            on_bad(order(6, partition=1), ValueError("broken"))

    packer = Namespace(config={"group_id": "orders"})
    days = cluster(*[{0: 10, 1: 4}] * 6)
    lags = consumer_patterns.evening(days, work, packer, lambda record, error: False)
    assert lags == {0: 0, 1: 6}
    assert worked == [packer] * 6


def test_a_day_whose_bad_record_is_dealt_with_ends_without_a_lag():
    def work(member, on_bad):
        on_bad(order(6, partition=1), ValueError("broken"))

    packer = Namespace(config={"group_id": "orders"})
    days = cluster(*[{0: 10, 1: 4}] * 8, {0: 10, 1: 10})
    lags = consumer_patterns.evening(days, work, packer, lambda record, error: True)
    assert lags == {0: 0, 1: 0}


def test_orders_go_to_all_partitions_and_a_customer_to_one():
    sent = []
    producer = Namespace(
        partitions_for=lambda topic: {0, 1, 2},
        send=lambda topic, **record: sent.append(record),
        flush=lambda timeout: None,
    )
    consumer_patterns.place_orders(producer, "orders", 48, bad=13)
    assert Counter(one["partition"] for one in sent) == {0: 16, 1: 16, 2: 16}
    assert len({(one["key"], one["partition"]) for one in sent}) == 24
    assert [one["value"] for one in sent[12:15]] == [
        b'{"order": 12}',
        b'{"order": ',
        b'{"order": 14}',
    ]


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
    assert not any("run_and_tell" in thread.name for thread in threading.enumerate())


def test_what_went_wrong_in_a_thread_is_told(monkeypatch):
    def run(stop):
        raise KeyError("in a thread")

    with pytest.raises(KeyError, match="in a thread"), consumer_patterns.threads(2, run):
        pass
    module = sys.modules["kafkalab.lessons.consumer_patterns.threads"]  # its name is a function's
    monkeypatch.setattr(module, "GRACE", 0.01)
    held = threading.Event()
    with (
        pytest.raises(TimeoutError, match="1 of 1 threads"),
        consumer_patterns.threads(1, lambda stop: held.wait(10)),
    ):
        pass
    held.set()


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

    fast, slow = CardService(), CardService()
    now = time.monotonic()
    fast._calls = [Call(0, n, b"ada", now, now + 1, "") for n in (1, 0)]
    slow._calls = [Call(0, n, b"ada", now, now + 2, "") for n in (0, 1)]
    left = consumer_patterns.models({"a pool": fast, "one": slow})
    assert words(left) == ["2", "1"]
    assert words(left.figure.axes[1]) == ["1", "0"]
