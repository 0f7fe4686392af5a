"""A group that never forms, a consumer without brokers, and a fault that misses its moment."""

import time

import pytest
from kafka import KafkaAdminClient, KafkaProducer

from delivery import Run
from kafkalab import Cluster, WaitTimeout, quick, wait_until

pytestmark = pytest.mark.cluster


def test_a_group_needs_an_offsets_topic_that_one_broker_can_hold(tmp_path):
    """The quietest failure of all: with a factor of 3 on one broker nobody reads, and why?"""
    setting = {"offsets.topic.replication.factor": 3}
    with (
        Cluster.start("single", settings=setting, beside=True) as single,
        Run(single, tmp_path / "run", topic="t") as run,
    ):
        with KafkaAdminClient(bootstrap_servers=single.address, **quick.admin) as admin:
            admin.create_topics(["t"])
        single.wait_for_topic("t")
        consumer = run.consumer(auto_offset_reset="earliest")
        assert run.producer().wait() == 0
        with pytest.raises(WaitTimeout):
            consumer.wait_for("^assigned", timeout=3)

        assert consumer.status is None, "no exception ends it"
        assert consumer.payload == []
        assert single.topic("t").records == 100


def test_a_consumer_outlives_an_outage(tmp_path):
    with (
        Cluster.start("single", beside=True) as single,
        Run(single, tmp_path / "run", topic="t") as run,
    ):
        with KafkaAdminClient(bootstrap_servers=single.address, **quick.admin) as admin:
            admin.create_topics(["t"])
        single.wait_for_topic("t")
        consumer = run.consumer(poll_period=200)
        consumer.wait_for("^nothing left")
        single.kill(0)
        consumer.wait_for("^warning from")
        single.restart(0)
        assert run.producer(num_records_per_roll=10).wait() == 0
        assert run.quit() == [0]
        assert len(consumer.payload) == 10


def test_a_linger_that_outlasts_a_freeze_doubles_nothing(cluster, create):
    """The trap of the fault: the request has to be under way while the broker stands still."""
    topics = {linger: create(f"linger-{linger}") for linger in (0, 3_500)}
    settings = {"acks": 1, "enable_idempotence": False, "request_timeout_ms": 2_000}
    settings["max_in_flight_requests_per_connection"] = 1_000  # none waits for an answer
    producers = {
        linger: KafkaProducer(
            bootstrap_servers=cluster.address,
            client_id=name,
            linger_ms=linger,
            **quick.producer | settings,
        )
        for linger, name in topics.items()
    }
    for linger, producer in producers.items():
        for partition in range(6):
            producer.send(topics[linger], b"warm-up", partition=partition)
        producer.flush(10)
    views = {linger: cluster.topic(name).partitions for linger, name in topics.items()}
    frozen = views[0][0].leader
    cluster.pause(frozen)
    began = time.monotonic()
    for number in range(60):
        for linger, producer in producers.items():
            producer.send(topics[linger], b"x", partition=number % 6)
    # Longer than a request may take, much shorter than the session of a broker.
    wait_until(lambda: time.monotonic() - began > 3, timeout=9, what="three seconds")
    cluster.resume(frozen)
    for producer in producers.values():
        producer.flush(20)

    doubled = {
        linger: {view.partition: view.end_offset - 11 for view in cluster.topic(name).partitions}
        for linger, name in topics.items()
    }
    more = {partition: count > 0 for partition, count in doubled[0].items()}
    assert more == {v.partition: v.leader == frozen for v in views[0]}
    assert set(doubled[3_500].values()) == {0}
