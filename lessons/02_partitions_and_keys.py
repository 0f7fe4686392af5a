# %% [markdown]
# # 02 Partitions and keys
#
# A topic has six partitions, on three brokers. You send one ride of a rider, and then the next. Who
# decides which partition a record goes to, and what order is promised? One wrong answer, and the
# next ride overtakes the first one.

# %% [markdown]
# You will
# - say who chooses a record's partition, and check it,
# - lose the order of records, and get it back,
# - move keys to other partitions without wanting to,
# - overload one partition with a hot key, and say what helps.
#
# Needs 00 and 01. 25 minutes.

# %% tags=["parameters"]
keys = 2_000  # riders, each with a key of its own

# %%
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from kafkalab import Cluster, Prediction, charts, clients, quick
from kafkalab.lessons import partitions
from kafkalab.notebook import exercise

cluster = Cluster.start("replicated")
cluster

# %% [markdown]
# ## Who decides?
#
# First a topic with six partitions, each led by one of the brokers.

# %%
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)


def new_topic(name, number):
    topic = cluster.unused(name)  # "rides-2" where there is a topic of this name
    admin.create_topics({topic: {"num_partitions": number, "replication_factor": 1}})
    cluster.wait_for_topic(topic)
    return topic


rides = new_topic("rides", 6)
cluster.topic(rides)

# %% [markdown]
# A record may carry a **key**: bytes that say whom or what it is about. Two producers that know
# nothing of each other send a ride of each rider, with the rider as the key. Here are the
# partitions of the first twelve riders, by either producer. Do the two agree?

# %%
riders = [b"rider %04d" % number for number in range(keys)]


def send_each(sender, topic, value):
    """The partition of each rider's record, as the broker acknowledged it."""
    promises = {rider: sender.send(topic, key=rider, value=value) for rider in riders}
    return {rider: promise.get(timeout=20).partition for rider, promise in promises.items()}


stranger = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
home = send_each(producer, rides, b"first ride")
again = send_each(stranger, rides, b"next ride")
print([home[rider] for rider in riders[:12]], [again[rider] for rider in riders[:12]], sep="\n")
print(sum(home[rider] != again[rider] for rider in riders), "of", keys, "differ")

# %% [markdown]
# No pattern, and no difference. So the partition follows from the key, by a rule: a **hash**, which
# makes a number of any bytes, always the same of the same bytes. This one, Java's too, is called
# murmur2. The highest bit of the number is set to zero (you will see why). Divide by the number of
# partitions: the remainder is the partition.

# %%
from kafka.partitioner import murmur2


def partition_of(key, number):
    return (murmur2(key) & 0x7FFFFFFF) % number


elsewhere = sum(partition_of(rider, 6) != home[rider] for rider in riders)
f"{elsewhere} of {keys} riders went to another partition"

# %% tags=["proof", "A19"]
assert again == home, [rider for rider in riders if again[rider] != home[rider]]
assert all(partition_of(rider, 6) == home[rider] for rider in riders), "the rule is another one"
odd = [bytes(range(length)) for length in range(41)]  # the empty key is a key, too
sent = [producer.send(rides, key=key, value=b"odd").get(timeout=10).partition for key in odd]
assert sent == [partition_of(key, 6) for key in odd], sent

# %% tags=["proof", "A159"]
stocks = [b"IBM", b"SUN", b"GOOG", b"INEL", b"UBER", b"ABC", b"XYZ", b"DEF"]
by_default = {stock: partition_of(stock, 3) for stock in stocks}
assert {s for s in stocks if by_default[s] == 2} == {b"IBM", b"SUN", b"UBER", b"XYZ"}, by_default
assert 1 not in by_default.values(), by_default  # a few keys need not fill all partitions

# %% [markdown]
# Not one. But who applies the rule, the producer or the broker? Give a key, and name another
# partition. Then send twelve records that have no key.

# %%
by_key = home[riders[0]]
by_name = (by_key + 1) % 6
named = producer.send(rides, key=riders[0], value=b"named", partition=by_name).get(timeout=10)
print("by the key:", by_key, "by name:", by_name, "stored in:", named.partition)

receipts = [producer.send(rides, value=b"no key").get(timeout=10) for _ in range(12)]
print("without a key:", *(one.partition for one in receipts))

# %% [markdown]
# You win, and nobody objects. A broker appends where the request says, whatever key the record has.
# The producer decides, before it sends. So the rule holds as long as every producer keeps it.
#
# Java's does. librdkafka, the C library under confluent-kafka and others, takes another hash unless
# it is told `partitioner=murmur2_random`. With a service of each kind most riders would have
# records in two partitions.
#
# Without a key there is no rule to keep. kafka-python by default throws dice for each record.
# Java's producer stays with one partition until a batch or two are full, then draws again.

# %% tags=["proof", "A21"]
from kafka.errors import InvalidRecordError

assert named.partition == by_name, named
assert named.partition != by_key, named
compacted = cluster.unused("compacted")
settings = {"num_partitions": 1, "replication_factor": 1, "configs": {"cleanup.policy": "compact"}}
admin.create_topics({compacted: settings})
cluster.wait_for_topic(compacted)
with KafkaProducer(bootstrap_servers=cluster.address, **quick.producer) as keyless:
    try:
        refused = keyless.send(compacted, value=b"no key").get(timeout=10)
    except InvalidRecordError as error:
        refused = error
assert isinstance(refused, InvalidRecordError), refused

# %% [markdown]
# ## What order is promised?
#
# A lift numbers its reports from 1 to 130. They go round over six partitions. When all are sent,
# one consumer reads them. How often is a number smaller than the one before it?

# %% tags=["prediction"]
my_steps = Prediction("steps back")
my_steps


# %%
def read(topic):
    settings = quick.consumer | {"auto_offset_reset": "earliest"}  # from the first record on
    with KafkaConsumer(topic, bootstrap_servers=cluster.address, **settings) as consumer:
        return list(clients.records_until_end(consumer))


lift = new_topic("lift", 6)
for number in range(1, 131):
    producer.send(lift, value=b"%d" % number, partition=number % 6)
producer.flush(timeout=20)  # until all are acknowledged
reports = read(lift)
my_steps.against(partitions.steps_back(reports))

# %%
across = partitions.steps_back(reports)
inside = partitions.steps_back_inside(reports)
ax = charts.scatter_by_class(partitions.arrivals(reports), x="read", y="sent", by="partition")
ax.set(xlabel="place in the order of reading", ylabel="place in the order of sending")
pieces = 1 + partitions.changes([report.partition for report in reports])
title = f"Read in {pieces} pieces: {across} steps back between them, {inside} inside a partition"
ax.set_title(title)
charts.show(ax, f"{title}. The points of one partition only rise.")

# %% tags=["proof", "A22", "A64"]
assert len(reports) == 130, len(reports)
assert across > 0, across
assert across < pieces, pieces  # each is a change to another partition
assert inside == 0, inside

# %% tags=["proof", "A20", "B76"]
calls = new_topic("calls", 6)
for number in range(1_200):
    producer.send(calls, value=b"kafka-python %04d" % number + b" " * 483)
producer.flush(timeout=20)
# Java's producer: a key, a colon, a value; "none" stands for no key.
lines = [f"none:java {number:04}{' ' * 491}" for number in range(1_200)]
lines += [f"{rider.decode()}:keyed" for rider in riders[:500]]
options = "--bootstrap-server {bootstrap} --reader-property parse.key=true "
options += "--reader-property key.separator=: --reader-property null.marker=none --topic"
cluster.tool("kafka-console-producer", *options.split(), calls, stdin="\n".join(lines))
called = read(calls)
used = {"kafka-python": {}, "java": {}}
for record in called:
    if not record.key:
        client, number = record.value.split()
        used[client.decode()][int(number)] = record.partition
assert [len(places) for places in used.values()] == [1_200, 1_200], used
changed = {
    client: partitions.changes([places[number] for number in range(1_200)])
    for client, places in used.items()
}
assert 5 <= changed["java"] < 60, changed  # 600 KB are some 40 batches of 16,384 bytes
assert 800 < changed["kafka-python"] < 1_150, changed  # five times out of six
by_java = {record.key: record.partition for record in called if record.key}
assert by_java == {rider: home[rider] for rider in riders[:500]}, "Java has another rule"

# %% [markdown]
# Why so few? The reader is handed what a partition has as one piece, and inside a piece the numbers
# only rise: follow one colour. Each step back is a change to another partition. A reader that keeps
# up gets other pieces, and other steps back: between partitions there is no common order. (Few
# steps back, and yet in the chart late reports come before early ones.)
#
# What Kafka promises: a partition is read in the order in which it was *appended*. Mostly that is
# the order of sending. But without idempotence (lesson 09) a batch that failed and is sent again
# can come behind a later one.

# %% [markdown]
# ## More partitions
#
# Six are not enough any more, so you add two. For how many of the riders does the next ride go to
# another partition than the first one?

# %% tags=["prediction"]
my_movers = Prediction("riders")
my_movers

# %%
growing = new_topic("growing", 6)
older = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
before = send_each(older, growing, b"first ride")
admin.create_partitions({growing: 8})
cluster.wait_for_topic(growing, partitions=8)

newer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
after = send_each(newer, growing, b"next ride")
movers = [rider for rider in riders if after[rider] != before[rider]]
my_movers.against(len(movers))

# %% tags=["proof"]
assert all(after[rider] == partition_of(rider, 8) for rider in riders), "eight, and another rule"
assert len(movers) > keys / 2, len(movers)
for client, number in {older: 6, newer: 8}.items():
    assert len(client.partitions_for(growing)) == number, client.partitions_for(growing)
    sent = client.send(growing, key=movers[0], value=b"one more").get(timeout=10)
    assert sent.partition == partition_of(movers[0], number), sent
assert sum(number % 6 == number % 8 for number in range(24)) == 6, "one number in four stays"

# %% [markdown]
# Not two eighths of them but about three quarters: of 24 numbers in a row only 6 leave the same
# remainder with six and with eight. Old rides stay where they are. So a mover has records in two
# partitions, and a reader may see the next ride before the first one.
#
# `newer` learned of the eight when it began. `older` goes on with six until it asks again, by
# default within five minutes. Meanwhile the two disagree.
#
# So choose on the first day. A partition is read by one reader of a group (lesson 03), so there are
# never more readers at work than partitions: divide the records a second of the busiest hour by
# those that one reader can work off. But partitions can never be taken away, and thousands cost
# files, memory and time when a broker fails.

# %% [markdown]
# ## A hot key
#
# A hash spreads keys, not records. Of 1,000 orders 700 come from one shop, a **hot key**, the rest
# from forty others. They go to a topic of 6 partitions and to one of 48. Which share of all orders
# is in the fullest of the 48?

# %% tags=["prediction"]
my_share = Prediction("percent")
my_share

# %%
few = new_topic("orders-6", 6)
many = new_topic("orders-48", 48)
shops = [b"shop 00"] * 700 + [b"shop %02d" % (1 + number % 40) for number in range(300)]
for shop in shops:
    producer.send(few, key=shop, value=b"order")
    producer.send(many, key=shop, value=b"order")
producer.flush(timeout=20)
fullest = max(partition.end_offset for partition in cluster.topic(many).partitions)
my_share.against(fullest / 1_000 * 100)

# %% [markdown]
# Eight times the partitions, and still most of it in one: a key cannot be split. One broker leads
# that partition, and one reader of a group reads it. What helps is another key. Give each key a
# **salt**, a number from 0 to 5 at its end, and use six partitions again.

# %%
salted = new_topic("orders-salted", 6)
for number, shop in enumerate(shops):
    producer.send(salted, key=shop + b"-%d" % (number % 6), value=b"order")
producer.flush(timeout=20)
hot = [partition_of(b"shop 00-%d" % salt, 6) for salt in range(6)]
print("the six keys of the hot shop go to the partitions", hot)
counts = partitions.filled(cluster, {"6": few, "48": many, "6 with salt": salted})
share = partitions.show_shares(counts)

# %% tags=["proof"]
assert [sum(records) for records in counts.values()] == [1_000] * 3, counts
assert share["6"] >= 70, share
assert share["48"] >= 70, share
assert share["6 with salt"] < 50, share
assert len(set(hot)) == 5, "two of them meet"
assert share["6 with salt"] > 100 / 6 + 10, share

# %% [markdown]
# More than a sixth: nothing makes six keys go to six partitions, and where two of them meet is the
# fullest one. And the price of salt: no shop's orders are in order any more, and who wants them
# must read all its keys. So salt the hot key only.

# %% [markdown]
# ## When it goes wrong
#
# You may also decide yourself, with a **partitioner**: an object that the producer asks for each
# record. The next one keeps Kafka's rule and is wrong by one: partitions count from 0. Sixty riders
# go to three partitions. How many records arrive?

# %%
from kafka.partitioner import Partitioner


class FromOne(Partitioner):
    def partition(self, topic, key, serialized_key, value, serialized_value, cluster):
        return 1 + partition_of(serialized_key, len(cluster.partitions_for_topic(topic)))


feed = new_topic("feed", 3)
deadlines = {"delivery_timeout_ms": 3_000, "request_timeout_ms": 2_000, "partitioner": FromOne()}
wrong = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer | deadlines)
promises = [wrong.send(feed, key=rider, value=b"1") for rider in riders[:60]]
wrong.flush(timeout=20)
failed = [promise.exception for promise in promises if promise.failed()]
print(f"{len(promises) - len(failed)} of 60 arrived. {len(failed)} times: {failed[0]}")

# %% [markdown]
# Read the error from its end. *Since batch creation*: there the clock starts. It ran for three
# seconds, as set here; by default it is two minutes. *partition=3*: there are 0, 1 and 2, and the
# producer waited for one more. The others arrived without a word, in wrong partitions. And `send`
# and `flush` raised nothing: only the promises tell. This client checks nothing that a partitioner
# returns (Java's refuses a negative number at once).

# %% tags=["proof"]
third = [rider for rider in riders[:60] if partition_of(rider, 3) == 2]
assert len(failed) == len(third), (len(failed), len(third))
assert "partition=3" in str(failed[0]), failed[0]
try:
    refusal = producer.send(feed, value=b"1", partition=3)
except ValueError as error:
    refusal = error
assert "Unrecognized partition 3" in str(refusal), refusal  # named by hand it is refused at once

# %% tags=["proof", "A38"]
assert named.partition != home[riders[0]], "1. the producer chooses, not the broker"
assert again == home, "2. one key, one partition"
assert changed["java"] < changed["kafka-python"] / 10, "3. without a key clients differ"
ahead = cluster.topic(feed).records
assert ahead == len(promises) - len(failed), "4. a producer may run ahead: nobody has read these"

# %% [markdown]
# ## Your turn
#
# The lift's reports shall be in order again, on six partitions and without naming one. Send one
# after the other, and keep what `send` returns for the check.

# %% tags=["exercise"]
tidy = new_topic("tidy", 6)
for number in range(1, 131):
    # BEGIN SOLUTION
    # STUB: sent = ...
    sent = producer.send(tidy, key=b"lift 7", value=b"%d" % number)
    # END SOLUTION
producer.flush(timeout=20)
exercise.check("the lift", sent, lambda _: partitions.out_of_order(read(tidy)))

# %% tags=["proof", "A41", "A65", "A66"]
tidied = read(tidy)
assert partitions.steps_back(tidied) == 0, partitions.steps_back(tidied)
assert len({record.partition for record in tidied}) == 1, "one key, one partition"
one_lane = new_topic("one-lane", 1)
for number in range(1, 131):
    producer.send(one_lane, value=b"%d" % number)
producer.flush(timeout=20)
in_one = read(one_lane)
assert len(in_one) == 130, len(in_one)
assert partitions.steps_back(in_one) == 0, partitions.steps_back(in_one)

# %% [markdown]
# Why is the highest bit of the hash set to zero? Somebody leaves out `& 0x7FFFFFFF`. For how many
# of the riders is the partition, one of six, another one than that in `home`?

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: misplaced = ...
misplaced = sum(murmur2(rider) % 6 != home[rider] for rider in riders)
# END SOLUTION
exercise.check("the mask", misplaced, lambda number: partitions.unmasked(number, home))

# %% [markdown]
# Those are the riders whose hash has that bit set. (With eight partitions it would be none: the bit
# is a multiple of eight.) In Java it is the sign, and a negative number is no partition.

# %% tags=["proof", "A139"]
assert keys / 3 < misplaced < keys * 2 / 3, misplaced
of_eight = sum(murmur2(rider) % 8 != partition_of(rider, 8) for rider in riders)
assert of_eight == 0, of_eight
awkward = murmur2(b"KGOPCECP")
assert awkward == 2**31, awkward  # in Java -2**31, and abs(-2**31) is -2**31
kept = producer.send(rides, key=b"KGOPCECP", value=b"awkward").get(timeout=10).partition
assert kept == 0, kept

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- The producer computes the partition: murmur2 of the key, without its highest bit, modulo the
  number of partitions. For {keys:,} keys it was right. A partition that you name wins.
- In a partition the order of appending is kept ({inside} steps back), across partitions it is not
  ({across}). One key has one order while all its producers use one rule, and the partitions stay.
- Two partitions more moved {len(movers):,} of {keys:,} keys and left their old records behind.
- A hot key kept {share["48"]:.0f} % in one of 48 partitions; salted, the fullest of six had
  {share["6 with salt"]:.0f} %.
- A rule that names a partition which is not there cost {len(failed)} of {len(promises)} records.
""")

# %%
cluster.close()
