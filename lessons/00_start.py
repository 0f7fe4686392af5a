# %% [markdown]
# # 00 Start
#
# Thermometers hang in a city, on roofs, in gardens and in cellars. Each has a new number every
# minute, and several programs want it: now, tonight, or next year. What is Kafka for, and where
# does a number lie once Kafka has it? You will put one in, and find five things beside it.

# %% [markdown]
# You will
# - say why a log, and not a queue or a table, stands between those who write and those who read,
# - send a record, find it again by its address, and try to overwrite it,
# - find out what the address of a single broker is good for,
# - see a client fail, and find out when and why.
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
# So a store stands between them. Three kinds are at hand. A queue hands each value out once. A
# table of the present state has one row for each thermometer. A log has the values one after
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

alarm = [queue.pop(0) for _ in range(5)]
report = list(log)
print(f"queue: {queue}   table: {table}   log: {log}")
why = {"the queue": f"it holds {queue}.", "the table": f"it holds {table}."}
my_store.against("the log", why)  # beside what you chose

# %% [markdown]
# What was read is gone from the queue, and the table keeps the newest. (One with a row for each
# value would be a log.) In a log reading takes
# nothing away. So each reader has a place of its own in it, and one can come a year late, if the
# log keeps a year. (Kafka's default is a week.)
#
# Kafka is such a log, with three things that a list in Python lacks. It lies in files, so it
# outlives a program. It can have copies on several machines, so that one may fail. And it is cut
# into parts, so that many can write and read at once.

# %%
from kafkalab import charts, diagrams

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
assert alarm == report == log, (alarm, report, log)
assert queue == [], queue
assert len(log) == 5, log
assert list(table.values()) == [23.5], table

# %% [markdown]
# Writers do not know the readers, and the readers do not know each other. Clicks, payments and
# positions of lorries travel so too.

# %% [markdown]
# ## A record has an address
#
# A **broker** is a Kafka process that keeps records and hands them out. Several that work together
# are a cluster. Start three.

# %%
from kafkalab import Cluster

cluster = Cluster.start("replicated")  # three brokers; copies come in lesson 06
cluster

# %% tags=["proof", "A10"]
quorum = cluster.quorum()
assert quorum.leader == 100, quorum
assert quorum.epoch > 0, quorum
assert [voter.node for voter in quorum.voters] == [100], quorum
leftovers = [name for name in cluster.broker_configs(0) if "zookeeper" in name]
assert not leftovers, leftovers

# %% [markdown]
# Records go into a **topic**: a name, with settings, for one or more **partitions**. Each of those
# is a log. The **offset** of a record is its place in its partition.
#
# Whoever talks to brokers is a client; yours are in the package kafka-python. This one makes
# topics. `quick` lets it give up after seconds where it would wait for minutes.

# %%
from kafka import KafkaAdminClient

from kafkalab import quick

admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
new = {"temperatures": {"num_partitions": 3, "replication_factor": 1}}  # one copy; more in 06
admin.create_topics(new, raise_errors=False)  # a second run of this cell finds the topic there
cluster.wait_for_topic("temperatures")
cluster.topic("temperatures")

# %% [markdown]
# Three partitions, all empty. `leader` is the broker that keeps one; the rest is for later. Now a
# producer sends. The key says what a value is about, here the city. A header is a note beside it,
# here the place. `send` gives back a promise, and `get` waits until a broker has added the record
# and says where.

# %%
from kafka import KafkaProducer

producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
promise = producer.send(
    "temperatures", key=b"amsterdam", value=b"21.5", headers=[("place", b"roof")]
)
receipt = promise.get(timeout=10)
receipt.partition, receipt.offset

# %% [markdown]
# If the two are an address within the topic, a reader who knows nothing else must find the record.
# `assign` names the partition, `seek` goes to the offset, and `next` takes the record there.

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
ax.set_title(f"You gave three parts (blue), three came on the way; the offset is {record.offset}")
charts.show(ax, f"{record.value.decode()} as six boxes: you gave three, three came on the way.")

# %% tags=["proof"]
assert record.key == b"amsterdam", record
assert record.value == b"21.5", record
assert record.partition == receipt.partition, record
assert record.offset == receipt.offset, record

# %% [markdown]
# You gave a key, a value and a header, and the client added the time. A **record** is these four;
# the other two say where it lies. The client chose the partition, by the key (lesson 02). The
# offset nobody chose: the broker counts. A record's address is a topic, a partition and an offset.

# %% [markdown]
# ## Overwrite it
#
# It gets warmer in the city, and you send four more temperatures with the same key. Spark, which
# later lessons use, then reads the topic as a table. From your first record on, how many have that
# key?

# %% tags=["prediction"]
from kafkalab import Prediction

my_records = Prediction("records")
my_records

# %%
from kafkalab import read_topic, spark_session

for degrees in (b"22.0", b"22.5", b"23.0", b"23.5"):  # a second run of the cell adds four
    newest = producer.send("temperatures", key=b"amsterdam", value=degrees).get(timeout=10)

spark = spark_session()
rows = read_topic(spark, cluster, "temperatures").where("cast(key as string) = 'amsterdam'")
rows = rows.where(f"offset >= {receipt.offset}").orderBy("offset")
rows.selectExpr("partition", "offset", "cast(value as string) as value").show()
held = rows.count()
my_records.against(held)

# %% tags=["proof", "A7", "A40"]
found = rows.collect()
assert [row.offset for row in found] == list(range(receipt.offset, newest.offset + 1)), found
assert {row.partition for row in found} == {receipt.partition}, found
assert bytes(found[0].value) == b"21.5", found[0]

# %% [markdown]
# Whoever knows databases expects one row with the newest value. But Kafka has no command that
# changes a record or its offset. A new temperature is a new record behind the old one. A record can
# go, by its age for one (lesson 01), or when brokers die at the wrong moment (lesson 08). No client
# can change it.

# %% [markdown]
# ## One broker's address
#
# `cluster.address` holds the addresses of all three brokers. Now you give a client one, that of a
# broker which does *not* keep your record. How many brokers does that one name to the client?

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
# **Bootstrap** is the question that a client puts to the address you give: who is in the cluster?
# The answer names an address for each broker, and with those the client works. At one of them it
# asks for the *metadata* of a topic: who keeps its partitions? (The picture leaves that out.) Does
# a record find the right broker this way?

# %%
guest = KafkaProducer(bootstrap_servers=one_address, **quick.producer)
delivered = guest.send("temperatures", key=b"amsterdam", value=b"24.0").get(timeout=10)
ax = diagrams.brokers(cluster, "temperatures", asked=asked, kept=delivered.partition)
ax.set_title(f"You asked broker {asked}; the record went to broker {keeper}")
charts.show(
    ax,
    f"The client and three brokers, each with its partitions. One arrow asks broker {asked}; "
    f"the other brings the record to broker {keeper}, partition {delivered.partition}.",
)

# %% tags=["proof", "A13"]
assert sorted(broker["broker_id"] for broker in known) == cluster.brokers, known
assert cluster.brokers == [0, 1, 2], cluster.brokers
assert delivered.partition == receipt.partition, delivered
assert keeper != asked, (keeper, asked)

# %% tags=["proof"]
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
assert f"partition {receipt.partition} " in run.stdout, (run.stdout, run.stderr)

# %% [markdown]
# No broker passes a record on: the client went to the keeper itself.
#
# In a program of your own, write the address as text, and leave `quick` out: a client in trouble
# waits longer then. And kafka-python has faults, most of which show when brokers fail: `import
# kafkalab` mends them in your kernel, and only there (`kafkalab.clients.MENDS` lists them).

# %% [markdown]
# ## When it goes wrong
#
# Which address a broker names stands in its setting `advertised.listeners`. People type it, and
# here somebody typed port 9. The address that *you* give is right, the broker behind it is well.

# %% tags=["prediction"]
from kafkalab.lessons import start

wrong = "BROKER://broker:19092,CLIENT://127.0.0.1:9"  # BROKER is for brokers, CLIENT for you
lost = Cluster.start("single", settings={"advertised.listeners": wrong})
start.make_topic(lost.address, "temperatures")  # asks this one address and no other
my_failure = Choice("When does this producer fail?", "when it is made", "when it sends", "never")
my_failure

# %%
from kafka.errors import KafkaTimeoutError

with start.logged() as lines:  # keeps what kafka-python logs meanwhile
    guest = KafkaProducer(bootstrap_servers=lost.address, max_block_ms=patience)
    try:
        guest.send("temperatures", value=b"25.0")
    except KafkaTimeoutError as error:
        failure = error
        print(error)
    guest.close()
why = {"when it is made": "it was made: a broker answered.", "never": f"it said: {failure}"}
my_failure.against("when it sends", why)

# %% [markdown]
# The error is kafka-python's own: no address, no reason. Bootstrap had worked, and the question for
# metadata did not. `send` itself asks it before it promises anything. A missing topic gives the
# same error. What else is there to see? What kafka-python logged, and what the broker itself says.

# %%
print(*lines, sep="\n")
print("You gave", lost.address, "and the broker names", start.named_by(lost.address)[0])
print("It has the topics", start.topics_of(lost.address))

# %% tags=["proof"]
assert "Failed to update metadata" in str(failure), failure
assert any("ECONNREFUSED" in line for line in lines), lines
assert start.named_by(lost.address) == {0: "127.0.0.1:9"}, start.named_by(lost.address)
assert start.topics_of(lost.address) == ["temperatures"], start.topics_of(lost.address)
with Cluster.start("single", beside=True) as mended:  # where only the setting is right
    start.make_topic(mended.address, "temperatures")
    heard = KafkaProducer(bootstrap_servers=mended.address, **quick.producer)
    sent = heard.send("temperatures", value=b"25.0").get(timeout=10)
    assert sent.offset == 0, sent
    assert start.named_by(mended.address) == {0: mended.address}, start.named_by(mended.address)

# %% [markdown]
# The topic is there, so it is the address. *ECONNREFUSED* is the word that counts: nobody listens
# at a port. (30000 ms is a limit, not a time that passed.) Not at the port that you gave, for there
# a broker answered. It named another address, the client went there, and no line says which that
# was.
#
# At work this is often a broker in a container that names its own `localhost`: right from inside,
# wrong from where you are. To change the address in your program helps nothing. Compare the two
# addresses (the tool `kcat -L -b ADDRESS` shows what a broker names), and mend the setting.

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
exercise.check(
    "bare", bare, lambda one: "that is the first one's." if one.partition == taken else ""
)

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
- A record's address is a topic, a partition and an offset; yours is temperatures,
  {receipt.partition}, {receipt.offset}. {held - 1} more had its key; none replaced another.
- One broker told the addresses of {len(known)}. Broker {asked} was asked, {keeper} kept the record.
- A client works with the addresses that brokers name. With a wrong one, bootstrap succeeded, and
  `send` said: {failure}

What else Kafka is used for, and what stands beside it:
[Kafka on one page](../lessons/reference/kafka.md).
""")

# %%
lost.close()
cluster.close()
spark.stop()
