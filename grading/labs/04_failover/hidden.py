"""Hidden checks of lab 04: whether it happened, and not only in the notebook."""

from itertools import pairwise

from grading.judge.checks import check, close, equal, expect

from .rule import after_loss, as_table


@check(2, points=7, title="predict holds for other lists and other losses")
def predict_holds_elsewhere(x):
    # Another rule agrees by chance in three lists of four.
    for _ in range(15):
        brokers = x.rng.sample(range(10, 20), 4)
        replicas = [x.rng.sample(brokers, 3) for _ in range(x.rng.randrange(4, 8))]
        dead = x.rng.sample(brokers, 2)
        seen = as_table(x.value(f"predict({replicas!r}, set({dead!r}))"))
        yield equal(f"predict({replicas}, {set(dead)})", seen, after_loss(replicas, dead))


@check(3, points=6, title="The broker is gone")
def broker_is_gone(x):
    partitions = x.kafka.topic(x.p.topic).partitions
    there = [p.partition for p in partitions if x.p.lost in p.isr or p.leader == x.p.lost]
    yield not there, f"broker {x.p.lost} is still in sync in partitions {there}"
    led = [p for p in partitions if p.replicas[0] == x.p.lost]
    yield expect(led, f"broker {x.p.lost} leads nothing by its lists", must=True)
    old = [p.partition for p in led if p.leader_epoch < 1]
    yield not old, f"partitions {old} have never had another leader"


@check(5, points=3, title="One replica was left")
def one_replica_was_left(x):
    partitions = x.kafka.topic(x.p.topic).partitions
    (survivor,) = {0, 1, 2} - {x.p.lost, x.p.second}
    others = [p.partition for p in partitions if p.isr != [survivor]]
    yield not others, f"in-sync replicas of partitions {others} are not broker {survivor} alone"


@check(7, points=2, title="The log shows the same delay")
def delay_is_in_the_log(x):
    for fault, topic in x.p.delay_topics.items():
        times = [record.timestamp for record in x.read(topic)]
        yield expect(len(times) > 100, f"{topic} holds {len(times)} records", must=True)
        longest = max(later - earlier for earlier, later in pairwise(times))
        told = x.value(f"float(delays[{fault!r}])")
        # Between two sends there is also what the loop does besides.
        yield close(f"delays[{fault!r}] in ms", told, longest, within=max(300, longest / 4))
