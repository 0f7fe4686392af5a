# %% [markdown]
# # Lab 03 Stock producer
#
# Eight stocks, one producer, prices all day long. You write that program piece by piece. Then a
# broker is restarted under it, and somebody presses Ctrl-C. Does your program still tell the truth
# about what it has sent?

# %% [markdown]
# **You will**
#
# - give records a form and a place: JSON, a key, and a partitioner of your own;
# - count what was sent, what was acknowledged and what failed;
# - let eight threads share one producer, while a broker goes and comes back;
# - end a program so that nothing is left in its buffer.
#
# **Needs** lessons 02, 04 and 05. **Time** about 90 minutes. **Points** 100.

# %% tags=["parameters"]
student = ""  # your name or number in the course; the grader puts it in
seconds_of_trading = 3  # after the restart of the broker

# %%
from grading.lab import Lab

lab = Lab.open("lab03_stock_producer", student)
lab

# %% [markdown]
# `lab.p.stocks` is the list of *your* stocks: a name, the lowest price and the highest, each price
# as `[dollars, cents]`. Two of them are important: `lab.p.important`.
#
# Tasks 2 to 7 make one program. Their cells hold definitions only, and after task 7 they are put
# together in a file and run outside of the notebook. So a function gets what it needs as
# arguments, and `lab` does not occur in it.

# %% [markdown]
# ## Before task 1: what the brokers say
#
# Whatever you do not set, a topic has from its brokers, and some things belong to the brokers
# alone. Before you run the next cell: if a program misspells the name of a topic, do these brokers
# create one of that name? And with how many in-sync replicas are they content?

# %% tags=["A153"]
import os

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import ConfigResource

from kafkalab import Prediction, charts, clients, quick, read_topic, spark_session, wait_until

admin = KafkaAdminClient(bootstrap_servers=lab.cluster.address, **quick.admin)
every = [ConfigResource("BROKER", str(broker)) for broker in lab.cluster.brokers]
found = admin.describe_configs(every, config_filter="all")["broker"]
asked = ("auto.create.topics.enable", "min.insync.replicas", "replica.lag.time.max.ms")
of_brokers = {broker: [own[name]["value"] for name in asked] for broker, own in found.items()}
assert list(of_brokers.values()) == [["false", "1", "5000"]] * 3


def remove(name):
    """Delete a topic if it is there, and wait until it is gone."""
    if name in admin.list_topics():
        admin.delete_topics([name])
        wait_until(lambda: name not in admin.list_topics(), timeout=15, what=f"{name} to go")


remove(lab.p.topic)
of_brokers

# %% [markdown]
# No topic is created: a misspelled name is an error, which task 6 meets. One replica would do, if
# the topic says nothing else. And a follower that has not kept up for 5000 ms is out of sync.

# %% [markdown]
# ## Task 1: a topic for prices
#
# Create the topic `lab.p.topic` with `lab.p.partitions` partitions and three copies of each. Two
# settings are the topic's own: `max.message.bytes` is `lab.p.max_bytes`, and `min.insync.replicas`
# is 2. **10 points**
#
# Why 2, when there are three copies? With 3, the first broker that is restarted would stop the
# trade.
#
# *Example.* `Configs: min.insync.replicas=2,max.message.bytes=40000`

# %% tags=["task-1"]
# Task 1
# BEGIN SOLUTION
# STUB: create the topic lab.p.topic with its settings
settings = {"min.insync.replicas": "2", "max.message.bytes": str(lab.p.max_bytes)}
shape = {"num_partitions": lab.p.partitions, "replication_factor": 3, "configs": settings}
admin.create_topics({lab.p.topic: shape})
# END SOLUTION
lab.cluster.wait_for_topic(lab.p.topic)

# %% tags=["check-1", "A153"]
lab.check(1)

# %% [markdown]
# ## Task 2: a price
#
# `StockPrice` is given. Write two functions.
#
# - `to_json(price)` returns the bytes of a JSON object with the fields dollars, cents and name, in
#   this order.
# - `random_price(stock, generator)` draws a price for one entry of `lab.p.stocks`. The dollars lie
#   between those of the lowest and of the highest price, the cents between the cents of both,
#   drawn one after the other, and both ends can occur. All chance comes from `generator`, which is
#   a `random.Random`. **15 points**
#
# *Example.* `StockPrice(68, 37, "IBM")` becomes `{"dollars": 68, "cents": 37, "name": "IBM"}`.
# A stock `["IBM", [50, 10], [100, 99]]` costs 50 to 100 dollars and 10 to 99 cents.

# %% tags=["task-2"]
# Task 2
import json
import random
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class StockPrice:
    dollars: int
    cents: int
    name: str


# BEGIN SOLUTION
# STUB: write to_json and random_price
def to_json(price: StockPrice) -> bytes:
    return json.dumps(asdict(price)).encode()


def random_price(stock: list, generator: random.Random) -> StockPrice:
    name, (low_dollars, low_cents), (high_dollars, high_cents) = stock
    dollars = generator.randint(low_dollars, high_dollars)
    return StockPrice(dollars, generator.randint(low_cents, high_cents), name)


# END SOLUTION

# %% tags=["check-2", "A136", "A155"]
lab.check(2)

# %% [markdown]
# A classic mistake with chance: every thread makes its own generator and seeds it with the clock.
# Two threads that start in the same tick of the clock then draw the same numbers. Here two stocks
# have the same bounds.
#
# Before you run the next cell: in how many of 50 prices do the two stocks agree, with one seed for
# both, and with a seed for each?

# %% tags=["demo", "A156"]
twins = [["LEFT", [10, 0], [900, 99]], ["RIGHT", [10, 0], [900, 99]]]


def agreements(seeds):
    """How many of 50 prices are the same for both stocks."""
    generators = [random.Random(seed) for seed in seeds]
    drawn = [
        [(p.dollars, p.cents) for p in (random_price(stock, generator) for _ in range(50))]
        for stock, generator in zip(twins, generators, strict=True)
    ]
    return sum(left == right for left, right in zip(*drawn, strict=True))


by_clock, by_name = agreements(["noon", "noon"]), agreements(["LEFT", "RIGHT"])
assert by_clock == 50, "the same seed, the same market"
assert by_name < 5
by_clock, by_name

# %% [markdown]
# ## Task 3: important stocks have a partition of their own
#
# With the usual partitioner a few keys may leave a partition empty, and an important stock shares
# its partition with whatever has a fitting hash. Write `partition_of(key, partitions, important)`:
#
# - `key` is the name of the stock as bytes, `partitions` the number of partitions of the topic,
#   `important` a set of names (text);
# - an important stock goes to the last partition;
# - every other stock goes to one of the others: murmur2 of the key, without its top bit, modulo
#   their number;
# - with one partition everything goes there;
# - a record without a key is refused with a `ValueError`.
#
# Then write the class `StockPartitioner(important)`, a `Partitioner` as in lesson 02, which a
# producer calls. Count *all* partitions of the topic, and not only those that have a leader now: a
# key must not move because a broker is away. **20 points**
#
# *Example.* With 3 partitions, `b"IBM"` being important: partition 2. `b"SUN"`: partition 0.

# %% tags=["task-3"]
# Task 3
from kafka.partitioner import Partitioner, murmur2


# BEGIN SOLUTION
# STUB: write partition_of and StockPartitioner
def partition_of(key: bytes | None, partitions: int, important: set[str]) -> int:
    if key is None:
        raise ValueError("a price without the name of its stock")
    if partitions == 1 or key.decode() in important:
        return partitions - 1
    return (murmur2(key) & 0x7FFFFFFF) % (partitions - 1)


class StockPartitioner(Partitioner):
    def __init__(self, important):
        self.important = set(important)

    def partition(self, topic, key, serialized_key, value, serialized_value, cluster):
        count = len(cluster.partitions_for_topic(topic))
        return partition_of(serialized_key, count, self.important)


# END SOLUTION

# %% tags=["check-3", "A138"]
lab.check(3)

# %% [markdown]
# ## Task 4: a producer that counts
#
# kafka-python has no interceptors, so wrap the producer. `CountingProducer(producer)` keeps it as
# `producer`. Its method `send(topic, **parts)` sends with the wrapped producer and returns its
# future. It has three numbers:
#
# - `sent`: how often `send` was called;
# - `acknowledged`: how many records a broker has acknowledged;
# - `failed`: how many were not. Some failures come later, through the future. Others are raised by
#   `send` itself; count them and let the exception pass on.
#
# When nothing is under way, `sent` is the sum of the other two. **15 points**
#
# *Example.* Ten records, of which the broker refuses one: 10, 9, 1.


# %% tags=["task-4"]
# Task 4
# BEGIN SOLUTION
# STUB: write CountingProducer
class CountingProducer:
    def __init__(self, producer):
        self.producer = producer
        self.sent = self.acknowledged = self.failed = 0

    def send(self, topic, **parts):
        self.sent += 1
        try:
            future = self.producer.send(topic, **parts)
        except Exception:
            self.failed += 1
            raise
        return future.add_callback(self.on_acknowledgement).add_errback(self.on_failure)

    def on_acknowledgement(self, metadata):
        self.acknowledged += 1

    def on_failure(self, error):
        self.failed += 1


# END SOLUTION

# %% [markdown]
# The next cell tries it: records of the right size, records that the topic refuses because they
# are too large, and one that has no form at all.

# %%
remove(lab.p.counted_topic)
limit = {"max.message.bytes": str(lab.p.max_bytes)}
admin.create_topics(
    {lab.p.counted_topic: {"num_partitions": 1, "replication_factor": 3, "configs": limit}}
)
lab.cluster.wait_for_topic(lab.p.counted_topic)
# without a serializer a value has to be bytes already
plain = KafkaProducer(bootstrap_servers=lab.cluster.address, linger_ms=0, **quick.producer)
counting = CountingProducer(plain)
for number in range(lab.p.good):
    counting.send(lab.p.counted_topic, value=str(number).encode())
plain.flush(timeout=10)
refused = [
    counting.send(lab.p.counted_topic, value=os.urandom(lab.p.max_bytes + 1000))
    for _ in range(lab.p.too_large)
]
plain.flush(timeout=10)

passed_on = None
try:
    counting.send(lab.p.counted_topic, value={"dollars": 68})
except Exception as error:
    passed_on = type(error).__name__
reasons = [type(getattr(future, "exception", None)).__name__ for future in refused]
counting.sent, counting.acknowledged, counting.failed, passed_on, set(reasons)

# %% tags=["check-4", "A140"]
lab.check(4)

# %% [markdown]
# ## Task 5: the settings
#
# Write `settings(important)`. It returns the settings of the producer, as a dictionary for
# `KafkaProducer`: acknowledgement by all in-sync replicas, idempotence, compression with snappy,
# batches of 65,536 bytes, a linger of 20 ms, text keys and JSON values (so that `send` takes a name
# and a `StockPrice`), and your partitioner. **5 points**
#
# *Example.* `settings({"IBM"})["linger_ms"]` is 20.


# %% tags=["task-5"]
# Task 5
# BEGIN SOLUTION
# STUB: write settings
def settings(important):
    return {
        "acks": "all",
        "enable_idempotence": True,
        "compression_type": "snappy",
        "batch_size": 65_536,
        "linger_ms": 20,
        "key_serializer": str.encode,
        "value_serializer": to_json,
        "partitioner": StockPartitioner(important),
    }


# END SOLUTION


# %%
from kafkalab.lessons.producers import metering


def report(producer, stop, say):
    """Each second, until `stop` is set, say what the producer has measured."""
    while not stop.wait(1):
        say(metering.numbers(producer))


shared = KafkaProducer(
    bootstrap_servers=lab.cluster.address, **quick.producer | settings(lab.p.important)
)
{name: shared.config[name] for name in ("acks", "retries", "delivery_timeout_ms", "linger_ms")}

# %% tags=["check-5"]
lab.check(5)

# %% [markdown]
# The cell above also shows what you did not set. How often does this client try again? Without
# an end: what ends a send is its time, `delivery_timeout_ms`.
#
# The next table is of what Java's documentation says of version 4.3. Before you run it: in how many
# of the sixteen does this client differ?

# %% tags=["demo", "A113"]
java = {
    "acks": -1,  # all
    "enable_idempotence": True,
    "retries": 2_147_483_647,
    "delivery_timeout_ms": 120_000,
    "request_timeout_ms": 30_000,
    "retry_backoff_ms": 100,
    "max_in_flight_requests_per_connection": 5,
    "batch_size": 16_384,
    "linger_ms": 5,
    "max_block_ms": 60_000,
    "max_request_size": 1_048_576,
    "compression_type": None,
    "client_id": None,
    "partitioner": None,  # murmur2 for a key, else one partition for as long as a batch lasts
    "buffer_memory": 33_554_432,
    "interceptor_classes": [],
}
here = KafkaProducer.DEFAULT_CONFIG
differ = {n: (java[n], here.get(n, "not there")) for n in java if here.get(n) != java[n]}
absent = java.keys() - here.keys()
assert absent == {"buffer_memory", "interceptor_classes"}
assert set(differ) == {"retries", "linger_ms", "partitioner"} | absent
differ

# %% [markdown]
# In five. Java's number of retries is large and this client's is without an end; in both it is the
# time that ends a send. Java waits 5 ms for company since version 4, and this client not at all. A
# record without a key goes to a random partition here. And two settings are missing: this client's
# buffer has no bound, and it has no interceptors. Lesson 05 puts a bound in front of it.

# %% [markdown]
# ## Task 6: one sender for each stock
#
# Write `trade(producer, topic, stock, stop, say)`, which is what a thread does for one stock:
#
# - its generator is seeded with the name of the stock;
# - until `stop` (a `threading.Event`) is set, it sends prices. The key is the name. The header
#   `number` says which price of this stock it is, counted from 1, as text;
# - after each send it pauses for 1 to 10 ms, in such a way that `stop` wakes it at once;
# - for every 100th price it waits for the acknowledgement and calls `say` with one line in the form
#   of the example: it begins with the name and has the words `partition` and `offset`;
# - a price that fails does not end the trade: it says so in a line with the word `failed`, and
#   goes on;
# - it returns how many prices it tried. **20 points**
#
# *Example.* `IBM 68.37 -> stock-prices, partition 2, offset 4711`


# %% tags=["task-6"]
# Task 6
import threading


# BEGIN SOLUTION
# STUB: write trade
def trade(producer, topic, stock, stop: threading.Event, say):
    generator, number = random.Random(stock[0]), 0
    while not stop.is_set():
        number += 1
        price = random_price(stock, generator)
        line = f"{price.name} {price.dollars}.{price.cents:02d}"
        try:
            future = producer.send(
                topic, key=price.name, value=price, headers=[("number", str(number).encode())]
            )
            if number % 100 == 0:
                at = future.get(timeout=15)
                say(f"{line} -> {at.topic}, partition {at.partition}, offset {at.offset}")
        except Exception as error:
            say(f"{line} failed: {error!r}")
        stop.wait(generator.uniform(0.001, 0.010))
    return number


# END SOLUTION

# %% [markdown]
# Now all stocks are traded, eight threads with one producer. A ninth looks on: each second it
# reports what the producer has measured. Meanwhile broker `lab.p.restarted` is stopped in order and
# started again. How many prices will be lost?
#
# To trade once more, first run the cell in front of task 1, task 1, and the cell that makes
# `shared`: the topic must be empty.

# %% tags=["prediction"]
my_lost = Prediction("prices")
my_lost


# %%
import time
from concurrent.futures import ThreadPoolExecutor, wait

lines, measured, stop = [], [], threading.Event()
trading = CountingProducer(shared)
threads = ThreadPoolExecutor(len(lab.p.stocks) + 1)
ninth = threads.submit(report, shared, stop, measured.append)
tried = [
    threads.submit(trade, trading, lab.p.topic, stock, stop, lines.append) for stock in lab.p.stocks
]
try:
    wait_until(
        lambda: trading.acknowledged > 200 or any(one.done() for one in tried),
        timeout=20,
        what="the first prices",
    )
    restarted_at = time.time()
    lab.cluster.restart(lab.p.restarted)
    stop.wait(seconds_of_trading)
finally:
    stop.set()
ended = wait(tried, timeout=20).done
shared.flush(timeout=15)
prices_tried = sum(future.result() for future in ended)
lines[-3:], len(ended), prices_tried, trading.acknowledged, trading.failed

# %% [markdown]
# The same function once more, on a topic that does not exist. Each send waits for the topic and
# gives up; the trade goes on until it is stopped.

# %%
complaints, gone = [], threading.Event()
short = KafkaProducer(
    bootstrap_servers=lab.cluster.address,
    **quick.producer | settings(lab.p.important) | {"max_block_ms": 300},
)
hopeless = ThreadPoolExecutor(1).submit(
    trade, short, lab.p.missing_topic, lab.p.stocks[0], gone, complaints.append
)
try:
    wait_until(lambda: len(complaints) >= 3 or hopeless.done(), timeout=15, what="three complaints")
finally:
    gone.set()
    wait([hopeless], timeout=10)
complaints[:3]

# %% tags=["check-6", "A112", "A137", "A157", "A158"]
lab.check(6)

# %% [markdown]
# And what did the ninth worker say, at the end? Before you run the next cell: how many prices went
# with one request, and is a record larger than its JSON?

# %% tags=["demo", "A154"]
assert (len(tried), ninth.result(timeout=10)) == (8, None), "eight have traded, one has looked on"
last = {(one.group, one.name): (one.value, one.description) for one in measured[-1]}
groups = {group for group, _ in last}
assert {"producer-metrics", f"producer-topic-metrics.{lab.p.topic}"} <= groups
assert any(group.startswith("producer-node-metrics.") for group in groups)
shown = ("record-send-rate", "record-retry-rate", "record-error-rate", "record-size-avg")
shown += ("records-per-request-avg", "record-queue-time-max", "compression-rate-avg")
whole = {name: last["producer-metrics", name] for name in shown}
assert whole["record-send-rate"][0] > 0 == whole["record-error-rate"][0]
assert whole["record-size-avg"][0] > len(to_json(StockPrice(1000, 99, "GOOG")))
whole

# %% [markdown]
# Each number with what it says of itself. A record is larger than its JSON: key, header and frame
# come with it. If one rate is to wake you up at night, it is that of the errors. Retries are what a
# producer is for.

# %% [markdown]
# What does Spark read in the topic?

# %% tags=["demo", "A159"]
from IPython.display import display
from pyspark.sql import functions as F

prices = read_topic(spark_session(), lab.cluster, lab.p.topic).select(
    "timestamp",
    "partition",
    F.col("key").cast("string").alias("stock"),
    F.from_json(F.col("value").cast("string"), "dollars INT, cents INT, name STRING").alias("p"),
)
priced = prices.withColumn("price", F.col("p.dollars") + F.col("p.cents") / 100)
table = priced.groupBy("stock", "partition").agg(
    F.count("*").alias("prices"), F.min("price"), F.mean("price"), F.max("price")
)
display(table.orderBy("partition", "stock").toPandas().round(2))
in_log = priced.count()
print(my_lost.against(trading.acknowledged - in_log))
usual = {name: (murmur2(name.encode()) & 0x7FFFFFFF) % 3 for name in ("IBM", "SUN", "UBER", "XYZ")}
other = {name: (murmur2(name.encode()) & 0x7FFFFFFF) % 3 for name in ("GOOG", "INEL", "ABC", "DEF")}
assert set(usual.values()) == {2}
assert set(other.values()) == {0}, "partition 1 would have nothing to do"
ax = charts.records_per_second(priced, marks={f"broker {lab.p.restarted} restarts": restarted_at})
ax.set_title(f"{in_log} prices in the log, of {trading.acknowledged} that were acknowledged")
charts.show(
    ax, f"Prices per second, with a mark where broker {lab.p.restarted} was stopped and started."
)

# %% [markdown]
# ## Two retries, or a deadline?
#
# Old advice for such a program: two retries, one second apart, 15 seconds for a request, and one
# request at a time so that the order is kept. What are two retries worth when a broker is
# restarted?
#
# The next topic needs all *three* copies in sync, and has one partition. Its leader is stopped in
# the middle of 200 records. `patient` has the client's own retries; `twice` has the old ones, and
# sends one record while the leader is away. A logbook looks on. Java calls it an *interceptor*: it
# hears of each record and of each answer. It notes each hundredth at the level `INFO`, and the
# others at `DEBUG`. Before you run the next three cells: which records arrive, and how many lines
# are noted in all?

# %% tags=["demo"]
import logging
from logging.handlers import BufferingHandler

from kafkalab.lessons.producers.interceptors import InterceptingProducer

log = logging.getLogger("stocks")
log.setLevel(logging.DEBUG)


class Logbook:
    sent = answered = 0

    def on_send(self, record):
        self.sent += 1
        self.tell(self.sent, "on_send", record["value"])
        return record

    def on_acknowledgement(self, receipt, error):
        self.answered += 1
        self.tell(self.answered, "on_ack", error or (receipt.topic, receipt.offset))

    def tell(self, number, hook, what):
        log.log(logging.DEBUG if number % 100 else logging.INFO, "%s %s", hook, what)


# %% tags=["demo", "A131"]
old_advice = {
    "retries": 2,
    "retry_backoff_ms": 1_000,
    "request_timeout_ms": 15_000,
    "max_in_flight_requests_per_connection": 1,
}
strict = f"{lab.p.topic}-strict"
remove(strict)
needs_all = {"num_partitions": 1, "replication_factor": 3, "configs": {"min.insync.replicas": "3"}}
admin.create_topics({strict: needs_all})
lab.cluster.wait_for_topic(strict)
lab.cluster.wait_for_isr(strict, 3)
patient = KafkaProducer(
    bootstrap_servers=lab.cluster.address, **quick.producer | {"delivery_timeout_ms": 60_000}
)
twice = KafkaProducer(
    bootstrap_servers=lab.cluster.address,
    **quick.producer | {"delivery_timeout_ms": 60_000} | old_advice,
)
assert {name: twice.config[name] for name in old_advice} == old_advice
logbook, log.handlers = Logbook(), [BufferingHandler(capacity=1_000)]
logged = InterceptingProducer(patient, logbook)
leader = lab.cluster.topic(strict).partitions[0].leader
old_advice

# %% tags=["demo", "A132", "A140"]
promises = [logged.send(strict, value=b"%d" % number) for number in range(100)]
logged.flush(timeout=15)
twice.send(strict, value=b"before").get(timeout=15)
lab.cluster.stop(leader)
lab.cluster.wait_for_isr(strict, 2)
promises += [logged.send(strict, value=b"%d" % number) for number in range(100, 200)]
meanwhile = twice.send(strict, value=b"meanwhile")
wait_until(lambda: meanwhile.is_done, timeout=30, what="an end of the one record")
waiting = sum(not promise.is_done for promise in promises)
again = patient.metrics()["producer-metrics"]["record-retry-rate"]
lab.cluster.restart(leader)
logged.flush(timeout=60)

reader = KafkaConsumer(
    strict, bootstrap_servers=lab.cluster.address, auto_offset_reset="earliest", **quick.consumer
)
arrived = [record.value for record in clients.records_until_end(reader)]
arrived.remove(b"before")  # what is left: all 200, once each, in their order
assert (waiting, again > 0, arrived) == (100, True, [b"%d" % number for number in range(200)])
assert meanwhile.failed()
assert logbook.sent == logbook.answered == 200, "they agree after a flush"
told = [(line.levelname, line.getMessage()) for line in log.handlers[0].buffer]
assert [level for level, _ in told].count("INFO") == len(told) / 100 == 4
print(f"{again:.1f} records sent again each second; the one: {meanwhile.exception!r}")
[text for level, text in told if level == "INFO"]

# %% [markdown]
# All 200 of them, once each and in their order, although 100 were refused again and again. The one
# of `twice` was given up while the broker was still away. A number of retries does not know how
# long a restart takes; `delivery_timeout_ms` asks for the time that you are ready to wait. Nor does
# the order need one request at a time: idempotence keeps it with five.
#
# And now you have seen why task 1 asks for 2 and not for 3: the trade would have stood still.

# %% [markdown]
# ## Task 7: the end of the program
#
# Somebody presses Ctrl-C. Eight threads are in the middle of a pause, and the producer holds prices
# that no broker has seen. Write `run(producer, topic, stocks)`:
#
# - it starts a thread for each stock, which calls `trade` with `print` for `say`;
# - SIGINT and SIGTERM set `stop`;
# - then it waits until the threads have ended, prints a line with the word `flushing`, flushes,
#   prints a line with the word `closing`, and closes the producer. Flush and close have a limit of
#   10 seconds each;
# - it returns the status of the process: 130 after SIGINT, 143 after SIGTERM.
#
# `producer` is a `CountingProducer`, and what it wraps is `producer.producer`. **15 points**
#
# *Example.* The last lines on the screen are `flushing` and `closing`, and `echo $?` shows 130.

# %% tags=["task-7"]
# Task 7
import signal
from concurrent.futures import ThreadPoolExecutor


# BEGIN SOLUTION
# STUB: write run
def run(producer, topic, stocks):
    stop, received = threading.Event(), []

    def on_signal(number, frame):
        received.append(number)
        stop.set()

    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    with ThreadPoolExecutor(len(stocks)) as threads:
        for stock in stocks:
            threads.submit(trade, producer, topic, stock, stop, print)
        stop.wait()
    print("flushing")
    producer.producer.flush(timeout=10)
    print("closing")
    producer.producer.close(timeout=10)
    return 128 + received[0]


# END SOLUTION

# %% [markdown]
# `lab.program` puts the cells of tasks 2 to 7 into a file. What stands below them is the course's:
# it notes what is asked of the producer, and in its last line tells the counts, and what came after
# the last price. The program runs as a process of its own, until a signal comes.

# %%
import subprocess
import sys

from kafkalab import CourseError

END = """
if __name__ == "__main__":
    import json
    import sys
    from kafka import KafkaProducer
    from kafkalab import quick
    address, topic, stocks, important = json.loads(sys.argv[1])
    own = {**settings(important), "linger_ms": 500}  # so that the buffer is never empty
    asked = []  # of the producer, since the last price

    class Noting(KafkaProducer):
        def send(self, *given, **named):
            asked.clear()
            return super().send(*given, **named)

        def flush(self, timeout=None):
            asked.append("flush")
            return super().flush(timeout)

        def close(self, timeout=None):
            asked.append("close")
            return super().close(timeout)

    producer = CountingProducer(Noting(bootstrap_servers=address, **quick.producer | own))
    status = run(producer, topic, stocks)
    counts = {name: getattr(producer, name) for name in ("sent", "acknowledged", "failed")}
    print(json.dumps({**counts, "asked": asked}))
    sys.exit(status)
"""
file = lab.program("stock_producer.py", tasks=range(2, 8), end=END)
remove(lab.p.program_topic)
admin.create_topics({lab.p.program_topic: {"num_partitions": 3, "replication_factor": 3}})
lab.cluster.wait_for_topic(lab.p.program_topic)


# %%
def run_until(name):
    """The status of the program after this signal, and the lines that it printed."""
    topic = lab.p.program_topic
    enough = lab.cluster.topic(topic).records + 100
    given = json.dumps([lab.cluster.address, topic, lab.p.stocks, lab.p.important])
    process = subprocess.Popen(
        [sys.executable, "-u", file, given], stdout=subprocess.PIPE, text=True
    )
    try:
        wait_until(
            lambda: process.poll() is not None or lab.cluster.topic(topic).records > enough,
            timeout=25,
            what="100 prices of the program",
            not_yet=(CourseError,),
        )
        process.send_signal(signal.Signals[name])
        printed, _ = process.communicate(timeout=25)
    finally:
        process.kill()
    return process.returncode, printed.splitlines()


ends = {name: run_until(name) for name in ("SIGINT", "SIGTERM")}
{name: (status, said[-3:]) for name, (status, said) in ends.items()}

# %% tags=["check-7", "A162"]
lab.check(7)

# %% [markdown]
# ## When a thread does not end
#
# Your `run` waits for its threads, however long that takes. Two forms of an end are more careful.
# The *long* one asks, waits 200 ms, and ends by force who still runs. The *short* one asks, waits
# 200 ms, flushes, and gives the close 10 seconds.
#
# Here is a worker whose author forgot `stop`. From outside nobody can end a thread of Python. But a
# producer that is closed takes no record, and `send` then raises.
#
# Before you run the next two cells: how many of the two workers will have ended after the 200 ms,
# and how many prices of the long form will fail?


# %% tags=["demo"]
def deaf(producer, topic, stock, stop, say):
    """A worker that does not look at `stop`: it goes on until `send` raises."""
    never = threading.Event()
    for _ in range(20_000):
        producer.send(topic, key=stock[0], value=StockPrice(68, 37, stock[0]))
        never.wait(0.002)


def at_work(*workers):
    """The workers with one producer, as soon as prices arrive; their futures; their `stop`."""
    stop, threads = threading.Event(), ThreadPoolExecutor(len(workers))
    own = {**settings(lab.p.important), "linger_ms": 200}
    producer = CountingProducer(
        KafkaProducer(bootstrap_servers=lab.cluster.address, **quick.producer | own)
    )
    jobs = [
        threads.submit(worker, producer, f"{lab.p.topic}-ends", stock, stop, print)
        for worker, stock in zip(workers, lab.p.stocks, strict=False)
    ]
    threads.shutdown(wait=False)  # no more work for the pool; who works, goes on
    wait_until(lambda: producer.acknowledged > 20, timeout=20, what="the first prices")
    return producer, jobs, stop


# %% tags=["demo", "A163"]
remove(f"{lab.p.topic}-ends")
admin.create_topics({f"{lab.p.topic}-ends": {"num_partitions": 3, "replication_factor": 3}})
lab.cluster.wait_for_topic(f"{lab.p.topic}-ends")

long_form, jobs, stop = at_work(trade, deaf)
stop.set()
late = wait(jobs, timeout=0.2).not_done  # ask the workers; that `stop` is set says nothing
assert jobs[1] in late
long_form.producer.flush(timeout=10)
jobs[0].result(timeout=10)  # if it waited for an answer, the flush brought it
assert not jobs[1].done(), "nothing has ended this one yet"
long_form.producer.close(timeout=10)  # the force
ended_by = [type(job.exception(timeout=10)).__name__ for job in jobs]
assert ended_by == ["NoneType", "IllegalStateError"]

short_form, jobs, stop = at_work(trade, trade)
stop.set()
wait(jobs, timeout=0.2)
short_form.producer.flush(timeout=10)
assert [job.exception(timeout=10) for job in jobs] == [None, None]
short_form.producer.close(timeout=10)
counts = [(form.sent - form.acknowledged, form.failed) for form in (long_form, short_form)]
assert counts == [(1, 1), (0, 0)], "one price was refused by the closed producer"
counts

# %% [markdown]
# Both forms lost nothing that the producer had taken. They differ in what they know: the long one
# asks each worker whether it has ended, and so it can say that one had to be forced. A program that
# asks instead whether `stop` is set always hears yes, and would never use its force.
#
# And the order matters. Workers first, then the flush, then the close: whoever flushes while
# others still send has a buffer that fills behind his back.

# %% [markdown]
# ## After a crash
#
# A program copies lines of a file. After each hundred it flushes, and only then writes down how far
# it has come. In the middle of the sixth hundred the power fails.
#
# Before you run the next cells: with which line must the second run begin, and will one be missing?
# At the end the topic of the copies is deleted and made anew. Which offset does its next record
# get?

# %% tags=["demo"]
copy_topic = f"{lab.p.program_topic}-copy"
COPY = """
import os, sys
from pathlib import Path
from kafka import KafkaProducer
from kafkalab import quick
address, topic, crash_at = sys.argv[1], sys.argv[2], int(sys.argv[3])
checkpoint = Path("checkpoint")
done = int(checkpoint.read_text()) if checkpoint.exists() else 0
print(done, flush=True)
producer = KafkaProducer(bootstrap_servers=address, linger_ms=5_000, **quick.producer)
for number in range(done + 1, 1001):
    producer.send(topic, value=b"%d" % number)
    if number == crash_at:
        os._exit(1)  # no flush, no close
    if number % 100 == 0:
        producer.flush(timeout=10)
        checkpoint.write_text(str(number))
"""


def copy(crash_at):
    given = [sys.executable, "-P", "-c", COPY, lab.cluster.address, copy_topic, str(crash_at)]
    run = subprocess.run(given, capture_output=True, text=True, timeout=60)
    return run.returncode, int(run.stdout)


# %% tags=["demo", "A146", "A161"]
from pathlib import Path

Path("checkpoint").unlink(missing_ok=True)
remove(copy_topic)
admin.create_topics({copy_topic: {"num_partitions": 1, "replication_factor": 3}})
lab.cluster.wait_for_topic(copy_topic)
crashed, resumed = copy(550), copy(0)
copied = KafkaConsumer(
    copy_topic,
    bootstrap_servers=lab.cluster.address,
    auto_offset_reset="earliest",
    **quick.consumer,
)
numbers = [int(record.value) for record in clients.records_until_end(copied)]
assert crashed == (1, 0)
assert resumed == (0, 500), "the 50 lines behind the checkpoint were in the buffer"
assert set(numbers) == set(range(1, 1001)), "no line is missing"

remove(copy_topic)
admin.create_topics({copy_topic: {"num_partitions": 1, "replication_factor": 3}})
lab.cluster.wait_for_topic(copy_topic)
afterwards = KafkaProducer(bootstrap_servers=lab.cluster.address, **quick.producer)
fresh = afterwards.send(copy_topic, value=b"first")
assert fresh.get(timeout=10).offset == 0, "a new topic with an old name"
len(numbers), fresh.value

# %% [markdown]
# Had the program written its checkpoint before the flush, the second run would have begun with a
# line that never left the first. The other way round a line may come twice, and none is lost. And
# the new topic has its old name, and nothing else of the old one: its first offset is 0.

# %%
lab.score()

# %%
lab.close()
