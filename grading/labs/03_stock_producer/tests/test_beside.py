"""What lies beside the notebook of lab 03: a logbook, and Java's defaults."""

import logging

import pytest
from kafka import KafkaAdminClient, KafkaProducer

from grading.define.definition import module
from grading.define.place import find
from kafkalab import Cluster, quick
from kafkalab.lessons.producers.interceptors import InterceptingProducer


def test_five_defaults_are_not_those_of_java():
    differing = module(find("lab03"), "java_defaults").differing()
    absent = {name for name, (_, here) in differing.items() if here == "not there"}
    assert absent == {"buffer_memory", "interceptor_classes"}
    assert set(differing) == {"retries", "linger_ms", "partitioner"} | absent


@pytest.mark.cluster
def test_a_logbook_agrees_after_a_flush_and_shows_each_hundredth(caplog):
    caplog.set_level(logging.DEBUG, logger="stocks")
    logbook = module(find("lab03"), "logbook").Logbook("stocks")
    with Cluster.start("single") as cluster:
        topic = cluster.unused("logged")
        with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
            admin.create_topics({topic: {"num_partitions": 1, "replication_factor": 1}})
        cluster.wait_for_topic(topic)
        with KafkaProducer(bootstrap_servers=cluster.address, **quick.producer) as producer:
            logged = InterceptingProducer(producer, logbook)
            for number in range(1, 201):
                logged.send(topic, value=b"%d" % number)
            logged.flush(timeout=20)
    assert logbook.sent == logbook.answered == 200
    told = [one for one in caplog.records if one.name == "stocks"]
    shown = [one.getMessage() for one in told if one.levelno == logging.INFO]
    assert len(told) == 400, "one of each send and one of each answer"
    assert shown[0] == "on_send b'100'"
    assert sorted(line.split()[0] for line in shown) == ["on_ack"] * 2 + ["on_send"] * 2
