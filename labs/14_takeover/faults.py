"""What happens to the members while the cells of lab 14 run.

The records are made up when they are sent, and who goes is drawn when somebody has to go: nobody
can know either before. The first word of a value is its stage.
"""

import secrets

from grading.faults.breaker import NotReached
from grading.faults.fault import fault
from kafkalab.wait import WaitTimeout

PARTITIONS = 13


def at_rest(f, fewest):
    """Whether at least so many members have all partitions, and all records are committed.

    Also where nothing was read yet: a member without a committed offset begins at the end, wherever
    that is by then.
    """
    view = f.kafka.group(f.p.group)
    held = sum(len(one.assignment.get(f.p.topic, ())) for one in view.members)
    lag = [behind for (topic, _), behind in view.lag.items() if topic == f.p.topic]
    is_dealt = view.state == "STABLE" and len(view.members) >= fewest and held == PARTITIONS
    return is_dealt and lag == [0] * PARTITIONS


def wait_for_rest(f, fewest, several):
    f.until(
        lambda: at_rest(f, fewest),
        f"{several} of {f.p.group} to have all partitions, and to have committed an offset in each "
        "with nothing left to read",
    )


def somebody(f):
    """One of the members that run."""
    return secrets.choice([member.client for member in f.kafka.group(f.p.group).members])


def send(f, stage, partitions):
    """A record to each of these partitions."""
    from kafka import KafkaProducer

    from kafkalab import quick

    with KafkaProducer(bootstrap_servers=f.cluster.address, **quick.producer) as producer:
        sent = [
            producer.send(
                f.p.topic, f"{stage} {number} {secrets.token_hex(4)}".encode(), partition=partition
            )
            for number, partition in enumerate(partitions, 1)
        ]
        for one in sent:
            one.get(timeout=20)
    f.note(f"{len(sent)} records sent: {stage}")


@fault(task=2)
def new_records_come(f):
    yield
    wait_for_rest(f, 3, "three members")
    more = [secrets.randbelow(PARTITIONS) for _ in range(f.p.new - PARTITIONS)]
    send(f, "new", [*range(PARTITIONS), *more])


@fault(task=4)
def one_leaves(f):
    yield
    wait_for_rest(f, 3, "three members")
    name = somebody(f)
    f.stop_process(name)
    # Also where the cell is over by then: what was begun must not begin once more in the next one.
    try:
        f.wait(lambda: f.process(name) is None, "the member to end", timeout=10)
    except WaitTimeout:
        raise NotReached("the member that was asked to end") from None
    send(f, "leave", range(PARTITIONS))


@fault(task=5)
def one_is_killed(f):
    yield
    wait_for_rest(f, 2, "two members")
    f.kill_process(somebody(f))
    send(f, "crash", range(PARTITIONS))
