# %% [markdown]
# # 06 Replication
#
# Your records lie on the disks of brokers. When a broker dies, which one takes over, and what does
# a reader see meanwhile? You will kill one while somebody writes and somebody reads. Before that
# you freeze one: that is the quieter accident, and it shows what the copies are for.

# %% [markdown]
# You will
# - read who leads a partition and who has a copy of it,
# - find the offset up to which a reader may read, and say who decides it,
# - predict which broker takes over, and check it,
# - see what a topic with one copy does when its broker is gone. Needs 03 and 04. 25 minutes.

# %% tags=["parameters"]
late = 10  # records that are written while a follower is frozen
# A broker that keeps silent is given up after nine seconds, unless told otherwise. Here after five.
# Leaders that moved stay where they are (lesson 07).
settings = {"broker.session.timeout.ms": 5_000, "auto.leader.rebalance.enable": False}

# %%
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

from kafkalab import Choice, Cluster, Prediction, charts, clients, diagrams, quick, wait_until
from kafkalab.lessons import replication

cluster = Cluster.start("replicated", settings=settings, gateway=True)
cluster

# %% [markdown]
# ## One log on three disks
#
# A copy of a partition is a **replica**. The topic `orders` has six partitions, each in three
# copies. Mostly Kafka decides which broker gets which copy. Here you write the lists yourself, one
# for each partition, to predict by. `marks` and `lone` are for later. The tool
# `kafka-topics` comes with Kafka.

# %%
lists = [[2, 0, 1], [0, 1, 2], [1, 2, 0], [2, 1, 0], [0, 2, 1], [1, 0, 2]]
topics = {
    "orders": {"assignments": dict(enumerate(lists))},
    "marks": {"assignments": {0: [1, 2, 0]}},
    "lone": {"assignments": {0: [0]}},
}
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
admin.create_topics(topics, raise_errors=False)  # a second run of this cell finds them there
for name in topics:
    cluster.wait_for_topic(name)
options = "--bootstrap-server {bootstrap} --describe --topic orders"
print(cluster.tool("kafka-topics", *options.split()))

# %% tags=["proof", "A70", "A148", "B94", "R1"]
orders = cluster.topic("orders").partitions
hosts = {f"{one['host']}:{one['port']}" for one in admin.describe_cluster()["brokers"]}
folders = {cluster.segments("orders", 1, broker)[0].path.parent for broker in cluster.brokers}
led = [one.leader for one in orders]
assert len(hosts) == 3, hosts  # three ports
assert len(folders) == 3, folders  # three disks
assert [one.replicas for one in orders] == lists, orders
assert led == [one[0] for one in lists], led
assert all(sorted(one.isr) == [0, 1, 2] for one in orders), orders
assert cluster.quorum().leader == 100, cluster.quorum()  # a process of its own

# %% tags=["proof", "B95", "C45", "R9"]
from collections import Counter

for copies in (1, 2, 3):
    dealt = cluster.unused(f"dealt-{copies}")
    turns = {n: [n % 3, (n + 1) % 3, (n + 2) % 3][:copies] for n in range(6)}
    admin.create_topics({dealt: {"assignments": turns}})
    cluster.wait_for_topic(dealt)
    shares = Counter(one.leader for one in cluster.topic(dealt).partitions)
    assert shares == {0: 2, 1: 2, 2: 2}, shares

by_kafka = cluster.unused("by-kafka")
admin.create_topics({by_kafka: {"num_partitions": 3, "replication_factor": 3}})
cluster.wait_for_topic(by_kafka)
cluster.wait_for_isr(by_kafka, 3)
leads = {one.leader for one in cluster.topic(by_kafka).partitions}
assert leads == {0, 1, 2}, leads
admin.delete_topics([name for name in cluster.topics() if name.startswith(("dealt", "by-kafka"))])

# %% [markdown]
# A line is a partition. `Replicas` is your list. `Leader` is its first broker: the **leader** does
# the work, for producers write to it and consumers, unless told otherwise, read from it. The others
# are **followers**. `Isr` are the **in-sync replicas**: the leader, and the followers that keep up
# with it: one that lives and is behind for 30 seconds is struck off by the leader. The rest is for
# lesson 07.
#
# Each broker leads two partitions. Kafka deals in this way too, if not always so evenly. Replicas
# can be moved to other brokers while the topic is in use (a later lesson).

# %% [markdown]
# ## A follower stands still
#
# Who carries a record to the followers? The topic `marks` has one partition, led by broker 1. Ten
# records go there, and ten to `lone`; a reader reads those of `marks`. A gateway in front of the
# brokers notes who asks broker 1 for records, or to write some. Before you run the next cell: does
# anybody but your producer and your reader?

# %%
cluster.gateway.clear()  # forget what was noted so far
own = {"client_id": "writer", "acks": 1, "enable_idempotence": False}
writer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer | own)
for number in range(10):
    writer.send("marks", value=b"mark %d" % number).get(timeout=10)
    writer.send("lone", value=b"record %d" % number).get(timeout=10)
own = {"client_id": "reader", "auto_offset_reset": "earliest"}
reader = KafkaConsumer(bootstrap_servers=cluster.address, **quick.consumer | own)
place = TopicPartition("marks", 0)
reader.assign([place])
replication.read_to_the_end(reader, cluster, "marks")
replication.requests_at(cluster, broker=1)

# %% tags=["proof", "B96"]
asked = replication.requests_at(cluster, broker=1)
assert asked["reader: Fetch"] > 0, asked  # the same kind of request
assert asked["broker-0-fetcher-0: Fetch"] > 0, asked
assert asked["broker-2-fetcher-0: Fetch"] > 0, asked
written = len(cluster.gateway.frames("Produce", client_id="writer", broker=2))
assert written == 0, written  # the producer sends to leaders alone

# %% [markdown]
# The followers do. A follower asks as your reader does, with a `Fetch`; one difference you will
# see. In it stands the offset where its copy ends, so the leader knows how far each copy is.
#
# Now you freeze broker 0: its connections stay open, and it does nothing. For five seconds it still
# counts as in sync. Ten more records go to `marks`, with `acks=1`: the producer wants the
# acknowledgement of the leader alone, and gets it. What does the reader get meanwhile?

# %% tags=["prediction"]
my_marks = Prediction("records", "How many of the ten does the reader get?")
my_marks

# %%
replication.read_to_the_end(reader, cluster, "marks")  # three equal copies, and all is read
cluster.pause(0)
for number in range(late):
    receipt = writer.send("marks", value=b"late %d" % number).get(timeout=10)
replication.wait_for_copy(cluster, "marks", broker=2, offset=receipt.offset)
polled = reader.poll(timeout_ms=300)
position = reader.position(place)
high_watermark = reader.end_offsets([place])[place]
ends = cluster.log_ends("marks")
cluster.resume(0)
my_marks.against(sum(len(records) for records in polled.values()))

# %% tags=["proof", "A32", "B97"]
assert polled == {}, polled
assert ends == {0: high_watermark, 1: high_watermark + late, 2: high_watermark + late}, ends
assert receipt.offset == ends[1] - 1, receipt
assert reader.position(place) == high_watermark, reader.position(place)

# %%
wait_until(lambda: reader.end_offsets([place])[place] > receipt.offset, timeout=15, what="more")
reader.seek(place, high_watermark)  # there it is, but where you run this cell again
later = [record.offset for record in clients.records_until_end(reader)]
print(f"now the copies end at {cluster.log_ends('marks')}, and the reader got {len(later)}")
rows = {"broker 1, leader": ends[1], "broker 2": ends[2], "broker 0, frozen": ends[0]}
ax = diagrams.offsets(rows, high_watermark, {"position": position})
title = f"The log ends at {ends[1]}, and a reader gets to {high_watermark}"
ax.set_title(title)
charts.show(ax, f"Three copies of a partition as rows of offsets; one ends early. {title}.")

# %% tags=["proof"]
assert later == list(range(high_watermark, high_watermark + late)), later

# %% [markdown]
# Acknowledged, in two copies, and nobody could read them. Each row is a copy. The frozen one ends
# first, and there the reader stopped. That is the difference: broker 2 got the ten at once, a
# consumer gets no record before all in-sync replicas have it. The first offset that one of them
# lacks is the **high watermark**: the `end_offsets` of lesson 03. How it went on, says the line
# above the picture. (Lesson 08 adds a condition.)
#
# Think of the opposite. A reader gets the ten, and broker 0, which lacks them, is made the leader.
# The reader would know records that do not exist.

# %% [markdown]
# ## Broker 0 dies
#
# Back to the six partitions. `a_round` sends a record to each of them and looks for what can be
# read. As long as a `with` block runs, a `Watch` calls it ten times a second and asks broker 2 who
# leads. A `Ledger` notes what was sent, acknowledged and read.

# %%
from kafkalab import Ledger, Watch

own = {"request_timeout_ms": 20_000, "delivery_timeout_ms": 60_000}  # it may have to wait
steady = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer | own)
witness = KafkaConsumer(
    bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
)
witness.assign([TopicPartition("orders", partition) for partition in range(6)])
before = replication.mended(cluster, "orders")  # broker 0 leads its two, also after a long freeze
watch = Watch(cluster, "orders", asked=2)
ledger = Ledger()
before

# %%
import time
from itertools import count

numbers = count(cluster.topic("orders").records)  # none twice, also where you run this cell again
reads = []  # of each record that was read: its partition, and when


def a_round():
    for partition in range(6):
        number = next(numbers)
        ledger.sent(number, steady.send("orders", value=b"%d" % number, partition=partition))
    for records in witness.poll(timeout_ms=50).values():
        for record in records:
            ledger.read(record)
            reads.append((record.partition, time.time()))


# %% [markdown]
# Broker 0 leads partitions 1 and 4, with the lists 0, 1, 2 and 0, 2, 1. It is killed: its process
# is gone from one moment to the next. Say first who leads them then.

# %% tags=["prediction"]
my_heirs = Choice(
    "Who leads partitions 1 and 4 when broker 0 is dead?",
    "the first of each list that is in sync",
    "broker 1 leads both",
    "nobody, until broker 0 is back",
)
my_heirs

# %% [markdown]
# And the reader? What was under way still arrives. After that, until the cluster gives broker 0 up,
# how many of the six partitions stand still, so that the reader gets nothing new from them?

# %% tags=["prediction"]
my_silent = Prediction("partitions", "How many of the six stand still?")
my_silent

# %%
replication.mended(cluster, "orders")  # also where you run this cell again
reads.clear()
with watch.during("kill", a_round):
    replication.wait_for_reads(reads, partitions=6, more=10)
    killed = time.time()
    cluster.kill(0)
    cluster.wait_for_isr("orders", 2)
    replication.wait_for_reads(reads, partitions=6, more=10)
replication.read_the_rest(witness, ledger)
after = cluster.topic("orders")
verdict = ledger.verdict(cluster)
verdict

# %%
moved = [one.partition for one in after.partitions if one.leader != lists[one.partition][0]]
why = {
    "broker 1 leads both": f"partition 4 went to broker {after.partitions[4].leader}.",
    "nobody, until broker 0 is back": f"{len(moved)} partitions have another leader.",
}
print(my_heirs.against("the first of each list that is in sync", why))
ax = diagrams.replicas({"before": before, "after": after})
heirs = [f"{partition} to broker {after.partitions[partition].leader}" for partition in moved]
title = f"{len(moved)} of 6 leaders moved: partition {', '.join(heirs)}"
ax.set_title(title)
charts.show(ax, f"A row for each broker, a column for each partition. {title}.")

# %% tags=["proof", "A82", "A83", "A84", "R12"]
predicted = [next(broker for broker in brokers if broker != 0) for brokers in lists]
assert [one.leader for one in after.partitions] == predicted, after
assert moved == [1, 4], moved  # the others kept theirs
assert all(sorted(one.isr) == [1, 2] for one in after.partitions), after
assert all(one.replicas == lists[one.partition] for one in after.partitions), after

# %% [markdown]
# The number in a box is the place of the broker in the list, the full box is the leader. Where a
# leader had to be found, it is the smallest number in sync; the others kept theirs. No broker votes
# or compares logs: every in-sync replica has all that a consumer ever got. The **controller**, here
# a process of its own, keeps the lists and the in-sync replicas, and has only to look.

# %%
import pandas as pd
from pyspark.sql import functions as F

from kafkalab import spark_session

spark = spark_session()
read = spark.createDataFrame(pd.DataFrame(reads, columns=["partition", "read_at"]))
gap = F.expr("read_at - lag(read_at) OVER (PARTITION BY partition ORDER BY read_at)")
gaps = read.withColumn("gap", gap).groupBy("partition").agg(F.max("gap").alias("longest"))
silent = gaps.where("longest > 1").toPandas()
print(my_silent.against(len(silent)))
ax = replication.through_a_kill(watch.frame(spark), read, killed)
title = f"{len(moved)} leaders moved, and {len(silent)} partitions stood still"
ax.set_title(f"{title} for at least {silent.longest.min():.1f} s")
charts.show(ax, f"Six strips, one for each partition. {title}; the in-sync replicas fell to 2.")

# %% tags=["proof", "R11", "R36"]
assert len(silent) == 6, silent
assert silent.longest.min() > 3, silent
assert verdict.acknowledged == verdict.sent, verdict
assert verdict.lost == [], verdict
assert verdict.duplicated == [], verdict
assert verdict.unobserved == [], verdict
assert verdict.reread == [], verdict

# %% tags=["proof", "A85"]
m15 = steady.send("orders", value=b"m15", partition=1).get(timeout=10)
m16 = steady.send("orders", value=b"m16", partition=1).get(timeout=10)
wait_until(
    lambda: cluster.topic("orders").partitions[1].end_offset > m16.offset, timeout=5, what="m16"
)
with KafkaConsumer(bootstrap_servers=cluster.address, **quick.consumer) as after_the_loss:
    after_the_loss.assign([TopicPartition("orders", 1)])
    after_the_loss.seek(TopicPartition("orders", 1), m15.offset)
    values = [record.value for record in clients.records_until_end(after_the_loss)]
assert values == [b"m15", b"m16"], values

# %% [markdown]
# The colour is the leader that broker 2 names, a mark is a record that was read. Partitions 1 and 4
# had a dead leader. The other four stood still too: broker 0 has a copy of each, and while it
# counted as in sync, no high watermark could pass the end of that copy. See the lowest line:
# when the controller had given broker 0 up, three in-sync replicas became two, and all went on. To
# the reader it was a pause, then many at once. In the verdict none is *lost*, and none *unobserved*
# (in the log, not read).

# %% [markdown]
# ## When it goes wrong
#
# Broker 0 is still dead. It had the only copy of a topic with ten records, `lone`. Ask Kafka's tool
# for partitions that nobody can use, and a consumer for records.

# %%
options = ["--bootstrap-server", "{bootstrap}", "--describe", "--unavailable-partitions"]
print(cluster.tool("kafka-topics", *options))
only = KafkaConsumer(
    bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
)
only.assign([TopicPartition("lone", 0)])
only.poll(timeout_ms=1_000)

# %% tags=["proof", "R15"]
(without,) = cluster.topic("lone").partitions
assert without.leader is None, without
assert without.isr == [], without
polled = only.poll(timeout_ms=200)
assert polled == {}, polled

# %% [markdown]
# `Leader: none`: nobody is in sync. (In clusters older than Kafka 4.1 the last one stays in `Isr`.)
# The consumer got nothing and *no error*: it waits. It may be up to date, or its partition without
# a leader; the tool tells which. Are the records lost? Start broker 0 again.

# %%
cluster.restart(0)
cluster.wait_for_leader("lone", 0)
cluster.wait_for_isr("orders", 3)
only.seek_to_beginning()
again = list(clients.records_until_end(only))
len(again)

# %% tags=["proof", "R15"]
assert len(again) == cluster.topic("lone").records >= 10, again

# %% [markdown]
# This time none was lost: a process that ends takes nothing along that it has written. A machine
# without power may lose what is not yet on its disk, and a broken disk loses all.

# %% [markdown]
# ## Your turn
#
# 1. Three copies end at different offsets. Broker 0 has been out of sync for minutes. Write the
#    line that computes the high watermark.

# %% tags=["exercise"]
from kafkalab.notebook import exercise

ends_now = {0: 40, 1: 50, 2: 47}  # broker: where its copy ends; broker 1 leads
in_sync = [1, 2]
# BEGIN SOLUTION
# STUB: mark = ...
mark = min(ends_now[broker] for broker in in_sync)
# END SOLUTION
exercise.check("high watermark", mark, replication.not_the_mark)

# %% [markdown]
# 2. Broker 0 is back and in sync, a follower everywhere. Suppose broker 1 dies now. Who leads then?
#    Mind partition 1: its dead leader is the second of its list.

# %% tags=["exercise"]
now = cluster.topic("orders")
print(now)
# BEGIN SOLUTION
# STUB: leaders = ...  # {partition: broker, ...}, for all six
leaders = {0: 2, 1: 0, 2: 2, 3: 2, 4: 2, 5: 0}
# END SOLUTION
exercise.check("heirs", leaders, lambda mine: replication.not_the_leaders(now, lost=1, said=mine))

# %% tags=["proof", "A84", "R12"]
assert [one.leader for one in now.partitions] == [one.leader for one in after.partitions], now
assert all(sorted(one.isr) == [0, 1, 2] for one in now.partitions), now
if cluster.state(1) == "running":
    cluster.kill(1)
cluster.wait_for_isr("orders", 2)
found = {one.partition: one.leader for one in cluster.topic("orders").partitions}
assert found == leaders, found  # partition 1 went to the broker before the dead one of its list

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- A follower asks its leader for records with the same kind of request as a reader.
- With a frozen follower the log ended at {ends[1]}, and a reader got to {high_watermark}: to the
  high watermark, up to which all in-sync replicas have the log.
- The first broker of the list that is in sync takes over: {len(moved)} of 6 leaders moved.
- {len(silent)} partitions stood still for at least {silent.longest.min():.1f} s, while the dead
  broker counted as in sync. With one copy nobody takes over, and a reader hears nothing.
""")

# %%
cluster.close()
spark.stop()
