"""Each mend of kafka-python: what went wrong without it."""

import copy
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from kafka import (
    Deserializer,
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    OffsetAndMetadata,
    TopicPartition,
)
from kafka.errors import KafkaConnectionError, KafkaTimeoutError
from kafka.future import Future
from kafka.producer.sender import Sender
from kafka.protocol.metadata import MetadataResponse

from kafkalab import Cluster, clients, quick, wait_until

CLIENTS = [KafkaAdminClient, KafkaConsumer, KafkaProducer]


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


def why(kind: type, address: str) -> str:
    """The note that the course adds to kafka-python's own error."""
    began = time.monotonic()
    with pytest.raises(KafkaTimeoutError, match="Unable to bootstrap from") as caught:
        kind(bootstrap_servers=address, bootstrap_timeout_ms=300)
    assert time.monotonic() - began < 2
    (note,) = caught.value.__notes__
    return note


@pytest.mark.process
@pytest.mark.parametrize("kind", CLIENTS)
def test_a_port_where_nobody_listens(kind: type) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # so that nobody else listens there meanwhile
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert f"There is no broker at {address}: the connection failed" in why(kind, address)


@pytest.mark.process
def test_a_server_that_speaks_something_else() -> None:
    def web(connection: socket.socket) -> None:
        connection.recv(1)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with server(web) as address:
        assert "not one of Kafka's protocol" in why(KafkaProducer, address)


@pytest.mark.process
def test_a_server_that_hangs_up() -> None:
    with server(lambda connection: connection.close()) as address:
        assert "does not answer as a Kafka broker" in why(KafkaAdminClient, address)


@pytest.mark.process
def test_a_server_that_says_nothing_is_not_waited_for_long() -> None:
    kept: list[socket.socket] = []
    with server(kept.append) as address:
        assert "no answer in time" in why(KafkaConsumer, address)


@pytest.fixture(scope="module")
def three() -> Iterator[Cluster]:
    with Cluster.start("replicated", gateway=True) as cluster:
        yield cluster


@pytest.fixture
def place(three: Cluster) -> Iterator[Callable[[dict[int, list[int]]], str]]:
    """Makes a topic whose partitions lie on these brokers; what a test breaks is mended."""

    def made(assignments: dict[int, list[int]]) -> str:
        name = three.unused("mends")
        with KafkaAdminClient(bootstrap_servers=three.address, **quick.admin) as admin:
            admin.create_topics({name: {"assignments": assignments}})
        three.wait_for_topic(name)
        return name

    yield made
    three.mend()


@pytest.fixture
def topic(place: Callable[[dict[int, list[int]]], str]) -> str:
    """Three partitions with one copy each: partition n on broker n."""
    return place({0: [0], 1: [1], 2: [2]})


@pytest.mark.cluster
def test_silent_addresses_leave_time_for_the_others(
    three: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "choice", lambda some: some[0])
    kept: list[socket.socket] = []
    with server(kept.append) as one, server(kept.append) as two:
        addresses = [one, two, three.addresses[0]]
        with KafkaAdminClient(bootstrap_servers=addresses, bootstrap_timeout_ms=3_000) as admin:
            assert len(admin.describe_cluster()["brokers"]) == 3


def rounds_in_a_second(monkeypatch: pytest.MonkeyPatch) -> int:
    """How often the threads behind the producers go round."""
    count, go_round = [], Sender.run_once

    def run_once(sender: Sender) -> None:
        count.append(sender)
        go_round(sender)

    monkeypatch.setattr(Sender, "run_once", run_once)
    began = time.monotonic()
    wait_until(lambda: time.monotonic() - began > 1, timeout=5, what="a second")
    return len(count)


@pytest.mark.cluster
def test_an_old_answer_does_not_bring_back_an_old_leader(
    three: Cluster, place: Callable[[dict[int, list[int]]], str]
) -> None:
    """The answer is a real one, that the same client got before the leader was killed."""
    topic = place({0: [1, 2]})
    with KafkaProducer(bootstrap_servers=three.address, **quick.producer) as producer:
        metadata, answers, partition = producer._metadata, [], TopicPartition(topic, 0)
        update = metadata.update_metadata

        def note(answer: MetadataResponse) -> None:
            answers.append(copy.deepcopy(answer))
            update(answer)

        metadata.update_metadata = note
        producer.send(topic, b"before").get(timeout=10)
        old = next(answer for answer in answers if any(t.name == topic for t in answer.topics))
        assert metadata.leader_for_partition(partition) == 1
        three.kill(1)
        producer.send(topic, b"after").get(timeout=20)
        new = metadata.leader_for_partition(partition)
        assert new != 1
        update(old)
        assert metadata.leader_for_partition(partition) == new


@pytest.mark.cluster
def test_questions_for_metadata_are_as_far_apart_as_the_client_was_told(three: Cluster) -> None:
    name = three.unused("patient")
    settings = quick.consumer | {"retry_backoff_ms": 1_000}
    with KafkaConsumer(
        bootstrap_servers=three.address, client_id=name, group_id=None, **settings
    ) as consumer:
        for _ in range(2):
            consumer.topics()
    asked = [frame.requested for frame in three.gateway.frames("Metadata", client_id=name)]
    assert len(asked) >= 2
    assert asked[-1] - asked[-2] >= 0.9, asked


@pytest.mark.cluster
def test_a_leader_of_before_costs_no_record(
    three: Cluster, place: Callable[[dict[int, list[int]]], str]
) -> None:
    """It leads no more, has not heard of it, and lacks what its successor got meanwhile."""
    topic = place({0: [1, 2]})
    partition = TopicPartition(topic, 0)
    with KafkaProducer(bootstrap_servers=three.address, **quick.producer) as producer:
        producer.send(topic, b"to the first").get(timeout=10)
        first = producer._metadata._partitions[topic][0]
        three.cut(1, clients=False)

        def heard() -> bool:
            producer._metadata.request_update()
            return producer._metadata.leader_for_partition(partition) == 2

        wait_until(heard, timeout=20, what="news of the second leader")
        producer.send(topic, b"to the second").get(timeout=20)

        # As where metadata comes from a broker that has not heard of the second leader either.
        producer._metadata._partitions[topic][0] = first
        producer._metadata._broker_partitions[1].add(partition)
        three.gateway.clear()
        last = producer.send(topic, b"to the first, and to the second").get(timeout=20)
    assert three.gateway.frames("Produce", broker=1)
    assert last.offset == 2


@pytest.mark.cluster
def test_a_value_that_cannot_be_read_is_told_in_each_poll(three: Cluster, topic: str) -> None:
    class Number(Deserializer):
        def deserialize(self, topic: str, headers: object, data: bytes) -> int:
            return int(data)

    with KafkaProducer(bootstrap_servers=three.address, **quick.producer) as producer:
        for value in (b"1", b"2", b"three", b"4"):
            producer.send(topic, value, partition=1).get(timeout=10)
    came: list[object] = []
    own = quick.consumer | {"auto_offset_reset": "earliest", "value_deserializer": Number()}
    with KafkaConsumer(bootstrap_servers=three.address, **own) as consumer:
        consumer.assign([TopicPartition(topic, 1)])

        def poll() -> None:
            while len(came) < 5:
                try:
                    polled = consumer.poll(timeout_ms=500)
                    came.extend(record.value for records in polled.values() for record in records)
                except ValueError:
                    came.append("unreadable")

        polls = threading.Thread(target=poll, daemon=True)
        polls.start()
        polls.join(timeout=15)
        assert came == [1, 2, "unreadable", "unreadable", "unreadable"]
        assert consumer.position(TopicPartition(topic, 1)) == 2


@pytest.mark.cluster
def test_a_paused_partition_goes_on_after_another_was_read(three: Cluster, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=three.address, **quick.producer) as producer:
        for number in range(20):
            producer.send(topic, b"order", partition=number % 2).get(timeout=10)
    came: list[tuple[int, int]] = []
    places = [TopicPartition(topic, number) for number in (0, 1)]
    own = quick.consumer | {"auto_offset_reset": "earliest"}

    def poll(max_records: int | None = None) -> int:
        polled = consumer.poll(timeout_ms=100, max_records=max_records)
        came.extend((one.partition, one.offset) for records in polled.values() for one in records)
        return len(came)

    with KafkaConsumer(bootstrap_servers=three.address, **own) as consumer:
        consumer.assign(places)
        wait_until(lambda: poll(max_records=1) == 1, timeout=15, what="a first record")
        ((begun, _),) = came
        consumer.pause(places[begun])
        wait_until(lambda: poll() == 11, timeout=15, what="the other partition", seen=lambda: came)
        consumer.resume(places[begun])
        wait_until(lambda: poll() == 20, timeout=15, what="the rest", seen=lambda: came)
    assert [offset for number, offset in came if number == begun] == list(range(10))


@pytest.mark.cluster
def test_a_producer_without_a_leader_waits_quietly(
    three: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = quick.producer | {"delivery_timeout_ms": 60_000}
    with KafkaProducer(bootstrap_servers=three.address, **patient) as producer:
        producer.send(topic, b"before", partition=1).get(timeout=10)
        three.kill(1)
        three.wait_for_brokers([0, 2])
        waiting = producer.send(topic, b"meanwhile", partition=1)
        assert rounds_in_a_second(monkeypatch) < 200
        assert not waiting.is_done
        three.restart(1)
        assert waiting.get(timeout=30).offset == 1


@pytest.mark.cluster
def test_a_producer_that_waits_for_a_connection_waits_quietly(
    three: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = quick.producer | {"acks": 1, "enable_idempotence": False}  # nobody to ask for an id
    with KafkaProducer(bootstrap_servers=three.address, **own) as producer:
        producer.send(topic, b"before", partition=0).get(timeout=10)
        known = producer._sender._client._manager._conns
        stranger = next(broker for broker in (1, 2) if broker not in known)
        three.pause(stranger)  # it accepts a connection, and says nothing on it
        waiting = producer.send(topic, b"meanwhile", partition=stranger)
        assert rounds_in_a_second(monkeypatch) < 200
        three.resume(stranger)
        assert waiting.get(timeout=15).offset == 0


@pytest.mark.cluster
def test_a_round_that_fails_brings_new_metadata(
    three: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the metadata names a leader that is gone: it helps only to ask again."""
    with KafkaProducer(bootstrap_servers=three.address, **quick.producer) as producer:
        producer.partitions_for(topic)
        metadata, send = producer._metadata, producer._sender._send_producer_data
        old = metadata._last_successful_refresh_ms

        def fails_until_there_is_news(*arguments: object) -> float:
            if metadata._last_successful_refresh_ms == old:
                raise KeyError("no such broker")
            return send(*arguments)

        monkeypatch.setattr(producer._sender, "_send_producer_data", fails_until_there_is_news)
        assert producer.send(topic, b"through", partition=0).get(timeout=8).offset == 0


@pytest.mark.cluster
def test_a_refused_record_ends_no_producer(three: Cluster, topic: str) -> None:
    sizes = [100, 2_000_000, 100, 100]
    largest = quick.producer | {"max_request_size": 3_000_000}  # the broker takes half as much
    with KafkaProducer(bootstrap_servers=three.address, **largest) as producer:
        producer.send(topic, b"first", partition=0).get(timeout=10)
        sent = [producer.send(topic, bytes(size), partition=0) for size in sizes]
        producer.flush(timeout=10)
        assert [future.failed() for future in sent] == [False, True, False, False]
        assert producer.send(topic, b"last", partition=0).get(timeout=8).offset == 4


@pytest.mark.cluster
def test_a_producer_that_gave_up_its_id_gets_a_new_one(three: Cluster, topic: str) -> None:
    with KafkaProducer(bootstrap_servers=three.address, **quick.producer) as producer:
        producer.send(topic, b"before", partition=0).get(timeout=10)
        before = producer._transaction_manager.producer_id_and_epoch.producer_id
        producer._transaction_manager.reset_producer_id()
        assert producer.send(topic, b"after", partition=0).get(timeout=8).offset == 1
        assert producer._transaction_manager.producer_id_and_epoch.producer_id != before


@pytest.mark.cluster
def test_a_producer_asks_another_broker_for_its_id(three: Cluster, topic: str) -> None:
    three.gateway.drop_replies("InitProducerId", count=1, client_id="patient", silent=True)
    own = quick.producer | {"client_id": "patient", "request_timeout_ms": 1_000}
    with KafkaProducer(bootstrap_servers=three.address, **own) as producer:
        producer.send(topic, b"first", partition=0).get(timeout=10)
    asked = three.gateway.frames("InitProducerId", client_id="patient")
    assert asked[0].outcome == "dropped"
    assert asked[-1].outcome == "answered"


@pytest.mark.cluster
def test_a_member_gets_its_partitions_however_short_it_polls() -> None:
    def partitions_after_a_poll() -> bool:
        consumer.poll(timeout_ms=100)
        return len(consumer.assignment()) == 3

    with Cluster.start("single", gateway=True, beside=True) as slow:
        admin = KafkaAdminClient(bootstrap_servers=slow.address, **quick.admin)
        admin.create_topics({"growing": {"num_partitions": 1, "replication_factor": 1}})
        slow.wait_for_topic("growing")
        consumer = KafkaConsumer(
            "growing",
            bootstrap_servers=slow.address,
            group_id="impatient",
            metadata_max_age_ms=200,
            **quick.consumer,
        )
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
def test_a_member_outlives_a_refused_connection_while_it_looks_for_its_coordinator(
    three: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both questions go, once, to a broker that has just died: what they are told is played."""

    def refused_once(of: object, name: str) -> list[str]:
        real, asked = getattr(of, name), []

        def ask() -> object:
            asked.append(name)
            if len(asked) > 1:
                return real()
            return Future().failure(KafkaConnectionError("111 ECONNREFUSED"))

        monkeypatch.setattr(of, name, ask)
        return asked

    reads = {"group_id": topic, "auto_offset_reset": "earliest", **quick.consumer}
    with (
        KafkaConsumer(topic, bootstrap_servers=three.address, **reads) as consumer,
        KafkaProducer(bootstrap_servers=three.address, **quick.producer) as producer,
    ):
        list(clients.records_until_end(consumer))
        coordinator = consumer._coordinator
        looked = refused_once(coordinator, "lookup_coordinator")
        renewed = refused_once(coordinator._cluster, "request_update")
        coordinator.coordinator_dead("it has just died")
        producer.send(topic, b"?").get(timeout=20)
        wait_until(lambda: consumer.poll(timeout_ms=200), timeout=20, what="the record")
        assert len(looked) > 1, looked
        assert renewed, renewed


@pytest.mark.cluster
def test_quick_commits_arrive_in_their_order(three: Cluster, topic: str) -> None:
    place = TopicPartition(topic, 0)
    own = quick.consumer | {"group_id": f"{topic} quick", "enable_auto_commit": False}
    with KafkaConsumer(bootstrap_servers=three.address, **own) as consumer:
        consumer.assign([place])
        consumer.commit({place: OffsetAndMetadata(0, "", -1)})  # now the group has a coordinator
        order = []
        for number in range(60):
            answer = consumer.commit_async({place: OffsetAndMetadata(number, "", -1)})
            answer.add_both(lambda error, number=number: order.append((number, error)))
        consumer.commit({place: OffsetAndMetadata(60, "", -1)})
        assert order == [(number, None) for number in range(60)]
        assert consumer.committed(place) == 60


@pytest.mark.cluster
def test_an_old_answer_is_not_given_for_a_committed_offset(three: Cluster, topic: str) -> None:
    place = TopicPartition(topic, 0)
    own = quick.consumer | {"group_id": f"{topic} old answers", "enable_auto_commit": False}
    with KafkaConsumer(bootstrap_servers=three.address, **own) as consumer:
        consumer.assign([place])
        assert consumer.committed(place) is None
        for number in (5, 6):
            with pytest.raises(KafkaTimeoutError):
                consumer.committed(place, timeout_ms=0)  # asked, and nobody waits for the answer
            consumer.commit({place: OffsetAndMetadata(number, "", -1)})
            assert consumer.committed(place) == number


@pytest.mark.cluster
def test_an_admin_client_finds_another_broker() -> None:
    with Cluster.start("replicated") as three:
        admin = KafkaAdminClient(bootstrap_servers=three.address, **quick.admin)
        admin.create_topics(["all"])
        three.kill(0)
        admin.create_topics(["without-0"])
        three.kill(1)
        admin.create_topics(["only-2"])

        def knows_of_2_alone() -> bool:
            admin._manager.cluster.request_update()
            admin.list_topics()
            return [one.node_id for one in admin._manager.cluster.brokers()] == [2]

        wait_until(knows_of_2_alone, timeout=30, what="the others to be counted out")
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


@pytest.mark.cluster
def test_an_admin_client_waits_for_a_broker_that_any_question_can_go_to() -> None:
    with Cluster.start("single") as one, ThreadPoolExecutor() as aside:
        admin = KafkaAdminClient(bootstrap_servers=one.address, **quick.admin)
        admin.create_topics(["asked"])
        one.kill(0)
        asked = aside.submit(admin.describe_topics, ["asked"])
        one.restart(0)
        assert [topic["name"] for topic in asked.result(timeout=30)] == ["asked"]
        admin.close()


def test_the_list_can_be_read() -> None:
    assert len({mend.name for mend in clients.MENDS}) == len(clients.MENDS) == 18
    for mend in clients.MENDS:
        assert mend.fault.endswith(".")
        assert mend.fault in repr(clients.MENDS)
        assert mend.reported.startswith(("https://github.com/dpkp/kafka-python/", "Not reported"))
    assert "<table" in clients.MENDS._repr_html_()
