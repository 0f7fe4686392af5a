"""What a client meets on one node and lab 02 does not show; lesson 01 tells of the first."""

import json
import logging
import subprocess
import sys
import time
from contextlib import suppress
from socket import create_connection
from types import SimpleNamespace

import psutil
import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

from grading.define import master, seed
from grading.define.definition import module
from grading.define.place import find
from grading.handin.cells import task_cells
from kafkalab import Cluster, environment, quick
from kafkalab.engine.java_command import MARK
from tests.grading.state import loaded

pytestmark = pytest.mark.cluster

FLOWERS = module(find("lab02"), "flowers")


@pytest.fixture(scope="module")
def other():
    settings = {"auto.create.topics.enable": "true"}
    with Cluster.start("single", settings=settings, beside=True) as cluster:
        yield cluster


def test_a_topic_creates_itself_and_the_complaint_passes(other, caplog):
    caplog.set_level(logging.WARNING, logger="kafka")
    assert "test1" not in other.topics()
    patient = quick.producer | {"max_block_ms": 20_000}
    with KafkaProducer(bootstrap_servers=other.address, **patient) as writer:
        receipt = writer.send("test1", b"hello").get(timeout=20)
        complaints = len([line for line in caplog.messages if "test1 not found" in line])
        assert complaints, caplog.messages
        assert receipt.offset == 0, "the record is stored"
        assert writer.send("test1", b"again").get(timeout=20).offset == 1
    assert len([line for line in caplog.messages if "test1 not found" in line]) == complaints
    assert "test1" in other.topics()


FLOWERS_END_HARD = """
import csv, json, os, sys
from types import SimpleNamespace
from kafka import KafkaProducer

class LastAlone(KafkaProducer):
    # All records but the last have had the time to leave.
    def send(self, *given, headers, **named):
        promise = super().send(*given, headers=headers, **named)
        if dict(headers)["row"] == b"149":
            self.flush()
        return promise

address, names, data = sys.argv[1:]
lab = SimpleNamespace(p=SimpleNamespace(**json.loads(names)))
flowers = list(csv.DictReader(open(data, newline="")))
producer = LastAlone(bootstrap_servers=address, linger_ms=60_000)
{task_2}
sys.stdout.flush()
os._exit(0)
"""


def test_the_last_flower_is_missing_at_the_first_and_the_third_reader(other):
    """The lab's own producer and readers; in lab 02 a smaller program loses its last record."""
    lab = loaded("lab02")
    answers = task_cells(master.solved(lab))
    p = seed.parameters(lab.make, "last flower")
    with KafkaAdminClient(bootstrap_servers=other.address, **quick.admin) as admin:
        shape = {"num_partitions": 2, "replication_factor": 1}
        admin.create_topics({p.pair_topic: shape, p.lone_topic: shape})
    other.wait_for_topic(p.pair_topic)
    other.wait_for_topic(p.lone_topic)

    assert answers[2].count("producer.flush()") == 1
    program = FLOWERS_END_HARD.format(task_2=answers[2].replace("producer.flush()", ""))
    names = {name: p[name] for name in ("pair_topic", "lone_topic", "partition_of")}
    given = [other.address, json.dumps(names), str(lab.place.student / "data" / "iris.csv")]
    command = [sys.executable, "-P", "-c", program, *given]
    said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    printed = [int(line.split()[0]) for line in said.splitlines()]
    assert printed == [*range(1, 151)], "the program says that it has sent each flower"

    seen = {"lab": SimpleNamespace(p=p, cluster=other), "idle_seconds": 3, "quick": quick}
    seen |= {"json": json, "time": time}
    seen |= {"KafkaConsumer": KafkaConsumer, "TopicPartition": TopicPartition}
    exec(answers[3], seen)
    of = {name: FLOWERS.rows_of(f"Iris-{name}") for name in ("setosa", "virginica")}
    of["all"] = [*FLOWERS.flowers()]
    missing = {
        name: sorted(set(of[name]) - {record["row"] for record in seen["consumed"][name]})
        for name in of
    }
    counts = {name: len(seen["consumed"][name]) for name in of}
    assert missing == {"all": [150], "setosa": [], "virginica": [150]}
    assert counts == {"all": 149, "setosa": 50, "virginica": 51}


def test_whose_second_command_is_the_first_one_again_has_no_broker():
    """The notes start what keeps the metadata, and then say the same command for the broker.

    Today a controller keeps the metadata. Two observations tell that no broker has come of it: its
    port is closed, and none of the processes is one.
    """
    with Cluster.start("replicated", engine="process", beside=True) as cluster:

        def observed():
            """Whether somebody listens on the port of broker 0, and which nodes there are."""
            host, port = cluster.addresses[0].split(":")
            listening = False
            with suppress(ConnectionRefusedError), create_connection((host, int(port)), timeout=2):
                listening = True
            return listening, sorted(nodes(cluster))

        for broker in cluster.brokers:
            cluster.kill(broker)
        assert observed() == (False, ["controller"])

        (metadata,) = nodes(cluster)["controller"]
        again = subprocess.run(
            metadata.cmdline(),
            cwd=metadata.cwd(),
            env=environment.for_java(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        log = cluster.logs("controller", 200)
        assert again.returncode == 1, again
        assert "another process or thread is using this directory" in log, log
        assert observed() == (False, ["controller"]), "nothing has come of the second start"
        assert nodes(cluster)["controller"] == [metadata], "and the first one runs on"

        cluster.restart(0)
        assert observed() == (True, ["broker-0", "controller"]), "the right command"


def nodes(cluster):
    """The name of a service -> its processes, from the list of all that run."""
    found = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            said = process.cmdline()
            if f"{MARK}{cluster.slot.folder}" in said and "kafka.Kafka" in said:
                (name,) = (one for one in said if one.startswith("-Dkafkalab.service="))
                found.setdefault(name.partition("=")[2], []).append(process)
    return found
