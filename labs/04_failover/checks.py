"""Public checks of lab 04.

They hold at the check cell and at the end of the lab, when the brokers are back: what was true in
between is judged by the values that were kept, against the replica lists, which do not change.
Whether a broker was really gone is for the hidden checks, which look at that moment.
"""

from collections import Counter

from grading.judge.checks import at_least, check, equal, expect, same

from .rule import after_loss, as_table


@check(1, points=8, title="The copies lie where they were ordered")
def topic_is_as_ordered(x):
    topic = x.kafka.topic(x.p.topic)
    replicas = [partition.replicas for partition in topic.partitions]
    yield equal("partitions", len(replicas), 13, must=True)
    odd = [
        p
        for p, (seen, wanted) in enumerate(zip(replicas, x.p.replicas, strict=True))
        if seen != wanted
    ]
    yield not odd, _odd_list(odd, replicas, x.p.replicas)
    yield equal("min.insync.replicas", topic.configs["min.insync.replicas"].value, "2")


@check(1, points=4, title="The leaders are counted")
def leaders_are_counted(x):
    first = Counter(p.replicas[0] for p in x.kafka.topic(x.p.topic).partitions)
    led = x.value("sorted([int(broker), int(number)] for broker, number in led.items() if number)")
    yield equal("led (broker, partitions)", led, sorted([b, n] for b, n in first.items()))


@check(2, points=9, title="The forecast for your broker")
def forecast_is_right(x):
    forecast = as_table(x.value("forecast"))
    yield from same_table("forecast", forecast, after_loss(x.p.replicas, {x.p.lost}))


@check(3, points=8, title="What the cluster said after the loss")
def table_after_the_loss(x):
    replicas = [partition.replicas for partition in x.kafka.topic(x.p.topic).partitions]
    yield from same_table("after", as_table(x.value("after")), after_loss(replicas, {x.p.lost}))


@check(3, points=4, title="Which partitions have another leader")
def moved_partitions(x):
    partitions = x.kafka.topic(x.p.topic).partitions
    led = [partition.partition for partition in partitions if partition.replicas[0] == x.p.lost]
    yield equal("moved", x.value("[int(partition) for partition in moved]"), led)


@check(4, points=9, title="Every number was stored once, where it belongs")
def numbers_were_stored(x):
    log = [record for record in x.read(x.p.topic) if record.text() != "refused"]
    yield expect(log, f"the topic {x.p.topic} is empty", must=True)
    yield same("numbers", [r.text() for r in log], map(str, range(1, x.p.records + 1)))
    astray = [r.text() for r in log if r.text().isdecimal() and int(r.text()) % 13 != r.partition]
    yield not astray, f"{len(astray)} numbers lie in another partition, for example {astray[:3]}"
    places = {r.text(): [r.partition, r.offset] for r in log}
    receipts = x.value("[[int(partition), int(offset)] for partition, offset in receipts]")
    expected = [places.get(str(number)) for number in range(1, x.p.records + 1)]
    yield receipts == expected, "receipts do not say where the numbers lie, in their order"


@check(4, points=7, title="The group went on where it had stopped")
def group_went_on(x):
    second = x.value("[int(number) for number in second_half]")
    yield equal("second_half", second, list(range(x.p.first + 1, x.p.queue + 1)))
    committed = x.kafka.group(x.p.group).offsets.get((x.p.queue_topic, 0))
    yield equal(f"committed offset of {x.p.group}", committed, x.p.queue)


@check(5, points=5, title="One copy on a dead broker")
def lone_topic_is_silent(x):
    yield equal("lone_leader", x.value("lone_leader"), None)
    yield equal("lone_read", x.value("int(lone_read)"), 0)


@check(5, points=4, title="The broker refuses below the minimum")
def refused_below_the_minimum(x):
    refusal = x.value("str(refusal)")
    yield (
        refusal in ("NotEnoughReplicasError", "NotEnoughReplicasAfterAppendError"),
        f"refusal is {refusal!r}; with one replica in sync of a minimum of two the broker answers "
        "with another error",
    )


@check(6, points=4, title="Back in sync is not back in the lead")
def back_without_the_lead(x):
    first = [partition.replicas[0] for partition in x.kafka.topic(x.p.topic).partitions]
    yield equal("leads", x.value("int(leads)"), 0)
    yield equal("leads_again", x.value("int(leads_again)"), first.count(x.p.lost))


@check(6, points=6, title="Three in sync, and the first of each list leads")
def first_replicas_lead(x):
    partitions = x.kafka.topic(x.p.topic).partitions
    few = [p.partition for p in partitions if len(p.isr) != 3]
    yield (
        not few,
        f"partitions {few} have fewer than three in-sync replicas",
    )
    others = [p.partition for p in partitions if p.leader != p.replicas[0]]
    yield not others, f"partitions {others} are not led by the first broker of their list"


@check(6, points=4, title="The one copy is there again")
def lone_topic_is_back(x):
    stored = len(x.read(x.p.lone_topic))
    yield equal("records of the lone topic", stored, x.p.lone)
    yield equal("lone_again", x.value("int(lone_again)"), stored)


@check(7, points=5, title="No number missing, none twice, all in order")
def numbers_survived(x):
    for fault, topic in x.p.delay_topics.items():
        values = x.read(topic).values
        enough = f"{topic} holds {len(values)} records; 50 come before the fault and 50 after it"
        yield expect(len(values) > 100, enough, must=True)
        whole = values == [str(number) for number in range(len(values))]
        yield whole, f"{fault}: {topic} does not hold the numbers 0, 1, 2 … once each, in order"


@check(7, points=5, title="A kill costs more than a stop")
def kill_costs_more(x):
    stop, kill = x.value("[float(delays['stop']), float(delays['kill'])]")
    # The session ends after 3 s without a heartbeat. One is due each 0.5 s, and may be late.
    yield at_least("delays['kill'] in ms", kill, 1_500)
    yield stop < kill, f"stop took {stop:,.0f} ms and kill {kill:,.0f} ms"


def same_table(what: str, seen: dict, expected: dict):
    """Findings about a table of leaders and in-sync replicas."""
    yield equal(f"{what}: partitions", sorted(seen), sorted(expected), must=True)
    for part, name in (("leader", "leader"), ("isr", "in-sync replicas")):
        odd = [p for p in expected if seen[p].get(part) != expected[p][part]]
        example = f"partition {odd[0]} has {seen[odd[0]].get(part)!r}" if odd else ""
        yield not odd, f"{what}: {len(odd)} partitions have another {name}; {example}"


def _odd_list(odd: list[int], seen: list, expected: list) -> str:
    if not odd:
        return ""
    return (
        f"{len(odd)} partitions have other copies: partition {odd[0]} has {seen[odd[0]]}, ordered "
        f"was {expected[odd[0]]}"
    )
