"""Restarts, and offsets committed too early or too late: what a group reads twice or never."""

import re
import shutil
import time
from collections import defaultdict
from contextlib import contextmanager

import pytest
from kafka import KafkaAdminClient

from delivery import Run, difference
from delivery.programs import Program
from kafkalab import Cluster, quick, wait_until

pytestmark = pytest.mark.cluster

EARLIEST = {"auto_offset_reset": "earliest", "poll_period": 200}
NEW_LIMITS = (
    "group.min.session.timeout.ms",
    "group.consumer.min.session.timeout.ms",
    "group.consumer.min.heartbeat.interval.ms",
)


class Filled:
    """A topic with the records of one producer, and where each of them lies."""

    def __init__(self, cluster, topic, folder, records):
        self.cluster, self.topic, self.folder = cluster, topic, folder
        with Run(cluster, folder / "sent", topic=topic) as run:
            producer = run.producer(num_records_per_roll=records, quiet=True)
            assert producer.wait() == 0
        self.log, self.entries = producer.log, producer.payload
        ends = defaultdict(int)
        self.offsets = {}
        # One producer's records are acknowledged in the order of their offsets.
        for entry in self.entries:
            self.offsets[entry] = ends[entry.partition]
            ends[entry.partition] += 1

    def run(self, name):
        """Consumers of a new group; in its folder lies the log of the producer."""
        run = Run(self.cluster, self.folder / name, self.topic, group=f"{self.topic}-{name}")
        (run.directory / "producer").mkdir(parents=True)
        shutil.copy(self.log, run.directory / "producer" / "payload.log")
        return run

    def behind(self, entries, committed):
        """Those whose offset lies before what is committed for their partition."""
        places = {partition: offset for (_, partition), offset in committed.items()}
        return {e for e in entries if self.offsets[e] < places.get(e.partition, 0)}


@pytest.fixture
def filled(cluster, topic, tmp_path):
    return Filled(cluster, topic, tmp_path, records=1_500)


def test_who_died_delays_the_next_unless_it_has_the_same_instance_id(cluster, run, fill):
    session = 3.0
    # Nobody waits for the session of a static member here: it has to last until its next start.
    timing = {
        None: {"session_timeout": 3_000, "heartbeat_interval": 500},
        "12345": {"session_timeout": 30_000, "heartbeat_interval": 500},
    }
    fill(run.topic, [b"old"] * 12)
    run.consumer(**EARLIEST)
    assert run.quit() == [0]
    before = cluster.group(run.group).offsets
    fill(run.topic, [b"new"] * 100)
    delays, starts, generations, ended = [], [], [], None
    kinds = [None, None, "12345", "12345"]
    for number, instance in enumerate(kinds):
        consumer = run.consumer(
            auto_commit=False, instance_id=instance, local_id=number, **EARLIEST, **timing[instance]
        )
        polls, ready = consumer.wait_for("^polls"), consumer.wait_for("^ready")
        starts.append(polls.came_at - consumer.started_at)
        delays.append(ready.came_at - (ended or consumer.started_at))
        consumer.wait_for("^nothing left")
        generations.append(int(consumer.said("^generation")[-1].text.split()[1]))
        ended = time.time()
        consumer.kill()
        # Nothing is committed, so each one reads all of it again.
        assert [entry.value for entry in consumer.payload] == ["new"] * 100

    assert cluster.group(run.group).offsets == before
    clean, dynamic, first_static, second_static = delays
    assert clean - starts[0] < session, "who left with a quit leaves nothing to wait for"
    join = clean - starts[0]  # what it takes where there is nobody to wait for
    for delay, start in ((dynamic, starts[1]), (first_static, starts[2])):
        assert 0.4 * session <= delay <= 2 * session + start + join
    assert second_static - starts[3] < session
    assert generations[3] == generations[2], "the group did not have to arrange itself anew"
    told = cluster.logs(cluster.group(run.group).coordinator, 2_000).splitlines()
    story = "\n".join(line for line in told if run.group in line)
    # New member, a rebalance for it, the old one given up, arranged: of the dynamic restart.
    order = "unknown member id joins", "preparing to rebalance", "has failed", "stabilized"
    assert re.search(".*".join(order), story, re.DOTALL | re.IGNORECASE), story


def test_ready_tells_where_it_begins_also_where_records_came_at_once(run, fill):
    fill(run.topic, [b"again"] * 60)
    for _ in range(3):  # a static member that comes back has its partitions in its first poll
        consumer = run.consumer(
            auto_commit=False, auto_offset_reset="earliest", instance_id="1", poll_period=2_000
        )
        ready = consumer.wait_for("^ready")
        consumer.kill()
        assert re.findall(r" \d: (\d+)", ready.text) == ["0"] * 6


def test_positions_committed_early_lose_what_was_not_processed(cluster, filled):
    static = {"instance_id": "12345"} | EARLIEST
    crash = {"ack_every_x_msgs": 50, "crash_after_commits": 1, "local_id": 1} | static
    variants = {
        "position": (crash, static),
        "small": (crash | {"ack_every_x_msgs": 5, "max_poll_recs": 10}, static),
        "processed": (crash | {"commit_offsets": "processed"}, static),
        "latest": (
            crash | {"commit_offsets": "processed"},
            static | {"auto_offset_reset": "latest"},
        ),
    }
    runs = {name: filled.run(name) for name in variants}
    firsts = {name: runs[name].consumer(**first) for name, (first, _) in variants.items()}
    assert {first.wait() for first in firsts.values()} == {17}
    committed = {name: cluster.group(run.group).offsets for name, run in runs.items()}
    seconds = {
        name: runs[name].consumer(local_id=2, **second) for name, (_, second) in variants.items()
    }
    for name, second in seconds.items():
        second.wait_for("^nothing left")
        runs[name].close()
    found = {name: difference(run.directory) for name, run in runs.items()}

    first = firsts["position"]
    (batch,) = (int(line.text.split()[2]) for line in first.said("^batch of"))
    assert len(first.payload) == 50 < batch
    assert sum(committed["position"].values()) == batch
    lost = set(found["position"].lost)
    assert (len(lost), found["position"].extra) == (batch - 50, [])
    handed_over = filled.behind(filled.entries, committed["position"])
    assert lost == handed_over - set(first.payload)
    # The membership of a static consumer outlives it: its next start waits for nobody.
    ready, polls = (seconds["position"].said(what)[0].seconds for what in ("^ready", "^polls"))
    assert ready - polls < 15, "a third of the session of 45 s"

    assert len(found["small"].lost) <= 9
    assert found["small"].extra == []
    assert (found["processed"].lost, found["processed"].extra) == ([], [])

    without = set(range(6)) - {partition for _, partition in committed["latest"]}
    assert without, "the first 50 records came from some of the partitions"
    assert set(found["latest"].lost) == {e for e in filled.entries if e.partition in without}


def test_commits_that_come_late_double_what_a_lost_member_had_processed(cluster, filled):
    late = EARLIEST | {
        "ac_interval": 60_000,
        "assignment_strategy": "rr",
        "session_timeout": 2_000,  # whoever is not heard for so long is out, whatever the reason
        "heartbeat_interval": 300,
        "wait_after_batch": 250,
        "max_poll_recs": 25,  # so that there is work left when both have their partitions
        "quiet": True,
    }
    faults = {"nobody": None, "killed": Program.kill, "frozen": Program.freeze}
    runs = {name: filled.run(name) for name in faults}
    both, uncommitted, took = {}, {}, {}
    for name, run in runs.items():
        both[name] = first, second = [run.consumer(local_id=n, **late) for n in (1, 2)]
        wait_until(
            lambda two=(first, second): [len(one.partitions) for one in two] == [3, 3],
            timeout=40,
            what=f"three partitions each ({name})",
        )
        if faults[name] is None:
            continue
        first.wait_for("records processed", count=len(first.said("records processed")) + 1)
        faults[name](first)
        committed = cluster.group(runs[name].group).offsets
        processed = set(first.payload)
        uncommitted[name] = processed - filled.behind(processed, committed)
        last = first.lines[-1].came_at
        wait_until(lambda two=second: len(two.partitions) == 6, timeout=30, what="a takeover")
        took[name] = second.said("has .* 0, 1, 2, 3, 4, 5$")[-1].came_at - last
    first = both["frozen"][0]
    first.resume()
    first.wait_for("^lost ")
    wait_until(lambda: len(first.partitions) == 3, timeout=30, what="it to join again")
    for run in runs.values():
        run.wait_until_read()
        run.close()
    found = {name: difference(run.directory) for name, run in runs.items()}

    assert [each.lost for each in found.values()] == [[], [], []]
    # Who joins later makes the others give up their partitions, and they commit as they do.
    assert found["nobody"].extra == []
    assert set(found["killed"].extra) == uncommitted["killed"] != set()
    assert uncommitted["frozen"] <= set(found["frozen"].extra)
    assert uncommitted["frozen"], "it was frozen between a batch and its commit"
    logs = [set(one.payload) for one in both["killed"]]
    assert set(found["killed"].extra) == logs[0] & logs[1]
    assert took["killed"] < 15, "the session of 2 s, not the usual one of 45 s"


def test_commits_after_each_batch_double_one_batch_at_most(cluster, filled):
    """Hit behind a batch and before its commit: killed, or frozen until others have its partitions.

    The commit of the frozen one is refused then, and it reads on as a member that joins.
    """
    most = 25
    by_batch = EARLIEST | {
        "ack_after_batch": True,
        "assignment_strategy": "rr",
        "session_timeout": 2_000,
        "heartbeat_interval": 300,
        "max_poll_recs": most,
        "quiet": True,
    }
    runs = {name: filled.run(f"batch-{name}") for name in ("killed", "frozen")}
    firsts = {
        name: run.consumer(local_id=1, wait_after_batch=4_000, **by_batch)
        for name, run in runs.items()
    }
    seconds, uncommitted = [], {}
    for name, first in firsts.items():
        first.wait_for("^committed after")  # the batches before it are done with
        first.wait_for("records processed", count=len(first.said("records processed")) + 1)
        first.kill() if name == "killed" else first.freeze()  # in the pause before the commit
        committed = int(first.said("^committed after")[-1].text.split()[2])
        uncommitted[name] = first.payload[committed:]
        assert committed, first
        seconds.append(runs[name].consumer(local_id=2, **by_batch))
    for second in seconds:
        second.wait_for("^nothing left")
    frozen = firsts["frozen"]
    frozen.resume()
    frozen.wait_for("^commit refused .*CommitFailedError")
    frozen.wait_for("^lost ")
    wait_until(lambda: len(frozen.partitions) == 3, timeout=30, what="it to join again")
    for run in runs.values():
        run.close()
    found = {name: difference(run.directory) for name, run in runs.items()}

    assert [each.lost for each in found.values()] == [[], []]
    for name, each in found.items():
        assert 0 < len(each.extra) <= most, name
        assert sorted(each.extra) == sorted(uncommitted[name]), name


def test_a_short_session_needs_one_of_three_limits_lowered(cluster, tmp_path):
    for broker in cluster.brokers:
        limits = cluster.broker_configs(broker)
        assert {(limits[name].value, limits[name].source) for name in NEW_LIMITS} == {
            ("500", "STATIC_BROKER_CONFIG")
        }
    short = {"session_timeout": 3_000, "heartbeat_interval": 300}  # 6 s and more are allowed
    statuses = []
    for least in (6_000, 500):  # Kafka's own, and a lowered one
        settings = {NEW_LIMITS[0]: least}
        with single_broker(settings) as single, Run(single, tmp_path / "run", topic="t") as run:
            consumer = run.consumer(**short, **EARLIEST)
            if least == 500:
                assert run.producer().wait() == 0
                statuses += run.quit()
                assert len(consumer.payload) == 100
            else:
                statuses.append(consumer.wait())
                assert "InvalidSessionTimeoutError" in consumer.lines[-1].text
                assert "allowed range on the broker" in consumer.lines[-1].text
                assert not consumer.said("Traceback"), consumer.lines
    assert statuses == [1, 0]


@contextmanager
def single_broker(settings):
    with Cluster.start("single", settings=settings, beside=True) as single:
        with KafkaAdminClient(bootstrap_servers=single.address, **quick.admin) as admin:
            admin.create_topics(["t"])
        single.wait_for_topic("t")
        yield single
