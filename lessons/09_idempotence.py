# %% [markdown]
# # 09 Idempotence
#
# A producer sends a record and hears nothing. Nobody tells whether it was written. If the producer
# sends it again, it may be there twice; if not, perhaps never. Can a record be written twice, or in
# another order than it was sent?

# %% [markdown]
# You will
# - write every record of a burst twice, on purpose, and stop that with one setting,
# - read on the wire the numbers by which a broker knows a batch again,
# - turn the order of five records round, and see what keeps it,
# - say which repetitions are not noticed, and why.
#
# Needs 05 and 08. 25 minutes.

# %% tags=["parameters"]
records = 600  # spread evenly over six partitions

# %%
from kafka import KafkaProducer

from kafkalab import Choice, Cluster, Ledger, Prediction, charts, quick, read_topic, spark_session
from kafkalab.lessons import idempotence
from kafkalab.lessons.topics import safe_topic
from kafkalab.notebook import exercise

often = {"producer.id.expiration.check.interval.ms": 200}  # so that the last experiment is short
cluster = Cluster.start("replicated", settings=often, gateway=True)
spark = spark_session()

# %% [markdown]
# ## An answer gets lost
#
# Three brokers lead six partitions. You send 600 records, a hundred to each partition. The producer
# waits half a second for company (`linger_ms`, lesson 05), so each broker gets the records of all
# that it leads in *one* request. It writes them, and answers. Then, at each broker, this first
# answer gets lost: the gateway between clients and brokers drops it and breaks the connection.
#
# The producer sends again what nobody answered: a retry, as in lesson 04. Idempotence, which you
# will meet in a moment, is switched off. The topics are as safe as lesson 08 made them
# (`safe_topic`). How many of the 600 records are in the log twice?

# %% tags=["prediction"]
my_doubled = Prediction("records", "How many records are in the log twice?")
my_doubled


# %%
def burst(producer, topic):
    """Send the records while the first answer of each broker gets lost; the ledger of them."""
    for broker in cluster.brokers:
        cluster.gateway.drop_replies("Produce", broker=broker, client_id=topic)
    ledger = Ledger()
    for number in range(records):
        receipt = producer.send(topic, value=b"%d" % number, partition=number % 6)
        ledger.sent(number, receipt)
    return ledger


# %%
twice = safe_topic(cluster, "twice", partitions=6)
own = quick.producer | {"client_id": twice, "linger_ms": 500}
plain = KafkaProducer(bootstrap_servers=cluster.address, enable_idempotence=False, **own)
without = burst(plain, twice)
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
# one that dies before it answers. The producer has to choose: repeat, and perhaps double (*at least
# once*), or not repeat, and perhaps lose (*at most once*).

# %% [markdown]
# ## The broker knows a batch again
#
# The same burst, and the same answers get lost. One setting is left out, so **idempotence** is on,
# as it is by default: to do a thing twice has the effect of doing it once.

# %%
once = safe_topic(cluster, "once", partitions=6)
own = quick.producer | {"client_id": once, "linger_ms": 500}
producer = KafkaProducer(bootstrap_servers=cluster.address, **own)
idempotent = burst(producer, once).verdict(cluster)
print(idempotent)

# %% tags=["proof", "B87", "B88", "A133", "C74"]
assert idempotent.duplicated == [], idempotent
assert idempotent.lost == [], idempotent
batches = cluster.gateway.frames("Produce", client_id=once).batches()
assert (batches.outcome == "dropped").sum() >= 6, batches
assert batches.duplicated(["partition", "base_sequence"]).sum() >= 6, batches

# %% [markdown]
# Nothing is there twice. Did the producer know that its records had been written? Send one record
# more to partition 0, and see what went over the wire to this partition, and what became of each
# answer.

# %%
producer.send(once, value=b"one more", partition=0).get(timeout=10)
batches = cluster.gateway.frames("Produce", client_id=once).batches()
heads = ["producer_id", "producer_epoch", "base_sequence", "records", "outcome"]
batches.loc[batches.partition == 0, heads].rename(columns={"outcome": "answer"})

# %% [markdown]
# It did not know: the first batch went out twice. The broker did not write the second copy, and
# answered as if it had. It knows a batch by numbers. At its start an idempotent producer asks for a
# **producer id**. For each partition it counts its records, and the **sequence number** of the
# first one stands in the batch: 0, and after a hundred records 100. (The producer epoch is for
# lesson 10.) The leader of a partition remembers the last five batches of each producer id, and
# what it knows it does not write again.
#
# So at most five requests may be on their way to a broker (Java uses five): with a sixth a leader
# would not know a copy of the first any more, and refuse it as one out of order, though it has it.
# The numbers are in the log, so the next leader reads them in its copy.

# %% tags=["proof", "B89", "C76"]
from kafka import KafkaAdminClient, TopicPartition
from kafka.errors import for_code

admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
place = TopicPartition(once, 0)
seen = list(batches[batches.partition == 0].itertuples())
pair = seen[:2]
(known,) = admin.describe_producers([place])[place].active_producers
stored = cluster.batches(once, 0)
assert [batch.base_sequence for batch in pair] == [0, 0], pair
assert [batch.outcome for batch in pair] == ["dropped", "answered"], pair
assert pair[0].checksum == pair[1].checksum, pair
assert seen[2].base_sequence == records / 6, seen
assert [batch.base_sequence for batch in stored[:2]] == [0, records / 6], stored
assert len(stored) == len(seen) - 1, "one was sent twice and written once"
assert {batch.producer_id for batch in stored} == {pair[0].producer_id}, stored
assert known.producer_id == stored[0].producer_id, known
assert known.last_sequence == stored[-1].base_sequence, known
assert {batch.base_sequence for batch in cluster.batches(twice, 0)} == {-1}, "no number at all"

answers = []
for more in (4, 5):
    topic = safe_topic(cluster, "five")
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
mixed = safe_topic(cluster, "mixed")
own = quick.producer | {"client_id": mixed, "batch_size": 0}
hasty = KafkaProducer(bootstrap_servers=cluster.address, enable_idempotence=False, **own)
cluster.gateway.delay(9_000, api="Produce", client_id=mixed)
for ride in range(5):
    hasty.send(mixed, value=b"%d" % ride)
cluster.gateway.wait_for_request("Produce", client_id=mixed, count=5)
cluster.gateway.heal()  # what is sent from now on is not delayed
cluster.gateway.reset(client_id=mixed)  # the connection breaks
hasty.flush(timeout=10)


# %%
def rides_in(topic):
    """What a topic of one partition holds, in the order of its log."""
    log = read_topic(spark, cluster, topic).orderBy("offset")
    return [int(row.value) for row in log.collect()]


log = rides_in(mixed)
print(log)
others = {f"ride {n}": f"its offset is {log.index(n)}." for n in (0, 1, 4) if n != log[0]}
my_order.against(f"ride {log[0]}", others)

# %% tags=["proof"]
assert log == [4, 3, 2, 1, 0], log
tries = cluster.gateway.frames("Produce", client_id=mixed)
assert [frame.outcome for frame in tries[:5]] == ["lost"] * 5, "the brokers got none of these"

kept = safe_topic(cluster, "kept")
own = quick.producer | {"client_id": kept, "batch_size": 0}
careful = KafkaProducer(bootstrap_servers=cluster.address, **own)
cluster.gateway.delay(9_000, api="Produce", client_id=kept)
for ride in range(5):
    careful.send(kept, value=b"%d" % ride)
cluster.gateway.wait_for_request("Produce", client_id=kept)
cluster.gateway.heal()
cluster.gateway.reset(client_id=kept)
careful.flush(timeout=10)
assert rides_in(kept) == [0, 1, 2, 3, 4], rides_in(kept)
tries = cluster.gateway.frames("Produce", client_id=kept)
assert [frame.outcome for frame in tries] == ["lost"] + ["answered"] * 5, "one on its way at a time"

# %% [markdown]
# Nothing is lost or doubled, and the order is turned round. A batch that fails goes back to the
# head of the producer's queue: ride 0 first, then ride 1 before it. The last one to fail leads.
#
# So a reader gets a partition in the order of *appending*, as lesson 02 said. That this is also the
# order of *sending* is a promise of its own. What do the numbers do for it? A courier of the course
# delivers by hand: ride 0 (so that the leader knows it), 4, 3, 2 and 1, in this order, to two
# topics. Only the numbers differ: in one topic no ride has any, in the other each has its own.

# %%
no_numbers = safe_topic(cluster, "no-numbers")
numbers = safe_topic(cluster, "numbers")
courier = idempotence.Courier(cluster)
for ride in (0, 4, 3, 2, 1):
    courier.deliver(no_numbers, ride)
    answer = courier.deliver(numbers, ride, sequence=ride)
    print(f"ride {ride} with its number:", answer)

# %% [markdown]
# A leader that knows the producer refuses a batch that skips a number. The client has to send it
# again, in order. (From one that it does not know it takes any number.)

# %%
for ride in (2, 3, 4):
    courier.deliver(numbers, ride, sequence=ride)
logs = {"no numbers": rides_in(no_numbers), "numbers": rides_in(numbers)}
behind = {name: len(idempotence.overtaken(rides)) for name, rides in logs.items()}
title = (
    f"Rides behind a later one: {behind['no numbers']} without numbers, {behind['numbers']} with"
)
ax = idempotence.order(logs)
ax.set_title(title)
charts.show(ax, f"{title}. The logs: {logs}.")

# %% tags=["proof"]
assert logs == {"no numbers": [0, 4, 3, 2, 1], "numbers": [0, 1, 2, 3, 4]}, logs
late_ones = [courier.deliver(numbers, ride, sequence=ride) for ride in (2, 6)]
assert late_ones == ["offset 2", "OUT_OF_ORDER_SEQUENCE_NUMBER"], late_ones
assert cluster.topic(numbers).records == 5, "known, and refused"
unknown = courier.deliver(safe_topic(cluster, "unknown"), 4, sequence=4)
assert unknown == "offset 0", unknown  # nothing that a first number could skip

# %% [markdown]
# With these numbers a producer keeps the order. Java's has up to five requests on their way, and
# repeats in the order of their numbers. This client needs them less: it lets one request to a
# broker go at a time while idempotence is on. Without idempotence you can have that, too:
# `max_in_flight_requests_per_connection=1`.

# %% [markdown]
# ## A program that is started again
#
# A program sends five rides and ends. It is started again, with the same settings, and sends the
# same rides once more. How many of the five does the broker write again?

# %% tags=["prediction"]
my_rides = Prediction("rides", "How many of the five rides are written again?")
my_rides


# %%
def program(topic):
    with KafkaProducer(bootstrap_servers=cluster.address, **quick.producer) as producer:
        for ride in range(5):
            producer.send(topic, value=b"%d" % ride).get(timeout=10)


restarted = safe_topic(cluster, "restarted")
program(restarted)
program(restarted)
ids = sorted({batch.producer_id for batch in cluster.batches(restarted, 0)})
print("producer ids in the log:", ids)
my_rides.against(cluster.topic(restarted).records - 5)

# %% tags=["proof", "C77"]
assert len(ids) == 2, ids
assert rides_in(restarted) == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4], "once for each producer id"

# %% [markdown]
# All of them. The new producer has a producer id of its own (brokers hand them out in blocks) and
# counts from 0; for the broker it is somebody else. A program that calls `send` twice for one ride,
# after an error say, fares no better: two sequence numbers. Idempotence covers the retries of *one
# producer* and their order, and nothing else.
#
# It also needs `acks="all"`, retries, and no more than five requests on their way. And if somebody
# sets `acks=1`?

# %%
from kafka.errors import KafkaConfigurationError

own = quick.producer | {"acks": 1}
quiet = KafkaProducer(bootstrap_servers=cluster.address, **own)
print("idempotence:", quiet.config["enable_idempotence"])
try:
    KafkaProducer(bootstrap_servers=cluster.address, enable_idempotence=True, **own)
except KafkaConfigurationError as error:
    print("asked for by name:", error)

# %% tags=["proof", "A134", "C5", "C6"]
conflicts = {
    "acks": (1, "acks=1"),
    "retries": (0, "retries"),
    "max_in_flight_requests_per_connection": (6, "max_in_flight"),
    "delivery_timeout_ms": (1_000, "delivery_timeout_ms"),  # shorter than a request may take
}
for setting, (value, named) in conflicts.items():
    own = quick.producer | {setting: value}
    if setting != "delivery_timeout_ms":
        without = KafkaProducer(bootstrap_servers=cluster.address, **own)
        assert without.config["enable_idempotence"] is False, f"{setting}={value} leaves it on"
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
    topic = safe_topic(cluster, "guarantee")
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
# It is off, and no error says so (Java's does the same). Asked for by name, the contradiction is an
# error. So ask for what you rely on.

# %% [markdown]
# ## When it goes wrong
#
# One copy of a batch is held up in the network. After a second (`request_timeout_ms`) the producer
# sends another, which is written and acknowledged. A leader remembers a silent producer for a day
# (`producer.id.expiration.ms`, KIP-854). Here the helper makes that a millisecond, until the leader
# has forgotten. Only then the first copy arrives. How often is the ride in the log?

# %%
late = safe_topic(cluster, "late")
own = quick.producer | {"client_id": late, "request_timeout_ms": 1_000}
producer = KafkaProducer(bootstrap_servers=cluster.address, **own)
cluster.gateway.hold_requests("Produce", client_id=late)
print("offset of the receipt:", producer.send(late, value=b"0").get(timeout=10).offset)
idempotence.forget_producers(cluster, late, "producer.id.expiration.ms")
(answer,) = cluster.gateway.release()
part = answer.responses[0].partition_responses[0]
print("the late copy was told: error", part.error_code, "offset", part.base_offset)
rides_in(late)

# %% tags=["proof"]
assert rides_in(late) == [0, 0], rides_in(late)
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
# 1. The courier has delivered a batch of *three* rides with the number 0. Which number must the
#    next batch have?

# %% tags=["exercise"]
counted = safe_topic(cluster, "counted")
courier.deliver(counted, 10, 11, 12, sequence=0)
# BEGIN SOLUTION
# STUB: number = ...
number = 3
# END SOLUTION
exercise.check("the next number", number, idempotence.accepted(cluster, courier, counted))

# %% [markdown]
# 2. A broker cannot tell that a program sends a ride again, and a reader can: the value of a record
#    says which ride it is. Make a list of the rides of `rides_in(again)`, each once, in the order
#    in which they came first.

# %% tags=["exercise"]
again = safe_topic(cluster, "again")
for ride in (3, 1, 3, 0, 1):
    courier.deliver(again, ride)
# BEGIN SOLUTION
# STUB: each_once = ...
each_once = list(dict.fromkeys(rides_in(again)))
# END SOLUTION
exercise.check("each once", each_once, idempotence.first_of_each(rides_in(again)))

# %% tags=["proof"]
assert number == 3, number
assert each_once == [3, 1, 0], each_once

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- {len(verdict.duplicated)} of {records} records were written twice when an answer of each broker
  got lost, {len(idempotent.duplicated)} with idempotence. They were sent twice both times.
- Producer id and sequence number tell a leader that it has a batch already, or that one is missing.
- Batches in a turned order left {behind["no numbers"]} of 5 rides behind a later one without
  numbers, {behind["numbers"]} with them.
- With `acks=1` idempotence is {"on" if quiet.config["enable_idempotence"] else "off"}, and no error
  says so.
- A program that was started again had another producer id and wrote each ride again. A leader that
  had forgotten its producer wrote a late copy.
""")

# %%
cluster.close()
spark.stop()
