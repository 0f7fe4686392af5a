"""One cluster for all tests of the programs, and topics on it."""

import pytest
from kafka import KafkaAdminClient, KafkaProducer

from delivery import Run
from kafkalab import Cluster, quick

# Only the first of the last three is needed for members of the classic protocol. A broker that is
# frozen for three seconds has to stay a member of the cluster, also where that takes longer.
SETTINGS = {
    "broker.session.timeout.ms": 9_000,
    "auto.create.topics.enable": True,
    "num.partitions": 3,
    "default.replication.factor": 1,
    "offsets.topic.num.partitions": 5,
    "group.min.session.timeout.ms": 500,
    "group.consumer.min.session.timeout.ms": 500,
    "group.consumer.min.heartbeat.interval.ms": 500,
}


@pytest.fixture(scope="package")
def cluster():
    with Cluster.start("replicated", settings=SETTINGS, beside=True) as cluster:
        yield cluster


@pytest.fixture
def create(cluster):
    """A function that makes a topic with one copy."""

    def create(name, partitions=6, configs=None):
        kind = {"num_partitions": partitions, "replication_factor": 1, "configs": configs or {}}
        with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
            admin.create_topics({name: kind})
        cluster.wait_for_topic(name)
        return name

    return create


@pytest.fixture
def topic(cluster, create, request):
    """Six partitions under the name of the test."""
    return create(cluster.unused(request.node.name.partition("[")[0].replace("_", "-")))


@pytest.fixture
def run(cluster, topic, tmp_path):
    """Consumers of the group share the name of the topic."""
    with Run(cluster, tmp_path / "run", topic=topic, group=topic) as run:
        yield run


@pytest.fixture
def fill(cluster):
    """A function that sends values, with numbers as keys."""

    def fill(topic, values, partition=None):
        producer = KafkaProducer(
            bootstrap_servers=cluster.address, client_id="fill", **quick.producer
        )
        for number, value in enumerate(values):
            producer.send(topic, key=str(number).encode(), value=value, partition=partition)
        producer.flush(10)

    return fill
