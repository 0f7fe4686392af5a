"""What a client meets on one node and lab 02 does not show; lesson 01 tells of the first."""

import logging
from contextlib import suppress
from socket import create_connection

import pytest
from kafka import KafkaProducer

from kafkalab import Cluster, quick

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


def test_a_broker_that_does_not_run_is_known_by_its_port_and_its_process(other):
    def observed():
        """Whether somebody listens on the port of the broker, and what its process does."""
        host, port = other.addresses[0].split(":")
        listening = False
        with suppress(ConnectionRefusedError), create_connection((host, int(port)), timeout=2):
            listening = True
        return listening, other.state(0)

    assert observed() == (True, "running")
    other.kill(0)
    assert observed() == (False, "exited")
