# %% [markdown]
# # 03 Reading
#
# A log keeps what it was given, whoever reads it. So a reader has to know how far it has come. It
# can forget: programs end. What does a reader remember, and who else remembers it?

# %% [markdown]
# You will
# - read a topic in a loop that ends, and move a reader to any record,
# - kill a reader, and say what its group finds again,
# - let two groups read the same records, and two members share them,
# - say where a new group begins, and mend one that begins in the wrong place.
#
# Needs 00, 01 and 02. 25 minutes.

# %% tags=["parameters"]
patience = 2_500  # milliseconds that a loop waits for one more record

# %%
import time

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

from kafkalab import Choice, Cluster, Prediction, charts, diagrams, quick
from kafkalab.lessons import reading
from kafkalab.notebook import exercise

cluster = Cluster.start("single")
cluster

# %% [markdown]
# ## A loop over records
#
# A shop takes orders. Twelve are in the log before anybody reads, one for each minute.

# %%
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
orders = cluster.unused("orders")  # a second run of this cell takes another name
admin.create_topics({orders: {"num_partitions": 1, "replication_factor": 1}})
cluster.wait_for_topic(orders)
opening = int(time.time() * 1000) - 12 * 60_000
for minute in range(12):
    when = opening + minute * 60_000
    receipt = producer.send(orders, value=b"order %d" % minute, timestamp_ms=when).get(timeout=10)
f"the last one has offset {receipt.offset}"

# %% [markdown]
# A consumer *subscribes* to topics, and then it is a loop over records. This one begins at the
# oldest, `earliest`. The loop does not end by itself, as one more record may always come.
# kafka-python, not Kafka, has a setting for that: `consumer_timeout_ms`. (It also lets a reader
# without a group subscribe; Java wants `assign` there.)

# %%
reader = KafkaConsumer(
    orders,  # subscribes
    bootstrap_servers=cluster.address,
    auto_offset_reset="earliest",
    consumer_timeout_ms=patience,
    **quick.consumer,
)
received = []
for record in reader:
    received.append(record)
[record.value.decode() for record in received]

# %% tags=["proof"]
assert receipt.offset == 11, receipt
assert [record.offset for record in received] == list(range(12)), received

# %% [markdown]
# ## What the reader remembers
#
# All twelve. The loop hides a call: `poll`. It waits until records come, or until its time is over,
# and hands them out by partition, at most `max_records` at once. The reader is at the end now. Send
# it back with `seek`, and watch its **position**.

# %%
place = TopicPartition(orders, 0)
print("position at the end:", reader.position(place))

reader.seek(place, 2)
polled = reader.poll(timeout_ms=10_000, max_records=4)
again = [record.offset for record in polled[place]]
print("offsets", again, "position", reader.position(place))

# %% [markdown]
# The position is the offset of the *next* record. It is a number in this program's memory. Records
# that were read came once more: reading takes nothing away.

# %% tags=["proof", "A40", "B146"]
assert again == [2, 3, 4, 5], again
assert reader.position(place) == again[-1] + 1, reader.position(place)
assert cluster.groups() == {} or orders != "orders", cluster.groups()
reread = reader.poll(timeout_ms=10_000)[place]
assert reread == received[6:], reread  # byte for byte what it got before

# %% tags=["proof", "B172", "B174", "B176"]
from kafka.errors import OffsetOutOfRangeError

from kafkalab import wait_until


def first_offset_from(offset, policy):
    """Seek there, past every end too; the first offset that comes, or the position."""
    with KafkaConsumer(
        bootstrap_servers=cluster.address, auto_offset_reset=policy, **quick.consumer
    ) as seeker:
        seeker.assign([place])
        seeker.seek(place, offset)
        polled = wait_until(
            lambda: seeker.poll(timeout_ms=200) or (seeker.position(place) != offset and {place}),
            timeout=10,
            what="the policy to be applied",
        )
        return polled[place][0].offset if isinstance(polled, dict) else seeker.position(place)


given = first_offset_from(10, "none")
assert given == 10, given
begun = first_offset_from(100, "earliest")
assert begun == 0, begun
ended = first_offset_from(100, "latest")
assert ended == 12, ended
try:
    beyond = first_offset_from(100, "none")
except OffsetOutOfRangeError as error:
    beyond = error
assert isinstance(beyond, OffsetOutOfRangeError), beyond
reader.seek_to_beginning(place)
assert reader.position(place) == 0, reader.position(place)
reader.seek_to_end(place)  # whoever is far behind and wants only what is new
assert reader.position(place) == 12, reader.position(place)

# %% tags=["proof", "B80", "B81", "B142"]
import threading

waits = cluster.unused("waits")
admin.create_topics({waits: {"num_partitions": 1, "replication_factor": 1}})
cluster.wait_for_topic(waits)


def timed_poll(consumer, timeout_ms):
    """How many records a poll brings, and after how many seconds."""
    began = time.monotonic()
    polled = consumer.poll(timeout_ms=timeout_ms)
    return sum(map(len, polled.values())), time.monotonic() - began


with KafkaConsumer(waits, bootstrap_servers=cluster.address, **quick.consumer) as waiter:
    number, seconds = timed_poll(waiter, 300)
    assert number == 0, number
    assert seconds >= 0.3, seconds  # nothing there: the whole time
    wait_until(lambda: waiter.assignment(), timeout=10, what="a partition")
    assert waiter.position(TopicPartition(waits, 0)) == 0, waiter.position(TopicPartition(waits, 0))
    later = threading.Timer(0.3, producer.send, [waits, b"late"])
    later.start()
    number, seconds = timed_poll(waiter, 8_000)
    later.join()
    assert number == 1, number
    assert 0.2 < seconds < 7, seconds  # when it came, not at the limit
lazy = {"auto_offset_reset": "earliest", "fetch_min_bytes": 100_000, "fetch_max_wait_ms": 800}
with KafkaConsumer(waits, bootstrap_servers=cluster.address, **quick.consumer, **lazy) as waiter:
    number, seconds = timed_poll(waiter, 8_000)
    assert number == 1, number
    assert seconds >= 0.7, seconds  # one record is far from 100,000 bytes, so the broker waited

# %% tags=["proof", "B82", "B143", "B148", "B150"]
import queue

many = cluster.unused("many")
admin.create_topics({many: {"num_partitions": 6, "replication_factor": 1}})
cluster.wait_for_topic(many)
for number in range(600):
    producer.send(many, value=b"%d" % number, partition=number % 6)
producer.flush(timeout=20)


def polls(limit):
    """What each poll brought until all 600 were there."""
    brought = []
    with KafkaConsumer(
        many, bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
    ) as eater:
        while sum(len(records) for one in brought for records in one.values()) < 600:
            polled = eater.poll(timeout_ms=10_000, max_records=limit)
            assert polled, brought
            brought.append(polled)
    return brought


by_limit = {limit: polls(limit) for limit in (100, 5, 500)}
for limit, brought in by_limit.items():
    longest = max(sum(map(len, one.values())) for one in brought)
    assert longest <= limit, (limit, longest)
assert len(by_limit[5]) >= 120, len(by_limit[5])
assert max(map(len, by_limit[5])) <= 2, by_limit[5]  # partitions of a small batch
assert len(by_limit[500]) < 30, len(by_limit[500])
assert max(map(len, by_limit[500])) >= 2, by_limit[500]

# The same 600, pushed by a server that sets the pace, to a reader that keeps up with a fifth.
room, refused = queue.Queue(maxsize=20), 0
for number in range(600):
    try:
        room.put_nowait(number)
    except queue.Full:
        refused += 1
    if number % 5 == 4:
        room.get_nowait()
assert refused > 400, refused
pulled = sum(len(records) for one in by_limit[5] for records in one.values())
assert pulled == 600, pulled  # the slow one that pulls gets all, never more than five at a time

# %% tags=["proof", "B139", "B140"]
import struct

from kafka.errors import IllegalStateError

typed = cluster.unused("typed")
admin.create_topics({typed: {"num_partitions": 1, "replication_factor": 1}})
cluster.wait_for_topic(typed)
for number, city in ((7, "Bonn"), (2**40, "Köln")):
    key = struct.pack(">q", number)  # as Java writes a long
    producer.send(typed, key=key, value=city.encode()).get(timeout=10)
printed, given_up = [], 0
typist = KafkaConsumer(
    typed, bootstrap_servers=cluster.address, auto_offset_reset="earliest", **quick.consumer
)
while given_up < 3:
    polled = typist.poll(timeout_ms=200 if printed else 10_000)
    given_up = 0 if polled else given_up + 1
    for one in (record for records in polled.values() for record in records):
        (number,) = struct.unpack(">q", one.key)
        printed.append(f"{number} {one.value.decode()} {one.partition} {one.offset}")
typist.close()
printed.append("DONE")
assert printed == ["7 Bonn 0 0", f"{2**40} Köln 0 1", "DONE"], printed
try:
    closed = typist.poll(timeout_ms=0)
except IllegalStateError as error:
    closed = error
assert isinstance(closed, IllegalStateError), closed

# %% [markdown]
# ## Who else remembers?
#
# A clerk writes bills. He reads in a **consumer group**: `group_id` names it, and its members read
# together. Such a reader can *commit* its position. The brokers keep that number for the group: its
# **committed offset**.
#
# The clerk takes six orders, commits, takes three more, and is killed. So the clerk is a program of
# its own, run by `reading.run`; `note` tells its numbers. With `enable_auto_commit=False` only he
# commits.

# %%
by_hand = {"auto_offset_reset": "earliest", "enable_auto_commit": False, **quick.consumer}
billing = reading.new_group(cluster, "billing")
program = f"""
clerk = KafkaConsumer("{orders}", group_id="{billing}", **settings)
clerk.poll(timeout_ms=10_000, max_records=6)
clerk.commit()
note("poll 6,\\ncommit", clerk)
clerk.poll(timeout_ms=10_000, max_records=3)
note("poll 3,\\nkilled", clerk)
os.kill(os.getpid(), signal.SIGKILL)  # ends at once and closes nothing
"""
steps = reading.run(program, bootstrap_servers=cluster.address, **by_hand)

# %% [markdown]
# Position 9, committed 6, and the log ends at 12. The next clerk joins the group and asks for one
# order.

# %% tags=["prediction"]
my_clerk = Choice("Which order does the next clerk get?", "order 0", "order 6", "order 9")
my_clerk

# %%
next_clerk = KafkaConsumer(orders, bootstrap_servers=cluster.address, group_id=billing, **by_hand)
(first,) = next_clerk.poll(timeout_ms=30_000, max_records=1)[place]
begun = reading.begun("next clerk\nbegins", first, steps[-1])
story = [*steps, begun, reading.step("polls 1", next_clerk)]
reading.show_handover(story)
against = {
    "order 0": f"`earliest` is for a group without a commit; this one has {steps[-1].committed}.",
    "order 9": "position 9 was known to one program, and that is gone.",
}
my_clerk.against(first.value.decode(), against)

# %% tags=["proof", "A31", "A61", "B162", "B163"]
places = [(one.position, one.committed, one.end) for one in story]
assert places == [(6, 6, 12), (9, 6, 12), (6, 6, 12), (7, 6, 12)], places
assert steps[-1].position - first.offset == 3, (steps, first)
more = next_clerk.poll(timeout_ms=10_000, max_records=2)[place]
assert [first.offset, *(record.offset for record in more)] == [6, 7, 8], (first, more)
found = admin.list_group_offsets(billing)[billing][place].offset
assert found == 6, found  # neither clerk has committed more
high_watermark = cluster.topic(orders).partitions[0].end_offset
log_ends = cluster.log_ends(orders, 0)
four = (steps[-1].position, found, high_watermark, log_ends)
assert four == (9, 6, 12, {0: 12}), four
assert "__consumer_offsets" in cluster.topics(internal=True), cluster.topics(internal=True)
assert "__consumer_offsets" not in cluster.topics(), cluster.topics()

# %% [markdown]
# The position died with its program. The committed offset lies with the brokers, in a topic of
# their own, `__consumer_offsets`. How far a program came since, they cannot know, so three orders
# come again. When to commit is the subject of lesson 13.
#
# Between the two nobody read: the dead clerk had not said good-bye, and counts as a member until
# the broker has heard nothing of him for a *session* (45 seconds by default, `quick` has 6).

# %% [markdown]
# ## Two groups, two members
#
# An auditor reads nine orders and commits, in a group of his own. Does that take anything away from
# billing?

# %%
audit = reading.new_group(cluster, "audit")
auditor = KafkaConsumer(orders, bootstrap_servers=cluster.address, group_id=audit, **by_hand)
checked = auditor.poll(timeout_ms=10_000, max_records=9)[place]
auditor.commit()
auditor.close()
ax = diagrams.readers(cluster, orders, [billing, audit])
lags = [cluster.group(name).total_lag for name in (billing, audit)]
title = f"One log, two groups: {lags[0]} and {lags[1]} orders not committed yet"
ax.set_title(title)
charts.show(ax, f"The offsets 0 to 12, and under them the committed offset of each group. {title}.")

# %% tags=["proof", "A12", "B83", "B166"]
import re

committed = admin.list_group_offsets([billing, audit])
assert committed[billing][place].offset == 6, committed
assert committed[audit][place].offset == 9, committed
assert cluster.topic(orders).partitions[0].end_offset == 12, cluster.topic(orders)
assert [one.offset for one in checked] == list(range(9)), checked
assert checked[6] == first, (checked[6], first)  # the very record that billing got
stored = sum(batch.records for batch in cluster.batches(orders, 0))
assert stored == 12, stored  # read by several groups, and on the disk once
# Partition by partition, so that the number of records to read is known.
decoded = ""
for partition in cluster.topic("__consumer_offsets").partitions:
    if not partition.end_offset:
        continue
    command = "--bootstrap-server {bootstrap} --topic __consumer_offsets --timeout-ms 10000"
    command += f" --partition {partition.partition} --offset earliest"
    command += f" --max-messages {partition.end_offset}"
    command += " --formatter org.apache.kafka.tools.consumer.OffsetsMessageFormatter"
    decoded += cluster.tool("kafka-console-consumer", *command.split()).stdout
found = re.findall(r'"group":"(.*?)".*?"partition":(\d+).*?"offset":(\d+)', decoded)
assert (audit, "0", "9") in found, decoded
assert (billing, "0", "6") in found, decoded

# %% [markdown]
# Nothing. Each group has a number of its own for each partition, and the orders are there once.
# What a group has not committed yet, log end less committed offset, is its **lag**. (The log ends
# at 12, the place of the next order. The clerk has order 6 in hand, and it counts: he has not
# committed it.)
#
# And two members of *one* group? Two drivers join one, and their topic has two partitions. Which of
# them reads what?

# %%
parcels = cluster.unused("parcels")
admin.create_topics({parcels: {"num_partitions": 2, "replication_factor": 1}})
cluster.wait_for_topic(parcels)
drivers = reading.new_group(cluster, "drivers")
to_share = {"group_id": drivers, "auto_offset_reset": "earliest", **quick.consumer}
ada = KafkaConsumer(parcels, bootstrap_servers=cluster.address, client_id="ada", **to_share)
bob = KafkaConsumer(parcels, bootstrap_servers=cluster.address, client_id="bob", **to_share)
reading.wait_for_partitions(ada, bob)  # who was alone gives one up in a next poll
print("ada", *ada.assignment())
print("bob", *bob.assignment())

# %% tags=["proof", "A25"]
from kafkalab import clients

assert len(ada.assignment()) == len(bob.assignment()) == 1, (ada.assignment(), bob.assignment())
for number in range(4):
    producer.send(parcels, value=b"parcel %d" % number, partition=number % 2).get(timeout=10)
for_ada = [record.value.decode() for record in clients.records_until_end(ada)]
for_bob = [record.value.decode() for record in clients.records_until_end(bob)]
assert len(for_ada) == len(for_bob) == 2, (for_ada, for_bob)
assert sorted(for_ada + for_bob) == [f"parcel {number}" for number in range(4)], (for_ada, for_bob)
apart = to_share | {"group_id": reading.new_group(cluster, "office")}
with KafkaConsumer(parcels, bootstrap_servers=cluster.address, **apart) as office:
    all_again = [record.value.decode() for record in clients.records_until_end(office)]
assert set(all_again) == {*for_ada, *for_bob}, all_again
assert len(all_again) == cluster.topic(parcels).records, all_again

# %% [markdown]
# They share: each **member** has one partition, and gets what comes there. So every group can read
# all, whatever others read, and inside a group every partition has one reader. A third driver would
# have none, and no error. Where members are to share one partition, there are share groups
# (lesson 15).

# %% [markdown]
# ## When it goes wrong
#
# The kitchen gets a group, too, and nobody sets anything else. The twelve orders are still there.
# How many does it get on the first evening?

# %% tags=["prediction"]
my_first = Prediction("orders on the first evening")
my_first


# %%
def cook(**policy):
    with KafkaConsumer(
        orders,
        bootstrap_servers=cluster.address,
        group_id="kitchen",
        consumer_timeout_ms=patience,
        **policy,
        **quick.consumer,
    ) as kitchen:
        return reading.looped(kitchen)  # a loop over records, once it has joined its group


first_evening = cook()
my_first.against(len(first_evening))

# %% [markdown]
# There is no error, nothing is missing from the log, and it was in the group (what it left there
# comes below; where brokers wait three seconds before they start a group, as by default, a loop has
# to wait longer). Nobody told this group where to begin, so
# a setting decides: the **reset policy**, `auto_offset_reset`. Kafka's default is `latest`: begin
# at the end, and get what comes from now on. A price on a screen wants that. Whoever must not miss
# a record wants `earliest`.
#
# The cook finds this word. No order has come in between. How many does the kitchen get now?

# %% tags=["prediction"]
my_second = Prediction("orders on the second evening")
my_second

# %%
second_evening = cook(auto_offset_reset="earliest")
my_second.against(len(second_evening))

# %% [markdown]
# The cure does nothing. Somebody must have told the second cook where to begin. Ask the broker what
# it knows of the group, with Kafka's own tool. (The course fills in `{bootstrap}`.)

# %%
command = "--bootstrap-server {bootstrap} --describe --group kitchen"
told = cluster.tool("kafka-consumer-groups", *command.split())
print(told.stdout)

# %% tags=["proof", "A28", "C21"]
from kafka.errors import NoOffsetForPartitionError

assert first_evening == [], first_evening
assert second_evening == [], second_evening
kept = admin.list_group_offsets("kitchen")["kitchen"][place].offset
assert kept == 12, kept
assert told.stdout.split("\n")[2].split()[:6] == ["kitchen", orders, "0", "12", "12", "0"], told
starts = {}
for policy in ("latest", "none"):
    with KafkaConsumer(
        orders,
        bootstrap_servers=cluster.address,
        group_id=reading.new_group(cluster, f"new-{policy}"),
        auto_offset_reset=policy,
        enable_auto_commit=False,
        **quick.consumer,
    ) as newcomer:
        try:
            newcomer.poll(timeout_ms=500)
            wait_until(newcomer.assignment, timeout=10, what="a partition")
            starts[policy] = newcomer.position(place)
        except NoOffsetForPartitionError as error:
            starts[policy] = type(error)
assert starts["latest"] == 12, starts
assert starts["none"] is NoOffsetForPartitionError, starts

# %% tags=["proof", "A68", "C37"]
by_default = {"offsets.topic.replication.factor": 3}  # the course's other brokers have 1
lonely = Cluster.start("single", settings=by_default, beside=True)
KafkaAdminClient(bootstrap_servers=lonely.address, **quick.admin).create_topics(["orders"])
lonely.wait_for_topic("orders")
sender = KafkaProducer(bootstrap_servers=lonely.address, **quick.producer)
for number in range(5):
    sender.send("orders", value=b"order %d" % number).get(timeout=10)
settings = {"group_id": "kitchen", "consumer_timeout_ms": 5_000, **by_hand}
with KafkaConsumer("orders", bootstrap_servers=lonely.address, **settings) as waiting:
    hung = list(waiting)
    assert hung == [], hung
    assert waiting.assignment() == set(), waiting.assignment()
log = lonely.logs(0, lines=20_000).splitlines()
warnings = [line for line in log if " WARN " in line and "__consumer_offsets" in line]
assert "INVALID_REPLICATION_FACTOR" in warnings[-1], warnings[-1]
with KafkaConsumer(
    "orders", bootstrap_servers=lonely.address, auto_offset_reset="earliest", **quick.consumer
) as without_group:
    there = [record.offset for record in clients.records_until_end(without_group)]
assert there == [0, 1, 2, 3, 4], there
lonely.close()
copies = cluster.broker_configs(0)["offsets.topic.replication.factor"].value
assert copies == "1", copies  # this broker's groups have worked all the time
assert len(checked) == 9, checked

# %% [markdown]
# `CURRENT-OFFSET` is the committed offset, and nobody wrote `commit`. A consumer of a group commits
# its position by itself, done or not, unless told not to (`enable_auto_commit`): in `poll` every
# five seconds, and when it is closed. The first cook had read nothing; its position was the end.
#
# A commit comes before the policy. The policy is asked where there is no commit, or where the log
# no longer has that offset. And a lag of 0 does not say that the group has read a single record.

# %% [markdown]
# ## Your turn
#
# All bills for orders since 6.5 minutes after opening were wrong. `offsets_for_times` takes
# `{place: milliseconds}`. For each partition it gives the first record of that time or later, or
# None; where it lies is its `offset`. Move `reader` there, and poll once: `late` shall be the list
# of records.

# %% tags=["exercise"]
since = opening + int(6.5 * 60_000)
# BEGIN SOLUTION
# STUB: late = ...
found = reader.offsets_for_times({place: since})
reader.seek(place, found[place].offset)
late = reader.poll(timeout_ms=10_000)[place]
# END SOLUTION
wanted = [record.offset for record in received if record.timestamp >= since]
exercise.check("by time", late, lambda some: reading.differs(some, wanted))

# %% tags=["proof", "B175"]
assert [record.offset for record in late] == wanted == [7, 8, 9, 10, 11], late

# %% [markdown]
# The kitchen has still not cooked an order. While nobody is in a group, an admin client may move
# its commit; in kafka-python: `admin.reset_group_offsets(group, {place: offset})`. Mend the
# kitchen, and `cook()` once more.

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: at_last = ...
admin.reset_group_offsets("kitchen", {place: 0})
at_last = cook()
# END SOLUTION
exercise.check("the kitchen", at_last, lambda dishes: reading.uncooked(dishes, received))

# %% tags=["proof"]
assert len(at_last) == 12, at_last

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- The position is the offset of the next record. It is known to one program, and `seek` moves it.
- The committed offset is known to the brokers, and a group goes on there: the clerk had come to
  {steps[-1].position}, the next one began at {first.offset}.
- Each group can read all orders; billing had {lags[0]} not committed, the auditor {lags[1]}.
  Members of one group share its partitions.
- A group without a commit begins where its reset policy says: `latest` gave {len(first_evening)} of
  {len(received)} orders. Now it had a commit, and a commit comes first:
  with `earliest` it got {len(second_evening)}.
""")

# %%
cluster.close()
