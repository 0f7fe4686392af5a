"""Members of a real group: they share, say what they got, leave in good order, and die."""

from collections.abc import Iterator

import pytest
from kafka import KafkaAdminClient, KafkaProducer

from kafkalab import Cluster, members, quick
from kafkalab.members import Member

pytestmark = pytest.mark.cluster

PROGRAM = """
consumer = KafkaConsumer(group_id=group, client_id=name, **settings)
consumer.subscribe([topic], listener=told)
while running():
    for place, records in consumer.poll(timeout_ms=100).items():
        for record in records:
            note("record", partition=place.partition, offset=record.offset)
        consumer.commit()
        note("committed")
consumer.close()
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster.start("single") as cluster:
        yield cluster


def join(cluster: Cluster, topic: str, name: str) -> Member:
    settings = {
        "bootstrap_servers": cluster.address,
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
        **quick.consumer,
    }
    return members.start(
        PROGRAM, name, address=cluster.address, topic=topic, group=topic, settings=settings
    )


def make(cluster: Cluster, topic: str) -> None:
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: {"num_partitions": 2}})
    cluster.wait_for_topic(topic)


def last_assigned(member: Member) -> list[int]:
    got = [event for event in member.events if event.what == "assigned"]
    return [partition for _, partition in got[-1].facts["partitions"]] if got else []


def test_what_a_member_does_stands_in_its_events(cluster: Cluster) -> None:
    make(cluster, "rides")
    ada = join(cluster, "rides", "ada")
    ada.wait_for(lambda _: last_assigned(ada) == [0, 1], what="both partitions")
    with KafkaProducer(bootstrap_servers=cluster.address, **quick.producer) as producer:
        producer.send("rides", b"one", partition=0).get(timeout=10)
    ada.wait_for(lambda events: events[-1].what == "committed", what="a commit")
    bob = join(cluster, "rides", "bob")
    bob.wait_for(lambda _: len(last_assigned(bob)) == 1, what="a partition")
    ada.wait_for(lambda _: len(last_assigned(ada)) == 1, what="a partition less")
    view = cluster.wait_for_group("rides", members=2)
    owned = {member.client: member.assignment["rides"] for member in view.members}
    assert owned == {"ada": last_assigned(ada), "bob": last_assigned(bob)}

    ada.stop()  # says good-bye: the group does not wait for its session
    bob.wait_for(lambda _: last_assigned(bob) == [0, 1], what="both partitions", timeout=5)
    bob.kill()  # says nothing: the group waits
    assert len(cluster.group("rides").members) == 1
    cluster.wait_for_group("rides", "EMPTY")
    assert bob.events[-1].what == "assigned"

    told = [event.what for event in ada.events]
    assert told[:4] == ["started", "assigned", "record", "committed"], told
    # Each time that the group shares anew it takes what it gave; the last time is the good-bye.
    rest = len(told[4:]) // 2
    assert told[4:] == ["revoked", "assigned"] * (rest - 1) + ["revoked", "ended"], told
    assert ada.events[2].facts == {"partition": 0, "offset": 0}


def test_members_end_with_their_cluster() -> None:
    with Cluster.start("single", beside=True) as other:
        make(other, "rides")
        ada = join(other, "rides", "ada")
        ada.wait_for(lambda _: last_assigned(ada) == [0, 1], what="both partitions")
    ada.wait_for_end()
    assert ada.events[-1].facts == {"why": "stopped"}
