# %% [markdown]
# # 01 A single broker
#
# Your record has an address now. How does a broker keep a record as bytes on a disk, find it again
# among millions, and throw it away one day? You will open the broker's folder and look.

# %% [markdown]
# You will
# - find your record in the broker's own file, and say what else lies beside it,
# - find any of 5,000 records by a short way through the file,
# - lose records that you sent a second ago, and say why,
# - read what a typing error in a topic's name leaves behind.
#
# Needs 00. 25 minutes.

# %% tags=["parameters"]
# A broker looks every five minutes for records that are too old; this one five times a second.
settings = {"log.retention.check.interval.ms": 200, "log.initial.task.delay.ms": 200}

# %%
from kafka import KafkaAdminClient, KafkaProducer

from kafkalab import Choice, Cluster, Prediction, charts, quick, wait_until
from kafkalab.lessons import single_broker

cluster = Cluster.start("single", settings=single_broker.AS_IN_KAFKA | settings)
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
cluster

# %% [markdown]
# ## A partition is a folder
#
# One broker, so one folder to look into. Create a topic with one partition, and send one record.


# %%
def new_topic(name, **configs):
    topic = cluster.unused(name)  # a second run of a cell takes `name-2`
    admin.create_topics({topic: {"num_partitions": 1, "replication_factor": 1, "configs": configs}})
    cluster.wait_for_topic(topic)
    return topic


trips = new_topic("trips")
receipt = producer.send(trips, value=b"to the harbour").get(timeout=10)
f"offset {receipt.offset}"

# %% [markdown]
# The partition has a folder of its own. What lies in it?

# %%
(segment,) = cluster.segments(trips, 0)
for file in sorted(segment.path.parent.iterdir()):
    print(f"{file.stat().st_size:12,} bytes  {file.name}")
segment.path.read_bytes()

# %% tags=["proof", "A8", "B66"]
assert segment.path.name == "00000000000000000000.log", segment
assert {"log", "index", "timeindex"} <= set(segment.files), segment
assert segment.path.read_bytes().count(b"to the harbour") == 1, segment
beside = sorted(segment.path.parent.iterdir())  # as lessons/reference/kafka.md says
assert {".log", ".index", ".timeindex", ".metadata"} <= {file.suffix for file in beside}, beside
assert "leader-epoch-checkpoint" in {file.name for file in beside}, beside

# %% [markdown]
# The **log** of a partition is all its records in order. Here it is one file so far, to whose end
# the broker appends; the name says at which offset the file begins. Below the listing are all its
# bytes, with your record at the end.
#
# Most of the bytes before it are the header of a **batch**: records that were sent together are
# stored together. The broker filled in a few fields there, such as the offset. It left your record
# as the producer made it, and a consumer gets the same. The two index files beside the log have ten
# megabytes reserved, not used. (What the other files hold, and how fast your disk is at appending,
# you find in [Kafka on one page](../lessons/reference/kafka.md).)

# %% [markdown]
# ## How is an offset found again?
#
# A consumer asks for offset 4,300. Batches differ in size, so nobody can compute where that is. To
# go through the file from its beginning takes longer the more there is. So there is an **index**:
# pairs of an offset and a position in the file. The broker adds a pair when more than 4,096 bytes
# have come since the last one. You send 5,000 records of 100 bytes, ten in a batch or fewer. How
# many pairs does the index hold?

# %% tags=["prediction"]
my_pairs = Prediction("pairs")
my_pairs

# %%
rides = new_topic("rides")
hasty = KafkaProducer(bootstrap_servers=cluster.address, batch_size=1_200, **quick.producer)
for number in range(5_000):
    hasty.send(rides, value=b"ride %04d" % number + b" " * 91)
hasty.flush(timeout=30)

batches = cluster.batches(rides, 0)
pairs = single_broker.index_pairs(cluster.segments(rides, 0)[0])
print(f"{len(batches)} batches; the first pairs are {pairs[:3]}")
my_pairs.against(len(pairs))

# %% [markdown]
# A pair is the *last* offset of a batch, and where that batch begins. To find an offset the broker
# takes the last pair that is not larger (or the beginning, if there is none), jumps to that
# position, and goes on from batch to batch by their headers. (The `.timeindex` leads from a time to
# an offset.)
#
# How much of the file does it go through, and how much without the index?

# %%
ways = single_broker.ways(batches, pairs)
without_index = ways["without the index"].max() / 1000
with_index = ways["with the index"].max() / 1000
title = f"The index cuts the longest way from {without_index:,.0f} kB to {with_index:.1f} kB"
ax = ways.plot(x="offset", title=title)
ax.set(xlabel="offset that a consumer asks for", ylabel="bytes of the file to go through")
ax.yaxis.set_major_formatter("{x:,.0f}")
charts.show(ax, f"{title}. Without it they grow with the offset; with it they stay low.")

# %% tags=["proof", "B66"]
assert {jump_to for _, jump_to in pairs} < {batch.position for batch in batches}, pairs
assert {offset for offset, _ in pairs} < {batch.last_offset for batch in batches}, pairs
assert 50 < len(pairs) < len(batches) < 5_000, (len(pairs), len(batches))
assert ways["with the index"].max() < 3 * 4_096, ways["with the index"].max()

# %% [markdown]
# ## What is thrown away, and when?
#
# A log that only grows would fill the disk. So it is cut into files, its **segments** (of a
# megabyte here, of a gigabyte by default), and **retention** deletes from the old end. A sensor was
# offline for three days; now it delivers 300 records with the time of three days ago, and then 300
# of now. All 600 are sent at once.

# %%
import os
import time

archive = new_topic("archive", **{"segment.bytes": str(2**20), "retention.ms": "-1"})  # no limit
looks = single_broker.Looks(cluster, archive)  # notes how large each segment is, for a chart
now = int(time.time() * 1000)
for when in (now - 3 * 86_400_000, now):
    for number in range(300):
        producer.send(archive, value=os.urandom(4_000), timestamp_ms=when)
        if number % 50 == 49:
            producer.flush(timeout=10)
            looks.look()

# %% [markdown]
# Now the topic may keep an hour. (By default it is a week.) How many of the 600 records does the
# broker delete?

# %% tags=["prediction"]
my_deleted = Prediction("records")
my_deleted

# %%
from kafka.admin import ConfigResource

looks.mark("an hour")
admin.alter_configs([ConfigResource("TOPIC", archive, configs={"retention.ms": "3600000"})])
deleted = wait_until(lambda: looks.look() or None, timeout=15, what="the first segment to go")
my_deleted.against(deleted)

# %% tags=["proof", "A42", "A44", "B69", "B71"]
unset = cluster.topic(trips).configs
assert unset["retention.ms"].value == str(7 * 86_400_000), unset["retention.ms"]
assert unset["segment.bytes"].value == str(2**30), unset["segment.bytes"]
assert 0 < deleted < 300, deleted
spared = next(batch for batch in cluster.batches(archive, 0) if batch.base_offset == deleted)
assert now - spared.first_timestamp > 3_600_000, spared  # past its limit, and still there
assert cluster.topic(archive).partitions[0].end_offset == 600, cluster.topic(archive)
folder = cluster.segments(archive, 0)[0].path.parent
assert list(folder.glob("*.log.deleted")), sorted(folder.iterdir())
assert list(folder.glob("*.snapshot")), sorted(folder.iterdir())
assert cluster.topic(archive).configs["retention.bytes"].value == "-1", cluster.topic(archive)

# %% tags=["proof"]
# Whose clock? Of records that the broker dates itself none is too old, whatever a producer said.
own_clock = {"message.timestamp.type": "LogAppendTime", "retention.ms": "3600000"}
stamped = new_topic("stamped", **own_clock, **{"segment.bytes": str(2**20)})
old = now - 3 * 86_400_000
for _ in range(300):
    last = producer.send(stamped, value=os.urandom(4_000), timestamp_ms=old)
last = last.get(timeout=10)
single_broker.wait_for_checks(cluster)  # the broker has been through all its logs
assert cluster.topic(stamped).partitions[0].start_offset == 0, cluster.topic(stamped)
assert last.timestamp - old > 3 * 86_400_000 - 60_000, (last.timestamp, old)

# %% [markdown]
# You sent them a moment ago, and they are gone. For retention the age of a record is the age of its
# timestamp, and that was the producer's claim. (With `message.timestamp.type=LogAppendTime` a topic
# has the broker's clock instead.)
#
# Yet not all 300 are gone. Only whole segments are deleted, and each when its *newest* record is
# too old. The second one begins with records of three days ago and ends with records of now. It
# stays, all of it. So an hour promises neither that a record is there for an hour nor that it is
# gone after one.
#
# Time is one limit, size another, both for each partition; one is enough to delete. Allow the
# archive 200,000 bytes. Will more than that be left, or less?

# %%
looks.mark("200 kB")
admin.alter_configs([ConfigResource("TOPIC", archive, configs={"retention.bytes": "200000"})])
wait_until(lambda: looks.look() > deleted, timeout=15, what="a segment to go")
kept = sum(segment.files["log"] for segment in cluster.segments(archive, 0))

ax = single_broker.files_over_time(looks.frame(), marks=looks.marks)
ax.set_title(f"Time took {deleted} records; size left {kept / 1000:,.0f} kB, not 200")
charts.show(ax, f"Bytes in the log over time, by segment. {ax.get_title('left')}.")

# %% tags=["proof", "A43", "B70"]
by_size = cluster.topic(archive).partitions[0].start_offset
assert kept >= 200_000, kept
assert deleted < by_size < 600, (deleted, by_size)
assert cluster.topic(archive).partitions[0].end_offset == 600, cluster.topic(archive)

# %% [markdown]
# Each colour is a segment, with its first offset. More is left than you allowed: to delete one
# segment more would leave less than the limit. So this limit is a floor, not a ceiling. (Time takes
# the last segment too; an empty one takes its place.)

# %% [markdown]
# ## When it goes wrong
#
# You send a trip to the topic `trps`. One letter is missing, and there is no such topic.

# %% tags=["prediction"]
my_typo = Choice("What comes of it?", "an error", "a dropped record", "a new topic")
my_typo

# %%
mistaken = producer.send("trps", value=b"to the station").get(timeout=10)
my_typo.against(
    "a new topic",
    {
        "an error": f"`send` brought a receipt, for offset {mistaken.offset}.",
        "a dropped record": f"`trps` holds {cluster.topic('trps').records} of them.",
    },
)

# %% [markdown]
# No error. The broker has made the topic that you asked for, with a receipt for the record, and
# whoever reads `trips` waits for it in vain. At work you look into this with Kafka's own programs,
# which lie in its folder `bin`. `cluster.tool` runs one.

# %%
describe = "--bootstrap-server {bootstrap} --describe --topic trps"
print(cluster.tool("kafka-topics", *describe.split()))

# %% tags=["proof"]
described = cluster.tool("kafka-topics", *describe.split()).stdout
assert "PartitionCount: 1" in described, described
assert "ReplicationFactor: 1" in described, described
read = "--bootstrap-server {bootstrap} --topic trps --from-beginning --max-messages 1"
stamps = "--formatter-property print.timestamp=true"
shown = cluster.tool("kafka-console-consumer", *read.split(), *stamps.split()).stdout
assert shown.startswith("CreateTime:"), shown
assert "to the station" in shown, shown

# %% [markdown]
# `kafka-topics --describe` shows what nobody chose: one partition, one copy. (The rest of its words
# come later.) The setting behind this is `auto.create.topics.enable`. It is on in Kafka, and here
# (`AS_IN_KAFKA`). In the other lessons it is off, and there `send` fails after a while, with the
# words of kafka-python that you know from lesson 00: *Failed to update metadata*.

# %% [markdown]
# ## Your turn
#
# Do what the broker does for offset 4,300: find in `pairs` the position to which it jumps.

# %% tags=["exercise"]
from kafkalab.notebook import exercise

# BEGIN SOLUTION
# STUB: jump = ...
jump = max(position for offset, position in pairs if offset <= 4_300)
# END SOLUTION
exercise.check("jump", jump, lambda place: single_broker.jump_problem(place, pairs, 4_300))

# %% [markdown]
# Give every record of the archive one millisecond to live (`alter_configs`, as above). Wait until
# `looks.look()`, the first offset that is left, is `end`. Then send one more. Which offset does its
# receipt have?

# %% tags=["exercise"]
end = cluster.topic(archive).partitions[0].end_offset
# BEGIN SOLUTION
# STUB: after = ...
admin.alter_configs([ConfigResource("TOPIC", archive, configs={"retention.ms": "1"})])
wait_until(lambda: looks.look() == end, timeout=15, what="every record to go")
after = producer.send(archive, value=b"after the flood").get(timeout=10).offset
# END SOLUTION
exercise.check("after", after, lambda got: single_broker.after_problem(got, looks.look(), end))

# %% tags=["proof", "A42", "B69"]
assert jump in {batch.position for batch in cluster.batches(rides, 0)}, jump
assert after == end, (after, end)  # what retention deletes frees no offset
assert cluster.segments(archive, 0)[0].base_offset >= end, cluster.segments(archive, 0)

# %% tags=["proof", "A6", "B65"]
# Why a log is fast, and what the page cache adds: lessons/reference/kafka.md, measured here.
speeds = single_broker.speeds()
assert len(speeds) == 4, speeds
assert min(speeds.values()) > 0, speeds

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- A partition is a folder. Its log holds your records as you sent them, in batches.
- An index of {len(pairs)} pairs leads within {with_index:.1f} kB of any of 5,000 offsets.
- Retention deleted {deleted} records that were sent a moment before: they said that they were
  three days old.
- It deletes whole segments. Where 200 kB were allowed, {kept / 1000:,.0f} kB were left.
- A typing error made a topic, and its record got a receipt: offset {mistaken.offset}.
""")

# %%
cluster.close()
