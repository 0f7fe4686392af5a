"""What a day of packing has left on the brokers: orders, who packed them, and commits."""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from grading.judge.checks import Unseen, expect
from grading.judge.groups import Members, events
from grading.judge.log import whole_number

NUMBERS = {
    "day_1": "orders",
    "day_2": "parcels",
    "day_3": "rush",
    "day_4": "counted",
    "day_5": "handed",
    "day_6": "nightly",
}
"""The parameters that name a day and how many orders it has."""


PACED = ("day_3", "day_4", "day_5", "day_6")
"""The days on which packing takes time."""

WORK_MS = 40
"""The `seconds` of the notebook, in ms."""

CLOCKS_MS = 1_000
"""So far a broker's clock may be from the fault's, in a machine of its own."""


@dataclass(frozen=True)
class Packed:
    """An order that somebody packed: `place` is its partition and offset, `at` the broker's ms."""

    place: tuple[int, int]
    member: str
    group: str
    at: int


def orders(x, topic):
    """The places of all orders of a topic -> their texts; ends the check where some lack."""
    found = {(record.partition, record.offset): record.value for record in x.read(topic)}
    sent = {x.p[day]["topic"]: x.p[number] for day, number in NUMBERS.items()}[topic]
    if len(found) < sent:
        raise Unseen(f"{topic} holds {len(found)} orders, and {sent} are to be sent")
    return found


def packed(x, day):
    """What lies in the results of a day, each sent by a member that packed it.

    Ends the check where something there is no order of the day, or was sent by somebody else.
    """
    there, found = orders(x, day["topic"]), []
    for record in x.read(day["results"]):
        if not record.is_dated_by_broker:
            raise Unseen(f"{day['results']} holds records that were not dated by the broker")
        place = _place(record.header("place"))
        if place not in there or record.value != there[place]:
            raise Unseen(f"{day['results']} holds records that are no orders of {day['topic']}")
        found.append(
            Packed(place, record.header("member"), record.header("group"), record.timestamp)
        )
    _sent_apart(x, day)
    if day["topic"] in {x.p[one]["topic"] for one in PACED}:
        _took_time(found, day)
    return found


def _sent_apart(x, day):
    """Ends the check where results were sent by others than the members, each with its producer.

    The broker has given each of these its number. One number for several members is one too few;
    on days on which nobody dies, more numbers than members that ever joined are too many: who is
    started again joins as another one.
    """
    results, numbers, members = day["results"], {}, {}
    for one in x.kafka.topic(results).partitions:
        for batch in x.kafka.batches(results, one.partition):
            for offset in range(batch.base_offset, batch.last_offset + 1):
                numbers[one.partition, offset] = batch.producer_id
    for record in x.read(results):
        number = numbers.get((record.partition, record.offset), -1)
        who = record.header("member"), record.header("group")
        if members.setdefault(number, who) != who:
            names = " and ".join(sorted({who[0], members[number][0]}))
            raise Unseen(f"one producer has sent results of {names}, and each has its own `pack`")
    for group in {group for _, group in members.values()}:
        sent = sum(of == group for _, of in members.values())
        joined = {m.id for e in events(x, group) if isinstance(e, Members) for m in e.members}
        if 0 < len(joined) < sent and day["topic"] not in {x.p[one]["topic"] for one in PACED}:
            raise Unseen(
                f"{sent} producers have sent results of {group}, which {len(joined)} members have "
                "joined: somebody else has added some"
            )


def _took_time(found, day):
    """Ends the check where results of a member came sooner one after another than it can pack.

    Only a lower bound, by the broker's clock: nobody packs too slowly. Many must be too near, as
    a member that is told to stop has its hands free at once.
    """
    times = {}
    for one in found:
        times.setdefault(one.member, []).append(one.at)
    for member, at in times.items():
        near = sum(after - before < WORK_MS / 2 for before, after in pairwise(sorted(at)))
        if near * 2 > len(at):
            raise Unseen(
                f"{day['results']} got most results of {member} faster than anybody packs with "
                "`pace=seconds`, one order after another"
            )


def _place(text):
    numbers = [whole_number(part) for part in text.split(" ")]
    return tuple(numbers) if len(numbers) == 2 else None


def nothing_missing(x, day, *, must=False):
    """Whether each order of the day is packed."""
    there, done = orders(x, day["topic"]), {one.place for one in packed(x, day)}
    missing = sorted(set(there) - done)
    return expect(
        not missing,
        f"{len(missing)} of {len(there)} orders are in no result: {places(missing)}",
        must=must,
    )


def packed_in_time(x, day):
    """Whether each order of the day was packed when the last commit for its partition came.

    What the group has done with, and somebody puts into the results later, the group has lost.
    """
    last = committed(history(x, day["group"]), day["topic"])
    done = {
        one.place
        for one in packed(x, day)
        if one.place[0] not in last or one.at <= last[one.place[0]].at
    }
    there = orders(x, day["topic"])
    missing = sorted(set(there) - done)
    return expect(
        not missing,
        f"{len(missing)} of {len(there)} orders are in no result, or came there when the group "
        f"had done with them: {places(missing)}",
    )


def again(x, day):
    """The places that were packed more than once -> how often beyond the first time."""
    counts = Counter(one.place for one in packed(x, day))
    return {place: count - 1 for place, count in counts.items() if count > 1}


def places(some):
    """A few places in words."""
    shown = ", ".join(f"partition {n} offset {offset}" for n, offset in sorted(some)[:3])
    return shown + (" and more" if len(some) > 3 else "")


def history(x, group):
    """Everything that Kafka keeps of a group; ends the check where that is nothing."""
    found = list(events(x, group))
    if not found:
        raise Unseen(f"nobody ever joined the group {group}, or committed for it")
    return found


def seen_to_pack(x, task, *names):
    """Ends the check where none of these was seen to pack while nothing but the members ran."""
    if not {*x.kept(task).get("alone", ())} & {*names}:
        raise Unseen(
            f"nobody has seen {' or '.join(names)} pack while nothing but the members ran: each is "
            "to be a program of its own, by its name"
        )


def missed(x, day, task):
    """Ends the check where a member left sooner after its kill than a broker can miss it.

    A member that is dead stays in its group until its session is over. That began with its last
    heartbeat, well before the kill; nobody lets so much pass between two of them. What was packed
    when the first was killed must still be there: who makes the results anew tidies them up.
    """
    seen_to_pack(x, task, *x.p.killed)
    there, since = x.kept(task)["packed"], min(x.kept(task)["killed"].values())
    before = sum(one.at <= since + CLOCKS_MS for one in packed(x, day))
    if before < there:
        raise Unseen(
            f"{there} orders were packed when the first member was killed, and {day['results']} "
            f"holds {before} from then: somebody has made it anew"
        )
    changes = [one for one in history(x, day["group"]) if isinstance(one, Members)]
    for name, at in x.kept(task)["killed"].items():
        before = [one for one in changes if one.at <= at]
        there = before[-1].of(name) if before else None
        gone = next((one.at for one in changes if one.at > at and not one.of(name)), None)
        if there and gone and gone - at < there.session_ms / 4:
            raise Unseen(
                f"{name} has left {day['group']} as soon as the process of that name was killed: "
                "another process was the member, and that one was not killed"
            )


def share(x, day, names=()):
    """The last time that the members of a group, just these if any are named, shared its topic.

    Ends the check where no such members ever had all partitions.
    """
    topic = day["topic"]
    every = [one.partition for one in x.kafka.topic(topic).partitions]
    changes = [one for one in history(x, day["group"]) if isinstance(one, Members)]
    if not changes:
        raise Unseen(f"no member of the classic protocol was ever in the group {day['group']}")
    for event in reversed(changes):
        there = {member.client for member in event.members}
        given = sorted(n for m in event.members for n in m.assignment.get(topic, ()))
        if given == every and (
            not names or (there, len(event.members)) == (set(names), len(names))
        ):
            return event
    who = ", ".join(sorted(names)) or "its members"
    raise Unseen(f"{who} never had all partitions of {topic} in the group {day['group']}")


def committed(found, topic):
    """Partition -> the last commit for it, in the events of a group; forgotten ones left out.

    A commit for a group without members is nobody's who packed.
    """
    last, has_members = {}, False
    for event in found:
        if isinstance(event, Members):
            has_members = bool(event.members)
        elif event.topic == topic and (has_members or event.offset is None):
            last[event.partition] = event
    return {n: one for n, one in last.items() if one.offset is not None}


def ends(x, topic):
    """Partition -> the end of its log, of those that hold a record."""
    return {n: log[-1].offset + 1 for n, log in x.read(topic).partitions.items()}


def behind(x, day):
    """The partitions of which the group has not committed the end."""
    last = committed(history(x, day["group"]), day["topic"])
    return sorted(
        n for n, end in ends(x, day["topic"]).items() if n not in last or last[n].offset != end
    )


def agrees(name, said, right, who):
    """Whether a dictionary from partitions says what is so, without telling what that is."""
    wrong = sorted(n for n in {*right, *said} if said.get(n) != right.get(n))
    return expect(not wrong, f"{name}: {who} something else of the partitions {wrong}")


def lags_of(x, group, topic):
    """Partition -> how many records a group has before it, as the brokers tell.

    Brokers forget a group that has committed nothing, when they look and nobody is in it.
    """
    offsets = x.kafka.group(group).offsets if group in x.kafka.groups() else {}
    return {
        one.partition: (one.end_offset or 0)
        - offsets.get((topic, one.partition), one.start_offset or 0)
        for one in x.kafka.topic(topic).partitions
    }


def said_lags(x, group, topic, right):
    """Whether the student's function tells the lags of a group."""
    name = f"lag_of for {group} and {topic}"
    asked = f"sorted(dict(lag_of({group!r}, {topic!r})).items())"
    said = dict(x.value(asked, list[tuple[int, int]], called=name))
    return agrees(name, said, right, "the brokers say")
