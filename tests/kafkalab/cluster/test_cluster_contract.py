"""What every engine promises a lesson: the same clusters, faults, views and waits.

The clusters are shared by the tests of this file; after each test whatever it broke is mended.
"""

import itertools
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import ConfigResource
from kafka.errors import KafkaError, KafkaTimeoutError
from kafka.protocol.metadata import MetadataResponse

from kafkalab import Cluster, CourseError, WaitTimeout, Watch, clients, quick, wait_until
from kafkalab.cluster import wire
from kafkalab.cluster.glance import Glance
from kafkalab.cluster.views import QuorumView

pytestmark = pytest.mark.cluster

ENGINES = ["process", pytest.param("docker", marks=pytest.mark.docker)]
SETTINGS = {"replica.lag.time.max.ms": "2000", "log.retention.minutes": 77}
NUMBERS = itertools.count()


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def replicated(engine: str) -> Iterator[Cluster]:
    with Cluster.start("replicated", engine=engine, settings=SETTINGS, timeout=120) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def at_start(replicated: Cluster) -> tuple[Glance, QuorumView, list[str]]:
    """What the cluster says of itself before a test has changed anything."""
    return replicated.glance(), replicated.quorum(), replicated.topics(internal=True)


@pytest.fixture(scope="module")
def single(engine: str) -> Iterator[Cluster]:
    with Cluster.start("single", engine=engine, timeout=120) as cluster:
        yield cluster


@pytest.fixture
def cluster(replicated: Cluster, at_start: object) -> Iterator[Cluster]:
    yield replicated
    replicated.mend()


@pytest.fixture
def topic(cluster: Cluster) -> str:
    return create(cluster)


def create(cluster: Cluster, partitions: int = 3, **configs: str) -> str:
    name = f"topic-{next(NUMBERS)}"
    settings = {
        "num_partitions": partitions,
        "replication_factor": len(cluster.brokers),
        "configs": {key.replace("_", "."): value for key, value in configs.items()},
    }
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({name: settings})
    cluster.wait_for_topic(name)
    return name


def fill(
    cluster: Cluster, topic: str, count: int = 30, padding: int = 0, **settings: object
) -> KafkaProducer:
    """Records 0, 1, 2, …, in turn on the partitions 0, 1, 2."""
    producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer | settings)
    sent = [
        producer.send(topic, str(number).encode() + b" " * padding, partition=number % 3)
        for number in range(count)
    ]
    for future in sent:
        future.get(timeout=15)
    return producer


def read(cluster: Cluster, topic: str) -> list[bytes]:
    consumer = KafkaConsumer(
        topic, bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
    )
    return [record.value for record in clients.records_until_end(consumer, timeout=15)]


# --- Start, use, close -------------------------------------------------------------------------


def test_a_cluster_says_what_it_is(cluster: Cluster, engine: str) -> None:
    assert cluster.brokers == [0, 1, 2]
    assert cluster.profile == "replicated"
    assert cluster.engine_name == engine
    assert cluster.address == ",".join(cluster.addresses[broker] for broker in (0, 1, 2))
    assert f"replicated on 3 brokers at {cluster.address} ({engine} engine" in repr(cluster)
    assert repr(cluster).count("\n") == 0
    for broker, address in cluster.addresses.items():
        assert f">{broker}</td>" in cluster._repr_html_()
        assert address in cluster._repr_html_()


def test_it_starts_with_three_living_brokers_a_controller_and_no_topic(
    at_start: tuple[Glance, QuorumView, list[str]],
) -> None:
    seen, quorum, topics = at_start
    assert seen.members == {0, 1, 2}, "a fenced broker is not told to clients"
    assert (quorum.leader, [voter.node for voter in quorum.voters]) == (100, [100])
    assert quorum.epoch > 0
    assert (seen.partitions, topics) == ({}, [])


def test_records_go_in_and_come_out(cluster: Cluster, topic: str) -> None:
    fill(cluster, topic)
    assert sorted(map(int, read(cluster, topic))) == list(range(30))


def test_every_broker_knows_the_partitions_that_were_added(cluster: Cluster, topic: str) -> None:
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_partitions({topic: 5})
    cluster.wait_for_topic(topic, partitions=5)
    for address in cluster.addresses.values():
        assert (
            len(KafkaProducer(bootstrap_servers=address, **quick.producer).partitions_for(topic))
            == 5
        )


def test_the_leaders_of_a_topic_that_was_waited_for_act_as_such(cluster: Cluster) -> None:
    topic = create(cluster, partitions=30)
    partitions = cluster.glance().partitions  # asks once
    assert [partitions[topic, number].end for number in range(30)] == [0] * 30


def test_a_profile_that_does_not_exist_is_refused(engine: str) -> None:
    with pytest.raises(CourseError, match=r"(?s)no cluster called 'repliccated'.*single, repl"):
        Cluster.start("repliccated", engine=engine)


def test_running_the_cell_again_starts_a_fresh_cluster(engine: str) -> None:
    first = Cluster.start("single", engine=engine, timeout=120)
    with KafkaAdminClient(bootstrap_servers=first.address, **quick.admin) as admin:
        admin.create_topics(["old"])
    with Cluster.start("single", engine=engine, timeout=120) as second:
        assert second.topics() == []
        with pytest.raises(CourseError, match="cluster is closed"):
            first.topics()
        with pytest.raises(CourseError, match="Run the cell that starts it again"):
            KafkaAdminClient(bootstrap_servers=first.address, **quick.admin)
    assert repr(second) == "single (closed)"
    second.close()


def test_settings_that_stop_a_node_are_named(engine: str) -> None:
    with pytest.raises(CourseError, match=r"(?s)broker ended while it started.*num\.partitions"):
        Cluster.start("single", engine=engine, settings={"num.partitions": "many"}, timeout=60)


def test_a_cluster_of_another_process_is_used_and_left_alone(
    cluster: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKALAB_CLUSTER", str(cluster.slot.record))
    with Cluster.start("replicated") as attached:
        assert attached.address == cluster.address
        assert topic in attached.topics()
        attached.kill(2)
        attached.restart(2)
    assert cluster.state(2) == "running"
    with pytest.raises(CourseError, match="profile replicated, not single"):
        Cluster.start("single")
    with pytest.raises(CourseError, match=r"(?s)lacks.*num\.partitions=9"):
        Cluster.start("replicated", settings={"num.partitions": 9})
    assert Cluster.attach(cluster.slot.number).address == cluster.address


def test_attaching_to_nothing_says_so(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="There is no cluster at"):
        Cluster.attach(tmp_path / "cluster.json")


# --- Views -------------------------------------------------------------------------------------


def test_a_topic_shows_its_partitions_and_settings(cluster: Cluster) -> None:
    topic = create(cluster, retention_ms="60000")
    fill(cluster, topic)
    cluster.wait_for_isr(topic, 3)
    view = cluster.topic(topic)
    assert topic in cluster.topics()
    assert [p.partition for p in view.partitions] == [0, 1, 2]
    assert {p.leader for p in view.partitions} == {0, 1, 2}
    for partition in view.partitions:
        assert partition.leader == partition.replicas[0]
        assert sorted(partition.isr) == sorted(partition.replicas) == [0, 1, 2]
        assert (partition.start_offset, partition.end_offset) == (0, 10)
        assert (partition.elr, partition.last_known_elr) == ([], [])
    assert view.records == 30
    assert view.configs["retention.ms"].value == "60000"
    assert view.configs["retention.ms"].source == "DYNAMIC_TOPIC_CONFIG"
    assert view.configs["cleanup.policy"].source == "DEFAULT_CONFIG"
    assert list(view.to_pandas()["end_offset"]) == [10, 10, 10]
    assert repr(view).startswith(f"topic {topic} (retention.ms=60000)\npartition  leader  epoch")
    assert "text-align: right" in view._repr_html_()


def test_an_unknown_topic_is_an_error_that_lists_the_known(cluster: Cluster, topic: str) -> None:
    with pytest.raises(CourseError, match=rf"(?s)no topic 'nonsense'.*{topic}"):
        cluster.topic("nonsense")


def test_internal_topics_show_only_when_asked_for(cluster: Cluster, topic: str) -> None:
    consumer = KafkaConsumer(
        topic, bootstrap_servers=cluster.address, group_id="internal", **quick.consumer
    )
    assert list(clients.records_until_end(consumer, timeout=15)) == []
    cluster.wait_for_topic("__consumer_offsets")
    assert "__consumer_offsets" not in cluster.topics()
    assert "__consumer_offsets" in cluster.topics(internal=True)


def test_a_group_shows_members_offsets_and_lag(cluster: Cluster, topic: str) -> None:
    fill(cluster, topic)
    group = f"group-of-{topic}"
    assert cluster.group(group).state == "DEAD"
    coordinator = cluster.coordinator(group)  # known before there is a group
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=cluster.address,
        client_id="reader",
        group_id=group,
        auto_offset_reset="earliest",
        **quick.consumer,
    )
    assert len(list(clients.records_until_end(consumer, timeout=15))) == 30
    consumer.commit()
    fill(cluster, topic, 6)
    view = cluster.wait_for_group(group, "STABLE", members=1)
    assert view.coordinator == coordinator == cluster.coordinator(group)
    assert view.offsets == {(topic, partition): 10 for partition in range(3)}
    assert view.lag == {(topic, partition): 2 for partition in range(3)}
    assert view.total_lag == 6
    assert [member.client for member in view.members] == ["reader"]
    assert view.members[0].assignment == {topic: [0, 1, 2]}
    assert (view.type, view.protocol) == ("classic", "range")
    assert view.coordinator in cluster.brokers
    assert cluster.groups()[group] == "STABLE"
    assert repr(view).startswith(f"group {group}: STABLE, 1 member, range, coordinator")
    consumer.close()
    assert cluster.wait_for_group(group, "EMPTY").lag == view.lag


def test_the_quorum_shows_its_leader_and_who_follows(cluster: Cluster) -> None:
    quorum = cluster.quorum()
    assert quorum.leader == 100
    assert [voter.node for voter in quorum.voters] == [100]
    assert [observer.node for observer in quorum.observers] == [0, 1, 2]
    assert quorum.high_watermark > 0
    assert "voter" in repr(quorum)


def test_settings_of_a_start_are_in_force_on_each_broker(cluster: Cluster) -> None:
    for broker in cluster.brokers:
        configs = cluster.broker_configs(broker)
        assert configs["replica.lag.time.max.ms"].value == "2000"
        assert configs["log.retention.minutes"].value == "77"
        assert configs["log.retention.minutes"].source == "STATIC_BROKER_CONFIG"
        assert configs["broker.rack"].value == "abc"[broker]
        assert len(configs.chosen) < len(configs) / 4


def test_the_disk_shows_segments_and_batches(cluster: Cluster) -> None:
    topic = create(cluster, partitions=3, segment_bytes="1048576")
    for codec in ("gzip", "zstd"):
        fill(cluster, topic, 3, padding=200, compression_type=codec)
    cluster.wait_for_isr(topic, 3)
    for broker in cluster.brokers:
        batches = cluster.batches(topic, 0, broker)
        assert [batch.codec for batch in batches] == ["gzip", "zstd"]
        assert [batch.base_offset for batch in batches] == [0, 1]
        assert sum(batch.records for batch in batches) == 2
        assert batches[1].position == batches[0].bytes
        (segment,) = cluster.segments(topic, 0, broker)
        assert segment.base_offset == 0
        assert segment.files["log"] == sum(batch.bytes for batch in batches)
        told = cluster.log_bytes(topic, broker)
        assert told.keys() == {0, 1, 2}
        assert told[0] == segment.files["log"]
        assert {"index", "timeindex"} <= segment.files.keys()
    cluster.kill(1)
    assert len(cluster.batches(topic, 0, broker=1)) == 2
    assert cluster.log_ends(topic) == {0: 2, 1: 2, 2: 2}
    copies = cluster.copies(topic, 0)
    assert copies.ends == {0: 2, 1: 2, 2: 2}
    assert copies.equal
    assert copies[1].epochs == {0: 0}
    with pytest.raises(CourseError, match="No broker has a replica of nonsense 0"):
        cluster.batches("nonsense", 0)


def test_tools_run_and_report(cluster: Cluster, topic: str) -> None:
    listed = cluster.tool("kafka-topics", "--bootstrap-server", "{bootstrap}", "--list")
    assert listed.returncode == 0
    assert topic in listed.stdout.split()
    cluster.tool(
        *("kafka-console-producer", "--bootstrap-server", "{bootstrap}", "--topic", topic),
        stdin="from the console\n",
    )
    assert read(cluster, topic) == [b"from the console"]
    refused = cluster.tool("kafka-topics", "--bootstrap-server", "{bootstrap}", "--nonsense")
    assert refused.returncode == 1
    assert "nonsense" in refused.stdout + refused.stderr
    with pytest.raises(CourseError, match="no tool called 'kafka-nonsense'"):
        cluster.tool("kafka-nonsense")


def test_a_node_shows_its_log(cluster: Cluster) -> None:
    assert "Kafka Server started" in cluster.logs(0, lines=5000)
    assert "QuorumController" in cluster.logs("controller", lines=5000)
    assert len(cluster.logs(1, lines=3).splitlines()) == 3
    with pytest.raises(CourseError, match="no node 7"):
        cluster.logs(7)
    with pytest.raises(CourseError, match="no service 'registry'"):
        cluster.logs("registry")


# --- Faults ------------------------------------------------------------------------------------


def test_stop_hands_leaders_over_first(cluster: Cluster, topic: str) -> None:
    before = cluster.topic(topic)
    assert before.partitions[0].leader is not None
    victim = before.partitions[0].leader
    cluster.stop(victim)
    assert cluster.state(victim) == "exited"
    after = cluster.topic(topic)
    for partition in after.partitions:
        assert partition.leader not in (victim, None)
        assert victim not in partition.isr
    cluster.wait_for_brokers([broker for broker in cluster.brokers if broker != victim], timeout=5)
    cluster.restart(victim)
    cluster.wait_for_isr(topic, 3)


def test_kill_is_noticed_when_the_session_times_out(cluster: Cluster, topic: str) -> None:
    fill(cluster, topic)
    victim = cluster.topic(topic).partitions[0].leader
    others = [broker for broker in cluster.brokers if broker != victim]
    watch = Watch(cluster, topic, asked=others[0])
    with watch.during("kill"):
        cluster.kill(victim)
        # The controller still waits for its heartbeat, and nobody can say where the log ends.
        assert cluster.topic(topic).partitions[0].end_offset is None
        with pytest.raises(CourseError, match="Nobody can say how many records"):
            _ = cluster.topic(topic).records
        cluster.wait_for_brokers(others, timeout=15)
        assert cluster.wait_for_leader(topic, 0, among=others) in others
    assert cluster.topic(topic).records == 30

    seen = [look for look in watch.looks if look.partition == 0]
    assert seen[0].seconds < 1
    assert [(look.leader, look.in_sync) for look in (seen[0], seen[-1])] == [
        (victim, 3),
        (cluster.topic(topic).partitions[0].leader, 2),
    ]
    assert seen[-1].leader_epoch > seen[0].leader_epoch
    assert 1 < watch.until_moved("kill", 0) <= seen[-1].seconds
    rounds: list[int] = []
    with watch.during("kill", lambda: rounds.append(len(rounds)), every=60):
        pass
    assert rounds == [0]
    assert watch.until_moved("kill", 0) is None
    assert len(watch.looks) >= 2 * 3
    assert not {look.began for look in watch.looks} & {look.began for look in seen}


def test_a_paused_follower_leaves_the_isr_and_comes_back(cluster: Cluster, topic: str) -> None:
    leader = cluster.topic(topic).partitions[0].leader
    victim = next(broker for broker in cluster.brokers if broker != leader)
    cluster.pause(victim)
    assert cluster.state(victim) == "paused"
    cluster.wait_for_isr(topic, 2, timeout=20)
    assert victim not in cluster.topic(topic).partitions[0].isr
    with pytest.raises(WaitTimeout, match=r"(?s)3 in-sync replicas.*Last seen: partition 0"):
        cluster.wait_for_isr(topic, 3, timeout=0.2)
    cluster.resume(victim)
    cluster.wait_for_isr(topic, 3)


def test_a_setting_changed_in_running_brokers_is_awaited(cluster: Cluster) -> None:
    name = "transaction.partition.verification.enable"
    admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
    for value in ("false", "true"):
        for broker in map(str, cluster.brokers):
            admin.alter_configs([ConfigResource("BROKER", broker, configs={name: value})])
        cluster.wait_for_setting(name, value)
        assert {cluster.broker_configs(b)[name].value for b in cluster.brokers} == {value}
    with pytest.raises(WaitTimeout, match=f"(?s){name}=false on every broker.*broker 0: true"):
        cluster.wait_for_setting(name, "false", timeout=0.2)


def test_a_paused_broker_can_be_stopped_and_killed(cluster: Cluster) -> None:
    cluster.pause(1)
    cluster.stop(1)
    assert cluster.state(1) == "exited"
    cluster.pause(2)
    cluster.kill(2)
    assert cluster.state(2) == "exited"


def test_a_wiped_broker_gets_its_replicas_back(
    cluster: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(cluster, topic)
    with pytest.raises(CourseError, match="in use"):
        cluster.wipe(1)
    cluster.kill(1)
    cluster.wipe(1)
    with pytest.raises(CourseError, match=f"Broker 1 has no replica of {topic} 0"):
        cluster.batches(topic, 0, broker=1)
    began, questions, ask = time.monotonic(), [], wire.metadata
    with monkeypatch.context() as patched:
        patched.setattr(wire, "metadata", lambda *a, **k: questions.append(a) or ask(*a, **k))
        cluster.restart(1)
    # Each costs the node that starts: it is asked ten times a second and not fifty.
    assert len(questions) < 4 + 12 * (time.monotonic() - began), len(questions)
    cluster.wait_for_isr(topic, 3)
    assert cluster.batches(topic, 0, broker=1)[-1].last_offset == 9


def test_without_its_controller_the_cluster_serves_but_does_not_change(
    cluster: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.stop("controller")
    # An idempotent producer would want an id, which the controller gives out.
    fill(cluster, topic, 3, enable_idempotence=False)
    admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
    with pytest.raises(KafkaError):
        admin.create_topics({"never": {"num_partitions": 1}}, timeout_ms=1000)
    # No controller hears of its shutdown, so only the deadline ends it.
    cluster.engine.stop(cluster.description.brokers[2].name, timeout=2)
    assert cluster.state(2) == "exited"
    # A start that takes longer than a view waits.
    with monkeypatch.context() as patched:
        patched.setattr(cluster._survey, "_timeout", 0.1)
        cluster.restart("controller")
    cluster.wait_for_brokers([0, 1])


def test_a_rolling_restart_under_load_loses_nothing(cluster: Cluster, topic: str) -> None:
    producer = KafkaProducer(
        bootstrap_servers=cluster.address,
        acks="all",
        **quick.producer | {"delivery_timeout_ms": 30_000},
    )
    futures, finished = [], threading.Event()

    def send() -> None:
        while not finished.wait(0.02):
            futures.append(producer.send(topic, str(len(futures)).encode()))

    load = threading.Thread(target=send)
    load.start()
    try:
        cluster.rolling_restart()
    finally:
        finished.set()
        load.join()
    for future in futures:
        future.get(timeout=30)
    assert len(futures) > 100
    found = read(cluster, topic)
    assert sorted(map(int, found)) == list(range(len(futures)))


def on_broker_2(cluster: Cluster) -> str:
    """A topic of one partition without a second copy."""
    topic = f"topic-{next(NUMBERS)}"
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: {"assignments": {0: [2]}}})
    cluster.wait_for_topic(topic)
    return topic


@contextmanager
def little_work() -> Iterator[None]:
    """Fails where this process takes a third of a core or more meanwhile."""
    started, used = time.monotonic(), time.process_time()
    yield
    assert time.process_time() - used < (time.monotonic() - started) / 3


def test_a_producer_takes_no_core_while_a_partition_has_no_leader(cluster: Cluster) -> None:
    topic = on_broker_2(cluster)
    producer = KafkaProducer(
        bootstrap_servers=cluster.address, **quick.producer | {"delivery_timeout_ms": 60_000}
    )
    producer.send(topic, b"before").get(timeout=10)
    cluster.kill(2)
    wait_until(
        lambda: cluster.topic(topic).partitions[0].leader is None, timeout=20, what="no leader"
    )
    kept = producer.send(topic, b"kept")
    with little_work(), pytest.raises(KafkaTimeoutError):
        kept.get(timeout=2)
    cluster.restart(2)
    kept.get(timeout=30)
    assert read(cluster, topic) == [b"before", b"kept"]


def test_a_producer_goes_on_when_records_have_expired_at_a_frozen_broker(cluster: Cluster) -> None:
    topic, short = on_broker_2(cluster), {"request_timeout_ms": 1_000, "delivery_timeout_ms": 2_500}
    producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer | short)
    producer.send(topic, b"before").get(timeout=10)
    cluster.pause(2)
    expired = producer.send(topic, b"expired")
    with little_work(), pytest.raises(KafkaError):
        expired.get(timeout=20)
    cluster.resume(2)
    cluster.wait_for_brokers()
    producer.flush(timeout=20)
    producer.send(topic, b"after").get(timeout=20)
    assert read(cluster, topic)[-1] == b"after"


def test_a_leader_that_is_not_listed_among_the_brokers_is_asked_for_again(cluster: Cluster) -> None:
    topic, changed = on_broker_2(cluster), threading.Event()
    producer = KafkaProducer(
        bootstrap_servers=cluster.address, **quick.producer | {"delivery_timeout_ms": 30_000}
    )
    update = producer._metadata.update_metadata

    def update_without_broker_2(response: MetadataResponse) -> None:
        if response.topics and not changed.is_set():
            response.brokers = [broker for broker in response.brokers if broker.node_id != 2]
            changed.set()
        update(response)

    producer._metadata.update_metadata = update_without_broker_2
    producer.send(topic, b"arrives").get(timeout=20)
    assert changed.is_set()


def test_a_fault_where_there_is_nothing_to_break_is_refused(cluster: Cluster) -> None:
    cluster.kill(0)
    for fault in (cluster.stop, cluster.kill, cluster.pause, cluster.resume):
        with pytest.raises(CourseError, match="not running"):
            fault(0)


# --- One node ----------------------------------------------------------------------------------


def test_single_is_broker_and_controller_at_once(single: Cluster) -> None:
    topic = create(single)
    fill(single, topic)
    assert read(single, topic)
    assert single.brokers == [0]
    assert single.quorum().leader == 0
    single.kill(0)
    single.restart(0)
    for partition in range(3):
        single.wait_for_leader(topic, partition)
    assert single.topic(topic).records == 30
    record = json.loads(single.slot.record.read_text())
    assert record["profile"] == "single"
    assert record["addresses"] == {"0": single.address}
