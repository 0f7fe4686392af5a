# %% [markdown]
# # 09 Idempotence
#
# A producer sends a record and hears nothing. Was it written? Nobody tells. If the producer sends
# it again, it may be there twice; if not, perhaps never. Can a record be written twice, or in
# another order than it was sent?

# %% [markdown]
# You will
# - write every record of a burst twice, on purpose, and stop that with one setting,
# - read on the wire the numbers by which a broker knows a batch again,
# - turn the order of five records round, and keep it,
# - say which repetitions are not noticed, and why.
#
# Needs 05 and 08. 25 minutes.

# %% tags=["parameters"]
records = 600  # spread evenly over six partitions

# %%
from kafka import KafkaAdminClient, KafkaProducer

from kafkalab import Choice, Cluster, Ledger, Prediction, charts, quick, read_topic, spark_session
from kafkalab.lessons import idempotence

often = {"producer.id.expiration.check.interval.ms": 200}  # so that the last experiment is short
cluster = Cluster.start("replicated", settings=often, gateway=True)
spark = spark_session()
cluster

# %% [markdown]
# The topics are as safe as lesson 08 made them: three replicas, two of them in sync at least. So
# nothing will be lost here.


# %%
def new_topic(name, partitions=1):
    """A topic with three replicas; where the name is taken, `name-2` or `name-3`."""
    topic = cluster.unused(name)
    safe = {"replication_factor": 3, "configs": {"min.insync.replicas": "2"}}
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: {"num_partitions": partitions, **safe}})
    cluster.wait_for_topic(topic)
    return topic


def rides_in(topic):
    """What a topic of one partition holds, in the order of its log."""
    log = read_topic(spark, cluster, topic).orderBy("offset")
    return [int(row.value) for row in log.collect()]


# %% [markdown]
# ## An answer gets lost
#
# Three brokers lead two partitions each. You send 600 records, a hundred to each partition. Every
# broker gets its two hundred in one request, writes them, and answers. Then, at each broker, this
# first answer gets lost on its way: the gateway between clients and brokers drops it and breaks the
# connection.
#
# The producer does what it must. It sends again what nobody answered: a **retry**. Idempotence,
# which you will meet in a moment, is switched off. How many of the 600 records are in the log
# twice?

# %% tags=["prediction"]
my_doubled = Prediction("records", "How many records are in the log twice?")
my_doubled


# %%
def burst(topic, **settings):
    """Send the records while the first answer of each broker gets lost; the ledger of them."""
    own = quick.producer | {"client_id": topic, "linger_ms": 500} | settings
    producer = KafkaProducer(bootstrap_servers=cluster.address, **own)
    for broker in cluster.brokers:
        cluster.gateway.drop_replies("Produce", broker=broker, client_id=topic)
    ledger = Ledger()
    for number in range(records):
        receipt = producer.send(topic, value=b"%d" % number, partition=number % 6)
        ledger.sent(number, receipt)
    return ledger


# %%
twice = new_topic("twice", partitions=6)
without = burst(twice, enable_idempotence=False)
verdict = without.verdict(cluster)
print(verdict)
my_doubled.against(len(verdict.duplicated))

# %% tags=["proof", "C70", "C73"]
places = {}
for row in read_topic(spark, cluster, twice).select("value", "offset").collect():
    places.setdefault(bytes(row.value).decode(), []).append(row.offset)
told = without.frame(spark).select("identity", "offset", "state").collect()
assert len(told) == records, f"{len(told)} sends in the producer's log"
assert {row.state for row in told} == {"acknowledged"}, verdict
assert all(len(set(places[row.identity])) == 2 for row in told), "each record at two offsets"
assert all(row.offset in places[row.identity] for row in told), "one of them was told"
assert verdict.lost == [], verdict
assert verdict.reordered == [], verdict

# %% [markdown]
# Nothing failed and nothing was lost. Each `send` got one receipt, and each record is there twice.
#
# A lost answer does not say "not written". It says nothing, and neither does a frozen broker, or
# one that dies before it answers. The producer has to choose: repeat, and perhaps double, or not
# repeat, and perhaps lose. Repeating is called *at least once*.

# %% [markdown]
# ## The broker knows a batch again
#
# The same burst, and the same answers get lost. One setting is left out, so **idempotence** is on:
# to do a thing twice has the effect of doing it once.

# %%
once = new_topic("once", partitions=6)
idempotent = burst(once)
idempotent.verdict(cluster)

# %% [markdown]
# Nothing is there twice. Did the producer know that its records had been written? Compare what went
# over the wire with what went into the log.

# %%
ledgers = {"off": without, "on": idempotent}
sends = {name: ledger.frame(spark) for name, ledger in ledgers.items()}
extra = {name: len(ledger.verdict().duplicated) for name, ledger in ledgers.items()}
title = f"All sent twice; {extra['off']} written twice without idempotence, {extra['on']} with it"
ax = idempotence.again(sends, cluster.gateway.frames("Produce"))
ax.set_title(title)
charts.show(ax, f"{title}. Two bars for each setting: records sent again, records written again.")

# %% tags=["proof", "B87", "B88", "A133", "C74"]
assert idempotent.verdict().duplicated == [], idempotent.verdict()
assert idempotent.verdict().lost == [], idempotent.verdict()
batches = cluster.gateway.frames("Produce", client_id=once).batches()
assert (batches.outcome == "dropped").sum() >= 6, batches
assert batches.duplicated(["partition", "base_sequence"]).sum() >= 6, batches

# %% [markdown]
# It did not know, and sent everything again. The difference is made by the brokers, which did not
# write the second copy. How did they know it? Not by the content, for two equal records may both
# be meant. Here is what the two copies of one batch carried.

# %%
batches = cluster.gateway.frames("Produce", client_id=once).batches()
heads = ["producer_id", "producer_epoch", "base_sequence", "records", "outcome"]
batches.loc[batches.partition == 0, heads]

# %% [markdown]
# Two rows, and the same numbers. At its start an idempotent producer asks a broker for a **producer
# id**. For each partition it counts its records, and the **sequence number** of the first one
# stands in the batch. (The producer epoch is for lesson 10.) The leader of a partition remembers
# the last five batches of each producer id. What it knows it does not write again.
#
# So at most five requests may be on their way to a broker. With a sixth a leader could no longer
# tell whether it has the first. The numbers are in the log, so the next leader reads them in its
# copy.

# %% tags=["proof", "B89", "C76"]
from kafka import TopicPartition
from kafka.errors import for_code

admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
place = TopicPartition(once, 0)
pair = batches[batches.partition == 0]
(known,) = admin.describe_producers([place])[place].active_producers
stored = cluster.batches(once, 0)
assert list(pair.base_sequence) == [0, 0], pair
assert pair.checksum.nunique() == 1, pair
assert [batch.base_sequence for batch in stored] == [0], stored
assert {batch.producer_id for batch in stored} == set(pair.producer_id), stored
assert known.producer_id == stored[0].producer_id, known
assert known.last_sequence == stored[0].records - 1, known
assert {batch.base_sequence for batch in cluster.batches(twice, 0)} == {-1}, "no number at all"

answers = []
for more in (4, 5):
    topic = new_topic("five")
    own = quick.producer | {"request_timeout_ms": 1_000}
    slow = KafkaProducer(bootstrap_servers=cluster.address, client_id=topic, **own)
    cluster.gateway.hold_requests("Produce", client_id=topic)
    for number in range(1 + more):
        slow.send(topic, value=b"%d" % number).get(timeout=10)
    (late,) = cluster.gateway.release()
    cluster.gateway.heal()
    answers.append(late.responses[0].partition_responses[0])
    assert cluster.topic(topic).records == 1 + more, "a batch that comes late is not written"
assert answers[0].error_code == 0, "among the last five it is known"
assert answers[0].base_offset == 0, "and the answer names the first copy"
assert for_code(answers[1].error_code).__name__ == "OutOfOrderSequenceNumberError", answers

# %% [markdown]
# ## In another order
#
# Five rides, 0 to 4, one after the other into one partition, each in a request of its own
# (`batch_size=0`). Idempotence is off again. All five are on their way when the connection breaks,
# and *none* of them has reached the broker. So nothing can be doubled: all five are sent again.

# %% tags=["prediction"]
my_order = Choice("Which ride is the first in the log?", "ride 0", "ride 1", "ride 4")
my_order


# %%
def five_rides(topic, on_their_way, **settings):
    """Send rides 0 to 4; when so many of them are on their way, the connection breaks."""
    own = quick.producer | {"client_id": topic, "batch_size": 0} | settings
    producer = KafkaProducer(bootstrap_servers=cluster.address, **own)
    cluster.gateway.delay(9_000, api="Produce", client_id=topic)
    sent = [producer.send(topic, value=b"%d" % number) for number in range(5)]
    cluster.gateway.wait_for_request("Produce", client_id=topic, count=on_their_way)
    cluster.gateway.heal()  # what is sent from now on is not delayed
    cluster.gateway.reset(client_id=topic)
    return [receipt.get(timeout=10).offset for receipt in sent]


# %%
mixed = new_topic("mixed")
five_rides(mixed, on_their_way=5, enable_idempotence=False)
log = rides_in(mixed)
print(log)
others = {f"ride {n}": f"its offset is {log.index(n)}." for n in (0, 1, 4) if n != log[0]}
my_order.against(f"ride {log[0]}", others)

# %% [markdown]
# Nothing is lost or doubled, and the order is turned round. A batch that fails goes back to the
# head of the producer's queue: ride 0 first, then ride 1 before it. The last one to fail leads, and
# with Java's producer too, where idempotence is off.
#
# So a reader gets a partition in the order of *appending*, as lesson 02 said. That this is also the
# order of *sending* is a promise of its own. Does idempotence make it?

# %%
kept = new_topic("kept")
five_rides(kept, on_their_way=1)
logs = {"off": log, "on": rides_in(kept)}
behind = {name: len(idempotence.overtaken(rides)) for name, rides in logs.items()}
title = f"Rides behind a later one: {behind['off']} without idempotence, {behind['on']} with it"
ax = idempotence.order(logs)
ax.set_title(title)
charts.show(ax, f"{title}. The logs: {logs}.")

# %% tags=["proof"]
assert log == [4, 3, 2, 1, 0], log
assert logs["on"] == [0, 1, 2, 3, 4], logs
tries = cluster.gateway.frames("Produce", client_id=mixed)
assert [frame.outcome for frame in tries[:5]] == ["lost"] * 5, "the brokers got none of these"
tries = cluster.gateway.frames("Produce", client_id=kept)
assert [frame.outcome for frame in tries] == ["lost"] + ["answered"] * 5, "one on its way at a time"

# %% [markdown]
# It does (KIP-98), in two ways. kafka-python keeps one request to a partition on its way while
# idempotence is on, and the other rides wait: that is what you saw. Java's producer has up to five
# (since KAFKA-5494) and puts them back in the order of their numbers, and a leader that knows the
# producer refuses a batch that skips one.

# %% [markdown]
# ## A program that is started again
#
# The program that sent these five rides ends. It is started again, with the same settings, and
# sends the same rides once more. How many of the five does the broker write again?

# %% tags=["prediction"]
my_rides = Prediction("rides", "How many of the five rides are written again?")
my_rides

# %%
before = cluster.topic(kept).records
restarted = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
for number in range(5):
    restarted.send(kept, value=b"%d" % number).get(timeout=10)
ids = sorted({batch.producer_id for batch in cluster.batches(kept, 0)})
print("producer ids in the log:", ids)
my_rides.against(cluster.topic(kept).records - before)

# %% tags=["proof", "C77"]
assert len(ids) > 1, ids
assert rides_in(kept) == [0, 1, 2, 3, 4] * len(ids), "once for each producer id"

# %% [markdown]
# All of them. The new producer has a producer id of its own and counts from 0; for the broker it is
# somebody else. A program that calls `send` twice for one ride fares no better: two sequence
# numbers. Idempotence covers the retries of *one producer* and their order, and nothing else.
#
# It also needs `acks="all"`, retries, and no more than five requests on their way. Set `acks=1`,
# and kafka-python switches it off without an error. Say `enable_idempotence=True` as well, and the
# contradiction is an error. So ask for what you rely on.

# %% tags=["proof", "A134", "C5", "C6"]
from kafka.errors import KafkaConfigurationError

conflicts = {
    "acks": (1, "acks=1"),
    "retries": (0, "retries"),
    "max_in_flight_requests_per_connection": (6, "max_in_flight"),
    "delivery_timeout_ms": (1_000, "delivery_timeout_ms"),  # shorter than a request may take
}
for setting, (value, named) in conflicts.items():
    own = quick.producer | {setting: value}
    if setting != "delivery_timeout_ms":
        quiet = KafkaProducer(bootstrap_servers=cluster.address, **own)
        assert quiet.config["enable_idempotence"] is False, f"{setting}={value} leaves it on"
    said = "nothing: it was accepted"
    try:
        KafkaProducer(bootstrap_servers=cluster.address, enable_idempotence=True, **own)
    except KafkaConfigurationError as error:
        said = str(error)
    assert named in said, said
usual = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
assert usual.config["enable_idempotence"] is True, "on by default"

# %% tags=["proof", "C96"]
guarantees = {}
for acks, wanted in ((0, False), ("all", False), ("all", True)):
    topic = new_topic("guarantee")
    own = quick.producer | {"acks": acks, "enable_idempotence": wanted, "client_id": topic}
    producer = KafkaProducer(bootstrap_servers=cluster.address, **own)
    lose = cluster.gateway.drop_replies if acks else cluster.gateway.hold_requests
    lose("Produce", client_id=topic)
    first = producer.send(topic, value=b"0")
    cluster.gateway.wait_for_request("Produce", client_id=topic)
    if acks == 0:
        cluster.gateway.heal()  # what was held will not come any more
    first.get(timeout=10)
    guarantees[acks, wanted] = cluster.topic(topic).records
assert guarantees[0, False] == 0, "at most once: it is lost and not repeated"
assert guarantees["all", False] == 2, "at least once"
assert guarantees["all", True] == 1, "written once"

# %% [markdown]
# ## When it goes wrong
#
# One copy of a batch is held up in the network. The producer hears nothing and sends another, which
# is written and acknowledged. Later the first one arrives. The leader knows it and writes nothing,
# unless it has forgotten the producer meanwhile: `producer.id.expiration.ms` after its last
# record, usually a day (KIP-854). Here the helper makes that a millisecond, until the leader has
# forgotten. How often is the ride in the log?

# %%
late = new_topic("late")
own = quick.producer | {"client_id": late, "request_timeout_ms": 1_000}
producer = KafkaProducer(bootstrap_servers=cluster.address, **own)
cluster.gateway.hold_requests("Produce", client_id=late)
print("offset of the receipt:", producer.send(late, value=b"0").get(timeout=10).offset)
idempotence.forget_producers(cluster, late, "producer.id.expiration.ms")
(answer,) = cluster.gateway.release()
rides_in(late)

# %% tags=["proof"]
assert rides_in(late) == [0, 0], rides_in(late)
part = answer.responses[0].partition_responses[0]
assert part.error_code == 0, "no error: the broker takes it for a new producer's"
assert part.base_offset == 1, part

# %% [markdown]
# Twice: one producer, its own retry, and no error. The memory ends with time. (It ends after five
# batches too, but there the leader still knows the last number, and refuses the copy.) A copy that
# is a day late is rare. But what has to be known again after a restart, or after days, needs a
# number of its own in the record.

# %% [markdown]
# ## Your turn
#
# 1. Before there was idempotence, people kept the order with another setting. Idempotence stays
#    off. Which setting keeps the five rides in order when the connection breaks?

# %% tags=["exercise"]
from kafkalab.notebook import exercise


def keeps_order(settings):
    on_their_way = min(5, settings.get("max_in_flight_requests_per_connection", 5))
    topic = new_topic("mine")
    five_rides(topic, on_their_way, **settings | {"enable_idempotence": False})
    return "" if rides_in(topic) == [0, 1, 2, 3, 4] else f"the log has {rides_in(topic)}."


# BEGIN SOLUTION
# STUB: in_order = ...
in_order = {"max_in_flight_requests_per_connection": 1}
# END SOLUTION
exercise.check("order", in_order, keeps_order)

# %% [markdown]
# 2. Since the program was started again, the topic `kept` has each ride more than once. The broker
#    cannot tell, and a reader can: the value of a record says which ride it is. Make a list of the
#    rides of `rides_in(kept)`, each once, in the order in which they came first.

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: each_once = ...
each_once = list(dict.fromkeys(rides_in(kept)))
# END SOLUTION
exercise.check(
    "each once", each_once, lambda rides: "" if rides == [0, 1, 2, 3, 4] else "not each one once."
)

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- {extra["off"]} of {records} records were written twice when an answer of each broker got lost,
  {extra["on"]} with idempotence. They were sent twice both times.
- Producer id and sequence number tell a leader that it has a batch already.
- A connection that broke put {behind["off"]} of 5 rides behind a later one without idempotence,
  {behind["on"]} with it.
- A program that was started again has another producer id: {len(ids)} ids, and each ride
  {len(ids)} times. A leader that had forgotten its producer wrote a late copy.
""")

# %%
cluster.close()
spark.stop()
