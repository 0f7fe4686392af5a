# %% [markdown]
# # Lab 02 Iris
#
# 150 flowers go through two topics, and their class decides where. You write the program that
# sends them and the readers that draw them. Then one flower never arrives, one is missing in a
# listing, and four have the wrong colour. Who did it: the producer, Kafka, the reader or the data?

# %% [markdown]
# **You will**
#
# - send records to partitions that you choose or that Kafka chooses;
# - read chosen partitions from their beginning, with readers that end;
# - draw what was consumed, with Spark;
# - find out where a record was lost;
# - try out four settings, and observe what took ZooKeeper's place.
#
# **Needs** lessons 00 to 03. **Time** about 90 minutes. **Points** 100.

# %% tags=["parameters"]
student = ""  # your name or number in the course; the grader puts it in
idle_seconds = 10  # a reader that got nothing for so long stops

# %%
from grading.lab import Lab

lab = Lab.open("lab02_iris", student)
lab

# %% [markdown]
# Above stand the names of *your* topics, and which class has which partition. With others it may
# differ, so write `lab.p.partition_of`. Stuck? See `hints.md`.
#
# The cluster is one node, broker and controller in one process.

# %%
import json
import time

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

from kafkalab import clients, quick, wait_until

admin = KafkaAdminClient(bootstrap_servers=lab.cluster.address, **quick.admin)
producer = KafkaProducer(bootstrap_servers=lab.cluster.address, **quick.producer)


# %%
def new_topic(name, partitions=2):
    """An empty topic. One that has the name already is deleted first."""
    if name in admin.list_topics():
        admin.delete_topics([name])
        wait_until(lambda: name not in admin.list_topics(), timeout=15, what=f"{name} to go")
    admin.create_topics({name: {"num_partitions": partitions, "replication_factor": 1}})
    lab.cluster.wait_for_topic(name)


def everything(topic):
    """All records of a topic."""
    reader = KafkaConsumer(
        topic, bootstrap_servers=lab.cluster.address, auto_offset_reset="earliest", **quick.consumer
    )
    return list(clients.records_until_end(reader))


# %% tags=["demo", "Q1"]
quorum = lab.cluster.quorum()
assert lab.cluster.brokers == [0]
assert quorum.leader == 0, "the one broker is the active controller too"
assert not [name for name in lab.cluster.broker_configs(0) if "zookeeper" in name]
quorum

# %% [markdown]
# ## Before task 1: lines on the console
#
# Somebody types `first`, Enter, Enter, `second`, Enter, Enter into the console producer.
#
# Before you run the next cell: how many records are stored? And what does a console consumer show
# that is started afterwards, without `--from-beginning`?

# %% tags=["demo"]
from kafkalab.notebook.terminal import console

new_topic(lab.p.probe_topic, partitions=1)
connect = ("--bootstrap-server", "{bootstrap}", "--topic", lab.p.probe_topic)
lab.cluster.tool("kafka-console-producer", *connect, stdin=b"first\n\nsecond\n\n")
sizes = [record.serialized_value_size for record in everything(lab.p.probe_topic)]


def one_more_is_seen():
    producer.send(lab.p.probe_topic, b"later").get(timeout=5)
    return "later" in watcher.screen


with console(lab.cluster, "kafka-console-consumer", *connect) as watcher:
    wait_until(one_more_is_seen, timeout=30, every=0.2, what="a record on the console")
print(watcher.screen)

# %% tags=["demo", "Q4", "Q5"]
assert not {"first", "second"} & set(watcher.screen.split()), "what came before is not shown"
assert sizes == [5, 0, 6, 0], "Enter on an empty line sends a record of length zero"
sizes

# %% [markdown]
# ## Task 1: two topics
#
# Create `lab.p.pair_topic` and `lab.p.lone_topic`, each with 2 partitions and one copy. The cell
# must leave both topics empty, also when it is run a second time. **8 points**
#
# *Example.* `PartitionCount: 2 ReplicationFactor: 1`, twice, and no record in either.

# %% tags=["task-1"]
# Task 1
# BEGIN SOLUTION
# STUB: make both topics, empty
new_topic(lab.p.pair_topic, partitions=2)
new_topic(lab.p.lone_topic, partitions=2)
# END SOLUTION

# %% tags=["check-1", "Q6"]
lab.check(1)

# %% [markdown]
# ## Before task 2: the data
#
# The file has one line per flower: length and width of sepal and petal in centimetres, and the
# class. The number of a flower is its place in the file, from 1 to 150.

# %%
import csv

with (lab.data / "iris.csv").open(newline="") as file:
    flowers = list(csv.DictReader(file))
new_topic(lab.p.probe_topic)  # for trials; your two topics stay as they are
len(flowers), flowers[0]

# %% tags=["demo", "Q7"]
import pandas as pd

sepals = pd.DataFrame(flowers).set_index("class")[["sepal_length", "sepal_width"]].astype(float)
by_class = sepals.groupby("class").agg(["count", "sum"]).round(1)
assert list(by_class["sepal_length", "count"]) == [50, 48, 52]
assert list(by_class["sepal_length", "sum"]) == [250.3, 286.6, 339.6]
assert list(by_class["sepal_width", "sum"]) == [170.9, 132.4, 154.8]
by_class

# %% [markdown]
# A value on the wire is bytes, so a pair of numbers has to become bytes first. The next cell
# makes three mistakes on the way. Which error misleads?

# %% tags=["demo", "Q11"]
from kafka import JsonSerializer

wrapped = KafkaProducer(
    bootstrap_servers=lab.cluster.address, value_serializer=JsonSerializer(), **quick.producer
)
mistakes = {
    "text instead of bytes": lambda: producer.send(lab.p.probe_topic, "[5.1, 3.5]"),
    "a set, which JSON has not": lambda: json.dumps({5.1, 3.5}),
    "the same inside the client": lambda: wrapped.send(lab.p.probe_topic, {5.1, 3.5}),
}
messages = {}
for mistake, attempt in mistakes.items():
    try:
        attempt()
    except TypeError as error:
        messages[mistake] = str(error)
assert "Unsupported type" in messages["text instead of bytes"]
assert "not JSON serializable" in messages["a set, which JSON has not"]
assert "missing 1 required positional argument" in messages["the same inside the client"]
messages

# %% [markdown]
# The third: it speaks of an argument, and the value is at fault.

# %% [markdown]
# ## Task 2: the producer
#
# Write `send_flowers(pair_topic, lone_topic)`. It sends the flowers in the order of the file:
#
# - a class with a partition in `lab.p.partition_of` goes to that partition of `pair_topic`;
# - the other class goes to `lone_topic`, and Kafka chooses the partition.
#
# The value is the pair sepal length, sepal width as a JSON list. There is no key. The header `row`
# has the number of the flower as text. When your cell has ended, each flower is stored once. Before
# you run it again, run task 1 again.

# %% [markdown]
# The function returns a line of text for each flower, in the same order: number, class, pair.
# Call it once for your two topics, keep the list as `lines`, and print the lines. **20 points**
#
# *Example.* Flower 97 is a versicolor. Its value is `b"[5.7, 2.9]"`, its header `("row", b"97")`,
# and its line `97 Iris-versicolor [5.7, 2.9]`.


# %% tags=["task-2"]
# Task 2
# BEGIN SOLUTION
# STUB: write send_flowers, call it, and print the lines
def send_flowers(pair_topic, lone_topic):
    """Send all flowers in the order of the file; a line of text for each."""
    lines = []
    for row, flower in enumerate(flowers, start=1):
        name = flower["class"]
        pair = [float(flower["sepal_length"]), float(flower["sepal_width"])]
        partition = lab.p.partition_of.get(name)
        producer.send(
            lone_topic if partition is None else pair_topic,
            value=json.dumps(pair).encode(),
            headers=[("row", str(row).encode())],
            partition=partition,
        )
        lines.append(f"{row} {name} {pair}")
    producer.flush()
    return lines


lines = send_flowers(lab.p.pair_topic, lab.p.lone_topic)
print(*lines, sep="\n")
# END SOLUTION

# %% tags=["check-2", "Q8", "Q9", "Q10"]
lab.check(2)

# %% [markdown]
# ## Task 3: three readers
#
# Write `read_flowers(places, idle, name)`: it reads the partitions in `places`, a list of
# `(topic, partition)`, from their beginning. Use `assign` and a seek, no group. It ends when
# nothing has come for `idle` seconds. `name` is the `client_id` of its consumer. It returns a
# list with a dictionary for each record, in the order of arrival: `row` (int), `topic`,
# `partition`, `offset` and `pair` (a list of two numbers).

# %% [markdown]
# Call it three times with `idle_seconds`, and keep the results in a dictionary, `consumed`:
#
# - `"all"`: all four partitions;
# - `"setosa"` and `"virginica"`: the partition of that class.
#
# `seconds`, a dictionary with the same keys, says how long each call took. **20 points**
#
# *Example.* `{"row": 97, "topic": "versicolor-1f", "partition": 1, "offset": 22, "pair": [5.7,
# 2.9]}`
#
# Before you run your cell: how long will the three calls take together?


# %% tags=["task-3"]
# Task 3
# BEGIN SOLUTION
# STUB: write read_flowers and call it three times
def read_flowers(places, idle, name):
    """The records of these partitions, until none has come for `idle` seconds."""
    own = {"client_id": name, "consumer_timeout_ms": int(1000 * idle)}
    consumer = KafkaConsumer(bootstrap_servers=lab.cluster.address, **quick.consumer | own)
    consumer.assign([TopicPartition(*place) for place in places])
    consumer.seek_to_beginning()
    found = []
    for record in consumer:
        where = {"topic": record.topic, "partition": record.partition, "offset": record.offset}
        row = int(dict(record.headers)["row"])
        found.append({"row": row, **where, "pair": json.loads(record.value)})
    consumer.close()
    return found


pair, lone = lab.p.pair_topic, lab.p.lone_topic
places = {name: [(pair, lab.p.partition_of[f"Iris-{name}"])] for name in ("setosa", "virginica")}
places["all"] = [(pair, 0), (pair, 1), (lone, 0), (lone, 1)]
consumed, seconds = {}, {}
for name in places:
    started = time.monotonic()
    consumed[name] = read_flowers(places[name], idle_seconds, name)
    seconds[name] = time.monotonic() - started
# END SOLUTION
seconds

# %% tags=["check-3", "Q12", "Q13", "Q14", "Q15"]
lab.check(3)

# %% [markdown]
# The time-out that ends a reader decides how late a producer may be. Two readers wait at two
# empty topics, one three times as patient as the other. The producer starts when the impatient
# one has given up.
#
# Before you run the next cell: what does each of them get?

# %% tags=["demo"]
from concurrent.futures import ThreadPoolExecutor

late = max(2, idle_seconds / 5)
again = [(topic, number) for topic in (lab.p.scratch_pair, lab.p.scratch_lone) for number in (0, 1)]
new_topic(lab.p.scratch_pair)
new_topic(lab.p.scratch_lone)
with ThreadPoolExecutor() as pool:
    impatient = pool.submit(read_flowers, again, late, "impatient")
    patient = pool.submit(read_flowers, again, 3 * late, "patient")
    got = {"impatient": len(impatient.result())}
    send_flowers(lab.p.scratch_pair, lab.p.scratch_lone)
    got["patient"] = len(patient.result())
got

# %% [markdown]
# Now the topics are filled before the reader comes. Then the producer runs a second time.
#
# Before you run the next cell: would you see the second run in a picture of the points?

# %% tags=["demo", "Q16", "Q18"]
assert got == {"impatient": 0, "patient": 150}

filled = read_flowers(again, late, "after")
send_flowers(lab.p.scratch_pair, lab.p.scratch_lone)
twice = read_flowers(again, late, "twice")
distinct = {tuple(record["pair"]) for record in twice}
{"after": len(filled), "twice": len(twice), "different pairs": len(distinct)}

# %% [markdown]
# So a picture hides a topic that was filled twice: each point lies on its twin.
#
# Next: a listing lacks flower 97. Was it never sent, or was a line lost in copying?

# %% tags=["demo", "Q17", "Q22"]
assert len(filled) == 150, "on filled topics the order does not matter"
assert len(twice) == 300
assert len(distinct) == 116, "150 flowers have 116 different pairs, however often they are sent"


def missing_offsets(seen, topic):
    """The offsets of a topic that a list of (partition, offset) lacks."""
    ends = {view.partition: view.end_offset for view in lab.cluster.topic(topic).partitions}
    return {(p, offset) for p, end in ends.items() for offset in range(end)} - seen


# %% tags=["demo", "Q23"]
new_topic(lab.p.probe_topic)
for row in range(1, 151):
    if row != 97:
        producer.send(lab.p.probe_topic, str(row).encode())
producer.flush()
never_sent = {(record.partition, record.offset) for record in everything(lab.p.probe_topic)}

lone = [record for record in consumed["all"] if record["topic"] == lab.p.lone_topic]
copied = {(r["partition"], r["offset"]) for r in lone if r["row"] != 97}
lacks = {
    "never sent": missing_offsets(never_sent, lab.p.probe_topic),
    "a line lost": missing_offsets(copied, lab.p.lone_topic),
}
assert [len(offsets) for offsets in lacks.values()] == [0, 1], lacks
lacks

# %% [markdown]
# Here offsets have no gap: a lost line leaves its own, what was never sent leaves none.

# %% [markdown]
# ## Task 4: show what arrived
#
# Keep `listing`, a list of lines of text: a header that names the columns topic, value and
# partition, then a line with these three for each record of `consumed["all"]`, in its order.
#
# *Example.* `versicolor-1f | [5.7, 2.9] | partition 1`

# %% [markdown]
# Then a picture. `points` is a list of `(length, width, colour)`, one for each record of
# `consumed["all"]` in its order. The colour follows topic and partition: virginica `"red"`,
# setosa `"blue"`, everything in `lab.p.lone_topic` `"green"`.
#
# Make a Spark DataFrame of the points with these three columns, and draw it with
# `charts.scatter_by_class(frame, "length", "width", "colour")`. The title says something that you
# counted. End with `charts.show(ax, text)`; the text is for readers who do not see the picture,
# and tells how many records are drawn. **12 points**
#
# *Example.* `(5.1, 3.5, "blue")`

# %%
from kafkalab import charts
from kafkalab.spark.session import read_topic, spark_session

spark = spark_session("lab02")
CLASSES = ("Iris-setosa", "Iris-versicolor", "Iris-virginica")
original = spark.createDataFrame(
    [(row, CLASSES[(row - 1) // 50]) for row in range(1, 151)], "row int, original string"
)

# %% tags=["task-4"]
# Task 4
# BEGIN SOLUTION
# STUB: make listing and points, and draw the points
listing = ["topic | value (sepal length, sepal width) | partition"]
points = []
colours = {
    (lab.p.pair_topic, lab.p.partition_of["Iris-virginica"]): "red",
    (lab.p.pair_topic, lab.p.partition_of["Iris-setosa"]): "blue",
}
for record in consumed["all"]:
    topic, partition, pair = record["topic"], record["partition"], record["pair"]
    listing.append(f"{topic} | {pair} | partition {partition}")
    points.append((*pair, colours.get((topic, partition), "green")))

frame = spark.createDataFrame(points, ["length", "width", "colour"])
ax = charts.scatter_by_class(frame, "length", "width", "colour")
places_taken = frame.select("length", "width").distinct().count()
ax.set_title(f"{frame.count()} flowers lie on {places_taken} places")
charts.show(ax, f"Sepal width over sepal length of {len(points)} consumed records")
# END SOLUTION

# %% tags=["check-4", "Q19"]
lab.check(4)

# %% [markdown]
# Four points have the wrong colour. Before you look for them, count: Spark
# reads the topics with a client of its own.

# %% tags=["demo", "Q32"]
from pyspark.sql import functions as F

schema = "row int, topic string, partition int, offset long, pair array<double>"
client = spark.createDataFrame(consumed["all"], schema)
log = read_topic(spark, lab.cluster, lab.p.pair_topic)
log = log.union(read_topic(spark, lab.cluster, lab.p.lone_topic))
pairs = log.select(F.from_json(log.value.cast("string"), "array<double>").alias("pair"))
read = client.select("pair")
assert pairs.exceptAll(read).count() == 0, "the reader got every pair, each as often"
assert read.exceptAll(pairs).count() == 0, "and nothing else"
pairs.count(), read.count()

# %% [markdown]
# Before you run the next cell: do the numbers of the flowers rise inside a partition? And over
# all?

# %% tags=["demo", "Q24"]
from itertools import pairwise

from pyspark.sql import Window

before = F.lag("row").over(Window.partitionBy("topic", "partition").orderBy("offset"))
inside = client.withColumn("before", before).where("row < before").count()
over_all = sum(one["row"] < former["row"] for former, one in pairwise(consumed["all"]))
assert inside == 0
assert over_all > 0, "the partitions come one after the other"
sums = client.groupBy("topic", "partition").agg(
    F.count("*").alias("records"),
    F.round(F.sum(F.col("pair")[0]), 1).alias("length"),
    F.round(F.sum(F.col("pair")[1]), 1).alias("width"),
)
total = sums.agg(F.sum("records"), F.round(F.sum("length"), 1), F.round(F.sum("width"), 1)).first()
assert tuple(total) == (150, 876.5, 458.1)
print(f"{inside} steps back inside a partition, {over_all} over all")
sums.toPandas()

# %% [markdown]
# ## Task 5: four flowers of the wrong colour
#
# Originally the file had its three classes in order, fifty flowers each. So says the frame
# `original`, with the columns `row` and `original`. Then somebody changed labels.
#
# Write `label_differences(records)` for a list like `consumed["all"]`. The label of a record
# follows from its topic and its partition. Join with `original` in Spark, and return a list of
# `[row, original class, label]`, ordered by row, for those that differ. Keep `changed =
# label_differences(consumed["all"])`. **12 points**
#
# *Example.* `[12, "Iris-setosa", "Iris-virginica"]`


# %% tags=["task-5"]
# Task 5
# BEGIN SOLUTION
# STUB: write label_differences and call it
def label_differences(records):
    """Row, original class and label of the records whose label is another one."""
    label = {(lab.p.pair_topic, number): name for name, number in lab.p.partition_of.items()}
    rows = [(r["row"], label.get((r["topic"], r["partition"]), "Iris-versicolor")) for r in records]
    labelled = spark.createDataFrame(rows, "row int, label string")
    differ = labelled.join(original, "row").where("label <> original").orderBy("row")
    return [list(found) for found in differ.select("row", "original", "label").collect()]


changed = label_differences(consumed["all"])
# END SOLUTION
changed

# %% tags=["check-5", "Q25"]
lab.check(5)

# %% [markdown]
# Every record went where its label says. Do the flowers agree with their new labels? The next
# cell compares the four measurements of each flower with the means of the three original classes.
#
# Before you run it: which class is the nearest to each of the four?

# %% tags=["demo", "Q25"]
measures = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
rows = [(row, *(float(flower[m]) for m in measures)) for row, flower in enumerate(flowers, start=1)]
measured = spark.createDataFrame(rows, ["row", *measures]).join(original, "row")
means = measured.groupBy("original").agg(*(F.avg(m).alias(f"mean_{m}") for m in measures))
means = means.withColumnRenamed("original", "nearest")
distance = sum((F.col(m) - F.col(f"mean_{m}")) ** 2 for m in measures)
compared = measured.crossJoin(means).withColumn("distance", distance)
closest = F.row_number().over(Window.partitionBy("row").orderBy("distance"))
nearest = compared.withColumn("place", closest).where("place = 1")
odd = nearest.select("row", "original", "nearest")
odd = odd.where(F.col("row").isin([row for row, _, _ in changed])).orderBy("row").toPandas()
assert (odd.original == odd.nearest).all(), "the flowers are what they were before"
odd

# %% [markdown]
# ## Task 6: the last flower never arrives
#
# A program prints all 150 flowers, and every reader gets 149. The next cell has it. It ends hard,
# as if killed. All records but the last have had the time to leave.

# %%
import subprocess
import sys

PROGRAM = """
import os, sys
from kafka import KafkaProducer
address, topic, ending = sys.argv[1:]
producer = KafkaProducer(bootstrap_servers=address, linger_ms=200)
for row in range(1, 151):
    receipt = producer.send(topic, str(row).encode())
    if row == 149:
        receipt.get(timeout=10)
exec(ending)
os._exit(0)
"""


def run_program(topic, ending, program=PROGRAM):
    """Run it to its hard end; `ending` is the line of Python before that, or nothing."""
    arguments = [sys.executable, "-P", "-c", program, lab.cluster.address, topic, ending]
    subprocess.run(arguments, check=True, timeout=30)


# %% [markdown]
# Run the program three times, each time into a new topic of one partition,
# `lab.p.tail_topics[name]`. The name is `"nothing"` with nothing before the end, `"flush"` with
# `producer.flush()` and `"close"` with `producer.close()`.
#
# Keep two dictionaries with these three keys: `stored`, the number of records in the topic, and
# `missing`, the list of the rows that are not there. The value of a record is its row as text.
# **10 points**
#
# *Example.* Had flowers 3 and 4 got lost, `stored["flush"]` were 148, `missing["flush"]` `[3, 4]`.

# %% tags=["task-6"]
# Task 6
# BEGIN SOLUTION
# STUB: run the program three times; find stored and missing
endings = {"nothing": "", "flush": "producer.flush()", "close": "producer.close()"}
stored, missing = {}, {}
for name, ending in endings.items():
    topic = lab.p.tail_topics[name]
    new_topic(topic, partitions=1)
    run_program(topic, ending)
    rows = {int(record.value) for record in everything(topic)}
    stored[name] = len(rows)
    missing[name] = sorted(set(range(1, 151)) - rows)
# END SOLUTION
stored, missing

# %% tags=["check-6", "Q21"]
lab.check(6)

# %% [markdown]
# `send` puts a record into a buffer and returns. The next cell has two more programs: one never
# waits and ends hard. One ends normally: this client then takes a second at most to send the rest.
#
# Before you run it: how many of 150 does each leave behind?

# %% tags=["demo"]
hasty = PROGRAM.replace("row == 149", "row == 0")
normal = PROGRAM.replace("os._exit(0)", "")
reached = {}
for name, program in {"hard": hasty, "normal": normal}.items():
    new_topic(lab.p.probe_topic, partitions=1)
    run_program(lab.p.probe_topic, "", program)
    reached[name] = lab.cluster.topic(lab.p.probe_topic).records
reached

# %% [markdown]
# Could a key do what you did with a partition number? The hash of a key, modulo the number of
# partitions, is the partition.
#
# Before you run the next cell: would the class name as key give your layout of `lab.p.pair_topic`?

# %% tags=["demo", "Q20"]
assert reached["hard"] < reached["normal"] == 150, reached

new_topic(lab.p.probe_topic, partitions=2)
chosen = {}
for name in (*CLASSES, *(name.removeprefix("Iris-") for name in CLASSES)):
    chosen[name] = producer.send(lab.p.probe_topic, key=name.encode()).get(timeout=10).partition
chosen

# %% [markdown]
# One spelling gives your layout, by luck: a key promises only that equal keys stay together.
#
# Your readers used `assign` and a seek. Before you run the next cell: how many old records does
# `assign` without a seek see?

# %% tags=["demo", "Q26"]
assert chosen == {
    "Iris-setosa": 0,
    "Iris-versicolor": 1,
    "Iris-virginica": 1,
    "setosa": 1,
    "versicolor": 1,
    "virginica": 0,
}

topics = [lab.p.pair_topic, lab.p.lone_topic]
there = [TopicPartition(topic, number) for topic in topics for number in (0, 1)]
ways = quick.consumer | {"consumer_timeout_ms": int(1000 * late)}
assigned = KafkaConsumer(bootstrap_servers=lab.cluster.address, **ways)
assigned.assign(there)
begins = ways | {"auto_offset_reset": "earliest"}
subscribed = KafkaConsumer(*topics, bootstrap_servers=lab.cluster.address, **begins)
by_way = {"assign": len(list(assigned)), "subscribe": len(list(subscribed))}
by_way

# %% [markdown]
# It begins at the end. Who has subscribed is refused two calls:

# %% tags=["demo", "Q27", "Q28"]
from kafka.errors import IllegalStateError

assert by_way == {"assign": 0, "subscribe": 150}


def refusal(mistake):
    """What a consumer says that has subscribed already."""
    try:
        mistake(KafkaConsumer(*topics, bootstrap_servers=lab.cluster.address, **ways))
    except (ValueError, IllegalStateError) as error:
        return type(error)


of_seek = refusal(lambda consumer: consumer.seek_to_beginning())
of_assign = refusal(lambda consumer: consumer.assign(there))
assert (of_seek, of_assign) == (ValueError, IllegalStateError)
{"a seek before the first poll": of_seek.__name__, "assign": of_assign.__name__}

# %% [markdown]
# ## Task 7: four settings
#
# An experiment shows what a setting does. It is a function: called with a value, it makes a client
# with this value, lets it work, and returns what it saw. The next cell has one.
#
# Before you run it: roughly which two numbers will come?


# %%
def fetched_after(wait_ms):
    """Milliseconds until a poll brings flowers, when a broker waits for more than it has."""
    with KafkaConsumer(
        bootstrap_servers=lab.cluster.address, fetch_min_bytes=1_000_000, fetch_max_wait_ms=wait_ms
    ) as reader:
        setosa = TopicPartition(lab.p.pair_topic, lab.p.partition_of["Iris-setosa"])
        reader.assign([setosa])
        reader.end_offsets([setosa])  # to connect takes time, which is not to be measured
        reader.seek(setosa, 0)
        began = time.monotonic()
        reader.poll(timeout_ms=2_000)
        return round(1000 * (time.monotonic() - began))


example = {
    "client": "consumer",
    "name": "fetch_max_wait_ms",
    "default": 500,  # KafkaConsumer.DEFAULT_CONFIG says so
    "values": [500, 100],
    "experiment": fetched_after,
}
[fetched_after(value) for value in example["values"]]

# %% [markdown]
# Choose two settings of the producer and two of the consumer, others than the example's. Keep
# `settings`, a list of four dictionaries like `example`, each with two values that make a
# difference. A default that is an object or a class is written as the name of the class. **9
# points**
#
# Each experiment
#
# - makes its client in this notebook, with the value as it stands in `values`; nothing else
#   depends on the value;
# - writes to partition 0 of `lab.p.probe_topic`, reads from `lab.p.pair_topic`;
# - returns within two seconds what it saw in this call: a text that is the same each time, or a
#   number (records, bytes, milliseconds), which may differ a little. Of an error, return the name.
#
# The check calls it with both values, several times. In some calls the client is secretly made with
# the other value, and the experiment must return what that client shows.
#
# *Example.* `fetched_after(500)`, with 100 in its client, returns about 100.


# %% tags=["task-7"]
# Task 7
# BEGIN SOLUTION
# STUB: write four experiments and keep them as settings
from kafka.errors import KafkaError


def polled(**own):
    """How many records come with the first poll of a partition that brings some."""
    with KafkaConsumer(bootstrap_servers=lab.cluster.address, **own) as reader:
        reader.assign([TopicPartition(lab.p.pair_topic, 0)])
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            if records := reader.poll(timeout_ms=200):
                return sum(map(len, records.values()))
        return 0


def sent(value, **own):
    """The milliseconds until the answer to the second record came."""
    with KafkaProducer(bootstrap_servers=lab.cluster.address, **own) as writer:
        for _ in range(2):  # connecting takes the first one's time
            began = time.monotonic()
            writer.send(lab.p.probe_topic, value, partition=0).get(timeout=10)
        return round(1000 * (time.monotonic() - began))


def refused(size):
    try:
        sent(b"flower" * 100, max_request_size=size)
    except KafkaError as error:
        return type(error).__name__
    return "stored"


def waited(linger_ms):
    return sent(b"flower", linger_ms=linger_ms)


def found(start):
    return polled(auto_offset_reset=start)


def brought(most):
    return polled(auto_offset_reset="earliest", max_poll_records=most)


table = [
    ("producer", "max_request_size", 1048576, [1048576, 100], refused),
    ("producer", "linger_ms", 0, [0, 500], waited),
    ("consumer", "auto_offset_reset", "latest", ["latest", "earliest"], found),
    ("consumer", "max_poll_records", 500, [500, 10], brought),
]
form = ("client", "name", "default", "values", "experiment")
settings = [dict(zip(form, line, strict=True)) for line in table]
# END SOLUTION
[(one["name"], *map(one["experiment"], one["values"])) for one in settings]

# %% tags=["check-7", "Q29"]
lab.check(7)

# %% [markdown]
# ## Task 8: what took the place of ZooKeeper
#
# Older clusters had ZooKeeper beside the brokers. In Kafka 4 a broker registers with the
# controller, voters elect the controller among themselves, and topics are records in the metadata
# log.
#
# Observe it in your cluster, as the dictionary `observed`:
#
# - `"brokers"`: the ids of the registered brokers;
# - `"quorum_leader"`: the id of the node that leads these voters, the controller;
# - `"topic_ids"`: from the names of your two topics to their ids, as text;
# - `"offsets_topic"`: the name of the topic in which Kafka keeps the offsets of groups.
#
# **9 points**
#
# *Example.* `{"brokers": [7, 8], "topic_ids": {"versicolor-1f": "3b1c…", …}, …}`

# %% tags=["task-8"]
# Task 8
# BEGIN SOLUTION
# STUB: look, and keep what you saw as `observed`
observed = {
    "brokers": [broker["broker_id"] for broker in admin.describe_cluster()["brokers"]],
    "quorum_leader": lab.cluster.quorum().leader,
    "topic_ids": {t: lab.cluster.topic(t).id for t in (lab.p.pair_topic, lab.p.lone_topic)},
    "offsets_topic": "__consumer_offsets",
}
# END SOLUTION
observed

# %% tags=["check-8", "Q30"]
lab.check(8)

# %% [markdown]
# The metadata log lies on the disk of the node like any other partition. The next cell decodes it
# with a tool of Kafka, and looks for the records that created your two topics. They have your ids
# in base 64.

# %% tags=["demo", "Q31"]
folder = lab.cluster.engine.storage("broker")
files = sorted(map(str, folder.glob("**/__cluster_metadata-0/*.log")))
decoder = console(
    lab.cluster, "kafka-dump-log", "--cluster-metadata-decoder", "--files", ",".join(files)
)
decoder.wait_until_gone()
payloads = [line.partition("payload: ")[2] for line in decoder.screen.splitlines()]
records = [json.loads(payload) for payload in payloads if payload.startswith("{")]
ids = {r["data"]["name"]: r["data"]["topicId"] for r in records if r["type"] == "TOPIC_RECORD"}
found = {
    topic: [
        record["data"]["partitionId"]
        for record in records
        if record["type"] == "PARTITION_RECORD" and record["data"]["topicId"] == ids[topic]
    ]
    for topic in (lab.p.pair_topic, lab.p.lone_topic)
}
assert found == {lab.p.pair_topic: [0, 1], lab.p.lone_topic: [0, 1]}
[record for record in records if record["data"].get("topicId") == ids[lab.p.pair_topic]]

# %% [markdown]
# Before you run the next cell: you sent 116 different pairs. Is that the sum of `different` over
# your two topics?

# %% tags=["demo"]
mine = [lab.p.pair_topic, lab.p.lone_topic, lab.p.scratch_pair, lab.p.scratch_lone]
topics = [name for name in mine if name in admin.list_topics()]
left = read_topic(spark, lab.cluster, ",".join(topics)).groupBy("topic")
left = left.agg(F.count("*").alias("records"), F.countDistinct("value").alias("different"))
left.toPandas().set_index("topic").reindex(topics)

# %% [markdown]
# 84 + 42 = 126: ten pairs lie in both topics.

# %% [markdown]
# ## What you saw
#
# - A partition number keeps a record where you want it; a key keeps equal keys together.
# - A reader sees everything because it begins at the beginning. What ends it is a time-out.
# - A picture hides duplicates. Offsets tell a lost record from a lost line.
# - `send` only fills a buffer: a hard end loses it, a normal one has a second, `flush` and `close`
#   empty it.
# - What ZooKeeper kept is now in a log that Kafka writes itself.

# %%
lab.score()

# %%
lab.close()
