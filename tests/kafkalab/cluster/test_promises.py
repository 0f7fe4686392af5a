"""What follows from lesson 08 and stands on no page: who keeps which promise, on six partitions."""

from collections.abc import Iterable, Iterator

import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import ConfigResource
from kafka.errors import KafkaError, KafkaTimeoutError, NotEnoughReplicasError

from kafkalab import Cluster, Ledger, quick, wait_until

pytestmark = pytest.mark.cluster

RECORDS = 60
MANY = 60  # partitions that keep a new leader busy for a moment
ONE = [[0], [1], [2]] * 2
TWO = [[0, 1], [1, 2], [2, 0]] * 2
THREE = [[0, 1, 2], [1, 2, 0], [2, 0, 1]] * 2


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    settings = {"min.insync.replicas": 2}
    with Cluster.start("replicated", settings=settings, timeout=120) as cluster:
        yield cluster


@pytest.fixture
def cluster(running: Cluster) -> Iterator[Cluster]:
    yield running
    running.mend()


def create(cluster: Cluster, name: str, layout: list[list[int]], minimum: int | None = 1) -> str:
    """A topic whose partition n lies on the brokers layout[n]; the first of them leads."""
    topic = cluster.unused(name)
    configs = {} if minimum is None else {"min.insync.replicas": str(minimum)}
    new = {"assignments": dict(enumerate(layout)), "configs": configs}
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: new})
    cluster.wait_for_topic(topic)
    return topic


def a_producer(cluster: Cluster, **settings: object) -> KafkaProducer:
    usual = quick.producer | {"enable_idempotence": False, "delivery_timeout_ms": 120_000}
    return KafkaProducer(bootstrap_servers=cluster.address, **usual | settings)


def send(
    ledger: Ledger, producer: KafkaProducer, topic: str, numbers: Iterable[int] = range(RECORDS)
) -> list:
    """One after the other to the six partitions in turn; the promises."""
    return [
        ledger.sent(number, producer.send(topic, b"%d" % number, partition=number % 6))
        for number in numbers
    ]


def refusal(producer: KafkaProducer, topic: str, partition: int = 0) -> str | None:
    """The name of the error of one record, or None."""
    try:
        producer.send(topic, b"?", partition=partition).get(timeout=20)
    except KafkaError as error:
        return type(error).__name__
    return None


def leaderless(cluster: Cluster, topic: str) -> list[int]:
    return [one.partition for one in cluster.topic(topic).partitions if one.leader is None]


def test_what_a_leader_never_read_is_lost_where_nobody_waited_for_an_answer(
    cluster: Cluster,
) -> None:
    """acks=0 with one copy and with two, acks=1 with one; the leader of a third is frozen."""
    runs = {"acks-0-one": (0, ONE), "acks-0-two": (0, TWO), "acks-1-one": (1, ONE)}
    topics = {name: create(cluster, name, layout) for name, (_, layout) in runs.items()}
    producers = {acks: a_producer(cluster, acks=acks) for acks in (0, 1)}
    for topic in topics.values():
        for partition in range(6):  # all leaders are in office, and the connections stand
            for acks in (1, 0):
                answer = producers[acks].send(topic, b"hello", partition=partition)
                offset = answer.get(timeout=20).offset
            assert offset == 0, "acks=0 was told an offset"  # it is at 1
    ledgers = {name: Ledger() for name in runs}
    cluster.pause(0)
    promises = {
        name: send(ledgers[name], producers[acks], topics[name]) for name, (acks, _) in runs.items()
    }
    for name, sent in promises.items():
        for number, promise in enumerate(sent):
            if "acks-0" in name or number % 3:
                promise.get(timeout=20)
    assert not any(promise.is_done for promise in promises["acks-1-one"][::3])
    cluster.kill(0)
    cluster.wait_for_leader(topics["acks-0-two"], 0, among=[1, 2])
    alone = topics["acks-1-one"]
    wait_until(lambda: leaderless(cluster, alone) == [0, 3], timeout=30, what="no leader")
    gone = [one for one in cluster.topic(alone).partitions if one.leader is None]
    assert [one.isr for one in gone] == [[], []]
    assert [one.elr for one in gone] == [[0], [0]]

    cluster.restart(0)
    for topic in topics.values():
        for partition in range(6):
            cluster.wait_for_leader(topic, partition)
    verdicts = {name: ledger.verdict(cluster) for name, ledger in ledgers.items()}
    lost = {
        name: {one.partition: one.lost for one in verdict.partitions if one.lost}
        for name, verdict in verdicts.items()
    }
    third = {0: RECORDS // 6, 3: RECORDS // 6}
    assert lost == {"acks-0-one": third, "acks-0-two": third, "acks-1-one": {}}
    assert all(len(verdict.acknowledged) == RECORDS for verdict in verdicts.values())


def test_of_two_copies_the_one_that_went_last_must_come_back(cluster: Cluster) -> None:
    topic = create(cluster, "two-down", TWO)
    cluster.stop(2)
    cluster.stop(1)
    wait_until(lambda: leaderless(cluster, topic) == [1, 4], timeout=20, what="no leader")
    cluster.restart(2)  # it went first
    cluster.wait_for_brokers([0, 2])
    assert leaderless(cluster, topic) == [1, 4]
    cluster.restart(1)
    wait_until(lambda: not leaderless(cluster, topic), timeout=20, what="all leaders")


def test_a_minimum_of_two_stops_two_copies_and_not_three(cluster: Cluster) -> None:
    """Without one broker; with two copies all is accepted when it is back."""
    pair, triple = create(cluster, "pair", TWO, 2), create(cluster, "triple", THREE, 2)
    producer, once = a_producer(cluster), a_producer(cluster, retries=0)
    ledgers = {pair: Ledger(), triple: Ledger()}
    cluster.kill(2)
    cluster.wait_for_brokers([0, 1])
    promises = {topic: send(ledger, producer, topic) for topic, ledger in ledgers.items()}
    for promise in [*promises[triple], *promises[pair][::3]]:  # of the pair partitions 0 and 3
        promise.get(timeout=30)
    refused = {partition: refusal(once, pair, partition) for partition in range(6)}
    named = "NotEnoughReplicasError"
    assert refused == {0: None, 1: named, 2: named, 3: None, 4: named, 5: named}
    assert sum(promise.is_done for promise in promises[pair]) == RECORDS // 3
    cluster.restart(2)
    for topic, ledger in ledgers.items():
        assert ledger.settle(60)["acknowledged"] == RECORDS, topic
        verdict = ledger.verdict(cluster)
        assert len(verdict.found) == RECORDS, verdict
        assert not verdict.lost, verdict
        assert not verdict.duplicated, verdict


def test_a_refusal_is_told_at_once_or_hidden_until_the_time_is_up(cluster: Cluster) -> None:
    topic = create(cluster, "sure", [[0, 1, 2]], 3)
    cluster.stop(2)
    cluster.wait_for_isr(topic, 2)
    with pytest.raises(NotEnoughReplicasError):
        a_producer(cluster, retries=0).send(topic, b"?").get(timeout=20)
    limits = {"delivery_timeout_ms": 2_000, "request_timeout_ms": 1_000, "retry_backoff_ms": 500}
    with pytest.raises(KafkaTimeoutError):
        a_producer(cluster, **limits).send(topic, b"?").get(timeout=20)
    assert cluster.log_ends(topic)[0] == 0


def test_what_comes_while_a_dead_follower_counts_is_neither_taken_nor_refused(
    cluster: Cluster,
) -> None:
    """The high watermark of a partition below its minimum stands still, and so does the answer. It
    keeps back the answers to all that came in the same request."""
    strict, loose = (create(cluster, f"while-dead-{low}", [[1, 0]], low) for low in (2, 1))
    # With a linger both go in one request. A second one would not even be read meanwhile: a broker
    # takes the requests of a connection one by one.
    limits = {"retries": 0, "request_timeout_ms": 60_000, "linger_ms": 300}
    with a_producer(cluster, **limits) as producer:
        for topic in (strict, loose):
            producer.send(topic, b"before").get(timeout=20)
        cluster.kill(0)
        promises = [producer.send(topic, b"?") for topic in (strict, loose)]
        cluster.wait_for_isr(strict, 1)
        wait_until(
            lambda: cluster.topic(loose).partitions[0].end_offset == 2,
            timeout=20,
            what="a record that all in sync have, which is one",
        )
        assert refusal(a_producer(cluster, retries=0), strict) == "NotEnoughReplicasError"
        assert refusal(a_producer(cluster, retries=0), loose) is None
        assert [promise.is_done for promise in promises] == [False, False]
        assert cluster.log_ends(strict)[1] == 2
        assert cluster.topic(strict).partitions[0].end_offset == 1
        cluster.restart(0)
        assert [promise.get(timeout=30).offset for promise in promises] == [1, 1]


def test_a_leader_that_tells_of_fewer_in_sync_acts_on_it_when_the_wait_ends(
    cluster: Cluster,
) -> None:
    """It has led nothing of the rest so far, and takes all of that over in the same moment."""
    rest = create(cluster, "rest", [[0, 1]] * MANY)
    strict = create(cluster, "at-once", [[1, 0]], minimum=2)
    with a_producer(cluster, retries=0) as producer:
        producer.send(strict, b"before").get(timeout=20)
        cluster.wait_for_isr(rest, 2)
        cluster.kill(0)
        cluster.wait_for_isr(strict, 1)
        assert refusal(producer, strict) == "NotEnoughReplicasError"
    assert cluster.log_ends(strict)[1] == 1


def test_a_record_that_nobody_sees_is_seen_when_the_minimum_is_lowered(cluster: Cluster) -> None:
    topic = create(cluster, "lowered", [[0, 1, 2]], 3)
    cluster.stop(2)
    cluster.wait_for_isr(topic, 2)
    careless, careful = a_producer(cluster, acks=1), a_producer(cluster, retries=0)
    assert careless.send(topic, b"who sees me?").get(timeout=20).offset == 0
    assert cluster.topic(topic).partitions[0].end_offset == 0
    lower = ConfigResource("TOPIC", topic, configs={"min.insync.replicas": "2"})
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.alter_configs([lower])
    wait_until(
        lambda: cluster.topic(topic).configs["min.insync.replicas"].value == "2",
        timeout=20,
        what="the new minimum",
    )
    wait_until(lambda: refusal(careful, topic) is None, timeout=20, what="an accepted record")
    assert cluster.topic(topic).partitions[0].end_offset == 2


def test_a_minimum_is_never_more_than_the_copies(cluster: Cluster) -> None:
    """It comes from the controller's file, and is a dynamic default of all brokers."""
    default = cluster.broker_configs(0)["min.insync.replicas"]
    assert default.value == "2", default
    assert default.source == "DYNAMIC_DEFAULT_BROKER_CONFIG", default
    topic = create(cluster, "single", [[0]], minimum=None)
    assert cluster.topic(topic).configs["min.insync.replicas"].value == "2"
    assert refusal(a_producer(cluster, retries=0), topic) is None
