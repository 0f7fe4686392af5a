"""What checks see of a real cluster, and how it is put in order between hand-ins."""

import json
import socket
from dataclasses import replace

import pytest
from IPython.core.interactiveshell import InteractiveShell
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import InvalidRequestError, NoError
from kafka.protocol.admin import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

from grading import lab as lab_module
from grading.define.seed import Draw, Parameters
from grading.judge.checks import Check, Unseen, equal, run, same
from grading.judge.outcome import Outcome
from grading.judge.view import ClusterView
from grading.judge.visible import Visible
from grading.lab import Lab, OwnNotebook
from grading.run.lease import Lease, put_in_order
from grading.run.sweep import sweep
from grading.sandbox.carrier import Carrier
from kafkalab import clients, quick
from kafkalab.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def cluster():
    with Cluster.start("replicated") as running:
        yield running


@pytest.fixture
def topic(cluster, request):
    """A topic of the test's own, with three partitions."""
    name = f"t-{abs(hash(request.node.name)) % 10**8}"
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({name: {"num_partitions": 3, "replication_factor": 3}})
    cluster.wait_for_topic(name)
    yield name
    sweep(cluster, name)


@pytest.fixture
def view(cluster):
    return ClusterView(cluster, client_id="test-grading")


def send(cluster, topic, values, **settings):
    producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer | settings)
    for value in values:
        producer.send(topic, key=value[:1].encode(), value=value.encode()).get(timeout=10)


def test_the_log_is_read_as_it_lies(cluster, topic, view):
    values = [f"{letter}{n}" for letter in "abcd" for n in range(5)]
    send(cluster, topic, [*values, "a1"])
    log = view.read(topic, limit=100)
    assert sorted(log.values) == sorted([*values, "a1"])
    assert log.duplicates() == ["a1"]
    for partition, records in log.partitions.items():
        assert [record.offset for record in records] == list(range(len(records)))
        assert {record.partition for record in records} == {partition}
    assert view.seen[f"records of {topic}, read_uncommitted"]["records"]


def test_a_log_is_read_once_until_the_notebook_goes_on(cluster, topic, view):
    send(cluster, topic, ["a"])
    assert len(view.read(topic, limit=10)) == 1
    send(cluster, topic, ["b"])
    assert len(view.read(topic, limit=10)) == 1
    view.forget()
    assert len(view.read(topic, limit=10)) == 2


def test_an_aborted_record_is_there_for_those_who_do_not_ask(cluster, topic, view):
    producer = KafkaProducer(
        bootstrap_servers=cluster.address,
        client_id="tx",
        transactional_id=f"tx-{topic}",
        **quick.producer | {"max_block_ms": 20_000},
    )
    producer.init_transactions()  # the first one makes a topic of Kafka's own
    for value, end in (
        ("kept", producer.commit_transaction),
        ("dropped", producer.abort_transaction),
    ):
        producer.begin_transaction()
        producer.send(topic, value=value.encode())
        producer.flush()
        end()
    assert sorted(view.read(topic, limit=10).values) == ["dropped", "kept"]
    assert view.read(topic, isolation="read_committed", limit=10).values == ["kept"]


def test_what_is_not_there_ends_a_check_and_names_what_is(topic, view):
    view.patience = 0
    with pytest.raises(Unseen, match=f"there is no topic nowhere .there: .*{topic}"):
        view.topic("nowhere")
    with pytest.raises(Unseen, match="there is no consumer group nobody"):
        view.group("nobody")
    with pytest.raises(Unseen, match="holds 0 records, more than -1"):
        view.read(topic, limit=-1)


def test_a_group_is_seen_with_its_offsets(cluster, topic, view):
    send(cluster, topic, ["a", "b", "c"])
    reader = KafkaConsumer(
        topic,
        bootstrap_servers=cluster.address,
        client_id="member",
        group_id=f"g-{topic}",
        auto_offset_reset="earliest",
        **quick.consumer,
    )
    assert len(list(clients.records_until_end(reader))) == 3
    reader.commit()
    x = Visible(OwnNotebook(), view, Parameters(), "seed")
    assert x.soon(lambda: view.group(f"g-{topic}").state == "STABLE")
    assert sum(view.group(f"g-{topic}").offsets.values()) == 3
    assert x.steady(lambda: view.group(f"g-{topic}").state == "STABLE", hold=0.3)
    reader.close()
    assert x.soon(lambda: view.group(f"g-{topic}").state == "EMPTY")
    assert not x.steady(lambda: view.group(f"g-{topic}").state == "STABLE", hold=0.3)


def test_a_nearly_right_state_fails_with_the_difference(cluster, topic, view):
    send(cluster, topic, ["a", "b", "x"])
    x = Visible(OwnNotebook(), view, Parameters(topic=topic), "seed")

    def looks(x):
        yield equal("partitions", len(x.kafka.topic(x.p.topic).partitions), 3)
        yield same("records", x.read(x.p.topic).values, ["a", "b", "c"])

    result = run(Check("looks", 1, 2, "", "after", None, looks), x)
    assert result.outcome is Outcome.PART
    assert result.messages == ["records: missing 'c'; not expected 'x'"]


def test_a_topic_that_retention_has_emptied_is_told_from_one_that_nobody_filled(
    cluster, topic, view
):
    with pytest.raises(Unseen, match=f"^the topic {topic} is empty$"):
        view.read(topic, limit=10)
    send(cluster, topic, ["a", "a", "a"])
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        ends = {p.partition: p.end_offset for p in cluster.topic(topic).partitions}
        admin.delete_records({TopicPartition(topic, p): end for p, end in ends.items() if end})
    view.forget()
    with pytest.raises(Unseen, match=r"3 records were deleted from it.* in milliseconds"):
        view.read(topic, limit=10)


def test_a_broker_that_a_cell_has_stopped_is_told_as_that(cluster, view):
    lost = cluster.brokers[-1]
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({"lone": {"assignments": {0: [lost]}}})
    cluster.wait_for_topic("lone")
    x = Visible(OwnNotebook(), view, Parameters(), "seed")

    def reads(x):
        yield equal("records", len(x.read("lone")), 1)

    try:
        cluster.stop(lost)
        told = run(Check("reads", 1, 2, "", "after", None, reads), x)
        x.may_blame = False  # as where it may be the machine, before the last try
        ours = run(Check("reads", 1, 2, "", "after", None, reads), x)
    finally:
        cluster.mend()
        sweep(cluster, "lone")
    assert told.outcome is Outcome.FAIL
    assert told.messages[0].startswith(f"broker {lost} does not run: a cell has stopped, killed")
    assert ours.outcome is Outcome.INFRA


def test_a_sweep_takes_what_has_the_tag_and_nothing_else(cluster):
    admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
    mine, other = Draw("me"), Draw("you")
    shape = {"num_partitions": 1, "replication_factor": 1}
    admin.create_topics({mine.name("a"): shape, mine.name("b"): shape, other.name("a"): shape})
    reader = KafkaConsumer(
        mine.name("a"),
        bootstrap_servers=cluster.address,
        group_id=mine.name("group"),
        **quick.consumer,
    )
    reader.poll(timeout_ms=500)
    reader.close()
    for name in (mine.name("a"), mine.name("b"), other.name("a")):
        cluster.wait_for_topic(name)
    gone = sweep(cluster, mine.tag)
    assert set(gone) >= {mine.name("a"), mine.name("b")}
    assert other.name("a") in cluster.topics()
    assert not {mine.name("a"), mine.name("b")} & set(cluster.topics())
    sweep(cluster, other.tag)
    assert sweep(cluster, other.tag) == []


def test_brokers_that_an_attempt_stopped_come_back(cluster, topic, view):
    send(cluster, topic, ["a"])
    view.open_reader()
    attached = Cluster.attach(cluster.slot.record)
    attached.kill(1)
    attached.pause(2)
    put_in_order(cluster)
    cluster.wait_for_brokers(timeout=5)
    cluster.wait_for_isr(topic, 3)
    view.forget()
    assert view.read(topic, limit=10).values == ["a"], "the reader finds its way again"


def test_a_lease_keeps_its_cluster_while_it_is_sound_and_clears_it(tiny):
    lab = replace(tiny, profile="single", settings={"log.retention.ms": "777000"})
    lease = Lease(lab)
    try:
        path = lease.take()
        first = lease.cluster
        assert first.broker_configs(0)["log.retention.ms"].value == "777000"
        assert "__consumer_offsets" in first.topics(internal=True), "also before the first group"
        with KafkaAdminClient(bootstrap_servers=first.address, **quick.admin) as admin:
            admin.create_topics(["left-over"])
        first.wait_for_topic("left-over")
        lease.give_back()
        assert lease.take() == path
        assert first.topics() == []
        lease.give_back(is_sound=False)
        lease.take()
        assert lease.cluster is not first
        change = ConfigResource(ConfigResourceType.BROKER, "0", {"log.retention.ms": "1"})
        with KafkaAdminClient(bootstrap_servers=lease.cluster.address, **quick.admin) as admin:
            admin.alter_configs([change])
        lease.cluster.wait_for_setting("log.retention.ms", "1")
        lease.give_back()
        assert lease.cluster is None, "the next student would have it too"
        lease.take()
        second = replace(lab, fresh=True)
        lease.lab = second
        lease.give_back()
        assert lease.cluster is None
    finally:
        lease.close()


def test_no_hand_in_lets_a_broker_listen_elsewhere_or_tell_what_a_file_holds(cluster, tmp_path):
    """Through what carries its connections, in the words of an admin client."""
    (tmp_path / "secret").write_text("of the teacher")
    folders = "org.apache.kafka.common.config.provider.DirectoryConfigProvider"
    listens = {"listeners": "CLIENT://0.0.0.0:0"}
    # a value that a broker refuses stands in its answer
    tells = {
        "config.providers": "folder",
        "config.providers.folder.class": folders,
        "log.message.timestamp.type": f"${{folder:{tmp_path}:secret}}",
    }
    port = int(cluster.addresses[0].rpartition(":")[2])
    assert "of the teacher" in answer(port, tells).error_message, "so it would go without"
    Carrier(tmp_path / "brokers", [port])
    with socket.socket(socket.AF_UNIX) as line, socket.create_server(("127.0.0.1", 0)) as inside:
        line.connect(str(tmp_path / "brokers"))
        socket.send_fds(line, [json.dumps([port]).encode()], [inside.fileno()])
        assert line.recv(1) == b"1"
        way = inside.getsockname()[1]
        for wanted in (listens, tells):
            refused = answer(way, wanted)
            assert refused.error_code == InvalidRequestError.errno, refused
            assert "of the teacher" not in refused.error_message
        done = answer(way, {"message.max.bytes": "99999"})
    assert done.error_code == NoError.errno, done


def answer(port, wanted):
    """What a broker says to the question whether it would take these settings."""
    settings = [(name, 0, value) for name, value in wanted.items()]
    told = [(ConfigResourceType.BROKER, "0", settings)]
    request = IncrementalAlterConfigsRequest(resources=told, validate_only=True)
    request.with_header(1, "inside")
    with socket.create_connection(("127.0.0.1", port), timeout=20) as way:
        way.sendall(request.encode(0, header=True, framed=True))
        with way.makefile("rb") as answers:
            head = answers.read(4)
            frame = head + answers.read(int.from_bytes(head, "big"))
    (one,) = IncrementalAlterConfigsResponse.decode(frame, 0, header=True, framed=True).responses
    return one


def test_a_learner_sees_a_table_a_hint_and_no_traceback(cluster, tiny, monkeypatch):
    shell = InteractiveShell.instance()
    monkeypatch.setattr(lab_module, "get_ipython", lambda: shell)
    lab = Lab(tiny, "seed", cluster)
    shell.user_ns["double"] = 2 * lab.p.number
    assert "✓ The number is doubled (2 of 2)" in repr(lab.check(1))
    shell.user_ns["double"] = "<b>wrong</b>"
    verdict = lab.check(1)
    assert "Hint for task 1: Twice." in repr(verdict)
    assert "&lt;b&gt;wrong&lt;/b&gt;" in verdict._repr_html_()
    assert "<b>wrong" not in verdict._repr_html_()
    score = repr(lab.score())
    assert "0 of 6 points; 1 hidden check worth 2 more runs when it is graded" in score
    assert "any_word" not in score
