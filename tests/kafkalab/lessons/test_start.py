import logging

import pytest

from kafkalab import Cluster
from kafkalab.lessons import start


def test_what_kafka_python_logs_is_kept_once_and_shown_nowhere_else(capsys):
    logger = logging.getLogger("kafka.net")
    with start.logged() as lines:
        for _ in range(2):
            logger.warning("no node is there")
        logger.info("all is well")
        logger.error("refused")
    assert lines == ["WARNING kafka.net: no node is there", "ERROR kafka.net: refused"]
    assert capsys.readouterr().err == ""
    logger.error("afterwards")
    assert len(lines) == 2


@pytest.mark.cluster
def test_a_broker_names_what_it_was_told_to_name_and_makes_a_topic_all_the_same():
    told = "BROKER://broker:19092,CLIENT://127.0.0.1:9"
    with Cluster.start("single", settings={"advertised.listeners": told}, beside=True) as cluster:
        assert start.named_by(cluster.address) == {0: "127.0.0.1:9"}
        for _ in range(2):
            start.make_topic(cluster.address, "rides")
            assert start.topics_of(cluster.address) == ["rides"]
