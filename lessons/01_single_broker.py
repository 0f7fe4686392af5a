# %% [markdown]
# # 01 A single broker
#
# A broker told you: your record is at offset 7. How does a broker keep a record as bytes on a disk,
# find it again, and throw it away? You will open its folder and look.

# %% [markdown]
# You will
# - read a partition's log, batch by batch, from the broker's own file,
# - find a record through the index, and predict what retention deletes and what it spares,
# - find where the broker keeps how far a group has read,
# - meet a group that hangs without an error, and find out why. Needs 00. 35 minutes.

# %% tags=["parameters"]
# A broker looks every five minutes for what it may delete; this one looks five times a second.
settings = {"log.retention.check.interval.ms": 200, "log.initial.task.delay.ms": 200}
# How long are records kept? Two answers that contradict each other. You will see which one wins.
settings |= {"log.retention.hours": 1, "log.retention.minutes": 30}
patience = 4  # seconds to wait for a group that hangs

# %%
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from kafkalab import Cluster, Prediction, charts, quick, spark_session, wait_until

cluster = Cluster.start("single", settings=settings)
cluster

# %% [markdown]
# ## A partition is a file that grows
#
# Each partition has a folder, and in it lies a **log**: a file to whose end the broker appends,
# and in which it never changes a byte. Create a topic with one partition, send one record and look
# into the folder.

# %%
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)


def new_topic(name, **configs):
    """A topic with one partition; where the name is taken, `name-2` or `name-3`."""
    topic = cluster.unused(name)
    admin.create_topics({topic: {"num_partitions": 1, "replication_factor": 1, "configs": configs}})
    cluster.wait_for_topic(topic)
    return topic


trips = new_topic("trips")
producer.send(trips, value=b"trip 00").get(timeout=10)
(segment,) = cluster.segments(trips, 0)
[(path.name, path.stat().st_size) for path in sorted(segment.path.parent.iterdir())]

# %% [markdown]
# Three of the files have a number for a name: the offset of the first record in them. The `.log`
# holds your record. The other two will help to find it; their ten megabytes are reserved, not used.
#
# A producer sends records in **batches**. Send ten records, each after the answer to the one
# before, and then ten more together. How many batches are in the log then?

# %% tags=["prediction"]
my_batches = Prediction("batches")
my_batches

# %%
trips = new_topic("trips")
for number in range(10):
    producer.send(trips, value=b"trip %02d" % number).get(timeout=10)

# It waits for company.
patient = KafkaProducer(bootstrap_servers=cluster.address, linger_ms=5_000, **quick.producer)
for number in range(10, 20):
    patient.send(trips, value=b"trip %02d" % number)
patient.flush(timeout=10)

batches = cluster.batches(trips, 0)  # read from the file; the broker is not asked
my_batches.against(len(batches))

# %% [markdown]
# Twenty records of seven bytes each. Does it matter to the disk how they came?

# %%
spark = spark_session()
rows = [(batch.base_offset, batch.bytes / batch.records) for batch in batches]
sizes = spark.createDataFrame(rows, "offset long, bytes_per_record double")
alone = sizes.where("offset < 10").agg({"bytes_per_record": "avg"}).first()[0]
together = sizes.where("offset = 10").first().bytes_per_record

title = f"Alone a trip takes {alone:.0f} bytes, in a batch of ten {together:.0f}"
ax = sizes.toPandas().plot.bar(x="offset", y="bytes_per_record", legend=False, rot=0, title=title)
ax.set(xlabel="offset of the first record of a batch", ylabel="bytes in the file per record")
charts.show(ax, f"{title}. {len(batches)} bars, one for each batch; the last is the lowest.")

# %% tags=["A8"]
(segment,) = cluster.segments(trips, 0)
assert together < alone / 2

# %% tags=["proof", "A8"]
assert segment.path.name == "00000000000000000000.log"
assert (len(batches), sum(batch.records for batch in batches)) == (11, 20)
assert sum(batch.bytes for batch in batches) == segment.files["log"]  # not a byte besides

# %% [markdown]
# Ten that are sent together are *one* batch. A batch begins with a header of 61 bytes, and a lonely
# record pays for the whole of it. The broker writes the offset into the header and leaves the rest
# alone: the bytes that your producer made are the bytes on the disk, and later the bytes that a
# consumer gets.

# %% [markdown]
# ## How is an offset found again?
#
# A consumer asks for offset 4,321. Batches differ in size, so nobody can compute where that is.
# Reading the file from its beginning would take longer the more there is. So there is an
# **index**: pairs of an offset and a position in the log. Send 5,000 records, about ten to a batch.
# How many pairs does the index hold?

# %% tags=["prediction"]
my_pairs = Prediction("pairs")
my_pairs

# %%
import struct
import time

rides = new_topic("rides")
hasty = KafkaProducer(bootstrap_servers=cluster.address, batch_size=1_200, **quick.producer)
started = time.perf_counter()
for number in range(5_000):
    hasty.send(rides, value=b"ride %04d" % number + b" " * 91)  # 100 bytes
hasty.flush(timeout=30)
seconds = time.perf_counter() - started

index_file = cluster.segments(rides, 0)[0].path.with_suffix(".index")
pairs = [pair for pair in struct.iter_unpack(">ii", index_file.read_bytes()) if any(pair)]
my_pairs.against(len(pairs))

# %% [markdown]
# Not one for each record, and not one for each batch. The broker adds a pair when more than 4,096
# bytes have come since the last one. To find an offset it takes the last pair before it, jumps to
# that position and reads on. How far does it have to read, and how far without the index?

# %%
from pyspark.sql import functions as F

placed = [(batch.base_offset, batch.position) for batch in cluster.batches(rides, 0)]
asked = spark.createDataFrame(placed, "asked long, without_index long")
index = spark.createDataFrame(pairs, "indexed long, jump_to long")
reads = (
    asked.join(index, F.col("indexed") <= F.col("asked"), "left")
    .groupBy("asked", "without_index")
    .agg((F.col("without_index") - F.coalesce(F.max("jump_to"), F.lit(0))).alias("with_index"))
    .orderBy("asked")
)
without_index, with_index = reads.agg(F.max("without_index"), F.max("with_index")).first()
assert {jump_to for _, jump_to in pairs} < {position for _, position in placed}
assert 50 < len(pairs) < len(placed) < 5_000
assert with_index < 3 * 4_096

title = f"The index cuts {without_index / 1000:,.0f} kB of reading to {with_index / 1000:.1f} kB"
ax = reads.toPandas().plot(x="asked", y=["without_index", "with_index"], title=title)
ax.set(xlabel="offset that a consumer asks for", ylabel="bytes read until it is found")
ax.yaxis.set_major_formatter("{x:,.0f}")
charts.show(ax, f"{title}. Without it they grow with the offset; with it they stay low.")

# %% [markdown]
# ## What is thrown away, and when?
#
# A log that only grows would fill the disk. So the broker cuts it into **segments** and throws away
# whole segments from the old end: **retention**. The next topic has small segments of a mebibyte
# and, for now, no limit: `-1`. It gets 300 records of three days ago, 300 of two days ago and 300
# of now, for the sender may say when something happened.

# %%
import os

archive = new_topic("archive", **{"segment.bytes": str(2**20), "retention.ms": "-1"})
limits = cluster.topic(archive).configs
samples, marks, began = [], {}, time.monotonic()


def look():
    """Note the size of every segment; return the first offset that can still be read."""
    now = time.monotonic() - began
    segments = cluster.segments(archive, 0)
    samples.extend((now, segment.base_offset, segment.files["log"]) for segment in segments)
    return cluster.topic(archive).partitions[0].start_offset


for days in (3, 2, 0):
    for number in range(300):
        when = int((time.time() - days * 86_400) * 1000)
        patient.send(archive, value=os.urandom(4_000), timestamp_ms=when)
        if number % 50 == 49:
            patient.flush(timeout=10)
            look()

# %% tags=["proof", "A44"]
assert {limits[name].value for name in ("retention.ms", "retention.bytes")} == {"-1"}

# %% [markdown]
# Now you take the exception away, so that the broker's own limit holds. The parameters name two:
# one hour, and thirty minutes. 600 of the 900 records are older than both. How many does the broker
# delete?

# %% tags=["prediction"]
my_deleted = Prediction("records")
my_deleted

# %% tags=["A42"]
from kafka.admin import ConfigResource

marks["time limit"] = time.monotonic() - began
admin.reset_configs([ConfigResource("TOPIC", archive, ["retention.ms"])])
deleted = wait_until(lambda: look() or None, timeout=15, what="the first segment to go")
assert 0 < deleted < 600, "The archive has been emptied. Fill it again with the cell above."

spared = next(batch for batch in cluster.batches(archive, 0) if batch.base_offset == deleted)
my_deleted.against(deleted)

# %% tags=["proof", "A42"]
assert time.time() - spared.first_timestamp / 1000 > 86_400  # far past its limit, and still there

# %% [markdown]
# Fewer than 600. A segment goes when its *newest* record is too old, and one segment begins with
# records of two days ago and ends with records of now. It stays, all of it, and can be read.
# Retention by time promises that nothing goes too early. It does not promise that it goes on time.

# %% [markdown]
# Which of the two limits was it? The broker says what it chose from, the strongest first.

# %%
broker = ConfigResource("BROKER", "0")
found = admin.describe_configs([broker], include_synonyms=True, config_filter="all")["broker"]["0"]
choice = [(one["name"], one["value"]) for one in found["log.retention.minutes"]["synonyms"]]
choice

# %% tags=["proof", "A45"]
assert choice[:2] == [("log.retention.minutes", "30"), ("log.retention.hours", "1")]
assert cluster.topic(archive).configs["retention.ms"].value == str(30 * 60 * 1000)

# %% [markdown]
# The finer unit wins: milliseconds before minutes before hours. The size has a limit of its own.
# Allow this log 400,000 bytes. How many will it keep?

# %% tags=["A43"]
marks["size limit"] = time.monotonic() - began
admin.alter_configs([ConfigResource("TOPIC", archive, configs={"retention.bytes": "400000"})])
by_size = wait_until(lambda: look() > deleted and look(), timeout=15, what="a segment to go")
kept = sum(segment.files["log"] for segment in cluster.segments(archive, 0))
assert kept >= 400_000, "The archive has been emptied. Fill it again with the cell above."
kept

# %% [markdown]
# More than allowed. To delete one segment more would leave less than the limit, so it stays: this
# limit is a floor, not a ceiling. Last, allow every record one millisecond of life. When all are
# gone, which offset does the next record get?

# %%
from kafkalab.lessons import single_broker

end = cluster.topic(archive).partitions[0].end_offset
marks["one millisecond"] = time.monotonic() - began
admin.alter_configs([ConfigResource("TOPIC", archive, configs={"retention.ms": "1"})])
wait_until(lambda: look() == end, timeout=15, what="every record to go")
after = producer.send(archive, value=b"after the flood").get(timeout=10)
look()
assert after.offset == end  # what retention deletes frees no offset
print(f"the next record got offset {after.offset}")

files = spark.createDataFrame(samples, "seconds double, segment long, bytes long")
ax = single_broker.files_over_time(files, marks=marks)
ax.set_title(f"Time took offsets 0 to {deleted - 1}, size up to {by_size - 1}, then all")
charts.show(ax, f"The segment files while 900 records came and went. {ax.get_title('left')}.")

# %% [markdown]
# ## Who remembers how far you have read?
#
# Reading changes nothing in a log. So something else must know how far a **group** of consumers
# has come. Here are twelve orders. Group a reads six of them and *commits* that place. How many
# orders are there for group b after that?

# %% tags=["prediction"]
my_orders = Prediction("records")
my_orders

# %%
orders = new_topic("orders")
for number in range(12):
    producer.send(orders, value=b"order %02d" % number).get(timeout=10)


def read(group, number):
    reader = KafkaConsumer(
        orders,
        bootstrap_servers=cluster.address,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,  # the place is committed by hand, below
        consumer_timeout_ms=20_000,
        **quick.consumer,
    )
    records = [next(reader) for _ in range(number)]
    reader.commit()
    reader.close()
    return records


a = read(f"{orders}-a", 6)
left = cluster.topic(orders).records
b = read(f"{orders}-b", 9)
my_orders.against(left)

# %% tags=["A12", "A40", "A41"]
committed = {group: cluster.group(f"{orders}-{group}").offsets[orders, 0] for group in "ab"}
end = cluster.topic(orders).partitions[0].end_offset
assert (end, committed) == (12, {"a": 6, "b": 9}), "Group a read on. Fill the orders again."

ax = single_broker.offsets_line(end, committed)
ax.set_title(f"Producer at {end}, group a at {committed['a']}, group b at {committed['b']}")
charts.show(ax, f"One partition as a line of offsets. {ax.get_title('left')}.")

# %% tags=["proof", "A12", "A40", "A41"]
assert a == b[:6]  # a second reader gets the very same records
assert [one.value for one in b] == [b"order %02d" % number for number in range(9)]  # in order

# %% [markdown]
# Every order is there for everyone, in the order of sending, and each group has a number of its
# own: the offset it reads next. Where does the broker keep that number? Let group a read one order
# more. Then ask for all topics, also those that Kafka makes for itself.

# %%
place = cluster.group(f"{orders}-a").offsets[orders, 0]
(one_more,) = read(f"{orders}-a", 1)

offsets = cluster.topic("__consumer_offsets")
offsets

# %% tags=["proof", "A31", "A61"]
assert one_more.offset == place  # a new consumer of the group goes on where the former stopped
assert {offsets.name} == set(cluster.topics(internal=True)) - set(cluster.topics())

# %% [markdown]
# The group went on where it had stopped. And there is a topic that you did not create, with records
# in its ten partitions (fifty by default). Kafka's own console consumer can read them.

# %%
import re

command = "--bootstrap-server {bootstrap} --topic __consumer_offsets --from-beginning"
command += f" --timeout-ms 10000 --max-messages {cluster.topic('__consumer_offsets').records}"
command += " --formatter org.apache.kafka.tools.consumer.OffsetsMessageFormatter"
shown = cluster.tool("kafka-console-consumer", *command.split()).stdout
places = re.findall(r'"group":"(.*?)".*?"offset":(\d+)', shown)
assert [place for group, place in places if group == f"{orders}-a"][:2] == ["6", "7"]
print(shown.partition("}}}")[0] + "}}}")
places

# %% [markdown]
# First one of them as it is, then the group and the place of each. A place is a record too: in a
# topic, in a log, in a folder beside yours. Group a moved on, and its former place is still there,
# before the new one. And who remembers that `orders` exists? There is one more log.

# %% tags=["A10"]
disk = cluster.engine.storage("broker")
(metadata,) = disk.glob("**/__cluster_metadata-0/*0.log")
assert orders.encode() in metadata.read_bytes()  # the record that created the topic

quorum = cluster.quorum()
sorted(path.name for path in metadata.parents[1].glob("*-0"))

# %% tags=["proof", "A10"]
assert (quorum.leader, quorum.epoch > 0, [voter.node for voter in quorum.voters]) == (0, True, [0])
assert not any("zookeeper" in name for name in cluster.broker_configs(0))

# %% [markdown]
# Your records, the places of the groups, the list of topics: three things, and each is a log. The
# last one is kept by a **controller**. Here one process is broker and controller; older versions of
# Kafka kept that list outside, in ZooKeeper. Lesson 17 is about it.

# %% [markdown]
# ## Eight claims
#
# You will read and hear much about Kafka. Some of it was true once, and some is about somebody's
# machines.
#
# 1. It is a queue, and it is publish and subscribe.
# 2. It stands on ZooKeeper.
# 3. A broker keeps no state.
# 4. It takes two million records a second.
# 5. Who commits an offset says that all before it is done.
# 6. ZooKeeper knows how far a group has read.
# 7. Spark can read its topics.
# 8. One broker answers several hundred thousand requests a second.

# %% [markdown]
# Before you run the next cell: judge by what you have seen, and put `True` or `False` in the place
# of each `None`.

# %% tags=["R19"]
from kafkalab import read_topic

rate, requests = (count / seconds for count in (5_000, len(placed)))
on_disk = [len(cluster.batches(name, 0)) for name in (trips, rides, orders)]
claims = {  # number: (your judgement, what this run says)
    1: (None, a == b[:6] and one_more.offset == place),  # b gets all again, a's second the rest
    2: (None, any("zookeeper" in name for name in cluster.broker_configs(0))),
    3: (None, not any(on_disk)),
    4: (None, rate > 2_000_000),
    5: (None, one_more.offset == place),  # one number, and it stands for all before it
    6: (None, f"{orders}-a" not in {group for group, _ in places}),  # that topic is Kafka's own
    7: (None, read_topic(spark, cluster, orders).count() == cluster.topic(orders).records),
    8: (None, requests > 200_000),
}
assert [number for number, (_, holds) in claims.items() if holds] == [1, 5, 7]
right = sum(mine is holds for mine, holds in claims.values())
print(f"{right} of 8 as you judged. {rate:,.0f} records and {requests:,.0f} batches a second")
claims

# %% [markdown]
# Three hold. Within a group each record goes to one member, and every other group gets it again:
# queue and publish-subscribe are two ways to read one log. Claims 2, 3 and 6 come from the time
# when ZooKeeper kept what is now in logs of Kafka's own, on the disk of a broker.
#
# Claims 4 and 8 are neither true nor false of Kafka. They are numbers of somebody's machines.
# Yours, above, are the limits of one producer in Python with batches of 1,200 bytes. A speed
# without its batch size, `acks` and hardware says nothing.

# %% [markdown]
# ## When it goes wrong
#
# The course sets one thing for you that you will meet elsewhere. Start the broker without it and
# send five parcels; all are acknowledged. A consumer in a group asks for them from the beginning.
# How many does it get?

# %% tags=["prediction"]
my_parcels = Prediction("records")
my_parcels


# %%
def five_parcels():
    """A new topic with five acknowledged records, and a consumer in a group to read them."""
    parcels = new_topic("parcels")
    for number in range(5):
        producer.send(parcels, value=b"parcel %d" % number).get(timeout=10)
    return KafkaConsumer(
        parcels,
        bootstrap_servers=cluster.address,
        group_id="drivers",
        auto_offset_reset="earliest",
        **quick.consumer,
    )


def poll_for(seconds, consumer):
    """What comes in so many seconds, or until all five are there."""
    records, end = [], time.monotonic() + seconds
    while len(records) < 5 and time.monotonic() < end:
        records += [one for some in consumer.poll(timeout_ms=500).values() for one in some]
    return records


# %%
cluster = Cluster.start("single", settings={"offsets.topic.replication.factor": 3})
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
driver = five_parcels()
hung = poll_for(patience, driver)
my_parcels.against(len(hung))

# %% [markdown]
# No record and no error: `poll` returns nothing, again and again, as if the topic were empty. So
# ask that first: are the records there? A consumer without a group reads them from the partition
# itself.

# %%
from kafka import TopicPartition

loner = KafkaConsumer(
    bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
)
loner.assign([TopicPartition("parcels", 0)])
there = poll_for(20, loner)
len(there), driver.assignment()

# %% [markdown]
# All there. The second value names the trouble: the consumer in the group was never given a
# partition. Something keeps the group from beginning. The client is silent; is the broker?

# %%
log = cluster.logs(0, lines=20_000).splitlines()
warnings = [line for line in log if " WARN " in line and "__consumer_offsets" in line]
print(f"{len(warnings)} times in {patience} seconds:\n{warnings[-1]}")

# %% [markdown]
# Read it from left to right. *Auto topic creation failed for __consumer_offsets*: with the first
# group the broker wants to make the topic of the committed places. *Unable to replicate the
# partition 3 time(s)*: three copies is what it was told, and three is Kafka's default. *Only 1
# broker(s)*: one broker cannot hold three copies. The client hears "not yet" and asks again, for
# ever. The cure is the setting that the course makes for its single broker.

# %%
cluster = Cluster.start("single", settings={"offsets.topic.replication.factor": 1})
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
mended = poll_for(20, five_parcels())
len(mended)

# %% tags=["proof", "A68"]
assert (len(hung), len(there), len(mended)) == (0, 5, 5)
assert "INVALID_REPLICATION_FACTOR" in warnings[-1]

# %% [markdown]
# ## Try it
#
# - Send the 5,000 rides with `batch_size=16_384`. How many pairs has the index, and why?
# - Fill the archive with the 300 records of now *first*. What does retention delete?
# - Give group b the name of group a. What does it read?

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- Twenty records were {len(batches)} batches, and the file held nothing besides them: alone a record
  took {alone:.0f} bytes, in company {together:.0f}.
- An index of {len(pairs)} pairs found any of 5,000 offsets within {with_index:,} bytes.
- Of 600 records past their limit retention deleted {deleted}; of 400,000 allowed bytes it kept
  {kept:,}. It removes whole segments, never too early, and frees no offset.
- A group's place is a record in `__consumer_offsets`. Where that topic could not be made, the group
  got {len(hung)} of {len(there)} records; the broker's log said why, {len(warnings)} times.
""")

# %%
cluster.close()
spark.stop()
