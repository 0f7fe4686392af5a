"""Public checks of lab 04.

They hold at the check cell and at the end of the lab, when the brokers are back: what was true in
between is judged by the values that were kept, against the replica lists, which do not change. That
a broker was gone at all is told by the leader epochs, which only rise: without a loss behind them
values count for nothing. Whether it was gone just then is for the hidden checks.
"""

from collections import Counter

from grading.judge.checks import Unseen, check, equal, same

from .rule import TABLE, after_loss


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
    led = {broker: number for broker, number in x.value("led", dict[int, int]).items() if number}
    yield led == first, f"led is {led}: the first broker of each list leads, and that gives others"


@check(2, points=9, title="The forecast for your broker")
def forecast_is_right(x):
    forecast = x.value("forecast", TABLE)
    yield from same_table("forecast", forecast, after_loss(x.p.replicas, {x.p.lost}))


@check(3, points=8, title="What the cluster said after the loss")
def table_after_the_loss(x):
    has_lost(x, x.p.lost)
    replicas = [partition.replicas for partition in x.kafka.topic(x.p.topic).partitions]
    yield from same_table("after", x.value("after", TABLE), after_loss(replicas, {x.p.lost}))


@check(3, points=4, title="Which partitions have another leader")
def moved_partitions(x):
    led = [partition.partition for partition in has_lost(x, x.p.lost)]
    moved = x.value("moved", list[int])
    right = [partition for partition in moved if partition in led]
    yield (
        moved == led,
        f"moved is {moved}: {len(right)} of these had another leader before the loss; expected is "
        "a sorted list of all that had",
    )


@check(4, points=7, title="Every number was stored once, where it belongs")
def numbers_were_stored(x):
    log = [record for record in x.read(x.p.topic) if record.text() != "refused"]
    numbers = range(1, x.p.records + 1)
    yield same("numbers", [record.text() for record in log], map(str, numbers))
    at_home = {record.number() for record in log if (record.number() or 0) % 13 == record.partition}
    away = sorted({*numbers} - at_home)
    yield not away, f"{len(away)} numbers do not lie in their partition, for example {away[:3]}"
    places = {record.text(): (record.partition, record.offset) for record in log}
    expected = [places.get(str(number)) for number in numbers]
    receipts = x.value("receipts", list[tuple[int, int]])
    yield receipts == expected, "receipts do not say where the numbers lie, in their order"


@check(4, points=2, title="Every copy in sync must acknowledge")
def all_must_acknowledge(x):
    x.read(x.p.topic)
    acks = x.value("sender.config['acks']")
    yield acks in (-1, "all"), f"acks of your sender is {acks!r}: not every copy is waited for"


@check(4, points=7, title="The group went on where it had stopped")
def group_went_on(x):
    committed = x.kafka.group(x.p.group).offsets.get((x.p.queue_topic, 0))
    yield equal(f"committed offset of {x.p.group}", committed, x.p.queue, must=True)
    second = x.value("second_half", list[int])
    yield equal("second_half", second, list(range(x.p.first + 1, x.p.queue + 1)))


@check(5, points=5, title="One copy on a dead broker")
def lone_topic_is_silent(x):
    has_lost(x, x.p.lost, topic=x.p.lone_topic)
    assigned = x.value("lone_reader.assignment()", list[tuple[str, int]])
    if assigned != [(x.p.lone_topic, 0)]:
        raise Unseen(f"lone_reader is assigned {assigned}, not the partition of {x.p.lone_topic}")
    leader, read = x.value("lone_leader", int | None), x.value("lone_read", int)
    yield leader is None, f"lone_leader is {leader}, and that broker has no copy that it could lead"
    yield read == 0, f"lone_read is {read}, and nobody was there to read from"


@check(5, points=4, title="The broker refuses below the minimum")
def refused_below_the_minimum(x):
    has_lost(x, x.p.second)
    refusal = x.value("refusal", str)
    yield (
        refusal in ("NotEnoughReplicasError", "NotEnoughReplicasAfterAppendError"),
        f"refusal is {refusal!r}; with one replica in sync of a minimum of two the broker answers "
        "with another error",
    )


@check(6, points=4, title="Back in sync is not back in the lead")
def back_without_the_lead(x):
    led = has_lost(x, x.p.lost, times=2)
    leads, again = x.value("leads", int), x.value("leads_again", int)
    yield leads == 0, f"leads is {leads}: count after the restart and before the election"
    yield again == len(led), f"leads_again is {again}, and its broker is first in another number"


@check(6, points=6, title="Three in sync, and the first of each list leads")
def first_replicas_lead(x):
    has_lost(x, x.p.lost, times=2)
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
    has_lost(x, x.p.lost, times=2, topic=x.p.lone_topic)
    again = x.value("lone_again", int)
    stored = len(x.read(x.p.lone_topic))
    yield again == stored, f"lone_again is {again}, and the topic holds another number of records"


@check(7, points=5, title="No number missing, none twice, all in order")
def numbers_survived(x):
    for fault, topic in x.p.delay_topics.items():
        has_changed(x.kafka.topic(topic).partitions)
        values = x.read(topic).values
        if len(values) <= 100:
            raise Unseen(
                f"{topic} holds {len(values)} records; 50 come before the fault and 50 after it"
            )
        whole = values == [str(number) for number in range(len(values))]
        yield whole, f"{fault}: {topic} does not hold the numbers 0, 1, 2 … once each, in order"


@check(7, points=5, title="A kill costs more than a stop")
def kill_costs_more(x):
    stop, kill = x.value("delays", {"stop": float, "kill": float}).values()
    pause = longest_pause(x, x.p.delay_topics["kill"])
    if pause < kill / 2:
        raise Unseen(f"delays['kill'] is {kill:,.0f}, and its records show no pause like that")
    # The session ends after 3 s without a heartbeat. One is due each 0.5 s, and may be late.
    yield kill >= 1_500, f"kill took {kill:,.0f} ms: less than heartbeats must stay out"
    yield stop < kill, f"stop took {stop:,.0f} ms and kill {kill:,.0f} ms"


def has_lost(x, broker: int, times: int = 1, topic: str = ""):
    """The partitions that a broker leads by its lists; ends the check where it never lost them."""
    partitions = x.kafka.topic(topic or x.p.topic).partitions
    led = [partition for partition in partitions if partition.replicas[0] == broker]
    if not led:
        raise Unseen(f"broker {broker} is the first of no list: task 1 orders them")
    has_changed(led, times)
    return led


def has_changed(partitions, times: int = 1):
    """Ends the check where a partition has not changed its leader so often."""
    if few := [partition.partition for partition in partitions if partition.leader_epoch < times]:
        other = "never had another leader" if times == 1 else "never got their first leader back"
        raise Unseen(f"partitions {few} have {other}")


def longest_pause(x, topic: str) -> int:
    """The longest that a record of a topic has held up the next one, in milliseconds.

    By the brokers' clock, which does not tell when it was sent, and it may be stored at any moment
    before its acknowledgement comes: so from the record before it to the one behind it.
    """
    log = x.read(topic)
    if not all(record.is_dated_by_broker for record in log):
        raise Unseen(f"{topic} is not the topic that the cell in front of the task has made")
    times = [record.timestamp for record in log]
    return max(
        (behind - before for before, behind in zip(times, times[2:], strict=False)), default=0
    )


def same_table(what: str, seen: dict, expected: dict):
    """Findings about a table of leaders and in-sync replicas."""
    if seen.keys() != expected.keys():
        raise Unseen(f"{what} has the partitions {sorted(seen)}, and the topic {len(expected)}")
    for part, name in (("leader", "leader"), ("isr", "in-sync replicas")):
        kept = {p: sorted(one[part]) if part == "isr" else one[part] for p, one in seen.items()}
        odd = [p for p in expected if kept[p] != expected[p][part]]
        example = f"partition {odd[0]} has {kept[odd[0]]!r}" if odd else ""
        yield not odd, f"{what}: {len(odd)} partitions have another {name}; {example}"


def _odd_list(odd: list[int], seen: list, expected: list) -> str:
    if not odd:
        return ""
    return (
        f"{len(odd)} partitions have other copies: partition {odd[0]} has {seen[odd[0]]}, ordered "
        f"was {expected[odd[0]]}"
    )
