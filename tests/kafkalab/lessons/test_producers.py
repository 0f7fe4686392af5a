"""What is put around a producer: the look into its buffers, and interceptors."""

from collections.abc import Iterator

import pytest
from kafka import KafkaAdminClient, KafkaProducer

from kafkalab import Cluster, quick
from kafkalab.lessons.producers.buffers import buffers
from kafkalab.lessons.producers.interceptors import InterceptingProducer

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def single() -> Iterator[Cluster]:
    with Cluster.start("single") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def topic(single: Cluster) -> str:
    name = single.unused("intercepted")
    wanted = {"num_partitions": 1, "replication_factor": 1}
    with KafkaAdminClient(bootstrap_servers=single.address, **quick.admin) as admin:
        admin.create_topics({name: {**wanted, "configs": {"max.message.bytes": "1000"}}})
    single.wait_for_topic(name)
    return name


class Witness:
    def __init__(self, name: bytes):
        self.name = name
        self.answers: list[tuple[object, object]] = []

    def on_send(self, record):
        return record | {"value": record["value"] + self.name}

    def on_acknowledgement(self, receipt, error):
        self.answers.append((receipt, error))


class Faulty:
    def on_send(self, record):
        raise ValueError("before")

    def on_acknowledgement(self, receipt, error):
        raise ValueError("after")


def test_what_waits_in_a_producer_is_seen_and_gone_after_the_flush(single, topic):
    producer = KafkaProducer(
        bootstrap_servers=single.address, client_id="waiting", linger_ms=5_000, **quick.producer
    )
    for _ in range(3):
        producer.send(topic, value=bytes(10))
    (buffer,) = buffers(producer, topic)
    assert (buffer.records_waiting, buffer.records_in_flight, buffer.leader) == (3, 0, 0)
    producer.flush(timeout=10)
    (buffer,) = buffers(producer, topic)
    assert (buffer.waiting, buffer.in_flight) == ([], [])


def test_interceptors_change_records_in_their_order_and_a_fault_stops_none(single, topic):
    first, second = Witness(b" first"), Witness(b" second")
    producer = KafkaProducer(
        bootstrap_servers=single.address, client_id="intercepted", **quick.producer
    )
    wrapped = InterceptingProducer(producer, first, Faulty(), second)
    receipt = wrapped.send(topic, value=b"value").get(timeout=10)
    assert receipt.serialized_value_size == len(b"value first second")
    refused = wrapped.send(topic, value=bytes(2_000))
    wrapped.flush(timeout=10)
    assert refused.failed()
    assert [error for _, error in first.answers] == [None, refused.exception]
    assert second.answers == first.answers
    assert [str(fault) for fault in wrapped.faults] == ["before", "after"] * 2
