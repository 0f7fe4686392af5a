"""What lesson idempotence draws, and what it says of brokers that freeze and of Java's producer."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from kafka import KafkaAdminClient, KafkaConsumer

from benchmarks import duplicates
from kafkalab import Cluster, clients, quick
from kafkalab.lessons import idempotence
from kafkalab.lessons.topics import safe_topic


def test_what_stands_behind_a_later_one_is_overtaken() -> None:
    assert idempotence.overtaken([4, 3, 2, 1, 0]) == [3, 2, 1, 0]
    assert idempotence.overtaken([1, 2, 0, 3]) == [0]
    assert idempotence.overtaken([0, 1, 2]) == []


def test_the_first_of_each_ride_in_the_order_of_the_log() -> None:
    problem = idempotence.first_of_each([3, 1, 3, 0, 1])
    assert problem([3, 1, 0]) == ""
    assert "order" in problem([0, 1, 3])
    assert "twice" in problem([3, 1, 3, 0, 1])
    assert "not the rides" in problem([3, 1])


def test_each_row_has_the_numbers_of_its_log() -> None:
    ax = idempotence.order({"off": [1, 0], "on": [0, 1]})
    assert [text.get_text().strip() for text in ax.texts] == ["1", "0", "0", "1"]
    (legend,) = ax.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "no later ride before it",
        "ride behind a later one",
    ]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    settings = duplicates.SETTINGS
    with Cluster.start("replicated", settings=settings, gateway=True, beside=True) as cluster:
        yield cluster


@pytest.mark.cluster
@pytest.mark.parametrize("still", [1, 2])
def test_frozen_brokers_double_what_they_lead_with_acks_1(cluster: Cluster, still: int) -> None:
    """C71"""
    one = duplicates.Round(cluster, duplicates.PARTITIONS)
    told = duplicates.frozen(one, still, acks=1, enable_idempotence=False)
    doubled = duplicates.BURST * still // 3
    assert told == f"600 acknowledged, {doubled} doubled, 0 lost: what got no answer"


@pytest.mark.cluster
@pytest.mark.parametrize("still", [1, 2])
def test_frozen_brokers_double_nothing_with_idempotence(cluster: Cluster, still: int) -> None:
    """C74"""
    told = duplicates.frozen(duplicates.Round(cluster, duplicates.PARTITIONS), still)
    assert told == "600 acknowledged, 0 doubled, 0 lost: none"


@pytest.mark.cluster
@pytest.mark.parametrize("idempotent", [False, True])
def test_a_broken_connection_turns_the_order_round_with_java_too(
    cluster: Cluster, idempotent: bool
) -> None:
    topic = cluster.unused("java")
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: {"num_partitions": 1, "replication_factor": 3}})
    cluster.wait_for_topic(topic)
    settings = [f"client.id={topic}", f"enable.idempotence={str(idempotent).lower()}"]
    settings += ["batch.size=0", "linger.ms=0"]
    where = ["--bootstrap-server", "{bootstrap}", "--topic", topic]
    options = [word for setting in settings for word in ("--command-property", setting)]
    lines = "".join(f"{number}\n" for number in range(40))
    cluster.gateway.delay(9_000, api="Produce", client_id=topic)
    with ThreadPoolExecutor() as pool:
        running = pool.submit(cluster.tool, "kafka-console-producer", *where, *options, stdin=lines)
        cluster.gateway.wait_for_request("Produce", client_id=topic, count=4, timeout=20)
        cluster.gateway.heal()
        cluster.gateway.reset(client_id=topic)
        assert running.result().returncode == 0, running.result()
    with KafkaConsumer(
        topic, bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
    ) as consumer:
        log = [int(record.value) for record in clients.records_until_end(consumer)]
    assert sorted(log) == list(range(40))
    assert (idempotence.overtaken(log) == []) == idempotent


@pytest.mark.cluster
def test_a_courier_delivers_what_it_is_given_with_the_numbers_it_is_given(
    cluster: Cluster,
) -> None:
    topic = safe_topic(cluster, "numbers")
    plain = safe_topic(cluster, "plain")
    courier = idempotence.Courier(cluster)
    assert courier.deliver(topic, 0, 1, 2, sequence=0) == "offset 0"
    assert courier.deliver(topic, 4, sequence=4) == "OUT_OF_ORDER_SEQUENCE_NUMBER"
    assert courier.deliver(topic, 3, sequence=3) == "offset 3"
    assert courier.deliver(topic, 3, sequence=3) == "offset 3", (
        "known: the offset of the first copy"
    )
    assert [batch.base_sequence for batch in cluster.batches(topic, 0)] == [0, 3]
    assert [courier.deliver(plain, 4), courier.deliver(plain, 4)] == ["offset 0", "offset 1"]
    assert {batch.producer_id for batch in cluster.batches(plain, 0)} == {-1}
