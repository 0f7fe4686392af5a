# %% [markdown]
# # 04 Producers
#
# A taxi company sends a record for each ride. `send` mostly comes back at once, long before a
# broker can have answered. What happens between `send` and the acknowledgement, how long may it
# take, and who tells you when it goes wrong?

# %% [markdown]
# You will
# - say what the first send of a producer waits for, request by request,
# - read the clock of a send, and work out the longest time that one may take,
# - say what `flush` tells you, and what it does not,
# - end a program so that nothing is left behind. Needs 00 and 02. 25 minutes.

# %% tags=["parameters"]
records = 5  # sent one by one

# %%
import subprocess
import sys
import time

from kafka import KafkaProducer

from kafkalab import Choice, Cluster, Prediction, charts, quick, wait_until
from kafkalab.lessons import producers
from kafkalab.notebook import exercise

cluster = Cluster.start("replicated", gateway=True)
cluster

# %% [markdown]
# ## What does a first send wait for?
#
# With `gateway=True` a listener stands between this page and the brokers. It hands on every request
# and notes the time. Its notes are what this page draws. First a topic. Others have used this
# cluster before you, as in any company.

# %%
rides = producers.new_topic(cluster, "my-example-topic", partitions=13)
producers.used_before(cluster, rides)  # a record of others in each partition
cluster.topic(rides).records

# %% tags=["proof", "A98"]
copies = [len(one.replicas) for one in cluster.topic(rides).partitions]
assert copies == [3] * 13, copies
assert cluster.topic(rides).records == 13, cluster.topic(rides).records

# %% [markdown]
# Your producer sends five rides, each after the answer to the one before. `send` returns a
# **future**: a promise of an answer. `get` waits for it. Will all take about the same time?

# %%
producer = KafkaProducer(bootstrap_servers=cluster.address, client_id="first", **quick.producer)
took = []
called = time.time()
for number in range(records):
    began = time.perf_counter()
    future = producer.send(rides, key=b"ride %d" % number, value=b"begun")
    returned = (time.perf_counter() - began) * 1000
    receipt = future.get(timeout=10)
    took.append((time.perf_counter() - began) * 1000)
    place = f"partition {receipt.partition}, offset {receipt.offset}"
    print(f"ride {number}: {place}, send {returned:.1f} ms, answer {took[-1]:.1f} ms")

# %% tags=["proof", "A100", "A101"]
assert len(took) == records == 5, took
assert took[0] > sorted(took[1:])[1], took

# %% [markdown]
# In the first one `send` itself did not come back at once. A new producer lacks two things: a
# number of its own, a **producer id**, by which brokers recognise what it sends (lesson 09), and
# **metadata**, which says who leads each of the 13 partitions. Any broker tells both. Then the
# record itself has to travel.

# %% tags=["prediction"]
my_longest = Choice(
    "What did the first send wait for longest?",
    producers.ID,
    producers.LEADERS,
    producers.RECORD,
)
my_longest

# %%
frames = cluster.gateway.frames(client_id="first")
answered = called + took[0] / 1000
waits = producers.waits(frames, called, answered)
longest = max(waits, key=waits.get)
spent = {what: f"“{what}” added {ms:.0f} of the {took[0]:.0f} ms." for what, ms in waits.items()}
print(my_longest.against(longest, spent))
ax = producers.on_the_wire(frames, called, answered)
title = f"Of {took[0]:.0f} ms “{longest}” took {waits[longest]:.0f}"
ax.set_title(title)
charts.show(ax, f"{title}. A bar for each request in the time of the first send: {waits}.")

# %% tags=["proof", "A101", "B75"]
metadata = [frame for frame in frames if frame.api == "Metadata"]
assert metadata[-1].requested > called, metadata
assert metadata[-1].requested - metadata[-2].requested >= 0.1, metadata  # the pause
assert abs(sum(waits.values()) - took[0]) < 1, waits
leaders = {one.leader for one in cluster.topic(rides).partitions}
others = {frame.broker for frame in frames if frame.api == "Produce"}
assert others <= leaders, others
ids = [frame.error for frame in frames if frame.api == "InitProducerId"]
assert set(ids) == {None}, ids  # at once, as these brokers have given out ids before
later = [frame.api for frame in frames if frame.requested > answered]
assert set(later) <= {"ApiVersions", "Produce"}, later  # the others pay for neither
with KafkaProducer(bootstrap_servers=cluster.address, client_id="older", **quick.producer) as older:
    wait_until(lambda: older._transaction_manager.has_producer_id(), timeout=10, what="an id")
    began = time.time()
    older.send(rides, value=b"later").get(timeout=10)
late = [one.api for one in cluster.gateway.frames(client_id="older") if one.requested > began]
assert "InitProducerId" not in late, late  # it has asked for the id as soon as it was made
assert "Metadata" in late, late

# %% [markdown]
# `send` comes back when it knows who leads; it does not wait for the id, which is fetched meanwhile
# and delays the record only where it comes later. The gap before the metadata is a pause: the
# producer had asked once when it was made, to learn of the brokers, and this client does not ask
# again within a tenth of a second (`retry_backoff_ms`). A program that sends at once waits for
# that. One that has run for a while does not, and has its id. (`ApiVersions` is how each connection
# begins.)
#
# The other rides did not pay again. Each record goes straight to the leader of its partition. Kafka
# has no router: the client has the map.

# %% [markdown]
# ## The clock of a send
#
# How long may a send take? Five settings share out its time. (Java writes dots: `max.block.ms`.)
#
# - `send` itself blocks while the producer does not know the topic: up to `max_block_ms`.
# - Then the record waits for company, up to `linger_ms` (lesson 05).
# - It is sent, and the producer waits up to `request_timeout_ms` for the answer. If none comes, it
#   pauses for `retry_backoff_ms` (in Java longer each time) and sends it again: a **retry**.
# - After `delivery_timeout_ms` it is over, and the future fails. This **delivery timeout** runs
#   from the first record of a batch.
#
# A producer with short times, so that we need not wait long:

# %%
from kafka.errors import KafkaTimeoutError

times = {
    "max_block_ms": 5_000,
    "linger_ms": 200,
    "request_timeout_ms": 1_000,
    "retry_backoff_ms": 300,
    "delivery_timeout_ms": 4_000,
}
settings = quick.producer | times | {"client_id": "patient"}
patient = KafkaProducer(bootstrap_servers=cluster.address, **settings)
patient.send(rides, value=b"first").get(timeout=10)  # pays for the id
times

# %% [markdown]
# Now the worst case: no answer comes back. The gateway lets the record through each time, and
# swallows what the broker says to it. (It also holds the metadata back for 400 ms.) How many times
# will the producer send the record before it gives up?

# %% tags=["prediction"]
my_times = Prediction("times sent", "How many times will it be sent?")
my_times

# %%
lost = producers.new_topic(cluster, "lost")
cluster.gateway.delay(400, api="Metadata", client_id="patient")
cluster.gateway.drop_replies("Produce", count=99, client_id="patient", silent=True)
called = time.time()
future = patient.send(lost, value=b"ride 5")
returned = time.time()
try:
    future.get(timeout=10)
except KafkaTimeoutError as error:
    print(error)
decided = time.time()
cluster.gateway.heal()

# %%
frames = cluster.gateway.frames(client_id="patient")
sent = [frame for frame in frames if frame.api == "Produce" and called < frame.requested < decided]
print(my_times.against(len(sent)))
parts = producers.spans(patient.config, frames, called, returned, decided)
ax = producers.clock(parts)
title = f"Sent {len(sent)} times in {1000 * (decided - returned):,.0f} ms, then given up"
ax.set_title(title)
charts.show(ax, f"{title}. From left to right: {[(p.setting, round(p.ms)) for p in parts]}.")

# %% tags=["proof", "A144"]
import itertools

assert future.failed(), future
assert len(sent) == 3, sent
assert 0.4 <= returned - called < 5, returned - called
assert 4 <= decided - returned < 7, decided - returned
assert sent[0].requested - returned >= 0.19, sent
steps = [after.requested - one.requested for one, after in itertools.pairwise(sent)]
assert min(steps) >= 1.25, steps

# %% [markdown]
# On the left each limit, beside each bar the time that was used. `send` waited for the metadata,
# and that does not count: the long bar, the delivery timeout, begins with the batch, here when
# `send` returns. Under it the steps: company, an answer that never comes, a pause, and the same
# again until the long bar ends. `retries` has no limit unless you set one: the time ends a send.
#
# The error says that time has passed. It does not say what became of the record. Ask the topic.

# %%
cluster.topic(lost).records

# %% tags=["proof", "A135"]
assert cluster.topic(lost).records == 1, cluster.topic(lost).records
assert all(frame.outcome == "dropped" for frame in sent), sent

# %% [markdown]
# It is there: the send failed, and the record is stored. What failed was the answer. A future that
# timed out says *nobody told me*, never *nothing happened*. And it is there once, though it was
# sent several times: the broker knew it again by the producer id and its number (lesson 09). A new
# `send` of the same ride would be a new record.

# %% [markdown]
# ## How it ends
#
# What waits in the memory of a producer ends with its program, unless somebody sees to it. `close`
# does: it sends them, and waits for the answers. Here is a program that sends 100 records and lets
# them wait five seconds for company. It ends in four ways: after a `close`; at its last line,
# without one; the same while no request gets through; and killed.

# %%
program = """
import os, signal, sys
from kafka import KafkaProducer

producer = KafkaProducer(bootstrap_servers=sys.argv[1], client_id="ends", linger_ms=5_000)
futures = [producer.send(sys.argv[2], value=b"ride") for _ in range(100)]
if sys.argv[3] == "close":
    producer.close(timeout=10)
if sys.argv[3] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""

# %% [markdown]
# Before you run the next cell: how many of the 100 does each ending leave?

# %%
kept = {}
for ending in ("close", "last line", "last line, cut off", "killed"):
    topic = producers.new_topic(cluster, "ends")
    if ending == "last line, cut off":
        cluster.gateway.hold_requests("Produce", count=99, client_id="ends")
    command = [sys.executable, "-P", "-c", program, cluster.address, topic, ending]
    run = subprocess.run(command, timeout=60, capture_output=True)
    cluster.gateway.heal()
    kept[ending] = cluster.topic(topic).records
    print(f"{ending}: {kept[ending]} records, exit status {run.returncode}")

# %% tags=["proof", "A164", "A147"]
assert kept["close"] == 100, kept
assert kept["last line, cut off"] == kept["killed"] == 0, kept

# %% [markdown]
# For each of these records `send` had come back without an error. At the end of Python this client
# closes by itself, and waits for one second: what has not left by then is lost, with exit status 0.
# Java's does not even do that. So end a program with `close`, or let `with KafkaProducer(…) as
# producer:` do it, on every way out of its block but a kill.

# %% [markdown]
# ## When it goes wrong
#
# `flush` sends what waits, as `close` does, and comes back when every future so far is decided; the
# producer stays open. Many programs send, flush, and believe that all is well.
#
# Besides `get`, a producer can call a function of yours with each answer: a **callback** with the
# receipt, an *errback* with the error. The next topic refuses batches above 65,536 bytes. Ten
# records are sent, and one of them alone is larger.

# %% tags=["prediction"]
my_flush = Choice(
    "One of ten records is refused. What comes out of flush?",
    "the error",
    "the number of records that failed",
    "nothing",
)
my_flush

# %%
tight = producers.new_topic(cluster, "tight", **{"max.message.bytes": "65536"})
sizes = [100] * 6 + [70_000] + [100] * 3
futures = [producer.send(tight, value=bytes(size)) for size in sizes]
heard = []
for future in futures:
    future.add_callback(heard.append)  # a receipt
    future.add_errback(heard.append)  # an error
said = producer.flush(timeout=10)
wait_until(lambda: len(heard) == 10, timeout=25, what="ten answers")  # callbacks come a bit later
print([type(answer).__name__ for answer in heard])
why = f"It came back with {said}. The error came through the errback."
my_flush.against("nothing", dict.fromkeys(my_flush.answers[:2], why))

# %% tags=["proof", "A103", "A129", "A135", "A145"]
assert said is None, said
assert len(heard) == 10, heard
assert [future.failed() for future in futures].count(True) == 1, futures
assert type(futures[6].exception).__name__ == "MessageSizeTooLargeError", futures[6].exception
batches = cluster.gateway.frames("Produce", client_id="first").batches()
tries = batches[batches.topic == tight].checksum
assert tries.is_unique, tries  # what will never fit is not sent again
with KafkaProducer(
    bootstrap_servers=cluster.address, **quick.producer | {"linger_ms": 5_000}
) as waiting:
    held = [waiting.send(tight, value=b"waits") for _ in range(20)]
    assert not any(one.is_done for one in held), held
    waiting.flush(timeout=4)
    assert all(one.succeeded() for one in held), held

# %% tags=["proof", "A102", "A104", "A105", "A143", "B75"]
import queue
import threading

answers = queue.SimpleQueue()
started = time.time()
for _ in range(200):
    producer.send(rides, value=b"alone").get(timeout=10)
alone = time.time() - started
for _ in range(200):
    producer.send(rides, value=b"called").add_callback(
        lambda receipt: answers.put((threading.current_thread().name, receipt))
    )
called_back = [answers.get(timeout=25) for _ in range(200)]  # counts down to none
together = time.time() - started - alone
assert answers.empty(), answers.qsize()
assert together < alone, (together, alone)
names = [name for name, _ in called_back]
assert max(names, key=names.count) == "first-network-thread", set(names)
for partition in range(13):
    offsets = [receipt.offset for _, receipt in called_back if receipt.partition == partition]
    assert offsets == sorted(offsets), offsets
talk = [one for one in cluster.gateway.frames(client_id="first") if one.requested > started]
assert {one.broker for one in talk if one.api == "Produce"} == leaders, talk
assert "Metadata" not in {one.api for one in talk}, talk

# %% [markdown]
# *Decided* is not *delivered*. A program that flushes, looks at no future and gives no callback has
# asked nobody. (A callback mostly runs on the producer's own thread, the one that talks to brokers:
# keep it short.)
#
# There is a second place where errors come out:

# %%
try:
    producer.send(tight, value=70)  # a number, and no bytes
except TypeError as error:
    print("send:", error)
print("future:", type(futures[6].exception).__name__)

# %% [markdown]
# `send` raises what stops it before it takes the record; what comes later, a refusal or a time-out,
# is in the future. Look in both. (An unknown topic, unless brokers make it, as is Kafka's default,
# keeps `send` for `max_block_ms`; then it raises. Java puts that into the future, and a record too
# large for it.)

# %% tags=["proof", "A107", "A110", "A130", "A144"]
dead = ["127.0.0.1:1", "127.0.0.1:2"]  # nobody listens there
hasty = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer | {"max_block_ms": 1_000})
attempts = {
    "no bytes": lambda: hasty.send(tight, value=70),
    "no such topic": lambda: hasty.send("unheard-of", value=b"x"),
    "no broker": lambda: KafkaProducer(bootstrap_servers=dead, bootstrap_timeout_ms=500),
    "too large": lambda: hasty.send(tight, value=bytes(70_000)).get(timeout=10),
    "larger than a request": lambda: hasty.send(tight, value=bytes(2_000_000)),
}
caught = {}
for name, attempt in attempts.items():
    try:
        attempt()
    except Exception as error:
        caught[name] = type(error).__name__
assert caught["no bytes"] == "TypeError", caught
assert caught["no such topic"] == caught["no broker"] == "KafkaTimeoutError", caught
assert caught["too large"] == caught["larger than a request"] == "MessageSizeTooLargeError", caught
assert "unheard-of" not in cluster.topics(), cluster.topics()
given = dead + cluster.address.split(",")
with KafkaProducer(bootstrap_servers=given, **quick.producer) as steady:
    reached = steady.send(rides, value=b"x").get(timeout=10)
assert reached.topic == rides, reached

# %% tags=["proof", "A106", "A147", "A165"]
from concurrent.futures import ThreadPoolExecutor


def alive(name):
    return any(thread.name.startswith(name) for thread in threading.enumerate())


ends = producers.new_topic(cluster, "careful")
careful = KafkaProducer(
    bootstrap_servers=cluster.address, client_id="careful", linger_ms=5_000, **quick.producer
)
try:
    with careful, ThreadPoolExecutor(4, thread_name_prefix="careful-worker") as workers:
        jobs = [workers.submit(careful.send, ends, value=b"waiting") for _ in range(20)]
        raise ValueError("the program trips")
except ValueError:  # on the way out of `with` the workers ended, then close was called
    assert all(job.result().succeeded() for job in jobs), jobs
assert cluster.topic(ends).records == 20, cluster.topic(ends).records
assert not alive("careful"), threading.enumerate()
cluster.gateway.cut(api="Produce", client_id="cut-off")
short = quick.producer | {"delivery_timeout_ms": 2_000, "request_timeout_ms": 1_000}
cut_off = KafkaProducer(bootstrap_servers=cluster.address, client_id="cut-off", **short)
hopeless = [cut_off.send(ends, value=b"lost") for _ in range(20)]
try:
    cut_off.close(timeout=0.3)
except KafkaTimeoutError as error:
    limit = error
assert type(limit) is KafkaTimeoutError, limit
assert alive("cut-off"), threading.enumerate()  # not closed; it goes on trying
wait_until(lambda: all(one.is_done for one in hopeless), timeout=20, what="the delivery timeout")
cut_off.close(timeout=10)  # it has nothing left to try
assert not alive("cut-off"), threading.enumerate()
cluster.gateway.heal()
assert [one.failed() for one in hopeless].count(True) == 20, hopeless
assert cluster.topic(ends).records == 20, cluster.topic(ends).records

# %% [markdown]
# ## Your turn
#
# A program calls `send(…).get()` with the settings of `patient`, and `send` does not know the topic
# yet. After how many milliseconds, at most, does `get` come back with a receipt or an error?

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: longest_ms = ...
longest_ms = patient.config["max_block_ms"] + patient.config["delivery_timeout_ms"]
# END SOLUTION
exercise.check("longest_ms", longest_ms, producers.answers.longest(patient.config))

# %% [markdown]
# Which of the ten records above would a program have to keep for later? Make a list of the places,
# from 0 to 9, of the futures that failed. A future has `is_done`, `succeeded()` and `failed()`.

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: places = ...
places = [place for place, future in enumerate(futures) if future.failed()]
# END SOLUTION
exercise.check("places", places, producers.answers.failed(futures))

# %% tags=["proof", "A111"]
# What this page asks, as this run answers it.
assert longest in my_longest.answers, longest
assert len(sent) == 3, sent
assert said is None, said
assert longest_ms == 9_000, longest_ms
assert places == [6], places

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- The first send took {took[0]:.0f} ms: {waits[producers.LEADERS]:.0f} to learn who leads,
  {waits[producers.ID]:.0f} more for an id, {waits[producers.RECORD]:.0f} for the record.
  The next four took {min(took[1:]):.0f} to {max(took[1:]):.0f} ms.
- A record was sent {len(sent)} times within its delivery timeout. Its send failed, and the topic
  holds it.
- Of 100 records that waited, {kept["close"]} were left after `close`, {kept["killed"]} after a
  kill, and {kept["last line, cut off"]} where a program without `close` was cut off.
- `flush` returned while {sum(future.failed() for future in futures)} of {len(futures)} futures
  had failed.
""")

# %%
cluster.close()
