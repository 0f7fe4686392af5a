"""What lesson single_broker says of a broker's settings, and the table of those of its logs."""

from collections.abc import Iterator

import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import ConfigResource
from kafka.errors import InvalidConfigurationError, KafkaTimeoutError

from kafkalab import Cluster, quick, wait_until

pytestmark = pytest.mark.cluster

CHOSEN = {
    "log.retention.check.interval.ms": 100,
    "log.initial.task.delay.ms": 100,
    "log.retention.hours": 1,
    "log.retention.minutes": 30,
    "log.roll.hours": 2,
    "log.roll.ms": 60_000,
}
# Kafka 4.3's own, as strings; None where a setting has no value.
DEFAULTS = {
    "log.dir": "/tmp/kafka-logs",
    "log.flush.interval.messages": "9223372036854775807",
    "log.flush.interval.ms": None,
    "log.flush.offset.checkpoint.interval.ms": "60000",
    "log.flush.scheduler.interval.ms": "9223372036854775807",
    "log.retention.bytes": "-1",
    "log.retention.ms": None,
    "log.segment.bytes": "1073741824",
    "log.segment.delete.delay.ms": "60000",
    "compression.type": "producer",
    "compression.gzip.level": "-1",
    "compression.lz4.level": "9",
    "compression.zstd.level": "3",
}
UNCHOSEN = {
    "log.retention.hours": "168",
    "log.retention.minutes": None,
    "log.retention.check.interval.ms": "300000",
    "log.roll.hours": "168",
    "log.roll.ms": None,
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster.start("single", settings=CHOSEN, timeout=120, beside=True) as running:
        yield running


@pytest.fixture
def admin(cluster: Cluster) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as client:
        yield client


def create(cluster: Cluster, admin: KafkaAdminClient, name: str, **configs: str) -> str:
    topic = cluster.unused(name)
    admin.create_topics({topic: {"num_partitions": 1, "replication_factor": 1, "configs": configs}})
    cluster.wait_for_topic(topic)
    return topic


def synonyms(admin: KafkaAdminClient, name: str) -> list[tuple[str, str]]:
    """What a setting of the broker was chosen from, the strongest first."""
    broker = ConfigResource("BROKER", "0")
    told = admin.describe_configs([broker], include_synonyms=True, config_filter="all")
    return [(one["name"], one["value"]) for one in told["broker"]["0"][name]["synonyms"]]


def test_the_finer_unit_wins(cluster: Cluster, admin: KafkaAdminClient) -> None:
    assert synonyms(admin, "log.retention.minutes")[:2] == [
        ("log.retention.minutes", "30"),
        ("log.retention.hours", "1"),
    ]
    assert synonyms(admin, "log.roll.ms")[:2] == [("log.roll.ms", "60000"), ("log.roll.hours", "2")]
    topic = cluster.topic(create(cluster, admin, "rides"))
    assert topic.configs["retention.ms"].value == str(30 * 60 * 1000)
    assert topic.configs["segment.ms"].value == "60000"
    finest = {"log.retention.ms": 7_000, "log.retention.minutes": 30, "log.retention.hours": 1}
    with (
        Cluster.start("single", settings=finest, timeout=120, beside=True) as other,
        KafkaAdminClient(bootstrap_servers=other.address, **quick.admin) as client,
    ):
        assert [name for name, _ in synonyms(client, "log.retention.ms")][:3] == list(finest)
        topic = other.topic(create(other, client, "rides"))
        assert topic.configs["retention.ms"].value == "7000"


def test_a_segment_has_a_least_size(cluster: Cluster, admin: KafkaAdminClient) -> None:
    with pytest.raises(InvalidConfigurationError):
        create(cluster, admin, "small", **{"segment.bytes": str(2**20 - 1)})
    create(cluster, admin, "least", **{"segment.bytes": str(2**20)})


def test_a_deleted_segment_stays_under_another_name_until_its_delay_is_over(
    cluster: Cluster, admin: KafkaAdminClient
) -> None:
    topic = create(cluster, admin, "short", **{"retention.ms": "1", "file.delete.delay.ms": "1500"})
    (segment,) = cluster.segments(topic, 0)
    with KafkaProducer(bootstrap_servers=cluster.address, **quick.producer) as producer:
        producer.send(topic, value=b"old", timestamp_ms=1_000).get(timeout=10)

    def deleted() -> list[str]:
        return [path.name for path in segment.path.parent.glob("*.deleted")]

    assert f"{segment.path.name}.deleted" in wait_until(
        lambda: deleted() or None, timeout=20, what="a segment to be renamed"
    )
    assert cluster.topic(topic).partitions[0].start_offset == 1
    wait_until(lambda: not deleted(), timeout=20, what="the files to go")
    assert cluster.topic(topic).partitions[0].end_offset == 1


def test_the_settings_of_logs_are_kafkas_own_where_nobody_has_chosen(cluster: Cluster) -> None:
    told = cluster.broker_configs(0)
    assert {name: told[name].value for name in DEFAULTS} == DEFAULTS
    assert told["log.dirs"].value
    with Cluster.start("single", timeout=120, beside=True) as plain:
        of_plain = plain.broker_configs(0)
        assert {name: of_plain[name].value for name in UNCHOSEN} == UNCHOSEN


def test_a_topic_that_nobody_made_is_refused_where_the_course_does_not_ask_for_it(
    cluster: Cluster,
) -> None:
    impatient = quick.producer | {"max_block_ms": 1_000}
    with (
        KafkaProducer(bootstrap_servers=cluster.address, **impatient) as producer,
        pytest.raises(KafkaTimeoutError, match="Failed to update metadata"),
    ):
        producer.send("trps", value=b"to the station")
    assert "trps" not in cluster.topics()
