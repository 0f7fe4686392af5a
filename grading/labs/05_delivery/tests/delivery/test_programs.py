"""The programs against a real cluster: what they send, read, commit, print, and how they end.

Processes start at once where the tests allow, as most of the time is spent waiting for Python.
"""

import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from itertools import pairwise

import psutil
import pytest
from kafka import KafkaAdminClient, KafkaProducer

from delivery import Run, difference, reset
from delivery.programs import Program
from kafkalab import Cluster, quick, wait_until
from kafkalab.errors import CourseError
from kafkalab.places import repository

pytestmark = pytest.mark.cluster

EARLIEST = {"auto_offset_reset": "earliest", "poll_period": 200}
SHORT = {"session_timeout": 2_000, "heartbeat_interval": 300}


def keys(program: Program) -> list[int]:
    return sorted(int(entry.key) for entry in program.payload)


def one(program: Program, pattern: str) -> str:
    (line,) = program.said(pattern)
    return line.text


def test_without_options_a_hundred_records_go_in_and_come_out(cluster, tmp_path):
    environment = os.environ | {
        "KAFKALAB_CLUSTER": str(cluster.slot.folder / "cluster.json"),
        "PYTHONPATH": str(repository() / "labs" / "05_delivery"),
    }
    command = [sys.executable, "-m", "delivery", "producer"]
    with Run(cluster, tmp_path / "run") as run:
        consumer = run.consumer()
        # The group of a topic that appears this moment may first be given nothing.
        consumer.wait_for("^ready")
        produced = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        statuses = run.quit()

    assert produced.returncode == 0, produced.stdout + produced.stderr
    assert "acknowledged 100, failed 0" in produced.stdout
    assert statuses == [0]
    log = (tmp_path / "run" / "producer" / "payload.log").read_text().splitlines()
    assert len(log) == len(consumer.payload) == 100
    assert keys(consumer) == list(range(100))
    assert difference(tmp_path / "run").lines == 0
    # created by itself, with the defaults of this cluster
    created = cluster.topic("test-topic")
    assert [partition.replicas for partition in created.partitions] == [
        [partition.leader] for partition in created.partitions
    ]
    assert len(created.partitions) == 3
    group = cluster.group("test-app")
    assert (group.state, group.members) == ("EMPTY", [])
    # the quit record has an offset too, and is committed
    assert sum(group.offsets.values()) == created.records == 101
    assert "quit" not in {entry.value for entry in consumer.payload}
    assert consumer.said("^assigned test-topic 0, 1, 2")
    assert consumer.said("^revoked test-topic 0, 1, 2; has nothing")


def test_the_producer_says_what_it_does_and_why(cluster, topic, run):
    """Cycles, pauses, settings in force and idempotence, from six producers at once."""
    small = {"num_records_per_roll": 10}
    started = {
        "cycles": run.producer(num_rolls=3, wait_after_roll=500, local_id=1, **small),
        "slow": run.producer(num_records_per_roll=50, wait_after_send=20, local_id=2),
        "one": run.producer(acks=1, linger=7, local_id=3, **small),
        "many": run.producer(max_inflight=6, local_id=4, partitioning="round-robin", **small),
        "refused": run.producer(acks=1, idempotent=True, local_id=5, **small),
    }
    statuses = {name: program.wait() for name, program in started.items()}

    assert statuses == {"cycles": 0, "slow": 0, "one": 0, "many": 0, "refused": 1}
    cycles = started["cycles"].said("^cycle . of 3$")
    sent = started["cycles"].said("^acknowledged t")
    assert keys(started["cycles"]) == list(range(30))
    assert all(after.seconds - before.seconds >= 0.49 for before, after in pairwise(cycles))
    # An answer may be late, and never comes before its cycle has begun.
    begun = [cycles[int(line.text.split(",")[2]) // 10].seconds for line in sent]
    assert all(line.seconds >= start for line, start in zip(sent, begun, strict=True))
    assert started["cycles"].log.name == "payload-1.log"

    slow = started["slow"]
    took = slow.said("^acknowledged 50,")[0].seconds - slow.said("^cycle 1")[0].seconds
    assert took >= 1.0

    assert "on: acks is all and max-inflight at most 5" in one(slow, "^idempotence")
    assert "off: acks is 1 and not all" in one(started["one"], "^idempotence")
    assert "off: max-inflight is 6" in one(started["many"], "^idempotence")
    assert started["refused"].said("KafkaConfigurationError")
    assert started["refused"].payload == []
    in_force = {line.text.strip() for line in started["one"].said("^  ")}
    assert {"acks = 1", "linger_ms = 7", "enable_idempotence = False"} <= in_force
    assert {"batch_size = 16384", "retries = 2147483647"} <= in_force
    turns = [(int(entry.key) % 6, entry.partition) for entry in started["many"].payload]
    assert all(number == partition for number, partition in turns)


def test_a_send_that_fails_is_logged_apart(cluster, run, create):
    # The sayings have very different lengths, and a batch of one record is as long as its record.
    run.topic = create("short-ones", configs={"max.message.bytes": 300})

    # Without idempotence: a broker that misses one number refuses those that follow.
    producer = run.producer(batch=1, idempotent=False)

    assert producer.wait() == 3
    sent, failed = producer.payload, producer.failed
    assert len(sent) + len(failed) == 100
    lengths = [[len(entry.key + entry.value) for entry in found] for found in (sent, failed)]
    assert max(lengths[0]) <= min(lengths[1])
    assert {entry.partition for entry in failed} <= set(range(6))
    assert one(producer, "^acknowledged [0-9]") == (
        f"acknowledged {len(sent)}, failed {len(failed)} ({len(failed)} MessageSizeTooLargeError)"
    )
    assert cluster.topic(run.topic).records == len(sent)


def test_the_ends_of_a_consumer(cluster, topic, tmp_path, fill):
    """Crash, interrupt, kill and stop leave the member in the group and a complete log."""
    fill(topic, [b"one"] * 60)
    ends = {
        "crash": (1, None),
        "interrupt": (-2, Program.interrupt),
        "kill": (-9, Program.kill),
        "stop": (-15, Program.stop),
    }
    runs = {end: Run(cluster, tmp_path / end, topic=topic, group=f"{topic}-{end}") for end in ends}
    consumers = {
        end: run.consumer(wait_after_record=20, ac_interval=60_000, **EARLIEST)
        for end, run in runs.items()
    }
    for consumer in consumers.values():
        consumer.wait_for("^received", count=10)
    # Each group reads it, and the others are ended before they do.
    for end, (status, act) in ends.items():
        if act is not None:
            assert act(consumers[end]) == status
    runs["crash"].send_control("crash")
    assert consumers["crash"].wait() == 1
    assert consumers["crash"].said("RuntimeError: a crash record was read")

    for end, consumer in consumers.items():
        received = [line.text.removeprefix("received ") for line in consumer.said("^received")]
        logged = [str(entry) for entry in consumer.payload]
        # Killed between the print and the log, the last one was not processed.
        assert logged in (received, received[:-1]), end
        assert len(logged) >= 9, end
        assert "crash" not in {entry.value for entry in consumer.payload}
        group = cluster.group(runs[end].group)
        assert len(group.members) == 1, end
        assert sum(group.offsets.values()) == 0, end
    assert len(consumers["crash"].payload) == 60, "the crash record came last"


def test_a_wait_keeps_the_member_and_a_longer_one_loses_it(cluster, topic, tmp_path, fill):
    runs = {
        name: Run(cluster, tmp_path / name, topic=topic, group=f"{topic}-{name}")
        for name in ("short", "long")
    }
    fill(topic, [b"before", b"wait", b"after"], partition=0)
    options = EARLIEST | SHORT | {"ack_after_batch": True, "wait_cmd_period": 2_500}
    with runs["short"], runs["long"]:
        short = runs["short"].consumer(**options)
        long = runs["long"].consumer(max_poll_interval=1_200, **options)
        short.wait_for("^wait: stands still")
        time_still = time.monotonic()
        # Longer than its session: the heartbeats come from another thread.
        wait_until(
            lambda: time.monotonic() - time_still > 2.2, timeout=5, what="more than a session"
        )
        during = cluster.group(runs["short"].group)
        short.wait_for("^committed after 2 records")
        long.wait_for("^commit refused after 2 records")
        # It joins again by itself, and gets what it could not commit once more.
        long.wait_for("^assigned", count=2)
        statuses = runs["short"].quit()

    assert (during.state, len(during.members)) == ("STABLE", 1)
    waited = short.wait_for("^wait: goes on").seconds - short.said("^wait: stands")[0].seconds
    assert waited >= 2.49
    assert [entry.value for entry in short.payload] == ["before", "after"]
    still = short.said("^wait: stands")[0].seconds
    assert short.said("^generation")[-1].seconds <= still, "it did not have to join again"
    assert statuses == [0]
    assert "CommitFailedError" in one(long, "^commit refused after 2")
    assert long.said("^lost .* 0, 1, 2, 3, 4, 5; has nothing")


def test_commits_and_pauses_are_where_the_options_say(cluster, topic, tmp_path, fill):
    fill(topic, [b"x"] * 9, partition=2)
    pauses = {"wait_after_recv": 150, "wait_after_record": 40, "wait_after_batch": 250}
    modes = {
        "both": pauses | {"ack_after_batch": True, "ack_every_x_msgs": 2},
        "every": {"ack_every_x_msgs": 4, "commit_offsets": "processed"},
        "early": {"ack_every_x_msgs": 4, "crash_after_commits": 1},
        "never": {"auto_commit": False},
        "auto": {"ac_interval": 200},
    }
    runs = {name: Run(cluster, tmp_path / name, topic, f"{topic}-{name}") for name in modes}
    consumers = {name: runs[name].consumer(**EARLIEST, **modes[name]) for name in modes}
    for name, consumer in consumers.items():
        consumer.wait_for("ends itself" if name == "early" else "^nothing left")
    # The commit in the background goes out with the poll that follows.
    wait_until(
        lambda: cluster.group(runs["auto"].group).offsets.get((topic, 2)) == 9,
        timeout=10,
        what="the commit of auto-commit",
    )
    committed = {name: cluster.group(runs[name].group).offsets.get((topic, 2)) for name in modes}
    status = consumers["early"].wait()
    for run in runs.values():
        run.close()

    both = consumers["both"]
    assert one(both, "^auto-commit") == "auto-commit is off: this program commits by hand"
    assert one(both, "^ack-every") == "ack-every-x-msgs is off: ack-after-batch goes before it"
    assert [line.text for line in both.said("^committed")] == [
        "committed after 9 records (ack-after-batch)"
    ]
    (batch,) = both.said("^batch of 9 records")
    received = [line.seconds for line in both.said("^received")]
    assert received[0] - batch.seconds > 0.14  # both are rounded to hundredths
    assert min(b - a for a, b in pairwise(received)) > 0.029
    assert both.said("^committed")[0].seconds - received[-1] > 0.279
    assert "enable_auto_commit = False" in one(both, "enable_auto_commit")

    assert [line.text for line in consumers["every"].said("^committed")] == [
        "committed after 4 records (ack-every-x-msgs=4)",
        "committed after 8 records (ack-every-x-msgs=4)",
    ]
    # The position lies behind the whole batch, though four records of it were processed.
    assert (status, len(consumers["early"].payload)) == (17, 4)
    assert committed == {"both": 9, "every": 8, "early": 9, "never": None, "auto": 9}


def test_each_assignor_gives_three_partitions_to_each_of_two(cluster, topic, tmp_path, fill):
    """And two quit records are needed: after the first, the other consumer owns all."""
    fill(topic, [b"x"] * 12)
    kinds = ("coop", "range", "rr", "sticky")
    runs = {kind: Run(cluster, tmp_path / kind, topic, f"{topic}-{kind}") for kind in kinds}
    both = {
        kind: [run.consumer(assignment_strategy=kind, local_id=n, **EARLIEST) for n in (1, 2)]
        for kind, run in runs.items()
    }
    for kind, consumers in both.items():
        wait_until(
            lambda consumers=consumers: [len(one.partitions) for one in consumers] == [3, 3],
            timeout=40,
            what=f"three partitions each with {kind}",
            seen=lambda consumers=consumers: [one.partitions for one in consumers],
        )
        assert sorted(p for each in consumers for p in each.partitions) == list(range(6))
    # One of the groups to its end: what is sent for it would end the others too.
    run, (first, second) = runs["rr"], both["rr"]
    for kind in ("coop", "range", "sticky"):
        runs[kind].close()
    run.wait_until_read()
    run.send_control("quit", partition=first.partitions[0])
    assert first.wait() == 0
    assert second.status is None
    run.wait_until_read()
    assert second.partitions == list(range(6))
    assert run.quit() == [0]
    group = cluster.group(run.group)
    assert (group.members, group.total_lag) == ([], 0)


def test_a_quit_before_the_end_leaves_records_unread(cluster, run, create, fill):
    run.topic = create("hasty", partitions=2)
    run.send_control("quit", partition=0)
    fill(run.topic, [b"x"] * 100, partition=0)
    fill(run.topic, [b"x"] * 100, partition=1)
    hasty = run.consumer(max_poll_recs=10, **EARLIEST)

    assert hasty.wait() == 0
    # It ends with the batch in which it met the quit, the first record of partition 0.
    assert len([entry for entry in hasty.payload if entry.partition == 0]) < 10

    patient = run.consumer(local_id=2, **EARLIEST)
    assert run.quit() == [0]
    assert len(hasty.payload) + len(patient.payload) == 200


def test_the_reset_policy_counts_until_an_offset_is_committed(cluster, topic, tmp_path, fill):
    fill(topic, [b"old"] * 12)
    policies = ("latest", "earliest", "none")
    runs = {name: Run(cluster, tmp_path / name, topic, f"{topic}-{name}") for name in policies}
    first = {
        name: run.consumer(auto_offset_reset=name, poll_period=200) for name, run in runs.items()
    }
    assert first["none"].wait() == 1
    assert first["none"].said("NoOffsetForPartitionError")
    for name in ("latest", "earliest"):
        first[name].wait_for("^nothing left")
    assert (len(first["latest"].payload), len(first["earliest"].payload)) == (0, 12)
    # The quit record ends both: each group reads it.
    assert runs["earliest"].quit() == [0]
    assert first["latest"].wait() == 0
    fill(topic, [b"new"] * 12)

    again = {
        "latest": runs["latest"].consumer(auto_offset_reset="none", poll_period=200, local_id=1),
        "earliest": runs["earliest"].consumer(poll_period=200, local_id=1),
    }
    for name, consumer in again.items():
        consumer.wait_for("^nothing left")
        runs[name].close()
        assert [entry.value for entry in consumer.payload] == ["new"] * 12


def test_topics_are_made_shown_and_deleted_by_tool_and_by_client(cluster, create):
    admin = KafkaAdminClient(bootstrap_servers=cluster.address, client_id="topics", **quick.admin)
    connect = ("--bootstrap-server", "{bootstrap}")

    def topics(*arguments: str) -> str:
        done = cluster.tool("kafka-topics", *connect, *arguments)
        assert done.returncode == 0, str(done)
        return done.stdout

    shape = ("--partitions", "2", "--replication-factor", "3")
    setting = ("--config", "retention.ms=60000")
    topics("--create", "--topic", "by-tool", *shape, *setting)
    create("by-client", partitions=2, configs={"retention.ms": "60000"})
    cluster.wait_for_topic("by-tool")
    for name in ("by-tool", "by-client"):
        view = cluster.topic(name)
        assert len(view.partitions) == 2
        assert view.configs["retention.ms"].value == "60000"
        assert name in admin.list_topics()
    described = topics("--describe", "--topic", "by-client")
    assert re.search(r"PartitionCount: 2\s.*retention.ms=60000", described)
    assert {"Elr:", "LastKnownElr:"} <= set(described.split())
    topics("--delete", "--topic", "by-tool")
    admin.delete_topics(["by-client"])
    wait_until(
        lambda: not {"by-tool", "by-client"} & set(topics("--list").split()),
        timeout=20,
        what="both topics to be gone",
    )


def test_a_topic_that_is_made_again_is_read_from_the_start(cluster, topic, run, create, fill):
    fill(topic, [b"x"] * 12)
    run.consumer(**EARLIEST)
    assert run.quit() == [0]
    assert sum(cluster.group(run.group).offsets.values()) == 13

    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.delete_topics([topic])
    create(topic)  # at once: nothing is "marked for deletion" in KRaft

    wait_until(
        lambda: cluster.group(run.group).offsets == {},
        timeout=10,
        what="the offsets of the deleted topic to be forgotten",
    )
    cluster.wait_for_topic(topic)
    fill(topic, [b"y"] * 5)
    reader = run.consumer(local_id=1, **EARLIEST)
    assert run.quit() == [0]
    assert [entry.value for entry in reader.payload] == ["y"] * 5


def test_a_program_that_ends_early_is_named_with_its_last_words(cluster, run):
    consumer = run.consumer(session_timeout=10)
    with pytest.raises(CourseError, match="The consumer ended before it said"):
        consumer.wait_for("^ready")


def test_a_run_ends_what_an_earlier_one_left_in_its_folder(cluster, topic, tmp_path):
    left = Run(cluster, tmp_path, topic=topic).consumer()
    left.wait_for("^polls")
    with Run(cluster, tmp_path, topic=topic):
        assert left.status is not None


def test_a_program_ends_with_the_process_that_started_it(cluster, topic, tmp_path):
    code = (
        "import os, sys; sys.path.append(sys.argv[1])\n"
        "from delivery import programs\n"
        "found = programs.start('consumer', bootstrap=sys.argv[2], directory=sys.argv[3])\n"
        "found.wait_for('^polls')\n"
        "print(found._process.pid, flush=True)\n"
        "os._exit(0)\n"  # nothing is tidied up
    )
    words = (str(repository() / "labs" / "05_delivery"), cluster.address, str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=60
    )
    pid = int(done.stdout)
    wait_until(lambda: not alive(pid), timeout=10, what="the program to end with its owner")


def alive(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def test_a_reset_gives_an_empty_cluster():
    with Cluster.start("single", beside=True) as cluster:
        with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
            admin.create_topics(["gone"])
        cluster.wait_for_topic("gone")
        assert (
            KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
            .send("gone", b"x")
            .get(timeout=10)
            .offset
            == 0
        )

        reset(cluster)

        assert (
            KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin).list_topics() == []
        )
