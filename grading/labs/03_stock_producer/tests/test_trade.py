"""The reference's `trade`: what it says of a failed send, and how soon it ends when it is stopped.

How soon is measured against the time for which it would have waited, so that a busy machine, where
all takes longer, is no fault.
"""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaProducer

from authoring import percent
from authoring.build import REPOSITORY
from kafkalab import Cluster, quick, wait_until

MASTER = REPOSITORY / "grading" / "labs" / "03_stock_producer" / "lab.py"
STOCK = ["IBM", [50, 10], [100, 99]]
AT_ONCE = 0.1  # of the time that it would have waited


@pytest.fixture(scope="module")
def reference() -> SimpleNamespace:
    """What the cells of tasks 2 to 6 define."""
    names: dict[str, Any] = {"__name__": "reference"}
    for cell in percent.read(MASTER.read_text("utf-8"), "lab.py").code():
        if cell.task in range(2, 7):
            exec(cell.text, names)
    return SimpleNamespace(**names)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster.start("single") as single:
        yield single


class Trade:
    """The reference at work for one stock, in a thread."""

    def __init__(self, reference: SimpleNamespace, cluster: Cluster, **own: int) -> None:
        topic = cluster.unused("prices")
        with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
            admin.create_topics({topic: {"num_partitions": 3, "replication_factor": 1}})
        cluster.wait_for_topic(topic)
        shared = quick.producer | reference.settings({"IBM"}) | own
        self.counting = reference.CountingProducer(
            KafkaProducer(bootstrap_servers=cluster.address, **shared)
        )
        self.lines: list[str] = []
        self.stop = threading.Event()
        self.pool = ThreadPoolExecutor(1)
        self.job: Future[int] = self.pool.submit(
            reference.trade, self.counting, topic, STOCK, self.stop, self.lines.append
        )

    def wait_for_line(self, word: str, after: int = 0) -> int:
        """How many lines there are when one that follows so many others has the word."""

        def said() -> int:
            assert not self.job.done(), self.lines
            return any(word in line for line in self.lines[after:]) and len(self.lines)

        return wait_until(said, timeout=60, what=f"a line with {word}")

    def end(self) -> None:
        self.stop.set()
        self.pool.shutdown()
        self.counting.producer.close(timeout=20)


@pytest.fixture
def trades(cluster: Cluster) -> Iterator[list[Trade]]:
    """Those that a test begins; they end, and the broker is well again."""
    begun: list[Trade] = []
    yield begun
    cluster.mend()
    for one in begun:
        one.end()


@pytest.mark.cluster
def test_a_failed_send_is_said_and_the_trade_goes_on(
    reference: SimpleNamespace, cluster: Cluster, trades: list[Trade]
) -> None:
    # One with numbers gives nothing up while no broker is there to give it new ones (kafka-python).
    own = {"delivery_timeout_ms": 2_000, "request_timeout_ms": 1_000, "enable_idempotence": False}
    trade = Trade(reference, cluster, **own)
    trades.append(trade)
    trade.wait_for_line(" -> ")
    cluster.stop(cluster.brokers[0])
    said, tried = trade.wait_for_line(" failed: "), trade.counting.sent
    wait_until(lambda: trade.counting.sent > tried, timeout=20, what="one more price")
    cluster.restart(cluster.brokers[0])
    trade.wait_for_line(" -> ", after=said)
    assert trade.counting.failed > 0


@pytest.mark.cluster
def test_a_stop_ends_it_at_once_while_a_send_waits(
    reference: SimpleNamespace, cluster: Cluster, trades: list[Trade]
) -> None:
    """And it waits with it, for the acknowledgement of a hundredth price."""
    limit = 60
    trade = Trade(reference, cluster, delivery_timeout_ms=limit * 1_000, request_timeout_ms=1_000)
    trades.append(trade)
    trade.wait_for_line(" -> ")
    cluster.pause(cluster.brokers[0])  # so it need not start again
    count = trade.counting

    def waits() -> bool:
        return count.sent % 100 == 0 and count.acknowledged + count.failed < count.sent

    wait_until(waits, timeout=30, what="a hundredth price without an answer")
    waited_for = count.sent
    before = time.monotonic()
    trade.stop.set()
    assert trade.job.result(timeout=limit) == waited_for  # no further price
    took = time.monotonic() - before
    assert count.acknowledged + count.failed < count.sent, "no send was waiting"
    assert took / limit < AT_ONCE, took


class Stretched(threading.Event):
    """Lets a pause last a thousand times as long."""

    def __init__(self) -> None:
        super().__init__()
        self.pause = 0.0

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.pause = 1_000 * timeout
        return super().wait(self.pause)


def test_a_stop_ends_it_at_once_in_its_pause(reference: SimpleNamespace) -> None:
    producer, stop = SimpleNamespace(send=lambda *_, **__: None), Stretched()
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(reference.trade, producer, "prices", STOCK, stop, print)
        wait_until(lambda: stop.pause, timeout=20, what="a pause")
        before = time.monotonic()
        stop.set()
        assert job.result(timeout=20) == 1
        took = time.monotonic() - before
    assert 1 <= stop.pause <= 10, "1 to 10 ms"
    assert took / stop.pause < AT_ONCE, (took, stop.pause)
