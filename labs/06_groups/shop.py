"""The tools of lab 06: topics with orders, and the end of a team's day."""

import secrets

from kafka import (
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    OffsetAndMetadata,
    TopicPartition,
)

from kafkalab import clients, quick, wait_until


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


def close_shop(cluster, day, team, timeout=90):
    """Wait until every order of a day is packed, then end the team (a dictionary of members).

    It is over, too, when the group has committed all there is, or when nobody works any more.
    """
    topic, results = day["topic"], day["results"]
    found = {topic: set(), results: set()}

    def over():
        for record in clients.records_until_end(reader):
            found[record.topic].add(record.value)
        if found[topic] <= found[results] or all(one.state == "ended" for one in team.values()):
            return True
        offsets = cluster.group(day["group"]).offsets
        ends = {(topic, one.partition): one.end_offset for one in cluster.topic(topic).partitions}
        return all(offsets.get(place, 0) == end for place, end in ends.items())

    with KafkaConsumer(
        bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
    ) as reader:
        places = [(name, one) for name in found for one in cluster.topic(name).partitions]
        reader.assign([TopicPartition(name, one.partition) for name, one in places])
        wait_until(
            over,
            timeout=timeout,
            what=f"the orders of {topic} to be packed",
            seen=lambda: (
                f"{len(found[topic] & found[results])} of {len(found[topic])}; "
                f"{', '.join(map(repr, team.values()))}"
            ),
            every=0.2,
        )
    for member in team.values():
        member.stop()


def commit(admin, group, offsets):
    """Commit these offsets for a group without members."""
    answer = admin.alter_group_offsets(
        group, {place: OffsetAndMetadata(offset, "", -1) for place, offset in offsets.items()}
    )
    assert not any(getattr(error, "errno", error) for error in answer.values()), answer
