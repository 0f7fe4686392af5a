"""A bounded read: up to the end that there was when it began."""

from collections.abc import Iterator

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

from kafkalab import Cluster, WaitTimeout, clients, quick


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster.start("single") as cluster:
        with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
            admin.create_topics({"rides": {"num_partitions": 2}})
        cluster.wait_for_topic("rides")
        yield cluster


@pytest.mark.cluster
def test_reading_until_the_end_reads_what_was_there_and_ends(cluster: Cluster) -> None:
    producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
    for number in range(50):
        producer.send("rides", str(number).encode(), partition=number % 2)
    producer.flush()
    consumer = KafkaConsumer(
        "rides",
        bootstrap_servers=cluster.address,
        auto_offset_reset="earliest",
        group_id="end",
        **quick.consumer,
    )
    found = []
    for record in clients.records_until_end(consumer):
        if not found:  # comes too late for this reading
            producer.send("rides", b"late", partition=0).get(timeout=5)
        found.append(record.value)
    assert sorted(map(int, found)) == list(range(50))
    assert [record.value for record in clients.records_until_end(consumer)] == [b"late"]
    assert list(clients.records_until_end(consumer)) == []


@pytest.mark.cluster
def test_what_comes_with_the_last_records_is_left_for_the_next_reading(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, producer = (
        TopicPartition("rides", 0),
        KafkaProducer(bootstrap_servers=cluster.address, **quick.producer),
    )
    producer.send("rides", b"in time", partition=0).get(timeout=5)
    consumer = KafkaConsumer(
        bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
    )
    consumer.assign([place])
    ask = consumer.end_offsets

    def and_then_comes_one_more(places: list[TopicPartition]) -> dict[TopicPartition, int]:
        ends = ask(places)
        producer.send("rides", b"late", partition=0).get(timeout=5)
        return ends

    monkeypatch.setattr(consumer, "end_offsets", and_then_comes_one_more)
    assert list(clients.records_until_end(consumer))[-1].value == b"in time"
    monkeypatch.setattr(consumer, "end_offsets", ask)
    assert [record.value for record in clients.records_until_end(consumer)] == [b"late"]


@pytest.mark.cluster
def test_reading_assigned_partitions_from_where_they_stand(cluster: Cluster) -> None:
    place = TopicPartition("rides", 1)
    with KafkaProducer(bootstrap_servers=cluster.address, **quick.producer) as producer:
        for value in (b"last but one", b"last"):
            producer.send(place.topic, value, partition=place.partition).get(timeout=5)
    consumer = KafkaConsumer(bootstrap_servers=cluster.address, **quick.consumer)
    consumer.assign([place])
    consumer.seek_to_end(place)
    assert list(clients.records_until_end(consumer)) == []
    consumer.seek(place, consumer.position(place) - 2)
    values = [record.value for record in clients.records_until_end(consumer)]
    assert values == [b"last but one", b"last"]


@pytest.mark.cluster
def test_a_consumer_that_gets_no_partitions_is_not_waited_for_long(cluster: Cluster) -> None:
    consumer = KafkaConsumer(
        "nonsense", bootstrap_servers=cluster.address, group_id="nothing", **quick.consumer
    )
    with pytest.raises(WaitTimeout, match=r"Waited 1 s for partitions"):
        list(clients.records_until_end(consumer, timeout=1))
