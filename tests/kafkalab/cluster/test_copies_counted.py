"""What lessons 06 and 07 say and have no time to show: lags of thirteen partitions, the clock of a
leader, how many brokers a topic may lose, and what a broker is set to when nobody has set it.
"""

import time
from collections.abc import Iterator

import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import ConfigResource

from kafkalab import Cluster, quick, wait_until
from kafkalab.lessons import replication

pytestmark = pytest.mark.cluster

LAG_TIME = 4.0
LISTS = [[2, 0, 1], [0, 1, 2], [1, 2, 0], [2, 1, 0], [0, 2, 1], [1, 0, 2]]
DEFAULTS = {
    "auto.leader.rebalance.enable": "true",
    "broker.heartbeat.interval.ms": "2000",
    "broker.session.timeout.ms": "9000",
    "leader.imbalance.check.interval.seconds": "300",
    "min.insync.replicas": "1",
    "num.replica.fetchers": "1",
    "replica.fetch.wait.max.ms": "500",
    "replica.high.watermark.checkpoint.interval.ms": "5000",
    "replica.lag.time.max.ms": "30000",
    "replica.socket.receive.buffer.bytes": "65536",
    "replica.socket.timeout.ms": "30000",
    "unclean.leader.election.enable": "false",
}


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    settings = {"replica.lag.time.max.ms": int(LAG_TIME * 1_000)}
    with Cluster.start("replicated", settings=settings, timeout=120, gateway=True) as cluster:
        yield cluster


@pytest.fixture
def cluster(running: Cluster) -> Iterator[Cluster]:
    yield running
    running.mend()


def create(cluster: Cluster, name: str, layout: list[list[int]]) -> str:
    topic = cluster.unused(name)
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: {"assignments": dict(enumerate(layout))}})
    cluster.wait_for_topic(topic)
    return topic


def writer(cluster: Cluster) -> KafkaProducer:
    return KafkaProducer(
        bootstrap_servers=cluster.address, acks=1, enable_idempotence=False, **quick.producer
    )


def lags(cluster: Cluster, topic: str, partitions: int) -> list[int]:
    """What Kafka's old tool for comparing replicas reported: the largest distance of two copies."""
    ends = [cluster.log_ends(topic, partition).values() for partition in range(partitions)]
    return [max(one) - min(one) for one in ends]


def test_a_frozen_follower_lags_in_all_of_thirteen_partitions_and_catches_up(
    cluster: Cluster,
) -> None:
    topic = create(cluster, "thirteen", [LISTS[partition % 6] for partition in range(13)])
    led = {one.partition: one.leader for one in cluster.topic(topic).partitions}
    with writer(cluster) as producer:

        def send(partitions: list[int]) -> None:
            for partition in partitions:
                producer.send(topic, b"record", partition=partition).get(timeout=10)

        send(list(range(13)))
        wait_until(lambda: max(lags(cluster, topic, 13)) == 0, timeout=15, what="equal copies")
        followed = [partition for partition, leader in led.items() if leader != 0]
        cluster.pause(0)
        send(followed)
        frozen = lags(cluster, topic, 13)
        cluster.resume(0)
    assert len(frozen) == 13
    assert [partition for partition, lag in enumerate(frozen) if lag > 0] == followed
    wait_until(lambda: max(lags(cluster, topic, 13)) == 0, timeout=15, what="equal copies again")


def test_a_leader_that_stood_still_too_long_leads_again_before_it_is_broken(
    cluster: Cluster,
) -> None:
    topic = create(cluster, "long-frozen", [[0, 1, 2], [1, 0, 2]])
    cluster.pause(0)
    wait_until(
        lambda: cluster.topic(topic).partitions[0].leader == 1, timeout=15, what="another leader"
    )
    cluster.resume(0)
    found = replication.mended(cluster, topic)
    assert [one.leader for one in found.partitions] == [0, 1]
    assert all(sorted(one.isr) == [0, 1, 2] for one in found.partitions)


def test_a_follower_that_lives_and_gets_nothing_leaves_after_the_lag_time(cluster: Cluster) -> None:
    """The clock of the leader, not that of the controller: nobody is fenced, and idle topics keep
    their in-sync replicas."""
    if not cluster.gateway.covers_nodes:
        pytest.skip("what brokers say to each other does not pass the gateway of this engine")
    idle, busy = create(cluster, "idle", [[1, 2, 0]]), create(cluster, "busy", [[1, 2, 0]])
    cluster.wait_for_isr(busy, 3)
    with writer(cluster) as producer:
        producer.send(busy, b"before").get(timeout=10)
        wait_until(lambda: cluster.copies(busy).equal, timeout=10, what="equal copies")
        cluster.gateway.cut(1, api="Fetch", client_id="broker-0-fetcher-0", between="nodes")
        began = time.monotonic()
        producer.send(busy, b"behind").get(timeout=10)
    cluster.wait_for_isr(busy, 2)
    assert time.monotonic() - began > LAG_TIME - 1  # it fetched for the last time just before
    assert len(cluster.topic(idle).partitions[0].isr) == 3
    cluster.gateway.heal(1)
    cluster.wait_for_isr(busy, 3)


def test_of_three_copies_two_may_go_of_two_one_of_one_none(cluster: Cluster) -> None:
    topics = {copies: create(cluster, f"of-{copies}", [[0, 1, 2][:copies]]) for copies in (1, 2, 3)}
    with KafkaProducer(bootstrap_servers=cluster.address, **quick.producer) as producer:
        for topic in topics.values():
            for number in range(10):
                producer.send(topic, b"%d" % number).get(timeout=10)

    def leaders() -> dict[int, int | None]:
        return {
            copies: cluster.topic(topic).partitions[0].leader for copies, topic in topics.items()
        }

    cluster.kill(0)
    cluster.wait_for_isr(topics[3], 2)
    assert leaders() == {1: None, 2: 1, 3: 1}
    cluster.stop(1)
    cluster.wait_for_isr(topics[3], 1)
    assert leaders() == {1: None, 2: None, 3: 2}
    assert cluster.topic(topics[3]).records == 10


def test_what_a_broker_is_set_to_when_nobody_has_set_it(cluster: Cluster) -> None:
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        told = admin.describe_configs(
            [ConfigResource("BROKER", "0")], include_synonyms=True, config_filter="all"
        )
    (settings,) = [one for kind in told.values() for one in kind.values()]
    defaults = {
        name: [s["value"] for s in settings[name]["synonyms"] if s["source"] == "DEFAULT_CONFIG"]
        for name in DEFAULTS
    }
    assert defaults == {name: [value] for name, value in DEFAULTS.items()}
