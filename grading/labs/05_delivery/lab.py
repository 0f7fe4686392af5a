# %% [markdown]
# # Lab 05 Delivery
#
# Brokers freeze, die and come back while your cells run. Each task shows one way to lose or
# double records, beside your way not to.

# %% [markdown]
# **You will**
#
# - prove with two logs and Spark what was lost and what came twice;
# - choose acknowledgements, copies and the minimum of in-sync replicas, and survive a dead leader;
# - write a program whose acknowledgements are worth something;
# - write consumer loops that lose nothing when killed, and repeat little;
# - name the promise that a line of settings makes.
#
# **Needs** lessons 06, 08, 09, 12 and 13. **Time** about 120 minutes. **Points** 100.

# %% tags=["parameters"]
student = ""  # your name or number in the course; the grader puts it in
session_ms = 10_000  # how long the group waits for a member that says nothing

# %%
from grading.lab import Lab

lab = Lab.open("lab05_delivery", student)
lab

# %% [markdown]
# Above stand *your* names and numbers. In grading they differ: write `lab.p.records`, not digits.
#
# **Tasks.** A task cell has its steps already. Write one line or a few in the place of each
# `raise NotImplementedError(…)`. To try again, first run the cell in front of it: it empties topics
# and logs. Stuck? See `hints.md`.
#
# **Faults.** In tasks 2 to 7 something breaks while the task cell runs, here and in grading, and is
# mended when the cell is over. Then a list says what was broken, or what was never seen.
#
# **Predictions** are checked too. Guess first; mend yours when you have measured.

# %%
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError
from pyspark.sql import functions as F

from delivery import Entry, Run, compare, compare_all, difference, findings, overview, workers
from delivery.payload import path_of, write
from delivery.sayings import record_of
from delivery.workers import read_to_the_end
from kafkalab import Prediction, charts, clients, quick, read_topic, spark_session, wait_until

spark = spark_session("lab05")
assert len(lab.cluster.brokers) == 3
assert lab.cluster.quorum().leader not in lab.cluster.brokers, "the controller is a node apart"
lab.cluster

# %% [markdown]
# ## Before task 1: four starts of a consumer
#
# `new_topic` makes an empty topic of six partitions. Partition *n* has its first copy on broker
# *n mod 3*, the others on the next brokers.


# %% tags=["C45"]
def new_topic(name, copies, minimum=1, **settings):
    """An empty topic of six partitions. One that has the name already is deleted first."""
    places = {n: [(n + copy) % 3 for copy in range(copies)] for n in range(6)}
    settings = {"min.insync.replicas": str(minimum), **settings}
    with KafkaAdminClient(bootstrap_servers=lab.cluster.address, **quick.admin) as admin:
        if name in admin.list_topics():
            admin.delete_topics([name])
            wait_until(lambda: name not in admin.list_topics(), timeout=15, what=f"{name} to go")
        admin.create_topics({name: {"assignments": places, "configs": settings}})
    lab.cluster.wait_for_topic(name)
    return lab.cluster.topic(name)


def logs(topic):
    """The folder with the payload logs of a topic."""
    return Path("run") / topic


plain = new_topic(lab.p.plain, copies=3, minimum=2)
assert [p.leader for p in plain.partitions] == [0, 1, 2, 0, 1, 2], "two leaders a broker"
plain

# %% [markdown]
# A `Run` starts the client programs in the folder `delivery` as processes of their own, which can
# be killed. Each writes a **payload log**: a line for each record that was acknowledged, or read.
#
# First a consumer reads a burst, commits, and ends in good order (`quit`). Then come a second burst
# and four consumers with `auto_commit=False`, one after the other, the last two under a name
# (`instance_id`). Each is killed when the next one is about to join. Before you run the next cell:
# which of the four must wait, and how many records does each get?

# %% tags=["demo"]
forgetful = Run(lab.cluster, logs(lab.p.forgetful), topic=lab.p.plain, group=lab.p.forgetful)
one = forgetful.consumer(auto_offset_reset="earliest")
forgetful.producer(num_records_per_roll=lab.p.records).wait()
forgetful.quit()
forgetful.producer(num_records_per_roll=lab.p.records).wait()
committed = lab.cluster.group(lab.p.forgetful).offsets

unnamed = {"auto_commit": False, "heartbeat_interval": 500, "session_timeout": 5_000}
named = unnamed | {"instance_id": lab.p.instance, "session_timeout": 30_000}
kinds = {"after the quit": unnamed, "after a kill": unnamed}
kinds |= {"first with a name": named, "second with a name": named}
starts = pd.DataFrame(index=kinds, columns=["seconds", "records", "generation"])
for number, (kind, options) in enumerate(kinds.items(), 1):
    one, seconds = forgetful.in_place_of(one, local_id=number, **options)
    starts.loc[kind] = round(seconds, 1), len(one.payload), one.generation
one.kill()
starts

# %% [markdown]
# A group counts its rebalances as *generations*. What did its broker write down from the second
# start on? Find *unknown member id*, *has failed* and *Replacing*.

# %% tags=["demo", "C38", "C39", "C40", "C41", "C42", "C43"]
assert set(starts.records) == {lab.p.records}, "all of it, each time"
assert lab.cluster.group(lab.p.forgetful).offsets == committed
quick_ones = starts.seconds.iloc[[0, 3]]
slow_ones = starts.seconds.iloc[[1, 2]]
assert 0.4 * 5 <= slow_ones.min() <= slow_ones.max() <= 1.2 * 5 + quick_ones.max(), starts
assert quick_ones.max() < slow_ones.min(), starts
assert starts.generation.nunique() == 3, "the second with a name changed nothing"

story = forgetful.told_by_the_broker()
story = story[next(number for number, one in enumerate(story) if "in Stable state" in one) :]
order = "unknown member id joins", "Preparing to rebalance", "has failed", "Stabilized"
positions = [next(n for n, one in enumerate(story) if words in one) for words in order]
assert positions == sorted(positions), story
assert "Replacing previously mapped member" in story[-1], story
print(*story, sep="\n")

# %% [markdown]
# ## Task 1: a consumer that commits and comes back at once
#
# Why the wait, and why the repetition? Answer with `because`, a dictionary from `"wait"` and
# `"repetition"` to two of `"no leader"`, `"session not over"`, `"nothing committed"` and
# `"a producer's repeat"`.
#
# Then choose `member`, the options of a consumer, so that neither happens. `session_timeout` is to
# be `session_ms`. Take what you need of `instance_id` (your name is `lab.p.instance`),
# `auto_commit`, `ac_interval` (auto-commit acts each 5,000 ms), `ack_after_batch` and
# `auto_offset_reset`; `delivery/options.py` says what they mean.
#
# Your cell kills such a consumer as soon as it has read everything, and starts it again. `waited`
# is how many seconds pass until the second one is ready, `again` how many records it gets once
# more. For `both` Spark compares the payload logs: *lost* is acknowledged and not read, *extra* is
# read more often than acknowledged. **14 points**
#
# *Example.* `member = {"session_timeout": session_ms}` waits longer than any of the four above.

# %% tags=["task-1"]
# Task 1
new_topic(lab.p.plain, copies=3, minimum=2)
run_1 = Run(lab.cluster, logs(lab.p.plain), topic=lab.p.plain, group=lab.p.readers)
# BEGIN SOLUTION
# STUB: choose because and member
because = {"wait": "session not over", "repetition": "nothing committed"}
member = {"session_timeout": session_ms, "instance_id": lab.p.instance, "ack_after_batch": True}
# END SOLUTION
first = run_1.consumer(**member)
first.wait_for("ready")
run_1.producer(num_records_per_roll=lab.p.records).wait()
run_1.wait_until_read()
first.kill()
second = run_1.consumer(**member)
waited = second.wait_for("ready").seconds
second.wait_for("nothing left")
again = len(second.payload) - lab.p.records  # its log holds those of the first one too
compared = compare(spark, run_1.directory)
both = {"lost": compared.lost, "extra": compared.extra}
waited, again, both

# %% tags=["check-1", "C44", "C84", "C97"]
lab.check(1)

# %% [markdown]
# The broker cannot know whether an *unknown member id* replaces the dead member, so it waits for
# the end of the dead one's session (*has failed*). A member with a name, a *static* one, gets its
# partitions back (*replacing*).

# %% [markdown]
# ## Task 2: nobody was asked
#
# From here on cells send and read. `send` sends `lab.p.records` records, in turns to all
# partitions or to those you name, and writes down what was acknowledged. With `one_by_one` it waits
# for each answer.


# %%
def opened(topic, **settings):
    """The producer for a topic."""
    settings = quick.producer | {"delivery_timeout_ms": 40_000} | settings
    return KafkaProducer(bootstrap_servers=lab.cluster.address, client_id=topic, **settings)


def send(topic, producer=None, partitions=range(6), one_by_one=False, patience=45, **settings):
    """Send lab.p.records records; the list of those that were acknowledged in time."""
    producer = producer or opened(topic, **settings)
    sent = []
    for number in range(lab.p.records):
        r = record_of(topic, partitions, number)
        future = producer.send(topic, r.value.encode(), key=r.key.encode(), partition=r.partition)
        sent.append((r, future))
        if one_by_one:
            future.get(timeout=patience)
    with suppress(KafkaError):
        producer.flush(timeout=patience)
    acknowledged = [r for r, future in sent if future.succeeded()]
    write(path_of(logs(topic), "producer"), acknowledged)
    return acknowledged


# %% [markdown]
# `read_all` reads a topic to its end and writes the consumer's log. `verdict` lets Spark compare
# both logs.


# %%
def read_all(topic):
    """Read a topic to its end; how many records."""
    for number in range(6):
        lab.cluster.wait_for_leader(topic, number, timeout=40)
    settings = {"auto_offset_reset": "earliest", **quick.consumer}
    reader = KafkaConsumer(topic, bootstrap_servers=lab.cluster.address, **settings)
    found = [
        Entry.of(r.topic, r.partition, r.key, r.value)
        for r in clients.records_until_end(reader, timeout=40)
        if r.key != b"hello"
    ]
    write(path_of(logs(topic), "consumer"), found)
    return len(found)


def verdict(topic):
    """Lost and extra records of a topic, by Spark from its logs."""
    compared = compare(spark, logs(topic))
    return {"lost": compared.lost, "extra": compared.extra}


# %% [markdown]
# Once without a fault. Then the cell spoils the consumer's log: one line removed, another doubled.
# What will Spark say?

# %% tags=["demo", "C25", "C26", "C27"]
new_topic("rehearsal", copies=3, minimum=2)
send("rehearsal")
assert read_all("rehearsal") == lab.p.records
assert verdict("rehearsal") == {"lost": 0, "extra": 0}

log = path_of(logs("rehearsal"), "consumer")
whole = log.read_text("utf-8").splitlines()
log.write_text("\n".join([*whole[1:], whole[5]]) + "\n", "utf-8")
spoilt = compare(spark, logs("rehearsal"))
assert spoilt.lost_entries == [Entry.parse(whole[0])]
assert spoilt.extra_entries == [Entry.parse(whole[5])]
by_text = difference(logs("rehearsal"))
assert by_text.lost == spoilt.lost_entries
assert by_text.extra == spoilt.extra_entries
assert by_text.lines > len(by_text.lost) + len(by_text.extra), "diff prints headers too"
spoilt

# %% [markdown]
# Now two topics with one copy of each partition. `greeted` opens a producer that has stored one
# `hello` in each.


# %%
def greeted(topic, **settings):
    """A producer that has connections with all brokers."""
    found = lab.cluster.topic(topic).records
    assert not found, f"{topic} has {found} records: first run the cell in front of the task again"
    producer = opened(topic, **settings)
    for number in range(6):
        producer.send(topic, key=b"hello", partition=number)
    wait_until(
        lambda: all(lab.cluster.batches(topic, number, number % 3) for number in range(6)),
        timeout=20,
        what="the greetings on the disks",
    )
    return producer


with suppress(NameError):
    run_1.close()  # its programs would go on beside the next faults
new_topic(lab.p.unasked, copies=1)
new_topic(lab.p.asked, copies=1)

# %% [markdown]
# After the greetings broker `lab.p.frozen` stands still: what the network brings waits unread.
# `lab.p.unasked` gets its burst with `acks=0`, then `lab.p.asked` with your settings. When both
# bursts have reached the other two brokers, the frozen one is killed and started again.
#
# Predict `predicted_2`: how many records will `lab.p.unasked` lose? And choose `asked`, so that
# `lab.p.asked` loses nothing that was acknowledged. (Idempotence wants `acks="all"`; for less, turn
# it off.) **12 points**
#
# *Example.* `asked = {"acks": 0, "enable_idempotence": False}` loses records too.

# %% tags=["task-2", "C46", "C49", "C95"]
# Task 2
# BEGIN SOLUTION
# STUB: choose predicted_2 and the settings asked
predicted_2 = lab.p.records // 3
asked = {"acks": 1, "enable_idempotence": False}
# END SOLUTION
first = greeted(lab.p.unasked, acks=0, enable_idempotence=False)
second = greeted(lab.p.asked, **asked)
promised_2 = len(send(lab.p.unasked, first))
send(lab.p.asked, second)
read_all(lab.p.unasked)
read_all(lab.p.asked)
unasked_2 = verdict(lab.p.unasked)
asked_2 = verdict(lab.p.asked)
print(f"acks=0: {promised_2} acknowledged, {unasked_2}. Yours: {asked_2}")
Prediction("records lost", said=predicted_2).against(unasked_2["lost"])

# %% tags=["check-2"]
lab.check(2)

# %% [markdown]
# ## Task 3: the leader alone has it
#
# Now three copies, and bursts to the two partitions that broker `lab.p.leader` leads. After the
# greetings both of its followers stand still. `lab.p.led` gets its burst with `acks=1`, and
# `lab.p.copied` through your `deliver`. Then the leader is killed, and the followers go on.
#
# Predict `predicted_3`: how many acknowledged records does `lab.p.led` lose? Choose `copied`, the
# settings of your producer. And write the end of `deliver`: wait for the answers, and return the
# list of the records that were acknowledged. It must live through the fault, and through refusals:
# `lab.p.refused` takes no record, so there it returns an empty list. **14 points**
#
# *Example.* `return [r for r, future in sent]` calls acknowledged whatever was sent.

# %%
mine = [lab.p.leader, lab.p.leader + 3]
new_topic(lab.p.mark, copies=3, minimum=2)  # the fault writes to it
new_topic(lab.p.led, copies=3, minimum=2)
new_topic(lab.p.copied, copies=3, minimum=2)
new_topic(lab.p.refused, copies=3, **{"max.message.bytes": "1"})


# %% tags=["task-3", "C54", "C56"]
# Task 3
def deliver(producer, topic, partitions):
    """Send the burst; the list of the records that were acknowledged."""
    sent = []
    for number in range(lab.p.records):
        r = record_of(topic, partitions, number)
        future = producer.send(topic, r.value.encode(), key=r.key.encode(), partition=r.partition)
        sent.append((r, future))
    # BEGIN SOLUTION
    # STUB: wait for the answers, and return what was acknowledged
    with suppress(KafkaError):
        producer.flush(timeout=60)
    return [r for r, future in sent if future.succeeded()]
    # END SOLUTION


# BEGIN SOLUTION
# STUB: choose predicted_3 and the settings copied
predicted_3 = lab.p.records
copied = {"acks": "all", "delivery_timeout_ms": 60_000}
# END SOLUTION
first = greeted(lab.p.led, acks=1, enable_idempotence=False)
second = greeted(lab.p.copied, **copied)
send(lab.p.led, first, mine)
acknowledged_3 = deliver(second, lab.p.copied, mine)
write(path_of(logs(lab.p.copied), "producer"), acknowledged_3)
read_all(lab.p.led)
read_all(lab.p.copied)
led_3, copied_3 = verdict(lab.p.led), verdict(lab.p.copied)
print(f"acks=1: {led_3}. Yours: {len(acknowledged_3)} acknowledged, {copied_3}")
Prediction("records lost", said=predicted_3).against(led_3["lost"])

# %% tags=["check-3"]
lab.check(3)

# %% [markdown]
# ## Task 4: one broker may be missing
#
# `lab.p.tight` has two copies and a minimum of two in-sync replicas. `lab.p.sturdy` is yours:
# create it with `new_topic` so that no acknowledged record is ever on one broker only, *and*
# sending goes on while one broker is away. As soon as it is there, broker `lab.p.away` goes away
# (`lab.p.goes`) until the cell is over. Then both topics get a burst with `acks="all"`.
#
# Predict `predicted_4`: how many records will `lab.p.tight` acknowledge within 4 seconds?
# **14 points**
#
# *Example.* `new_topic(lab.p.sturdy, copies=2, minimum=2)` is as tight as the other.

# %%
new_topic(lab.p.tight, copies=2, minimum=2)
with KafkaAdminClient(bootstrap_servers=lab.cluster.address, **quick.admin) as admin:
    admin.delete_topics([lab.p.sturdy], raise_errors=False)

# %% tags=["task-4", "C60", "C69"]
# Task 4
# BEGIN SOLUTION
# STUB: choose predicted_4 and create lab.p.sturdy
predicted_4 = lab.p.records // 3
new_topic(lab.p.sturdy, copies=3, minimum=2)
# END SOLUTION
went_4 = len(send(lab.p.sturdy, acks="all"))
tight_4 = len(send(lab.p.tight, acks="all", patience=4))
read_all(lab.p.sturdy)
sturdy_4 = verdict(lab.p.sturdy)
print(f"Yours: {went_4} acknowledged, {sturdy_4}")
Prediction("records acknowledged", said=predicted_4).against(tight_4)

# %% tags=["check-4"]
lab.check(4)

# %% [markdown]
# ## Task 5: an answer was lost
#
# The network drops `lab.p.dropped` answers of the brokers in a row, after `lab.p.answered` that
# came. The records are stored; the producer does not know. It sends one by one, to `lab.p.doubled`
# without idempotence, then to `lab.p.once` with your settings.
#
# Predict `predicted_5`: how many records will be extra in `lab.p.doubled`, counted copy by copy?
# And choose `sure`, so that `lab.p.once` has nothing lost and nothing extra. **12 points**
#
# *Example.* With `sure = {"acks": "all", "enable_idempotence": False}` both topics end alike.

# %%
new_topic(lab.p.doubled, copies=3, minimum=2)
new_topic(lab.p.once, copies=3, minimum=2)

# %% tags=["task-5", "C95"]
# Task 5
# BEGIN SOLUTION
# STUB: choose predicted_5 and the settings sure
predicted_5 = lab.p.dropped
sure = {"acks": "all", "enable_idempotence": True}
# END SOLUTION
send(lab.p.doubled, one_by_one=True, acks="all", enable_idempotence=False)
send(lab.p.once, one_by_one=True, **sure)
read_all(lab.p.doubled)
read_all(lab.p.once)
doubled_5, once_5 = verdict(lab.p.doubled), verdict(lab.p.once)
print(f"Not idempotent: {doubled_5}. Yours: {once_5}")
Prediction("records extra", said=predicted_5).against(doubled_5["extra"])

# %% tags=["check-5"]
lab.check(5)

# %% [markdown]
# ## Task 6: committed too early
#
# A worker is a loop that runs as a process of its own. `process(record)` does the work: it sends
# the record to the topic `lab.p.done`. This loop is wrong:


# %%
def read_on_careless(consumer, process, goes_on, every):
    """Commits the positions of the consumer after every so many records."""
    done = 0
    while goes_on():
        for records in consumer.poll(timeout_ms=200).values():
            for record in records:
                process(record)
                done += 1
                if done % every == 0:
                    consumer.commit()


# %% [markdown]
# The consumer program does the same with `ack_every_x_msgs`. Here it dies after its first commit,
# and a second one goes on. Before you run it: will some records never be processed?

# %% tags=["demo", "C78", "C79", "C80"]
new_topic(lab.p.orders, copies=3, minimum=2)
hole = Run(lab.cluster, logs(lab.p.careless), topic=lab.p.orders, group=lab.p.careless)
write(path_of(hole.directory, "producer"), send(lab.p.orders, acks="all"))
reader = {"auto_offset_reset": "earliest", "instance_id": lab.p.instance, "max_poll_recs": 100}
hasty_one = hole.consumer(local_id=1, ack_every_x_msgs=lab.p.every, crash_after_commits=1, **reader)
assert hasty_one.wait() == 17, "the status of one that ends after its commit"
offsets = lab.cluster.group(lab.p.careless).offsets
hole.consumer(local_id=2, ack_after_batch=True, **reader)
hole.wait_until_read()
holes = compare(spark, hole.directory)
hole.close()
polled = int(hasty_one.said("batch of")[0].text.split()[2])
assert len(hasty_one.payload) == lab.p.every
assert sum(offsets.values()) == polled
assert (holes.lost, holes.extra) == (polled - lab.p.every, 0), "the rest of the batch in hand"
print(f"The first one had polled {polled}, processed {lab.p.every}, and committed {polled}.")
holes

# %% [markdown]
# `commit()` without arguments stores the *position*: the end of everything that `poll` handed over,
# processed or not.
#
# Mend it in `read_on`: what it commits is to be what is processed, and never more than `every`
# records late. In your cell worker 1 is killed when `lab.p.killed_at` records lie in `lab.p.done`,
# and worker 2 goes on to the end.
#
# Predict `predicted_6`: how many records at most are processed twice if a kill comes at the worst
# moment? (No run measures that.) **14 points**
#
# *Example.* `consumer.commit({place: OffsetAndMetadata(7, "", -1)})`: the group would go on at
# offset 7 of `place`, a `TopicPartition`.

# %%
run_6 = Run(lab.cluster, logs(lab.p.orders), topic=lab.p.orders, group=lab.p.workers)
new_topic(lab.p.orders, copies=3, minimum=2)
new_topic(lab.p.done, copies=3, minimum=2)
brief = {"session_timeout_ms": 3_000}
len(send(lab.p.orders, acks="all"))


# %% tags=["task-6", "C81"]
# Task 6
def read_on(consumer, process, goes_on, every):
    """Commits what is processed, and nothing else."""
    from kafka import OffsetAndMetadata  # a process of its own imports what it needs

    done, count = {}, 0
    while goes_on():
        for place, records in consumer.poll(timeout_ms=200).items():
            for record in records:
                process(record)
                count += 1
                # BEGIN SOLUTION
                # STUB: keep how far the work has come, and commit it in time
                done[place] = OffsetAndMetadata(record.offset + 1, "", -1)
                if count % every == 0:
                    consumer.commit(done)
                # END SOLUTION
        if done:
            consumer.commit(done)


# BEGIN SOLUTION
# STUB: choose predicted_6
predicted_6 = lab.p.every
# END SOLUTION
one = workers.start(run_6, read_on, 1, lab.p.done, lab.p.every, pause_ms=60, **brief)
status_6 = one.wait()
workers.start(run_6, read_on, 2, lab.p.done, lab.p.every, **brief)
read_to_the_end(run_6)
orders_6 = verdict(lab.p.orders)
status_6, orders_6

# %% tags=["check-6"]
lab.check(6)

# %% [markdown]
# ## Task 7: committed too late
#
# Two consumers share a topic, and each commits once a minute. When the first has done half of a
# burst, it is killed. Before you run the next cell: how many records will be processed twice?

# %% tags=["demo", "C90"]
new_topic(lab.p.late, copies=3, minimum=2)
lazy = Run(lab.cluster, logs(lab.p.lazy), topic=lab.p.late, group=lab.p.lazy)
minutely = {"auto_offset_reset": "earliest", "ac_interval": 60_000, "assignment_strategy": "rr"}
hurried = {"session_timeout": 2_000, "heartbeat_interval": 300, "poll_period": 200, **minutely}
one, two = [lazy.consumer(local_id=number, **hurried) for number in (1, 2)]
wait_until(lambda: len(one.partitions) == len(two.partitions) == 3, timeout=40, what="3 and 3")
burst = send(lab.p.late, acks="all")
wait_until(lambda: len(one.payload) == lab.p.records // 2, timeout=30, what="half of the burst")
before = time.time()
one.kill()
wait_until(lambda: len(two.partitions) == 6, timeout=30, what="the other one to take over")
took_over = time.time() - before
lazy.wait_until_read()
lazy.close()
write(path_of(lazy.directory, "producer"), burst)
lazily = compare(spark, lazy.directory)
assert (lazily.lost, lazily.extra) == (0, lazily.read_by_several)
assert took_over < 2 + 2, took_over
print(f"The other one had all partitions after {took_over:.1f} s.")
lazily

# %% [markdown]
# What a member has in hand and has not committed comes again when it is thrown out: processed
# before, or by a frozen one when it wakes. Let this be at most `lab.p.repeated` records. Two
# workers share `lab.p.late`, and midway worker 1 is killed, or frozen until the other one has all
# partitions. Which one, says `lab.p.hit`; in grading it may be the other.
#
# - Finish `late_loop`, so that what comes again has a bound. A worker that was frozen finds its
#   commit refused with a `CommitFailedError`, and must go on. The loop is a process of its own and
#   knows no `lab`.
# - Choose `late`, the settings of its `KafkaConsumer`. Worker 2 must take over within 5 seconds. A
#   heartbeat comes each 500 ms, so let the session last 1,500 ms or more.
# - Keep `unique_7`, how many different keys Spark counts in `processed`, the topic of the results.
#
# **14 points**
#
# *Example.* `late = {"session_timeout_ms": 10_000}` is too slow.

# %%
run_7 = Run(lab.cluster, logs(lab.p.late), topic=lab.p.late, group=lab.p.late_workers)
new_topic(lab.p.late, copies=3, minimum=2)
new_topic(lab.p.late_done, copies=3, minimum=2)


# %% tags=["task-7", "C92", "C93"]
# Task 7
def late_loop(consumer, process, goes_on):
    """The work; its commits are yours."""
    from kafka.errors import KafkaError

    while goes_on():
        for records in consumer.poll(timeout_ms=200).values():
            for record in records:
                process(record)
        # BEGIN SOLUTION
        # STUB: commit, and go on where it is refused
        try:
            consumer.commit()
        except KafkaError:
            continue  # others have the partitions now, and process these records again
        # END SOLUTION


# BEGIN SOLUTION
# STUB: choose the settings late
late = {"max_poll_records": lab.p.repeated, "session_timeout_ms": 3_000}
# END SOLUTION
for number in (1, 2):
    workers.start(run_7, late_loop, number, lab.p.late_done, pause_ms=20, **late)
workers.wait_for_members(run_7, 2)
send(lab.p.late, acks="all")
read_to_the_end(run_7)
late_7 = verdict(lab.p.late)
processed = read_topic(spark, lab.cluster, lab.p.late_done)
# BEGIN SOLUTION
# STUB: unique_7 by Spark
unique_7 = processed.select("key").distinct().count()
# END SOLUTION
late_7, unique_7

# %% tags=["check-7"]
lab.check(7)

# %% [markdown]
# ## Task 8: which promise is it?
#
# Answer with `promises`, from the name of each line below to one of the five words. Think of all
# the faults of this lab: brokers freeze and die as in tasks 2 to 5, answers get lost, a worker is
# killed or frozen. Only `alone` has an unclean election. A line counts only when its task was run
# (`alone`: 5, `early`, `careless`: 6, `known`: 7).

# %%
words = {
    "at most once": "a record may be lost, and none comes twice",
    "at least once": "none is lost, and one may come twice",
    "neither": "a record may be lost, and one may come twice",
    "written once": "if acknowledged, once in its partition, whoever reads it",
    "effectively once": "what is done with a record counts once",
}
lines = {
    "unasked": "a producer with acks=0, any number of copies",
    "led": "a producer with acks=1 without idempotence, three copies",
    "alone": "acks=all, three copies, a minimum of one, no idempotence; an unclean election",
    "doubled": "acks=all, three copies, a minimum of two, without idempotence",
    "once": "as doubled, with idempotence",
    "tight": "as once, with two copies: the topic of task 4",
    "early": "a consumer that commits each batch before it begins to work on it",
    "late": "a consumer that commits each batch when the work is done",
    "known": "as late, and who uses the results skips a key that was there before",
    "careless": "the loop read_on_careless, killed at any moment",
}

# %% [markdown]
# And `choice` goes from a case to the name of a producer's line:
#
# - `"payments"`: none may be lost, none doubled, and one broker may be away;
# - `"clicks"`: speed matters, and a lost one does not;
# - `"alarms"`: none may be lost, twice is harmless, and the old program cannot be idempotent.
#
# **6 points**
#
# *Example.* `promises = {"unasked": "neither", …}`, `choice = {"payments": "led", …}`; the form,
# not the answers.

# %% tags=["task-8", "C96"]
# Task 8
# BEGIN SOLUTION
# STUB: answer with promises and choice
promises = {
    "unasked": "at most once",
    "led": "neither",
    "alone": "neither",
    "doubled": "at least once",
    "once": "written once",
    "tight": "written once",
    "early": "at most once",
    "late": "at least once",
    "known": "effectively once",
    "careless": "neither",
}
choice = {"payments": "once", "clicks": "unasked", "alarms": "doubled"}
# END SOLUTION
promises

# %% tags=["check-8"]
lab.check(8)

# %% [markdown]
# ## All runs, by Spark and by diff
#
# Each run has left two logs (`forgetful`: each record sent twice, read five times). Before you run
# the next two cells, whose code can wait: which runs have lost records, and which doubled some?

# %% tags=["demo", "C27", "C28"]
tasks = {"forgetful": 1, "plain": 1, "unasked": 2, "asked": 2, "led": 3, "copied": 3, "sturdy": 4}
tasks |= {"doubled": 5, "once": 5, "careless": 6, "orders": 6, "lazy": 7, "late": 7}
folders = {kind: logs(lab.p[kind]) for kind in tasks}
records = compare_all(spark, folders)
by_spark = findings(records)
by_text = {kind: difference(folder) for kind, folder in folders.items()}
for kind, text in by_text.items():
    assert by_spark[kind, "lost"] == sorted(text.lost), kind
    assert by_spark[kind, "extra"] == sorted(text.extra), kind
sums = [F.sum(name).alias(name) for name in ("sent", "lost", "extra")]
table = overview(records.groupBy("run").agg(*sums).toPandas(), by_text)
table.insert(0, "task", pd.Series(tasks))
different = table[table.lost + table.extra > 0]
assert (different["lines of diff"] > different.lost + different.extra).all(), "headers too"
table

# %% tags=["demo", "C28", "C89"]
shown = {
    "task 1": {"forgetful": "never commits", "plain": "yours"},
    "task 2": {"unasked": "acks=0", "asked": "yours"},
    "task 3": {"led": "acks=1", "copied": "yours"},
    "task 4": {"sturdy": "yours"},
    "task 5": {"doubled": "not idempotent", "once": "yours"},
    "task 6": {"careless": "commits too early", "orders": "yours"},
    "task 7": {"lazy": "commits too late", "late": "yours"},
}
ax = charts.lost_and_extra(records.groupBy("run", "partition").agg(*sums), shown)
yours = table.loc[["plain", "asked", "copied", "sturdy", "once", "orders", "late"]]
given = table.drop(yours.index)
lost, extra = [f"{yours[n].sum():,} {n} instead of {given[n].sum():,}" for n in ("lost", "extra")]
ax.set_title(f"Records of yours: {lost},\n{extra}")
assert table.extra["lazy"] in (0, lab.p.records // 2), "what the killed one had not committed"
drawn = sum(abs(bar.get_width()) for bar in ax.patches)
assert round(drawn, 6) == round((100 * (table.lost + table.extra) / table.sent).sum(), 6), drawn
each = "; ".join(f"{one.Index} {one.lost} lost, {one.extra} extra" for one in table.itertuples())
charts.show(ax, f"Lost and extra records of each run. {each}.")

# %% [markdown]
# Each run met one fault; a promise holds for all that were named.

# %% [markdown]
# ## What you saw
#
# - An acknowledgement is a promise by those who were asked: nobody, the leader, or all in sync.
# - Three copies with a minimum of two lose no record acknowledged with `acks="all"` while one
#   broker fails at a time.
# - Idempotence recognises the repeats of a client.
# - A commit says what is done. Too early loses, too late repeats.

# %% [markdown]
# ## On your own
#
# `README.md` beside this notebook has the programs in three terminals. They need these lines:

# %% tags=["demo"]
import sys

new_topic("desk", copies=3, minimum=2)
print(f'cd "{Path.cwd()}"', f"alias delivery='\"{sys.executable}\" -m delivery'", sep="\n")
print(f"export ADDRESS={lab.cluster.address}")

# %%
lab.score()

# %%
lab.close()
