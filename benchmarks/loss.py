"""The experiments of lesson 08, many times on one cluster: each must end the same way every time.

./course bench loss [frozen-leader frozen-followers late-kill minimum last-copy]
                          [--repeat 20]

In each round another broker dies. Seconds count from the fault to the verdict; what brings the
brokers back for the next round is not in them.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from functools import partial

from kafka import KafkaAdminClient

from benchmarks._breaking import ONCE, RECORDS, Outcomes, Round, send_all, told
from benchmarks._progress import Progress
from benchmarks._tally import Tally
from kafkalab import Cluster, Ledger, clients, quick, wait_until


def frozen_leader(it: Round) -> Outcomes:
    """X2 and X3a: the leader of a third of the records reads none of them, and is killed."""
    one, two = [[it.a], [it.b], [it.c]] * 2, [[it.a, it.b], [it.b, it.c], [it.c, it.a]] * 2
    producers = {acks: it.producer(acks) for acks in (0, 1)}
    runs = {
        "acks=0, two copies": (0, it.topic("copied", two)),
        "acks=0, one copy": (0, it.topic("silent", one)),
        "acks=1, one copy": (1, it.topic("waiting", one)),
    }
    for _, topic in runs.values():
        for acks in (1, 0):  # a new leader might refuse what acks=0 sends, and nobody would hear
            for partition in range(6):
                producers[acks].send(topic, b"hello", partition=partition).get(timeout=20)
    ledgers = {name: Ledger() for name in runs}
    it.broken_at = time.perf_counter()
    it.cluster.pause(it.a)
    for name, (acks, topic) in runs.items():
        for number, promise in enumerate(send_all(ledgers[name], producers[acks], topic)):
            if acks == 0 or number % 3:
                promise.get(timeout=20)
    it.cluster.kill(it.a)
    gone = it.leaderless(runs["acks=0, one copy"][1], 2)
    assert [part.replicas for part in gone] == [[it.a]] * 2
    in_sync, eligible = [part.isr for part in gone], [part.elr == part.replicas for part in gone]
    yield "one copy, its broker dead", f"2 without a leader, in sync {in_sync}, eligible {eligible}"
    for name, (_, topic) in runs.items():
        if "one" in name:
            it.cluster.mend()
        for partition in (0, 3):
            it.cluster.wait_for_leader(
                topic, partition, among=None if "one" in name else [it.b, it.c]
            )
        yield name, told(ledgers[name], it.cluster)


def frozen_followers(it: Round) -> Outcomes:
    """X3b: the leader has the records, its followers do not, and it is killed."""
    producers = {acks: it.producer(acks) for acks in (1, "all")}
    topics = {acks: it.topic("held", [[it.a, it.b, it.c]]) for acks in producers}
    for acks, topic in topics.items():
        producers[acks].send(topic, b"before").get(timeout=20)
        wait_until(
            lambda t=topic: it.ends(t) == {1}, timeout=20, what="the first record everywhere"
        )
    ledgers = {acks: Ledger() for acks in topics}
    it.broken_at = time.perf_counter()
    it.cluster.pause(it.b)
    it.cluster.pause(it.c)
    # It goes out as the answer to the fetch requests that wait, into the frozen brokers' buffers.
    producers[1].send(topics[1], b"sentinel").get(timeout=20)
    fetches = partial(it.cluster.gateway.frames, "Fetch", broker=it.a, between="nodes")
    wait_until(lambda: "open" not in {f.outcome for f in fetches()}, timeout=2, what="answers")
    sent = {acks: send_all(ledgers[acks], producers[acks], topics[acks], 1) for acks in topics}
    producers[1].flush(timeout=20)
    early = sum(promise.is_done for promise in sent["all"])
    it.cluster.kill(it.a)
    it.cluster.resume(it.b)
    it.cluster.resume(it.c)
    for acks, topic in topics.items():
        it.cluster.wait_for_leader(topic, 0, among=[it.b, it.c])
        yield f"acks={acks}, leader alone", told(ledgers[acks], it.cluster)
    it.cluster.mend()
    it.cluster.wait_for_isr(topics[1], 3)
    back = told(ledgers[1], it.cluster)
    yield "acks=1, old leader back", f"{back}, acks=all before the kill {early}"


def late_kill(it: Round) -> Outcomes:
    """X3b, too late: the followers are out of sync before the leader dies, so nobody takes over."""
    topic, producer, ledger = it.topic("late", [[it.a, it.b, it.c]]), it.producer(1), Ledger()
    producer.send(topic, b"before").get(timeout=20)
    it.broken_at = time.perf_counter()
    it.cluster.pause(it.b)
    it.cluster.pause(it.c)
    it.cluster.wait_for_isr(topic, 1)
    for promise in send_all(ledger, producer, topic, 1):
        promise.get(timeout=20)
    it.cluster.kill(it.a)
    it.cluster.resume(it.b)
    it.cluster.resume(it.c)
    it.cluster.wait_for_brokers([it.b, it.c])
    (gone,) = it.leaderless(topic, 1)
    yield "acks=1, killed late", f"in sync {gone.isr}, eligible {gone.elr == [it.a]}"
    it.cluster.restart(it.a)
    it.cluster.wait_for_leader(topic, 0, among=[it.a])
    yield "acks=1, killed late, back", told(ledger, it.cluster)


def minimum(it: Round) -> Outcomes:
    """X4a and X4b: a minimum of two, with two and with three copies.

    And X3b, second part: where both copies are away, the broker that went last must come back.
    """
    two = [[it.a, it.b], [it.b, it.c], [it.c, it.a]] * 2
    three = [[it.a, it.b, it.c], [it.b, it.c, it.a], [it.c, it.a, it.b]] * 2
    pair, triple = it.topic("pair", two, 2), it.topic("triple", three, 2)
    away = it.topic("away", two)
    producer, once = it.producer("all"), it.producer("all", **ONCE)
    ledgers = {pair: Ledger(), triple: Ledger()}
    it.broken_at = time.perf_counter()
    it.cluster.stop(it.a)
    it.cluster.wait_for_isr(triple, 2)
    yield "two copies, one stopped", it.errors(once, pair)
    send_all(ledgers[pair], producer, pair)
    for promise in send_all(ledgers[triple], producer, triple):
        promise.get(timeout=30)
    yield "three copies, one stopped", told(ledgers[triple], it.cluster)
    it.cluster.kill(it.b)
    it.cluster.wait_for_isr(triple, 1)
    # It takes the leader a moment to know that it is alone, and the producer to know who leads.
    wait_until(lambda: "NotLeader" not in it.errors(once, triple), timeout=20, what="leaders")
    yield "three copies, one left", it.errors(once, triple)
    gone = it.leaderless(away, 2)
    both = [part.replicas for part in gone] == [[it.a, it.b]] * 2
    yield "two copies, two down", f"2 without a leader, those of the two: {both}"
    late = send_all(ledgers[triple], producer, triple)
    it.cluster.restart(it.a)
    for promise in late:
        promise.get(timeout=60)
    yield "three copies, one back", f"{sum(promise.succeeded() for promise in late)} acknowledged"
    still = [(part.leader, part.elr == [it.b]) for part in it.cluster.topic(away).partitions[::3]]
    yield "two copies, the first back", f"leader, the last eligible: {still}"
    it.cluster.mend()
    led = [it.cluster.wait_for_leader(away, place, among=[it.b]) == it.b for place in (0, 3)]
    yield "two copies, the last back", f"it leads: {led}"
    yield "two copies, all back", told(ledgers[pair], it.cluster)


def last_copy(it: Round) -> Outcomes:
    """Broker b misses half of the records; a, which has all, dies; b comes back first."""
    layout = [[it.a, it.b]]
    clean, forced = it.topic("clean", layout), it.topic("forced", layout)
    unclean = it.topic("unclean", layout, unclean_leader_election_enable="true")
    guarded = it.topic("guarded", layout, 2)
    ledgers = {topic: Ledger() for topic in (clean, forced, unclean, guarded)}
    once = it.producer("all", **ONCE)

    def half(first: int) -> None:
        for number in range(first, first + RECORDS // 2):
            for topic, ledger in ledgers.items():
                ledger.sent(number, once.send(topic, b"%d" % number))
        for ledger in ledgers.values():
            ledger.settle(20)

    def leader(topic: str) -> int | None:
        return it.cluster.topic(topic).partitions[0].leader

    half(0)
    it.broken_at = time.perf_counter()
    it.cluster.stop(it.b)
    it.cluster.wait_for_isr(clean, 1)
    half(RECORDS // 2)
    it.cluster.kill(it.a)
    it.cluster.wait_for_brokers([it.c])
    it.cluster.restart(it.b)
    wait_until(
        lambda: leader(unclean) == leader(guarded) == it.b, timeout=30, what="leaders that may lead"
    )
    waiting = leader(clean) is leader(forced) is None
    with KafkaAdminClient(bootstrap_servers=it.cluster.address, **quick.admin) as admin:
        admin.elect_leaders(1, {forced: [0]})
    it.cluster.wait_for_leader(forced, 0, among=[it.b])
    it.cluster.mend()
    for topic in ledgers:
        it.cluster.wait_for_isr(topic, 2)
    yield "clean election", f"waits: {waiting}, {told(ledgers[clean], it.cluster)}"
    yield "unclean election allowed", told(ledgers[unclean], it.cluster)
    yield "unclean election forced", told(ledgers[forced], it.cluster)
    yield "minimum of two", told(ledgers[guarded], it.cluster)


EXPERIMENTS: dict[str, Callable[[Round], Outcomes]] = {
    "frozen-leader": frozen_leader,
    "frozen-followers": frozen_followers,
    "late-kill": late_kill,
    "minimum": minimum,
    "last-copy": last_copy,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="./course bench loss")
    parser.add_argument("experiments", nargs="*", help=f"of {', '.join(EXPERIMENTS)}; else all")
    parser.add_argument("--repeat", type=int, default=20)
    options = parser.parse_args()
    if unknown := set(options.experiments) - set(EXPERIMENTS):
        parser.error(f"no such experiment: {', '.join(sorted(unknown))}")
    os.environ.pop("KAFKALAB_CLUSTER", None)
    tally = Tally()
    plan = dict.fromkeys(options.experiments or EXPERIMENTS, options.repeat)
    with (
        Progress(plan, tally.show) as progress,
        Cluster.start("replicated", gateway=True) as cluster,
    ):
        for name, number in progress.goes():
            it = Round(cluster, number)
            for what, verdict in EXPERIMENTS[name](it):
                tally.note(what, verdict, time.perf_counter() - it.broken_at)
            it.cluster.mend()
            clients.close_all(cluster.addresses.values())
    tally.judge()


if __name__ == "__main__":
    main()
