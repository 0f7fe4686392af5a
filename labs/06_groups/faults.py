"""What happens to the members of lab 06 while their cells run.

Who is killed is found by its name, which stands among the arguments of its process, and by its
connection to the broker: who only bears the name is no member. What a member has done is counted
in the results, on the disk of the broker.
"""

from grading.faults.fault import fault


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


@fault(task=3)
def two_members_die(f):
    """No cell is over before the first is missed: what it had not packed waits for the others."""
    day = f.p.day_3
    first, second = f.p.killed
    yield
    f.until(lambda: members(f, day) == len(f.p.crew), f"{len(f.p.crew)} members")
    f.until(lambda: packed(f, day) >= f.p.killed_at, f"{f.p.killed_at} orders packed")
    killed = {first: f.kill_client(first)}
    f.until(lambda: first not in clients(f, day), f"{first} to be missed in the group")
    killed[second] = f.kill_client(second)
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
    f.kill_client(f.p.counter)


@fault(task=5)
def somebody_joins_and_leaves(f):
    """A member that reads, packs nothing and commits nothing."""
    from kafka import KafkaConsumer

    from kafkalab import quick

    day = f.p.day_5
    yield
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
    f.until(lambda: packed(f, day) >= f.p.falls_at, f"{f.p.falls_at} orders packed")
    f.kill_client(f.p.falls)
