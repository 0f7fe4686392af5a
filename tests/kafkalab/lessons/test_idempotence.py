"""What lesson idempotence draws, and what it says of brokers that freeze and of Java's producer."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
from kafka import KafkaAdminClient, KafkaConsumer

from benchmarks import duplicates
from kafkalab import Cluster, clients, quick
from kafkalab.gateway.produced import SentBatch
from kafkalab.gateway.seen import Frame, Frames
from kafkalab.lessons import idempotence


def test_what_stands_behind_a_later_one_is_overtaken() -> None:
    assert idempotence.overtaken([4, 3, 2, 1, 0]) == [3, 2, 1, 0]
    assert idempotence.overtaken([1, 2, 0, 3]) == [0]
    assert idempotence.overtaken([0, 1, 2]) == []


def test_each_row_has_the_numbers_of_its_log() -> None:
    ax = idempotence.order({"off": [1, 0], "on": [0, 1]})
    assert [text.get_text().strip() for text in ax.texts] == ["1", "0", "0", "1"]
    (legend,) = ax.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "ride in its place",
        "ride behind a later one",
    ]


def frame(topic: str, checksum: int, records: int) -> Frame:
    batch = SentBatch(
        topic=topic,
        partition=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        records=records,
        transactional=False,
        checksum=checksum,
    )
    return Frame(
        connection=1,
        broker=0,
        between="clients",
        source=None,
        api_key=0,
        api="Produce",
        version=9,
        correlation_id=1,
        client_id=topic,
        request_bytes=100,
        response_bytes=50,
        requested=0.0,
        answered=0.1,
        outcome="answered",
        acks=-1,
        transactional_id=None,
        group=None,
        error_code=0,
        batches=(batch,),
    )


def test_what_was_sent_again_is_counted_apart_from_what_was_written_again() -> None:
    wire = Frames([frame("a", 1, 5), frame("a", 1, 5), frame("b", 2, 3), frame("b", 2, 3)])
    wire += [frame("elsewhere", 3, 9), frame("elsewhere", 3, 9)]
    sends = {
        "off": pd.DataFrame({"topic": "a", "copies_in_log": [2] * 5}),
        "on": pd.DataFrame({"topic": "b", "copies_in_log": [1] * 3}),
    }
    ax = idempotence.again(sends, wire)
    assert [text.get_text() for text in ax.texts] == ["5", "5", "3", "0"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    settings = duplicates.SETTINGS
    with Cluster.start("replicated", settings=settings, gateway=True, beside=True) as cluster:
        yield cluster


@pytest.mark.cluster
@pytest.mark.parametrize("still", [1, 2])
def test_frozen_brokers_double_what_they_lead_with_acks_1(cluster: Cluster, still: int) -> None:
    """C71"""
    one = duplicates.Round(cluster, duplicates.PARTITIONS)
    told = duplicates.frozen(one, still, acks=1, enable_idempotence=False)
    doubled = duplicates.BURST * still // 3
    assert told == f"600 acknowledged, {doubled} doubled, 0 lost: what got no answer"


@pytest.mark.cluster
@pytest.mark.parametrize("still", [1, 2])
def test_frozen_brokers_double_nothing_with_idempotence(cluster: Cluster, still: int) -> None:
    """C74"""
    told = duplicates.frozen(duplicates.Round(cluster, duplicates.PARTITIONS), still)
    assert told == "600 acknowledged, 0 doubled, 0 lost: none"


@pytest.mark.cluster
@pytest.mark.parametrize("idempotent", [False, True])
def test_a_broken_connection_turns_the_order_round_with_java_too(
    cluster: Cluster, idempotent: bool
) -> None:
    topic = cluster.unused("java")
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: {"num_partitions": 1, "replication_factor": 3}})
    cluster.wait_for_topic(topic)
    settings = [f"client.id={topic}", f"enable.idempotence={str(idempotent).lower()}"]
    settings += ["batch.size=0", "linger.ms=0"]
    where = ["--bootstrap-server", "{bootstrap}", "--topic", topic]
    options = [word for setting in settings for word in ("--command-property", setting)]
    lines = "".join(f"{number}\n" for number in range(40))
    cluster.gateway.delay(9_000, api="Produce", client_id=topic)
    with ThreadPoolExecutor() as pool:
        running = pool.submit(cluster.tool, "kafka-console-producer", *where, *options, stdin=lines)
        cluster.gateway.wait_for_request("Produce", client_id=topic, count=4, timeout=20)
        cluster.gateway.heal()
        cluster.gateway.reset(client_id=topic)
        assert running.result().returncode == 0, running.result()
    with KafkaConsumer(
        topic, bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
    ) as consumer:
        log = [int(record.value) for record in clients.records_until_end(consumer)]
    assert sorted(log) == list(range(40))
    assert (idempotence.overtaken(log) == []) == idempotent
