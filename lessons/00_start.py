# %% [markdown]
# # 00 Start
#
# A thermometer on a roof in Amsterdam shows 21.5 degrees. You give that number to Kafka, and in a
# moment somebody else reads it. Does it work here, and what is a record? You will start a cluster
# on your own machine, put one number in, and find more than one number in what comes out.

# %% [markdown]
# You will
# - send a record, find it again by its address, and try to overwrite it,
# - reach three brokers although you know the address of one,
# - measure what waiting for an answer costs,
# - name the layer that fails when a client cannot connect. Needs nothing but this page; 20 minutes.

# %% tags=["parameters"]
seconds = 1.5  # how long each half of the speed measurement sends

# %%
from kafkalab import Cluster, Prediction, charts, clients, diagrams, quick, read_topic

cluster = Cluster.start("replicated")
cluster

# %% [markdown]
# ## Idea: a record has an address
#
# Those are three **brokers**: programs that keep records and hand them out. Records go into a
# **topic**, which is no more than a name. A topic is cut into **partitions**, each kept by a broker
# as a list that grows at its end. The place in that list is the **offset**. Partition and offset
# together are the address of a record.
#
# Whoever talks to brokers is a **client**, here one of the package kafka-python. The settings in
# `quick` only make a lesson quick: a client that waits in vain gives up after seconds.

# %%
from kafka import KafkaAdminClient

admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
new = {"temperatures": {"num_partitions": 3, "replication_factor": 1}}
admin.create_topics(new, raise_errors=False)  # a second run of this cell finds the topic there
cluster.wait_for_topic("temperatures")
cluster.topic("temperatures")

# %% [markdown]
# Three partitions on three brokers, all empty. The other columns are for later lessons.
#
# `send` takes a record and returns at once. What it returns is a promise: `get` waits until a
# broker has written the record down and says where.

# %%
from kafka import KafkaProducer

producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
promise = producer.send(
    "temperatures", key=b"amsterdam", value=b"21.5", headers=[("place", b"roof")]
)
receipt = promise.get(timeout=10)
receipt.partition, receipt.offset

# %% [markdown]
# Two numbers: a partition and an offset. If they are an address, then a reader who knows nothing
# but them must find the record. `poll` asks the broker for what comes from there on.

# %%
from kafka import KafkaConsumer, TopicPartition

from kafkalab import wait_until

consumer = KafkaConsumer(bootstrap_servers=cluster.address, **quick.consumer)


def record_at(partition, offset):
    place = TopicPartition("temperatures", partition)
    consumer.assign([place])
    consumer.seek(place, offset)
    polled = wait_until(  # poll brings {} while nothing has come
        lambda: consumer.poll(timeout_ms=500, max_records=1) or None, timeout=10, what="the record"
    )
    return polled[place][0]


record = record_at(receipt.partition, receipt.offset)
record.key, record.value

# %%
ax = diagrams.record(record)
ax.set_title(f"You gave three parts; the record has six, and its offset is {record.offset}")
charts.show(
    ax,
    f"The record {record.value.decode()} as six boxes: key, value and headers came "
    "from you; timestamp, partition and offset were added on the way.",
)

# %% tags=["proof"]
assert (record.key, record.value) == (b"amsterdam", b"21.5")
assert (record.partition, record.offset) == (receipt.partition, receipt.offset)

# %% [markdown]
# You gave a key, a value and a header. The client added the time and chose the partition. The
# offset nobody chose: the broker counts. A **record** is all six together, and only the first three
# are yours. You could have left out even the key and the headers.

# %% [markdown]
# ## Overwrite it
#
# The roof warms up, so you send four more temperatures, all with the key `amsterdam`. How many
# records with that key does the topic hold then?

# %% tags=["prediction"]
my_records = Prediction("records")
my_records

# %%
for value in (b"22.0", b"22.5", b"23.0", b"23.5"):
    newest = producer.send("temperatures", key=b"amsterdam", value=value).get(timeout=10)

consumer.assign([TopicPartition("temperatures", partition) for partition in range(3)])
consumer.seek_to_beginning()
amsterdam = [one for one in clients.records_until_end(consumer) if one.key == b"amsterdam"]
[(one.partition, one.offset, one.value) for one in amsterdam]

# %%
my_records.against(len(amsterdam))

# %% [markdown]
# Whoever knows databases expects one row with the newest value. Kafka has no command to change a
# record and none to change its offset. A new temperature is a new record behind the old one. So
# nothing can happen to an address that you were once given. Read the first one again and compare.

# %% tags=["A7"]
again = record_at(receipt.partition, receipt.offset)
assert again == record  # key, value, headers, timestamp, partition, offset: all as they were

bare = producer.send("temperatures", value=b"20.9", partition=(receipt.partition + 1) % 3)
bare = bare.get(timeout=10)
nameless = record_at(bare.partition, bare.offset)

# %% tags=["proof", "A7"]
assert newest.partition == receipt.partition
assert newest.offset > receipt.offset
assert len(amsterdam) == newest.offset + 1  # every one of them is still there
assert (nameless.key, nameless.headers) == (None, [])

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
[(broker["broker_id"], broker["port"]) for broker in known]

# %%
my_brokers.against(len(known))

# %% [markdown]
# The address you give is used for one question: who is in the cluster, and who keeps what? From
# the answer the client takes the addresses it works with. That first question is called
# **bootstrap**. Does a record sent this way reach the right broker?

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
assert sorted(broker["broker_id"] for broker in known) == cluster.brokers == [0, 1, 2]
assert delivered.partition == receipt.partition
assert keeper != asked

# %% [markdown]
# ## What waiting costs
#
# You waited for every receipt before you sent the next record. Suppose you send on without
# waiting, and collect the receipts at the end. How many times as many records go through in a
# second?

# %% tags=["prediction"]
my_factor = Prediction("times")
my_factor

# %%
import time

speed = cluster.unused("speed")  # a second run of this cell takes another name
admin.create_topics({speed: {"num_partitions": 1, "replication_factor": 1}})
cluster.wait_for_topic(speed)

receipts, start = [], time.monotonic()
while time.monotonic() < start + seconds:
    receipts.append(producer.send(speed, value=b"wait").get(timeout=10))
waiting = len(receipts) / (time.monotonic() - start)

promises, start = [], time.monotonic()
while time.monotonic() < start + seconds:
    promises.append(producer.send(speed, value=b"go on"))
receipts += [promise.get(timeout=10) for promise in promises]
going_on = len(promises) / (time.monotonic() - start)
my_factor.against(going_on / waiting)

# %% [markdown]
# Ask the log itself. Spark reads the whole topic; every record carries the time of its `send`.

# %%
from kafkalab import spark_session

spark = spark_session()
sent = read_topic(spark, cluster, speed)
ax = charts.records_per_second(sent.withColumn("way", sent.value.cast("string")), by="way")
ax.set_title(f"Without waiting, {going_on / waiting:.0f} times as many records a second")
charts.show(
    ax, f"Records per second: {waiting:,.0f} with a wait for each receipt, then {going_on:,.0f}."
)

# %% tags=["proof"]
assert sent.count() == len(receipts)  # each record that was acknowledged is in the log
assert going_on > 2 * waiting

# %% [markdown]
# No single record was faster. But while you waited for a receipt, nothing else was under way.
# Without the wait many records travel in one request, and one answer serves them all. What happens
# between `send` and the receipt is the subject of lesson 04.

# %% [markdown]
# ## Outside the course
#
# The clients are kafka-python's own, with its names. Its version 3.0.12 has faults that show when
# brokers stop, freeze and die, and the course mends them as it is imported. Here they are, with the
# place where each was reported.

# %%
clients.MENDS

# %% [markdown]
# At work you have kafka-python without the mends, and without `quick`, which is no more than this:

# %%
quick.producer

# %% [markdown]
# So the same lines make a program of their own. Before you run the next two cells: will its record
# go to the partition of yours?

# %%
program = """
import sys

from kafka import KafkaProducer

producer = KafkaProducer(bootstrap_servers=sys.argv[1])
promise = producer.send("temperatures", key=b"amsterdam", value=b"24.5")
receipt = promise.get(timeout=10)
print(receipt.partition, receipt.offset)
producer.close()
"""
print(program)

# %%
import subprocess
import sys

command = [sys.executable, "-P", "-c", program, cluster.address]  # -P: no modules of this folder
run = subprocess.run(command, capture_output=True, text=True, timeout=60)
print(run.stdout, run.stderr)
partition, offset = map(int, run.stdout.split())
assert record_at(partition, offset).value == b"24.5"
assert partition == receipt.partition

# %% [markdown]
# ## When it goes wrong
#
# One digit of the port is wrong, and nobody is behind that door. What do you hear? A client tries
# for `bootstrap_timeout_ms`; here one second will do.

# %%
import socket

from kafka.errors import KafkaTimeoutError


def knock(port):
    try:
        KafkaProducer(bootstrap_servers=f"127.0.0.1:{port}", bootstrap_timeout_ms=1_000)
    except KafkaTimeoutError as error:
        print(error, *error.__notes__, sep="\n")
        return error.__notes__[0]
    return "a broker answered"


with socket.create_server(("127.0.0.1", 0)) as door:
    nobody = door.getsockname()[1]  # a free port, given back at once
refused = knock(nobody)

# %% [markdown]
# The first line is all that kafka-python says, whatever went wrong. The lines below it are a note
# that the course adds. Read them one by one. *The connection failed*: the client did not come as
# far as speaking. *Connection refused*: the machine is there, and no program listens at this port.
# So the port is wrong, or the cluster is not running. The last line says how to tell which.
#
# Now somebody is behind the door, but it is a web server.

# %%
import socketserver
from threading import Thread


class WebServer(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


web = socketserver.TCPServer(("127.0.0.1", 0), WebServer)
Thread(target=web.serve_forever, daemon=True).start()
misunderstood = knock(web.server_address[1])
web.shutdown()

# %% [markdown]
# This client was let in, and not understood. A client climbs three steps: it opens a connection, it
# speaks Kafka's language, it asks who is in the cluster. Find the step that failed, and you know
# where to look: at the machine, at the port, or at the cluster itself.

# %% tags=["proof"]
assert "the connection failed" in refused
assert "does not answer as a Kafka broker" in misunderstood

# %% [markdown]
# ## Try it
#
# - Send a record without a key, many times. Which partitions does it go to?
# - Read offset 10,000 of a partition that has five records. What does `poll` return?
# - Start the cluster a second time, then read the first record again. Is it there?

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- It works here: {len(cluster.brokers)} brokers were ready in {cluster.started_in:.1f} s.
- A record has a key, a value, headers, a timestamp, a partition and an offset. The last two are
  its address: partition {receipt.partition}, offset {receipt.offset}.
- A new value left the old record as it was: {len(amsterdam)} records with one key.
- From one address the client learned of {len(known)} brokers; broker {asked} was asked, broker
  {keeper} kept the record.
- Waiting for each receipt allowed {waiting:,.0f} records a second, going on {going_on:,.0f}.
- A client that cannot connect fails at one of three steps, and the error names it.
""")

# %%
cluster.close()
spark.stop()
