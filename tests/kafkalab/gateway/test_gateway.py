"""A gateway before a real cluster: what it saw, and what it breaks on order."""

import itertools
import os
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import confluent_kafka
import psutil
import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError

from kafkalab import Cluster, CourseError, WaitTimeout, clients, quick, wait_until
from kafkalab.cluster import wire
from kafkalab.engine import java_command
from kafkalab.engine.marked import marked

pytestmark = pytest.mark.cluster

ENGINES = ["process", pytest.param("docker", marks=pytest.mark.docker)]
SETTINGS = {"replica.lag.time.max.ms": "2000"}
NUMBERS = itertools.count()
OWNER = """
import sys
from kafkalab import Cluster
cluster = Cluster.start("single", gateway=True)
print("folder", cluster.slot.folder, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def running(engine: str) -> Iterator[Cluster]:
    with Cluster.start(
        "replicated", engine=engine, settings=SETTINGS, timeout=120, gateway=True
    ) as cluster:
        yield cluster


@pytest.fixture
def cluster(running: Cluster) -> Iterator[Cluster]:
    running.gateway.clear()
    yield running
    running.mend()


@pytest.fixture
def topic(cluster: Cluster) -> str:
    name = f"topic-{next(NUMBERS)}"
    settings = {"num_partitions": 3, "replication_factor": 3}
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({name: settings})
    cluster.wait_for_topic(name)
    return name


def read(cluster: Cluster, topic: str) -> list[bytes]:
    consumer = KafkaConsumer(
        topic, bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
    )
    return [record.value for record in clients.records_until_end(consumer, timeout=15)]


def others(cluster: Cluster, broker: int) -> list[int]:
    return [other for other in cluster.brokers if other != broker]


# --- What it saw -------------------------------------------------------------------------------


def test_every_request_of_a_client_is_seen_with_its_answer(cluster: Cluster, topic: str) -> None:
    before = time.time()
    producer = KafkaProducer(
        bootstrap_servers=cluster.address,
        client_id="writer",
        acks="all",
        enable_idempotence=False,
        **quick.producer,
    )
    for number in range(30):
        producer.send(topic, b"x" * 100, partition=number % 3).get(timeout=10)
    assert read(cluster, topic) == [b"x" * 100] * 30

    produced = cluster.gateway.frames("Produce", client_id="writer")
    assert len(produced) == 30
    assert {frame.acks for frame in produced} == {-1}
    assert {frame.outcome for frame in produced} == {"answered"}
    assert {frame.broker for frame in produced} == {0, 1, 2}
    for frame in produced:
        assert 150 < frame.request_bytes < 400
        assert 20 < frame.response_bytes < 200
        assert before < frame.requested < frame.answered < time.time()
        assert 0 < frame.ms < 5_000
    by_connection = Counter(frame.connection for frame in produced)
    assert sorted(by_connection.values()) == [10, 10, 10]

    seen = cluster.gateway.frames()
    assert {"Metadata", "Fetch", "ApiVersions"} <= {frame.api for frame in seen}
    # Views ask the brokers a lot; none of it is in the record.
    assert not [frame for frame in seen if frame.client_id == wire.CLIENT_ID]
    assert repr(produced) == "30 frames, 30 Produce"
    assert "writer" in produced._repr_html_()
    table = produced.to_pandas()
    assert len(table) == 30
    assert table["ms"].between(0, 5_000).all()
    assert str(table["requested"].dt.tz) == "UTC"
    cluster.gateway.clear()
    assert not cluster.gateway.frames("Produce")
    assert len(cluster.gateway.frames("Produce").to_pandas()) == 0


def test_a_tool_of_kafka_is_seen_and_held_back_as_any_client(cluster: Cluster, topic: str) -> None:
    connect = ("--bootstrap-server", "{bootstrap}", "--topic", topic)
    short = ["client.id=tool", "request.timeout.ms=1000", "delivery.timeout.ms=2000", "retries=0"]
    settings = [part for one in short for part in ("--command-property", one)]
    cluster.gateway.hold_requests("Produce", count=99, client_id="tool")
    cluster.tool("kafka-console-producer", *connect, *settings, stdin="held\n")
    assert cluster.topic(topic).records == 0
    cluster.gateway.heal()
    cluster.tool("kafka-console-producer", *connect, *settings[:2], stdin="passed\n")
    assert read(cluster, topic) == [b"passed"]
    outcomes = {frame.outcome for frame in cluster.gateway.frames("Produce", client_id="tool")}
    assert len(outcomes - {"answered"}) > 0, outcomes


def test_transactions_and_groups_are_seen_by_name(cluster: Cluster, topic: str) -> None:
    producer = KafkaProducer(
        bootstrap_servers=cluster.address,
        client_id="tx",
        transactional_id=f"{topic}-tx",
        **quick.producer | {"max_block_ms": 20_000},
    )
    producer.init_transactions()  # the first one makes a topic of Kafka's own
    producer.begin_transaction()
    producer.send(topic, b"once", partition=0)
    producer.commit_transaction()
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=cluster.address,
        group_id=f"{topic}-group",
        auto_offset_reset="earliest",
        **quick.consumer,
    )
    assert len(list(clients.records_until_end(consumer, timeout=20))) == 1
    consumer.commit()

    seen = cluster.gateway.frames()
    of_transaction = {f.api for f in seen if f.transactional_id == f"{topic}-tx"}
    assert of_transaction == {"InitProducerId", "AddPartitionsToTxn", "Produce", "EndTxn"}
    assert {"JoinGroup", "OffsetCommit"} <= {f.api for f in seen if f.group == f"{topic}-group"}


def test_the_markers_of_a_transaction_are_awaited(cluster: Cluster, topic: str) -> None:
    producer = KafkaProducer(
        bootstrap_servers=cluster.address,
        client_id="marked",
        transactional_id=topic,
        **quick.producer | {"max_block_ms": 20_000},
    )
    producer.init_transactions()
    for end in (producer.commit_transaction, producer.abort_transaction):
        producer.begin_transaction()
        producer.send(topic, b"one", partition=0).get(timeout=10)
        cluster.wait_for_markers()  # an open one has none to come
        end()
        cluster.wait_for_markers()
        ends = cluster.topic(topic).partitions[0].end_offset
        assert ends == (2 if end == producer.commit_transaction else 4)


def test_a_request_without_acknowledgement_waits_for_none(cluster: Cluster, topic: str) -> None:
    producer = KafkaProducer(
        bootstrap_servers=cluster.address,
        client_id="zero",
        acks=0,
        enable_idempotence=False,
        **quick.producer,
    )
    for _ in range(5):
        producer.send(topic, b"x", partition=0).get(timeout=10)
    producer.close()
    wait_until(lambda: cluster.topic(topic).records == 5, timeout=10, what="5 records")
    frames = cluster.gateway.frames("Produce", client_id="zero")
    assert {(f.acks, f.outcome, f.response_bytes) for f in frames} == {(0, "unasked", None)}


def test_large_records_pass_whole(cluster: Cluster, topic: str) -> None:
    values = [os.urandom(900_000) for _ in range(8)]
    producer = KafkaProducer(bootstrap_servers=cluster.address, client_id="large", **quick.producer)
    for future in [producer.send(topic, value, partition=0) for value in values]:
        future.get(timeout=20)
    assert read(cluster, topic) == values
    assert max(frame.request_bytes for frame in cluster.gateway.frames("Produce")) > 900_000


# --- Faults of the gateway ---------------------------------------------------------------------


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("idempotent", [False, True])
def test_withheld_answers_make_duplicates_unless_idempotent(
    cluster: Cluster, topic: str, idempotent: bool, silent: bool
) -> None:
    producer = KafkaProducer(
        bootstrap_servers=cluster.address,
        client_id="repeater",
        acks="all",
        enable_idempotence=idempotent,
        **quick.producer | {"request_timeout_ms": 1_000 if silent else 5_000},
    )
    producer.send(topic, b"first", partition=0).get(timeout=10)
    cluster.gateway.drop_replies("Produce", count=3, client_id="repeater", silent=silent, after=2)
    for number in range(10):
        producer.send(topic, b"%d" % number, partition=0).get(timeout=15)
    outcomes = Counter(frame.outcome for frame in cluster.gateway.frames("Produce"))
    assert outcomes["dropped"] == 3
    # Where the client waits a second only, an answer may come too late by itself.
    late = outcomes.total() - 14
    assert late == 0 or silent
    copies = Counter(read(cluster, topic))
    assert sum(copies.values()) == (11 if idempotent else 14 + late)
    if idempotent or not late:
        assert copies[b"1"] == 1, "the first two are answered"
        assert copies[b"2"] == (1 if idempotent else 4)


def test_the_numbers_of_an_idempotent_producer_are_seen(cluster: Cluster, topic: str) -> None:
    producer = KafkaProducer(
        bootstrap_servers=cluster.address, client_id="numbered", **quick.producer
    )
    cluster.gateway.drop_replies("Produce", count=1, client_id="numbered")
    for number in range(3):
        producer.send(topic, b"%d" % number, partition=0).get(timeout=10)
    sent = cluster.gateway.frames("Produce", client_id="numbered").batches()
    assert list(sent["base_sequence"]) == [0, 0, 1, 2]
    assert list(sent["outcome"]) == ["dropped", "answered", "answered", "answered"]
    stored = cluster.batches(topic, 0) if cluster.engine_name == "process" else []
    for batch in stored:
        assert batch.producer_id == sent["producer_id"].iloc[0] >= 0
    assert sent["checksum"].iloc[0] == sent["checksum"].iloc[1]


@pytest.mark.parametrize("kind", ["kafka-python", "librdkafka"])
def test_the_records_that_a_client_fetches_are_seen(
    cluster: Cluster, topic: str, kind: str
) -> None:
    """By the id of the topic or by its name: whichever the client says."""
    producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
    for part in (0, 1, 1, 2, 2, 2):
        producer.send(topic, b"value", partition=part)
    producer.flush(timeout=10)
    cluster.gateway.clear()
    if kind == "kafka-python":
        assert len(read(cluster, topic)) == 6
    else:
        settings = {"bootstrap.servers": cluster.address, "group.id": topic}
        reader = confluent_kafka.Consumer(settings)
        reader.assign([confluent_kafka.TopicPartition(topic, part, 0) for part in range(3)])
        assert len(reader.consume(6, timeout=15)) == 6
        reader.close()
    seen, name = {}, {topic, cluster.topic(topic).id}
    for frame in cluster.gateway.frames("Fetch"):
        for some in frame.fetched:
            assert {some.topic, some.topic_id} & name, some
            first, last = seen.get(some.partition, (some.first, some.last))
            seen[some.partition] = min(first, some.first), max(last, some.last)
    assert seen == {0: (0, 0), 1: (0, 1), 2: (0, 2)}


def test_a_producer_that_asks_again_is_noticed(cluster: Cluster, topic: str) -> None:
    leader = cluster.topic(topic).partitions[0].leader
    producer = KafkaProducer(
        bootstrap_servers=cluster.address,
        client_id="asking",
        **quick.producer | {"request_timeout_ms": 1_000},
    )
    producer.send(topic, b"first", partition=0).get(timeout=10)
    cluster.gateway.clear()
    cluster.pause(leader)
    try:
        future = producer.send(topic, b"second", partition=0)
        cluster.gateway.wait_for_request("Produce", client_id="asking")
        with pytest.raises(WaitTimeout, match=f"it has not asked {leader} again"):
            cluster.gateway.wait_for_retries("asking", [leader], timeout=0)
        cluster.gateway.wait_for_retries("asking", [leader])
    finally:
        cluster.resume(leader)
    future.get(timeout=15)


def test_a_held_request_arrives_late_or_never(cluster: Cluster, topic: str) -> None:
    producer = KafkaProducer(
        bootstrap_servers=cluster.address,
        client_id="held",
        enable_idempotence=False,
        **quick.producer | {"request_timeout_ms": 1_000},
    )
    for released in (True, False):
        cluster.gateway.clear()
        cluster.gateway.hold_requests("Produce", client_id="held")
        future = producer.send(topic, b"late" if released else b"never", partition=0)
        cluster.gateway.wait_for_request("Produce", client_id="held")
        future.get(timeout=15)  # the client has given up on it and sent again
        outcomes = [f.outcome for f in cluster.gateway.frames("Produce", client_id="held")]
        assert outcomes == ["held", "answered"]
        if released:
            (answer,) = cluster.gateway.release()
            assert answer.responses[0].partition_responses[0].error_code == 0
            assert cluster.gateway.frames("Produce", client_id="held")[0].outcome == "late"
        else:
            cluster.gateway.heal()
            assert cluster.gateway.release() == []
    assert sorted(read(cluster, topic)) == [b"late", b"late", b"never"]


def test_a_delay_shows_in_the_latency(cluster: Cluster, topic: str) -> None:
    producer = KafkaProducer(bootstrap_servers=cluster.address, client_id="slow", **quick.producer)

    def seconds() -> float:
        began = time.perf_counter()
        producer.send(topic, b"x", partition=0).get(timeout=10)
        return time.perf_counter() - began

    seconds()
    undisturbed = min(seconds() for _ in range(5))
    cluster.gateway.delay(300, api="Produce", client_id="slow")
    assert 0.3 <= seconds() < undisturbed + 2
    assert cluster.gateway.frames("Produce")[-1].ms >= 300
    cluster.gateway.heal()
    assert min(seconds() for _ in range(5)) < 0.3


def test_a_narrow_line_takes_its_time(cluster: Cluster, topic: str) -> None:
    producer = KafkaProducer(
        bootstrap_servers=cluster.address, client_id="narrow", **quick.producer
    )
    producer.send(topic, b"x", partition=0).get(timeout=10)
    cluster.gateway.throttle(100_000, client_id="narrow")
    began = time.perf_counter()
    producer.send(topic, os.urandom(60_000), partition=0).get(timeout=10)
    assert time.perf_counter() - began >= 0.6


def test_a_half_closed_connection_is_given_up_by_the_client(cluster: Cluster, topic: str) -> None:
    producer = KafkaProducer(bootstrap_servers=cluster.address, client_id="half", **quick.producer)
    producer.send(topic, b"before", partition=0).get(timeout=10)
    before = {frame.connection for frame in cluster.gateway.frames("Produce")}
    assert cluster.gateway.half_close(client_id="half") >= 1
    producer.send(topic, b"after", partition=0).get(timeout=15)
    after = {frame.connection for frame in cluster.gateway.frames("Produce")}
    assert after - before
    assert Counter(read(cluster, topic)) == {b"before": 1, b"after": 1}


def test_a_broken_connection_takes_along_what_a_delay_holds_back(
    cluster: Cluster, topic: str
) -> None:
    producer = KafkaProducer(
        bootstrap_servers=cluster.address,
        client_id="broken",
        batch_size=0,
        enable_idempotence=False,
        **quick.producer,
    )
    cluster.gateway.delay(20_000, api="Produce", client_id="broken")
    sent = [producer.send(topic, b"%d" % number, partition=0) for number in range(5)]
    cluster.gateway.wait_for_request("Produce", client_id="broken", count=5)
    cluster.gateway.heal()  # of the delay are rid those that come from now on
    assert cluster.gateway.reset(client_id="broken") >= 1
    for future in sent:
        future.get(timeout=10)
    outcomes = [frame.outcome for frame in cluster.gateway.frames("Produce", client_id="broken")]
    assert outcomes == ["lost"] * 5 + ["answered"] * 5
    assert sorted(read(cluster, topic)) == [b"%d" % number for number in range(5)]


def test_one_client_is_cut_and_another_is_not(cluster: Cluster, topic: str) -> None:
    cut = KafkaProducer(bootstrap_servers=cluster.address, client_id="cut", **quick.producer)
    free = KafkaProducer(bootstrap_servers=cluster.address, client_id="free", **quick.producer)
    for producer in (cut, free):
        producer.send(topic, b"x", partition=0).get(timeout=10)
    cluster.gateway.cut(client_id="cut")
    waiting = cut.send(topic, b"y", partition=0)
    free.send(topic, b"y", partition=0).get(timeout=10)
    wait_until(
        lambda: any(f.outcome == "refused" for f in cluster.gateway.frames(client_id="cut")),
        timeout=10,
        what="a refused request",
    )
    assert not waiting.is_done
    cluster.gateway.heal()
    waiting.get(timeout=10)


def test_orders_that_could_have_no_effect_are_refused(cluster: Cluster) -> None:
    with pytest.raises(CourseError, match="Did you mean Produce"):
        cluster.gateway.delay(10, api="Prodice")
    with pytest.raises(CourseError, match=r"(?s)node 7 for clients.*0, 1, 2"):
        cluster.gateway.cut(7)


def test_slow_followers_slow_acknowledgements_by_all(
    cluster: Cluster, topic: str, engine: str
) -> None:
    if engine == "docker":
        with pytest.raises(CourseError, match="does not carry what nodes send"):
            cluster.gateway.delay(400, api="Fetch", between="nodes")
        return
    producer = KafkaProducer(bootstrap_servers=cluster.address, acks="all", **quick.producer)
    producer.send(topic, b"x", partition=0).get(timeout=10)
    cluster.gateway.delay(400, api="Fetch", between="nodes")
    for number in range(2):  # the first may meet a request that is there already
        began = time.perf_counter()
        producer.send(topic, b"%d" % number, partition=0).get(timeout=10)
    assert time.perf_counter() - began >= 0.4
    fetches = cluster.gateway.frames("Fetch", between="nodes")
    assert {frame.source for frame in fetches} >= {0, 1, 2}


# --- Brokers without a network -----------------------------------------------------------------


def test_a_broker_that_is_cut_off_is_fenced_and_comes_back(cluster: Cluster, topic: str) -> None:
    leader = cluster.wait_for_leader(topic, 0)
    KafkaProducer(bootstrap_servers=cluster.address, **quick.producer).send(
        topic, b"x", partition=0
    ).get(timeout=10)
    cluster.wait_for_isr(topic, 3)
    cluster.cut(leader)
    with pytest.raises(CourseError, match="connection failed"):
        wire.metadata(cluster.addresses[leader])
    assert cluster.state(leader) == "running"
    cluster.wait_for_brokers(others(cluster, leader))
    assert cluster.wait_for_leader(topic, 0, among=others(cluster, leader)) != leader
    cluster.wait_for_isr(topic, 2)
    KafkaProducer(bootstrap_servers=cluster.address, **quick.producer).send(
        topic, b"y", partition=0
    ).get(timeout=10)
    cluster.heal(leader)
    cluster.wait_for_brokers(timeout=60)
    cluster.wait_for_isr(topic, 3, timeout=60)
    assert Counter(read(cluster, topic)) == {b"x": 1, b"y": 1}


def test_what_a_lonely_leader_takes_is_gone_after_healing(cluster: Cluster, topic: str) -> None:
    leader = cluster.wait_for_leader(topic, 0)
    producer = KafkaProducer(
        bootstrap_servers=cluster.address, acks=1, enable_idempotence=False, **quick.producer
    )
    producer.send(topic, b"kept", partition=0).get(timeout=10)
    cluster.wait_for_isr(topic, 3)
    wait_until(
        lambda: len({tuple(cluster.batches(topic, 0, b)) for b in cluster.brokers}) == 1,
        timeout=10,
        what="the same log everywhere",
    )
    cluster.cut(leader, clients=False)
    taken = [producer.send(topic, b"lost", partition=0).get(timeout=10) for _ in range(5)]
    assert [record.offset for record in taken] == [1, 2, 3, 4, 5]
    elected = cluster.wait_for_leader(topic, 0, among=others(cluster, leader))
    assert cluster.batches(topic, 0, leader)[-1].last_offset == 5
    assert cluster.batches(topic, 0, elected)[-1].last_offset == 0
    cluster.heal(leader)
    cluster.wait_for_isr(topic, 3, timeout=60)
    assert cluster.batches(topic, 0, leader)[-1].last_offset == 0
    assert read(cluster, topic) == [b"kept"]


def test_a_broker_that_only_clients_cannot_reach_stays_in_sync(
    cluster: Cluster, topic: str
) -> None:
    leader = cluster.wait_for_leader(topic, 0)
    cluster.cut(leader, nodes=False)
    producer = KafkaProducer(
        bootstrap_servers=cluster.address,
        client_id="outside",
        **quick.producer | {"request_timeout_ms": 1_000, "delivery_timeout_ms": 2_000},
    )
    with pytest.raises(KafkaError):
        producer.send(topic, b"x", partition=0).get(timeout=10)
    cluster.wait_for_isr(topic, 3)
    cluster.heal(leader)
    KafkaProducer(bootstrap_servers=cluster.address, **quick.producer).send(
        topic, b"x", partition=0
    ).get(timeout=10)


def test_a_killed_broker_comes_back_at_the_same_address(cluster: Cluster, topic: str) -> None:
    cluster.kill(2)
    with pytest.raises(CourseError):
        wire.answering(cluster.addresses[2])
    cluster.restart(2)
    assert set(wire.brokers(wire.metadata(cluster.addresses[2])).values()) == set(
        cluster.addresses.values()
    )


def test_killed_and_frozen_brokers_are_mended_also_where_one_was_cut_off(cluster: Cluster) -> None:
    """The network is mended first, so that who comes back finds the others."""
    cluster.cut(2, clients=False)
    cluster.kill(2)
    cluster.pause(1)
    cluster.mend()
    assert {cluster.state(broker) for broker in cluster.brokers} == {"running"}
    cluster.wait_for_brokers()
    assert cluster.cut_off == frozenset()


def test_a_cut_is_known_to_others_who_attach(cluster: Cluster) -> None:
    with Cluster.attach(cluster.slot.number) as attached:
        attached.gateway.cut(2)
        with pytest.raises(CourseError, match="connection failed"):
            wire.metadata(cluster.addresses[2])
        attached.gateway.heal(2)
    assert wire.metadata(cluster.addresses[2]).brokers


def test_who_was_away_is_asked_last(cluster: Cluster) -> None:
    cluster.cut(1)
    cluster.mend()
    # Asked first, it would tell of the time before the cut.
    assert list(cluster._reachable())[-1] == 1


def test_who_attaches_heals_what_another_has_cut(cluster: Cluster, topic: str) -> None:
    with Cluster.attach(cluster.slot.number) as attached:
        cluster.cut(2)
        cluster.gateway.delay(60_000, api="Produce", client_id="healed")
        attached.wait_for_brokers([0, 1])
        with pytest.raises(CourseError, match="connection failed"):
            wire.metadata(cluster.addresses[2])
        attached.network.heal_all()
        attached.wait_for_brokers(timeout=60)
        attached.wait_for_isr(topic, 3, timeout=60)
        producer = KafkaProducer(
            bootstrap_servers=attached.address, client_id="healed", **quick.producer
        )
        for partition in range(3):
            producer.send(topic, b"x", partition=partition).get(timeout=10)


def test_nobody_else_gives_orders_or_connects(cluster: Cluster) -> None:
    path = cluster.slot.folder / "gateway.sock"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (process,) = gateways(cluster.slot.folder)
    listening = [c for c in process.net_connections("tcp") if c.status == psutil.CONN_LISTEN]
    assert listening
    assert {connection.laddr.ip for connection in listening} == {"127.0.0.1"}


# --- Life --------------------------------------------------------------------------------------


def gateways(folder: Path) -> list[psutil.Process]:
    found = marked(f"{java_command.MARK}{folder}")
    return [process for process in found if "kafkalab.gateway.server" in process.cmdline()]


def test_without_a_gateway_the_cluster_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Cluster.start("single") as single:
        with pytest.raises(CourseError, match=r'start\("single", gateway=True\)'):
            single.cut(0)
        monkeypatch.setenv("KAFKALAB_CLUSTER", str(single.slot.record))
        with pytest.raises(CourseError, match="running cluster has no gateway"):
            Cluster.start("single", gateway=True)


def test_two_gateways_stand_beside_each_other() -> None:
    with (
        Cluster.start("single", gateway=True) as one,
        Cluster.start("single", gateway=True, beside=True) as two,
    ):
        one.gateway.cut(0)
        with KafkaAdminClient(bootstrap_servers=two.address, **quick.admin) as admin:
            admin.create_topics(["here"])
        two.wait_for_topic("here")
        assert not one.gateway.frames()
        one.heal(0)
        assert one.topics() == []
        (first,), (second,) = gateways(one.slot.folder), gateways(two.slot.folder)
    assert not first.is_running()
    assert not second.is_running()


def test_a_killed_owner_leaves_no_gateway_behind() -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    said = owner.stdout.readline()
    while said and not said.startswith("folder "):  # a note on a port that is taken
        said = owner.stdout.readline()
    folder = Path(said.removeprefix("folder ").strip())
    assert gateways(folder)
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    wait_until(lambda: not folder.exists(), timeout=30, what="the slot to be cleaned up")
    assert not gateways(folder)
