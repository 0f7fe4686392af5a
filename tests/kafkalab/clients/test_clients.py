"""Clients: an error names the first step that failed; a cell that is run again leaves nothing."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from kafka import TopicPartition
from kafka.errors import IllegalStateError

from kafkalab import Cluster, WaitTimeout, clients, wait_until
from kafkalab.cluster.wire import NoConnection, NoKafka

OPENERS = [clients.producer, clients.consumer, clients.admin]


@contextmanager
def server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A program on a port of its own that does something else than Kafka with each connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                answer(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("opener", OPENERS)
def test_a_port_where_nobody_listens(opener: Callable[..., object]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # so that nobody else listens there meanwhile
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(NoConnection, match=f"There is no broker at {address}"):
            opener(address)


def test_a_server_that_speaks_something_else() -> None:
    def web(connection: socket.socket) -> None:
        connection.recv(1)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with server(web) as address, pytest.raises(NoKafka, match="not one of Kafka's protocol"):
        clients.producer(address)


def test_a_server_that_hangs_up() -> None:
    with (
        server(lambda connection: connection.close()) as address,
        pytest.raises(NoKafka, match="does not answer as a Kafka broker"),
    ):
        clients.admin(address)


def test_a_server_that_says_nothing_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    assert clients.PATIENCE <= 5
    monkeypatch.setattr(clients, "PATIENCE", 0.3)
    kept: list[socket.socket] = []
    with server(kept.append) as address, pytest.raises(NoKafka, match="no answer in time"):
        clients.consumer(address)


def test_an_address_without_a_port() -> None:
    with pytest.raises(NoConnection, match=r"'broker-1' is not an address"):
        clients.producer("broker-1")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster.start("single") as cluster:
        clients.admin(cluster).create_topics({"rides": {"num_partitions": 2}})
        cluster.wait_for_topic("rides")
        yield cluster


@pytest.mark.cluster
def test_the_lesson_s_deadlines_hold_unless_others_are_asked_for(cluster: Cluster) -> None:
    producer = clients.producer(cluster)
    assert producer.config["max_block_ms"] == 5_000
    assert producer.config["delivery_timeout_ms"] == 10_000
    assert producer.config["client_id"] == "producer"
    producer = clients.producer(cluster, max_block_ms=1_000, acks=1)
    assert (producer.config["max_block_ms"], producer.config["acks"]) == (1_000, 1)
    consumer = clients.consumer(cluster.address, "rides", session_timeout_ms=7_000)
    assert consumer.config["session_timeout_ms"] == 7_000
    assert consumer.config["heartbeat_interval_ms"] == 1_000


@pytest.mark.cluster
def test_opening_a_client_again_closes_the_one_before(cluster: Cluster) -> None:
    before = threading.active_count()
    for _ in range(3):
        consumer = clients.consumer(cluster, "rides", client_id="cell", group_id="cell")
        assert list(clients.records_until_end(consumer)) == []
    group = cluster.wait_for_group("cell", members=1)
    assert group.members[0].client == "cell"
    assert threading.active_count() <= before + 1
    other = clients.consumer(cluster, "rides", client_id="other")
    assert clients.consumer(cluster, "rides", client_id="cell")
    other.topics()
    clients.close_all()
    with pytest.raises((IllegalStateError, AssertionError)):
        other.poll()


@pytest.mark.cluster
def test_reading_until_the_end_reads_what_was_there_and_ends(cluster: Cluster) -> None:
    producer = clients.producer(cluster)
    for number in range(50):
        producer.send("rides", str(number).encode(), partition=number % 2)
    producer.flush()
    consumer = clients.consumer(cluster, "rides", auto_offset_reset="earliest", group_id="end")
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
    place, producer = TopicPartition("rides", 0), clients.producer(cluster)
    producer.send("rides", b"in time", partition=0).get(timeout=5)
    consumer = clients.consumer(cluster, auto_offset_reset="earliest")
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
    consumer = clients.consumer(cluster)
    place = TopicPartition("rides", 1)
    consumer.assign([place])
    consumer.seek_to_end(place)
    assert list(clients.records_until_end(consumer)) == []
    consumer.seek(place, max(consumer.position(place) - 2, 0))
    assert len(list(clients.records_until_end(consumer))) == 2


@pytest.mark.cluster
def test_a_consumer_that_gets_no_partitions_is_not_waited_for_long(cluster: Cluster) -> None:
    consumer = clients.consumer(cluster, "nonsense", group_id="nothing")
    with pytest.raises(WaitTimeout, match=r"Waited 1 s for partitions"):
        list(clients.records_until_end(consumer, timeout=1))


@pytest.mark.cluster
def test_closing_a_cluster_closes_its_clients(cluster: Cluster) -> None:
    with Cluster.start("single", beside=True) as other:
        producer = clients.producer(other, client_id="of-other")
        kept = clients.producer(cluster, client_id="kept")
    assert producer._closed
    assert not kept._closed
    assert kept.partitions_for("rides") == {0, 1}


@pytest.mark.cluster
def test_a_member_gets_its_partitions_however_short_it_polls() -> None:
    def partitions_after_a_poll() -> bool:
        consumer.poll(timeout_ms=100)
        return len(consumer.assignment()) == 3

    with Cluster.start("single", gateway=True, beside=True) as slow:
        admin = clients.admin(slow)
        admin.create_topics({"growing": {"num_partitions": 1, "replication_factor": 1}})
        slow.wait_for_topic("growing")
        consumer = clients.consumer(slow, "growing", group_id="impatient", metadata_max_age_ms=200)
        list(clients.records_until_end(consumer))
        assert len(consumer.assignment()) == 1
        slow.gateway.delay(400, api="SyncGroup")
        admin.create_partitions({"growing": 3})
        wait_until(
            partitions_after_a_poll,
            timeout=30,
            what="an assignment that is answered between two polls",
            seen=lambda: (consumer.assignment(), slow.group("impatient")),
        )


@pytest.mark.cluster
def test_an_admin_client_finds_another_broker() -> None:
    with Cluster.start("replicated") as three:
        admin = clients.admin(three)
        admin.create_topics(["all"])
        three.kill(0)
        admin.create_topics(["without-0"])
        three.kill(1)
        admin.create_topics(["only-2"])
        three.restart(0)
        three.kill(2)
        admin.create_topics(["only-0"])
        # The controller knows it before the broker does. Its leader need not be alive: until a dead
        # broker is fenced, it may be given the only copy.
        wait_until(
            lambda: {"all", "without-0", "only-2", "only-0"} <= set(three.topics()),
            timeout=15,
            what="the broker to know all topics",
            seen=three.topics,
        )
