# %% [markdown]
# # 05 Batches
#
# A producer lets records wait for company. What does it cost to send one more record: in time, in
# requests, in bytes, and in memory when nobody takes it?

# %% [markdown]
# You will
# - say when a batch leaves, and what leaves with it,
# - choose `linger_ms`, and say what you gain and what a record pays for it,
# - see how many bytes a codec saves, and why batches help it,
# - bound what waits in the memory of a program. Needs 00, 02 and 04. 25 minutes.

# %% tags=["parameters"]
records = 400  # for each of the settings

# %%
import itertools
import time

from kafka import KafkaProducer

from kafkalab import Choice, Cluster, Prediction, charts, quick
from kafkalab.lessons import batches
from kafkalab.lessons.batches.buffers import buffers
from kafkalab.notebook import exercise

cluster = Cluster.start("replicated", gateway=True)
cluster

# %% [markdown]
# ## When does a batch leave?
#
# `send` puts a record into a **batch**: records of one partition that travel together and are
# stored together. It leaves when it is full (`batch_size`, in bytes) or when its time is up. The
# time that it waits for company is called **linger** (`linger_ms`).
#
# Three bursts go to one partition: 60 records of 100 bytes; when they are acknowledged, five more;
# then one of 3,000 bytes. A batch has room for 2,000 bytes, and lingers for half a second. (Each
# record brings some 9 bytes of its own, each batch a header of 61 bytes.) In how many batches will
# 66 records travel?

# %% tags=["prediction"]
my_batches = Prediction("batches")
my_batches

# %%
prices = batches.new_topic(cluster, "prices", 0, 0)  # two partitions, led by broker 0
settings = quick.producer | {"batch_size": 2_000, "linger_ms": 500, "client_id": prices}
producer = KafkaProducer(bootstrap_servers=cluster.address, **settings)
producer.send(prices, value=b"first", partition=1).get(timeout=10)  # pays for the id
sent = []
for burst in ([100] * 60, [100] * 5, [3_000]):
    for size in burst:
        sent.append(time.time())
        last = producer.send(prices, value=bytes(size), partition=0)
    last.get(timeout=10)

# %%
stored = cluster.batches(prices, 0)
frames = cluster.gateway.frames("Produce", client_id=prices)
left = [frame.requested for frame in frames if frame.batches[0].partition == 0]
print(my_batches.against(len(stored)))
ax = batches.departures(dict(enumerate(sent)), stored, left, batch_size=2_000)
full = sum(batch.bytes > 1_800 for batch in stored)
title = f"{full} of {len(stored)} batches left because they were full"
ax.set_title(title)
charts.show(ax, f"{title}. A bar for each batch, from its first record until it left.")

# %% tags=["proof", "A121", "A123"]
assert len(left) == len(stored) == 6, (left, stored)  # one partition: each batch is a request
full_ones = stored[:3]
assert [batch.records for batch in full_ones] == [17] * 3, full_ones  # 18 would need 2,023 bytes
for batch in full_ones:  # a time of 64 ms and more after the first needs a byte more
    assert 61 + 17 * 109 <= batch.bytes <= 61 + 17 * 110, full_ones
assert left[0] - sent[0] < 0.5, left[0] - sent[0]  # full: at once, whatever the linger
assert left[4] - sent[60] >= 0.5, left[4] - sent[60]  # not full: after its time
assert stored[-1].records == 1, stored[-1]
assert stored[-1].bytes > 3_000, stored[-1]
assert left[5] - sent[65] < 0.5, left[5] - sent[65]

# %% [markdown]
# On top the sends, below them a bar for each batch. A full one does not wait for company, only for
# the answer to the one before: by default this client has one request of a partition under way at a
# time. What does not fill a batch waits out its time, unless `flush` or `close` ends it. And the
# record of 3,000 bytes was not refused: it got a batch of its own, full at once. `batch_size` is an
# aim, no limit.

# %% [markdown]
# ## Who goes along?
#
# Now there are four partitions: 0, 1 and 2 are led by broker 0, and 3 by broker 1. Each of the last
# three has one record that waits, with a linger of five seconds. Then partition 0 gets twenty,
# three more than a batch holds.

# %% tags=["prediction"]
my_company = Choice(
    "The batch of partition 0 is full. What leaves at once?",
    "that batch alone",
    "that batch and those of partitions 1 and 2",
    "the batches of all four partitions",
)
my_company

# %%
shared = batches.new_topic(cluster, "shared", 0, 0, 0, 1)
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
charts.show(ax, f"{title}. For each partition what waits and what is under way: {held}.")

# %% tags=["proof", "A123"]
assert away == [0, 1, 2], away
assert request.broker == 0, request.broker
assert [buffer.records_waiting for buffer in held] == [3, 0, 0, 1], held
assert [buffer.records_in_flight for buffer in held] == [17, 1, 1, 0], held
cluster.gateway.heal()
producer.flush(timeout=10)
assert cluster.topic(shared).records == 23, cluster.topic(shared).records

# %% [markdown]
# A box is a batch, coloured as far as it is full, with the number of its records. A request goes to
# a broker and not to a partition. As soon as one batch is full, or its time is up, a batch of each
# other partition of its broker travels with it, however young it is. So linger is the longest wait
# *for company*: a full neighbour ends it. Partition 3 has another leader, and waits.

# %% [markdown]
# ## What does company cost one record?
#
# Now records trickle, one a millisecond, under five settings; in the last, `batch_size` 0, each
# record is a batch of its own. A stopwatch runs for each, until its callback. (One run shows
# factors; on a busy machine chance decides between linger 0 and 5.) With a linger of 200 ms: within
# how many milliseconds is half of the records acknowledged?

# %% tags=["prediction"]
my_wait = Prediction("milliseconds")
my_wait

# %%
settings = {f"linger {ms} ms": {"batch_size": 65_536, "linger_ms": ms} for ms in (200, 20, 5, 0)}
settings["no batches"] = {"batch_size": 0, "delivery_timeout_ms": 60_000}  # none expires
trickle = batches.new_topic(cluster, "trickle", *[0] * 6)
waits = {name: [] for name in settings}
for partition, (name, own) in enumerate(settings.items()):
    config = quick.producer | own | {"client_id": trickle}
    with KafkaProducer(bootstrap_servers=cluster.address, **config) as sender:
        sender.send(trickle, value=b"first", partition=5).get(timeout=10)  # pays for the id
        for _ in batches.each_millisecond(records):
            watch = batches.stopwatch(waits[name])
            sender.send(trickle, value=bytes(100), partition=partition).add_callback(watch)
        batches.wait_for_receipts(waits[name], records)  # else `close` would end the last linger

# %%
costs = batches.costs(waits, cluster.gateway.frames("Produce", client_id=trickle))
long, short, none, alone = (costs.iloc[row] for row in (0, 1, 3, 4))
print(my_wait.against(long.record_ms))
inside = f"{alone.request_ms:.1f} at the broker, the rest in the client and the gateway"
print(f"without batches a request leaves every {alone.apart_ms:.1f} ms: {inside}")
ax = batches.side_by_side(costs[::-1], records)
few = f"{short.requests:.0f} with a linger of 20 ms, {long.requests:.0f} with 200 ms"
title = f"{alone.requests:.0f} requests without batches, {few}"
ax.figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
charts.show(ax, f"{title}. For each of the settings: {costs.round(2).to_dict('index')}.")

# %% tags=["proof", "A122", "A124", "B77"]
assert alone.requests == records == len(cluster.batches(trickle, 4)), costs  # no batching
assert long.requests < alone.requests, costs
assert short.requests < alone.requests, costs
assert alone.record_ms > none.record_ms, costs
assert alone.apart_ms > 1, costs  # so that a queue grows
assert min(waits["linger 200 ms"]) < 100 < 200 <= max(waits["linger 200 ms"]), waits
assert long.each_ms < alone.each_ms, costs
frames = cluster.gateway.frames("Produce", client_id=trickle)
for partition, linger in enumerate((200, 20, 5)):  # a limit of requests, whatever the machine
    own = [frame.requested for frame in frames if frame.batches[0].partition == partition]
    span = 1_000 * (max(own) - min(own))
    assert len(own) <= span / linger + 3, (linger, len(own), span)
for one, after in zip(frames, frames[1:], strict=False):  # never two of a partition at once
    assert one.answered <= after.requested, (one, after)
light = {0: [], 200: []}  # light load: one record at a time
for linger, times in light.items():
    own = quick.producer | {"linger_ms": linger}
    with KafkaProducer(bootstrap_servers=cluster.address, **own) as sender:
        for _ in range(5):
            watch = batches.stopwatch(times)
            watch(sender.send(trickle, value=b"alone", partition=5).get(timeout=10))
assert min(light[0][1:]) < 200 <= min(light[200]), light  # latency rises by the linger

# %% tags=["proof", "A122", "A125", "A151", "B77"]
queued, found = {}, {}
for linger, size in ((0, 65_536), (200, 65_536), (200, 1_024)):
    counted = batches.new_topic(cluster, "counted", 0)
    own = quick.producer | {"linger_ms": linger, "batch_size": size}
    with KafkaProducer(bootstrap_servers=cluster.address, **own) as sender:
        sender.send(counted, value=b"first").get(timeout=10)
        for _ in batches.each_millisecond(100):
            sender.send(counted, value=bytes(100))
        sender.flush(timeout=10)
        told = sender.metrics()["producer-metrics"]
    found[linger, size] = [batch.records for batch in cluster.batches(counted, 0)][1:]
    in_file = 101 / (1 + len(found[linger, size]))
    assert abs(told["records-per-request-avg"] / in_file - 1) < 0.1, (told, in_file)
    queued[linger, size] = 1_000 * told["record-queue-time-max"]  # it says ms and counts seconds
assert queued[0, 65_536] < 200 <= queued[200, 65_536] < 10_000, queued
assert max(found[200, 1_024]) == 8, found  # full, though time was left
assert len(found[200, 65_536]) < len(found[200, 1_024]), found

# %% [markdown]
# Each line of a scale is ten times the one before; on the right, half of the records waited less.
# With a linger of 200 ms not every one waits for 200: who comes last hardly waits at all. In the
# middle, first row against last, you see why company pays: one more record costs the broker next to
# nothing, if it travels with others.
#
# Who lingers for 20 ms leaves no sooner: requests are some 20 ms apart, on any machine. At linger 0
# batches form all the same, of what comes until the next request can leave. Where that takes 5 ms
# and more, a linger of 5 changes next to nothing.
#
# The row on top is the surprise: to refuse company is slow. With one request under way at a time
# (Java's client has up to five on each connection), records come quicker than requests can leave,
# and a queue grows.
#
# What would you set? Begin with a linger of 5 ms, as Java's producer does (since Kafka 4.0; this
# one's is 0): it saves requests where answers come sooner. More is good as long as the requests
# that you save are worth the wait.

# %% [markdown]
# ## What do the bytes cost?
#
# A producer compresses a whole batch, never a single record, with one of four **codecs**. The
# records are a thousand stock prices as JSON, the same words with other numbers:
# `{"dollars": 65, "cents": 75, "name": "UBER"}`. Before you run the next two cells: of 100 bytes,
# how many will the best codec leave, in batches of 64 KB?

# %%
quotes = batches.quotes(1_000)
choices = list(itertools.product((None, "gzip", "snappy", "lz4", "zstd"), (1_024, 65_536)))
packed = batches.new_topic(cluster, "packed", *[0] * len(choices))
for partition, (codec, size) in enumerate(choices):
    settings = quick.producer | {"compression_type": codec, "batch_size": size, "linger_ms": 5_000}
    with KafkaProducer(bootstrap_servers=cluster.address, **settings) as sender:
        for quote in quotes:
            sender.send(packed, value=quote, partition=partition)

# %%
kept = batches.left_of_100(cluster, packed, choices)
small, large = kept.min()
title = f"Of 100 bytes codecs leave at best {small:.0f} in small batches, {large:.0f} in large ones"
ax = batches.codecs(kept)
ax.set_title(title)
charts.show(ax, f"{title}. Bytes left of 100, by codec and batch size: {kept.round(1).to_dict()}.")

# %% tags=["proof", "A126", "A127", "A128", "B78"]
from kafka import KafkaConsumer

from kafkalab import clients

assert quotes[0] == b'{"dollars": 65, "cents": 75, "name": "UBER"}', quotes[0]
consumer = KafkaConsumer(
    packed, bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
)
unpacked = sorted((r.partition, r.offset, r.value) for r in clients.records_until_end(consumer))
assert [value for _, _, value in unpacked] == quotes * len(choices), len(unpacked)
for partition, (codec, _) in enumerate(choices):
    found = {batch.codec for batch in cluster.batches(packed, partition)}
    assert found == {codec or "none"}, found
assert len(kept) == 4, kept
assert (kept[65_536] <= kept[1_024]).all(), kept
assert (kept[1_024] < 100).all(), kept
by_topic = cluster.topic(packed).configs["compression.type"].value
assert by_topic == "producer", by_topic

# %% tags=["proof", "A128", "A151", "B79"]
own = batches.new_topic(cluster, "own-codec", 0, **{"compression.type": "gzip"})
packer = KafkaProducer(
    bootstrap_servers=cluster.address, compression_type="snappy", **quick.producer
)
packer.send(own, value=bytes(500)).get(timeout=10)
found = [batch.codec for batch in cluster.batches(own, 0)]
assert found == ["gzip"], found
rate = packer.metrics()[f"producer-topic-metrics.{own}"]["compression-rate"]
assert rate < 1, rate

# %% tags=["proof", "A129"]
tight = batches.new_topic(cluster, "tight", 0, **{"max.message.bytes": "65536"})
settings = quick.producer | {"batch_size": 200_000, "linger_ms": 200}
many = KafkaProducer(bootstrap_servers=cluster.address, **settings)
halved = [many.send(tight, value=bytes(1_000)) for _ in range(150)]
offsets = [future.get(timeout=10).offset for future in halved]
assert offsets == list(range(150)), offsets  # too large was the batch: it was cut into halves

# %% [markdown]
# What repeats is written once, and a larger batch repeats more: company pays a second time, in
# bytes. By default the broker stores a batch as the producer packed it, and the consumer unpacks
# it. So bytes are saved to and from the broker and on every disk, for time on a processor. Which
# codec is best depends on the data, and on how hard it tries, its level: this client's gzip always
# tries its hardest, its zstd does not.

# %% [markdown]
# ## When it goes wrong
#
# Nothing that a program sends reaches the broker. Where do its records stay? Java's producer has a
# **buffer** of a fixed size for them, `buffer.memory`, by default 32 megabytes. Here it gets 64 KB,
# for batches of 16 KB, and `send` may block for a second and a half. Kafka's own measuring program
# sends 66 records of 1,000 bytes. Before you run the next cell: how many will find no room?

# %%
away = batches.new_topic(cluster, "away", 2)
cluster.gateway.hold_requests("Produce", count=999, client_id=away)  # nothing reaches the broker
load = f"--topic {away} --num-records 66 --record-size 1000 --throughput -1"
limits = "buffer.memory=65536 max.block.ms=1500 delivery.timeout.ms=5000 request.timeout.ms=1000"
patient = f"client.id={away} linger.ms=1000"
command = f"--bootstrap-server {{bootstrap}} {load} --command-property {limits} {patient}"
java = cluster.tool("kafka-producer-perf-test", *command.split())
cluster.gateway.heal()
errors = batches.Complaints(java.stderr)
errors

# %% tags=["proof"]
assert "Failed to allocate 16384 bytes" in java.stderr, java.stderr
assert 1 <= errors["BufferExhaustedException"] <= 2, errors
assert errors.total() == 66, errors  # the others waited for the broker until their time was over
assert cluster.topic(away).records == 0, cluster.topic(away).records

# %% [markdown]
# The buffer held four batches with 16 records each, until their delivery timeout was over; each
# record got its batch's error. For the others `send` waited for room; where none came, the future
# failed. So a program learns that nobody takes its records: this is **back-pressure**.
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
# Put a bound around a producer that has none. `super().send` sends, and the answer gives a place
# back to `room`. Yours is to take one before: `self.room.acquire(timeout=0.5)` waits half a second
# for it and says whether you got it. If not, raise a `KafkaTimeoutError`.

# %% tags=["exercise"]
from kafka.errors import KafkaTimeoutError


class Bounded(batches.WithRoom):
    def send(self, topic, value):
        # BEGIN SOLUTION
        # STUB: ...
        if not self.room.acquire(timeout=0.5):
            raise KafkaTimeoutError("no answer to any of the records on their way")
        # END SOLUTION
        return super().send(topic, value=value)


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
# Records of 1,000 bytes come to one partition, one a millisecond. The producer has a linger of
# 50 ms and the usual `batch_size` of 16,384. The broker answers at once and leads no other
# partition. About how many records go in one batch?

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: in_a_batch = ...
in_a_batch = min(50, 16_384 // 1_000)  # it is full before its time is up
# END SOLUTION
exercise.check("in_a_batch", in_a_batch, batches.answers.together)

# %% tags=["proof"]
filled = batches.new_topic(cluster, "filled", 0)
with KafkaProducer(bootstrap_servers=cluster.address, linger_ms=50, **quick.producer) as sender:
    for _ in batches.each_millisecond(64):
        sender.send(filled, value=bytes(1_000))
found = [batch.records for batch in cluster.batches(filled, 0)]
assert max(found) == in_a_batch == 16, found

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- {len(sent)} records left in {len(left)} batches: full ones without a linger, others when
  theirs was over. A full batch took {len(request.batches) - 1} batches of the same broker along.
- {records} records without company were {alone.requests:.0f} requests, with a linger of 20 ms
  {short.requests:.0f}, with 200 ms {long.requests:.0f}. Half of the records were acknowledged
  within {alone.record_ms:,.0f}, {short.record_ms:.0f} and {long.record_ms:.0f} ms. What linger 0
  does ({none.requests:.0f} requests) is up to the machine.
- Of 100 bytes a codec left {small:.0f} at best in small batches, {large:.0f} in large ones.
- Java's full buffer blocked `send`, and then refused {errors["BufferExhaustedException"]} of 66
  records.
""")

# %%
cluster.close()
