"""Public checks of lab 06.

Who was in a group, who had which partition and what was committed when: that is what Kafka keeps in
its own topic of groups. Who packed what stands in the results. What is typed counts beside both.
"""

from collections import Counter
from itertools import pairwise

from grading.judge.checks import Unseen, check, equal, expect
from grading.judge.groups import Commit, Members, is_known

from .packing import (
    again,
    agrees,
    behind,
    committed,
    history,
    lags_of,
    missed,
    nothing_missing,
    orders,
    packed,
    packed_in_time,
    places,
    said_lags,
    seen_to_pack,
    share,
)

ALL = range(6)


@check(1, points=5, title="Three members share the partitions")
def three_share(x):
    day = x.p.day_1
    owners = share(x, day, x.p.three).owners(day["topic"])
    without = sorted(set(x.p.three) - set(owners.values()))
    yield not without, f"{', '.join(without)} had no partition"
    yield agrees("owners_1", x.value("owners_1", dict[int, str]), owners, "the group says")


@check(1, points=6, title="Each order is packed once, by the reader of its partition")
def packed_by_their_readers(x):
    day = x.p.day_1
    yield nothing_missing(x, day, must=True)
    twice = again(x, day)
    yield not twice, f"{len(twice)} orders are packed more than once: {places(twice)}"
    owners = share(x, day, x.p.three).owners(day["topic"])
    others = {one.place for one in packed(x, day) if owners.get(one.place[0]) != one.member}
    yield (
        not others,
        f"{len(others)} orders were packed by others than who read their partition when all three "
        "were there",
    )
    late = behind(x, day)
    yield not late, f"the group has not committed the end of the partitions {late}"


@check(1, points=3, title="How many partitions for whom")
def shares_are_foretold(x):
    day = x.p.day_1
    counts = Counter(share(x, day, x.p.three).owners(day["topic"]).values())
    said = x.value("predicted_1", dict[str, int])
    wrong = sorted(name for name in x.p.three if said.get(name) != counts[name])
    yield not wrong, f"predicted_1 says another number than the group had of {', '.join(wrong)}"


@check(2, points=6, title="Each department has every order")
def each_has_everything(x):
    there = orders(x, x.p.day_2["topic"])
    for group in x.p.departments:
        share(x, {**x.p.day_2, "group": group})
        done = {one.place for one in packed(x, x.p.day_2) if one.group == group}
        missing = set(there) - done
        yield not missing, f"{group} lacks {len(missing)} of {len(there)} orders"


@check(2, points=5, title="Who shares a group shares the orders")
def pair_shares(x):
    day = {**x.p.day_2, "group": x.p.shared}
    owners = share(x, day, x.p.pair).owners(day["topic"])
    mine = [one for one in packed(x, day) if one.group == x.p.shared]
    for name in x.p.pair:
        part = {n for n, owner in owners.items() if owner == name}
        done = [one.place for one in mine if one.member == name]
        whole = {place for place in orders(x, day["topic"]) if place[0] in part}
        yield (
            bool(whole) and sorted(done) == sorted(whole),
            f"{name} has not packed just the orders of the partitions that it read, each once",
        )


@check(2, points=3, title="Counted with Spark, and foretold")
def shares_are_counted(x):
    share(x, {**x.p.day_2, "group": x.p.shared}, x.p.pair)
    mine = packed(x, x.p.day_2)
    by_group = {
        group: len({one.place for one in mine if one.group == group})
        for group in (*x.p.departments, x.p.shared)
    }
    by_member = {
        name: sum(one.group == x.p.shared and one.member == name for one in mine)
        for name in x.p.pair
    }
    if not all(by_member.values()):
        raise Unseen(f"{' and '.join(x.p.pair)} have not both packed for {x.p.shared}")
    for name, right in (("by_group", by_group), ("by_member", by_member)):
        said = x.value(name, dict[str, int])
        wrong = [key for key, number in right.items() if said.get(key) != number]
        yield not wrong, f"{name}: the results say something else of {', '.join(wrong)}"
    said = x.value("predicted_2", int)
    yield said == by_member[x.p.pair[0]], f"predicted_2 is {said}, and the results say otherwise"


@check(3, points=8, title="Two die, and every order is packed")
def nothing_is_lost(x):
    day = x.p.day_3
    missed(x, day, 3)
    yield packed_in_time(x, day)
    workers = {one.member for one in packed(x, day)}
    idle = sorted(set(x.p.crew) - workers)
    yield not idle, f"{', '.join(idle)} packed nothing"
    late = behind(x, day)
    yield not late, f"the group has not committed the end of the partitions {late}"


@check(3, points=6, title="And few are packed again")
def few_again(x):
    day = x.p.day_3
    missed(x, day, 3)
    whole = packed_in_time(x, day)
    if not whole.ok:  # who loses orders repeats few
        raise Unseen(whole.message)
    extra, most = sum(again(x, day).values()), len(x.p.killed) * x.p.repeated
    yield extra <= most, f"{extra} orders were packed once more; {most} are allowed"


@check(4, points=5, title="The lag when the member had died")
def lag_is_measured(x):
    lags = left_behind(x)
    yield agrees("lag_4", x.value("lag_4", dict[int, int]), lags, "the brokers say")


@check(4, points=5, title="lag_of, asked again")
def lag_is_asked(x):
    lags = left_behind(x)
    yield said_lags(x, x.p.day_4["group"], x.p.day_4["topic"], lags)


def left_behind(x):
    """The lags of the group of task 4; ends the check where it never worked, or is not behind."""
    day = x.p.day_4
    packed(x, day)
    if not is_known(x, day["group"]):
        raise Unseen(f"nobody ever joined the group {day['group']}, or committed for it")
    lags = lags_of(x, day["group"], day["topic"])
    if not any(lags.values()):
        raise Unseen(f"{day['group']} is not behind in {day['topic']}: its member went on")
    return lags


@check(5, points=6, title="Nothing is left out, and nothing packed again")
def nothing_again(x):
    seen_to_pack(x, 5, x.p.careful)
    yield nothing_missing(x, x.p.day_5, must=True)
    twice = again(x, x.p.day_5)
    yield not twice, f"{len(twice)} orders were packed once more: {places(twice)}"


@check(5, points=6, title="What is given up is committed, and seldom anything else")
def committed_in_time(x):
    seen_to_pack(x, 5, x.p.careful)
    day, events = x.p.day_5, history(x, x.p.day_5["group"])
    at, taken = came(x, events)
    before = committed(events[:at], day["topic"])
    done = {}
    for one in packed(x, day):
        if one.at <= events[at].at:
            partition, offset = one.place
            done[partition] = max(done.get(partition, 0), offset + 1)
    # Of what it got back at once it has to be so only where nothing of the rest was packed.
    done = {n: end for n, end in done.items() if n in taken} or done
    if not done:
        raise Unseen(f"when {x.p.newcomer} came, nothing had been packed")
    missing = sorted(n for n, end in done.items() if n not in before or before[n].offset != end)
    yield (
        not missing,
        f"when {x.p.newcomer} got the partitions {missing}, what was packed of them was not what "
        "was committed",
    )
    nameless = sorted(n for n in done if n not in before or before[n].metadata != x.p.careful)
    yield not nameless, f"the last commit before that bears no name: partitions {nameless}"
    identity = mine(x, events[at])
    began = next(
        place
        for place, event in enumerate(events)
        if isinstance(event, Members) and identity in {m.id for m in event.members}
    )
    counts = Counter(
        event.partition
        for event in events[began:]
        if isinstance(event, Commit) and event.topic == day["topic"]
    )
    # One when it had packed so many, one for each time that it gave up what it had, one to spare.
    most = x.p.handed // x.p.every + len(given_to(x, events, identity)) + 1
    often = sorted(n for n, count in counts.items() if count > most)
    yield (
        not often,
        f"{x.p.careful} committed more often than after every {x.p.every} orders and when it gave "
        f"up partitions: partitions {often}",
    )


@check(5, points=4, title="What the listener was told")
def listener_is_told(x):
    events = history(x, x.p.day_5["group"])
    at, _ = came(x, events)
    given = [part for part in given_to(x, events, mine(x, events[at])) if part]
    right = [(word, part) for part in given for word in ("assigned", "revoked")]
    said = x.value("told_5", list[tuple[str, list[int]]])
    heard = [(word, sorted(part)) for word, part in said if part]
    yield (
        heard == right,
        f"told_5 has {len(heard)} entries with partitions; {place_of_difference(heard, right)}",
    )


def mine(x, event):
    """The id of the student's own member in an event of task 5."""
    return next(m.id for m in event.members if m.client == x.p.careful)


def given_to(x, events, identity):
    """What a member was given each time."""
    topic = x.p.day_5["topic"]
    return [
        sorted(m.assignment.get(topic, ()))
        for event in events
        if isinstance(event, Members)
        for m in event.members
        if m.id == identity
    ]


def place_of_difference(heard, right):
    """Where two lists part, in words."""
    same = 0
    while same < min(len(heard), len(right)) and heard[same] == right[same]:
        same += 1
    return f"the group tells the same of the first {same}, and then something else"


def came(x, events):
    """The place of the last event in which the newcomer shares, and what it had there."""
    topic, both = x.p.day_5["topic"], {x.p.careful, x.p.newcomer}
    for at in reversed(range(len(events))):
        event = events[at]
        if isinstance(event, Members) and {m.client for m in event.members} == both:
            owners = event.owners(topic)
            taken = sorted(n for n, name in owners.items() if name == x.p.newcomer)
            if taken and len(owners) == len(ALL) and len(event.members) == len(both):
                return at, taken
    raise Unseen(f"{x.p.careful} and {x.p.newcomer} never shared the partitions of {topic}")


@check(6, points=10, title="Back in its seat, and nobody else noticed")
def seat_is_kept(x):
    seen_to_pack(x, 6, x.p.falls)
    topic = x.p.day_6["topic"]
    changes = [e for e in history(x, x.p.day_6["group"]) if isinstance(e, Members)]
    seated = [e for e in changes if {m.instance for m in e.members} == set(x.p.seats)]
    yield expect(
        seated,
        f"the group never had two static members by the names {' and '.join(x.p.seats)}",
        must=True,
    )
    in_seat = [(e, m.id) for e in seated for m in e.members if m.instance == x.p.falls]
    turns = [(before, after) for (before, one), (after, other) in pairwise(in_seat) if one != other]
    yield expect(turns, f"nobody came back to the seat of {x.p.falls}", must=True)
    before, after = turns[-1]
    yield expect(
        before.generation == after.generation,
        f"generation {before.generation} became {after.generation}: the partitions were dealt anew",
        must=True,
    )
    yield (
        before.owners(topic) == after.owners(topic),
        "the partitions have other readers than before",
    )


@check(6, points=8, title="Nothing is left out, and few packed again")
def night_is_whole(x):
    seen_to_pack(x, 6, x.p.falls)
    day = x.p.day_6
    yield nothing_missing(x, day, must=True)
    extra = sum(again(x, day).values())
    yield extra <= x.p.repeated, f"{extra} orders were packed once more; {x.p.repeated} are allowed"
    workers = {one.member for one in packed(x, day)}
    yield equal("who packed", sorted(workers), sorted(x.p.seats))
    late = behind(x, day)
    yield not late, f"the group has not committed the end of the partitions {late}"
