# %% [markdown]
# # Lab 01 First topics
#
# You have seen a broker keep records. Now you order a topic, fill it, look at it from both sides
# and read it back. At the end somebody has typed three lines, and Kafka has two of them. Where is
# the third line?

# %% [markdown]
# **You will**
#
# - create a topic to order, and prove that the cluster has what was ordered;
# - send records with keys and say on which broker a partition lives;
# - read a topic to its end with a reader that stops by itself;
# - let a consumer group go on where it stopped;
# - follow a typed line from the keyboard to the log.
#
# **Needs** lessons 00 and 01. **Time** about 75 minutes. **Points** 100.

# %% tags=["parameters"]
student = ""  # your name or number in the course; the grader puts it in
idle_seconds = 3  # a reader that got nothing for so long may stop

# %%
from grading.lab import Lab

lab = Lab.open("lab01_first_topics", student)
lab

# %% [markdown]
# Above stand the names and numbers of *your* lab. Others have other ones, so write `lab.p.topic`
# and not what it says. Running the cell above again begins anew: every topic and group of this lab
# goes away.
#
# The check cells look at the cluster and not at your code. Run them as often as you like.

# %% [markdown]
# ## Before task 1: what others typed
#
# Two first steps from somebody's notes. Both end with code 127: the shell found no such program.
# Once it looked in the wrong folder, where no `bin` is. Once the line was copied together with the
# `$` of the prompt, and the shell looked for a program of that name.

# %% tags=["demo", "R2"]
import subprocess


def typed(line):
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True)


wrong_folder = typed("bin/kafka-topics.sh --list")
with_prompt = typed("$ kafka-topics.sh --list")
assert wrong_folder.returncode == with_prompt.returncode == 127
assert "bin/kafka-topics.sh" in wrong_folder.stderr
assert "$" in with_prompt.stderr
print(wrong_folder.stderr, with_prompt.stderr)

# %% [markdown]
# Their next step worked: a topic with no further option.
#
# Before you run the next cell: how many partitions and how many copies does it get, on three
# brokers?

# %% tags=["demo", "R3"]
connect = ("--bootstrap-server", "{bootstrap}", "--topic", lab.p.quickstart_topic)
lab.cluster.tool("kafka-topics", *connect, "--create", "--if-not-exists")
lab.cluster.wait_for_topic(lab.p.quickstart_topic)
quickstart = lab.cluster.topic(lab.p.quickstart_topic)
assert len(quickstart.partitions) == 1
assert quickstart.partitions[0].replicas == quickstart.partitions[0].isr
assert len(quickstart.partitions[0].replicas) == 1, "three brokers, and one copy"
quickstart

# %% [markdown]
# ## Task 1: create the topic that was ordered
#
# Weather stations send a reading every few minutes. Create the topic `lab.p.topic` for them, with
#
# - `lab.p.partitions` partitions,
# - three copies of each,
# - a retention of `lab.p.retention_ms` milliseconds, which is the setting `retention.ms` of the
#   topic.
#
# Nothing else is ordered: every other setting stays as the broker has it. **10 points**
#
# *Example.* An order of 2 partitions and 3,600,000 ms shows as `PartitionCount: 2
# ReplicationFactor: 3 Configs: retention.ms=3600000`.

# %%
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from kafkalab import clients, quick

admin = KafkaAdminClient(bootstrap_servers=lab.cluster.address, **quick.admin)
admin.list_topics()

# %% tags=["task-1"]
# Task 1
# BEGIN SOLUTION
# STUB: create the topic lab.p.topic as it was ordered
if lab.p.topic in admin.list_topics():
    admin.delete_topics([lab.p.topic])
settings = {"retention.ms": str(lab.p.retention_ms)}
shape = {"num_partitions": lab.p.partitions, "replication_factor": 3, "configs": settings}
admin.create_topics({lab.p.topic: shape})
# END SOLUTION

# %% tags=["check-1"]
lab.check(1)

# %% [markdown]
# The later tasks need topics without special settings. The next cell has a function for them. A
# topic that an earlier try left behind goes first, so a cell that uses it can be run twice.

# %%
from kafkalab.wait import wait_until


def new_topic(name, partitions, copies=3):
    """An empty topic. One that has the name already is deleted first."""
    if name in admin.list_topics():
        admin.delete_topics([name])
        wait_until(lambda: name not in admin.list_topics(), timeout=15, what=f"{name} to go")
    admin.create_topics({name: {"num_partitions": partitions, "replication_factor": copies}})
    lab.cluster.wait_for_topic(name)


# %% [markdown]
# ## Task 2: send every reading with its key
#
# `readings` below is a list of pairs: a station and the number of the reading. Send them to
# `lab.p.topic` in the order of the list. The key of a record is the name of the station, the value
# is the number as text, both as bytes.
#
# Let the key decide about the partition. Keep what the broker answers: `receipts` is a list with
# one pair `(partition, offset)` for each reading, in the order of `readings`. **15 points**
#
# *Example.* `("Oslo", 7)` becomes a record with the key `b"Oslo"` and the value `b"7"`. If it went
# to offset 1 of partition 4, the seventh pair of `receipts` is `(4, 1)`.

# %%
producer = KafkaProducer(bootstrap_servers=lab.cluster.address, **quick.producer)
stations = lab.p.stations
readings = [(stations[n % len(stations)], n) for n in range(1, lab.p.records + 1)]
readings[:6]

# %% tags=["task-2"]
# Task 2
# BEGIN SOLUTION
# STUB: send every reading and keep the receipts
futures = [
    producer.send(lab.p.topic, key=station.encode(), value=str(number).encode())
    for station, number in readings
]
producer.flush()
receipts = [(done.partition, done.offset) for done in (future.get() for future in futures)]
# END SOLUTION

# %% tags=["check-2"]
lab.check(2)

# %% [markdown]
# A cell that sends can be run twice, and then the topic holds everything twice: Kafka keeps what
# it is sent. If the check counts too many records, run task 1 again so that the topic is new.

# %% [markdown]
# ## Task 3: say where a partition lives
#
# Write `where_is(topic, partition)`. It returns a dictionary with the broker that leads this
# partition now, the brokers that shall have a copy, and those whose copy is complete (the in-sync
# replicas). It must work for every topic of the cluster.
#
# Call it for partition `lab.p.looked_at` of `lab.p.topic` and keep the result as `home`.
#
# *Example.* `{"leader": 2, "replicas": [2, 0, 1], "isr": [2, 0, 1]}`

# %%
new_topic(lab.p.quiet_topic, partitions=3, copies=2)
lab.cluster.topic(lab.p.quiet_topic)

# %% [markdown]
# Above is a second topic to try your function on, with two copies. Nothing is in it, and task 4
# needs it too.
#
# The second part is a question about evidence. Somebody was to do four things: (1) install Kafka,
# (2) run three brokers and create a replicated topic, (3) send records and read them, (4) show
# that the topic survives the loss of a broker. This is what was handed in:
#
# ```
# Topic: quickstart-events  PartitionCount: 1  ReplicationFactor: 1
#     Topic: quickstart-events  Partition: 0  Leader: 0  Replicas: 0  Isr: 0
# > first line                      first line
# > second line                     second line
#                                   Processed a total of 2 messages
# ```
#
# Measure first what your own cluster shows for each of the four. `mine` is a dictionary with
#
# - under `"brokers"` how many brokers answer,
# - under `"copies"` how many copies partition `lab.p.looked_at` of `lab.p.topic` has,
# - under `"records"` how many records the fullest partition of `lab.p.topic` holds,
# - under `"left"` how many in-sync replicas of `lab.p.looked_at` there are without its leader.
#
# Then find the same four numbers in the output. Which of the four things does it prove? Keep their
# numbers as the set `proven`. **15 points**


# %% tags=["task-3"]
# Task 3
# BEGIN SOLUTION
# STUB: write where_is, call it for home, measure mine, and answer with proven
def where_is(topic, partition):
    """Leader, replicas and in-sync replicas of one partition, as the cluster has them now."""
    described = admin.describe_topics([topic])[0]["partitions"]
    found = next(entry for entry in described if entry["partition_index"] == partition)
    return {
        "leader": found["leader_id"],
        "replicas": found["replica_nodes"],
        "isr": found["isr_nodes"],
    }


home = where_is(lab.p.topic, lab.p.looked_at)
mine = {
    "brokers": len(admin.describe_cluster()["brokers"]),
    "copies": len(home["replicas"]),
    "records": max(one.records for one in lab.cluster.topic(lab.p.topic).partitions),
    "left": len(set(home["isr"]) - {home["leader"]}),
}
proven = {1, 3}
# END SOLUTION
home, mine

# %% tags=["check-3", "R4"]
lab.check(3)

# %% [markdown]
# ## Task 4: read a topic to its end
#
# A reader that waits for the next record of a quiet topic waits for ever, and a notebook with such
# a cell never comes to its end. So a reader needs a reason to stop. Two are usual: nothing has
# come for a while (`idle_seconds`), or the position has reached the end offset of the start.
#
# Write `read_everything(topic)`. It reads the topic from the beginning, stops by itself, and
# returns a list with `(partition, offset, key, value)` for each record, in the order in which the
# records arrived. Key and value are text. Of an empty topic, such as `lab.p.quiet_topic`, it
# returns an empty list. A topic may hold far more records than one poll brings.
#
# Keep what it finds in `lab.p.topic` as `arrived`.
#
# Then count: how often is a number in `arrived` smaller than the one before it? That is
# `steps_back`. **15 points**
#
# *Example.* If the numbers arrive as 4, 9, 1, 2, 3 then `steps_back` is 1.

# %% tags=["task-4"]
# Task 4
# BEGIN SOLUTION
# STUB: write read_everything, then find arrived and steps_back
from itertools import pairwise


def read_everything(topic):
    """Every record of a topic; ends at the end that it had when we began."""
    consumer = KafkaConsumer(
        topic, bootstrap_servers=lab.cluster.address, auto_offset_reset="earliest", **quick.consumer
    )
    records = clients.records_until_end(consumer)
    return [(r.partition, r.offset, (r.key or b"").decode(), r.value.decode()) for r in records]


arrived = read_everything(lab.p.topic)
numbers = [int(value) for _, _, _, value in arrived]
steps_back = sum(later < earlier for earlier, later in pairwise(numbers))
# END SOLUTION
arrived[:5], steps_back

# %% tags=["check-4"]
lab.check(4)

# %% [markdown]
# The numbers were sent in order, and they do not arrive in order. The next cell looks inside each
# partition, with Spark, which reads the topic with a client of its own.
#
# Before you run the next cell: how many of your steps back happened inside a partition?

# %% tags=["demo", "A64"]
from pyspark.sql import Window, functions

from kafkalab.spark.session import read_topic, spark_session

spark = spark_session("lab01")
number = functions.col("value").cast("string").cast("int")
log = read_topic(spark, lab.cluster, lab.p.topic).withColumn("number", number)
earlier = functions.lag("number").over(Window.partitionBy("partition").orderBy("offset"))
backwards = log.withColumn("earlier", earlier).where("number < earlier").count()
assert backwards == 0, "a partition never changes the order of its records"
assert steps_back > 0, "across partitions there is no order to keep"
backwards, steps_back

# %% [markdown]
# Those records had keys. Seven records without a key go to partitions that nobody chose, and the
# topic has thirteen.
#
# Before you run the next cell: in how many partitions will the seven lie?

# %% tags=["demo", "A60", "A61", "A62", "A63"]
new_topic(lab.p.seven_topic, partitions=13, copies=1)
assert lab.p.seven_topic in lab.cluster.topics()
placed = lab.cluster.topic(lab.p.seven_topic).partitions
assert [len(one.replicas) for one in placed] == [1] * 13, "thirteen partitions, a copy of each"
for line in range(1, 8):
    producer.send(lab.p.seven_topic, f"line {line}".encode())
producer.flush()

lines = [value for _, _, _, value in read_everything(lab.p.seven_topic)]
assert sorted(lines) == [f"line {line}" for line in range(1, 8)]

seven = read_topic(spark, lab.cluster, lab.p.seven_topic).groupBy("partition")
seven = seven.agg(functions.count("*").alias("records"), functions.max("offset").alias("last"))
assert seven.agg(functions.sum("records")).first()[0] == 7
assert seven.where("last <> records - 1").count() == 0, "offsets count from 0 in each partition"
seven.orderBy("partition").toPandas()

# %% [markdown]
# ## Task 5: put the order back
#
# A lift reports its steps 1, 2, 3, … up to `lab.p.steps`, and every reader must see them in this
# order. The topic `lab.p.steps_topic` has `lab.p.steps_partitions` partitions, and you may not
# change that: others use them too.
#
# Send the steps so that their order is kept: value is the number as text. Use the key
# `lab.p.steps_key`, and let Kafka choose the partition. **10 points**
#
# *Example.* Step 12 is a record with the value `b"12"`.

# %% tags=["task-5"]
# Task 5
new_topic(lab.p.steps_topic, lab.p.steps_partitions)
# BEGIN SOLUTION
# STUB: send the steps so that their order is kept
for step in range(1, lab.p.steps + 1):
    producer.send(lab.p.steps_topic, key=lab.p.steps_key.encode(), value=str(step).encode())
producer.flush()
# END SOLUTION

# %% tags=["check-5"]
lab.check(5)

# %% [markdown]
# One key is one way. The other one is a topic with a single partition: there is only one order
# then, and no key is needed. What it costs: one broker does all the work for the topic.

# %% tags=["demo", "A65", "A66"]
from collections import Counter

one_lane = lab.p.steps_topic.replace("steps", "one-lane")
new_topic(one_lane, partitions=1)
for step in range(1, lab.p.steps + 1):
    producer.send(one_lane, value=str(step).encode())
producer.flush()

in_order = [str(step) for step in range(1, lab.p.steps + 1)]
by_partition = [value for _, _, _, value in read_everything(one_lane)]
keyed = read_everything(lab.p.steps_topic)
assert by_partition == in_order, "one partition keeps the order of everything"
assert [value for _, _, _, value in keyed] == in_order, "so does one key"
Counter(partition for partition, _, _, _ in keyed)

# %% [markdown]
# ## Task 6: go on where the group stopped
#
# `lab.p.queue_topic` holds forms with the numbers 1 to `lab.p.queue`, in one partition. The clerks
# of the group `lab.p.group` work on them. The first one takes exactly `lab.p.first` forms, commits
# and goes home. The second one, a new consumer of the same group, takes the rest.
#
# No form may be left out and none may be done twice. Keep the numbers as two lists of int,
# `first_clerk` and `second_clerk`. Both consumers are closed at the end. **15 points**
#
# *Example.* With 5 forms and 2 for the first clerk: `[1, 2]` and `[3, 4, 5]`.

# %%
new_topic(lab.p.queue_topic, partitions=1)
for form in range(1, lab.p.queue + 1):
    producer.send(lab.p.queue_topic, value=str(form).encode())
producer.flush()
lab.cluster.topic(lab.p.queue_topic).records

# %% tags=["task-6"]
# Task 6
# BEGIN SOLUTION
# STUB: read with two consumers of one group, one after the other
from itertools import islice


def clerk(forms):
    """A new member of the group takes so many forms, commits and leaves."""
    consumer = KafkaConsumer(
        lab.p.queue_topic,
        bootstrap_servers=lab.cluster.address,
        group_id=lab.p.group,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        consumer_timeout_ms=20_000,  # no form for so long: give up
        **quick.consumer,
    )
    # islice stops without taking one more, so the position is the one to commit
    done = [int(record.value) for record in islice(consumer, forms)]
    consumer.commit()
    consumer.close()
    return done


first_clerk = clerk(lab.p.first)
second_clerk = clerk(lab.p.queue - lab.p.first)
# END SOLUTION

# %% tags=["check-6"]
lab.check(6)

# %% [markdown]
# ## Task 7: the console sees the same topic
#
# Kafka brings programs for the command line. `lab.cluster.tool` runs them; `{bootstrap}` stands
# for the address of the cluster, and `stdin` for what you would type. Send to `lab.p.notes_topic`
# with `kafka-console-producer`: the three texts of `lab.p.lines`, each on its own line, and then
# `lab.p.empty` empty lines.
#
# Read the topic with `kafka-console-consumer` from the beginning. It says how many records it had
# on its way out. Keep that number as `counted`. **10 points**
#
# *Example.* The next cell runs a third tool.

# %%
new_topic(lab.p.notes_topic, partitions=1)
described = lab.cluster.tool(
    "kafka-topics", "--bootstrap-server", "{bootstrap}", "--describe", "--topic", lab.p.notes_topic
)
print(described)

# %% tags=["task-7"]
# Task 7
# BEGIN SOLUTION
# STUB: send the lines with the console producer and count them with the console consumer
import re

connect = ("--bootstrap-server", "{bootstrap}", "--topic", lab.p.notes_topic)
typed = "\n".join(lab.p.lines) + "\n" + "\n" * lab.p.empty
sent = lab.cluster.tool("kafka-console-producer", *connect, stdin=typed.encode())
bounds = ("--from-beginning", "--timeout-ms", "6000")
seen = lab.cluster.tool("kafka-console-consumer", *connect, *bounds)
counted = int(re.search(r"Processed a total of (\d+) messages", seen.stdout + seen.stderr)[1])
# END SOLUTION
counted

# %% tags=["check-7"]
lab.check(7)

# %% [markdown]
# An empty line looks like nothing, and Kafka stores it: a record with a value of length zero. That
# is how a topic comes to hold more records than somebody remembers to have typed.

# %% [markdown]
# ## Before task 8: a line is missing
#
# A colleague typed three lines into a console producer and pressed Ctrl-C. Everybody who reads the
# topic from the beginning gets two. This was on the screen:
#
# ```
# >first line
# >second line
# >third line^C
# ```
#
# A terminal is needed to play this through, and a notebook has none. `console` opens one: the tool
# runs on it, and you type into it.

# %%
from kafkalab.notebook.terminal import console


def at_the_third_line(topic):
    """A console producer that has stored two lines and waits for the third one."""
    new_topic(topic, partitions=1)
    connect = ("--bootstrap-server", "{bootstrap}", "--topic", topic)
    terminal = console(lab.cluster, "kafka-console-producer", *connect)
    for line in ("first line", "second line"):
        terminal.submit(line)
    wait_until(lambda: lab.cluster.topic(topic).records == 2, timeout=15, what="two stored lines")
    return terminal


# %% [markdown]
# `terminal.type(text)` types without pressing Enter. `terminal.submit(text)` presses Enter too and
# waits for the next prompt. `terminal.press("Ctrl-C")` is the key you know, and `terminal.kill()`
# ends the program at once, without giving it a chance to tidy up. `terminal.wait_until_gone()`
# returns when it has ended, and `terminal.screen` is what was shown.

# %% [markdown]
# ## Task 8: find the third line
#
# Play four cases, each with its own topic, `lab.p.third_line["a"]` to `["d"]`:
#
# - **a** the third line is typed but not submitted, then Ctrl-C;
# - **b** the third line is submitted, then Ctrl-C;
# - **c** the third line is submitted, then the program is killed at once;
# - **d** three lines come through a pipe, and the last one has no line end (`lab.cluster.tool`).
#
# Keep the number of stored records of each case as the dictionary `stored`, from the end offsets
# and not from a screen. Keep as `likeliest` the letter of the case that fits the colleague's
# screen and the two records. **10 points**
#
# *Example.* `stored = {"a": 7, "b": 7, "c": 7, "d": 7}`

# %% tags=["task-8"]
# Task 8
# BEGIN SOLUTION
# STUB: play the four cases, count what is stored, and name the likeliest case
topics = lab.p.third_line
screens = {}
for case in "abc":
    terminal = at_the_third_line(topics[case])
    if case == "a":
        terminal.type("third line")
    else:
        terminal.submit("third line")
    if case == "c":
        terminal.kill()
    else:
        terminal.press("Ctrl-C")
    terminal.wait_until_gone()
    screens[case] = terminal.screen

new_topic(topics["d"], partitions=1)
connect = ("--bootstrap-server", "{bootstrap}", "--topic", topics["d"])
piped = b"first line\nsecond line\nthird line"
lab.cluster.tool("kafka-console-producer", *connect, stdin=piped)

stored = {case: lab.cluster.topic(topic).records for case, topic in topics.items()}
likeliest = "a"
# END SOLUTION
stored

# %% tags=["check-8", "R5", "R6", "R7", "R8"]
lab.check(8)

# %% [markdown]
# `stored` counts lines. Which ones? Spark reads all four topics at once.
#
# Before you run the next cell: where a line is missing, which one is it?

# %% tags=["demo"]
cases = {topic: case for case, topic in lab.p.third_line.items() if topic in admin.list_topics()}
in_topics = read_topic(spark, lab.cluster, ",".join(cases))
in_topics = in_topics.select("topic", functions.expr("string(value) AS line"))
table = in_topics.groupBy("topic").pivot("line").count().fillna(0).toPandas()
table.set_index(table.pop("topic").map(cases).rename("case")).sort_index()

# %% [markdown]
# Where a line is missing, it is the third. It is safe when it was submitted or the input ended, and
# the program could close its producer: Ctrl-C is a polite request, and the tool flushes before it
# goes. A kill leaves no time for that: the line was still in the producer's buffer, where it waits
# for up to a second for company.

# %% [markdown]
# ## What you saw
#
# - A topic is what was ordered: the cluster tells the number of partitions, the copies and each
#   setting that is not the broker's own.
# - The key chooses the partition, and the receipt says where a record lies.
# - Order is kept inside a partition. One key, or one partition, keeps the order of everything.
# - A group remembers its position; a new member goes on from the committed offset.
# - What counts is the end offset, not the screen.

# %%
lab.score()

# %%
lab.close()
