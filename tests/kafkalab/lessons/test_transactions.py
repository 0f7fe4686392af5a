"""What lesson transactions draws and asks, and what a request does that comes after the abort."""

from collections.abc import Iterator

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import AbortTransactionSpec, ConfigResource

from kafkalab import Cluster, clients, quick, wait_until
from kafkalab.lessons import transactions

VERIFY = "transaction.partition.verification.enable"


def test_a_coin_that_ended_the_transfer_is_not_one_beside_it() -> None:
    assert transactions.one_coin(1)(None) == ""
    assert "waits" in transactions.one_coin(0)(None)
    assert "open no more" in transactions.one_coin(3)(None)


def test_clerks_have_a_name_each_that_stays() -> None:
    assert transactions.three_clerks(lambda partition: f"billing-{partition}") == ""
    assert "fence each other" in transactions.three_clerks(lambda partition: "billing")
    fresh = iter(range(9))
    assert "another name" in transactions.three_clerks(lambda partition: f"billing-{next(fresh)}")


def test_each_reader_has_bars_with_its_numbers() -> None:
    ax = transactions.visible(
        {
            "1 open": {"read_uncommitted": 2, "read_committed": 0},
            "1 committed, later": {"read_uncommitted": 2, "read_committed": 2},
        }
    )
    (legend,) = ax.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "read_uncommitted",
        "read_committed",
    ]
    assert [text.get_text() for text in ax.texts] == ["2", "2", "0", "2"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1 open", "1 committed,\nlater"]


def test_what_runs_beside_gives_its_result_or_its_error() -> None:
    def half(number: int) -> int:
        if number % 2:
            raise ValueError(number)
        return number // 2

    assert transactions.beside(half, 4).result(timeout=5) == 2
    assert isinstance(transactions.beside(half, 3).exception(timeout=5), ValueError)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    often = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": 500}
    with Cluster.start("replicated", settings=often, gateway=True, beside=True) as cluster:
        yield cluster


@pytest.fixture
def topic(cluster: Cluster) -> str:
    name = cluster.unused("late")
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({name: {"num_partitions": 1, "replication_factor": 3}})
    cluster.wait_for_topic(name)
    return name


def committed(cluster: Cluster, topic: str) -> list[bytes]:
    own = {"auto_offset_reset": "earliest", "isolation_level": "read_committed"}
    with KafkaConsumer(
        topic, bootstrap_servers=cluster.address, **quick.consumer | own
    ) as consumer:
        return [record.value for record in clients.records_until_end(consumer)]


def late_request(cluster: Cluster, topic: str, verify: str) -> int:
    """A transaction is aborted, then a request of it arrives; the number of the broker's error."""
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        for broker in map(str, cluster.brokers):
            admin.alter_configs([ConfigResource("BROKER", broker, configs={VERIFY: verify})])
    cluster.wait_for_setting(VERIFY, verify)
    own = {"request_timeout_ms": 1_000, "delivery_timeout_ms": 1_500, "max_block_ms": 20_000}
    slow = KafkaProducer(
        bootstrap_servers=cluster.address,
        client_id=topic,
        transactional_id=topic,
        **quick.producer | own,
    )
    slow.init_transactions()
    slow.begin_transaction()
    cluster.gateway.hold_requests("Produce", count=100, client_id=topic)
    slow.send(topic, value=b"too late")
    cluster.gateway.wait_for_request("Produce", client_id=topic)
    slow.abort_transaction()
    cluster.wait_for_markers()
    (*_, answer) = cluster.gateway.release()
    cluster.gateway.heal()
    return answer.responses[0].partition_responses[0].error_code


@pytest.mark.cluster
def test_a_request_that_comes_after_the_abort_is_refused(cluster: Cluster, topic: str) -> None:
    assert late_request(cluster, topic, verify="true") == 48, "InvalidTxnState"
    assert [batch.marker for batch in cluster.batches(topic, 0)] == ["abort"]


@pytest.mark.cluster
def test_without_that_a_transaction_hangs_until_an_operator_ends_it(
    cluster: Cluster, topic: str
) -> None:
    assert late_request(cluster, topic, verify="false") == 0
    payer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
    for number in range(10):
        payer.send(topic, value=b"%d" % number).get(timeout=10)
    assert committed(cluster, topic) == []
    broker = cluster.topic(topic).partitions[0].leader
    where = f"--broker-id {broker} --max-transaction-timeout 0".split()
    found = cluster.tool(
        "kafka-transactions", "--bootstrap-server", "{bootstrap}", "find-hanging", *where
    )
    assert topic in found.stdout, found
    place = TopicPartition(topic, 0)
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        assert admin.describe_transactions([topic])[topic].state.name == "COMPLETE_ABORT"
        for state in admin.describe_producers([place])[place].active_producers:
            if state.current_transaction_start_offset >= 0:
                whose = (state.producer_id, state.producer_epoch, state.coordinator_epoch)
                admin.abort_transaction(AbortTransactionSpec(place, *whose))
    assert committed(cluster, topic) == [b"%d" % number for number in range(10)]


@pytest.mark.cluster
def test_time_ends_a_transaction_that_nobody_ends(cluster: Cluster, topic: str) -> None:
    own = {"transaction_timeout_ms": 1_000, "max_block_ms": 20_000}
    gone = KafkaProducer(
        bootstrap_servers=cluster.address, transactional_id=topic, **quick.producer | own
    )
    gone.init_transactions()
    gone.begin_transaction()
    gone.send(topic, value=b"half of something")
    wait_until(
        lambda: any(batch.marker == "abort" for batch in cluster.batches(topic, 0)),
        timeout=20,
        what="the end of the transaction",
    )
    assert committed(cluster, topic) == []


def by_transaction(cluster: Cluster, topic: str) -> list[tuple[set[int], int]]:
    """For each transaction in the log of partition 0 the epochs of its batches, and its records."""
    found: list[tuple[set[int], int]] = []
    epochs: set[int] = set()
    records = 0
    for batch in cluster.batches(topic, 0):
        if batch.marker:
            found.append((epochs, records))
            epochs = set()
            records = 0
        else:
            epochs.add(batch.producer_epoch)
            records += batch.records
    return found


@pytest.mark.cluster
def test_java_has_an_epoch_for_each_transaction_and_this_client_one_for_all(
    cluster: Cluster, topic: str
) -> None:
    options = {
        "--bootstrap-server": "{bootstrap}",
        "--topic": topic,
        "--transactional-id": topic,
        "--transaction-duration-ms": "1",
        "--num-records": "4",
        "--record-size": "10",
        "--throughput": "5",
        "--command-property": f"client.id={topic}",
    }
    words = [word for option in options.items() for word in option]
    assert cluster.tool("kafka-producer-perf-test", *words).returncode == 0
    cluster.wait_for_markers()
    java = by_transaction(cluster, topic)
    assert sum(records for _, records in java) == 4, java
    assert [epochs for epochs, _ in java] == [{number} for number in range(len(java))], java
    assert len(java) > 1, "one transaction shows nothing"
    asked = {frame.api for frame in cluster.gateway.frames(client_id=topic)}
    assert "AddPartitionsToTxn" not in asked, asked

    own = quick.producer | {"client_id": f"{topic}-2", "transactional_id": f"{topic}-2"}
    other = KafkaProducer(bootstrap_servers=cluster.address, **own | {"max_block_ms": 20_000})
    other.init_transactions()
    for number in range(2):
        other.begin_transaction()
        other.send(topic, value=b"%d" % number)
        other.commit_transaction()
    cluster.wait_for_markers()
    assert by_transaction(cluster, topic)[len(java) :] == [({0}, 1), ({0}, 1)]
    asked = {frame.api for frame in cluster.gateway.frames(client_id=f"{topic}-2")}
    assert "AddPartitionsToTxn" in asked, asked


@pytest.mark.cluster
def test_who_takes_a_name_with_an_open_transaction_raises_its_epoch_twice(
    cluster: Cluster, topic: str
) -> None:
    own = quick.producer | {"transactional_id": topic, "max_block_ms": 20_000}
    for end in (False, True):
        producer = KafkaProducer(bootstrap_servers=cluster.address, **own)
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, value=b"one").get(timeout=10)
        if end:
            producer.commit_transaction()
    third = KafkaProducer(bootstrap_servers=cluster.address, **own)
    third.init_transactions()  # nothing is open now
    third.begin_transaction()
    third.send(topic, value=b"one").get(timeout=10)
    third.commit_transaction()
    cluster.wait_for_markers()
    seen = [(batch.producer_epoch, batch.marker) for batch in cluster.batches(topic, 0)]
    expected = [(0, None), (1, "abort"), (2, None), (2, "commit"), (3, None), (3, "commit")]
    assert seen == expected
