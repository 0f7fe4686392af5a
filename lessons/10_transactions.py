# %% [markdown]
# # 10 Transactions
#
# A bank moves money: a debit in one partition, a credit in another. Two records, two leaders, and
# the program may die between them. Can several records be written together, or not at all?

# %% [markdown]
# You will
# - write to several partitions so that all of it counts or nothing,
# - choose what a consumer sees of what is not decided yet,
# - run a loop that reads, works and writes, and take it along as a template,
# - shut out a program that comes back after another one took its place.
#
# Needs 03 and 09. 25 minutes.

# %% tags=["parameters"]
orders_to_bill = 20

# %%
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition

from kafkalab import Choice, Cluster, Prediction, charts, clients, quick
from kafkalab.lessons import transactions

cluster = Cluster.start("replicated", gateway=True)


def new_topic(name, partitions=1):
    """A topic with three replicas; where the name is taken, `name-2` or `name-3`."""
    topic = cluster.unused(name)
    safe = {"replication_factor": 3, "configs": {"min.insync.replicas": "2"}}
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: {"num_partitions": partitions, **safe}})
    cluster.wait_for_topic(topic)
    return topic


# %% [markdown]
# A consumer says with `isolation_level` what it wants to see. There are two levels, so two
# consumers look on in this lesson. Each reads a topic from its start, as far as it gets.


# %%
def look(topic):
    """How many records a consumer of each isolation level gets."""
    cluster.wait_for_markers()  # what was decided a moment ago is in the log now
    seen = {}
    for level in ("read_uncommitted", "read_committed"):
        own = quick.consumer | {"auto_offset_reset": "earliest", "isolation_level": level}
        with KafkaConsumer(topic, bootstrap_servers=cluster.address, **own) as consumer:
            seen[level] = len(list(clients.records_until_end(consumer)))
    return seen


# %% [markdown]
# ## Two records, one decision
#
# A producer with a `transactional_id` can begin a **transaction**. What it sends from then on
# counts when it commits, and never counts when it aborts.


# %%
payer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)


def open_bank(name):
    own = quick.producer | {"client_id": name, "transactional_id": name}
    own["max_block_ms"] = 20_000  # the first transaction of a cluster makes a topic of Kafka's own
    bank = KafkaProducer(bootstrap_servers=cluster.address, **own)
    bank.init_transactions()
    return bank


def transfer(bank, topic, number):
    bank.begin_transaction()
    bank.send(topic, value=b"debit %d" % number, partition=0).get(timeout=10)
    bank.send(topic, value=b"credit %d" % number, partition=1).get(timeout=10)


# %% [markdown]
# The bank sends a debit and a credit, and both are acknowledged. It has decided nothing yet.

# %% tags=["prediction"]
my_readers = Choice(
    "Who gets the two records now?",
    "nobody",
    "consumers with the default settings",
    "consumers that ask for it",
)
my_readers

# %%
half = new_topic("half", partitions=2)
bank = open_bank(half)
transfer(bank, half, 1)
seen = look(half)
print(seen)
default = KafkaConsumer.DEFAULT_CONFIG["isolation_level"]
told = f"the default is {default}, and at that level a consumer gets {seen[default]}."
why = {"nobody": told, "consumers that ask for it": "they need not ask."}
my_readers.against("consumers with the default settings", why)

# %% tags=["proof"]
assert default == "read_uncommitted", default
assert seen == {"read_uncommitted": 2, "read_committed": 0}, seen

# %% [markdown]
# Records of a transaction that is not decided are in the logs, and whoever reads with the default
# settings of this client or of Java's works with them, also if they are aborted later.
# (librdkafka's default is `read_committed`.) A producer's transaction protects no consumer that
# does not ask: `isolation_level="read_committed"`.
#
# ## What a careful reader waits for
#
# The bank commits transfer 1, aborts transfer 2, and leaves transfer 3 open. Meanwhile somebody
# pays five coins into partition 0, *without* any transaction; they are acknowledged. How many
# records does the reader of committed records have then?

# %% tags=["prediction"]
my_visible = Prediction("records", "How many records does it have?")
my_visible

# %%
accounts = new_topic("accounts", partitions=2)
bank = open_bank(accounts)
transfer(bank, accounts, 1)
bank.commit_transaction()
transfer(bank, accounts, 2)
bank.abort_transaction()
visible = {"1 committed, 2 aborted": look(accounts)}
transfer(bank, accounts, 3)
for number in range(5):
    payer.send(accounts, value=b"coin %d" % number, partition=0).get(timeout=10)
visible["3 open, 5 coins"] = look(accounts)
my_visible.against(visible["3 open, 5 coins"]["read_committed"])

# %% [markdown]
# Two, the first transfer. The coins belong to nobody's transaction, and still this reader does not
# get them. Look into the logs, while transfer 3 is open.

# %%
logs = {f"partition {n}": cluster.batches(accounts, n) for n in (0, 1)}
places = {name: TopicPartition(accounts, n) for n, name in enumerate(logs)}
with KafkaConsumer(
    bootstrap_servers=cluster.address, isolation_level="read_committed", **quick.consumer
) as reader:
    stable = {name: reader.end_offsets([place])[place] for name, place in places.items()}
markers = [batch.marker for batch in logs["partition 0"] if batch.control]
stop = stable["partition 0"]
title = f"{len(markers)} markers in partition 0; a careful reader stops before offset {stop}"
ax = transactions.transaction_logs(logs, last_stable=stable)
ax.set_title(title)
charts.show(ax, f"{title}. Markers in order: {', '.join(markers)}.")

# %% tags=["proof", "B93"]
first_log = logs["partition 0"]
found = [(batch.base_offset, batch.marker) for batch in first_log if batch.control]
assert found == [(1, "commit"), (3, "abort")], found
assert cluster.topic(accounts).partitions[0].end_offset == 10, "three debits, five coins, two more"
assert stable == {"partition 0": 4, "partition 1": 4}, stable
assert visible["3 open, 5 coins"] == {"read_uncommitted": 11, "read_committed": 2}, visible

# %% [markdown]
# An end of a transaction is a **marker** in each of its partitions, C for commit and A for abort.
# It takes an offset, so "end minus start" is not a number of records. An abort deletes nothing: the
# broker tells a careful reader which records to leave out.
#
# Partitions are read in order. So each leader keeps a **last stable offset**, where the first open
# transaction begins (else the high watermark); a careful reader gets nothing beyond. The coins wait
# for a stranger. Say the bank's program has died. It is started again, and `init_transactions` ends
# what was left open under its name.

# %%
bank = open_bank(accounts)
visible["3 ended, by a restart"] = look(accounts)
ends = look(accounts)
never = ends["read_uncommitted"] - ends["read_committed"]
held = visible["3 open, 5 coins"]["read_committed"]
title = (
    f"{never} of {ends['read_uncommitted']} records never happened; careful readers wait at {held}"
)
ax = transactions.visible(visible)
ax.set_title(title)
charts.show(ax, f"{title}. After each step: {visible}.")

# %% tags=["proof", "B90"]
assert ends == {"read_uncommitted": 11, "read_committed": 7}, ends
assert visible["1 committed, 2 aborted"] == {"read_uncommitted": 4, "read_committed": 2}, visible

# %% [markdown]
# Who writes the markers? One broker is the bank's **transaction coordinator**. It first writes the
# decision into a log of its own, `__transaction_state`; from then on a transfer *is* committed or
# aborted. Then it has the markers written, partition by partition. So a debit can show a moment
# before its credit.
#
# ## Read, work, write
#
# A clerk reads orders and writes bills. One order must not give two bills, so "how far I have read"
# and "what I have written" have to change together. Both are records: the committed offset of a
# group lies in `__consumer_offsets` (lesson 03). So it can go into the transaction.

# %%
from kafka.errors import KafkaError, ProducerFencedError

letters = []


def bill(batch, consumer, producer, bills):
    """One transaction: the bills of a batch, and how far the orders are read."""
    producer.begin_transaction()
    for order in sum(batch.values(), []):
        producer.send(bills, value=b"bill for " + order.value)
        letters.append(order.value)  # by post: nothing that Kafka knows of
    places = {place: OffsetAndMetadata(consumer.position(place), "", -1) for place in batch}
    producer.send_offsets_to_transaction(places, consumer.group_metadata())
    producer.commit_transaction()


# %% [markdown]
# Around it stands a loop, much the same in every such program. If another clerk has taken the name,
# end. After another failure abort, go back to the committed offset, and try again; where it is
# final (no permission, say), `abort_transaction` raises it once more, and the program ends. (Where
# Java's `commitTransaction` times out, call it again and do not abort: it may be under way.)


# %%
def clerk(consumer, producer, bills):
    producer.init_transactions()  # ends what an earlier clerk of this name has left open
    while transactions.left_to_read(consumer):  # at work: while True
        batch = consumer.poll(500)
        if not batch:
            continue  # nothing new
        try:
            bill(batch, consumer, producer, bills)
        except ProducerFencedError:
            raise  # another clerk has the name now: touch nothing, end
        except KafkaError:
            producer.abort_transaction()
            for place in consumer.assignment():
                consumer.seek(place, consumer.committed(place) or 0)


# %%
def hire(orders, number):
    """What a clerk reads orders with, and what it writes bills with."""
    own = quick.consumer | {"group_id": orders, "auto_offset_reset": "earliest"}
    consumer = KafkaConsumer(
        bootstrap_servers=cluster.address,
        isolation_level="read_committed",  # an order that was aborted is none
        enable_auto_commit=False,  # the transaction commits
        **own,
    )
    consumer.assign([TopicPartition(orders, 0)])
    own = quick.producer | {"client_id": f"{orders}-{number}", "transactional_id": orders}
    return consumer, KafkaProducer(bootstrap_servers=cluster.address, **own)


# %% [markdown]
# (At work a clerk *subscribes*. Then `group_metadata` lets the coordinator of the group refuse
# offsets of a clerk that is no member any more, KIP-447.)
#
# Twenty orders. Clerk 1 bills all of them and asks for the commit, and this request is held up in
# the network. Nobody hears of clerk 1 any more, so clerk 2 is started in its place, with the same
# `transactional_id`. Every order gets a bill, and with each bill goes a letter by post. How many
# letters go out?

# %% tags=["prediction"]
my_letters = Prediction("letters", "How many letters go out?")
my_letters

# %%
orders = new_topic("orders")
bills = new_topic("bills")
letters.clear()
for number in range(orders_to_bill):
    payer.send(orders, value=b"order %02d" % number).get(timeout=10)
cluster.gateway.hold_requests("EndTxn", count=100, client_id=f"{orders}-1")
first = transactions.beside(clerk, *hire(orders, 1), bills)
cluster.gateway.wait_for_request("EndTxn", client_id=f"{orders}-1")
earlier = cluster.group(orders).offsets
clerk(*hire(orders, 2), bills)
print(f"committed offsets before clerk 2: {earlier}. Bills after it: {look(bills)}")
my_letters.against(len(letters))

# %% tags=["proof", "B92", "C98"]
assert earlier == {}, "offsets in an open transaction do not count"
assert cluster.group(orders).offsets == {(orders, 0): orders_to_bill}, cluster.group(orders)
billed = look(bills)
assert billed == {"read_uncommitted": 2 * orders_to_bill, "read_committed": orders_to_bill}, billed
assert len(letters) == 2 * orders_to_bill, len(letters)

# %% tags=["proof"]
whole_bill = bill
failures = []


def bill(batch, consumer, producer, bills):
    """The first time, half of it and an error."""
    if failures:
        whole_bill(batch, consumer, producer, bills)
        return
    failures.append("after the first bill")
    producer.begin_transaction()
    producer.send(bills, value=b"half").get(timeout=10)
    raise KafkaError(failures[0])


posted = list(letters)
more_orders = new_topic("more-orders")
more_bills = new_topic("more-bills")
payer.send(more_orders, value=b"one more").get(timeout=10)
clerk(*hire(more_orders, 1), more_bills)
bill = whole_bill
letters[:] = posted
mended = look(more_bills)
assert failures, "the loop met no failure"
assert mended == {"read_uncommitted": 2, "read_committed": 1}, mended
assert cluster.group(more_orders).offsets == {(more_orders, 0): 1}, cluster.group(more_orders)

# %% [markdown]
# Each order has one bill that counts. `init_transactions` of clerk 2 aborted what clerk 1 had left,
# and the committed offset had not moved, so clerk 2 read all orders again. This is called
# **exactly once**, from topic to topic.
#
# The letters went out twice. Kafka can make void what is in its own logs, nothing else. A letter,
# a payment or a row in a database has to know the order again by itself; a later lesson does that.
#
# ## When it goes wrong
#
# Clerk 1 never died. Now its network is back. It believes that its transaction is open, and asks
# for the commit again. Does each order have two bills then?

# %%
cluster.gateway.heal()
error = first.exception(timeout=20)
print(f"{type(error).__name__}: {error}")
print("bills:", look(bills))
[(batch.producer_epoch, batch.records, batch.marker) for batch in cluster.batches(bills, 0)]

# %% tags=["proof", "B91"]
assert isinstance(error, ProducerFencedError), repr(error)
assert look(bills)["read_committed"] == orders_to_bill, look(bills)
epochs = [batch.producer_epoch for batch in cluster.batches(bills, 0)]
assert epochs == sorted(epochs), epochs
assert epochs[0] < epochs[-1], "clerk 2 has the larger epoch"
ends_of_bills = [batch.marker for batch in cluster.batches(bills, 0) if batch.control]
assert ends_of_bills[0] == "abort", ends_of_bills
assert ends_of_bills[-1] == "commit", ends_of_bills

# %% [markdown]
# *Producer fenced*: there is a fence, and clerk 1 is outside. No repetition helps, the loop ended.
# The list shows the fence: **producer epoch**, records, marker. Each `init_transactions` raises the
# epoch of its name (an abort on the way, too), and brokers refuse what comes with an older one.
#
# And if nobody takes the name? Then time ends a transaction, after `transaction_timeout_ms`: a
# minute by default. Until then careful readers wait. One that no coordinator knows of *hangs*, and
# only an operator ends it: a later lesson.

# %% [markdown]
# ## Your turn
#
# 1. kafka-python speaks an older version of the protocol for transactions. The cell lets Java's
# producer send four records in two or more transactions, and prints what each client asked for in
# its transactions. Which request does Java's leave out?

# %% tags=["exercise"]
from kafkalab.notebook import exercise

java = new_topic("java")
transactions.java_transactions(cluster, java)
asked = {}
for client in (accounts, java):
    asked[client] = transactions.asked(cluster.gateway.frames(client_id=client))
    print(client, "asked for", *asked[client])
    print("producer epochs:", transactions.epochs(cluster.batches(client, 0)))
# BEGIN SOLUTION
# STUB: left_out = ...
left_out = "AddPartitionsToTxn"
# END SOLUTION
differs = set(asked[accounts]) - set(asked[java])
exercise.check("left out", left_out, lambda api: "" if api in differs else "read both lists again.")

# %% tags=["proof"]
assert differs == {"AddPartitionsToTxn"}, asked
assert asked[java] == ["InitProducerId", "Produce", "EndTxn"], asked
assert set(transactions.epochs(cluster.batches(accounts, 0))) == {0}, "one for all"
java_epochs = transactions.epochs(cluster.batches(java, 0))
assert len(set(java_epochs)) > 1, java_epochs
with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
    version = admin.describe_features()["transaction.version"]["finalized"]
assert version == (2, 2), version

# %% [markdown]
# Since Kafka 4.0 (KIP-890) a leader itself tells the coordinator of the first record that it gets.
# And each transaction has an epoch of its own (two batches of one share it), so a request that
# comes too late is known by its epoch. With the older protocol the leader asks the coordinator
# before it accepts one (since Kafka 3.6).
#
# 2. The shop gets three clerks, for partitions 0, 1 and 2 of its orders. They work at the same
#    time, and each is started again when it dies. Which `transactional_id` has each of them?


# %% tags=["exercise"]
def problem(name):
    names = [name(0), name(1), name(2)]
    if names != [name(0), name(1), name(2)]:
        return "started again it has another name, and nobody ends what it left open."
    return "" if len(set(names)) == 3 else f"{names}: clerks of one name fence each other."


# BEGIN SOLUTION
# STUB: name_of = ...
def name_of(partition):
    return f"billing-{partition}"


# END SOLUTION
exercise.check("names", name_of, problem)

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- Of {ends["read_uncommitted"]} records of transfers and coins {never} never happened. A consumer
  with `read_uncommitted`, the default here, got them; `read_committed` leaves them out.
- An open transaction kept a careful reader at {held} records; the records of others waited too.
- The loop of the clerks made {look(bills)["read_committed"]} bills that count of {orders_to_bill}
  orders, and {len(letters)} letters: exactly once from topic to topic, and no further.
- A clerk that came back was fenced: {type(error).__name__}. A `transactional_id` stays through a
  restart, and no two programs at work share one.
""")

# %%
cluster.close()
