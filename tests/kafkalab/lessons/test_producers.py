"""What a producer does that no page shows, and what is put around it: interceptors, reporters."""

import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.metrics.dict_reporter import DictReporter
from kafka.serializer import DefaultSerializer, Serializer

from kafkalab import Cluster, clients, quick
from kafkalab.lessons.producers import metering
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


class LongSerializer(Serializer):
    """Eight bytes, the most significant first, as Java writes a `long`."""

    def serialize(self, topic, headers, data):
        return struct.pack(">q", data)


@pytest.fixture
def stored(single, topic):
    """What the topic got since the test began."""
    before = single.topic(topic).records
    with KafkaConsumer(
        topic, bootstrap_servers=single.address, auto_offset_reset="earliest", **quick.consumer
    ) as consumer:
        yield lambda: list(clients.records_until_end(consumer))[before:]


def test_a_long_goes_as_eight_bytes_and_comes_back(single, topic, stored):
    assert LongSerializer().serialize("", [], -2) == b"\xff" * 7 + b"\xfe"
    with KafkaProducer(
        bootstrap_servers=single.address,
        key_serializer=LongSerializer(),
        value_serializer=DefaultSerializer(),
        **quick.producer,
    ) as producer:
        for key in (-2, 0, 5_000_000_000):
            producer.send(topic, key=key, value=f"hello {key}")
    found = [(struct.unpack(">q", one.key)[0], one.value.decode()) for one in stored()]
    assert found == [(key, f"hello {key}") for key in (-2, 0, 5_000_000_000)]


def test_the_counts_of_several_producers_in_threads_add_up(single, topic, stored):
    def write(name: int) -> int:
        with KafkaProducer(bootstrap_servers=single.address, **quick.producer) as producer:
            sent = [producer.send(topic, value=b"%d %d" % (name, n)) for n in range(50 + name)]
        return sum(future.succeeded() for future in sent)

    with ThreadPoolExecutor(max_workers=4) as threads:
        counts = list(threads.map(write, range(4)))
    assert counts == [50, 51, 52, 53]
    values = {one.value for one in stored()}
    assert len(values) == sum(counts)


def test_a_producer_has_every_metric_and_a_reporter_hears_of_each(single, topic):
    heard = []

    class Reporter(DictReporter):
        def init(self, metrics):
            heard.append("init")

        def metric_change(self, metric):
            heard.append(metric.metric_name)

    with KafkaProducer(
        bootstrap_servers=single.address, metric_reporters=[Reporter], **quick.producer
    ) as producer:
        seen = []
        for _ in range(20):
            producer.send(topic, value=bytes(10)).get(timeout=10)
            seen.append(producer.metrics()[f"producer-topic-metrics.{topic}"])
        numbers = metering.numbers(producer)
    assert heard[0] == "init"
    assert numbers.names >= metering.NAMES  # of three groups
    told = {(one.group, one.name) for one in heard[1:]}
    assert {(one.group, one.name) for one in numbers} <= told
    # The numbers move while records go out: a live view needs nothing else.
    assert {name for name in seen[0] if seen[-1][name] > seen[0][name]} == {
        "record-send-rate",
        "byte-rate",
    }
