"""What a client meets on one node and lab 02 does not show; lesson 01 tells of the first."""

import logging
import subprocess
from contextlib import suppress
from socket import create_connection

import psutil
import pytest
from kafka import KafkaProducer

from kafkalab import Cluster, environment, quick
from kafkalab.engine.java_command import MARK

pytestmark = pytest.mark.cluster


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
            timeout=30,
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
