"""What happens to the members of lab 06 while their cells run.

Who is killed is found by its name, which stands among the arguments of its process, and by its
connection to the broker: who only bears the name is no member. What a member has done is counted
in the results, on the disk of the broker.

That it is they who pack is seen in tasks 3, 5 and 6: for a moment nothing of the student's runs but
the members. In grading, that is; who practises is asked the same, and goes on.
"""

import secrets
from collections import Counter
from contextlib import suppress

from grading.faults.fault import fault
from kafkalab.wait import WaitTimeout

LIMIT = 10_000
A_FEW = 6  # orders, after which all are sent or soon will be
A_LITTLE_LATER = 40  # orders, of more than a hundred
ALONE = 3  # results of a member by which it is seen to pack: what was on its way before is less
LOOKS = 6
A_MOMENT = 1.0  # seconds of a look; as many members pack some twenty orders
BETWEEN = 0.3  # seconds


def packed(f, day):
    return f.stored(day["results"])


def committed(f, day):
    """Whether the group has committed anything that it packed."""
    offsets = f.cluster.group(day["group"]).offsets
    return any(offset for (topic, _), offset in offsets.items() if topic == day["topic"])


def members(f, day):
    """How many there are in the group; 0 while its partitions are dealt."""
    view = f.cluster.group(day["group"])
    return len(view.members) if view.state == "STABLE" else 0


def clients(f, day):
    """The client ids of the members that the broker knows."""
    return {member.client for member in f.cluster.group(day["group"]).members}


def in_hand(f, day, name):
    """Orders that this member has packed and not committed; all there are began in its time."""
    group = f.cluster.group(day["group"])
    own = [
        group.offsets.get((day["topic"], partition), 0)
        for member in group.members
        if member.client == name
        for partition in member.assignment.get(day["topic"], ())
    ]
    f.kafka.forget()
    results = f.kafka.read(day["results"], limit=LIMIT)
    return sum(one.key_text() == f"{day['group']} {name}" for one in results) - sum(own)


def results_by(f, day):
    """Name of a member -> how many results of its own there are."""
    f.kafka.forget()
    log = f.kafka.read(day["results"], limit=LIMIT)
    group, keys = day["group"], [one.key_text() or "" for one in log]
    return Counter(key.removeprefix(f"{group} ") for key in keys)


def watch(f, day, team, names, until):
    """Keep who of these packs while nothing of the student's runs but the team.

    Until each has been seen, or so many orders are packed and one has; the last look is a little
    later.
    """
    f.until(lambda: packed(f, day) >= A_FEW, f"{A_FEW} orders packed")
    seen = set()
    for _ in range(LOOKS):
        with f.nobody_but(*team) as nobody_else:
            seen |= look(f, day, names, nobody_else)
        done = packed(f, day)
        if len(seen) == len(names) or done >= (until if seen else until + A_LITTLE_LATER):
            break
        if f.is_over.wait(BETWEEN):
            break
    f.keep(alone=sorted(seen))


def look(f, day, names, nobody_else):
    """Who of these gets results for a moment, as far as nobody else runs yet when that is seen."""
    before, found = results_by(f, day), set()

    def all_pack():
        now = results_by(f, day)
        if nobody_else():
            found.update(name for name in names if now[name] - before[name] >= ALONE)
        return len(found) == len(names)

    with suppress(WaitTimeout):
        f.wait(all_pack, "the members to pack", timeout=A_MOMENT)
    return found


@fault(task=3)
def two_members_die(f):
    """No cell is over before the first is missed: what it had not packed waits for the others."""
    day = f.p.day_3
    first, second = f.p.killed
    yield
    f.until(lambda: members(f, day) == len(f.p.crew), f"{len(f.p.crew)} members")
    watch(f, day, f.p.crew, f.p.killed, f.p.killed_at)
    # Who commits seldom shows it at the latest a little later, also where orders come slowly.
    f.until(
        lambda: (
            packed(f, day) >= f.p.killed_at
            and (
                in_hand(f, day, first) > len(f.p.killed) * f.p.repeated
                or packed(f, day) >= f.p.killed_at + A_LITTLE_LATER
            )
        ),
        f"{f.p.killed_at} orders packed",
    )
    f.keep(packed=packed(f, day))
    killed = {first: f.kill_process(first)}
    f.until(lambda: first not in clients(f, day), f"{first} to be missed in the group")
    killed[second] = f.kill_process(second)
    f.keep(killed=killed)
    # It may have had nothing left to pack: then the third is done before anybody misses it.
    f.until(
        lambda: second not in clients(f, day) or packed(f, day) >= f.p.rush,
        f"{second} to be missed in the group, or all to be packed",
        afterwards=True,
    )


@fault(task=4)
def dies_while_orders_come(f):
    """The orders come before the death, so that nothing moves any more when it is seen."""
    from kafka import KafkaProducer

    from kafkalab import quick

    day = f.p.day_4
    yield
    # One that commits for each batch may have packed so many before its first commit.
    f.until(
        lambda: (
            packed(f, day) >= f.p.counted_at
            and (committed(f, day) or packed(f, day) >= f.p.counted * 4 // 5)
        ),
        f"{f.p.counted_at} orders packed, and some committed",
    )
    with KafkaProducer(bootstrap_servers=f.cluster.address, **quick.producer) as producer:
        for partition, number in enumerate(f.p.surprise):
            for n in range(number):
                producer.send(day["topic"], b"surprise %d" % n, partition=partition)
        producer.flush(timeout=20)
    f.note("more orders came")
    f.kill_process(f.p.counter)
    f.is_over.wait()  # it is when the cell is, at its limit at last
    move_clerks(f)


def move_clerks(f):
    """What the cell has seen of the other group is true no more: a function has to ask again.

    Nothing is moved where the cell in front of the task was not run, or somebody is in the group.
    """
    from kafka import KafkaAdminClient, TopicPartition

    from kafkalab import quick

    from .shop import commit

    clerks, archive = f.cluster.group(f.p.clerks), f.kafka.topic(f.p.archive)
    bounds = {one.partition: (one.start_offset, one.end_offset) for one in archive.partitions}
    known = {n: offset for (topic, n), offset in clerks.offsets.items() if topic == archive.name}
    moved = elsewhere(known, bounds)
    if clerks.members or not moved:
        return
    with KafkaAdminClient(bootstrap_servers=f.cluster.address, **quick.admin) as admin:
        commit(admin, f.p.clerks, {TopicPartition(archive.name, n): at for n, at in moved.items()})
    f.keep(moved=sorted(moved.items()))
    f.note(f"your cell was over, and {f.p.clerks} got other offsets")


def elsewhere(known, bounds):
    """Other offsets for these partitions that hold records; nobody can foresee them."""
    found = {}
    for n, offset in known.items():
        start, end = bounds[n]
        others = [at for at in range(start, end + 1) if at != offset]
        if others:
            found[n] = secrets.choice(others)
    return found


@fault(task=5)
def somebody_joins_and_leaves(f):
    """A member that reads, packs nothing and commits nothing."""
    from kafka import KafkaConsumer

    from kafkalab import quick

    day = f.p.day_5
    yield
    watch(f, day, [f.p.careful], [f.p.careful], f.p.joins_at)
    f.until(lambda: packed(f, day) >= f.p.joins_at, f"{f.p.joins_at} orders packed")
    with KafkaConsumer(
        day["topic"],
        bootstrap_servers=f.cluster.address,
        client_id=f.p.newcomer,
        group_id=day["group"],
        enable_auto_commit=False,
        **quick.consumer,
    ) as newcomer:

        def has_partitions():
            newcomer.poll(timeout_ms=20)
            return newcomer.assignment()

        f.until(has_partitions, f"partitions for {f.p.newcomer}, who joined the group")
    f.note(f"{f.p.newcomer} has left")


@fault(task=6)
def one_seat_falls_empty(f):
    day = f.p.day_6
    yield
    f.until(lambda: members(f, day) == len(f.p.seats), f"{len(f.p.seats)} members")
    watch(f, day, f.p.seats, [f.p.falls], f.p.falls_at)
    f.until(lambda: packed(f, day) >= f.p.falls_at, f"{f.p.falls_at} orders packed")
    f.kill_process(f.p.falls)
