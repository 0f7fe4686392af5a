"""What breaks while the cells of lab 05 run.

Partition n of every topic here has its first leader on broker n % 3: the notebook places the
replicas so, and a log is looked for there.
"""

from grading.faults.fault import fault
from grading.judge.checks import Unseen


def ends(f, topic, partitions):
    """Records in the logs of these partitions, on the disks of their first leaders."""
    return sum(f.log_end(topic, number, number % 3) for number in partitions)


def written(f, topic, partitions):
    """Bytes in the logs of these partitions at their first leader, which is one broker."""
    there = f.cluster.log_bytes(topic, partitions[0] % 3)
    return sum(there[number] for number in partitions)


def led_by(broker):
    return [broker, broker + 3]


def others(f, broker):
    return [other for other in f.cluster.brokers if other != broker]


def as_made(f, copies, *topics):
    """Topics as the cell in front of the task makes them; one of another shape meets no fault."""
    for topic in topics:
        places = {one.partition: one.replicas for one in f.kafka.topic(topic).partitions}
        made = {n: [(n + copy) % 3 for copy in range(copies)] for n in range(6)}
        if places != made:
            raise Unseen(
                f"the topic {topic} is not as the cell in front of the task makes it: run that "
                "cell, then yours"
            )


@fault(task=2)
def frozen_then_killed(f):
    """The network holds back what goes to the broker, so that no burst is faster than the frost."""
    broker, topics = f.p.frozen, (f.p.unasked, f.p.asked)
    reached = [number for other in others(f, broker) for number in led_by(other)]
    as_made(f, 1, *topics)
    f.gateway.delay(1_000, broker=broker, api="Produce")
    yield
    f.until(
        lambda: all(ends(f, topic, led_by(broker)) >= 2 for topic in topics),
        f"the greetings of both producers on broker {broker}",
    )
    f.pause(broker)
    wanted = len(reached) + f.p.records * 4 // 6
    f.until(
        lambda: all(ends(f, topic, reached) >= wanted for topic in topics),
        "both bursts on the other two brokers",
    )
    f.kill(broker)
    f.gateway.heal()
    f.restart(broker)


@fault(task=3)
def leader_dies_before_the_others_copy(f):
    """The record in the topic `mark` answers the fetches that wait at the leader.

    Without it the first records of the burst would, and would lie on their way to the followers.
    """
    from kafka import KafkaProducer

    from kafkalab import quick

    leader, followers = f.p.leader, others(f, f.p.leader)
    mine, topics = led_by(leader), (f.p.led, f.p.copied)
    as_made(f, 3, f.p.mark, *topics)
    for topic in (f.p.mark, *topics):
        f.cluster.wait_for_isr(topic, 3)
    marker = KafkaProducer(
        bootstrap_servers=f.cluster.address,
        client_id="marker",
        acks=1,
        enable_idempotence=False,
        **quick.producer,
    )
    marker.send(f.p.mark, b"known", partition=leader).get(timeout=10)
    for topic in topics:
        f.gateway.delay(1_000, broker=leader, api="Produce", client_id=topic)
    yield
    # Below the high watermark, so answered too. A leader reads nothing more from a connection
    # whose last request it owes an answer, and here it would owe one to the frozen followers.
    f.until(
        lambda: all(greeted(f, topic, mine) for topic in topics),
        "the greetings of both producers on all brokers",
    )
    greetings = written(f, f.p.copied, mine)
    f.pause(*followers)
    marker.send(f.p.mark, b"mark", partition=leader).get(timeout=10)
    f.gateway.clear()
    f.gateway.heal()
    f.until(lambda: ends(f, f.p.led, mine) >= f.p.records + 2, "the burst with acks=1")
    # The leader is asked for bytes: a look at its disk takes longer, and the frozen followers have
    # no more than their session until they are no longer in sync.
    f.until(
        f.settled(lambda: written(f, f.p.copied, mine), above=greetings),
        "your own burst, and nothing more in the leader's log",
    )
    f.kill(leader)
    f.resume(*followers)
    for number in mine:
        f.cluster.wait_for_leader(f.p.copied, number, among=followers)
    f.note("a follower leads")


def greeted(f, topic, partitions):
    """Whether every replica in sync has the first record of these partitions."""
    found = f.cluster.topic(topic).partitions
    return all((one.end_offset or 0) >= 1 for one in found if one.partition in partitions)


@fault(task=4)
def one_broker_goes(f):
    """Nothing can be sent before the broker is away, so no cell is faster than the fault."""
    as_made(f, 2, f.p.tight)
    f.gateway.cut(api="Produce")
    yield
    f.until(lambda: has_leaders(f, f.p.sturdy), f"the topic {f.p.sturdy}")
    (f.kill if f.p.goes == "kill" else f.stop)(f.p.away)
    f.wait(lambda: is_without(f, f.p.tight, f.p.away), "the other brokers to notice")
    f.wait(lambda: is_without(f, f.p.sturdy, f.p.away), "the other brokers to notice")
    f.gateway.heal()
    f.note("the network is open")


def has_leaders(f, topic):
    partitions = f.kafka.topic(topic).partitions
    return len(partitions) == 6 and all(p.leader is not None for p in partitions)


def is_without(f, topic, broker):
    partitions = f.cluster.topic(topic).partitions
    return all(p.leader != broker and broker not in p.isr for p in partitions)


@fault(task=5)
def answers_are_dropped(f):
    for topic in (f.p.doubled, f.p.once):
        f.gateway.drop_replies("Produce", count=f.p.dropped, after=f.p.answered, client_id=topic)
    f.gateway.clear()
    yield
    for topic in (f.p.doubled, f.p.once):
        f.until(
            lambda: dropped(f, topic) == f.p.dropped,  # noqa: B023
            f"{f.p.dropped} dropped answers to {topic}, after {f.p.answered} that came",
            afterwards=True,
        )


def dropped(f, client):
    return sum(
        frame.outcome == "dropped" for frame in f.gateway.frames("Produce", client_id=client)
    )


@fault(task=6)
def worker_dies_between_commits(f):
    """Counted is what was processed: a loop that commits too seldom is hit as well."""
    yield
    f.until(
        lambda: f.kafka.topic(f.p.done).records >= f.p.killed_at,
        f"{f.p.killed_at} records processed",
    )
    f.kill_process("worker-1")


@fault(task=7)
def worker_leaves_without_a_word(f):
    yield
    f.until(lambda: members(f, f.p.late_workers) == 2, f"two members in {f.p.late_workers}")
    f.until(
        lambda: f.kafka.topic(f.p.late_done).records >= f.p.records // 2,
        f"{f.p.records // 2} records processed",
    )
    if f.p.hit == "kill":
        f.kill_process("worker-1")
        return
    f.freeze_process("worker-1")
    f.until(lambda: members(f, f.p.late_workers) == 1, "the other worker alone")
    f.thaw_processes()
    f.note("worker-1 goes on")


def members(f, group):
    view = f.cluster.group(group)
    return len(view.members) if view.state == "STABLE" else 0
