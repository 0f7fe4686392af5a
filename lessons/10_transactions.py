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
from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.errors import KafkaError, ProducerFencedError

from kafkalab import Choice, Cluster, Prediction, charts, clients, quick
from kafkalab.lessons import transactions
from kafkalab.lessons.topics import safe_topic

cluster = Cluster.start("replicated", gateway=True)

# %% [markdown]
# A consumer says with `isolation_level` what it wants to see. There are two levels, so two
# consumers look on in this lesson. Each reads a topic from its start, as far as it gets.


# %%
def look(topic):
    """How many records a consumer of each isolation level gets."""
    cluster.wait_for_markers()  # a decision takes a moment to show: see below
    seen = {}
    for level in ("read_uncommitted", "read_committed"):
        own = quick.consumer | {"auto_offset_reset": "earliest", "isolation_level": level}
        with KafkaConsumer(topic, bootstrap_servers=cluster.address, **own) as consumer:
            seen[level] = len(list(clients.records_until_end(consumer)))
    return seen


# %% [markdown]
# ## Two records, one decision
#
# A producer with a `transactional_id`, a name that stays through a restart, can begin a
# **transaction**. What it sends from then on counts when it commits, and never when it aborts.
# (It is idempotent, too.)


# %%
payer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)


def open_bank(name):
    own = quick.producer | {"client_id": name, "transactional_id": name}
    own["max_block_ms"] = 20_000  # the first transaction of a cluster makes a topic of Kafka's own
    own["transaction_timeout_ms"] = 900_000  # an open one waits until you have read on
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
    "only consumers that ask for it",
)
my_readers

# %%
half = safe_topic(cluster, "half", partitions=2)
bank = open_bank(half)
transfer(bank, half, 1)
seen = look(half)
print(seen)
default = KafkaConsumer.DEFAULT_CONFIG["isolation_level"]
told = f"the default is {default}, and at that level a consumer gets {seen[default]}."
why = {"nobody": told, "only consumers that ask for it": "who asks for nothing gets them."}
my_readers.against("consumers with the default settings", why)

# %% tags=["proof"]
assert default == "read_uncommitted", default
assert seen == {"read_uncommitted": 2, "read_committed": 0}, seen

# %% [markdown]
# Records of a transaction that is not decided are in the logs, and whoever reads with the default
# settings of this client or of Java's works with them, also if they are aborted later.
# (librdkafka's default is `read_committed`.) A producer's transaction protects no consumer that
# does not ask: `isolation_level="read_committed"`.

# %% [markdown]
# ## What a careful reader waits for
#
# The bank commits transfer 1, aborts transfer 2, and leaves transfer 3 open. Meanwhile somebody
# pays five coins into partition 0, *without* any transaction; they are acknowledged. How many
# records does the reader of committed records have then?

# %% tags=["prediction"]
my_visible = Prediction("records", "How many records does it have?")
my_visible

# %%
accounts = safe_topic(cluster, "accounts", partitions=2)
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
stop = stable["partition 0"]
behind = [batch for batch in logs["partition 0"] if batch.base_offset >= stop]
coins = sum(batch.records for batch in behind if not batch.transactional)
title = f"{coins} coins wait behind an open transfer: a careful reader stops before offset {stop}"
ax = transactions.transaction_logs(logs, last_stable=stable)
ax.set_title(title)
charts.show(ax, f"{title}. Before it are the markers of transfers 1 and 2.")

# %% tags=["proof", "B93"]
first_log = logs["partition 0"]
found = [(batch.base_offset, batch.marker) for batch in first_log if batch.control]
assert found == [(1, "commit"), (3, "abort")], found
assert coins == 5, behind
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
# for a stranger. Say the bank's program has died. It is started again, and `init_transactions`
# aborts what was left open under its name.

# %%
bank = open_bank(accounts)
visible["3 ended, by a restart"] = look(accounts)
ends = look(accounts)
never = ends["read_uncommitted"] - ends["read_committed"]
held = visible["3 open, 5 coins"]["read_committed"]
title = (
    f"{never} of {ends['read_uncommitted']} records do not count; a careful reader waited at {held}"
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
# aborted, all of it. Then it has the markers written, partition by partition. So a debit can show a
# moment before its credit.
#
# ## Read, work, write
#
# A clerk reads orders and writes bills. One order must not give two bills, so "how far I have read"
# and "what I have written" have to change together. Both are records: the committed offset of a
# group lies in `__consumer_offsets` (lesson 03). So it can go into the transaction.

# %%
letters = []


def bill(batch, consumer, producer, bills):
    """One transaction: the bills of a batch, and how far the orders are read."""
    producer.begin_transaction()
    for orders in batch.values():
        for order in orders:
            producer.send(bills, value=b"bill for " + order.value)
            letters.append(order.value)  # by post: nothing that Kafka knows of
    # an offset, no note with it (""), no epoch of a leader (-1)
    read = {place: OffsetAndMetadata(consumer.position(place), "", -1) for place in batch}
    producer.send_offsets_to_transaction(read, consumer.group_metadata())
    producer.commit_transaction()


# %% [markdown]
# Around it stands a loop, much the same in every such program. If another clerk has taken the name,
# end. After another failure abort, go back to the committed offset, and try again; where it is
# final (the name is forbidden, say), `abort_transaction` raises, too, and the program ends. (This
# client's `commit_transaction` waits until it has an answer. Java's can time out: call it again
# then, and do not abort, as it may be under way.)


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
                consumer.seek(place, consumer.committed(place) or 0)  # 0: none committed yet


# %%
def hire(orders, number):
    """What a clerk reads orders with, and what it writes bills with."""
    own = quick.consumer | {"group_id": orders, "auto_offset_reset": "earliest"}
    own["isolation_level"] = "read_committed"  # no aborted orders, no undecided offsets
    own["enable_auto_commit"] = False  # the transaction commits
    consumer = KafkaConsumer(bootstrap_servers=cluster.address, **own)
    consumer.assign([TopicPartition(orders, 0)])
    own = quick.producer | {"client_id": f"{orders}-{number}", "transactional_id": orders}
    own["request_timeout_ms"] = 900_000  # not at work: clerk 1 waits until you have read on
    own["delivery_timeout_ms"] = 900_000
    return consumer, KafkaProducer(bootstrap_servers=cluster.address, **own)


# %% [markdown]
# This clerk has one partition for good, and the name goes with it. At work a clerk *subscribes*,
# and partitions wander between clerks. Then each clerk that runs has a name of its own, kept
# through a restart. Where partitions have been dealt out anew without a clerk, its offsets are
# refused, by what `group_metadata` tells (KIP-447), and its transaction cannot commit.

# %% [markdown]
# Twenty orders. Clerk 1 bills all of them and asks for the commit, and this request (`EndTxn`) is
# held up in the network. Nobody hears of clerk 1 any more, so clerk 2 is started in its place, with
# the same `transactional_id`. Every order gets a bill, and with each bill goes a letter by post.
# How many letters go out?

# %% tags=["prediction"]
my_letters = Prediction("letters", "How many letters go out?")
my_letters

# %%
orders = safe_topic(cluster, "orders")
bills = safe_topic(cluster, "bills")
letters.clear()
for number in range(orders_to_bill):
    payer.send(orders, value=b"order %02d" % number).get(timeout=10)
cluster.gateway.hold_requests("EndTxn", count=100, client_id=f"{orders}-1")
first = transactions.beside(clerk, *hire(orders, 1), bills)
cluster.gateway.wait_for_request("EndTxn", client_id=f"{orders}-1")
before = [look(bills), cluster.group(orders).offsets]
clerk(*hire(orders, 2), bills)
after = [look(bills), cluster.group(orders).offsets]
print("before clerk 2:", *before, "\nafter clerk 2: ", *after)
my_letters.against(len(letters))

# %% tags=["proof", "B92", "C98"]
billed, offsets = before
assert billed == {"read_uncommitted": orders_to_bill, "read_committed": 0}, billed
assert offsets == {}, "offsets in an open transaction do not count"
billed, offsets = after
assert billed == {"read_uncommitted": 2 * orders_to_bill, "read_committed": orders_to_bill}, billed
assert offsets == {(orders, 0): orders_to_bill}, offsets
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
more_orders = safe_topic(cluster, "more-orders")
more_bills = safe_topic(cluster, "more-bills")
payer.send(more_orders, value=b"one more").get(timeout=10)
clerk(*hire(more_orders, 1), more_bills)
bill = whole_bill
letters[:] = posted
mended = look(more_bills)
assert failures, "the loop met no failure"
assert mended == {"read_uncommitted": 2, "read_committed": 1}, mended
assert cluster.group(more_orders).offsets == {(more_orders, 0): 1}, cluster.group(more_orders)

# %% [markdown]
# Before clerk 2 no bill counts, and no offset is committed. After it twenty bills count, and the
# offset is 20: both by one commit. Clerk 1 had sent both, and `init_transactions` of clerk 2
# aborted both, so clerk 2 read all orders again. This is called **exactly once**, from topic to
# topic.
#
# The letters went out twice. Kafka can make void what is in its own logs, nothing else. A letter,
# a payment or a row in a database has to know the order again by itself; a later lesson does that.

# %% [markdown]
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

# %% tags=["proof"]
assert bank.config["transaction_timeout_ms"] == 900_000, "time ends it while a reader reads"
assert hire("nobody", 1)[1].config["request_timeout_ms"] == 900_000, "clerk 1 gives up meanwhile"

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
# *Producer fenced*: there is a fence, and clerk 1 is outside. (Not that of lesson 07, which a
# controller puts round a broker.) No repetition helps, the loop ended. The list shows the fence:
# **producer epoch**, records, marker. Clerk 1 wrote with epoch 0. The `init_transactions` of clerk
# 2 raised the epoch of the name twice: to 1, which shut out clerk 1 and aborted what it had left,
# and to 2, for clerk 2 itself. Brokers refuse what comes with an older one. (Java's, where the
# cluster's `transaction.version` is 2, has an epoch for each transaction: KIP-890.)
#
# And if nobody takes the name? Then time aborts a transaction, after `transaction_timeout_ms`: a
# minute by default. Until then careful readers wait.

# %% [markdown]
# ## Your turn
#
# 1. A transfer between partitions 0 and 1 of `shared` is open. Send one more coin to this topic, so
#    that a careful reader gets it at once.

# %% tags=["exercise"]
from kafkalab.notebook import exercise

shared = safe_topic(cluster, "shared", partitions=3)
bank = open_bank(shared)
transfer(bank, shared, 1)
# BEGIN SOLUTION
# STUB: sent = ...
sent = payer.send(shared, value=b"coin", partition=2)
# END SOLUTION
payer.flush(timeout=20)
got = look(shared)["read_committed"]
exercise.check("a coin", sent, transactions.one_coin(got))

# %% [markdown]
# 2. The shop gets three clerks. Each has one partition of the orders for good: 0, 1 or 2. They work
#    at the same time, and each is started again when it dies. Write the function `name_of`: the
#    `transactional_id` for a partition.

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: name_of = ...
name_of = "billing-{}".format
# END SOLUTION
exercise.check("names", name_of, transactions.three_clerks)

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- Of {ends["read_uncommitted"]} records of transfers and coins {never} do not count. A consumer
  with `read_uncommitted`, the default here, got them; `read_committed` leaves them out.
- A transaction is decided as a whole; each of its partitions gets a marker.
- An open transaction kept a careful reader at {held} records; the records of others waited too.
- The loop of the clerks made {look(bills)["read_committed"]} bills that count of {orders_to_bill}
  orders, and {len(letters)} letters: exactly once from topic to topic, and no further.
- A clerk that came back was fenced: {type(error).__name__}. A `transactional_id` stays through a
  restart, and no two programs at work share one.
""")

# %%
cluster.close()
