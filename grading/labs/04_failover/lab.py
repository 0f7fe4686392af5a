# %% [markdown]
# # Lab 04 Failover
#
# A topic lives on three brokers, in three copies. You take one broker away, then a second, and
# bring them back. Before each step you say what will happen, and the cluster tells who is right.
# Who leads after the loss, and for how long does nobody?

# %% [markdown]
# **You will**
#
# - create a topic whose copies lie where you want them;
# - write the rule by which the next leader is found, and test it by killing a broker;
# - send, and let a group read on, while a broker is dead;
# - see what one copy and what a minimum of two are worth;
# - bring everything back, and measure what a kill costs against a stop.
#
# **Needs** lessons 02, 06 and 07. **Time** about 90 minutes. **Points** 100.

# %% tags=["parameters"]
student = ""  # your name or number in the course; the grader puts it in

# %%
from grading.lab import Lab

lab = Lab.open("lab04_failover", student)
lab

# %% [markdown]
# Above stand the names and numbers of *your* lab. `lab.p.lost` is the broker that you will lose,
# `lab.p.second` the one that goes after it. What you break stays broken until you mend it: to begin
# anew, restart the kernel and run from the top.

# %% [markdown]
# ## Before task 1: three brokers
#
# Each broker has an id, a port and a folder of its own.

# %% tags=["demo", "R9"]
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from kafkalab import clients, quick

addresses, begin = lab.cluster.addresses, quick.consumer | {"auto_offset_reset": "earliest"}
assert sorted(addresses) == [0, 1, 2]
assert len(set(addresses.values())) == 3
shape = {"num_partitions": 3, "replication_factor": 3}
admin = KafkaAdminClient(bootstrap_servers=lab.cluster.address, **quick.admin)
admin.create_topics({lab.p.events_topic: shape})
lab.cluster.wait_for_topic(lab.p.events_topic)
lab.cluster.wait_for_isr(lab.p.events_topic, 3)
assert {one.leader for one in lab.cluster.topic(lab.p.events_topic).partitions} == {0, 1, 2}
addresses

# %% [markdown]
# A client needs one address: from there it learns the others. Before you run the next cell: three
# producers know one broker each, and each of them sends to all three partitions. How many records
# does a consumer find that knows one broker?

# %% tags=["demo", "A70", "A72", "R10"]
expected = []
for known in addresses.values():
    with KafkaProducer(bootstrap_servers=known, **quick.producer) as knows_one:
        for number in range(len(expected), len(expected) + 300):
            knows_one.send(lab.p.events_topic, value=b"%d" % number, partition=number % 3)
            expected.append(number)
# acknowledged by all in-sync replicas, so each has its folder
folders = {lab.cluster.segments(lab.p.events_topic, 0, b)[0].path.parent for b in addresses}
assert len(folders) == 3
knows_two = KafkaProducer(bootstrap_servers=f"{addresses[0]},{addresses[1]}", **quick.producer)
for known in (*addresses.values(), f"{addresses[2]},{addresses[0]}"):
    reader = KafkaConsumer(lab.p.events_topic, bootstrap_servers=known, **begin)
    numbers = [(r.partition, int(r.value)) for r in clients.records_until_end(reader)]
    assert sorted(number for _, number in numbers) == expected
    assert all([n for q, n in numbers if q == p] == expected[p::3] for p in range(3))
len(numbers)

# %% [markdown]
# Two ways to share, seen from afar. One consumer reads; then two more come, none of them in a
# group. Before you run the next two cells: four greetings are sent, the two come, three more are
# sent. How many does the third consumer get?

# %% tags=["prediction"]
from kafkalab import Prediction

my_greetings = Prediction("greetings")
my_greetings

# %% tags=["demo", "A73", "A74"]
stages = []  # (stage, member, value): Spark counts them at the end


def hear(stage, member):
    """What an independent consumer finds in the topic, from its beginning."""
    named = begin | {"client_id": member}
    reader = KafkaConsumer(lab.p.greetings_topic, bootstrap_servers=lab.cluster.address, **named)
    found = [record.value.decode() for record in clients.records_until_end(reader)]
    stages.extend((stage, member, value) for value in found)
    return found


admin.create_topics({lab.p.greetings_topic: shape})
lab.cluster.wait_for_topic(lab.p.greetings_topic)
for number in range(1, 5):
    knows_two.send(lab.p.greetings_topic, value=b"greeting %d" % number).get(timeout=10)
assert len(hear("A", "first")) == 4
for number in range(5, 8):
    knows_two.send(lab.p.greetings_topic, value=b"greeting %d" % number).get(timeout=10)
everything = [f"greeting {number}" for number in range(1, 8)]
assert all(sorted(hear("B", member)) == everything for member in ("first", "second", "third"))
my_greetings.against(sum((stage, member) == ("B", "third") for stage, member, _ in stages))

# %% [markdown]
# ## Task 1: thirteen partitions, each in three copies
#
# Create the topic `lab.p.topic`. The list `lab.p.replicas` says for each of the thirteen partitions
# which brokers have a copy, and in which order: the order matters. `create_topics` takes such lists
# as `assignments`, a dictionary of partition and brokers, in the place of numbers. The setting
# `min.insync.replicas` of the topic is 2.
#
# Keep as `before` what `describe` says of it. Keep as `led` how many partitions each broker leads,
# a dictionary of broker and number. **12 points**
#
# *Example.* Three partitions with the lists `[2, 0, 1]`, `[0, 1, 2]`, `[2, 1, 0]` are led by 2, 0
# and 2, so `led` is `{0: 1, 1: 0, 2: 2}`.


# %%
def describe(topic):
    """partition -> its leader and its in-sync replicas, as the cluster has them now."""
    return {
        one.partition: {"leader": one.leader, "isr": sorted(one.isr)}
        for one in lab.cluster.topic(topic).partitions
    }


# %% tags=["task-1"]
# Task 1
from collections import Counter

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from kafkalab import clients, quick

# BEGIN SOLUTION
# STUB: create the topic lab.p.topic, describe it, count its leaders
admin = KafkaAdminClient(bootstrap_servers=lab.cluster.address, **quick.admin)
if lab.p.topic not in lab.cluster.topics():
    copies = dict(enumerate(lab.p.replicas))
    settings = {"min.insync.replicas": "2"}
    admin.create_topics({lab.p.topic: {"assignments": copies, "configs": settings}})
    lab.cluster.wait_for_topic(lab.p.topic)
before = describe(lab.p.topic)
found = Counter(one["leader"] for one in before.values())
led = {broker: found[broker] for broker in lab.cluster.brokers}
# END SOLUTION
led

# %% tags=["check-1", "A71", "A81"]
lab.check(1)

# %% [markdown]
# ## Before task 2: a group at work, and a topic with one copy
#
# Two more topics for what comes. `lab.p.queue_topic` holds forms with the numbers 1 to
# `lab.p.queue`; a clerk of the group `lab.p.group` does the first of them and commits.
# `lab.p.lone_topic` has one copy only, on the broker that you will lose.

# %%
from itertools import islice

admin.create_topics(
    {
        lab.p.queue_topic: {"num_partitions": 1, "replication_factor": 3},
        lab.p.lone_topic: {"assignments": {0: [lab.p.lost]}},
    },
    raise_errors=False,  # a second run of this cell finds them there
)
lab.cluster.wait_for_topic(lab.p.queue_topic)
lab.cluster.wait_for_topic(lab.p.lone_topic)
for topic, count in ((lab.p.queue_topic, lab.p.queue), (lab.p.lone_topic, lab.p.lone)):
    producer = KafkaProducer(bootstrap_servers=lab.cluster.address, **quick.producer)
    for number in range(lab.cluster.topic(topic).records + 1, count + 1):
        producer.send(topic, value=b"%d" % number)
    producer.flush(timeout=20)

# %%
reading = {"group_id": lab.p.group, "enable_auto_commit": False, "auto_offset_reset": "earliest"}
first_clerk = KafkaConsumer(
    lab.p.queue_topic,
    bootstrap_servers=lab.cluster.address,
    consumer_timeout_ms=20_000,
    **quick.consumer | reading,
)
done = [int(record.value) for record in islice(first_clerk, lab.p.first)]
first_clerk.commit()
first_clerk.close()
done[-1]

# %% [markdown]
# ## Task 2: say who will lead
#
# Write `predict(replicas, dead)`. `replicas` is a list with a list of brokers for each partition,
# `dead` a set of brokers that are gone. All copies were in sync. The result is a dictionary of the
# form of `before`: for each partition its leader and its in-sync replicas, sorted, after the loss.
# One broker at least is alive.
#
# The rule is one line. The table `before` shows how the leader follows from the list while nobody
# is dead; think on from there.
#
# Keep as `forecast` what it says for `lab.p.replicas` and the loss of `lab.p.lost`. Before you run
# the check: how many of the thirteen change their leader? **16 points**
#
# *Example.* `predict([[2, 0, 1]], set())` is `{0: {"leader": 2, "isr": [0, 1, 2]}}`.


# %% tags=["task-2"]
# Task 2
# BEGIN SOLUTION
# STUB: write predict, then keep the forecast
def predict(replicas, dead):
    """The first broker of the list that is alive leads; all that are alive stay in sync."""
    table = {}
    for partition, brokers in enumerate(replicas):
        alive = [broker for broker in brokers if broker not in dead]
        table[partition] = {"leader": alive[0], "isr": sorted(alive)}
    return table


forecast = predict(lab.p.replicas, {lab.p.lost})
# END SOLUTION

# %% tags=["check-2", "A84"]
lab.check(2)

# %% [markdown]
# ## Task 3: kill it, and compare
#
# Kill the broker `lab.p.lost`: `lab.cluster.kill(…)` ends its process without a good-bye. The
# cluster notices when heartbeats stay out for three seconds (`broker.session.timeout.ms`; nine by
# default). Wait until every partition has two in-sync replicas (`lab.cluster.wait_for_isr`).
#
# Then keep what `describe` says as `after`, and as `moved` the sorted list of the partitions that
# have another leader than `before`. Leave the broker dead. **18 points**
#
# *Example.* If partitions 1 and 4 have a new leader, `moved` is `[1, 4]`.

# %% tags=["task-3"]
# Task 3
# BEGIN SOLUTION
# STUB: kill the broker, wait, keep after and moved
lab.cluster.kill(lab.p.lost)
lab.cluster.wait_for_isr(lab.p.topic, 2)
after = describe(lab.p.topic)
moved = sorted(p for p in after if after[p]["leader"] != before[p]["leader"])
# END SOLUTION
moved

# %% tags=["check-3", "A82", "A83", "R12"]
lab.check(3)

# %% [markdown]
# ## Task 4: go on without it
#
# Send the numbers 1 to `lab.p.records` to `lab.p.topic` while the broker is dead, with a producer
# that you keep as `sender`: the value is the number as text, number n goes to partition n % 13, and
# every copy that is in sync must acknowledge (`acks="all"`). Keep as `receipts` a list with the
# pair `(partition, offset)` of each number, in the order of the numbers.
#
# Then let the group go on: a new consumer of the group `lab.p.group` does the rest of the forms and
# commits. Keep their numbers as the list `second_half`. No form may be left out, none done twice.
# **16 points**
#
# *Example.* With 5 forms of which 2 were done, `second_half` is `[3, 4, 5]`.

# %% tags=["task-4"]
# Task 4
# BEGIN SOLUTION
# STUB: send the numbers, then let the group read on
sender = KafkaProducer(bootstrap_servers=lab.cluster.address, acks="all", **quick.producer)
futures = [
    sender.send(lab.p.topic, value=b"%d" % number, partition=number % 13)
    for number in range(1, lab.p.records + 1)
]
metadata = [future.get(timeout=20) for future in futures]
receipts = [(one.partition, one.offset) for one in metadata]

second_clerk = KafkaConsumer(
    lab.p.queue_topic,
    bootstrap_servers=lab.cluster.address,
    consumer_timeout_ms=20_000,
    **quick.consumer | reading,
)
rest = lab.p.queue - lab.p.first
second_half = [int(record.value) for record in islice(second_clerk, rest)]
second_clerk.commit()
second_clerk.close()
# END SOLUTION
receipts[:3], second_half[:3]

# %% tags=["check-4", "A85", "R18"]
lab.check(4)

# %% [markdown]
# ## Task 5: one copy, and one copy too few
#
# The topic `lab.p.lone_topic` had its only copy on the dead broker. Keep its leader, as `describe`
# says it, as `lone_leader`. Try to read it from the beginning: poll for two seconds with a consumer
# that is *assigned* its partition. Keep the consumer as `lone_reader`, and the number of records
# that came as `lone_read`.
#
# Then *stop* a second broker, `lab.p.second`, so that one is left, and wait until every partition
# of `lab.p.topic` has one in-sync replica. Send one record with `acks="all"` to partition 0 of
# `lab.p.topic`. Keep as `refusal` the name of the error that came, `type(error).__name__`.
#
# A client repeats a send that may still succeed, and at the end says only that its time was over.
# Turn that off with `retries=0` and `enable_idempotence=False`: the broker's own answer comes
# through. **12 points**
#
# *Example.* For a record that is too large it would be `"MessageSizeTooLargeError"`.

# %% tags=["task-5"]
# Task 5
from kafka import TopicPartition

# BEGIN SOLUTION
# STUB: look at the lone topic, stop the second broker, keep the refusal
lone_leader = describe(lab.p.lone_topic)[0]["leader"]
lone_reader = KafkaConsumer(
    bootstrap_servers=lab.cluster.address, auto_offset_reset="earliest", **quick.consumer
)
lone_reader.assign([TopicPartition(lab.p.lone_topic, 0)])
lone_read = sum(len(records) for records in lone_reader.poll(timeout_ms=2_000).values())

lab.cluster.stop(lab.p.second)
lab.cluster.wait_for_isr(lab.p.topic, 1)
hasty = KafkaProducer(
    bootstrap_servers=lab.cluster.address,
    acks="all",
    retries=0,
    enable_idempotence=False,
    **quick.producer,
)
try:
    hasty.send(lab.p.topic, value=b"refused", partition=0).get(timeout=20)
    refusal = "none"
except Exception as error:
    refusal = type(error).__name__
# END SOLUTION
lone_leader, lone_read, refusal

# %% tags=["check-5", "R16"]
lab.check(5)

# %% [markdown]
# ## Read the refusal
#
# You kept the name of the error. What was refused, and why, stands in two places: in what the
# client says, and in the log of the broker that refused. Before you run the next cell: which of
# the two tells the name of your topic?

# %% tags=["demo"]
import re

from kafka.errors import NotEnoughReplicasError

survivor = describe(lab.p.topic)[0]["leader"]
log = lab.cluster.logs(survivor, lines=5_000).splitlines()
at = [at for at, line in enumerate(log) if f"{lab.p.topic}-0, live" in line][-1]
told = re.search(r"current ISR : (\d+) .* min.isr requirement of (\d+) .*Set\((\d+)\)", log[at])
assert [int(number) for number in told.groups()] == [1, 2, survivor]
assert f"{lab.p.topic}-0" in log[at - 1]
kind = NotEnoughReplicasError
assert (refusal, kind.retriable) == (kind.__name__, True)
print(f"{kind.errno} {refusal}: {kind.description}", *log[at - 1 : at + 1], sep="\n\n")

# %% [markdown]
# The broker does. The first line is the client's: a *number*, which is what travels over the
# network, a name for it, and the sentence that the client keeps for this number. It says neither
# how many replicas nor where. It is an error that may pass, and so a client with retries hides it.
#
# The second is the broker's: who writes, and for which *partition* an append failed. The third says
# why. *The size of the current ISR*, of the replicas in sync, is less than *the min.isr
# requirement*, your minimum, and at its end stand the brokers that are left.

# %% [markdown]
# ## Task 6: bring them back
#
# Start both brokers again (`lab.cluster.restart`), and wait until every partition of `lab.p.topic`
# has three in-sync replicas. How many of its partitions does `lab.p.lost` lead now? Keep the number
# as `leads`.
#
# Then ask for a preferred election with the admin client: `elect_leaders` with type 0 and a list
# that holds your topic alone. The first broker of each list shall lead again. Wait for it, and keep
# the number as `leads_again`.
#
# At last read the lone topic to its end, and keep the number of records as `lone_again`. **14
# points**
#
# *Example.* If it leads 3 at first and 7 after the election, `leads` is 3 and `leads_again` is 7.

# %%
from kafkalab import wait_until


def led_by(broker, topic):
    """How many partitions of the topic this broker leads."""
    return sum(one["leader"] == broker for one in describe(topic).values())


# %% tags=["task-6"]
# Task 6
# BEGIN SOLUTION
# STUB: restart both, count, elect, count again, read the lone topic
for broker in (lab.p.second, lab.p.lost):
    lab.cluster.restart(broker)
lab.cluster.wait_for_isr(lab.p.topic, 3)
leads = led_by(lab.p.lost, lab.p.topic)

admin.elect_leaders(0, [lab.p.topic])
first_of_list = [brokers[0] for brokers in lab.p.replicas].count(lab.p.lost)
wait_until(
    lambda: led_by(lab.p.lost, lab.p.topic) == first_of_list, timeout=15, what="the election"
)
leads_again = led_by(lab.p.lost, lab.p.topic)

lab.cluster.wait_for_leader(lab.p.lone_topic, 0)
reader = KafkaConsumer(
    lab.p.lone_topic,
    bootstrap_servers=lab.cluster.address,
    auto_offset_reset="earliest",
    **quick.consumer,
)
lone_again = sum(1 for _ in clients.records_until_end(reader))
# END SOLUTION
leads, leads_again, lone_again

# %% tags=["check-6", "A86", "B108", "R14", "R15"]
lab.check(6)

# %% [markdown]
# The lone topic lost nothing: while its broker was away its records could not be read, and now they
# can. One copy is safe as long as its disk is, and silent as long as its broker is.

# %% [markdown]
# ## Task 7: what a kill costs
#
# While nobody leads, a producer waits. Write `slowest(topic, fault)`. It sends the numbers 0, 1, 2
# and so on, as text, to partition 0 of the topic, each after the acknowledgement of the one before.
# After 50 of them it calls `fault(broker)` with the leader of the partition, in a thread of its
# own, and goes on sending. It ends 50 records after the thread has ended. It returns the longest
# time from a send to its acknowledgement, in milliseconds.
#
# Measure once with `lab.cluster.stop` on the topic `lab.p.delay_topics["stop"]`, once with
# `lab.cluster.kill` on `lab.p.delay_topics["kill"]`. Mend the topic after each (`whole_again(topic,
# broker)`). Keep the two results as `delays`, a dictionary with the keys `"stop"` and `"kill"`.
# To try it again, run the cell in front of it first: it empties the topics. Before you run it: how
# many milliseconds does the slowest record need when the leader is killed? **12 points**
#
# *Example.* `delays = {"stop": 120.5, "kill": 118.0}`

# %% tags=["prediction"]
my_kill = Prediction("ms")
my_kill

# %%
import time
from threading import Thread

lab.cluster.mend()  # a broker that an earlier try left dead
names = list(lab.p.delay_topics.values())
admin.delete_topics(names, raise_errors=False)
wait_until(lambda: not {*names} & {*lab.cluster.topics()}, timeout=15, what="the topics to go")
dated = {"message.timestamp.type": "LogAppendTime"}  # by the broker that stores the record
three = {"num_partitions": 1, "replication_factor": 3, "configs": dated}
admin.create_topics(dict.fromkeys(names, three))
for topic in names:
    lab.cluster.wait_for_topic(topic)


def whole_again(topic, broker):
    """Start the broker again, wait until its copy is in sync, and let it lead as before."""
    lab.cluster.restart(broker)
    lab.cluster.wait_for_isr(topic, 3)
    admin.elect_leaders(0, [topic], raise_errors=False)


# %% tags=["task-7"]
# Task 7
# BEGIN SOLUTION
# STUB: write slowest, then measure stop and kill
def slowest(topic, fault):
    """Milliseconds that the slowest of the records needed."""
    producer = KafkaProducer(
        bootstrap_servers=lab.cluster.address, **quick.producer | {"delivery_timeout_ms": 60_000}
    )
    leader = describe(topic)[0]["leader"]
    strike = Thread(target=fault, args=(leader,))
    waits, left = [], 50
    while left > 0:
        if len(waits) == 50:
            strike.start()
        began = time.perf_counter()
        producer.send(topic, value=b"%d" % len(waits), partition=0).get(timeout=60)
        waits.append((time.perf_counter() - began) * 1_000)
        left -= len(waits) > 51 and not strike.is_alive()
    whole_again(topic, leader)
    return max(waits)


delays = {
    "stop": slowest(lab.p.delay_topics["stop"], lab.cluster.stop),
    "kill": slowest(lab.p.delay_topics["kill"], lab.cluster.kill),
}
# END SOLUTION
delays

# %% tags=["check-7", "R11", "R13"]
lab.check(7)

# %% [markdown]
# A broker that is stopped hands its partitions over before it goes. One that is killed is waited
# for. In both cases no number is missing and none is there twice: the producer sent again what was
# not acknowledged.
#
# The next cell lays the kill beside your number. And task 7 took leaders from `lab.p.topic` too:
# it gives them back.

# %% tags=["demo"]
lab.cluster.wait_for_isr(lab.p.topic, 3)
admin.elect_leaders(0, [lab.p.topic], raise_errors=False)
wait_until(
    lambda: all(p.leader == p.replicas[0] for p in lab.cluster.topic(lab.p.topic).partitions),
    timeout=15,
    what="the election",
)
my_kill.against(delays["kill"])

# %% [markdown]
# ## What Spark sees
#
# The greetings of the beginning, by stage and consumer.

# %% tags=["demo", "A91"]
from kafkalab import charts, read_topic, spark_session

spark = spark_session("lab04")
heard = spark.createDataFrame(stages, "stage string, member string, value string")
table = heard.groupBy("stage", "member").count().orderBy("stage", "member").toPandas()
counts = {(stage, member): count for stage, member, count in table.itertuples(index=False)}
assert counts == {("A", "first"): 4} | {("B", m): 7 for m in ("first", "second", "third")}
table

# %% [markdown]
# And the leaders of the thirteen partitions before the loss, as forecast, and after it.

# %% tags=["demo", "A91"]
tables = {"before": before, "forecast": forecast, "after": after}
rows = [
    (when, partition, one["leader"])
    for when, table in tables.items()
    for partition, one in table.items()
]
maps = spark.createDataFrame(rows, "moment string, partition long, leader long")
stored = read_topic(spark, lab.cluster, lab.p.topic)
assert stored.count() == lab.p.records
ax = charts.records_per_partition(maps, partition="leader", by="moment")
ax.set(xlabel="broker", ylabel="partitions that it leads")
ax.set_title(f"{len(moved)} of 13 leaders moved when broker {lab.p.lost} died")
charts.show(
    ax,
    f"Partitions led by each broker, before, as forecast, after; broker {lab.p.lost} leads none.",
)

# %% [markdown]
# ## Five claims
#
# 1. Consumers without a group share the records of a topic among them.
# 2. When a consumer of a group goes, another one does the rest, and nothing twice.
# 3. While a broker is dead, nothing can be sent to the partitions that it led.
# 4. Where the leader stays, the loss of a broker changes nothing.
# 5. The description of a topic tells who leads and who is in sync.
#
# Before you run the next cell: judge by what you have seen, and put `True` or `False` in the place
# of each `None`.

# %% tags=["demo", "A92"]
alone = [{v for s, m, v in stages if (s, m) == ("B", member)} for member in ("first", "third")]
changed = [p for p in before if before[p] != after[p]]  # described before and after
elsewhere = [p for p in changed if before[p]["leader"] != after[p]["leader"]]
claims = {  # number: (your judgement, what this run says)
    1: (None, alone[0].isdisjoint(alone[1])),
    2: (None, [*done, *second_half] == [*range(1, lab.p.queue + 1)]),
    3: (None, not {*moved} <= {partition for partition, _ in receipts}),
    4: (None, changed == elsewhere),
    5: (None, after == forecast),
}
assert [number for number, (_, holds) in claims.items() if holds] == [2, 5]
assert (len(changed), elsewhere) == (13, moved)
right = sum(mine is holds for mine, holds in claims.values())
print(f"{right} of 5 as you judged")
claims

# %% [markdown]
# Two hold. A consumer without a group shares with nobody; members of one group share, and when the
# first clerk had gone, the second did the rest. What you sent while the broker was dead was
# acknowledged, also in the partitions that had moved, and Spark found all of it. And where the
# leader stayed, the list of in-sync replicas is shorter all the same: all thirteen have changed, as
# the description says.

# %%
lab.score()
