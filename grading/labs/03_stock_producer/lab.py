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
# Tasks 2 to 7 make one program. Their cells hold definitions only; after task 7 they are put
# together in a file and run outside of the notebook. So a function gets what it needs as
# arguments, and `lab` does not occur in it.

# %% [markdown]
# ## Before task 1: what the brokers say
#
# Whatever you do not set, a topic has from its brokers. Before you run the next cell: if a
# program misspells the name of a topic, do these brokers create it? And with how many in-sync
# replicas are they content?

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
# No topic is created: a misspelled name is an error. One replica would do, if the topic says
# nothing else. The third setting says after how long a slow follower is out of sync.

# %% [markdown]
# ## Task 1: a topic for prices
#
# Create the topic `lab.p.topic` with `lab.p.partitions` partitions and three copies of each. Two
# settings are the topic's own: `max.message.bytes` is `lab.p.max_bytes`, and `min.insync.replicas`
# is 2. **10 points**
#
# Why 2, when there are three copies? You will see it before task 7.
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
#   drawn one after the other, and both ends can occur. All chance comes from `generator`, a
#   `random.Random`. **15 points**
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
# A classic mistake: every thread seeds a generator of its own with the clock, and two may start
# in the same tick. Here two stocks have the same bounds.
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
# With the usual partitioner an important stock shares its partition with whatever has a fitting
# hash. Write `partition_of(key, partitions, important)`:
#
# - `key` is the name of the stock as bytes, `partitions` the number of partitions, `important` a
#   set of names (text);
# - an important stock goes to the last partition;
# - every other stock goes to one of the others: murmur2 of the key, without its top bit, modulo
#   their number;
# - with one partition everything goes there;
# - a record without a key is refused with a `ValueError`.
#
# Then write the class `StockPartitioner(important)`, a `Partitioner` as in lesson 02, which a
# producer calls. Count *all* partitions of the topic, not only those that have a leader now: a
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
# kafka-python has no interceptors, so wrap the producer. (`logbook.py` beside this notebook is an
# interceptor for another wrapper.) `CountingProducer(producer)` keeps it as `producer`. Its
# method `send(topic, **parts)` sends with the wrapped producer and returns its future. It has
# three numbers:
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
# The next cell tries it: records of the right size, records that are too large, and one that has
# no form at all.


# %%
def new_topic(name, partitions=1, configs=None):
    """An empty topic with three copies of each partition; one of that name is deleted first."""
    remove(name)
    shape = {"num_partitions": partitions, "replication_factor": 3, "configs": configs or {}}
    admin.create_topics({name: shape})
    lab.cluster.wait_for_topic(name)


new_topic(lab.p.counted_topic, configs={"max.message.bytes": str(lab.p.max_bytes)})


# %%
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
# Write `settings(important)`. It returns a dictionary for `KafkaProducer`: acknowledgement by all
# in-sync replicas, idempotence, compression with snappy, batches of 65,536 bytes, a linger of 20
# ms, text keys and JSON values (so that `send` takes a name and a `StockPrice`), and your
# partitioner. **5 points**
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
# Retries have no end here: what ends a send is its time, `delivery_timeout_ms`.
# `java_defaults.py` beside this notebook has what Java's producer does where nothing is set.

# %% [markdown]
# ## Task 6: one sender for each stock
#
# Write `trade(producer, topic, stock, stop, say)`, what a thread does for one stock:
#
# - its generator is seeded with the name of the stock;
# - until `stop` (a `threading.Event`) is set, it sends prices. The key is the name. The header
#   `number` says which price of this stock it is, counted from 1, as text;
# - after each send it pauses for 1 to 10 ms, in such a way that `stop` wakes it at once;
# - for every 100th price it waits for the acknowledgement and calls `say` with one line as in the
#   example: it begins with the name and has the words `partition` and `offset`;
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
                for _ in range(1_500):  # 15 s at most
                    if future.is_done or stop.wait(0.01):
                        break
                if future.is_done or not stop.is_set():
                    at = future.get(timeout=0)
                    say(f"{line} -> {at.topic}, partition {at.partition}, offset {at.offset}")
        except Exception as error:
            say(f"{line} failed: {error!r}")
        stop.wait(generator.uniform(0.001, 0.010))
    return number


# END SOLUTION

# %% [markdown]
# Now all stocks are traded, eight threads with one producer. A ninth reports each second what the
# producer has measured. Meanwhile broker `lab.p.restarted` is restarted in order.
# How many prices will be lost?
#
# To trade once more, first run the cell in front of task 1, task 1, and the cell that makes
# `shared`: the topic must be empty.

# %% tags=["prediction"]
my_lost = Prediction("prices")
my_lost


# %%
import time
from concurrent.futures import ThreadPoolExecutor, wait


def has_begun():
    """Whether 1,000 prices have arrived, or a trade has ended before its time."""
    return trading.acknowledged > 1_000 or any(one.done() for one in tried)


# %%
lines, measured, stop = [], [], threading.Event()
trading = CountingProducer(shared)
threads = ThreadPoolExecutor(len(lab.p.stocks) + 1)
ninth = threads.submit(report, shared, stop, measured.append)
tried = [
    threads.submit(trade, trading, lab.p.topic, stock, stop, lines.append) for stock in lab.p.stocks
]
try:
    wait_until(has_begun, timeout=20, what="the first prices")
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
# The same function on a topic that does not exist: each send gives up, and the trade goes on
# until it is stopped.

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
# And what did the ninth worker say? Before you run the next cell: how many prices went
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
# A record is larger than its JSON: key, header and frame come with it.

# %% [markdown]
# What does Spark read in the topic?

# %% tags=["demo"]
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

# %% tags=["demo"]
in_log = priced.count()
print(my_lost.against(trading.acknowledged - in_log))
ax = charts.records_per_second(priced, marks={f"broker {lab.p.restarted} restarts": restarted_at})
ax.set_title(f"{in_log} prices in the log, of {trading.acknowledged} that were acknowledged")
charts.show(
    ax, f"Prices per second, with a mark where broker {lab.p.restarted} was stopped and started."
)

# %% [markdown]
# ## Two retries, or a deadline?
#
# Old advice for such a program: two retries, and one request at a time so that the order is kept.
# What are two retries worth when a broker is restarted?
#
# The next topic needs all *three* copies in sync, and has one partition. Its leader is stopped in
# the middle of 200 records. `patient` has the client's own retries; `twice` has the old ones, and
# sends one record while the leader is away. Before you run the next three cells: which records
# arrive?

# %% tags=["demo", "A131"]
old_advice = {
    "retries": 2,
    "retry_backoff_ms": 1_000,
    "request_timeout_ms": 15_000,
    "max_in_flight_requests_per_connection": 1,
}
strict = f"{lab.p.topic}-strict"
new_topic(strict, configs={"min.insync.replicas": "3"})
lab.cluster.wait_for_isr(strict, 3)
a_minute = quick.producer | {"delivery_timeout_ms": 60_000}
patient = KafkaProducer(bootstrap_servers=lab.cluster.address, **a_minute)
twice = KafkaProducer(bootstrap_servers=lab.cluster.address, **a_minute | old_advice)
assert {name: twice.config[name] for name in old_advice} == old_advice
old_advice

# %% tags=["demo"]
leader = lab.cluster.topic(strict).partitions[0].leader
promises = [patient.send(strict, value=b"%d" % number) for number in range(100)]
patient.flush(timeout=15)
twice.send(strict, value=b"before").get(timeout=15)
lab.cluster.stop(leader)
lab.cluster.wait_for_isr(strict, 2)
promises += [patient.send(strict, value=b"%d" % number) for number in range(100, 200)]
meanwhile = twice.send(strict, value=b"meanwhile")
wait_until(lambda: meanwhile.is_done, timeout=30, what="an end of the one record")
waiting = sum(not promise.is_done for promise in promises)
again = patient.metrics()["producer-metrics"]["record-retry-rate"]
lab.cluster.restart(leader)
patient.flush(timeout=60)
print(f"While the leader was away {waiting} records waited, {again:.1f} were sent again a second.")
print(f"The one of twice: {meanwhile.exception!r}")

# %% tags=["demo", "A132"]
reader = KafkaConsumer(
    strict, bootstrap_servers=lab.cluster.address, auto_offset_reset="earliest", **quick.consumer
)
arrived = [record.value for record in clients.records_until_end(reader)]
arrived.remove(b"before")  # what is left: all 200, once each, in their order
assert arrived == [b"%d" % number for number in range(200)]
assert waiting == 100
assert again > 0
assert meanwhile.failed()
len(arrived)

# %% [markdown]
# All 200 of `patient` came, once each and in their order. The one of `twice` was given up while
# the broker was still away: a number of retries does not know how long a restart takes. Nor does
# the order need one request at a time: idempotence keeps it with five.
#
# And so task 1 asks for 2 and not for 3: the trade would have stood still.

# %% [markdown]
# ## Task 7: the end of the program
#
# Somebody presses Ctrl-C, and the producer holds prices that no broker has seen. Write
# `run(producer, topic, stocks)`:
#
# - it starts a thread for each stock, which calls `trade` with `print` for `say`;
# - SIGINT and SIGTERM set `stop`;
# - then it waits until the threads have ended, prints a line with the word `flushing`, flushes,
#   prints a line with the word `closing`, and closes the producer. Flush and close have a limit of
#   10 seconds each;
# - it returns the status of the process: 130 after SIGINT, 143 after SIGTERM.
#
# `producer` is a `CountingProducer`; it wraps `producer.producer`. **15 points**
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
# `lab.program` puts the cells of tasks 2 to 7 into a file, and below them an end of the course's
# (`END` in `programs.py`). The program runs as a process of its own, until a signal comes. Its
# last line tells the counts, and what came after the last price.

# %%
import subprocess
import sys

from programs import END

from kafkalab import CourseError

file = lab.program("stock_producer.py", tasks=range(2, 8), end=END)
new_topic(lab.p.program_topic, partitions=3)


def records():
    """How many prices the programs have sent so far."""
    return lab.cluster.topic(lab.p.program_topic).records


# %%
def run_until(name):
    """The status of the program after this signal, and the lines that it printed."""
    enough = records() + 100
    given = json.dumps([lab.cluster.address, lab.p.program_topic, lab.p.stocks, lab.p.important])
    command = [sys.executable, "-u", file, given]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        wait_until(
            lambda: process.poll() is not None or records() > enough,
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
# Here is a worker whose author forgot `stop`. Nobody can end a thread of Python from outside. But
# a closed producer takes no record: `send` raises.
#
# Before you run the next three cells: how many of the two workers will have ended after the 200 ms,
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


# %% tags=["demo"]
new_topic(f"{lab.p.topic}-ends", partitions=3)
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
ended_by

# %% tags=["demo", "A163"]
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
# Both forms lost nothing that the producer had taken. Only the long one can say that a worker had
# to be forced.
#
# Workers first, then the flush, then the close: while others still send, the buffer fills again
# behind a flush.

# %% [markdown]
# ## After a crash
#
# A program copies the lines of a file (`COPY` in `programs.py`). After each hundred it flushes, and
# only then writes down how far it has come:
#
# ```python
# if number % 100 == 0:
#     producer.flush(timeout=10)
#     checkpoint.write_text(str(number))
# ```
#
# In the middle of the sixth hundred the power fails. Before you run the next two cells: with which
# line must the second run begin, and will one be missing?

# %% tags=["demo"]
from pathlib import Path

from programs import COPY

copy_topic = f"{lab.p.program_topic}-copy"


def copy(crash_at=0):
    """The status of the program, and the line behind which it began."""
    given = [sys.executable, "-P", "-c", COPY, lab.cluster.address, copy_topic, str(crash_at)]
    run = subprocess.run(given, capture_output=True, text=True, timeout=60)
    return run.returncode, int(run.stdout)


# %% tags=["demo", "A146"]
Path("checkpoint").unlink(missing_ok=True)
new_topic(copy_topic)
crashed = copy(crash_at=550)
resumed = copy()
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
print(f"The second run began behind line {resumed[1]}; {len(numbers)} records.")

# %% [markdown]
# With the checkpoint before the flush, the second run would have begun behind lines that never
# left the first. The other way round a line may come twice, and none is lost.
#
# Now the topic of the copies is deleted and made anew. Which offset does its next record get?

# %% tags=["demo", "A161"]
new_topic(copy_topic)
afterwards = KafkaProducer(bootstrap_servers=lab.cluster.address, **quick.producer)
fresh = afterwards.send(copy_topic, value=b"first").get(timeout=10)
assert fresh.offset == 0, "a new topic with an old name"
fresh

# %%
lab.score()

# %%
lab.close()
