# %% [markdown]
# # 00 Start
#
# Thermometers hang on the roofs of a city. Each has a new number every minute, and several programs
# want it: now, tonight, or next year. What is Kafka for, and where does a number lie once Kafka has
# it? You will start a cluster, put one number in, and find more than one in what comes out.

# %% [markdown]
# You will
# - say why a log, and not a queue or a table, stands between those who write and those who read,
# - send a record, find it again by its address, and try to overwrite it,
# - reach three brokers although you know the address of one,
# - find out why a client fails although a broker answers it.
#
# Needs nothing but this page; 25 minutes.

# %% tags=["parameters"]
patience = 2_000  # milliseconds that a client without hope may wait

# %% [markdown]
# ## What is Kafka for?
#
# An alarm wants every temperature at once. A report wants all of a day, at night. Next year
# somebody writes a third program and wants last year too. If each thermometer had to know each
# program, nothing could be added, and a program that is down for an hour would miss that hour.
#
# So something stands between them and keeps what comes. Three kinds of store are at hand. A queue
# hands each value out once. A table has a row for each roof. A log has the values one after
# another.

# %% tags=["prediction"]
from kafkalab import Choice

my_store = Choice(
    "The alarm has read five temperatures of one roof. The report starts. Who still has all five?",
    "the queue",
    "the table",
    "the log",
)
my_store

# %%
queue = []
table = {}
log = []
for degrees in (21.5, 22.0, 22.5, 23.0, 23.5):
    queue.append(degrees)
    table["roof"] = degrees
    log.append(degrees)

alarm = [queue.pop(0) for _ in range(5)]  # table and log are only looked at
print(f"queue: {queue}   table: {table}   log: {log}")
why = {"the queue": f"it holds {queue}.", "the table": f"it holds {table}."}
my_store.against("the log", why)

# %% [markdown]
# What was read is gone from the queue, and the table keeps the newest. In a log reading takes
# nothing away. So each reader has a place of its own in it, and one can come a year late.
#
# Kafka is such a log, with three things that a list in Python lacks. It lies on disks, so it lasts.
# It has copies on several machines, so that one may fail. And it is cut into parts, so that many
# can write and read at once.

# %%
from kafkalab import charts, clients, diagrams

values = ["21.5", "18.0", "9.5", "22.0", "18.5", "9.5", "22.5", "19.0"]
places = {"new program": 0, "report": 3, "alarm": 8}
ax = diagrams.hub(["roof", "garden", "cellar"], values, places)
ax.set_title("Writers add at the end; each reader goes on where it was")
charts.show(
    ax,
    "Three thermometers write to the end of a row of eight numbered values. A new "
    "program reads from place 0, the report from 3; the alarm has read all and waits at 8.",
)

# %% tags=["proof"]
assert alarm == log, (alarm, log)
assert queue == [], queue
assert len(log) == 5, log
assert list(table.values()) == [23.5], table

# %% [markdown]
# Writers do not know the readers, and the readers do not know each other. Clicks, payments,
# positions of lorries and the lines that programs log travel so too. Kafka can also play the queue
# or the table; both are made of a log then, in later lessons.

# %% [markdown]
# ## A record has an address
#
# A **broker** is a Kafka process that keeps records and hands them out. Start three of them.

# %%
from kafkalab import Cluster

cluster = Cluster.start("replicated")
cluster

# %% tags=["proof", "A10"]
quorum = cluster.quorum()
assert quorum.leader == 100, quorum
assert quorum.epoch > 0, quorum
assert [voter.node for voter in quorum.voters] == [100], quorum
leftovers = [name for name in cluster.broker_configs(0) if "zookeeper" in name]
assert not leftovers, leftovers

# %% [markdown]
# Records go into a **topic**, which is no more than a name. A topic is cut into **partitions**, and
# each of them is a log. The **offset** of a record is its place in its partition.
#
# Whoever talks to brokers is a client; yours is the package kafka-python. `quick` makes it give up
# after seconds where it would wait for minutes.

# %%
from kafka import KafkaAdminClient

from kafkalab import quick

admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
new = {"temperatures": {"num_partitions": 3, "replication_factor": 1}}
admin.create_topics(new, raise_errors=False)  # a second run of this cell finds the topic there
cluster.wait_for_topic("temperatures")
cluster.topic("temperatures")

# %% [markdown]
# Three partitions, all empty; the other columns are for later lessons. Now a producer sends. `send`
# gives back a promise, and `get` waits until a broker has written the record down and says where.

# %%
from kafka import KafkaProducer

producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
promise = producer.send(
    "temperatures", key=b"amsterdam", value=b"21.5", headers=[("place", b"roof")]
)
receipt = promise.get(timeout=10)
receipt.partition, receipt.offset

# %% [markdown]
# A partition and an offset. If they are an address, a reader who knows nothing else must find the
# record. `seek` goes to that place, and `next` takes the record there.

# %%
from kafka import KafkaConsumer, TopicPartition

consumer = KafkaConsumer(
    bootstrap_servers=cluster.address, consumer_timeout_ms=10_000, **quick.consumer
)
place = TopicPartition("temperatures", receipt.partition)
consumer.assign([place])
consumer.seek(place, receipt.offset)
record = next(consumer)
ax = diagrams.record(record)
ax.set_title(f"You gave three parts; the record has six, and its offset is {record.offset}")
charts.show(ax, f"{record.value.decode()} as six boxes: you gave three, three came on the way.")

# %% tags=["proof"]
assert record.key == b"amsterdam", record
assert record.value == b"21.5", record
assert record.partition == receipt.partition, record
assert record.offset == receipt.offset, record

# %% [markdown]
# You gave a key, a value and a header. The client added the time and chose the partition. The
# offset nobody chose: the broker counts. A **record** is all six together.

# %% [markdown]
# ## Overwrite it
#
# The roof warms up, and you send four more temperatures with the same key. How many records with
# that key does the topic hold then?

# %% tags=["prediction"]
from kafkalab import Prediction

my_records = Prediction("records")
my_records

# %%
from kafkalab import read_topic, spark_session

for degrees in (b"22.0", b"22.5", b"23.0", b"23.5"):
    newest = producer.send("temperatures", key=b"amsterdam", value=degrees).get(timeout=10)

spark = spark_session()
rows = read_topic(spark, cluster, "temperatures").where("cast(key as string) = 'amsterdam'")
rows.selectExpr("partition", "offset", "cast(value as string) as value").orderBy("offset").show()
my_records.against(rows.count())

# %% tags=["proof", "A7", "A40"]
found = rows.orderBy("offset").collect()
assert [row.offset for row in found] == list(range(newest.offset + 1)), found
assert {row.partition for row in found} == {receipt.partition}, found
assert bytes(found[receipt.offset].value) == b"21.5", found[receipt.offset]

# %% [markdown]
# Spark has read the topic from its beginning, as the report would. Whoever knows databases expects
# one row with the newest value. But Kafka has no command that changes a record or its offset. A new
# temperature is a new record behind the old one. A record can go, when it is old (lesson 01) or
# when a broker dies at the wrong moment (lesson 08). No client can change it.

# %% [markdown]
# ## One address is enough
#
# Until now the client had three addresses. Now you give it one, that of a broker which does *not*
# keep your record. How many brokers does the client know after that?

# %% tags=["prediction"]
my_brokers = Prediction("brokers")
my_brokers

# %%
keeper = cluster.topic("temperatures").partitions[receipt.partition].leader
asked = next(broker for broker in cluster.brokers if broker != keeper)
one_address = cluster.addresses[asked]
guest = KafkaAdminClient(bootstrap_servers=one_address, **quick.admin)
known = guest.describe_cluster()["brokers"]
print(*(f"broker {broker['broker_id']}: {broker['host']}:{broker['port']}" for broker in known))
my_brokers.against(len(known))

# %% [markdown]
# **Bootstrap** is a client's first question, at the address that you give: who is in the cluster?
# The answer names an address for each broker. With those the client works from then on, and asks
# one of them who keeps the topic. Does a record that is sent this way reach the right broker?

# %%
guest = KafkaProducer(bootstrap_servers=one_address, **quick.producer)
delivered = guest.send("temperatures", key=b"amsterdam", value=b"24.0").get(timeout=10)
ax = diagrams.brokers(cluster, "temperatures", asked=asked, kept=delivered.partition)
ax.set_title(f"You asked broker {asked}; the record went to broker {keeper}")
charts.show(
    ax,
    f"Three brokers, each with its partitions of the topic. The address you gave is "
    f"that of broker {asked}; the record went to partition {delivered.partition}.",
)

# %% tags=["proof", "A13"]
assert sorted(broker["broker_id"] for broker in known) == cluster.brokers, known
assert cluster.brokers == [0, 1, 2], cluster.brokers
assert delivered.partition == receipt.partition, delivered
assert keeper != asked, (keeper, asked)

# %% [markdown]
# ## Outside the course
#
# At work you have kafka-python as it is. Here are your lines in a program that knows nothing of the
# course. Before you run the next cell: will its record go to the partition of yours?

# %%
import subprocess
import sys

program = f"""
from kafka import KafkaProducer
producer = KafkaProducer(bootstrap_servers="{cluster.address}")
receipt = producer.send("temperatures", key=b"amsterdam", value=b"24.5").get(timeout=10)
print("partition", receipt.partition, "offset", receipt.offset)
"""
command = [sys.executable, "-P", "-c", program]  # -P: without the modules of this folder
run = subprocess.run(command, capture_output=True, text=True, timeout=60)
print(run.stdout, run.stderr)
clients.MENDS

# %% tags=["proof"]
assert f"partition {receipt.partition} " in run.stdout, (run.stdout, run.stderr)

# %% [markdown]
# It does, as you see above the table. Two things differ outside. There is no `quick`, so a client
# in trouble waits longer. And the faults in the table are not mended; they show when brokers stop,
# freeze or die.

# %% [markdown]
# ## When it goes wrong
#
# Which address a broker names to its clients stands in its setting `advertised.listeners`. People
# type it, and here somebody typed a wrong port. The address that *you* give is right, and the
# broker behind it is well.

# %% tags=["prediction"]
wrong = "BROKER://broker:19092,CLIENT://127.0.0.1:9"  # BROKER is for brokers, CLIENT for you
lost = Cluster.start("single", settings={"advertised.listeners": wrong})
my_failure = Choice("When does a producer fail?", "when it is made", "when it sends", "never")
my_failure

# %%
from kafka.errors import KafkaTimeoutError

from kafkalab.lessons import start

with start.logged() as lines:  # keeps what kafka-python logs meanwhile
    guest = KafkaProducer(bootstrap_servers=lost.address, max_block_ms=patience)
    try:
        guest.send("temperatures", value=b"25.0")
    except KafkaTimeoutError as error:
        failure = error
        print(error)
    guest.close()
made = f"it was made: a broker answered at {lost.address}."
my_failure.against("when it sends", {"when it is made": made, "never": f"it said: {failure}"})

# %% [markdown]
# The error is kafka-python's own, and it is all that you get: no address, no reason. (Without the
# parameter it comes after a minute.) Bootstrap had worked. But before its first record a client
# asks for *metadata*: who keeps the topic? `send` waited for the answer, and none came. What else
# is there to see? The lines that kafka-python logged, and the address that the broker names.

# %%
print(*lines, sep="\n")
print("You gave the address", lost.address)
print("The broker names", start.named_by(lost.address)[0])

# %% tags=["proof"]
assert "Failed to update metadata" in str(failure), failure
assert any("ECONNREFUSED" in line for line in lines), lines
assert start.named_by(lost.address) == {0: "127.0.0.1:9"}, start.named_by(lost.address)

# %% [markdown]
# *ECONNREFUSED*: nobody listens at a port. Not at the one that you gave, for there a broker
# answered. It named another address, the client went there, and no line says which that was.
#
# At work this is often a broker in a container. It names the container, or its own `localhost`:
# right from inside, wrong from where you are. To change the address in your program helps nothing.
# Compare the two addresses (`kcat -L -b ADDRESS` shows what a broker names), and mend the setting.

# %% [markdown]
# ## Your turn
#
# Read the first record once more, by its address. `consumer` still has its partition, and `receipt`
# has the offset.

# %% tags=["exercise"]
from kafkalab.notebook import exercise

# BEGIN SOLUTION
# STUB: again = ...
consumer.seek(place, receipt.offset)
again = next(consumer)
# END SOLUTION
exercise.check("again", again, lambda one: "" if one == record else "it is another record.")

# %% [markdown]
# `send` also takes `partition=`. Send a value and nothing else to a partition that does not keep
# your first record, and take the receipt.

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: bare = ...
other = (receipt.partition + 1) % 3
bare = producer.send("temperatures", value=b"20.9", partition=other).get(timeout=10)
# END SOLUTION
taken = receipt.partition
exercise.check("bare", bare, lambda one: "there yours lies." if one.partition == taken else "")

# %% tags=["proof", "A7"]
assert again == record, again  # key, value, headers, timestamp: all as they were
consumer.assign([TopicPartition("temperatures", bare.partition)])
consumer.seek(TopicPartition("temperatures", bare.partition), bare.offset)
nameless = next(consumer)
assert nameless.key is None, nameless
assert nameless.headers == [], nameless

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- Of {len(log)} values that were read, the queue kept {len(queue)}, the table {len(table)}, and the
  log {len(log)}.
- It works here: {len(cluster.brokers)} brokers were ready in {cluster.started_in:.1f} s.
- The address of a record is a partition and an offset; yours are {receipt.partition} and
  {receipt.offset}. In the end {rows.count()} records had its key, and none had replaced another.
- From one address a client learns of {len(known)} brokers. Broker {asked} was asked, and broker
  {keeper} kept the record.
- A client works with the addresses that brokers name. Where one was wrong, bootstrap succeeded, and
  `send` said: {failure}
""")

# %%
lost.close()
cluster.close()
spark.stop()
