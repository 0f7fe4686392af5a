"""The tools of lab 06: topics with orders, and the end of a team's day."""

import contextlib
import secrets
import time

from kafka import (
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    OffsetAndMetadata,
    TopicPartition,
)

from kafkalab import clients, quick, read_topic, wait_until
from kafkalab.wait import WaitTimeout

# Longer than what a group waits for a member that is gone.
SILENCE = 10


def new_topic(cluster, name, partitions=6):
    """An empty topic; one that has the name already is deleted first, with all commits in it.

    The broker dates its records, so that they can be compared with the commits of groups.
    """
    configs = {"message.timestamp.type": "LogAppendTime"}
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        if name in admin.list_topics():
            admin.delete_topics([name])
            wait_until(lambda: name not in admin.list_topics(), timeout=15, what=f"{name} to go")
        admin.create_topics({name: {"num_partitions": partitions, "configs": configs}})
    cluster.wait_for_topic(name)


def send_orders(cluster, topic, number):
    """So many orders, to the partitions in turns; no two have the same text.

    Each turn is sent before the next, so that every batch holds one order.
    """
    with KafkaProducer(bootstrap_servers=cluster.address, **quick.producer) as producer:
        count = len(producer.partitions_for(topic))
        for n in range(number):
            text = f"order {n} {secrets.token_hex(4)}"
            producer.send(topic, value=text.encode(), partition=n % count)
            if n % count == count - 1:
                producer.flush(timeout=20)
        producer.flush(timeout=20)


def wait_for_team(cluster, day, team, timeout=60):
    """The group, as soon as it has just so many members as the team and each partition a reader.

    A group may be stable before that: who joins first may not know the topic yet.
    """
    topic = day["topic"]
    every = [one.partition for one in cluster.topic(topic).partitions]

    def complete():
        group = cluster.group(day["group"])
        given = sorted(n for one in group.members for n in one.assignment.get(topic, ()))
        fits = group.state == "STABLE" and len(group.members) == len(team) and given == every
        return group if fits else None

    return wait_until(
        complete, timeout=timeout, what=f"{len(team)} members of {day['group']} with partitions"
    )


def close_shop(cluster, day, team, timeout=120):
    """Wait until the group has packed every order of a day, then end the team, a dictionary.

    What is packed may be committed a moment later. The day is over, too, when nobody works any
    more, or when somebody has worked and no result has come for SILENCE seconds.
    """
    topic, group = day["topic"], day["group"]
    orders, packed = set(), set()
    last = [time.monotonic()]

    def all_committed():
        offsets = cluster.group(group).offsets
        ends = {(topic, one.partition): one.end_offset for one in cluster.topic(topic).partitions}
        return all(offsets.get(place, 0) == end for place, end in ends.items())

    def over():
        for record in clients.records_until_end(reader, timeout=30):
            if record.topic == topic:
                orders.add(record.value)
            elif ("group", group.encode()) in record.headers:
                packed.add(record.value)
                last[0] = time.monotonic()
        silent = bool(packed) and time.monotonic() - last[0] > SILENCE
        return orders <= packed or silent or all(one.state == "ended" for one in team.values())

    def so_far():
        done = f"{len(orders & packed)} of {len(orders)}"
        return f"{done}; {', '.join(map(repr, team.values()))}"

    with KafkaConsumer(
        bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
    ) as reader:
        reader.assign(
            [
                TopicPartition(name, one.partition)
                for name in (topic, day["results"])
                for one in cluster.topic(name).partitions
            ]
        )
        what = f"{group} to pack the orders of {topic}"
        wait_until(over, timeout=timeout, what=what, seen=so_far, every=0.2)
    # What a dead one had packed and not committed, somebody else has when the dead one is missed.
    patience = SILENCE if any(one.state == "ended" for one in team.values()) else 2
    with contextlib.suppress(WaitTimeout):
        wait_until(all_committed, timeout=patience, what="commits", every=0.2)
    for name, member in team.items():
        member.stop()
        for last in member.events[-1:]:  # one that was killed has written no end
            if last.what == "ended" and last.facts["why"] not in ("stopped", "done"):
                print(f"{name} has ended: {last.facts['why']}")


def results_of(spark, cluster, day):
    """The results of a day as a table of Spark, a row for each.

    `partition` is that of the order, in a topic of six: `send_orders` takes them in turns.
    """
    return read_topic(spark, cluster, day["results"]).selectExpr(
        "split(cast(key as string), ' ')[0] as `group`",
        "split(cast(key as string), ' ')[1] as `member`",
        "cast(value as string) as `order`",
        "cast(split(cast(value as string), ' ')[1] as int) % 6 as `partition`",
        "cast(timestamp as double) as `at`",
    )


def commit(admin, group, offsets):
    """Commit these offsets for a group without members."""
    answer = admin.alter_group_offsets(
        group, {place: OffsetAndMetadata(offset, "", -1) for place, offset in offsets.items()}
    )
    assert not any(getattr(error, "errno", error) for error in answer.values()), answer
