# %% [markdown]
# # 02 Partitions and keys
#
# A topic has six partitions, on three brokers. You send a ride of a rider, and then the next one.
# Who decides which partition they go to, and does a reader get them in the order of sending? One
# wrong answer, and a receipt overtakes its ride.

# %% [markdown]
# You will
# - compute where a record goes, and check it against what the brokers stored,
# - lose the order of records, and get it back in two ways,
# - move a key to another partition without wanting to, and overload one with a hot key,
# - write a rule of your own that survives a missing leader. Needs 00 and 01. 45 minutes.

# %% tags=["parameters"]
keys = 2_000  # riders, each with a key of its own

# %%
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from kafkalab import Cluster, Prediction, charts, clients, quick, read_topic, spark_session

cluster = Cluster.start("replicated")
cluster

# %% [markdown]
# ## Who decides?
#
# A record may carry a **key**: bytes that say whom or what it is about. Send the first ride of each
# rider, and look at which of six partitions the twelve first went to.

# %%
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
riders = [b"rider %04d" % number for number in range(keys)]


def new_topic(name, partitions):
    """An empty topic with one copy; where the name is taken, `name-2` or `name-3`."""
    topic = cluster.unused(name)
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: {"num_partitions": partitions, "replication_factor": 1}})
    cluster.wait_for_topic(topic)
    return topic


def send_each(topic, sender, value, keys=riders):
    """One record for each key; the partition of each, as the broker acknowledged it."""
    promises = {key: sender.send(topic, key=key, value=value) for key in keys}
    return {key: promise.get(timeout=20).partition for key, promise in promises.items()}


rides = new_topic("rides", 6)
stored = send_each(rides, producer, b"first ride")
[stored[rider] for rider in riders[:12]]

# %% [markdown]
# No pattern to see. Was it chance? A second producer, which knows nothing of the first, sends
# another ride of each rider. Before you run the next cell: how many of them go to another partition
# than the first ride?

# %%
stranger = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
again = send_each(rides, stranger, b"second ride")
strays = [rider for rider in riders if again[rider] != stored[rider]]
assert strays == []
len(again), len(strays)

# %% [markdown]
# Not one. Two producers that never spoke to each other agree on all of them, and no value and no
# earlier record plays a part. So the partition follows from the key alone, and from the number of
# partitions, by a rule that both of them know.

# %% [markdown]
# ## Compute it yourself
#
# The rule is a **hash**: a function that makes a number of any bytes, always the same number of the
# same bytes, and scatters what is alike. Kafka's is called murmur2. It takes the key four bytes at
# a time. Then one bit is set to zero, and the remainder of a division is the partition.

# %%
import ctypes
import struct


def murmur2(key):
    """The hash of Kafka's own clients: 32 bits."""
    mix, keep = 0x5BD1E995, 0xFFFFFFFF
    whole = len(key) - len(key) % 4
    state = 0x9747B28C ^ len(key)
    for (word,) in struct.iter_unpack("<I", key[:whole]):
        word = word * mix & keep
        word = (word ^ word >> 24) * mix & keep
        state = state * mix & keep ^ word
    if key[whole:]:
        state = (state ^ int.from_bytes(key[whole:], "little")) * mix & keep
    state = (state ^ state >> 13) * mix & keep
    return state ^ state >> 15


def partition_of(key, partitions):
    return (murmur2(key) & 0x7FFFFFFF) % partitions


# %% [markdown]
# Before you run the next cell: it adds some odd keys, of 0 to 40 bytes. Is an empty key a key, or
# is it the same as none? Spark reads what the brokers stored, and Python says what it expects.

# %% tags=["A19"]
odd = [bytes(range(length)) for length in range(41)]
send_each(rides, producer, b"odd", odd)
spark = spark_session()
sent = read_topic(spark, cluster, rides).where("value in ('first ride', 'second ride', 'odd')")
log = {(bytes(row.key), row.partition) for row in sent.collect()}
assert log == {(key, partition_of(key, 6)) for key in riders + odd}

# %% [markdown]
# Every key lies in exactly one partition, and it is the one that Python named. The empty key has a
# hash like any other. No broker was asked: the producer computes the partition before it sends.
#
# Why is a bit set to zero before the division? Leave it out. How many of the riders end up in the
# wrong one of six partitions?

# %% tags=["prediction"]
my_unmasked = Prediction("riders")
my_unmasked

# %%
unmasked = sum(murmur2(rider) % 6 != stored[rider] for rider in riders)
of_eight = sum(murmur2(rider) % 8 != partition_of(rider, 8) for rider in riders)
assert of_eight == 0 < keys / 3 < unmasked < keys * 2 / 3
my_unmasked.against(unmasked)

# %% [markdown]
# About half: all those whose hash has the top bit set. With *eight* partitions there would be none,
# for eight divides the value of that bit. Whoever tests a rule with four or eight partitions will
# not find the mistake.
#
# In Java the top bit is the sign, and a negative number is no partition. Why not take the absolute
# value? The next key was searched for a day like this one.

# %%
awkward = b"KGOPCECP"
in_java = ctypes.c_int32(murmur2(awkward)).value  # the same 32 bits, with a sign
absolute = ctypes.c_int32(abs(in_java)).value  # what is left of it in 32 bits
receipt = producer.send(rides, key=awkward, value=b"awkward").get(timeout=10)
in_java, absolute, receipt.partition

# %% tags=["proof", "A139"]
assert (in_java, absolute, receipt.partition) == (-(2**31), -(2**31), 0)

# %% [markdown]
# The smallest number has no positive twin, so its absolute value is negative still. A rule with
# `abs` works for years and fails on one key in four billion. The mask has no such key.

# %% [markdown]
# ## And without a key?
#
# A record without a key may go anywhere. Three clients send 300 each: kafka-python, kafka-python
# with the partitioner that it calls sticky, and Kafka's own console producer, which is written in
# Java. That one also sends 500 records with keys.
#
# Before you run the next cell: over how many of the six partitions does Java spread the 300? And
# does it agree with Python about the 500?

# %%
from kafka.partitioner import StickyPartitioner

calls = new_topic("calls", 6)
sticky = KafkaProducer(
    bootstrap_servers=cluster.address,
    partitioner=StickyPartitioner(),
    linger_ms=5_000,
    **quick.producer,
)
for number in range(300):
    producer.send(calls, value=b"kafka-python %d" % number)
    sticky.send(calls, value=b"sticky %d" % number)
producer.flush(timeout=20)
sticky.flush(timeout=20)

lines = [f"none:java {number}" for number in range(300)]
lines += [f"{rider.decode()}:java" for rider in riders[:500]]
options = "--bootstrap-server {bootstrap} --reader-property parse.key=true "
options += "--reader-property key.separator=: --reader-property null.marker=none "
by_java = cluster.tool(
    "kafka-console-producer", *options.split(), "--topic", calls, stdin="\n".join(lines)
)

# %%
from pyspark.sql import functions as F

called = read_topic(spark, cluster, calls)
keyed = {bytes(row.key): row.partition for row in called.where("key is not null").collect()}

client = F.split(F.col("value").cast("string"), " ")[0]
loose = called.where("key is null").withColumn("client", client)
spread = loose.groupBy("client").agg(F.countDistinct("partition").alias("used")).collect()
used = {row.client: row.used for row in spread}
ax = charts.records_per_partition(loose, by="client")
ax.set_title(f"300 records without a key: {used['kafka-python']} partitions or {used['java']}")
charts.show(ax, f"{ax.get_title('left')}. Only kafka-python fills all alike.")

# %% tags=["proof", "A20", "B76"]
assert keyed == {rider: stored[rider] for rider in riders[:500]}
assert used == {"java": 1, "kafka-python": 6, "sticky": 1}

# %% [markdown]
# With keys Java agrees about every one. Not every client does: librdkafka, on which many others are
# built, hashes with CRC32 unless it is told to use `murmur2_random`. Two such services would put
# one rider in two partitions.
#
# Without a key kafka-python throws dice for each record. Java stays with one partition until about
# a batch of bytes has gone there, then takes another: **sticky**. Over the day both are even. At
# any moment the sticky one fills one batch where dice begin six, and lesson 01 showed what few
# records to a batch cost.

# %% [markdown]
# ## Who wins, you or the key?
#
# `send` also takes a partition. Before you run the next cell: you give the key of a rider, and name
# a partition that is not the one of this key. Where does the record go, and who objects?

# %% tags=["A21"]
home = stored[riders[0]]
elsewhere = (home + 1) % 6
overruled = producer.send(rides, key=riders[0], value=b"named", partition=elsewhere).get(timeout=10)
assert overruled.partition == elsewhere != home

# %% [markdown]
# You win, and nobody objects. The request to the broker names a partition, and the broker appends.
# It never looks at a key to see whether it belongs there. So nothing in the cluster protects the
# rule. It holds as long as *every* producer of a topic keeps it.

# %% [markdown]
# ## What order is promised?
#
# A lift counts its steps from 1 to 130 and reports each. They go round over six partitions, and one
# consumer reads them all. How often is a number smaller than the one before it?

# %% tags=["prediction"]
my_steps_back = Prediction("steps back")
my_steps_back

# %%
from pyspark.sql import Window


def report(topic, place):
    """The lift sends 130 steps; the rows are those of a reader, in the order of arrival."""
    for step in range(1, 131):
        producer.send(topic, value=b"%d" % step, **place(step))
    producer.flush(timeout=20)
    begin = quick.consumer | {"auto_offset_reset": "earliest"}
    reader = KafkaConsumer(topic, bootstrap_servers=cluster.address, **begin)
    read = clients.records_until_end(reader)
    rows = [(number, one.partition, int(one.value)) for number, one in enumerate(read, 1)]
    return spark.createDataFrame(rows, "arrived long, partition long, sent long")


def steps_back(arrivals, *within):
    """How often a number is smaller than the one that arrived before it."""
    before = F.lag("sent").over(Window.partitionBy(*within).orderBy("arrived"))
    return arrivals.withColumn("before", before).where("sent < before").count()


arrivals = report(new_topic("lift", 6), lambda step: {"partition": step % 6})
across, inside = steps_back(arrivals, F.lit(0)), steps_back(arrivals, "partition")
my_steps_back.against(across)

# %% tags=["A22", "A64"]
assert arrivals.count() == 130
ax = charts.scatter_by_class(arrivals, x="arrived", y="sent", by="partition")
ax.set(xlabel="place in the order of arrival", ylabel="place in the order of sending")
ax.set_title(f"{across} steps back across partitions, {inside} inside one")
charts.show(ax, f"{ax.get_title('left')}. Inside one the points only rise.")

# %% tags=["proof", "A22", "A64"]
assert across > 0 == inside

# %% [markdown]
# Follow one colour: it only rises. A broker appends what comes to a partition in the order in which
# it comes, and a reader gets it in that order. Between two partitions there is no clock and no
# common number. The reader took them one after the other, and on another day it might interleave
# them.
#
# Two ways lead back to one order.

# %% tags=["A41", "A65", "A66"]
one_partition = report(new_topic("one-lane", 1), lambda step: {})
one_key = report(new_topic("one-key", 6), lambda step: {"key": b"lift 7"})
assert one_key.select("partition").distinct().count() == 1
repaired = steps_back(one_partition, F.lit(0)), steps_back(one_key, F.lit(0))

# %% tags=["proof", "A41", "A65", "A66"]
assert repaired == (0, 0)

# %% [markdown]
# With one partition *everything* is in order, and one broker does all the work. With a key the
# steps of one lift are in order, and other lifts go elsewhere. The second is what keys are for:
# choose as key whatever must not be overtaken by its own kind.

# %% [markdown]
# ## More partitions
#
# Six are not enough any more, so you add two. The topic goes on without a pause. For how many of
# the riders does the next ride go to another partition than the first?

# %% tags=["prediction"]
my_movers = Prediction("riders")
my_movers

# %%
growing = new_topic("growing", 6)
older = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
before = send_each(growing, older, b"first ride")
with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
    admin.create_partitions({growing: 8})
cluster.wait_for_topic(growing, partitions=8)

newer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
after = send_each(growing, newer, b"next ride")
assert all(after[rider] == partition_of(rider, 8) for rider in riders)
movers = [rider for rider in riders if after[rider] != before[rider]]
late = older.send(growing, key=movers[0], value=b"late").get(timeout=10).partition
assert late == before[movers[0]] != after[movers[0]]
my_movers.against(len(movers))

# %% [markdown]
# Not two eighths of them but about three quarters: a remainder of eight has little to do with a
# remainder of six. The old rides stayed where they were, so the movers have records in two
# partitions. A reader may see the receipt before the ride.

# %%
moved = read_topic(spark, cluster, growing).withColumn("ride", F.col("value").cast("string"))
homes = moved.groupBy("key").agg(F.countDistinct("partition").alias("homes"))
assert homes.where("homes = 2").count() == len(movers) > keys / 2
ax = charts.records_per_partition(moved.where("ride <> 'late'"), by="ride")
ax.set_title(f"Two partitions more, and {len(movers):,} of {keys:,} keys have moved")
charts.show(ax, f"{ax.get_title('left')}. First rides lie in six, the next in eight.")

# %% [markdown]
# And the first producer? Near its end the cell let it send one more ride, of a rider who had moved,
# and it went to the old partition. Nobody told the first producer: it asks the cluster for the
# partitions every five minutes (`metadata_max_age_ms`). So long two producers disagree about one
# key, and both are right by what they know. A topic whose keys matter gets enough partitions on its
# first day, or a successor with more partitions, into which its records are copied.

# %% [markdown]
# ## A hot key
#
# A hash spreads keys, not records. Of 1,000 orders 600 come from one shop, the rest from forty
# others. They go to a topic of 6 partitions, to one of 60, and to a second one of 6 with a number
# from 0 to 5 at the end of each key, a **salt**. Which share of all orders does the busiest of the
# 60 get?

# %% tags=["prediction"]
my_share = Prediction("percent")
my_share

# %%
shops = [b"shop 00"] * 600 + [b"shop %02d" % (1 + number % 40) for number in range(400)]
few, many, salted = new_topic("orders", 6), new_topic("orders-60", 60), new_topic("salted", 6)
for number, shop in enumerate(shops):
    for topic in (few, many):
        producer.send(topic, key=shop, value=b"order")
    producer.send(salted, key=shop + b"-%d" % (number % 6), value=b"order")
producer.flush(timeout=20)

orders = read_topic(spark, cluster, f"{few},{salted}").groupBy("topic", "partition").count()
orders = orders.toPandas()
shares = (orders.groupby("topic")["count"].max() / 10).to_dict()  # of 1,000, in percent
ends = [one.end_offset for one in cluster.topic(many).partitions]  # as the brokers tell them
shares[many] = max(ends) / 10
assert [sum(ends), *orders.groupby("topic")["count"].sum()] == [len(shops)] * 3
assert shares[few] >= shares[many] >= 60 > shares[salted]
print(my_share.against(shares[many]))
ax = charts.records_per_partition(orders, by="topic", records="count")
title = f"Of all orders one partition holds {shares[few]:.0f} %; with salt {shares[salted]:.0f} %"
ax.set_title(title)
charts.show(ax, f"{title}. Six partitions each, without and with salt.")

# %% [markdown]
# Ten times the partitions, and still more than half in one: a key cannot be split, so more
# partitions do not help. One broker writes them, and one member of a group reads them.
#
# What helps is another key: with the salt no partition has that much. The price: a shop's orders
# are in order no more.

# %% [markdown]
# ## A rule of your own
#
# Eight stocks, three partitions, the stock is the key. Before you run the next cell: how many of
# the three stay empty, and is that bad luck or a mistake?

# %%
stocks = [b"IBM", b"SUN", b"GOOG", b"INEL", b"UBER", b"ABC", b"XYZ", b"DEF"]
default = send_each(new_topic("quotes", 3), producer, b"68.37", stocks)
default

# %% tags=["proof", "A159"]
assert sorted(default.values()) == [0, 0, 0, 0, 2, 2, 2, 2]
assert {stock for stock in stocks if default[stock] == 2} == {b"IBM", b"SUN", b"UBER", b"XYZ"}

# %% [markdown]
# Luck: a few keys need not fill all partitions. And two stocks, IBM and UBER, are so important that
# they shall not wait behind others. They get the last partition for themselves; the others share
# the rest. A **partitioner** is an object that the producer asks for each record.

# %%
from kafka.partitioner import Partitioner


class ImportantStocks(Partitioner):
    """The last partition is for the stocks that are named."""

    def __init__(self, names):
        self.important = set(filter(None, names.split(",")))

    def partition(self, topic, key, serialized_key, value, serialized_value, cluster):
        if serialized_key is None:
            raise ValueError("a price needs a key: the name of its stock")
        last = len(self.known(cluster, topic)) - 1
        if serialized_key.decode() in self.important or last == 0:
            return last
        return partition_of(serialized_key, last if self.important else last + 1)

    def known(self, cluster, topic):
        return cluster.partitions_for_topic(topic)


# %% tags=["A137"]
prices, rule = new_topic("prices", 3), ImportantStocks("IBM,UBER")
trader = KafkaProducer(bootstrap_servers=cluster.address, partitioner=rule, **quick.producer)
send_each(prices, trader, b"68.37", stocks)
found = {bytes(row.key): row.partition for row in read_topic(spark, cluster, prices).collect()}
assert found == {s: partition_of(s, 2) for s in stocks} | {b"IBM": 2, b"UBER": 2}

# %% [markdown]
# Spark found IBM and UBER in partition 2, and nobody else there.
#
# Before you run the next cell, think of its edges. What should it do with one partition, without an
# important stock, with a stock that nobody knows, without a key?


# %%
def goes_to(topic, names, key):
    """The partition that a producer with these important stocks chooses."""
    rule = ImportantStocks(names)
    sender = KafkaProducer(bootstrap_servers=cluster.address, partitioner=rule, **quick.producer)
    return sender.send(topic, key=key, value=b"1").get(timeout=10).partition


narrow = new_topic("narrow", 1)
assert goes_to(narrow, "IBM,UBER", b"IBM") == goes_to(narrow, "IBM,UBER", b"SUN") == 0
assert goes_to(prices, "", b"IBM") == default[b"IBM"]  # nobody important: all three are shared
assert goes_to(prices, "IBM,UBER", b"NEVER HEARD OF") < 2
assert goes_to(prices, "IBM,UBER", awkward) == 0
try:
    goes_to(prices, "IBM,UBER", None)
except ValueError as error:
    refusal = str(error)
assert "needs a key" in refusal

# %% [markdown]
# One edge is left, and it needs a broken cluster. A client can also ask which partitions have a
# leader at the moment: `available_partitions_for_topic`. That sounds like the better question. Stop
# the broker of the important partition and send IBM with both rules.
#
# Before you run the next cell: which of the two would you rather have?


# %% tags=["A138"]
class Hasty(ImportantStocks):
    def known(self, cluster, topic):
        return cluster.available_partitions_for_topic(topic)


keeper = cluster.topic(prices).partitions[2].leader
cluster.stop(keeper)
patient = {"delivery_timeout_ms": 60_000}  # longer than the broker is away
steady = KafkaProducer(
    bootstrap_servers=cluster.address,
    partitioner=ImportantStocks("IBM,UBER"),
    **quick.producer | patient,
)
hasty = KafkaProducer(
    bootstrap_servers=cluster.address, partitioner=Hasty("IBM,UBER"), **quick.producer | patient
)
promise = steady.send(prices, key=b"IBM", value=b"68.40")
mixed_in = hasty.send(prices, key=b"IBM", value=b"68.39").get(timeout=20).partition
waited = not promise.is_done

cluster.restart(keeper)
in_place = promise.get(timeout=30).partition
assert (mixed_in, waited, in_place) == (1, True, 2)

# %% [markdown]
# The hasty rule never waits. It counted two partitions, took the last of them, and put IBM among
# the ordinary stocks, with no error. The steady one waited for the broker and kept the promise. A
# rule that depends on who is up today is no rule. Count all partitions.

# %% [markdown]
# ## Four questions
#
# 1. Does the broker choose the partition of a record?
# 2. Has every record with the same key gone to the same one of six partitions, unless you named
#    another?
# 3. Without a key, do all clients go by the same rule?
# 4. May a producer run ahead of those who read?
#
# The next cell sends 32 records, and two groups read some of them. Before you run the one after it:
# put `True` for yes or `False` for no in the place of each `None`.

# %%
from kafka import TopicPartition

feed = new_topic("feed", 3)
for partition, end in enumerate((12, 9, 11)):
    for number in range(end):
        producer.send(feed, partition=partition, value=b"%d" % number).get(timeout=10)

places = {"map": (9, 9, 8), "bills": (6, 5, 7)}
groups = {name: f"{feed}-{name}" for name in places}
begin = {"auto_offset_reset": "earliest", "consumer_timeout_ms": 20_000}
for name, ends in places.items():
    reader = KafkaConsumer(
        bootstrap_servers=cluster.address,
        client_id=name,
        group_id=groups[name],
        **quick.consumer | begin,
    )
    for partition, end in enumerate(ends):
        reader.assign([TopicPartition(feed, partition)])
        for _ in range(end):
            next(reader)
        reader.commit()

# %% tags=["A38"]
from kafkalab import diagrams

ends = {one.partition: one.end_offset for one in cluster.topic(feed).partitions}
lag = {name: cluster.group(group).total_lag for name, group in groups.items()}
assert lag == {name: 32 - sum(read) for name, read in places.items()}
answers = {  # number: (your answer, what this run says)
    1: (None, overruled.partition != elsewhere),  # it took what you named
    2: (None, log == {(key, partition_of(key, 6)) for key in riders + odd}),
    3: (None, used["kafka-python"] == used["java"]),
    4: (None, sum(ends.values()) == 32 and min(lag.values()) > 0),  # all were sent before a read
}
assert [number for number, (_, yes) in answers.items() if yes] == [2, 4]
right = sum(mine is yes for mine, yes in answers.values())
print(f"{right} of 4 as you answered: {answers}")
ax = diagrams.readers(cluster, feed, list(groups.values()))
ax.set_title(f"The producer is ahead: of 32 records, {lag['bills']} are still to be billed")
charts.show(
    ax,
    f"Three partitions as rows of offsets. The first holds 12 records; one group reads offset 9 "
    f"next, the other offset 6. {ax.get_title('left')}.",
)

# %% [markdown]
# Two are yes. The producer decides. With a key it computes murmur2, masks, and divides. Without a
# key it throws dice here, and stays for a batch in Java. And it may run ahead: it never asks who
# reads. The log takes what comes, each group has a place of its own in each partition, and what
# lies between is the group's **lag**.

# %% [markdown]
# ## When it goes wrong
#
# A partition that does not exist. You can name it yourself, or a rule of yours can: the next one is
# wrong by one. It counts from 1, and partitions count from 0. Which of the two mistakes is found
# sooner?

# %%
try:
    producer.send(feed, key=b"IBM", value=b"68.37", partition=3)
except ValueError as error:
    named = str(error)


class FromOne(Partitioner):
    def partition(self, topic, key, serialized_key, value, serialized_value, cluster):
        return 1 + partition_of(serialized_key, len(cluster.partitions_for_topic(topic)))


deadlines = {"delivery_timeout_ms": 3_000, "request_timeout_ms": 2_000}
wrong_by_one = KafkaProducer(
    bootstrap_servers=cluster.address, partitioner=FromOne(), **quick.producer | deadlines
)
promises = {rider: wrong_by_one.send(feed, key=rider, value=b"1") for rider in riders[:60]}
wrong_by_one.flush(timeout=20)
failed = {rider: promise.exception for rider, promise in promises.items() if promise.failed()}
late_answer = str(failed[min(failed)])
assert sorted(failed) == [rider for rider in riders[:60] if partition_of(rider, 3) == 2]
assert "Unrecognized partition 3" in named
assert "partition=3" in late_answer
print(f"{named}\n\n{len(failed)} of {len(promises)}: {late_answer}")

# %% [markdown]
# The first sentence comes at once and says everything. The client compares the number with what it
# knows of the topic; no broker was asked.
#
# Read the second from its end. *Since batch creation*: the clock starts at `send`. The milliseconds
# before that are 3000 or a few more: it hoped for so long that this partition would appear; by
# default it hopes for two minutes. *partition=3*: there are 0, 1 and 2. The others arrived, in
# wrong places and without a word. What a partitioner returns is checked by nobody.

# %% [markdown]
# ## Try it
#
# - Double the six partitions instead of adding two. How many keys move, and why so many fewer?
# - Send the 300 calls with the sticky producer and `linger_ms=0`. How many partitions does it use?
# - Report the steps of the lift from two producers at once, with one key. What order is left?

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- The producer computes the partition: murmur2 of the key, top bit masked, modulo the number of
  partitions. Python and the brokers agreed on {keys + len(odd):,} keys, and Java on those that it
  was given; without the mask {unmasked:,} would be wrong.
- Inside a partition order is kept ({inside} steps back), across partitions it is not ({across}).
  One partition or one key brings it back.
- Two partitions more moved {len(movers):,} of {keys:,} keys and left their old records behind. A
  shop with more than half of the orders kept {shares[many]:.0f} % in one of 60 partitions; salted
  the fullest had {shares[salted]:.0f} %.
- A rule of your own counts all partitions and returns one that exists: {len(failed)} records of
  {len(promises)} waited for a partition that never came.
""")

# %%
cluster.close()
spark.stop()
