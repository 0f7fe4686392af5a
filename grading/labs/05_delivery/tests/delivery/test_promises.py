"""The lines of task 8, each under the faults that could break it; what is left names the promise.

The lab asks for the names and has the answers sealed; here every seal is compared with a run.
"""

from collections import Counter
from contextlib import ExitStack

import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.errors import NotEnoughReplicasError

from delivery import Entry, Run, difference, workers
from delivery.payload import logs, path_of, read, write
from grading.define.definition import module
from grading.judge.sealed import seal
from kafkalab import Cluster, Ledger, quick, wait_until
from kafkalab.evidence.verdict import ACKNOWLEDGED
from tests.grading.state import loaded

pytestmark = pytest.mark.cluster

# By what came of all faults: whether something acknowledged was lost, whether something came twice.
PROMISE = {
    (True, False): "at most once",
    (False, True): "at least once",
    (True, True): "neither",
    (False, False): "written once",
}
# Line -> acks, idempotence, the minimum in sync of a topic with three copies.
PRODUCERS = {
    "unasked": (0, False, 1),
    "led": (1, False, 2),
    "alone": ("all", False, 1),
    "doubled": ("all", False, 2),
    "once": ("all", True, 2),
    "tight": ("all", True, 3),
}
CONSUMERS = {"early", "late", "careless", "known"}


def key():
    """Line -> the seal of its right answer, as the check of the lab has it."""
    return {
        line: one.seal for line, one in module(loaded("lab05").place, "checks").PROMISES.items()
    }


def sealed(promises):
    return {line: seal(f"lab05 promises {line}", word) for line, word in promises.items()}


def test_every_line_of_the_lab_has_a_run_here():
    assert key().keys() == PRODUCERS.keys() | CONSUMERS


def test_what_the_producers_lines_promise():
    """An answer is lost; then one broker after the other goes, the last leader too, an
    unclean election brings back the one that went last but one, and the others follow it.

    Broker 0, which that is, has all that a minimum of two has acknowledged. Broker 2 has not, and
    would lose of these too: lesson 08. The lab names such an election for `alone` only.
    """
    with ExitStack() as stack:
        cluster = stack.enter_context(Cluster.start("replicated", gateway=True, beside=True))
        settings = {"bootstrap_servers": cluster.address, **quick.admin}
        admin = stack.enter_context(KafkaAdminClient(**settings))
        producers, ledgers = {}, {line: Ledger() for line in PRODUCERS}
        # What is to arrive has time on a busy machine too: no clock ends a refusal, the tries do.
        patient = {"max_block_ms": 30_000, "request_timeout_ms": 10_000}
        patient |= {"delivery_timeout_ms": 40_000, "retries": 5}
        for line, (acks, is_idempotent, minimum) in PRODUCERS.items():
            configs = {"min.insync.replicas": str(minimum)}
            admin.create_topics({line: {"assignments": {0: [1, 0, 2]}, "configs": configs}})
            cluster.wait_for_topic(line)
            producers[line] = KafkaProducer(
                bootstrap_servers=cluster.address,
                client_id=line,
                acks=acks,
                enable_idempotence=is_idempotent,
                **quick.producer | patient,
            )
            stack.callback(producers[line].close, timeout=1)
        taken = []

        def send():
            """Five records more to every topic; how many were acknowledged, or failed with what."""
            futures = {
                line: [
                    ledgers[line].sent(number, producer.send(line, b"%d" % number))
                    for number in range(5 * len(taken), 5 * len(taken) + 5)
                ]
                for line, producer in producers.items()
            }
            for ledger in ledgers.values():
                ledger.settle(timeout=50)
            taken.append(
                {
                    line: Counter(
                        ACKNOWLEDGED if one.succeeded() else type(one.exception).__name__
                        for one in sent
                        if one.is_done
                    )
                    for line, sent in futures.items()
                }
            )

        for line in PRODUCERS:
            cluster.gateway.drop_replies("Produce", client_id=line)
        send()
        cluster.gateway.heal()
        cluster.stop(2)
        send()
        cluster.kill(0)
        for line in PRODUCERS:
            cluster.wait_for_isr(line, 1)
        send()
        cluster.kill(1)
        cluster.restart(0)
        cluster.wait_for_brokers([0])
        admin.elect_leaders(1, {line: [0] for line in PRODUCERS})
        # A leader shows what it has from before its death only when its minimum is in sync again.
        for broker in (2, 1):
            cluster.restart(broker)
        for line in PRODUCERS:
            cluster.wait_for_isr(line, 3)
            cluster.wait_for_leader(line, partition=0, among=[0])
        verdicts = {line: ledgers[line].verdict(cluster) for line in PRODUCERS}

    everywhere = {line: {ACKNOWLEDGED: 5} for line in PRODUCERS}
    refused = {NotEnoughReplicasError.__name__: 5}
    assert taken[0] == everywhere, taken
    # With one broker away all but the one that needs every copy went on.
    assert taken[1] == everywhere | {"tight": refused}, taken
    assert taken[2] == everywhere | dict.fromkeys(("doubled", "once", "tight"), refused), taken
    promises = {
        line: PROMISE[bool(verdict.lost), bool(verdict.duplicated)]
        for line, verdict in verdicts.items()
    }
    assert sealed(promises) == {line: key()[line] for line in PRODUCERS}, promises


def early(consumer, process, goes_on, dies_after):
    """Commits each batch before it begins to work on it."""
    import os
    import signal

    done = 0
    while goes_on():
        for records in consumer.poll(timeout_ms=200).values():
            consumer.commit()
            for record in records:
                process(record)
                done += 1
                if done == dies_after:
                    os.kill(os.getpid(), signal.SIGKILL)


def late(consumer, process, goes_on, dies_after):
    """Commits each batch when the work is done."""
    import os
    import signal

    done = 0
    while goes_on():
        for records in consumer.poll(timeout_ms=200).values():
            for record in records:
                process(record)
                done += 1
                if done == dies_after:
                    os.kill(os.getpid(), signal.SIGKILL)
            consumer.commit()


def careless(consumer, process, goes_on, dies_after):
    """As the loop that the lab gives, with every=10."""
    import os
    import signal

    done = 0
    while goes_on():
        for records in consumer.poll(timeout_ms=200).values():
            for record in records:
                process(record)
                done += 1
                if done % 10 == 0:
                    consumer.commit()
                if done == dies_after:
                    os.kill(os.getpid(), signal.SIGKILL)


def test_what_the_consumers_lines_promise(cluster, create, fill, tmp_path):
    """Each loop dies among the records of a batch of twenty, at two places; another one goes on."""
    topic = create(cluster.unused("promises"), partitions=1)
    fill(topic, [b"work"] * 60)
    sent = [Entry(topic, 0, str(number), "work") for number in range(60)]
    runs, dead = {}, []
    for loop in (early, late, careless):
        for dies_after in (5, 15):
            name = f"{loop.__name__}-{dies_after}"
            run = Run(cluster, tmp_path / name, topic, group=f"{topic}-{name}")
            write(path_of(run.directory, "producer"), sent)
            results = create(cluster.unused(f"results-{name}"), partitions=1)
            # A static member: the next one has not to wait for the end of a session.
            own = {"group_instance_id": "one", "max_poll_records": 20, "session_timeout_ms": 30_000}
            runs[loop.__name__, dies_after] = run, loop, results, own
            dead.append(workers.start(run, loop, 1, results, dies_after, **own))
    assert {one.wait() for one in dead} == {-9}
    heirs = [workers.start(run, loop, 2, to, 0, **own) for run, loop, to, own in runs.values()]
    for heir in heirs:
        wait_until(
            lambda: any(entry.key == "59" for entry in heir.payload),  # noqa: B023
            timeout=60,
            what="the last record to be processed",
        )
    assert {heir.finish() for heir in heirs} == {0}
    found = {name: difference(run.directory) for name, (run, *_) in runs.items()}

    faults = {}
    for (line, _), each in found.items():
        lost, extra = faults.get(line, (False, False))
        faults[line] = bool(each.lost) or lost, bool(each.extra) or extra
    # Who uses what a late loop has done and ignores a key that is known.
    ever = {str(number) for number in range(60)}
    effects, ignored = [], 0
    for dies_after in (5, 15):
        directory = runs["late", dies_after][0].directory
        keys = [entry.key for path in logs(directory, "consumer") for entry in read(path)]
        effects.append({*keys})
        ignored += len(keys) - len(effects[-1])
    assert ignored, "there is something to ignore"
    promises = {line: PROMISE[fault] for line, fault in faults.items()}
    promises["known"] = "effectively once" if effects == [ever, ever] else "at most once"
    assert sealed(promises) == {line: key()[line] for line in CONSUMERS}, promises
