"""A cell that ends in `create_topics` shows a line for each topic; a program gets all of it."""

import json

import pytest
from IPython.lib.pretty import pretty
from kafka import KafkaAdminClient

from kafkalab import Cluster, quick

ROOM = {"num_partitions": 3, "replication_factor": 1, "configs": {"retention.ms": "1000"}}


@pytest.mark.cluster
def test_the_answer_is_shown_short_and_is_the_same_dict() -> None:
    with (
        Cluster.start("single") as cluster,
        KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin,
    ):
        new = {"rooms": ROOM, "roofs": {"num_partitions": 1, "replication_factor": 1}}
        answer = admin.create_topics(new)
        again = admin.create_topics({"rooms": ROOM}, raise_errors=False)

    assert pretty(answer).splitlines() == [
        "rooms: created with 3 partitions, 1 copy of each",
        "roofs: created with 1 partition, 1 copy of each",
    ]
    assert pretty(again) == "rooms: not created, Topic 'rooms' already exists. (36)"
    configs = answer["topics"][0]["configs"]
    assert configs["retention.ms"]["value"] == "1000"
    assert len(configs) > 20
    assert json.loads(json.dumps(answer, default=str)).keys() == answer.keys()
    assert repr(answer) == repr(dict(answer))
