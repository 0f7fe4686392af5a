"""The notes of a ledger: with the client's own futures, and against a cluster."""

import threading
import time

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.errors import KafkaTimeoutError
from kafka.producer.future import FutureProduceResult, FutureRecordMetadata
from kafka.structs import TopicPartition

from kafkalab import clients, quick
from kafkalab.errors import CourseError
from kafkalab.evidence.ledger import Ledger


class Batch:
    """One batch on its way, as the producer holds it."""

    def __init__(self, topic="rides", partition=0):
        self.result = FutureProduceResult(TopicPartition(topic, partition))
        self.size = 0

    def record(self):
        self.size += 1
        return FutureRecordMetadata(self.result, self.size - 1, 0, None, -1, 1, -1)

    def acknowledge(self, base_offset):
        self.result.success((base_offset, -1, None))


def test_answers_are_noted_with_offset_and_latency():
    ledger, batch = Ledger(), Batch(partition=2)
    futures = [ledger.sent(number, batch.record()) for number in range(3)]
    batch.acknowledge(base_offset=40)
    assert futures[0].is_done
    assert ledger.settle(timeout=0) == {"acknowledged": 3, "failed": 0, "unresolved": 0}
    notes = ledger._snapshot()[0]
    assert [(n.identity, n.partition, n.offset) for n in notes] == [
        (0, 2, 40),
        (1, 2, 41),
        (2, 2, 42),
    ]
    assert all(0 <= n.latency_ms < 5_000 for n in notes)
    assert all(n.acknowledged_at >= n.sent_at for n in notes)


def test_an_answer_that_came_before_the_note_counts():
    ledger, batch = Ledger(), Batch()
    future = batch.record()
    batch.acknowledge(0)
    ledger.sent("early", future)
    assert ledger.settle(timeout=0)["acknowledged"] == 1


def test_failures_keep_their_class():
    ledger, batch = Ledger(), Batch()
    ledger.sent("a", batch.record())
    batch.result.failure(KafkaTimeoutError("too late"))
    assert ledger.settle(timeout=0) == {"acknowledged": 0, "failed": 1, "unresolved": 0}
    assert ledger._snapshot()[0][0].error == "KafkaTimeoutError"


def test_settle_ends_at_its_deadline_and_tells_what_is_open():
    ledger = Ledger()
    ledger.sent("a", Batch().record())
    started = time.monotonic()
    assert ledger.settle(timeout=0.2) == {"acknowledged": 0, "failed": 0, "unresolved": 1}
    assert 0.2 <= time.monotonic() - started < 2


def test_settle_returns_as_soon_as_the_last_answer_is_there():
    ledger, batch = Ledger(), Batch()
    ledger.sent("a", batch.record())
    network = threading.Timer(0.1, batch.acknowledge, [0])
    network.start()
    started = time.monotonic()
    assert ledger.settle(timeout=30)["acknowledged"] == 1
    assert time.monotonic() - started < 5


def test_many_threads_may_send_while_answers_arrive():
    ledger = Ledger()

    def send(worker):
        for number in range(300):
            batch = Batch(partition=worker)
            ledger.sent(f"{worker}-{number}", batch.record())
            batch.acknowledge(number)

    workers = [threading.Thread(target=send, args=[worker]) for worker in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert ledger.settle(timeout=10) == {"acknowledged": 2_400, "failed": 0, "unresolved": 0}
    assert {(n.identity, n.offset) for n in ledger._snapshot()[0]} == {
        (f"{worker}-{number}", number) for worker in range(8) for number in range(300)
    }


def test_no_verdict_before_the_log_was_read():
    ledger = Ledger()
    ledger.sent("a", Batch().record())
    with pytest.raises(CourseError) as refusal:
        ledger.verdict()
    assert 'ledger.read_back(cluster, "rides")' in refusal.value.mend


def test_a_ledger_shows_what_it_holds():
    ledger, batch = Ledger(), Batch()
    ledger.sent("a", batch.record())
    assert repr(ledger) == (
        "sent 1 · acknowledged 0 · failed 0 · unresolved 1 · read 0 · in the log 0"
    )


@pytest.fixture(scope="module")
def cluster():
    from kafkalab.cluster.cluster import Cluster

    with Cluster.start("single") as cluster:
        yield cluster


@pytest.fixture
def topic(cluster, request):
    name = request.node.name
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({name: {"num_partitions": 3, "replication_factor": 1}})
    cluster.wait_for_topic(name)
    return name


def send(ledger, cluster, topic, numbers):
    producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
    for number in numbers:
        ledger.sent(number, producer.send(topic, str(number).encode()))


@pytest.mark.cluster
def test_a_whole_story(cluster, topic):
    ledger = Ledger()
    send(ledger, cluster, topic, range(200))
    assert ledger.settle() == {"acknowledged": 200, "failed": 0, "unresolved": 0}
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=cluster.address,
        group_id=topic,
        auto_offset_reset="earliest",
        **quick.consumer,
    )
    for record in clients.records_until_end(consumer):
        if record.offset < 10:
            ledger.read(record, reader="billing")
    assert ledger.read_back(cluster, topic) == 200
    verdict = ledger.verdict()
    assert (len(verdict.found), verdict.lost, verdict.duplicated) == (200, [], [])
    assert verdict.reordered == []
    assert len(verdict.unobserved) == 200 - 30
    assert [row.partition for row in verdict.partitions] == [0, 1, 2]


@pytest.mark.cluster
def test_verdict_settles_and_reads_back_by_itself(cluster, topic):
    ledger = Ledger()
    send(ledger, cluster, topic, range(50))
    assert repr(ledger.verdict(cluster)).startswith("acknowledged 50 · found 50 · lost 0 ·")


@pytest.mark.cluster
def test_reading_back_is_bounded_by_the_end_at_its_start(cluster, topic):
    ledger = Ledger()
    send(ledger, cluster, topic, range(20_000))
    ledger.settle()
    producer = KafkaProducer(
        bootstrap_servers=cluster.address, client_id="unending", **quick.producer
    )
    enough = threading.Event()

    def keep_sending():
        while not enough.is_set():
            producer.send(topic, b"late").get(timeout=10)

    sender = threading.Thread(target=keep_sending)
    sender.start()
    try:
        found = ledger.read_back(cluster, topic, timeout=60)
    finally:
        enough.set()
        sender.join()
    assert found >= 20_000
    assert (len(ledger.verdict().found), ledger.verdict().lost) == (20_000, [])


@pytest.mark.cluster
def test_markers_of_transactions_do_not_hold_up_the_reading(cluster, topic):
    ledger = Ledger()
    producer = KafkaProducer(
        bootstrap_servers=cluster.address,
        transactional_id=topic,
        client_id="transactional",
        **quick.producer,
    )
    producer.init_transactions()
    for number, end in enumerate([producer.commit_transaction, producer.abort_transaction]):
        producer.begin_transaction()
        for partition in range(3):
            identity = f"{number}-{partition}"
            value = identity.encode()
            ledger.sent(identity, producer.send(topic, value, partition=partition))
        producer.flush()
        end()
    started = time.monotonic()
    assert ledger.read_back(cluster, topic) == 6
    assert ledger.read_back(cluster, topic, isolation="read_committed") == 3
    assert time.monotonic() - started < 10
    assert ledger.verdict().lost == ["1-0", "1-1", "1-2"]


@pytest.mark.cluster
def test_a_topic_that_is_not_there_is_an_error_within_the_deadline(cluster):
    with pytest.raises(CourseError, match="the partitions of topic nowhere"):
        Ledger().read_back(cluster, "nowhere", timeout=2)


@pytest.mark.cluster
def test_a_tombstone_is_read_by_an_own_identity(cluster, topic):
    producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
    ledger = Ledger()
    ledger.sent("k", producer.send(topic, key=b"k", value=None))
    ledger.settle()
    ledger.read_back(cluster, topic, identity=lambda record: record.key.decode())
    assert ledger.verdict().found == ["k"]
