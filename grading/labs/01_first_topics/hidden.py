"""Hidden checks of lab 01: what a copied or typed-in answer does not have."""

import struct

from kafka.partitioner.default import murmur2

from grading.judge.checks import check, equal, expect

from .checks import PLACE


@check(1, points=2, title="Nothing else was set")
def nothing_else_was_set(x):
    configs = x.kafka.topic(x.p.topic).configs
    own = sorted(name for name, config in configs.items() if "TOPIC" in str(config.source).upper())
    yield equal("settings of the topic's own", own, ["retention.ms"])


@check(2, points=3, title="The key chose the partition", needs="key_is_the_station")
def key_chose_the_partition(x):
    log = x.read(x.p.topic)
    yield from _chosen_by_key(log, len(x.kafka.topic(x.p.topic).partitions))


@check(3, points=6, title="where_is works for every topic")
def where_is_works_elsewhere(x):
    for number in range(len(x.kafka.topic(x.p.quiet_topic).partitions)):
        place = x.value(f"where_is({x.p.quiet_topic!r}, {number})", PLACE)
        yield from _place(x, place, x.p.quiet_topic, number)


@check(4, points=3, title="read_everything works for every topic")
def reader_works_elsewhere(x):
    expected = [(r.partition, r.offset, r.key_text() or "", r.text()) for r in x.read(x.p.topic)]
    form = list[tuple[int, int, str | None, str]]
    again = x.value(f"read_everything({x.p.topic!r})", form)
    again = [(partition, offset, key or "", text) for partition, offset, key, text in again]
    whole = sorted(again) == sorted(expected)
    yield expect(whole, f"it found {len(again)} records when it read the topic again", must=True)
    none = x.value(f"read_everything({x.p.quiet_topic!r})", form, may_be_empty=True)
    yield equal("records of an empty topic", none, [])


@check(5, points=3, title="The key chose the partition", needs="steps_have_the_key")
def key_chose_the_lane(x):
    log = x.read(x.p.steps_topic)
    yield from _chosen_by_key(log, len(x.kafka.topic(x.p.steps_topic).partitions))


@check(6, points=5, title="The first clerk committed before the second one came")
def first_clerk_committed(x):
    commits = _commits(x, x.p.group, x.p.queue_topic, 0)
    yield expect(
        x.p.first in commits,
        f"the group never committed offset {x.p.first}; it committed {commits or 'nothing'}",
        must=True,
    )
    # How often a clerk commits is not asked; but none claims what is not done yet.
    yield commits == sorted(commits), f"the committed offsets go back: {commits[:20]}"


def _chosen_by_key(log, partitions: int):
    wrong = [
        record
        for record in log
        if record.key is None or (murmur2(record.key) & 0x7FFFFFFF) % partitions != record.partition
    ]
    example = f", for example {wrong[0].text()!r} with key {wrong[0].key_text()!r}" if wrong else ""
    yield not wrong, f"{len(wrong)} records are not where their key puts them{example}"


def _place(x, place: dict, topic: str, number: int):
    partition = x.kafka.partition(topic, number)
    seen = place["leader"], sorted(place["replicas"]), sorted(place["isr"])
    expected = partition.leader, sorted(partition.replicas), sorted(partition.isr)
    yield equal(f"where_is for partition {number} of {topic}", seen, expected)


def _commits(x, group: str, topic: str, partition: int) -> list[int]:
    """The offsets that the group committed, in order, since its position was last forgotten.

    The topic of commits keeps them all: key (version, group, topic, partition), value (version,
    offset, …), no value where the position was forgotten.
    """
    wanted = struct.pack(">h", 1) + _text(group) + _text(topic) + struct.pack(">i", partition)
    found: list[int] = []
    for record in x.read("__consumer_offsets"):
        if record.key == wanted:
            if record.value is None:
                found.clear()
            elif len(record.value) >= 10:
                found.append(struct.unpack_from(">q", record.value, 2)[0])
    return found


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text.encode())) + text.encode()
