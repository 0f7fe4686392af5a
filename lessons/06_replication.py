# %% [markdown]
# # 06 Replication
#
# Your records lie on the disk of one broker, and that broker dies. Which broker takes over, how
# soon, and how does it know that its copy is complete? And the dead one may come back and believe
# that it still leads.

# %% [markdown]
# You will
# - predict who leads each of 13 partitions after a failure, and be right,
# - see a record that is written, acknowledged and not readable,
# - watch a broker that comes back cut off the end of its own log,
# - compare four faults: stop, pause, cut and kill. Needs 00, 01 and 04. 50 minutes.

# %% tags=["parameters"]
pause = 0.1  # seconds between two rounds of records, while something fails
# Kafka would give leaders back every five minutes, and wait half a minute for a slow follower.
settings = {"auto.leader.rebalance.enable": False, "replica.lag.time.max.ms": 5_000}
# A broker writes down its high watermarks every five seconds; these do it five times a second.
settings |= {"replica.high.watermark.checkpoint.interval.ms": 200}

# %%
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from kafkalab import Cluster, Ledger, Prediction, Watch, charts, clients, quick, spark_session

cluster = Cluster.start("replicated", settings=settings, gateway=True)
cluster

# %% [markdown]
# ## Thirteen logs, each on three disks
#
# A copy of a partition is a **replica**. One replica is the **leader**: producers write to it and
# consumers read from it. The others are **followers**. Which brokers have a copy is decided when
# the topic is created. Mostly Kafka decides; here you write the lists yourself, so that you can
# predict. Before you run the next cell: how many of 13 partitions will broker 2 lead?

# %%
lists = [[2, 0, 1], [0, 1, 2], [1, 2, 0], [2, 1, 0], [0, 2, 1], [1, 0, 2]]
assignments = {partition: lists[partition % 6] for partition in range(13)}
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
topic = cluster.unused("failsafe")
admin.create_topics({topic: {"assignments": assignments, "configs": {"min.insync.replicas": "2"}}})
cluster.wait_for_topic(topic)
cluster.topic(topic)

# %% [markdown]
# `in sync` are the replicas that keep up with the leader: the **in-sync replicas**, ISR for short.
# Compare the columns `leader` and `replicas`, or look at the picture: a row is a broker, a column a
# partition, and the number is the place of the broker in the partition's list.

# %% tags=["A70", "A71", "A81", "A148", "B94", "B95", "C45", "R1", "R9"]
from collections import Counter

from kafkalab import diagrams

before = cluster.topic(topic)
assert {one.partition: one.replicas for one in before.partitions} == assignments
leads = Counter(one.leader for one in before.partitions)

# %% tags=["proof", "A70", "A71", "A81", "A148", "B94", "B95", "C45", "R1", "R9"]
assert leads == {0: 4, 1: 4, 2: 5}
assert all(one.leader == one.replicas[0] for one in before.partitions)  # the *preferred* leader
assert all(sorted(one.isr) == [0, 1, 2] for one in before.partitions)  # one leader, two followers

# %% tags=["A70", "A71", "A81", "A148", "B94", "B95", "C45", "R1", "R9"]
for copies in (1, 2, 3):
    even = cluster.unused(f"even-{copies}")
    turns = {n: [n % 3, (n + 1) % 3, (n + 2) % 3][:copies] for n in range(6)}
    admin.create_topics({even: {"assignments": turns}})
    cluster.wait_for_topic(even)
    assert Counter(one.leader for one in cluster.topic(even).partitions) == {0: 2, 1: 2, 2: 2}

hosts = {f"{one['host']}:{one['port']}" for one in admin.describe_cluster()["brokers"]}
folders = {cluster.segments(topic, 1, broker)[0].path.parent for broker in cluster.brokers}
assert cluster.quorum().leader == 100  # the controller is a process of its own

shares = ", ".join(f"broker {broker} leads {leads[broker]}" for broker in cluster.brokers)
ax = diagrams.replicas({"now": before})
ax.set_title(f"Who stands first leads: {shares}")
charts.show(ax, f"13 partitions in three copies, all in sync; {shares} of them.")

# %% tags=["proof", "A70", "A71", "A81", "A148", "B94", "B95", "C45", "R1", "R9"]
assert len(hosts) == len(folders) == 3  # three ports, three disks

# %% [markdown]
# The last topics have six partitions with one, two and three copies, dealt out like cards: each
# broker leads two. Kafka deals in this way too, if not always so evenly. It matters, because the
# leader does the work for its partition: all writing and, unless told otherwise, all reading.

# %% [markdown]
# ## Who takes over?
#
# You will stop broker 0 while records arrive. `a_round` sends a record to each partition, with
# `acks="all"`, the default. A `Watch` calls it again and again as long as a `with` block runs, and
# asks broker 2 meanwhile who leads and who is in sync.

# %%
patience = {"request_timeout_ms": 1_000, "delivery_timeout_ms": 60_000}
steady = KafkaProducer(
    bootstrap_servers=cluster.address, client_id="steady", **quick.producer | patience
)
watch, ledger, numbers = Watch(cluster, topic, asked=2), Ledger(), iter(range(1_000_000))


def a_round():
    for partition, number in zip(range(13), numbers, strict=False):
        ledger.sent(number, steady.send(topic, value=b"%d" % number, partition=partition))


# %% [markdown]
# How many of the 13 partitions will get a new leader? And which broker will it be? Look at the
# table above, and write your numbers down before you go on.

# %% tags=["prediction"]
my_moves = Prediction("partitions")
my_leaders = {}  # partition: its new leader, for those that will have one
my_moves

# %% [markdown]
# A rule to test: the new leader is the first broker of the list that is alive and in sync. The
# first lines apply it to what was seen *before*. Then the broker is stopped, and each of the 13
# partitions is compared.

# %% tags=["A82", "A83", "A84", "R12"]
from kafkalab.lessons import replication

predicted = {
    one.partition: next(broker for broker in one.replicas if broker in one.isr and broker != 0)
    for one in before.partitions
}
replication.as_before(cluster, before)  # for when you run this cell again
with watch.during("stop", a_round, pause):
    cluster.stop(0)
    cluster.wait_for_isr(topic, 2)
    steady.flush(timeout=30)
after = cluster.topic(topic)
moved = [p for p in range(13) if before.partitions[p].leader != after.partitions[p].leader]

assert moved == [one.partition for one in before.partitions if one.leader == 0] == [1, 4, 7, 10]
print(my_moves.against(len(moved)))
right = sum(my_leaders.get(partition) == predicted[partition] for partition in moved)

ax = diagrams.replicas({"before": before, "after": after})
title = f"{len(moved)} leaders moved without broker 0, as the rule says; you had {right} right"
ax.set_title(title)
charts.show(ax, f"{title}. Partitions {moved} went to the next broker of their lists.")

# %% tags=["proof", "A82", "A83", "A84", "R12"]
assert {one.partition: one.leader for one in after.partitions} == predicted  # cell by cell
assert Counter(one.leader for one in after.partitions) == {1: 6, 2: 7}
assert all(sorted(one.isr) == [1, 2] for one in after.partitions)

# %% [markdown]
# Only the partitions that broker 0 led have moved; the others kept theirs. In each column the
# leader is the smallest number that is left. Nobody votes and nobody compares logs: the
# **controller** keeps the list and the in-sync replicas of each partition, so it has only to look.
#
# Is the cluster whole again for those who use it? Send and read two records, then change the
# cluster's own data: create a topic, change a setting.

# %% tags=["A85", "A89", "C52"]
from kafka import OffsetAndMetadata, TopicPartition
from kafka.admin import ConfigResource

m15, m16 = (steady.send(topic, value=v, partition=1).get(timeout=10) for v in (b"m15", b"m16"))
witness = KafkaConsumer(bootstrap_servers=cluster.address, **quick.consumer)
witness.assign([TopicPartition(topic, 1)])
witness.seek(TopicPartition(topic, 1), m15.offset)
assert [one.value for one in clients.records_until_end(witness)] == [b"m15", b"m16"]

admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
made = cluster.unused("made-without-0")
admin.create_topics({made: {"num_partitions": 1, "replication_factor": 2}})
cluster.wait_for_topic(made)
admin.alter_configs([ConfigResource("TOPIC", made, configs={"retention.ms": "60000"})])
assert cluster.topic(made).partitions[0].leader in (1, 2)

short = cluster.topic(even).partitions

# %% tags=["proof", "A85", "A89", "C52"]
assert {one.leader for one in short} == {1, 2}
assert {len(one.replicas) for one in short} == {3}  # who *should* have a copy: as before
assert {len(one.isr) for one in short} == {2}  # who has all of it: one fewer

# %% [markdown]
# All of it works. The controller is a process of its own here; had it been part of broker 0, one of
# the others would have had to take over that work first (lesson 17).
#
# Now the broker comes back. Before you run the next cell: how many partitions will it lead, once it
# is in sync?

# %%
with watch.during("restart", a_round, pause):
    cluster.restart(0)
    cluster.wait_for_isr(topic, 3)
led_again = sum(one.leader == 0 for one in cluster.topic(topic).partitions)
led_again

# %% tags=["proof", "A86", "R14"]
assert led_again == 0

# %% [markdown]
# None. It does nothing but follow: a change of leaders costs every client a moment, so Kafka makes
# none without need. What has it done since its return? It asked each leader for what it had missed.
# Compare partition 1 on all three disks. And compute something: a counter whose log holds changes,
# once from what the leader hands out and once from the bytes on the disk of a follower.

# %%
import re

steady.flush(timeout=30)
copies = cluster.copies(topic, 1)

counter = cluster.unused("counter")
admin.create_topics({counter: {"assignments": {0: [1, 0, 2]}}})
cluster.wait_for_topic(counter)
for change in (5, -2, 40, -1):
    steady.send(counter, value=b"change:%+d" % change).get(timeout=10)
first = KafkaConsumer(
    counter, bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
)
bytes_of_leader = b"".join(record.value for record in clients.records_until_end(first))
bytes_of_follower = cluster.segments(counter, 0, broker=0)[0].path.read_bytes()
of_leader, of_follower = (
    [int(change) for change in re.findall(rb"change:([+-]\d+)", found)]
    for found in (bytes_of_leader, bytes_of_follower)
)
copies

# %% tags=["proof", "B110", "B112"]
assert copies.equal
assert copies[0].bytes > 0
assert of_leader == of_follower
assert sum(of_follower) == 42

# %% [markdown]
# Equal, byte by byte: a follower does not run your records again, it copies the batches of the
# leader. And who begins with the same state and applies the same changes in the same order ends
# with the same state. A copy of the log is a copy of all that can be computed from it.
#
# To give the leaders back to those that stand first is an order of its own: a **preferred leader
# election**. Kafka gives that order itself within five minutes, unless told not to.

# %%
from kafkalab import wait_until


def as_listed(elector):
    elector.elect_leaders(0, [topic, even], raise_errors=False)  # 0: preferred; refused: once more
    return all(
        one.leader == one.replicas[0]
        for name in (topic, even)
        for one in cluster.topic(name).partitions
    )


def elect_the_first(*others):
    """All faults undone, and each partition back to the first broker of its list."""
    cluster.mend()
    for name in (topic, even, *others):
        cluster.wait_for_isr(name, 3)
    elector = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
    wait_until(lambda: as_listed(elector), timeout=15, what="the first of each list to lead")


elect_the_first()

# %% tags=["proof", "B108", "C53"]
assert Counter(one.leader for one in cluster.topic(topic).partitions) == leads
assert Counter(one.leader for one in cluster.topic(even).partitions) == {0: 2, 1: 2, 2: 2}

# %% [markdown]
# ## How far is a copy behind?
#
# Who carries the batches to the followers? Not the leader. All traffic of this cluster passes
# through a gateway that notes who asked for what. Broker 1 leads the topic `marks`; look at who
# sends it requests of the kind `Fetch`. Before you run the next cell: how many askers will there
# be, with one consumer of yours?

# %%
marks = cluster.unused("marks")
admin.create_topics({marks: {"assignments": {0: [1, 2, 0]}}})
cluster.wait_for_topic(marks)
cluster.gateway.clear()  # forget what was noted so far
writer = KafkaProducer(
    bootstrap_servers=cluster.address, acks=1, enable_idempotence=False, **quick.producer
)
for number in range(10):
    writer.send(marks, value=b"mark %d" % number).get(timeout=10)
wait_until(lambda: cluster.topic(marks).records == 10, timeout=10, what="ten that can be read")

# %% tags=["B96"]
own = {"client_id": "reader", "auto_offset_reset": "earliest"}
reader = KafkaConsumer(bootstrap_servers=cluster.address, **quick.consumer | own)
reader.assign([place := TopicPartition(marks, 0)])
assert [record.offset for record in clients.records_until_end(reader)] == list(range(10))

own = quick.consumer | {"group_id": "office"}
with KafkaConsumer(bootstrap_servers=cluster.address, **own) as office:
    office.commit({place: OffsetAndMetadata(6)})  # a group that has come as far as offset 6
fetches = cluster.gateway.frames("Fetch", broker=1, between=None)
askers = Counter(frame.client_id for frame in fetches)
if cluster.gateway.covers_nodes:  # with Docker only what clients say passes the gateway
    assert {"broker-0-fetcher-0", "broker-2-fetcher-0"} <= {*askers}
ends = {"before": [[*cluster.log_ends(topic, p).values()] for p in range(13)]}  # for later
askers

# %% tags=["proof", "B96"]
assert "reader" in askers

# %% [markdown]
# Two brokers and your reader send the same kind of request. A follower adds its number, and the
# offset from which it asks tells the leader what it has. So the leader knows how far each copy is.
#
# - **log end offset**: what the next record of *this copy* gets. Each replica has its own.
# - **high watermark**: up to here *all in-sync replicas* have the log. Consumers get no further.
# - **position**, **committed offset**: what a consumer reads next; where its group would go on.

# %% [markdown]
# Ten records are everywhere. Now broker 0 is frozen, and ten more are written with `acks=1`, so
# that the leader acknowledges alone. How many of the ten does the reader get, while broker 0 is
# frozen and counts as in sync?

# %% tags=["prediction"]
my_marks = Prediction("records")
my_marks

# %%
for _ in range(3):  # should the machine stall here, the fence comes first: then once more
    elect_the_first(marks)
    start = cluster.topic(marks).partitions[0].end_offset
    with watch.during("pause", a_round, pause):
        cluster.pause(0)
        for number in range(start, start + 10):
            writer.send(marks, value=b"mark %d" % number)
        writer.flush(timeout=30)
        wait_until(lambda n=number: cluster.log_ends(marks)[2] > n, timeout=10, what="a copy")
        polled = reader.poll(timeout_ms=300)
        frozen, position = cluster.copies(marks, 0), reader.position(place)
        high_watermark = reader.end_offsets([place])[place]
        wait_until(lambda n=start: reader.end_offsets([place])[place] > n, timeout=15, what="more")
        came_later = [record.offset for record in clients.records_until_end(reader)]
        cluster.wait_for_isr(topic, 2)
        ends["frozen"] = [[*cluster.log_ends(topic, p).values()] for p in range(13)]
    with watch.during("resume", a_round, pause):
        cluster.resume(0)
        cluster.wait_for_isr(topic, 3)
    steady.flush(timeout=30)
    if high_watermark == start:
        break
my_marks.against(sum(map(len, polled.values())))

# %% tags=["proof", "A32", "B97"]
assert frozen.ends == {0: start, 1: start + 10, 2: start + 10}
assert (high_watermark, position, polled) == (start, start, {})

# %%
names = {1: "broker 1, leader", 2: "broker 2", 0: "broker 0, frozen"}
places = {"position": position, "committed": cluster.group("office").offsets[marks, 0]}
ax = diagrams.offsets({names[n]: frozen[n].log_end for n in names}, high_watermark, places)
title = f"The log ends at {frozen[1].log_end}, a reader gets to {high_watermark}"
ax.set_title(title)
charts.show(ax, f"Three copies of a partition as rows of offsets; one ends early. {title}.")

# %% [markdown]
# Acknowledged, on two disks, and not readable. Think of the opposite: suppose the reader had got
# them, and the frozen broker were then made leader. The reader would know records that do not
# exist. What is not safe must not be seen.
#
# It did not stay so. The leader waits for all *in-sync* replicas, and who keeps silent is taken off
# that list. Then two brokers were left, both had everything, and the ten were handed out. Your
# cell waited for that, and only then let broker 0 go on.

# %% [markdown]
# Two clocks watch a replica. The **controller** wants a heartbeat: without one for
# `broker.session.timeout.ms` it *fences* the broker, which then leads nothing and is in sync with
# nothing. The **leader** wants a follower to reach its log end within `replica.lag.time.max.ms`.
# Who is frozen misses both. Who lives and gets no records misses only the second.
#
# The gateway now refuses what broker 0 fetches from broker 1. `marks` gets one record more; in the
# 13 partitions nothing is new. Before you run the next cell: with which of the two topics does
# broker 0 stay in sync?

# %% tags=["A109", "B74", "B98"]
assert came_later == list(range(start, start + 10))
ends["after"] = [[*cluster.log_ends(topic, p).values()] for p in range(13)]
lags = {when: [max(of) - min(of) for of in found] for when, found in ends.items()}
assert max(lags["before"]) == max(lags["after"]) == 0 < max(lags["frozen"])
for when, of in lags.items():
    worst = of.index(max(of))
    offset = max(ends[when][worst])
    print(f"{when}: {len(of)} partitions, largest lag {max(of)}, in {worst} at offset {offset}")
books = {"replica.fetch.wait.max.ms": "500", "replica.socket.timeout.ms": "30000"}
books |= {"replica.socket.receive.buffer.bytes": "65536", "num.replica.fetchers": "1"}
books |= {"min.insync.replicas": "1", "unclean.leader.election.enable": "false"}
books |= {"leader.imbalance.check.interval.seconds": "300"}
real = cluster.broker_configs(0)
assert {name: real[name].value for name in books} == books
ours = {"broker.session.timeout.ms": 9_000, "broker.heartbeat.interval.ms": 2_000}
ours |= {"replica.lag.time.max.ms": 30_000, "replica.high.watermark.checkpoint.interval.ms": 5_000}
cluster.wait_for_isr(marks, 3)
if cluster.gateway.covers_nodes:  # with Docker the brokers' traffic passes elsewhere
    cluster.gateway.cut(1, api="Fetch", client_id="broker-0-fetcher-0", between="nodes")
    writer.send(marks, value=b"one more").get(timeout=10)
    cluster.wait_for_isr(marks, 2)
    assert {len(one.isr) for one in cluster.topic(topic).partitions} == {3}  # nobody is fenced
    cluster.gateway.heal(1)
    cluster.wait_for_isr(marks, 3)
{name: f"{default:,} by default, {real[name].value} here" for name, default in ours.items()}

# %% [markdown]
# With the 13 partitions, also those that broker 1 leads: there it had all that there was. And a
# fenced broker is in sync with nothing, so nobody fenced it. Its heartbeats went on. The leader of
# `marks` took it off the list, and put it back when it had caught up. The three lines above are
# what Kafka's old tool for comparing replicas reported: all equal, then not, then equal again.

# %% [markdown]
# ## Two brokers that believe they lead
#
# A frozen broker keeps silent. Worse is one that works and does not hear that another was made
# leader. You cut broker 0 off from the others and from `steady`, and keep a line to it for one
# producer with `acks=1`. Five records go to the lonely leader. Before you run the next cell: how
# many of them are in the log when the network is whole again?

# %%
elect_the_first()
loner = KafkaProducer(
    bootstrap_servers=cluster.addresses[0], acks=1, enable_idempotence=False, **quick.producer
)
loner.send(topic, value=b"together", partition=1).get(timeout=10)  # now it knows the leader
wait_until(lambda: cluster.copies(topic, 1).equal, timeout=10, what="three equal copies")
with watch.during("cut", a_round, pause):
    cluster.cut(0, clients=False)
    cluster.gateway.cut(0, client_id="steady")
    receipts = [loner.send(topic, value=b"alone", partition=1).get(timeout=5) for _ in range(5)]
    alone = [receipt.offset for receipt in receipts]
    cluster.wait_for_isr(topic, 2)
    wait_until(
        lambda: (cluster.topic(topic).partitions[1].end_offset or 0) > alone[-1],
        timeout=30,
        what="the new leader to use the same offsets",
    )
    steady.flush(timeout=30)
apart = cluster.copies(topic, 1)
new_leader = cluster.topic(topic).partitions[1].leader
epoch, fork = max(apart[new_leader].epochs.items())  # the newest, and where it begins
assert epoch not in apart[0].epochs
assert fork <= alone[0]
print(f"acknowledged by the lonely leader: offsets {alone}")
apart

# %% [markdown]
# Five acknowledgements, five offsets, and the new leader has given the same offsets to others. What
# tells two records of one offset apart is the **leader epoch**. The controller counts it up with
# each new leader, and a leader writes it into every batch. Beside each log lies a file,
# `leader-epoch-checkpoint`: each epoch, and its first offset.

# %% [markdown]
# Up to the offset where the newest epoch begins, all logs are one. When broker 0 can speak again it
# learns that it is a follower, and fetches. Its `Fetch` names the epoch of its last record, and the
# answer of the leader says where that epoch ended for the others. Heal the network, and read in the
# log of broker 0 what it does with the answer.

# %%
with watch.during("heal", a_round, pause):
    cluster.heal(0)
    cluster.wait_for_isr(topic, 3)
told = [line for line in cluster.logs(0, 20_000).splitlines() if f" {topic}-1 " in line]
cut = [line for line in told if "Truncating partition" in line][-1]
print(cut)

# %% [markdown]
# From left to right. *ReplicaFetcher replicaId=0*: broker 0, as a follower. *leaderId*: whom it
# asked. *Truncating partition … offset*: it cuts its log there. *due to leader epoch … endOffset*:
# because at the leader that epoch ends there. What stood behind it is gone, for ever.

# %%
assert all(part in cut for part in (f"offset={fork},", f"endOffset={fork})"))
assert not cluster.gateway.frames("OffsetForLeaderEpoch", between=None)  # nobody asked apart
steady.flush(timeout=30)
witness.seek(TopicPartition(topic, 1), alone[0])
there = {one.value for one in clients.records_until_end(witness)}
assert (cluster.copies(topic, 1).equal, b"alone" in there) == (True, False)  # the leader's log

# %% [markdown]
# None of the five. Each was acknowledged, and at its offset you read something else. A follower is
# a copy of its leader, even where that means throwing records away. Those that waited for *all*
# in-sync replicas are there, as you will count below. Lesson 08 is about this choice.

# %% [markdown]
# ## How many may fail?
#
# Three topics of ten records: one copy, on broker 0; two copies; three. Then broker 0 is killed. It
# says no good-bye, so the controller must miss it first. How many seconds until partition 1 has a
# leader?

# %% tags=["prediction"]
my_seconds = Prediction("seconds")
my_seconds

# %%
elect_the_first()
safes = {copies: cluster.unused(f"copies-{copies}") for copies in (1, 2, 3)}
for copies, name in safes.items():
    admin.create_topics({name: {"assignments": {0: [0, 1, 2][:copies]}}})
    cluster.wait_for_topic(name)
    for number in range(10):
        steady.send(name, value=b"%d" % number).get(timeout=10)

with watch.during("kill", a_round, pause):
    cluster.kill(0)
    cluster.wait_for_isr(topic, 2)
    steady.flush(timeout=30)
print(my_seconds.against(watch.until_moved("kill", 1)))
told = cluster.logs("controller", 20_000).splitlines()
given_up = [line for line in told if re.search("Fencing broker 0 .*session has timed out", line)]
assert len(given_up) >= 3  # the pause, the cut, the kill
print(given_up[-1])

leaders = {copies: cluster.topic(name).partitions[0].leader for copies, name in safes.items()}
assert leaders == {1: None, 2: 1, 3: 1}
eligible = cluster.topic(safes[1]).partitions[0].elr  # who may lead it without loss
patient = {"auto_offset_reset": "earliest", "consumer_timeout_ms": 1_500}
only = KafkaConsumer(bootstrap_servers=cluster.address, **quick.consumer | patient)
only.assign([TopicPartition(safes[1], 0)])
assert list(only) == []

# %% [markdown]
# The topic with one copy has no leader. Its reader got nothing, *and no error*: it waits, as it
# should. The records are on the disk of broker 0, and you will see them again.
#
# With n copies n - 1 brokers may fail, and the records are there. Controllers are different: more
# than half of them must live.
#
# Above stands what the controller wrote down: broker 0 is fenced, *because its session has timed
# out*.

# %% [markdown]
# ## Four faults on one chart
#
# The same broker, the same load, four times; and three ways back. The watch noted who was named
# leader, the ledger when each record was sent and acknowledged. What a client feels is the record
# that waits longest. Before you run the next cell: what costs more, to leave or to come back?

# %% tags=["A87", "B99", "C32", "R11", "R13", "R36"]
from pyspark.sql import functions as F

spark = spark_session()
looks, sent = watch.frame(spark), ledger.frame(spark).where(F.col("partition").isin(moved))
spans = looks.groupBy("during", "began").agg((F.col("began") + F.max("seconds")).alias("ended"))
waits = (
    sent.selectExpr("unix_micros(sent_at) / 1e6 AS s", "unix_micros(acknowledged_at) / 1e6 AS a")
    .join(spans, F.col("s").between(F.col("began"), F.col("ended")))
    .groupBy("during", "began")
    .agg(F.max_by(F.struct("s", "a"), F.col("a") - F.col("s")).alias("longest"))
    .selectExpr("during", "longest.s - began AS sent", "longest.a - began AS acknowledged")
    .toPandas()
)
wait = dict(zip(waits.during, waits.acknowledged - waits.sent, strict=True))
moves = {one: watch.until_moved(one, 1) for one in wait}
silent = {one for one in moves if moves[one]} - {"stop"}
assert all(wait["stop"] < wait[one] and moves["stop"] < moves[one] for one in silent)
verdict = ledger.verdict(cluster)
ax = replication.failover(looks, waits.sort_values("during", key=lambda names: names.map(wait)))
title = f"After a stop the longest wait is {wait['stop']:.1f} s, after a kill {wait['kill']:.1f} s"
ax.set_title(title)
charts.show(ax, f"Leader maps and in-sync replicas through faults and returns. {title}.")

# %% tags=["proof", "A87", "B99", "C32", "R11", "R13", "R36"]
assert silent == {"pause", "cut", "kill"}  # the three returns moved no leader
assert 1.5 < moves["kill"] < 9  # a session lasts three seconds
assert (verdict.acknowledged, verdict.lost, verdict.duplicated) == (verdict.sent, [], []), verdict

# %% [markdown]
# To come back moves no leader. A stop tells the controller first, so the leaders move before the
# process ends. In the other three everybody goes on naming broker 0, and sending to it, until its
# session is over. To the controller all three are the same: silence. It cannot know whether a
# broker is dead, frozen or cut off, so it does what is right for each: a new leader, and a new
# epoch that shuts the old one out. Of the records that waited for all in-sync replicas none is
# missing, and none is there twice.

# %% [markdown]
# ## Seven claims
#
# The claims of lesson 01 were about one broker. These are about several.
#
# 1. A topic with three copies loses nothing that is acknowledged.
# 2. ZooKeeper elects leaders, and tells producers when one has failed.
# 3. When a broker starts, producers find it and send to it at once.
# 4. A producer never hears what became of a record.
# 5. A write goes to the operating system's memory, and the answer does not wait for the disk.
# 6. A consumer may go to any offset, back or forth.
# 7. A consumer fetches many records with one request.

# %% [markdown]
# Before you run the next cell: judge by what you have seen, and put `True` or `False` in the place
# of each `None`.

# %% tags=["R19"]
killed_at = next(look.began for look in watch.looks if look.during == "kill")
requests = cluster.gateway.frames("Metadata", client_id="steady")
asked = [frame for frame in requests if frame.requested > killed_at]
never_forced = cluster.topic(safes[1]).configs["flush.messages"].value == str(2**63 - 1)
of_the_dead = sum(batch.records for batch in cluster.batches(safes[1], 0, broker=0))
witness.seek(TopicPartition(topic, 1), m15.offset)
claims = {  # number: (your judgement, what this run says)
    1: (None, b"alone" in there),
    2: (None, cluster.quorum().leader != 100 or not asked),
    3: (None, led_again > 0),
    4: (None, steady.config["acks"] == 0),
    5: (None, never_forced and of_the_dead == 10),
    6: (None, next(clients.records_until_end(witness)).value == b"m15"),
    7: (None, 0 < askers["reader"] < 10),  # requests for ten records
}
assert [number for number, (_, holds) in claims.items() if holds] == [5, 6, 7]
right = sum(mine is holds for mine, holds in claims.values())
print(f"{right} of 7 as you judged; after the kill the producer asked {len(asked)} times who leads")
claims

# %% [markdown]
# Three hold. The process of broker 0 was killed and could write nothing more, and its file holds
# all ten: the operating system had them. If *that* dies, what it had not yet written is gone; what
# protects you is the copy on another machine.
#
# The first needs `acks="all"` and a minimum (lesson 08), the fourth is true with `acks=0`. The
# second: a controller elects, and tells no client; this producer asks when a request fails. And a
# broker that starts gets what the controller gives it. That was nothing, until you asked for an
# election.

# %% [markdown]
# ## Seven questions
#
# 1. What keeps a badly written consumer from taking all of a broker: a `"quota"`, or `"nothing"`?
# 2. Whom does a producer wait for, if you set nothing: `"nobody"`, `"leader"`, `"all"`?
# 3. Every broker with a copy is dead. Who leads: `"another"`, or `"nobody"`?
# 4. Why do batches matter? A batch of `steady` held at most `"one"` record, or `"many"`?

# %% [markdown]
# 5. What was Kafka made for? For more than one machine can take. How many brokers led a part of
#    your topic?
# 6. What has been new since 2017? Of numbered batches, a controller of Kafka's own and eligible
#    leader replicas, how many does this cluster use?
# 7. Which promise has `steady` kept: `"at most once"`, `"at least once"`, `"exactly once"`?
#
# Before you run the next cell, put your answers in the place of each `None`. The cell also gives
# the client `greedy` a **quota**: a thousand bytes a second from each broker.


# %%
def told_to_wait():
    greedy.poll(timeout_ms=100)
    milliseconds = greedy.metrics()["consumer-metrics"]["throttle-time-max"]
    return milliseconds if milliseconds > 0 else None


rule = "--bootstrap-server {bootstrap} --alter --client greedy --add-config consumer_byte_rate=1000"
cluster.tool("kafka-configs", *rule.split())
own = {"client_id": "greedy", "auto_offset_reset": "earliest"}
greedy = KafkaConsumer(topic, bootstrap_servers=cluster.address, **quick.consumer | own)
braked = wait_until(told_to_wait, timeout=15, what="the broker to slow the reader down")
batches, own = cluster.batches(topic, 1), cluster.quorum().leader == 100
answers = {  # number: (yours, what this run says)
    1: (None, "quota" if braked else "nothing"),
    2: (None, {0: "nobody", 1: "leader", -1: "all"}[steady.config["acks"]]),
    3: (None, "nobody" if leaders[1] is None else "another"),
    4: (None, "many" if max(batch.records for batch in batches) > 1 else "one"),
    5: (None, len(leads)),
    6: (None, sum((max(batch.producer_id for batch in batches) > -1, own, eligible == [0]))),
    7: (None, "exactly once" if verdict.lost == verdict.duplicated == [] else "another"),
}
found = " ".join(str(said) for _, said in answers.values())
print(f"{sum(mine == said for mine, said in answers.values())} of 7 as this run says")
answers

# %% tags=["proof", "B117"]
assert found == "quota all nobody many 3 3 exactly once"

# %% [markdown]
# 1. A quota, for a client id or a user. The broker answers with a time to wait.
# 2. For all in-sync replicas.
# 3. The partition waits for a broker that has all of it, here broker 0. Where there are other
#    copies, an *unclean* election takes one of them, and may lose records (lesson 08).
# 4. One request, one write, one compression for many. While a leader was missing, records gathered.
# 5. For many records a second and a short way for each, on many brokers, safely, for all uses.

# %% [markdown]
# 6. Numbered batches and transactions (lesson 09); later, controllers of Kafka's own and eligible
#    leader replicas.
# 7. At most once: sent, and not asked about. At least once: sent again until it is acknowledged.
#    Exactly once in the log: the same with numbers, by which a broker knows what it has. None of
#    your records with `acks="all"` is missing, and none is there twice.

# %% [markdown]
# ## When it goes wrong
#
# Broker 0 is dead, and now broker 1 is stopped. The topic says `min.insync.replicas=2`: with
# `acks="all"` there must be two copies at least. What does a producer hear, and from whom?

# %% tags=["A15", "A90", "B109"]
from kafka.errors import NotEnoughReplicasError

if cluster.state(1) == "running":
    cluster.stop(1)
cluster.wait_for_isr(topic, 1)
assert cluster.topic(safes[2]).partitions[0].leader is None  # two copies, two losses
assert cluster.topic(safes[3]).records == 10  # three copies, two losses

strict = KafkaProducer(
    bootstrap_servers=cluster.address, retries=0, enable_idempotence=False, **quick.producer
)
try:
    strict.send(topic, value=b"strict", partition=1).get(timeout=10)
except NotEnoughReplicasError as error:
    refusal = error
print(refusal)
print([line for line in cluster.logs(2, 5_000).splitlines() if "min.isr" in line][-1])

scarce, (alone_on_0,) = cluster.topic(topic), cluster.topic(safes[1]).partitions
scarce

# %% tags=["proof", "A15", "A90", "B109"]
assert [n - (n // 2 + 1) for n in (3, 5)] == [1, 2]  # controllers: more than half must live
assert all((one.isr, one.elr) == ([2], [1]) for one in scarce.partitions)
assert not any(one.last_known_elr for one in scarce.partitions)  # each of them has a leader
assert (alone_on_0.leader, alone_on_0.last_known_elr) == (None, [0])

# %% [markdown]
# The client hears *NotEnoughReplicas*; the log of the broker says it in full. *The size of the
# current ISR : 1*: one replica is in sync, the leader. *insufficient to satisfy the min.isr
# requirement of 2*: your setting. *live replica(s) broker.id are : Set(2)*: that one. Nothing was
# written. With its default settings the producer would have tried again until its deadline.

# %% [markdown]
# The table has two new columns. `eligible` are the **eligible leader replicas**, ELR. Below the
# minimum nothing more is acknowledged with `acks="all"`. So broker 1, the last to leave, has every
# record that was promised to be safe, and may lead without loss. Broker 0 left earlier, when two
# others went on without it, and is not on the list.

# %% [markdown]
# `last known` names who led last, where nobody leads now: broker 0 for the topic with one copy. A
# broker that was killed may come back with less than it had, so it is struck from `eligible`. If
# nobody is left, the last one known may lead. Bring broker 0 back.

# %% tags=["R15"]
cluster.restart(0)
cluster.wait_for_isr(topic, 2)
cluster.wait_for_leader(safes[1], 0)
only.seek_to_beginning()
assert len(list(clients.records_until_end(only))) == 10  # they were out of reach, never lost
assert strict.send(topic, value=b"strict", partition=1).get(timeout=10).offset > 0

# %% [markdown]
# ## Try it
#
# Everything above was arranged. Do it by hand now: the panel has a button for each fault, and shows
# who leads and who is in sync. Press one and say what will move before it does.

# %%
from kafkalab import panel

panel.show(cluster)

# %% [markdown]
# - Freeze brokers 0 and 2 while `marks` is written. What is the high watermark, and who may lead?
# - Set `min.insync.replicas` to 3 and stop broker 0. What do producers hear, and what consumers?
# - Let `loner` send with `acks="all"`. What does it hear, and when?

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- The first in-sync broker of the list takes over. {len(predicted)} leaders were predicted,
  {len(moved)} moved, and {led_again} came back before an election.
- With a frozen follower the log ended at {frozen[1].log_end}; a reader got to {high_watermark}.
""")

# %%
waited = ", ".join(f"{fault} {wait[fault]:.1f} s" for fault in ("stop", "pause", "cut", "kill"))
Markdown(f"""
- Epoch {epoch} began at {fork}: broker 0 cut its log there, and {len(alone)} records were gone.
- The longest waits: {waited}.
- Of {len(verdict.acknowledged):,} records with `acks="all"` {len(verdict.lost)} were lost.
""")

# %%
cluster.close()
spark.stop()
