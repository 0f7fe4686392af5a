"""Hidden checks of lab 04: whether it happened, and not only in the notebook."""

from grading.judge.checks import Unseen, check

from .checks import has_changed, has_lost, longest_pause
from .rule import TABLE, after_loss


@check(2, points=7, title="predict holds for other lists and other losses")
def predict_holds_elsewhere(x):
    # Another rule agrees by chance in three lists of four, so all of them count as one.
    for _ in range(15):
        brokers = x.rng.sample(range(10, 20), 4)
        replicas = [x.rng.sample(brokers, 3) for _ in range(x.rng.randrange(4, 8))]
        dead = x.rng.sample(brokers, 2)
        called = f"predict({replicas}, {set(dead)})"
        seen = x.value(f"predict({replicas!r}, set({dead!r}))", TABLE, called=called)
        seen = {p: one | {"isr": sorted(one["isr"])} for p, one in seen.items()}
        if seen != after_loss(replicas, dead):
            yield False, f"{called} is {seen}, which is not what the rule gives"
            return
    yield True, ""


@check(3, points=6, title="The broker is gone")
def broker_is_gone(x):
    has_lost(x, x.p.lost)
    partitions = x.kafka.topic(x.p.topic).partitions
    there = [p.partition for p in partitions if x.p.lost in p.isr or p.leader == x.p.lost]
    yield not there, f"broker {x.p.lost} is still in sync in partitions {there}"


@check(5, points=3, title="One replica was left")
def one_replica_was_left(x):
    for broker in (x.p.lost, x.p.second):
        has_lost(x, broker)
    partitions = x.kafka.topic(x.p.topic).partitions
    (survivor,) = {0, 1, 2} - {x.p.lost, x.p.second}
    others = [p.partition for p in partitions if p.isr != [survivor]]
    yield not others, f"in-sync replicas of partitions {others} are not broker {survivor} alone"
    refused = f"min.isr requirement of 2 for partition {x.p.topic}-0"
    yield (
        any(refused in line for line in x.kafka.logs(survivor)),
        f"broker {survivor} has refused no record for partition 0 of {x.p.topic}",
    )


@check(7, points=2, title="The log shows the same delay")
def delay_is_in_the_log(x):
    delays = x.value("delays", {"stop": float, "kill": float})
    for fault, topic in x.p.delay_topics.items():
        has_changed(x.kafka.topic(topic).partitions)
        stored = len(x.read(topic))
        if stored <= 100:
            raise Unseen(f"{topic} holds {stored} records")
        longest, told = longest_pause(x, topic), delays[fault]
        # Between two sends there is also what the loop does besides: on a busy machine, for long.
        near = -max(300, longest / 2) <= told - longest <= max(300, longest / 4)
        yield (
            near,
            f"delays[{fault!r}] is {told:.0f} ms; a record of {topic} has held up the next one for "
            f"at most {longest} ms",
        )
