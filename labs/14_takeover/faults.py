"""What happens to the members while the cells of lab 14 run.

The records are made up when they are sent, and who goes is drawn when somebody has to go: nobody
can know either before. The first word of a value is its stage.

Who tells of them is seen in each stage: for a moment nothing runs but the members. In grading, that
is; who practises is asked the same, and goes on.
"""

import secrets
from contextlib import contextmanager, suppress
from itertools import count

from grading.faults.breaker import NotReached
from grading.faults.fault import fault
from grading.judge.checks import Unseen
from kafkalab.errors import CourseError
from kafkalab.wait import WaitTimeout

PARTITIONS = 13
LIMIT = 10_000
A_MOMENT = 2.0  # seconds for the members to tell; a quick client waits five for an answer
WAVES = 4


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
    """One of the members that run, and waves of one record for each partition.

    With the first come all that were its own, and one for somebody else to tell.
    """
    chosen = secrets.choice(f.kafka.group(f.p.group).members)
    own = chosen.assignment.get(f.p.topic, [])
    others = [n for n in range(PARTITIONS) if n not in own]
    secrets.SystemRandom().shuffle(others)
    single = [[n] for n in others[1:WAVES]]
    return chosen.client, [[*own, *others[:1]], *single, others[WAVES:]]


@contextmanager
def sender(f):
    """A function that sends a record of a stage to each of these partitions: it returns values."""
    from kafka import KafkaProducer

    from kafkalab import quick

    def send(stage, partitions):
        values = [f"{stage} {next(number)} {secrets.token_hex(4)}" for _ in partitions]
        sent = [
            producer.send(f.p.topic, value.encode(), partition=partition)
            for value, partition in zip(values, partitions, strict=True)
        ]
        for one in sent:
            one.get(timeout=20)
        return {*values}

    number = count(1)
    with KafkaProducer(bootstrap_servers=f.cluster.address, **quick.producer) as producer:
        yield send


def told(f):
    """The values of which a member has told until now."""
    f.kafka.forget()
    try:
        log = f.kafka.read(f.p.seen_topic, limit=LIMIT, may_be_empty=True)
    except (CourseError, Unseen):
        return set()
    return {one.text() for one in log if one.key_text() in f.p.members}


def send_in_waves(f, stage, waves):
    """Send records, and see whether the members tell of one while nothing else runs.

    For so short a time that no request of the notebook is given up meanwhile; what was seen later
    does not count. Where the machine is too busy for the members as well, there are further waves.
    """
    alone = 0
    waves = [[*wave] for wave in waves if wave]
    with sender(f) as send:
        told(f)  # who reads is connected from here on
        for wave in waves:
            if alone:
                send(stage, wave)
                continue
            with f.nobody_but(*f.p.members) as stand_still:
                sent = send(stage, wave)
                wait_for_told(f, sent, 1, A_MOMENT)
                seen = len(sent & told(f))
                alone = seen if stand_still() else 0
            if not alone:
                wait_for_told(f, sent, len(sent), 2 * A_MOMENT)
    f.keep(alone=alone)
    f.note(f"{sum(map(len, waves))} records sent: {stage}")


def wait_for_told(f, values, fewest, timeout):
    """Until so many of these are told of, or for so long."""
    with suppress(WaitTimeout):
        f.wait(lambda: len(values & told(f)) >= fewest, "the members to tell", timeout=timeout)


@fault(task=2)
def new_records_come(f):
    yield
    wait_for_rest(f, 3, "three members")
    more = [secrets.randbelow(PARTITIONS) for _ in range(f.p.new - PARTITIONS)]
    single = [[one] for one in more[:WAVES]]
    send_in_waves(f, "new", [range(PARTITIONS), *single, more[WAVES:]])


@fault(task=3)
def latecomer_comes(f):
    """A member is a program of its own. More is not asked here: who stands still is soon missed."""
    yield
    name = f.p.latecomer
    f.until(lambda: f.process(name), f"a program of its own by the name of {name}", afterwards=True)


@fault(task=4)
def one_leaves(f):
    yield
    wait_for_rest(f, 3, "three members")
    name, waves = somebody(f)
    f.stop_process(name)
    # Also where the cell is over by then: what was begun must not begin once more in the next one.
    try:
        f.wait(lambda: f.process(name) is None, "the member to end", timeout=10)
    except WaitTimeout:
        raise NotReached("the member that was asked to end") from None
    send_in_waves(f, "leave", waves)


@fault(task=5)
def one_is_killed(f):
    yield
    wait_for_rest(f, 2, "two members")
    name, waves = somebody(f)
    f.kill_process(name)
    send_in_waves(f, "crash", waves)
