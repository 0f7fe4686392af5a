# %% [markdown]
# # 04 Producers
#
# `send` comes back within microseconds. No network is that fast. Where is a record between `send`
# and its acknowledgement? Who tells you when it has arrived, and what is left of it if your program
# ends right here?

# %% [markdown]
# You will
# - follow a record from `send` to its acknowledgement, and say at each step what would lose it,
# - choose between waiting, callbacks, batches and codecs by what each costs *one record*,
# - find the failures that `flush` keeps to itself, and bound what waits in memory,
# - end a producer so that nothing is lost. Needs 01 and 02. 45 minutes.

# %% tags=["parameters"]
records = 200  # for each way of sending

# %%
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from kafkalab import Cluster, Ledger, Prediction, charts, clients, quick, spark_session, wait_until

cluster = Cluster.start("replicated", gateway=True)
cluster

# %% [markdown]
# ## What does `send` give you?
#
# A broker stores bytes. Turning a key or a value into bytes is the work of a **serializer**. There
# are two, since key and value may be of different kinds. Here a key is a number: eight bytes, the
# most significant first, as Java writes a `long`. Before you run the next cell: what is the first
# byte of -2?

# %% tags=["A99"]
import struct

from kafka.serializer import DefaultSerializer, JsonSerializer, Serializer


class LongSerializer(Serializer):
    def serialize(self, topic, headers, data):
        return struct.pack(">q", data)


assert LongSerializer().serialize("", [], -2) == b"\xff" * 7 + b"\xfe"

# %% [markdown]
# 255. Read as a plain number, -1 is all bits set, and -2 is one less.
#
# `send` returns a **future**: a promise of the answer. `get` waits for it and hands out the
# receipt. To send each record after the answer to the one before is called *synchronous*.

# %%
import itertools
import time


def new_topic(name, partitions=1, **configs):
    topic = cluster.unused(name)  # where the name is taken, `name-2` or `name-3`
    wanted = {"num_partitions": partitions, "replication_factor": 3, "configs": configs}
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: wanted})
    cluster.wait_for_topic(topic)
    return topic


# %%
def one_by_one(count=5):
    for key in itertools.islice(keys, count):
        began = time.perf_counter()
        future = producer.send(topic, key=key, value=f"hello {key}")
        receipt = ledger.sent(f"one by one {key}", future).get(timeout=10)
        yield key, receipt, (time.perf_counter() - began) * 1000


ledger, start = Ledger(), int(time.time() * 1000)
keys = itertools.count(start)
topic = new_topic("my-example-topic", partitions=13)
types = {"key_serializer": LongSerializer(), "value_serializer": DefaultSerializer()}

# %% tags=["proof", "A98"]
assert [len(one.replicas) for one in cluster.topic(topic).partitions] == [3] * 13

# %% [markdown]
# Five records, each after the answer to the one before. Will they take about the same time?

# %%
producer = KafkaProducer(
    bootstrap_servers=cluster.address, client_id="KafkaExampleProducer", **quick.producer | types
)
five = list(one_by_one())
for key, place, ms in five:
    print(f"{key}: hello {key}, partition {place.partition}, offset {place.offset}, {ms:.1f} ms")
cluster.gateway.frames(client_id="KafkaExampleProducer")

# %% tags=["proof", "A100"]
assert (len(five), five[0][2] > sorted(ms for _, _, ms in five)[1]) == (5, True)  # a slow one

# %% [markdown]
# The first one is slow. You gave the producer some addresses, and it did not know who leads which
# of the 13 partitions. The table is what the gateway, a listener on the line, has noted. The
# producer asked for the *metadata* of the topic and for an id of its own (lesson 09). Then it
# connected to the leaders themselves. Kafka has no router: the client keeps the map.

# %% [markdown]
# The others took as long as the way to the leader and back, and as the leader waited for its
# followers. Whose "yes" an acknowledgement is, the setting `acks` says: nobody's, the leader's, or
# that of all in-sync replicas. Here it is `all`, the default. Lesson 08 shows what each is worth.
# Will the producer ask for the map again, for the next 600 records?

# %% [markdown]
# ## Who tells you that it has arrived?
#
# Waiting for each record wastes the way there and back. Send all and then wait; or have the
# producer call a function of yours with each answer: a **callback**.
#
# All at once, 200 records will be through sooner. That is the total. What of a single record: how
# many milliseconds pass from its `send` to its acknowledgement, for half of the records?

# %% tags=["prediction"]
my_wait = Prediction("milliseconds")
my_wait

# %%
import queue
import threading

from kafka.errors import KafkaTimeoutError


def send(way):
    key = next(keys)
    return ledger.sent(f"{way} {key}", producer.send(topic, key=key, value=f"hello {key}"))


def arrived(receipt):
    answers.put((threading.current_thread().name, receipt))


since, answers, moments = time.time(), queue.SimpleQueue(), [time.perf_counter()]
alone = list(one_by_one(records))
moments.append(time.perf_counter())
for future in [send("all, then wait") for _ in range(records)]:
    future.get(timeout=10)
moments.append(time.perf_counter())
for _ in range(records):
    send("callback").add_callback(arrived)
heard = [answers.get(timeout=25) for _ in range(records)]  # counts down to none
moments.append(time.perf_counter())

# %% tags=["A100", "A101", "A102", "A104", "A105", "A143", "B75"]
from pyspark.sql import functions as F

spark = spark_session()
single, together, called = (after - before for before, after in itertools.pairwise(moments))
assert (answers.empty(), max(together, called) < single) == (True, True)
assert max(who := [name for name, _ in heard], key=who.count).endswith("-network-thread")
for partition in range(13):
    offsets = [receipt.offset for _, receipt in heard if receipt.partition == partition]
    assert offsets == sorted(offsets)
leaders = {one.leader for one in cluster.topic(topic).partitions}
talk = cluster.gateway.frames(client_id="KafkaExampleProducer")
later = [(frame.api, frame.broker) for frame in talk if frame.requested > since]
way = F.regexp_extract("identity", r"(.*) \d+", 1).alias("way")
waits = ledger.frame(spark).select("latency_ms", way)
half = dict(waits.groupBy("way").agg(F.round(F.median("latency_ms"), 1)).collect())
slower = max(half["all, then wait"], half["callback"]) > half["one by one"]
print(my_wait.against(half["all, then wait"]))

ax = charts.latency_distribution(waits, by="way")
title = f"All at once took {together / single:.0%} of the time; half of the records waited"
ax.set_title(f"{title} {half['all, then wait']} ms, not {half['one by one']}")
charts.show(ax, f"{title} {half}. Three curves, for three ways of sending; two lie together.")

# %% tags=["proof", "A100", "A101", "A102", "A104", "A105", "A143", "B75"]
assert {broker for api, broker in later if api == "Produce"} == leaders
assert "Metadata" not in {api for api, _ in later}
assert (slower, five[0][2] > half["one by one"]) == (True, True)

# %% [markdown]
# Here is the bargain of this whole lesson. Together the records were through in a fraction of the
# time. Each for itself waited longer, behind the others. *Records per second* and *milliseconds per
# record* are two questions, and a setting that helps the one may harm the other.

# %% [markdown]
# A callback does not wait either. It runs on the producer's **network thread**, in the order of the
# offsets of each partition. (An answer that is there before you ask for the call is told by your
# own thread, at once.) While your function works nothing is sent, so keep it short. And nobody was
# asked about leaders any more: each `Produce` went straight to one.

# %% [markdown]
# ## Where do the records wait?
#
# `send` puts a record into the **buffer** of its partition, into a **batch**. A batch leaves when
# it is full (`batch_size`, in bytes) or when its time is up (`linger_ms`), whichever is first.

# %% [markdown]
# Let the network hold each request back for a while. Send 90 records of 100 bytes to three
# partitions, with 2,000 bytes to a batch and five seconds of linger, and look into the producer.
# Before you run the next cell: how many of the 90 will have left your program?

# %%
from kafkalab.lessons import producers
from kafkalab.lessons.producers import metering
from kafkalab.lessons.producers.buffers import buffers

prices = new_topic("prices", partitions=3)
patient = KafkaProducer(
    bootstrap_servers=cluster.address,
    client_id="patient",
    linger_ms=5_000,
    batch_size=2_000,
    **quick.producer,
)
cluster.gateway.hold_requests("Produce", count=90, client_id="patient")
began = time.perf_counter()
futures = [patient.send(prices, value=bytes(100), partition=n % 3) for n in range(90)]
wait_until(
    lambda: all(buffer.in_flight for buffer in buffers(patient, prices)), timeout=5, what="a start"
)
held = buffers(patient, prices)
assert not any(future.is_done for future in futures)
ax = producers.inside(held, batch_size=2_000)
gone = sum(buffer.records_in_flight for buffer in held)
title = f"{gone} of 90 records have left; {90 - gone} are in this program's memory"
ax.set_title(title)
charts.show(ax, f"{title}. For each partition: what waits, what is in flight, the leader.")

# %%
cluster.gateway.heal()  # what was held is gone, and the producer sends it again
patient.flush(timeout=10)

# %% tags=["proof", "A145"]
assert all(future.succeeded() for future in futures)
assert time.perf_counter() - began < 5  # sooner than the linger
assert 0 < gone < 90 == gone + sum(buffer.records_waiting for buffer in held)

# %% [markdown]
# A frame is a batch, as full as its colour, with the number of its records. One full batch for each
# partition is under way. The others wait for its answer, or for company. You hold 90 futures and
# the brokers have nothing yet: a program that ends now takes all of it along.
#
# `flush` says: send what you have, linger or not, and come back when each future is decided.

# %% [markdown]
# Now without the delay, and with half a second of linger: 60 records at once; when they are through
# five more; then one of 3,000 bytes. When does each batch leave, and why?

# %%
timed = new_topic("timed")
mixed = KafkaProducer(
    bootstrap_servers=cluster.address,
    client_id=timed,
    linger_ms=500,
    batch_size=2_000,
    **quick.producer,
)
for partition in mixed.partitions_for(prices):  # so that it is connected with every leader
    mixed.send(prices, value=b"hello", partition=partition)
mixed.flush(timeout=10)
mixed.partitions_for(timed)  # asks for the metadata, so that the first send need not
sent = []
for burst in ([100] * 60, [100] * 5, [3_000]):
    for size in burst:
        sent.append(time.time())
        last = mixed.send(timed, value=bytes(size))
    last.get(timeout=10)

# %% tags=["A121", "A123"]
batches = cluster.batches(timed, 0)
noted = cluster.gateway.frames("Produce", client_id=timed)
left = [frame.requested for frame in noted if frame.requested > sent[0]]
assert len(left) == len(batches)  # one partition: each batch is a request
assert left[0] - sent[0] < 0.5 < left[-2] - sent[60]  # full: at once; not full: after its time
assert batches[-1].records == 1
assert batches[-1].bytes > 3_000

ax = producers.departures(dict(enumerate(sent)), batches, left, batch_size=2_000)
title = f"{len(sent)} records left in {len(batches)} batches, by size or by time"
ax.set_title(title)
charts.show(ax, f"{title}. Full ones leave at once; the others half a second later.")

# %% [markdown]
# A full batch does not care about linger; it waits for no more than the answer to the one before.
# What does not fill one waits out its time. And a record larger than `batch_size` is not refused:
# it gets a batch of its own. The size is an aim, no limit.

# %% [markdown]
# ## What does company cost?
#
# Company saves requests, and one waits for it. Here records trickle, about one a millisecond. With
# a linger of 200 ms and room for all of them: how long will half of the records wait?

# %% tags=["prediction"]
my_linger = Prediction("milliseconds")
my_linger

# %%
pairs = list(itertools.product((0, 20, 200), (0, 1_024, 65_536)))
runs = [*pairs, (0, 65_536), (20, 65_536)]  # of two the quicker counts: one may be held up
trickle, pace, trickled, told = new_topic("trickle", len(runs)), threading.Event(), Ledger(), []
for partition, (linger, size) in enumerate(runs):
    sender = KafkaProducer(
        bootstrap_servers=cluster.address, linger_ms=linger, batch_size=size, **quick.producer
    )
    for number in range(records):
        trickled.sent(number, sender.send(trickle, value=bytes(100), partition=partition))
        pace.wait(0.001)  # nobody sets it
    trickled.settle(timeout=30)
    told.append(sender.metrics()["producer-metrics"])

# %% tags=["A122", "A124", "A125", "A151", "B77"]
medians = dict(trickled.frame(spark).groupBy("partition").agg(F.median("latency_ms")).collect())
best = {runs[n]: n for n in sorted(medians, key=medians.get, reverse=True)}
waited = {pair: medians[best[pair]] for pair in pairs}
company = {pair: records / len(cluster.batches(trickle, best[pair])) for pair in pairs}
rows = [(*pair, round(company[pair], 1), round(waited[pair], 1)) for pair in pairs]
slow = waited[200, 65_536]
assert max(waited[0, 65_536], waited[20, 65_536]) < slow  # light load: latency rises with linger
for pair in pairs:  # what the producer counted is what lies in the files
    assert abs(told[best[pair]]["records-per-request-avg"] / company[pair] - 1) < 0.1
queued = [1_000 * told[best[n, 65_536]]["record-queue-time-avg"] for n in (0, 20, 200)]
my_linger.against(slow)

# %% tags=["proof", "A122", "A124", "A125", "A151", "B77"]
assert company[0, 0] == company[200, 0] == 1  # no room for a second one: no batching
assert company[0, 1_024] < company[200, 65_536]
assert waited[0, 0] > waited[0, 65_536]  # alone, each waits for the answer to the one before
assert (queued[1] >= 20, max(queued[:2]) < 200 <= queued[2] < 10_000) == (True, True)

# %%
grid = spark.createDataFrame(rows, "linger_ms int, batch_size int, n double, ms double")
words = {"n": "records in a batch", "ms": "milliseconds that half of the records wait"}
ax = producers.settings_grids(grid, "linger_ms", "batch_size", words)
title = f"Company for {company[200, 65_536]:.0f} costs {slow:.0f} ms, none {waited[0, 0]:,.0f} ms"
ax.figure.suptitle(title, fontweight="bold")
charts.show(ax, f"{title}. Two grids, linger by batch size: {rows}.")

# %% [markdown]
# Above, half of the records wait about *half* of the linger, or longer: the first of a batch waits
# all of it, the last not at all. With 1,024 bytes a handful fills a batch, and a long linger is
# never sat out. Under load the size decides, at rest the time does.

# %% [markdown]
# The lowest row is the surprise. Without company each record is a request of its own. To keep the
# order, this client has one request of a partition on its way at a time (Java's has five, and
# numbers them: lesson 09). The way takes longer than a millisecond, so a queue grows. Here, to
# refuse company is slow.
#
# Java's producer lingers for 5 ms by default, this one for 0. At 0 batches form all the same: what
# comes while a request is under way goes together in the next.

# %% [markdown]
# ## What do the bytes cost?
#
# A producer compresses a whole batch, never a single record. There are four codecs. The records are
# stock prices as JSON: a thousand times the same words with other numbers. Before you run the next
# cell: how many of 100 bytes does the best codec leave, and what has the size of a batch to do with
# it?

# %%
import random

pick, names = random.Random(3).choice, (b"IBM", b"SUN", b"GOOG", b"INEL", b"UBER")
form = b'{"dollars": %d, "cents": %d, "name": "%s"}'
quotes = [form % (pick(range(50, 100)), pick(range(100)), pick(names)) for _ in range(1_000)]
codecs = ("none", "gzip", "snappy", "lz4", "zstd")
choices = list(itertools.product(codecs, (1_024, 65_536, 65_536)))
packed, rows, priced = new_topic("packed", len(choices)), [], Ledger()
for partition, (codec, size) in enumerate(choices):
    settings = {"compression_type": None if codec == "none" else codec, "linger_ms": 5_000}
    sender = KafkaProducer(
        bootstrap_servers=cluster.address, batch_size=size, **quick.producer | settings
    )
    for quote in quotes:
        priced.sent(codec, sender.send(packed, value=quote, partition=partition))
    sender.flush(timeout=10)
    batches, label = cluster.batches(packed, partition), f"batches of {size:,} bytes"
    assert {batch.codec for batch in batches} == {codec}
    rows.append((codec, label, sum(batch.bytes for batch in batches) / len(quotes)))

# %% tags=["A126", "A128", "B78"]
consumer = KafkaConsumer(
    packed, bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
)
unpacked = sorted((r.partition, r.offset, r.value) for r in clients.records_until_end(consumer))
assert priced.settle()["acknowledged"] == len(unpacked)
sizes = spark.createDataFrame(rows, "codec string, batches string, bytes double")
of_large = priced.frame(spark).where("partition % 3 > 0").groupBy("identity")
price = of_large.agg(F.expr("percentile(latency_ms, array(0, 0.5, 0.9))")).collect()
{codec: [round(ms, 1) for ms in waits] for codec, waits in sorted(price)}  # least, half, 90 %

# %% tags=["proof", "A126", "A128", "B78"]
assert [value for _, _, value in unpacked] == quotes * len(choices)  # all the same

# %% tags=["A126", "A127"]
table = sizes.groupBy("codec").pivot("batches").avg("bytes").toPandas().set_index("codec")
small, large = (table[name].drop("none") / table[name]["none"] for name in table)
assert [(large <= small).all(), (small < 1).all()] == [True, True]
title = f"The best codec leaves {small.min():.0%} in small batches, {large.min():.0%} in large ones"
ax = table.sort_values(label).plot.bar(rot=0, ylabel="bytes in the file per record", title=title)
charts.show(ax, f"{title}. Bytes of a record, by codec: {table.round(1).to_dict()}.")

# %% [markdown]
# What repeats is written once, and a larger batch repeats more. So codec and batch size belong
# together, and the wait for company pays twice.
#
# The price is time: a batch is packed before it leaves, and all its records wait for that. Above
# the chart stand the milliseconds to the acknowledgement in large batches: of the record that
# waited least, of half of them, of nine in ten. Compare each codec with `none`, least with least.
# (This client always runs gzip at its strongest level, 9; Java's lets you choose.)

# %% [markdown]
# The broker stores a batch as your producer made it, and a consumer unpacks it. Unless the topic
# says otherwise: send with snappy to a topic that wants gzip. Which codec lies in the file?

# %% tags=["A128", "A151", "B79"]
own = new_topic("own-codec", **{"compression.type": "gzip"})
packer = KafkaProducer(
    bootstrap_servers=cluster.address, compression_type="snappy", **quick.producer
)
packer.send(own, value=bytes(500)).get(timeout=10)
assert [batch.codec for batch in cluster.batches(own, 0)] == ["gzip"]

# %% tags=["proof", "A128", "A151", "B79"]
assert cluster.topic(packed).configs["compression.type"].value == "producer"  # as it comes
assert packer.metrics()[f"producer-topic-metrics.{own}"]["compression-rate"] < 1

# %% [markdown]
# gzip. The broker took the batch apart and packed it anew: work for its processor, with each batch
# of each producer. `producer` is the default, and leaves the work where it costs least.

# %% [markdown]
# ## What does the producer know about itself?
#
# It keeps **metrics**: of all, of each broker, of each topic. In Java JMX hands them to a console;
# here `metrics()` returns them, and a *reporter* of yours hears of each as soon as there is one.
# Before you run the next cell: which of the five numbers of a topic will grow while more and more
# records go out?

# %%
from IPython.display import Markdown, display
from kafka.metrics.dict_reporter import DictReporter

heard, seen, view = [], [], display({}, display_id=True)


class Reporter(DictReporter):
    def init(self, metrics):
        heard.append("init")

    def metric_change(self, metric):
        heard.append(metric.metric_name)


# %%
watched = KafkaProducer(
    bootstrap_servers=cluster.address, metric_reporters=[Reporter], **quick.producer
)
for quote in quotes[:20]:
    watched.send(prices, value=quote).get(timeout=10)
    seen.append(watched.metrics()[f"producer-topic-metrics.{prices}"])
    view.update(seen[-1])
numbers = metering.numbers(watched)
numbers

# %% tags=["proof", "A149", "A150", "A152"]
assert {n for n in seen[0] if seen[-1][n] > seen[0][n]} == {"record-send-rate", "byte-rate"}
assert (heard[0], numbers.names >= metering.NAMES) == ("init", True)  # of three groups
assert {(one.group, one.name) for one in numbers} <= {
    (n.group, n.name) for n in heard if not isinstance(n, str)
}

# %% [markdown]
# The display was renewed after each record, and two of the five grew: the rates of records and of
# bytes. A rate is that of a window: two of 30 seconds, unless you set another, so it starts low in
# a young program. The table has the numbers of the whole producer, of one broker and of one topic,
# with what each says of itself. And a warning: `record-queue-time` claims to be in milliseconds,
# and this client counts it in seconds. Try a number before you trust it.

# %% [markdown]
# ## What if more comes than leaves?
#
# Java's producer has a setting for it: `buffer.memory`, 32 megabytes. When they are full, `send`
# waits, and after `max.block.ms` it fails. Ask this client for the same. Before you run the next
# cell: what will it say?

# %%
try:
    KafkaProducer(bootstrap_servers=cluster.address, buffer_memory=33_554_432, **quick.producer)
except ValueError as error:
    refusal = str(error)
assert "buffer_memory" in refusal
refusal

# %% [markdown]
# *Unrecognized.* What brokers do not take stays in memory until `delivery_timeout_ms`, two minutes,
# however much it is. So the bound has to be your own: count what is on its way, wait when it is too
# much, give up after a while. Before you run the next cell: the network stands still and the bound
# is 64 records. How many go in, and what becomes of the next?


# %%
class BoundedProducer:
    def __init__(self, producer, limit, patience):
        self.producer, self.patience, self.room = producer, patience, threading.Semaphore(limit)

    def send(self, topic, value):
        if not self.room.acquire(timeout=self.patience):
            raise KafkaTimeoutError("no answer to any of the records on their way")
        try:
            future = self.producer.send(topic, value=value)
        except Exception:  # refused at once: nothing is on its way
            self.room.release()
            raise
        return future.add_both(lambda _: self.room.release())


# %%
cluster.gateway.hold_requests("Produce", count=64, client_id="bounded")
held = KafkaProducer(bootstrap_servers=cluster.address, client_id="bounded", **quick.producer)
bounded, accepted = BoundedProducer(held, 64, patience=0.3), []
try:
    for quote in quotes:
        accepted.append(bounded.send(prices, quote))
except KafkaTimeoutError as error:
    print(f"after {len(accepted)} records: {error}")
cluster.gateway.heal()

# %% tags=["proof", "A120"]
assert len(accepted) == 64
assert [future.get(timeout=10).topic for future in accepted] == [prices] * 64

# %% [markdown]
# Now a slow broker makes the program slow, and not large. This is **back-pressure**: who makes the
# records learns that they are not taken.

# %% [markdown]
# ## What does `flush` not say?
#
# Ten records, one of them of 70,000 random bytes; the topic allows 65,536. `flush` waits until all
# ten are decided. Before you run the next cell: how many have failed, and does `flush` say so?

# %%
import os

tight = new_topic("tight", **{"max.message.bytes": "65536"})
blind = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
decided = queue.SimpleQueue()
futures = [blind.send(tight, value=os.urandom(size)) for size in [100] * 9 + [70_000]]
for future in futures:
    future.add_both(decided.put)  # a receipt or an exception
flushed = blind.flush(timeout=10)
outcome = [decided.get(timeout=25) for _ in futures]
failed = [future.exception for future in futures if future.failed()]

many = KafkaProducer(
    bootstrap_servers=cluster.address, batch_size=200_000, linger_ms=200, **quick.producer
)
halved = [many.send(tight, value=os.urandom(1_000)) for _ in range(150)]
failed

# %% tags=["proof", "A103", "A129"]
assert (flushed, len(outcome), len(failed)) == (None, 10, 1)
assert type(failed[0]).__name__ == "MessageSizeTooLargeError"
assert [future.get(timeout=10).offset for future in halved] == list(range(9, 159))

# %% [markdown]
# One, and `flush` returned without a word. *Decided* is not *delivered*. Only the future knows, or
# an *errback*, a callback for failures. A program that flushes and looks at no future has asked
# nobody.
#
# After that 150 records of 1,000 bytes in one batch, too large as well. The producer cut it into
# halves until they fitted, and each record arrived: too large was the batch, no record of it.

# %% [markdown]
# Failures come in two ways. Out of `send` itself come those that the client sees: a value that
# cannot be made into bytes, no such partition, a record above `max_request_size`, no such topic
# within `max_block_ms`, an interrupt. All others come through the future. Before you run the next
# cell: which does the producer try again by itself, a record that is too large or one whose answer
# was lost?

# %% tags=["A107", "A110", "A130", "A135", "A144"]
again, dead = new_topic("again"), ["127.0.0.1:1", "127.0.0.1:2"]  # nobody listens there
own = {"client_id": f"hasty {again}", "max_block_ms": 1_000}
hasty = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer | own)
attempts = {
    "no bytes": lambda: hasty.send(tight, value=70),
    "no such topic": lambda: hasty.send("unheard-of", value=b"x"),
    "no broker": lambda: KafkaProducer(bootstrap_servers=dead, bootstrap_timeout_ms=500),
    "too large": lambda: hasty.send(tight, value=os.urandom(70_000)).get(timeout=10),
}
caught = {}
for name, attempt in attempts.items():
    try:
        attempt()
    except Exception as error:
        caught[name] = type(error).__name__
assert [*caught.values()] == ["TypeError", *["KafkaTimeoutError"] * 2, "MessageSizeTooLargeError"]
assert "unheard-of" not in cluster.topics()
assert len(cluster.gateway.frames("Produce", client_id=f"hasty {again}")) == 1

cluster.gateway.drop_replies("Produce", client_id=again)  # lost on the way: a passing trouble
given = dead + cluster.address.split(",")
with KafkaProducer(bootstrap_servers=given, client_id=again) as steady:
    reached = steady.send(again, value=b"x").get(timeout=10).offset == 0
caught

# %% tags=["proof", "A107", "A110", "A130", "A135", "A144"]
assert (reached, len(cluster.gateway.frames("Produce", client_id=again))) == (True, 2)

# %% [markdown]
# The record that is too large was sent once: it will never fit, and the client knows which errors
# are like that. The one whose answer was lost was sent again, by itself, and is stored once (lesson
# 06 shows why). Two dead addresses in the list did no harm: the producer takes the first one that
# answers and learns all others from it. If none does, it gives up after `bootstrap_timeout_ms`.

# %% [markdown]
# ## Who looks at every record?
#
# Java's producer calls **interceptors**: at each `send`, where they may change the record, and at
# its answer. This client has none; `InterceptingProducer`, thirty lines around the real one, does
# the same. A fault of an interceptor must stop no record. Before you run the next cell: eight
# threads share one producer. Will all its counts agree?

# %%
from concurrent.futures import ThreadPoolExecutor

from kafkalab.lessons.producers.interceptors import InterceptingProducer


class Witness:
    def __init__(self, name):
        self.name, self.answers = name, []

    def on_send(self, record):
        return record | {"value": record["value"] + self.name}

    def on_acknowledgement(self, receipt, error):
        self.answers.append((receipt, error))


shared = new_topic("shared", **{"max.message.bytes": "65536"})
witnesses = Witness(b" first"), Witness("not bytes"), Witness(b" second")
plain = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
wrapped = InterceptingProducer(plain, *witnesses)
with ThreadPoolExecutor(max_workers=8) as threads:
    list(threads.map(lambda n: wrapped.send(shared, value=b"%d" % n), range(400)))
wrapped.send(shared, value=os.urandom(70_000))
wrapped.flush(timeout=10)

# %% tags=["A14", "A112", "A141", "A142"]
consumer = KafkaConsumer(
    shared, bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
)
stored = sorted(record.value for record in clients.records_until_end(consumer))
assert stored == sorted(b"%d first second" % number for number in range(400))

# %% tags=["proof", "A14", "A112", "A141", "A142"]
assert [len(witness.answers) for witness in witnesses] == [401] * 3
assert [error is None for _, error in witnesses[0].answers].count(False) == 1
assert len(wrapped.faults) == 401

# %% [markdown]
# 400 records from eight threads, and the broker has 400: one producer may be shared, and should be,
# for its batches grow with what goes through. The first and the third have each changed the value,
# in their order. The one between them tripped 401 times, over text that is no bytes, and no record
# is missing. The last record was too large, and all three have heard of it.

# %% [markdown]
# ## How does it end?
#
# What waits in memory is gone with the process, unless somebody sees to it. `close` does: no new
# records, the old ones out, the network thread ended. With a limit it gives up, and what then? One
# program, of four workers, trips over an error with 20 records waiting. Another one closes while
# the brokers are out of reach. Before you run the next cell: how many of each 20 will be stored?


# %% tags=["A106", "A147", "A165"]
def alive(name):
    return any(thread.name.startswith(name) for thread in threading.enumerate())


ends = new_topic("ends")
careful = KafkaProducer(
    bootstrap_servers=cluster.address, client_id="careful", linger_ms=5_000, **quick.producer
)
try:
    with careful, ThreadPoolExecutor(4, thread_name_prefix="careful-worker") as workers:
        jobs = [workers.submit(careful.send, ends, value=b"waiting") for _ in range(20)]
        raise ValueError("the program trips")
except ValueError:  # on the way out of `with` the workers ended, then close was called
    assert [job.result().succeeded() for job in jobs] == [True] * 20
    assert not alive("careful")

# %% tags=["A106", "A147", "A165"]
cluster.gateway.cut(api="Produce", client_id="cut-off")
short = quick.producer | {"delivery_timeout_ms": 2_000, "request_timeout_ms": 1_000}
cut_off = KafkaProducer(bootstrap_servers=cluster.address, client_id="cut-off", **short)
lost = [cut_off.send(ends, value=b"lost") for _ in range(20)]
try:
    cut_off.close(timeout=0.3)
except KafkaTimeoutError as error:
    print(f"{sum(not future.is_done for future in lost)} of 20 undecided: {error}")
assert alive("cut-off")  # not closed; it goes on trying
wait_until(lambda: all(one.is_done for one in lost), timeout=20, what="the delivery timeout")
cut_off.close(timeout=10)  # it has nothing left to try
assert not alive("cut-off")
cluster.gateway.heal()

# %% tags=["proof", "A106", "A147", "A165"]
assert (sum(future.failed() for future in lost), cluster.topic(ends).records) == (20, 20)

# %% [markdown]
# `with` undoes on every way out what it began, the last first: the workers, then the producer. All
# 20 arrived, and no thread is left. The other one could not: after its limit `close` raises, the
# thread lives on, and only the futures tell what is missing.
#
# And when the program is ended from outside? Here is one that sends with five seconds of linger. At
# the 100th record it gets an interrupt, as by Ctrl-C; then once more, and it is killed. Before you
# run the next cells: how many of its hundred records are kept, each time?

# %%
import signal
import subprocess
import sys

program = """
import signal, sys, threading, kafka
stop = threading.Event()
signal.signal(signal.SIGINT, lambda *_: stop.set())
producer = kafka.KafkaProducer(bootstrap_servers=sys.argv[1].split(","), linger_ms=5_000)
for number in range(2_000):
    if stop.wait(0.002): break
    producer.send(sys.argv[2], value=b"%d" % number)
    print("sent", flush=True)
print("flush and close")
producer.close(timeout=10)
sys.exit(130 if stop.is_set() else 0)
"""


def ended_by(end, topic):
    command = [sys.executable, "-P", "-c", program, cluster.address, topic]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        said = list(itertools.islice(process.stdout, 100))
        process.send_signal(end)
        return (said + list(process.stdout)), process.wait(timeout=20), cluster.topic(topic).records


# %% tags=["A162", "A164"]
said, status, kept = ended_by(signal.SIGINT, new_topic("interrupted"))
assert (said[-1], status, kept) == ("flush and close\n", 130, len(said) - 1)
said, _, kept_of_killed = ended_by(signal.SIGKILL, new_topic("killed"))
f"{kept} of {kept}, and then {kept_of_killed} of {len(said)}"

# %% tags=["proof", "A162", "A164"]
assert kept_of_killed < len(said)

# %% [markdown]
# The handler of the interrupt only sets a flag. The loop sees it, ends, and the program closes in
# its own time; 130 says that a signal ended it. Nobody can handle a kill: every record that waited
# for company is gone. For each of them `send` had come back without an error.

# %% [markdown]
# ## Four questions
#
# 1. Does a callback, without an errback, hear of every record?
# 2. Can a producer begin when the first address in its list is dead?
# 3. The key went through one serializer, the value through another. Do both come back as they were?
# 4. All at once, with a callback or without: do half of the records wait longer than one by one?
#
# Before you run the next cell: put `True` for yes or `False` for no in the place of each `None`.
# Beside it stands what this run says.

# %%
reader = KafkaConsumer(
    topic, bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
)
stored = {(struct.unpack(">q", r.key)[0], r.value) for r in clients.records_until_end(reader)}
sent = {(n, b"hello %d" % n) for n in range(start, start + ledger.settle()["acknowledged"])}
review = {1: (None, not failed), 2: (None, reached), 3: (None, stored == sent), 4: (None, slower)}
print(f"{sum(mine is yes for mine, yes in review.values())} of 4 as you answered: {review}")

# %% tags=["proof", "A108", "A111"]
assert [number for number, (_, yes) in review.items() if yes] == [2, 3, 4]

# %% [markdown]
# Three are yes. A callback hears of each success, with a receipt; an errback of each failure, with
# an exception. Above there were nine and one. A dead address does no harm while another one
# answers; if none does, there is no producer. One by one is for a step that needs the answer to the
# step before; all at once is for throughput.
#
# And key and value are two strings of bytes that know nothing of each other. Here a number and a
# text came back as they were sent, each by a rule of its own.

# %% [markdown]
# ## When it goes wrong
#
# A value that is no text and no bytes needs a serializer. kafka-python brings one for JSON. Here a
# program gives it a Python *set*, which JSON does not have. Read what it says.

# %%
teller = KafkaProducer(
    bootstrap_servers=cluster.address, value_serializer=JsonSerializer(), **quick.producer
)
try:
    teller.send(prices, value={"names": {"IBM", "SUN"}})
except TypeError as error:
    print(error, masked := str(error.__context__), sep="\n")

# %% tags=["proof", "A110"]
assert "set is not JSON serializable" in masked

# %% [markdown]
# The first line is what you get to see: *missing 1 required positional argument*. It sounds as if
# `send` were called wrongly. It was not. The library calls `serialize` with three arguments; when
# this raises a `TypeError`, of whatever origin, it takes the serializer for one of the old form and
# calls again with two. That second call fails, and its error hides the first. In a long trace look
# above the words *During handling of the above exception*: there stands the second line, the truth.

# %% [markdown]
# ## Try it
#
# - Let a callback wait half a second. What becomes of the latency of the records after it?
# - Send 100,000 records while the gateway delays `Produce`, and look at `buffers`.
# - Give the killed program no linger. How many of its records are kept?

# %% [markdown]
# ## What you saw

# %%
Markdown(f"""
- {90 - gone} of 90 records waited in memory; a kill kept {kept_of_killed} of {len(said)}.
- All at once took {together / single:.0%} of the time. Milliseconds for half of them: {half}.
- Company for {company[200, 65_536]:.0f} cost {slow:.0f} ms; a codec left {large.min():.0%}.
- `flush` hid {len(failed)} failure. What an acknowledgement is worth is the question of lesson 08.
""")

# %%
cluster.close()
spark.stop()
