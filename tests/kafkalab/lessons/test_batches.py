"""The look into the buffers of a producer."""

import pytest
from kafka import KafkaAdminClient, KafkaProducer

from kafkalab import Cluster, quick
from kafkalab.lessons.batches.buffers import buffers

pytestmark = pytest.mark.cluster


def test_what_waits_in_a_producer_is_seen_and_gone_after_the_flush():
    with Cluster.start("single") as single:
        with KafkaAdminClient(bootstrap_servers=single.address, **quick.admin) as admin:
            admin.create_topics({"waiting": {"num_partitions": 1, "replication_factor": 1}})
        single.wait_for_topic("waiting")
        _sees_what_waits(single, "waiting")


def _sees_what_waits(single: Cluster, topic: str) -> None:
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
