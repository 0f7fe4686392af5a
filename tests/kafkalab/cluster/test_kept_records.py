"""What lesson 08 says and has no time to show: each of these experiments waits for two outages."""

from collections.abc import Iterator

import pytest
from kafka import KafkaAdminClient, KafkaProducer

from kafkalab import Cluster, Ledger, quick, wait_until

pytestmark = pytest.mark.cluster

RECORDS = 60


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    with Cluster.start("replicated", timeout=120) as cluster:
        yield cluster


@pytest.fixture
def cluster(running: Cluster) -> Iterator[Cluster]:
    yield running
    running.mend()


def create(cluster: Cluster, name: str, layout: list[list[int]], minimum: int) -> str:
    topic = cluster.unused(name)
    configs = {"min.insync.replicas": str(minimum)}
    new = {"assignments": dict(enumerate(layout)), "configs": configs}
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: new})
    cluster.wait_for_topic(topic)
    return topic


def test_nothing_is_lost_where_the_followers_were_given_up_before_the_leader_dies(
    cluster: Cluster,
) -> None:
    """acks=1 as in the lesson, but the kill comes late: nobody is left who could lead."""
    topic = create(cluster, "late-kill", [[1, 2, 0]], minimum=1)
    producer = KafkaProducer(
        bootstrap_servers=cluster.address, acks=1, enable_idempotence=False, **quick.producer
    )
    producer.send(topic, b"before").get(timeout=10)
    for follower in (0, 2):
        cluster.pause(follower)
    cluster.wait_for_isr(topic, 1)
    ledger = Ledger()
    for number in range(RECORDS):
        ledger.sent(number, producer.send(topic, b"%d" % number))
    assert ledger.settle()["acknowledged"] == RECORDS
    cluster.kill(1)
    for follower in (0, 2):
        cluster.resume(follower)
    wait_until(
        lambda: cluster.topic(topic).partitions[0].leader is None, timeout=30, what="no leader"
    )
    assert cluster.topic(topic).partitions[0].isr == []
    cluster.restart(1)
    cluster.wait_for_isr(topic, 3)
    verdict = ledger.verdict(cluster)
    assert (len(verdict.found), verdict.lost, verdict.duplicated) == (RECORDS, [], [])


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_nothing_is_lost_where_two_of_three_brokers_end(cluster: Cluster, end: str) -> None:
    """Three copies, a minimum of two, acks=all: sending stands still and goes on, either way."""
    topic = create(cluster, f"two-{end}", [[0, 1, 2], [1, 2, 0], [2, 0, 1]] * 2, minimum=2)
    producer = KafkaProducer(
        bootstrap_servers=cluster.address, **quick.producer | {"delivery_timeout_ms": 120_000}
    )
    ledger = Ledger()

    def send(numbers: range) -> list:
        return [
            ledger.sent(number, producer.send(topic, b"%d" % number, partition=number % 6))
            for number in numbers
        ]

    send(range(RECORDS))  # some are on their way when the brokers end
    getattr(cluster, end)(0)
    getattr(cluster, end)(1)
    cluster.wait_for_brokers([2])
    late = send(range(RECORDS, 2 * RECORDS))
    cluster.wait_for_isr(topic, 1)
    assert not any(promise.is_done for promise in late)
    cluster.restart(1)
    assert ledger.settle(60)["acknowledged"] == 2 * RECORDS
    verdict = ledger.verdict(cluster)
    assert (len(verdict.found), verdict.lost, verdict.duplicated) == (2 * RECORDS, [], [])


@pytest.mark.parametrize(
    ("end", "leads"), [("stop", {1: None, 2: 0}), ("kill", {1: None, 2: None})]
)
def test_a_follower_that_was_stopped_is_eligible_and_one_that_was_killed_is_not(
    cluster: Cluster, end: str, leads: dict[int, int | None]
) -> None:
    """It was the last to go before the leader, and comes back first. Its disk has the same."""
    topics = {low: create(cluster, f"{end}-{low}", [[1, 0]], minimum=low) for low in (1, 2)}
    with KafkaProducer(bootstrap_servers=cluster.address, **quick.producer) as producer:
        for topic in topics.values():
            producer.send(topic, b"both have it").get(timeout=10)
    getattr(cluster, end)(0)
    for topic in topics.values():
        cluster.wait_for_isr(topic, 1)
    cluster.kill(1)
    cluster.restart(0)
    cluster.wait_for_brokers([0, 2])
    alone = {low: cluster.topic(topic).partitions[0] for low, topic in topics.items()}
    assert {low: partition.leader for low, partition in alone.items()} == leads, alone
    assert [cluster.log_ends(topic)[0] for topic in topics.values()] == [1, 1]
