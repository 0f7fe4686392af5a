# %% [markdown]
# # 09 Idempotence and transactions
#
# A producer sends a record and hears nothing. Can a record be written twice, or half? If the
# producer sends again, the record may be there twice. If it does not, perhaps never. And where two
# records belong together, somebody may see the one without the other.

# %% [markdown]
# You will
# - write every record of a burst twice, on purpose, and stop that with one setting,
# - read on the wire the three numbers by which a broker knows a batch again,
# - write to several partitions, and commit how far you have read, all or nothing,
# - shut out a producer that came back from the dead, and end a transaction that nobody ends.
#
# Needs 06 and 08. 50 minutes.

# %% tags=["parameters"]
records = 600  # spread evenly over six partitions
request_timeout_ms = 1_500  # how long a producer waits for an answer before it sends again
settings = {"broker.session.timeout.ms": 9_000}  # a broker that is frozen stays what it is
settings["transaction.abort.timed.out.transaction.cleanup.interval.ms"] = 500  # look more often
safe = {"replication_factor": 3, "configs": {"min.insync.replicas": "2"}}  # as in lesson 08

# %%
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from kafkalab import Cluster, Ledger, Prediction, charts, clients, quick, spark_session, wait_until

cluster = Cluster.start("replicated", settings=settings, gateway=True)
cluster

# %% [markdown]
# ## One record, two copies
#
# Nothing is lost in what follows. Two of three brokers stand still for a moment, no answer comes in
# time, and the producer does what it must: it sends again. This is called a **retry**.
#
# The topics are as safe as lesson 08 made them: three replicas, two of them in sync at least. And
# the **gateway** between the clients and the brokers tells what was said.


# %%
def new_topic(name, partitions=6):
    """A topic with three replicas; where the name is taken, `name-2` or `name-3`."""
    topic, settings = cluster.unused(name), {"num_partitions": partitions, **safe}
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: settings})
    cluster.wait_for_topic(topic)
    return topic


# %% [markdown]
# The experiment: a first record to each partition, then brokers are frozen, then come `records`
# records, spread evenly. When the producer has begun to ask again, the brokers wake.


# %%
def burst(topic, frozen, **settings):
    """Send the records while these brokers stand still; the ledger of what became of them."""
    settings = {"linger_ms": 500, "request_timeout_ms": request_timeout_ms, **settings}
    producer = KafkaProducer(
        bootstrap_servers=cluster.address, client_id=topic, **quick.producer | settings
    )
    ledger = Ledger()
    for partition in range(6):  # so that the connections are there before the brokers freeze
        first = producer.send(topic, value=b"first %d" % partition, partition=partition)
        ledger.sent(f"first {partition}", first)
    producer.flush(timeout=10)
    ledger.settle()
    cluster.gateway.clear()
    try:
        for broker in frozen:
            cluster.pause(broker)
        for number in range(records):
            sent = producer.send(topic, value=b"%d" % number, partition=number % 6)
            ledger.sent(number, sent)
        silent = frozen if settings.get("acks") == 1 else cluster.brokers
        cluster.gateway.wait_for_retries(topic, silent)
    finally:
        for broker in frozen:
            cluster.resume(broker)
    return ledger


# %% [markdown]
# First without idempotence, with `acks="all"`. Both followers of partition 0 are frozen; they lead
# other partitions. All `records` sends will be acknowledged. How many records does the log
# get from them?

# %% tags=["prediction"]
my_records = Prediction("records")
my_records

# %%
twice = new_topic("twice")
leader = cluster.topic(twice).partitions[0].leader
followers = [broker for broker in cluster.brokers if broker != leader]
without = burst(twice, followers, enable_idempotence=False)
print(verdict := without.verdict(cluster))
my_records.against(cluster.topic(twice).records - 6)  # six came before

# %% [markdown]
# Nothing was lost, nothing failed, and every record is there twice. Look at some of them in the log
# with Spark, beside what the producer was told.

# %%
from pyspark.sql import functions as F

from kafkalab import read_topic

spark = spark_session()
log = read_topic(spark, cluster, twice).selectExpr("string(value) AS identity", "offset AS found")
copies = log.groupBy("identity").agg(F.sort_array(F.collect_list("found")).alias("in_the_log"))
told = without.frame(spark).where("identity NOT LIKE 'first%' AND state = 'acknowledged'")
both = told.select("identity", "partition", "offset").join(copies, "identity")

both.orderBy(F.col("identity").cast("int")).limit(4).toPandas()

# %% tags=["proof", "C70", "C73"]
assert told.count() == told.select("identity").distinct().count() == records  # told once of each
assert both.where("size(in_the_log) > 1").count() == records == len(verdict.duplicated)
assert both.where("array_contains(in_the_log, offset)").count() == records
assert (verdict.lost, verdict.failed) == ([], [])

# %% [markdown]
# One acknowledgement each, and two offsets. Two things had happened. Where the *leader* was frozen,
# the first request lay in its socket; awake, it wrote that one and the repeated one. Where the
# *followers* were frozen, the leader wrote at once, waited for them and then answered: a time-out.
# Such an answer does not say "not written". It says "I do not know", and so does silence.

# %% [markdown]
# ## Which setting decides?
#
# With `acks="all"` an answer waits for the followers. With `acks=1` it does not. Now one broker is
# frozen and the others are awake. Before you run the next cell: how many records are doubled with
# `acks=1`?

# %%
one = new_topic("one-frozen")
leader = cluster.topic(one).partitions[0].leader
led = {p.partition for p in cluster.topic(one).partitions if p.leader == leader}
acks_one = burst(one, [leader], acks=1, enable_idempotence=False)
led, acks_one.verdict(cluster)

# %% tags=["proof", "C71"]
assert acks_one.verdict(cluster).duplicated == [n for n in range(records) if n % 6 in led]

# %% [markdown]
# Those of the partitions that the frozen broker leads, and no others. Two frozen ones lead twice as
# many. What `acks=1` costs instead, lesson 08 told.
#
# Now the first experiment again, without a word on **idempotence**: then it is on. Both followers
# freeze, the requests are repeated as before. Before you run the next cell: how many records are
# doubled?

# %% tags=["B87", "C74"]
once = new_topic("once")
leader = cluster.topic(once).partitions[0].leader
idempotent = burst(once, [b for b in cluster.brokers if b != leader])
assert idempotent.verdict(cluster).duplicated == idempotent.verdict().lost == []
sent = cluster.gateway.frames("Produce", client_id=once).batches()
repeated = sent.duplicated(["partition", "base_sequence"]).sum()

runs = {"off, acks=all": without, "off, acks=1, one frozen": acks_one, "on, acks=all": idempotent}
frames = [run.frame(spark).withColumn("setting", F.lit(name)) for name, run in runs.items()]
extra = frames[0].union(frames[1]).union(frames[2]).groupBy("setting")
bars = extra.agg(F.sum(F.expr("copies_in_log - 1")).alias("extra")).toPandas()
bars = bars.set_index("setting")["extra"].loc[list(reversed(runs))]
title = f"{bars.iloc[-1]:,} needless copies of {records:,} records; with idempotence {bars.iloc[0]}"
ax = bars.plot.barh(title=title, figsize=(7.5, 2.6))
ax.bar_label(ax.containers[0], padding=3)
ax.set(xlabel="copies too many (records)", ylabel="idempotence")
charts.show(ax, f"{title}. Bars: {', '.join(f'{n}: {v}' for n, v in bars.items())}.")

# %% tags=["proof", "B87", "C74"]
assert repeated >= 6  # the batch of each partition was sent again

# %% [markdown]
# ## How does a broker know a batch again?
#
# Not by its content: two equal records may both be meant. Make the smallest case of it. Six
# records, one after the other; the first reaches the broker, and its *answer* gets lost. The
# producer sends it again. Before you run the next cell: how many batches will the log hold, without
# idempotence and with it?


# %%
def six_rides(name, lose, **settings):
    """Six records, each after the answer to the one before; the first or its answer gets lost."""
    topic = new_topic(name, partitions=1)
    producer = KafkaProducer(
        bootstrap_servers=cluster.address, client_id=topic, **quick.producer | settings
    )
    lose("Produce", count=1, client_id=topic)
    for number in range(6):
        producer.send(topic, value=b"ride %d" % number).get(timeout=10)
    return topic


lose_answer = cluster.gateway.drop_replies
blind = six_rides("blind", lose_answer, enable_idempotence=False)
knowing = six_rides("knowing", lose_answer)
wire = cluster.gateway.frames("Produce", client_id=knowing).batches()
wire[["producer_id", "producer_epoch", "base_sequence", "records", "outcome"]]

# %% [markdown]
# Each row is the head of a batch on its way to the broker. When it starts, an idempotent producer
# asks a broker for a **producer id**. To each partition it counts its records: the **sequence
# number** of the first one stands in the batch. The **producer epoch** tells apart producers that
# use one id after the other; you will need it below. The row that was `dropped` comes again with
# the same three numbers.

# %%
import time

from kafka import TopicPartition

admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
place = TopicPartition(knowing, 0)
known = admin.describe_producers([place])[place].active_producers[-1]
stored = cluster.batches(knowing, 0)
known

# %% tags=["proof", "A133", "B88", "B89", "C76"]
assert list(wire.base_sequence) == [0, 0, 1, 2, 3, 4, 5]  # on the wire: seven
assert [batch.base_sequence for batch in stored] == [0, 1, 2, 3, 4, 5]  # in the log: six
assert {batch.producer_id for batch in stored} == set(wire.producer_id) == {known.producer_id}
assert (known.last_sequence, known.producer_epoch) == (5, 0)  # what the leader remembers
assert {batch.base_sequence for batch in cluster.batches(blind, 0)} == {-1}  # no number at all
assert len(cluster.batches(blind, 0)) == 7

# %% [markdown]
# For each producer id, the leader remembers the last five batches of each partition. A batch that
# it knows is not written, and the answer names the offset of the first copy. A batch that skips a
# number is refused. That is why at most five requests may be on their way. The numbers are in the
# log, so the followers have them too: the next leader knows what this one knew.

# %% [markdown]
# ## What is not covered?
#
# A program sends its six rides, is started again and sends them again. Its settings have not
# changed. Before you run the next cell: how many of them does the broker refuse to write?

# %%
restarted = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
for number in range(6):
    restarted.send(knowing, value=b"ride %d" % number).get(timeout=10)
ids = {batch.producer_id for batch in cluster.batches(knowing, 0)}
ids

# %% tags=["proof", "C77"]
assert read_topic(spark, cluster, knowing).count() == 6 * len(ids) > 6  # all are there again

# %% [markdown]
# None. There are two producer ids in the log, and each ride is there once for each of them. A new
# producer begins at 0 again; for the broker it is somebody else. The same holds for a program that
# calls `send` twice. Idempotence covers the *retries* of one producer, while it lives.
#
# It also goes with three other settings. What if they contradict? First without asking for
# idempotence, then with. The last line is of another kind: a contradiction that has nothing to do
# with idempotence.

# %%
from kafka.errors import KafkaConfigurationError, KafkaError

chosen, reasons = {}, {}
for setting, value in [
    ("acks", "all"),
    ("acks", 1),
    ("acks", 0),
    ("retries", 0),
    ("max_in_flight_requests_per_connection", 6),
    ("delivery_timeout_ms", request_timeout_ms),  # shorter than a request may take
]:
    case, own = f"{setting}={value}", quick.producer | {setting: value}
    try:
        quiet = KafkaProducer(bootstrap_servers=cluster.address, **own)
        chosen[case] = quiet.config["enable_idempotence"]
        KafkaProducer(bootstrap_servers=cluster.address, enable_idempotence=True, **own)
    except KafkaConfigurationError as error:
        reasons[case] = str(error)
{case: (chosen.get(case), reasons.get(case)) for case in (*chosen, case)}

# %% tags=["proof", "A134", "C5", "C6"]
assert list(chosen.values()) == [True, False, False, False, False]
assert list(reasons) == [case for case in chosen if not chosen[case]] + [case]
assert "acks=1" in reasons["acks=1"]
assert "delivery_timeout_ms" in reasons[case]

# %% [markdown]
# Idempotence needs `acks="all"`, retries, and at most five requests on their way. Say otherwise,
# and kafka-python switches it off without an error. Ask for it as well, and it refuses and says
# why. So ask for what you rely on.
#
# What does each setting promise, then? "At most once", "at least once" or "exactly once"? You know
# two answers: the rides without idempotence and with it. For the third, `acks=0`, lose a *request*
# instead: it leaves the producer and never reaches the broker. Before you run the next cell: how
# many of six rides are in the log?

# %%
lost = six_rides("lost", cluster.gateway.hold_requests, acks=0, enable_idempotence=False)
wait_until(lambda: cluster.topic(lost).records >= 5, timeout=10, what="the last of the rides")
cluster.gateway.heal()  # what was held will not come any more
counts = {n: cluster.topic(n).records for n in (lost, blind, six_rides("sure", lose_answer))}
counts

# %% tags=["proof", "C96"]
assert list(counts.values()) == [5, 7, 6]

# %% [markdown]
# At most once: `acks=0` never repeats, so it can lose. At least once: `acks="all"` repeats, so it
# can double. Exactly once, for one producer and one partition: the numbers make the repetition
# harmless. `acks=1` promises neither: lesson 08 lost records with it, and you doubled some. And all
# of it stands on three replicas with a minimum of two in sync, or "written" does not last.

# %% [markdown]
# ## All or nothing?
#
# A bank moves money: a debit in partition 0, a credit in partition 1. Two batches, two leaders; a
# crash may come between them. A **transaction** makes them one: after *commit* both count, after
# *abort* neither. Two consumers look on. One reads what is committed, the other everything.

# %%
levels = ("read_uncommitted", "read_committed")


def open_accounts():
    """Empty accounts, their bank, and two readers that have read nothing yet."""
    accounts = new_topic("accounts", partitions=2)
    own = {"client_id": "bank", "transactional_id": accounts}
    own |= {"max_block_ms": 20_000}  # the first transaction makes a topic of Kafka's own
    bank = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer | own)
    bank.init_transactions()
    readers, both = {}, [TopicPartition(accounts, 0), TopicPartition(accounts, 1)]
    for level in levels:
        own = {"isolation_level": level, "auto_offset_reset": "earliest"}
        readers[level] = KafkaConsumer(bootstrap_servers=cluster.address, **quick.consumer | own)
        readers[level].assign(both)
    return accounts, bank, readers, both


# %%
def look(then=None):
    """Let both consumers read what they can see, and note when they had, and what comes then."""
    cluster.wait_for_markers()
    for level, reader in readers.items():
        for record in clients.records_until_end(reader):
            seen.read(record, reader=level)
    if then:
        marks[then] = time.time()


# %% [markdown]
# Three transfers: the first is committed, the second aborted, the third stays open for a while.
# Meanwhile somebody else pays in five coins, without any transaction; they are acknowledged. At
# *that* moment, before the third transfer ends: how many records has the reader of committed ones?

# %% tags=["prediction"]
my_visible = Prediction("records")
my_visible


# %%
def open_transfer(number):
    bank.begin_transaction()
    bank.send(accounts, value=b"debit %d" % number, partition=0)
    bank.send(accounts, value=b"credit %d" % number, partition=1)
    bank.flush(timeout=10)  # both are in the log


(accounts, bank, readers, places), seen, marks = open_accounts(), Ledger(), {}
open_transfer(1)
look("commit 1")
bank.commit_transaction()
look()
open_transfer(2)
look("abort 2")
bank.abort_transaction()
open_transfer(3)
look("coins")
payer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
coins = [payer.send(accounts, value=b"coin %d" % n, partition=0).get(10) for n in range(5)]
look("commit 3")
stable, logs = readers["read_committed"].end_offsets(places), [cluster.batches(*p) for p in places]
held = seen.readings(spark).where("reader = 'read_committed'").count()
bank.commit_transaction()
look()
my_visible.against(held)

# %% [markdown]
# Two: the first transfer. The coins belong to no transaction, they are acknowledged and replicated,
# and this reader does not get them before the third transfer ends. All of it over time:

# %% tags=["B90"]
read = seen.readings(spark)
by_time = read.selectExpr(
    "reader", "read_at", "count(*) OVER (PARTITION BY reader ORDER BY read_at) AS visible"
)
ends = [read_topic(spark, cluster, accounts, isolation=level).count() for level in levels]
assert [read.where(f"reader = '{level}'").count() for level in levels] == ends == [11, 9]
assert read.where("reader = 'read_committed' AND identity IN ('debit 2', 'credit 2')").isEmpty()

title = f"{ends[0]} records were read, {ends[0] - ends[1]} of them never happened"
ax = charts.timeline(by_time, time="read_at", value="visible", by="reader", marks=marks)
ax.set(title=title, ylabel="records read so far")
charts.show(ax, f"{title}. Uncommitted records show at once; committed ones come in jumps.")

# %% tags=["proof", "B90"]
assert held == 2

# %% [markdown]
# The careless reader got a debit and a credit that never took place. The careful one waited, even
# for records that are nobody's transaction: a consumer gets a partition *in order*. So a leader
# keeps a **last stable offset**: where the first open transaction begins. A reader of committed
# records gets nothing from there on. A long transaction makes others wait. The next chart shows it
# for both partitions.
#
# Partition 0 holds three debits and five coins. Before you run the next cell: which offset does the
# next record get?

# %% tags=["B93"]
from kafkalab.lessons import transactions

stored = cluster.batches(accounts, 0)
end = cluster.topic(accounts).partitions[0].end_offset
values = read_topic(spark, cluster, accounts).where("partition = 0").count()
markers = [(batch.base_offset, batch.marker) for batch in stored if batch.control]
assert markers == [(1, "commit"), (3, "abort"), (10, "commit")]
frames = cluster.gateway.frames(client_id="bank")
asked = list(dict.fromkeys(frame.api for frame in frames if frame.api != "ApiVersions"))
if cluster.gateway.covers_nodes:  # with Docker only what clients say passes the gateway
    assert cluster.gateway.frames("WriteTxnMarkers", between="nodes")
assert admin.describe_features()["transaction.version"]["finalized"] == (2, 2)  # see Java below
print("the bank asked for:", *asked)

rows = {f"partition {n}\ntransfer 3 open": log for n, log in enumerate(logs)}
held_at = {name: stable[place] for name, place in zip(rows, places, strict=True)}
assert list(held_at.values()) == [4, 4]  # the last stable offsets: where transfer 3 begins
rows["partition 0\ntransfer 3 committed"] = stored
title = f"{end} offsets for {values} records: {len(markers)} are markers"
ax = transactions.transaction_logs(rows, last_stable=held_at)
ax.set_title(title)
charts.show(ax, f"{title}. In order: {', '.join(b.marker or 'a record' for b in stored)}.")

# %% tags=["proof", "B93"]
assert (values, end) == (8, 11)
assert asked[-4:] == ["InitProducerId", "AddPartitionsToTxn", "Produce", "EndTxn"]
assert [(log[-1].last_offset, log[4].transactional) for log in logs] == [(9, True), (4, True)]

# %% [markdown]
# An abort takes nothing away. When a transaction ends, each of its partitions gets a **marker**,
# C or A in the chart, which takes an offset. They do not come all at once: a debit can show before
# its credit. The broker tells a reader of committed records which producers' batches to leave out.
# So offsets have gaps, and "end minus start" is not a number of records.

# %% [markdown]
# And who writes the markers? See what the bank asked for, above the chart. One broker is its
# **transaction coordinator**: it gives the id, hears of each partition before the first record goes
# there, and is told the end. (Java's producer, since 4.0, leaves the middle step out: a leader that
# gets the first record tells the coordinator.)

# %% [markdown]
# The coordinator first writes the decision into a log of its own, `__transaction_state`; from then
# on the transaction *is* committed, and the bank hears so. Then it sends the markers to the
# leaders, a moment later (hence `wait_for_markers` above). If it dies in between, the next
# coordinator reads the decision and goes on.

# %% [markdown]
# ## Read, work, write
#
# A clerk reads orders and writes bills. Twice the same order must not give two bills, so "how far I
# have read" and "what I have written" have to change together. Both are records: the place of a
# group lies in `__consumer_offsets` (lesson 01). So the place can go into the transaction.

# %%
from kafka import OffsetAndMetadata

careful = {"isolation_level": "read_committed", "auto_offset_reset": "earliest"}
careful |= {"enable_auto_commit": False}  # the transaction commits the place


def clerk():
    """Bill each order that the group has not seen; the transaction is left open."""
    writer = KafkaProducer(
        bootstrap_servers=cluster.address, transactional_id=shop, **quick.producer
    )
    writer.init_transactions()  # ends what an earlier producer of this name has left open
    reader = KafkaConsumer(
        orders, bootstrap_servers=cluster.address, group_id=shop, **quick.consumer | careful
    )
    read = list(clients.records_until_end(reader))
    writer.begin_transaction()
    for order in read:
        writer.send(bills, value=b"bill for " + order.value)
        letters.append(order.value)  # a letter by post: nothing that Kafka knows of
    place = TopicPartition(orders, 0)
    offsets = {place: OffsetAndMetadata(reader.position(place), "", -1)}  # the next one to read
    writer.send_offsets_to_transaction(offsets, reader.group_metadata())
    reader.close()
    return writer


# %% [markdown]
# Here are twenty orders. A first clerk bills all of them, sends the place, and stands still before
# the commit. Before you run the next cell: what is the committed offset of the group now?

# %%
orders, bills = new_topic("orders", partitions=1), new_topic("bills", partitions=1)
shop, letters = orders, []  # the name of the group and of the producer; what goes by post
for number in range(20):
    payer.send(orders, value=b"order %02d" % number).get(timeout=10)
first_clerk, earlier = clerk(), cluster.group(shop).offsets
earlier

# %% [markdown]
# There is none: `{}`. The bills are in the log and the place is, too; both wait for a marker. A
# second clerk is started in the place of the first, with the same `transactional_id`. Before you
# run the next cell: how many bills will a reader of committed records get? How many letters go out?

# %%
clerk().commit_transaction()
cluster.wait_for_markers()
billed = {level: read_topic(spark, cluster, bills, isolation=level).count() for level in levels}
billed, len(letters)

# %% tags=["proof", "B92", "C98"]
assert (earlier, cluster.group(shop).offsets) == ({}, {(orders, 0): 20})
assert (billed, len(letters)) == ({"read_uncommitted": 40, "read_committed": 20}, 40)

# %% [markdown]
# Twenty bills, each once: the second clerk's `init_transactions` aborted what the first had left,
# and the place had not moved, so it read all orders again. That is **exactly once** from topic to
# topic. But forty letters went out. Kafka can take back what is in its own logs, and nothing else.
# For a letter, a payment or a row in a database something else has to know the order again: lesson
# 08 does that for a database.

# %% [markdown]
# ## Two clerks with one name
#
# The first clerk's transaction ended because a second clerk took its name. And if nobody ever does?
# Then time ends it: a transaction may stay open for `transaction.timeout.ms`. Here a producer with
# one second begins, sends a record, and is heard of no more.

# %%
left, short = new_topic("left-open", partitions=1), {"transaction_timeout_ms": 1_000}
gone = KafkaProducer(
    bootstrap_servers=cluster.address,
    client_id=left,
    transactional_id=left,
    **quick.producer | short,
)
gone.init_transactions()
gone.begin_transaction()
gone.send(left, value=b"half of something")
wait_until(lambda: any(b.marker for b in cluster.batches(left, 0)), timeout=20, what="an end")

# %% [markdown]
# The coordinator had an abort written. Now both wake, the first clerk first. It never died, it
# stood still: a **zombie**. It knows nothing of the second clerk, its transaction seems open, all
# its bills are in the log. Before you run the next cell: it commits. Does each order have two bills
# now?

# %% tags=["B91"]
from kafka.admin import AbortTransactionSpec, ConfigResource

refusals = []
for attempt in (
    first_clerk.commit_transaction,
    lambda: first_clerk.send(bills, b"one more").get(10),
    lambda: gone.send(left, b"the other half").get(10),
):
    try:
        attempt()
    except KafkaError as error:
        refusals.append(f"{type(error).__name__}: {error}")
again = read_topic(spark, cluster, bills, isolation="read_committed").count()
assert ["ProducerFencedError" in line for line in refusals[:2]] == [True, True]
epochs, ended = (
    [(b.producer_epoch, b.records, b.marker) for b in cluster.batches(topic, 0)]
    for topic in (bills, left)
)
assert cluster.gateway.frames("Produce", client_id=left)[-1].outcome == "answered"  # refused
print("\n".join(refusals))
epochs, ended

# %% tags=["proof", "B91"]
assert again == billed["read_committed"] == 20
assert [line[0] for line in epochs] == sorted(line[0] for line in epochs)
assert epochs[0][0] < epochs[-1][0]  # the second clerk's is larger
assert ended[-1] == (1, 1, "abort")  # it began with epoch 0, and nothing came after

# %% [markdown]
# Read it line by line. *Error 90* is the coordinator's answer to the commit. *ProducerFenced*:
# there is a fence, and this producer is outside. The second line comes from the client itself: *at
# least one previous request has failed*, so it sends nothing any more, and names the cause again.
# No repetition helps; such a program has to end.

# %% [markdown]
# The two logs show the fence: producer epoch, records, marker. Each `init_transactions` raises the
# epoch, and so does the coordinator when it aborts by itself. It refuses what comes with an older
# epoch. A leader refuses it once the newer one stands in its own log, as in the marker of
# `left-open`: *error 47*, the third line, is a leader's answer.

# %% [markdown]
# ## When it goes wrong
#
# No error at all, only consumers that get nothing. It begins with a request that is late: it leaves
# the producer and stays in the network. The producer gives up and aborts. Then the request arrives.
# Before you run the next cell: what should the broker do with it?


# %%
def late_request(name, verify):
    """A transaction is aborted, and a request of it arrives after that; what the broker answers."""
    setting = "transaction.partition.verification.enable"
    for broker in map(str, cluster.brokers):
        admin.alter_configs([ConfigResource("BROKER", broker, configs={setting: verify})])
    cluster.wait_for_setting(setting, verify)
    topic = new_topic(name, partitions=1)
    hasty = {"request_timeout_ms": 1_000, "delivery_timeout_ms": 1_500}
    own = quick.producer | hasty | {"client_id": topic, "transactional_id": topic}
    slow = KafkaProducer(bootstrap_servers=cluster.address, **own)
    slow.init_transactions()
    slow.begin_transaction()
    cluster.gateway.hold_requests("Produce", count=100, client_id=topic)
    slow.send(topic, value=b"too late")
    cluster.gateway.wait_for_request("Produce", client_id=topic)
    slow.abort_transaction()
    cluster.wait_for_markers()
    (*_, answer) = cluster.gateway.release()
    cluster.gateway.heal()
    return topic, answer.responses[0].partition_responses[0]


refused, answer = late_request("refused", verify="true")  # as it is by default
assert [batch.marker for batch in cluster.batches(refused, 0)] == ["abort"]  # and no record
answer.error_code, answer.error_message

# %% [markdown]
# The leader asks the coordinator whether the partition takes part in a transaction that is open,
# and refuses. (Java's producer, since 4.0, also gets a new epoch with every transaction, so that a
# late request is known by its epoch.) Brokers before 3.6 did not ask. Take that protection away, as
# if this were one of them, and let the same thing happen. Then a producer without any transaction
# sends ten records, all acknowledged. Before you run the next cell: how many does a reader of
# committed records get?

# %%
hung, answer = late_request("hung", verify="false")
coins = [payer.send(hung, value=b"coin %d" % n).get(timeout=10) for n in range(10)]
place = TopicPartition(hung, 0)
stalled = {level: reader.end_offsets([place])[place] for level, reader in readers.items()}
assert read_topic(spark, cluster, hung, isolation="read_committed").isEmpty()
stalled

# %% [markdown]
# None, and it stays so: the transaction of the late record is open, and the coordinator knows
# nothing of it, for it has aborted it long ago. So no time-out ends it, as it ended `left-open`:
# nobody will write a marker. The consumers poll and get nothing, without an error, as in lesson 01.
# Kafka's own tool looks for such a case.

# %%
broker = cluster.topic(hung).partitions[0].leader
command = f"find-hanging --broker-id {broker} --max-transaction-timeout 0"
found = cluster.tool("kafka-transactions", "--bootstrap-server", "{bootstrap}", *command.split())
state = admin.describe_transactions([hung])[hung].state.name
print(found.stdout, state, sep="\n")
assert (hung in found.stdout, state) == (True, "COMPLETE_ABORT")

# %% [markdown]
# Read the columns from left to right. *Topic* and *Partition*: where it hangs. *ProducerId*,
# *ProducerEpoch*: whose records they are. *CoordinatorEpoch*: which coordinator wrote the last
# marker. *StartOffset*: where the last stable offset stands still. *Duration*: in minutes; without
# the limit of 0 the tool shows what is older than any transaction may be. The line below it is the
# coordinator's opinion: aborted, complete. The tool reports where the two disagree.
#
# Now write the marker that nobody writes.

# %%
for state in admin.describe_producers([place])[place].active_producers:
    if state.current_transaction_start_offset >= 0:
        whose = (state.producer_id, state.producer_epoch, state.coordinator_epoch)
        admin.abort_transaction(AbortTransactionSpec(place, *whose))
freed = read_topic(spark, cluster, hung, isolation="read_committed").count()
assert (freed, stalled["read_committed"]) == (10, 1)

# %% [markdown]
# One marker, and the ten coins are there. The setting stays off until the cluster ends; nowhere
# else should it be.

# %% [markdown]
# ## Try it
#
# - Freeze the leader alone, with `acks="all"` and idempotence off. Which records are doubled?
# - Let the second clerk have a `transactional_id` of its own. What happens to the first one's
#   bills, and when?
# - Drop the answer to `EndTxn` instead of one to `Produce`. Is the transfer committed?

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- Of {records} acknowledged records {len(verdict.duplicated)} were in the log twice; with
  idempotence {len(idempotent.verdict().duplicated)}, though {repeated} batches were sent again.
- Producer id, epoch and sequence number tell a broker that it has a batch already: {len(wire)}
  batches on the wire, 6 in the log. A producer that is started again has a new id.
- Of {ends[0]} records of three transfers and five coins {ends[1]} were committed; {len(markers)}
  markers took offsets of partition 0. An open transaction held back the coins of others too.
- {len(letters)} times a letter was sent, {billed["read_committed"]} bills were committed: exactly
  once, from topic to topic and no further. The two that came back got {len(refusals)} refusals.
- A transaction that is left open is aborted after {first_clerk.config["transaction_timeout_ms"]:,}
  ms, unless its producer was told otherwise.
- A transaction that nobody ended held the last stable offset at {stalled["read_committed"]} of
  {stalled["read_uncommitted"]}. One marker set {freed} records free.
""")

# %%
cluster.close()
spark.stop()
