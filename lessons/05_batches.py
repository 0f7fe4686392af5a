# %% [markdown]
# # 05 Batches
#
# One more record costs next to nothing, if it travels with others. So a producer lets records wait
# for company. What does it cost to send one more record: in time, in bytes, and in memory when
# nobody takes them?

# %% [markdown]
# You will
# - say when a batch leaves, and what leaves with it,
# - choose `linger_ms` and `batch_size` by what they cost *one record*,
# - see how many bytes a codec saves, and why batches help it,
# - bound what waits in the memory of a program. Needs 00, 02 and 04. 25 minutes.

# %% tags=["parameters"]
records = 200  # for each pair of settings

# %%
import itertools

from pyspark.sql import functions as F

from kafkalab import Choice, Cluster, Ledger, Prediction, charts, quick, spark_session
from kafkalab.lessons import batches
from kafkalab.notebook import exercise

spark = spark_session()
cluster = Cluster.start("replicated", gateway=True)
cluster

# %% [markdown]
# ## When does a batch leave?
#
# `send` puts a record into a **batch**: records of one partition that travel together and are
# stored together. It leaves when it is full (`batch_size`, in bytes) or when its time is up. The
# time that it waits for company is called **linger** (`linger_ms`).
#
# This page says where each partition lies: `new_topic("prices", 0)` makes one, led by broker 0, and
# with no copy elsewhere.

# %%
from kafka import KafkaAdminClient, KafkaProducer

admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)


def new_topic(name, *leaders, copies=1, **configs):
    topic = cluster.unused(name)  # `name-2` where the name is taken
    places = {n: [(leader + c) % 3 for c in range(copies)] for n, leader in enumerate(leaders)}
    admin.create_topics({topic: {"assignments": places, "configs": configs}})
    cluster.wait_for_topic(topic)
    return topic


# %% [markdown]
# Three bursts go to one partition: 60 prices of 100 bytes; when they are through five more; when
# they are through one of 3,000 bytes. A batch has room for 2,000 bytes, and lingers for half a
# second. In how many batches will the 66 records travel?

# %% tags=["prediction"]
my_batches = Prediction("batches")
my_batches

# %%
import time

prices = new_topic("prices", 0)
settings = quick.producer | {"batch_size": 2_000, "linger_ms": 500, "client_id": prices}
producer = KafkaProducer(bootstrap_servers=cluster.address, **settings)
producer.partitions_for(prices)  # asks for the metadata, so that no send has to
sent = []
for burst in ([100] * 60, [100] * 5, [3_000]):
    for size in burst:
        sent.append(time.time())
        last = producer.send(prices, value=bytes(size))
    last.get(timeout=10)

# %%
stored = cluster.batches(prices, 0)
left = [frame.requested for frame in cluster.gateway.frames("Produce", client_id=prices)]
print(my_batches.against(len(stored)))
ax = batches.departures(dict(enumerate(sent)), stored, left, batch_size=2_000)
full = sum(batch.bytes > 1_800 for batch in stored)
title = f"{full} of {len(stored)} batches left because they were full"
ax.set_title(title)
charts.show(ax, f"{title}. A bar for each batch, from its first record until it left.")

# %% tags=["proof", "A121", "A123"]
assert len(left) == len(stored) == 6, (left, stored)  # one partition: each batch is a request
assert left[0] - sent[0] < 0.5, left[0] - sent[0]  # full: at once, whatever the linger
assert left[4] - sent[60] >= 0.5, left[4] - sent[60]  # not full: after its time
assert stored[-1].records == 1, stored[-1]
assert stored[-1].bytes > 3_000, stored[-1]
assert left[5] - sent[65] < 0.5, left[5] - sent[65]

# %% [markdown]
# Each tick on top is a record, each bar below it a batch. A full one does not care about linger;
# here it waits at most for the answer to the one before. What does not fill one waits out its time.
# And the record of 3,000 bytes was not refused: it got a batch of its own, which was full with one
# record. `batch_size` is an aim, no limit. `flush` and `close` send everything off at once.

# %% [markdown]
# ## Who goes along?
#
# That was one partition. Now there are four: 0, 1 and 2 are led by broker 0, and 3 by broker 1.
# Each of the last three has one record that waits, with a linger of five seconds. Then partition 0
# gets twenty, which is more than a batch holds.

# %% tags=["prediction"]
my_company = Choice(
    "The batch of partition 0 is full. What leaves at once?",
    "that batch alone",
    "that batch and those of partitions 1 and 2",
    "the batches of all four partitions",
)
my_company

# %%
from kafkalab.lessons.batches.buffers import buffers

shared = new_topic("shared", 0, 0, 0, 1)
settings = quick.producer | {"batch_size": 2_000, "linger_ms": 5_000, "client_id": shared}
producer = KafkaProducer(bootstrap_servers=cluster.address, **settings)
cluster.gateway.hold_requests("Produce", client_id=shared)  # so that we can look while it is away
for partition in (1, 2, 3):
    producer.send(shared, value=bytes(100), partition=partition)
for _ in range(20):
    producer.send(shared, value=bytes(100), partition=0)
cluster.gateway.wait_for_request("Produce", client_id=shared)
held = buffers(producer, shared)

# %%
(request,) = cluster.gateway.frames("Produce", client_id=shared)
away = sorted(batch.partition for batch in request.batches)
seen = f"The request to broker {request.broker} carries batches of partitions {away}."
print(my_company.against(my_company.answers[1], dict.fromkeys(my_company.answers[::2], seen)))
ax = batches.inside(held, batch_size=2_000)
title = f"One full batch took {len(away) - 1} others of its broker along"
ax.set_title(title)
charts.show(ax, f"{title}. For each partition what waits and what is in flight: {held}.")

# %% tags=["proof", "A123"]
assert away == [0, 1, 2], away
assert request.broker == 0, request.broker
assert [buffer.records_waiting for buffer in held] == [3, 0, 0, 1], held
assert [buffer.records_in_flight for buffer in held] == [17, 1, 1, 0], held
cluster.gateway.heal()
producer.flush(timeout=10)
assert cluster.topic(shared).records == 23, cluster.topic(shared).records

# %% [markdown]
# A frame is a batch, coloured as far as it is full, with the number of its records. A request goes
# to a broker and not to a partition. As soon as one batch makes a request worth while, the broker's
# other batches travel with it, however young they are. So linger is the longest wait *for company*,
# and the more partitions share a broker, the shorter it is. Partition 3 has another leader, and
# waits.

# %% [markdown]
# ## What does company cost one record?
#
# Records trickle now, about one a millisecond. With a linger of 200 ms and room for all of them:
# how many milliseconds pass, for half of the records, from `send` to the acknowledgement?

# %% tags=["prediction"]
my_wait = Prediction("milliseconds")
my_wait

# %%
pairs = list(itertools.product((0, 20, 200), (0, 1_024, 65_536)))
trickle = new_topic("trickle", *[0] * 10, copies=3)
ledger = Ledger()
alone = quick.producer | {"batch_size": 0}
with KafkaProducer(bootstrap_servers=cluster.address, **alone) as sender:
    for _ in range(300):  # Java grows quicker with practice: so that the first pair is not slow
        sender.send(trickle, value=b"practice", partition=9)
for partition, (linger, size) in enumerate(pairs):
    settings = quick.producer | {"linger_ms": linger, "batch_size": size, "client_id": trickle}
    with KafkaProducer(bootstrap_servers=cluster.address, **settings) as sender:
        sender.send(trickle, value=b"first", partition=9).get(timeout=10)  # pays for the id
        for number in batches.each_millisecond(records):
            ledger.sent(number, sender.send(trickle, value=bytes(100), partition=partition))

# %%
waits = ledger.frame(spark).groupBy("partition").agg(F.median("latency_ms"))
half = dict(waits.collect())
company = {n: records / len(cluster.batches(trickle, n)) for n in half}
print(my_wait.against(half[8]))
rows = [(*pairs[n], company[n], half[n]) for n in half]
table = spark.createDataFrame(rows, ["linger_ms", "batch_size_bytes", "records", "wait_ms"])
measures = {"records": "records in a batch", "wait_ms": "ms that half of the records waited"}
ax = batches.settings_grids(table, "linger_ms", "batch_size_bytes", measures)
title = f"Company for {company[8]:.0f} costs {half[8]:.0f} ms; no company costs {half[0]:.0f} ms"
ax.figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
charts.show(ax, f"{title}. Linger, batch size, records in a batch, milliseconds: {rows}.")

# %% tags=["proof", "A122", "A124", "B77"]
assert max(half[2], half[5]) < half[8], half  # light load: latency rises with linger
assert company[0] == company[3] == company[6] == 1, company  # room for one: no batching
assert company[1] < company[8], company
assert half[0] > half[2], half
requests = cluster.gateway.frames("Produce", client_id=trickle)
for one, after in itertools.pairwise(requests):  # never two of a partition at once
    assert one.answered <= after.requested, (one, after)

# %% tags=["proof", "A125", "A151"]
queued = {}
for linger in (0, 200):
    counted = new_topic("counted", 0)
    settings = quick.producer | {"linger_ms": linger, "batch_size": 65_536}
    with KafkaProducer(bootstrap_servers=cluster.address, **settings) as sender:
        sender.send(counted, value=b"first").get(timeout=10)
        for _ in batches.each_millisecond(100):
            sender.send(counted, value=bytes(100))
        sender.flush(timeout=10)
        told = sender.metrics()["producer-metrics"]
    in_file = 101 / len(cluster.batches(counted, 0))
    assert abs(told["records-per-request-avg"] / in_file - 1) < 0.1, (told, in_file)
    queued[linger] = 1_000 * told["record-queue-time-max"]  # it says ms and counts seconds
assert queued[0] < 200 <= queued[200] < 10_000, queued

# %% [markdown]
# Not 200 ms: who comes early waits long, who comes last hardly at all. On the left you see what the
# wait buys, a batch instead of a request for each. On the right what it costs.
#
# The lowest row is the surprise. Without company each record is a request of its own, whatever the
# linger. With idempotence on, this client has one request of a partition under way at a time
# (Java's up to five on each connection), and the way takes longer than a millisecond. So a queue
# grows, and to refuse company is slow.
#
# Java's producer lingers for 5 ms unless told otherwise (since Kafka 4.0), this one for 0. At 0
# batches form all the same: what comes while a request is under way goes together in the next.

# %% [markdown]
# ## What do the bytes cost?
#
# A producer compresses a whole batch, never a single record, with one of four **codecs**. The
# records are stock prices as JSON: a thousand times the same words with other numbers. Of 100
# bytes, how many will the best codec leave, in batches of 64 KB?

# %% tags=["prediction"]
my_bytes = Prediction("bytes of 100")
my_bytes

# %%
quotes = batches.quotes(1_000)
choices = list(itertools.product((None, "gzip", "snappy", "lz4", "zstd"), (1_024, 65_536)))
packed = new_topic("packed", *[0] * len(choices))
for partition, (codec, size) in enumerate(choices):
    settings = quick.producer | {"compression_type": codec, "batch_size": size, "linger_ms": 5_000}
    with KafkaProducer(bootstrap_servers=cluster.address, **settings) as sender:
        for quote in quotes:
            sender.send(packed, value=quote, partition=partition)

# %%
rows = []
for partition, (codec, size) in enumerate(choices):
    stored = sum(batch.bytes for batch in cluster.batches(packed, partition))
    rows.append((codec or "none", f"batches of {size:,} bytes", stored / len(quotes)))
sizes = spark.createDataFrame(rows, "codec string, batches string, bytes double")
table = sizes.groupBy("codec").pivot("batches").avg("bytes").toPandas().set_index("codec")
small, large = (100 * table[name] / table[name]["none"] for name in table)
print(my_bytes.against(large.min()))
title = f"The best codec leaves {small.min():.0f} %, in large batches {large.min():.0f} %"
ax = table.sort_values(table.columns[-1]).plot.bar(rot=0, ylabel="bytes on disk per record")
ax.set_title(title)
charts.show(ax, f"{title}. Bytes of a record, by codec: {table.round(1).to_dict()}.")

# %% tags=["proof", "A126", "A127", "A128", "B78"]
from kafka import KafkaConsumer

from kafkalab import clients

consumer = KafkaConsumer(
    packed, bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
)
unpacked = sorted((r.partition, r.offset, r.value) for r in clients.records_until_end(consumer))
assert [value for _, _, value in unpacked] == quotes * len(choices), len(unpacked)
for partition, (codec, _) in enumerate(choices):
    found = {batch.codec for batch in cluster.batches(packed, partition)}
    assert found == {codec or "none"}, found
assert (large.drop("none") <= small.drop("none")).all(), table
assert (small.drop("none") < 100).all(), table
by_topic = cluster.topic(packed).configs["compression.type"].value
assert by_topic == "producer", by_topic

# %% tags=["proof", "A128", "A151", "B79"]
own = new_topic("own-codec", 0, **{"compression.type": "gzip"})
packer = KafkaProducer(
    bootstrap_servers=cluster.address, compression_type="snappy", **quick.producer
)
packer.send(own, value=bytes(500)).get(timeout=10)
found = [batch.codec for batch in cluster.batches(own, 0)]
assert found == ["gzip"], found
rate = packer.metrics()[f"producer-topic-metrics.{own}"]["compression-rate"]
assert rate < 1, rate

# %% tags=["proof", "A129"]
tight = new_topic("tight", 0, **{"max.message.bytes": "65536"})
settings = quick.producer | {"batch_size": 200_000, "linger_ms": 200}
many = KafkaProducer(bootstrap_servers=cluster.address, **settings)
halved = [many.send(tight, value=bytes(1_000)) for _ in range(150)]
offsets = [future.get(timeout=10).offset for future in halved]
assert offsets == list(range(150)), offsets  # too large was the batch: it was cut into halves

# %% [markdown]
# What repeats is written once, and a larger batch repeats more. So codec and batch size belong
# together, and the wait for company pays twice. The broker stores a batch as the producer packed
# it, and the consumer unpacks it: bytes are saved on both ways and on every disk. The exception is
# a topic with a `compression.type` of its own: there the broker packs a batch anew that comes with
# another codec.
#
# The price is time on a processor. How much depends on the program that packs, so no number is
# given here: this client's gzip always works at its strongest level, and Java's lets you choose.

# %% [markdown]
# ## When it goes wrong
#
# More comes than leaves: the broker that leads a topic is gone. Where do the records stay? Java's
# producer has a **buffer** of a fixed size for them, `buffer.memory`, 32 megabytes unless told
# otherwise. Here it gets 64 kilobytes, and its `send` may block for a second and a half. Java's own
# measuring program sends 66 records of 1,000 bytes.

# %%
from collections import Counter

away = new_topic("away", 2)
cluster.kill(2)
load = f"--topic {away} --num-records 66 --record-size 1000 --throughput -1"
limits = "buffer.memory=65536 max.block.ms=1500 delivery.timeout.ms=5000 request.timeout.ms=1000"
command = f"--bootstrap-server {{bootstrap}} {load} --command-property {limits}"
java = cluster.tool("kafka-producer-perf-test", *command.split())
cluster.restart(2)
said = java.stderr.splitlines()
print(next(line for line in said if "Failed to allocate" in line))
errors = Counter(line.partition(":")[0].rpartition(".")[2] for line in said)
errors

# %% tags=["proof"]
assert any("Failed to allocate 16384 bytes" in line for line in said), said
assert 1 <= errors["BufferExhaustedException"] <= 2, errors
assert errors.total() == 66, errors  # the others waited for the broker until their time was over

# %% [markdown]
# The buffer held four batches of 16 KB with 16 records each. They waited for the broker until their
# delivery timeout was over. For the others `send` waited for room; where none came, the future
# failed: *Failed to allocate*. So a slow broker makes a Java program slow, not large. Who makes the
# records learns that nobody takes them. This is **back-pressure**. (A full buffer also ends every
# linger: whatever waits may leave.)
#
# > *This client.* kafka-python has no such buffer: its constructor refuses `buffer_memory`. What
# > brokers do not take stays in memory until the delivery timeout, however much it is.

# %% tags=["proof", "A120"]
try:
    KafkaProducer(bootstrap_servers=cluster.address, buffer_memory=33_554_432, **quick.producer)
except ValueError as error:
    refusal = str(error)
assert "buffer_memory" in refusal, refusal

# %% [markdown]
# ## Your turn
#
# Put a bound around a producer that has none. `room` counts the free places. Take one before you
# send, and wait half a second for it at most (`acquire(timeout=0.5)` says whether you got one);
# without one raise a `KafkaTimeoutError`. The check lets no answer come for a while.

# %% tags=["exercise"]
import threading

from kafka.errors import KafkaTimeoutError


class Bounded:
    def __init__(self, producer, limit):
        self.producer = producer
        self.room = threading.Semaphore(limit)

    def send(self, topic, value):
        # BEGIN SOLUTION
        # STUB: ...
        if not self.room.acquire(timeout=0.5):
            raise KafkaTimeoutError("no answer to any of the records on their way")
        # END SOLUTION
        try:
            future = self.producer.send(topic, value=value)
        except Exception:
            self.room.release()  # nothing is on its way
            raise
        return future.add_both(lambda _: self.room.release())


exercise.check("Bounded", Bounded, batches.answers.bounded)

# %% tags=["proof", "A120"]
cluster.gateway.hold_requests("Produce", count=64, client_id="bounded")
silent = KafkaProducer(bootstrap_servers=cluster.address, client_id="bounded", **quick.producer)
around = Bounded(silent, 64)
accepted = []
try:
    for quote in quotes:
        accepted.append(around.send(packed, quote))
except KafkaTimeoutError as error:
    limit = str(error)
cluster.gateway.heal()
assert len(accepted) == 64, len(accepted)
assert "no answer" in limit, limit
topics = {future.get(timeout=10).topic for future in accepted}
assert topics == {packed}, topics

# %% [markdown]
# Records of 100 bytes come to one partition, 1,000 in a second. The producer has a `batch_size` of
# 16,384 and a linger of 20 ms. The broker answers at once and leads no other partition. About how
# many records go in one batch?

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: in_a_batch = ...
in_a_batch = 1_000 * 0.020
# END SOLUTION
exercise.check("in_a_batch", in_a_batch, batches.answers.together)

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- 66 records left in {len(left)} batches: full ones at once, others when their linger was over. A
  full batch took {len(request.batches) - 1} batches of the same broker along.
- Company for {company[8]:.0f} records cost half of them {half[8]:.0f} ms; no company at all cost
  {half[0]:.0f} ms.
- The best codec left {small.min():.0f} % of the bytes in small batches, {large.min():.0f} % in
  large ones.
- Java's full buffer blocked `send`, and then refused {errors["BufferExhaustedException"]} of 66
  records.
""")

# %%
cluster.close()
spark.stop()
