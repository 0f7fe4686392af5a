# %% [markdown]
# # 11 Consumer groups
#
# A warehouse packs orders. One program is too slow for all of them, so several share the work. No
# line of them says which orders are whose. Who reads what, who decides it, and is somebody keeping
# up?

# %% [markdown]
# You will
# - let a group grow, and say what each member has to read,
# - choose how partitions are dealt out, and say what that costs when a member leaves,
# - say how far a group is behind,
# - find the broker that looks after a group, and kill it.
#
# Needs 03 and 07. 25 minutes.

# %% tags=["parameters"]
orders_to_pack = 900

# %%
import time

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

from kafkalab import Choice, Cluster, Prediction, charts, quick, wait_until
from kafkalab.lessons import consumer_groups
from kafkalab.lessons.topics import safe_topic
from kafkalab.notebook import exercise

cluster = Cluster.start("replicated")

# %% [markdown]
# ## A group grows
#
# In lesson 03 two drivers lived in one notebook. At work members mostly are programs of their own,
# on machines of their own. These lines are the program of a packer. It takes one order, packs it,
# commits, and goes on until it is told to end. `note` writes down what it does; what is not named
# here, such as `topic`, is given to it.

# %%
packer = """
own = settings | {"auto_offset_reset": "earliest", "enable_auto_commit": False}
consumer = KafkaConsumer(bootstrap_servers=address, client_id=name, group_id=topic, **own)
consumer.subscribe([topic], listener=told)  # told notes what the group gives and takes
while running():
    note("polls")
    for place, records in consumer.poll(timeout_ms=100, max_records=1).items():
        note("record", partition=place.partition, offset=records[0].offset)
        note("commits")
        consumer.commit()
consumer.close()
"""

# %% [markdown]
# `hire` starts it beside the notebook, once for each name. The packers end with this page. Their
# group has the name of the topic, which has six partitions, and no orders yet. The first member is
# Ada. Two more join, then three, and then a seventh.

# %%
names = ["Ada", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus"]
orders = safe_topic(cluster, "orders", partitions=6)
team = {}
growth = {}
for size in (1, 3, 6, 7):
    new = [name for name in names[:size] if name not in team]
    team |= consumer_groups.hire(packer, new, cluster, orders)
    growth[f"{size} member{'s' * (size > 1)}"] = consumer_groups.owners(cluster, orders, size)
having = consumer_groups.counts(names, growth["7 members"])
having

# %% [markdown]
# A partition has one reader in a group, so six partitions are work for six. Gus, the last by name,
# is a member like the others: he polls, sends his **heartbeats**, the signs of life by which the
# group knows him, and has no partition. There is no error.
#
# What is he good for? Ada goes home. Five others have a partition. How many of them keep theirs?

# %% tags=["prediction"]
my_keepers = Prediction("packers", "How many of the five keep the partition that they have?")
my_keepers

# %%
team["Ada"].stop()
growth["Ada left"] = consumer_groups.owners(cluster, orders, 6)
kept = 5 - len(consumer_groups.moved(growth["7 members"], growth["Ada left"]))
print(my_keepers.against(kept))
of_three = consumer_groups.counts(names[:3], growth["3 members"])
his = consumer_groups.counts(["Gus"], growth["Ada left"])["Gus"]
title = f"Of three members each has {of_three['Ada']}; of seven one has {having['Gus']}"
ax = consumer_groups.who_has_what(growth)
ax.set_title(title)
charts.show(ax, f"{title}. With one member Ada has all six; when she left, Gus has {his}.")

# %% tags=["proof", "A33", "A34"]
assert having == dict.fromkeys(names, 1) | {"Gus": 0}, having
assert of_three == {"Ada": 2, "Bob": 2, "Cleo": 2}, of_three
assert set(growth["1 member"].values()) == {"Ada"}, growth
assert [len(owned) for owned in growth.values()] == [6, 6, 6, 6, 6], growth
assert set(growth["Ada left"].values()) == set(names) - {"Ada"}, growth
assert his == 1, his
assert kept == 0, kept
given = [event.facts["partitions"] for event in team["Gus"].events if event.what == "assigned"]
assert given[0] == [], given  # he was told that he has none
assert team["Ada"].events[-1].what == "ended", team["Ada"].events

# %% [markdown]
# All partitions were dealt out anew, because a member had left: a **rebalance**. (The answer to a
# heartbeat told the others. What stands still meanwhile is the subject of a later lesson.) So the
# number of a topic's partitions is the largest number of members with work. It can be raised, but
# that moves keys (lesson 02).

# %% [markdown]
# ## Who deals?
#
# In these groups the members do. One of them gets the list of all, deals, and a broker hands the
# result on to the others. So how to deal is a setting of the *consumers*: the **assignor**,
# `partition_assignment_strategy`. (By the newer group protocol, KIP-848, a broker deals: a later
# lesson.)
#
# Four packers subscribe to two topics, red and blue, with five partitions each. `range`, the first
# choice of this client and of Java's, cuts each topic by itself into pieces.

# %% tags=["prediction"]
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

red = safe_topic(cluster, "red", partitions=5)
blue = safe_topic(cluster, "blue", partitions=5)
my_ada = Prediction("partitions", "How many of the ten partitions does `range` give to Ada?")
my_ada

# %% [markdown]
# There are three such groups, one for each assignor. To look into them, these packers live in the
# notebook.

# %%
teams = {}
own = quick.consumer | {"max_poll_interval_ms": 900_000}  # so long they need not poll
for assignor in [RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor]:
    own |= {"group_id": f"{red} {assignor.name}", "partition_assignment_strategy": [assignor]}
    teams[assignor.name] = [
        KafkaConsumer(red, blue, bootstrap_servers=cluster.address, client_id=name, **own)
        for name in names[:4]
    ]
dealt = consumer_groups.settle(teams, partitions=10)
shares = {how: consumer_groups.counts(names[:4], having) for how, having in dealt.items()}
print(shares)
my_ada.against(shares["range"]["Ada"])

# %% [markdown]
# Five partitions among four leave one over, and both times it goes to the first by name. With
# twenty topics like these Ada would have twenty more than Dan. The other two assignors deal all
# partitions together.
#
# Then Dan leaves. His partitions need a reader; all others could stay where they are. How many of
# those does round robin give to somebody else?

# %% tags=["prediction"]
my_moved = Prediction("partitions", "How many does round robin move without need?")
my_moved

# %%
for four in teams.values():
    four[3].close()
three = {how: four[:3] for how, four in teams.items()}
again = consumer_groups.settle(three, partitions=10)
numbers = {how: len(consumer_groups.moved(dealt[how], again[how])) for how in teams}
print(my_moved.against(numbers["roundrobin"]))
title = "Moved without need: " + ", ".join(f"{how} {numbers[how]}" for how in numbers)
ax = consumer_groups.before_and_after(dealt, again)
ax.figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
charts.show(ax, f"{title}. Partitions by member for three assignors, before and after Dan left.")

# %% tags=["proof"]
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor

assert shares["range"] == {"Ada": 4, "Bob": 2, "Cleo": 2, "Dan": 2}, shares
for how in ("roundrobin", "sticky"):
    assert sorted(shares[how].values()) == [2, 2, 3, 3], shares
assert numbers["sticky"] == 0, numbers
assert numbers["roundrobin"] > numbers["range"] > 0, numbers
assert kept == 0, kept  # above, where Ada left, range moved all that could have stayed
first = KafkaConsumer.DEFAULT_CONFIG["partition_assignment_strategy"][0]
assert first is RangePartitionAssignor, first
own = quick.consumer | {"group_id": f"{red} steps", "max_poll_interval_ms": 900_000}
own["partition_assignment_strategy"] = [CooperativeStickyAssignor]
steps = [
    KafkaConsumer(red, blue, bootstrap_servers=cluster.address, client_id=name, **own)
    for name in names[:4]
]
four_have = consumer_groups.settle({"steps": steps}, partitions=10)["steps"]
steps[3].close()
three_have = consumer_groups.settle({"steps": steps[:3]}, partitions=10)["steps"]
in_steps = sorted(consumer_groups.counts(names[:4], four_have).values())
assert in_steps == [2, 2, 3, 3], four_have
assert consumer_groups.moved(four_have, three_have) == [], (four_have, three_have)
for one in steps[:3]:
    one.close()

# %% tags=["proof", "A75", "A76", "A77", "B144", "B145", "B147", "B167"]
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
sender = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)


def join(group, *topics, number=1, policy="latest"):
    """So many members in this notebook, by the names of the page."""
    own = {"group_id": group, "auto_offset_reset": policy, **quick.consumer}
    known = [*names, "Hana", "Ivan", "Judy", "Kim", "Lea", "Max", "Ned"]
    return [
        KafkaConsumer(*topics, client_id=name, bootstrap_servers=cluster.address, **own)
        for name in known[:number]
    ]


def read(team, number):
    """What each member got until so many records had come, or one more."""
    got = {one.config["client_id"]: [] for one in team}

    def enough():
        for one in team:
            for records in one.poll(timeout_ms=10).values():
                got[one.config["client_id"]] += [(r.partition, r.offset) for r in records]
        return sum(map(len, got.values())) >= number

    wait_until(enough, timeout=30, what=f"{number} records")
    return got


thirteen = safe_topic(cluster, "thirteen", partitions=13)
for number in range(7):
    sender.send(thirteen, value=b"old", partition=number).get(timeout=10)
three = join(thirteen, thirteen, number=3)
mine = consumer_groups.settle({"three": three}, partitions=13)["three"]
assert list(consumer_groups.counts(names[:3], mine).values()) == [5, 4, 4], mine
assert mine[thirteen, 10] == "Cleo", mine
for one in three:
    for place in one.assignment():
        one.position(place)  # where the policy puts it, before more comes
for number in range(25):
    sender.send(thirteen, value=b"new", partition=number % 13).get(timeout=10)
new = read(three, 25)
got = sorted(place for places in new.values() for place in places)
wanted = [(n, int(n < 7) + m) for n in range(13) for m in range(1 + (n < 12))]
assert got == wanted, got  # each new one once, no old one
for name, places in new.items():
    assert {mine[thirteen, n] for n, _ in places} == {name}, (name, places)
for one in three:
    one.close()

others_of = [join(f"{thirteen} {n}", thirteen, policy="earliest") for n in range(3)]
sets = [sorted(read(team_of_one, 32)["Ada"]) for team_of_one in others_of]
assert sets[0] == sets[1] == sets[2], sets  # three groups: everybody gets all, old ones too
assert len(set(sets[0])) == 32, sets[0]
for (one,) in others_of:
    one.close()

# %% tags=["proof", "A35", "A80", "B153", "B164"]
fourteen = {"fourteen": join(f"{thirteen} many", thirteen, number=14)}
each = consumer_groups.settle(fourteen, partitions=13)["fourteen"]
assert len(set(each.values())) == 13, each
idle = [one for one in fourteen["fourteen"] if not one.assignment()]
assert len(idle) == 1, idle
for one in fourteen["fourteen"]:
    one.close()

figure, six = cluster.unused("figure"), cluster.unused("six")
on_two = {0: [0], 1: [1], 2: [0], 3: [1]}  # P0 to P3 on two brokers
admin.create_topics({figure: {"assignments": on_two}, six: {"num_partitions": 6}})
cluster.wait_for_topic(figure)
cluster.wait_for_topic(six)
two = {"A": join(f"{figure} A", figure, number=2)}
four = {"B": join(f"{figure} B", figure, number=4)}
pair = {"six": join(six, six, number=2)}
held = {**consumer_groups.settle(two | four, 4), **consumer_groups.settle(pair, 6)}
assert sorted(consumer_groups.counts(names[:2], held["A"]).values()) == [2, 2], held
assert sorted(consumer_groups.counts(names[:4], held["B"]).values()) == [1, 1, 1, 1], held
assert sorted(consumer_groups.counts(names[:2], held["six"]).values()) == [3, 3], held
for one in (*two["A"], *four["B"], *pair["six"]):
    one.close()

# %% tags=["proof", "B141", "B179", "B180", "B181"]
import logging

from kafka.errors import IllegalStateError

by_hand = [TopicPartition(thirteen, 0), TopicPartition(thirteen, 1)]
own = {"group_id": f"{thirteen} by hand", "auto_offset_reset": "earliest", **quick.consumer}
own["enable_auto_commit"] = False
loners = [KafkaConsumer(bootstrap_servers=cluster.address, **own) for _ in range(2)]
for loner in loners:
    loner.assign(by_hand)
both = [sorted(next(iter(read([loner], 6).values()))) for loner in loners]
assert both[0] == both[1], both  # of one group id, and each gets all of both partitions
assert {number for number, _ in both[0]} == {0, 1}, both
assert cluster.group(own["group_id"]).members == [], "nobody has joined"
try:
    loners[0].subscribe([thirteen])
except IllegalStateError as error:
    refused = error
assert isinstance(refused, IllegalStateError), refused
for loner in loners:
    loner.close()


class Heard(logging.Handler):
    """Keeps what a logger says."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append((record.levelname, record.getMessage()))


heard, logger = Heard(), logging.getLogger("kafka.coordinator")
level, logger.propagate = logger.level, False
logger.setLevel("DEBUG")
logger.addHandler(heard)
try:
    (told_of,) = join(f"{thirteen} log", thirteen)
    wait_until(
        lambda: told_of.poll(timeout_ms=50) or any("eartbeat" in line for _, line in heard.lines),
        timeout=20,
        what="a heartbeat in the log",
    )
    told_of.close()
finally:
    logger.removeHandler(heard)
    logger.setLevel(level)
    logger.propagate = True
said = {level_of for level_of, line in heard.lines if "eartbeat" in line}
assert "DEBUG" in said, heard.lines
assert any(lv == "INFO" and "assigned" in line for lv, line in heard.lines), heard.lines

# %% [markdown]
# A thick line is a partition that somebody else has now, though its reader is still there. How much
# `range` moves depends on the case: here some, and above, when Ada left, all that could have
# stayed. `sticky` starts from who had what: so says its description (KIP-54). The picture shows
# only that nothing moved without need.
#
# Does it matter? Not to a packer that keeps nothing between two orders. One that keeps a sum for
# each key, in its memory alone, leaves it behind: the new reader has to make it again from the log.
# (`cooperative-sticky`, KIP-429: a later lesson.)

# %% [markdown]
# ## Who keeps up?
#
# Three packers share six partitions. They commit after each order, and wait for the answer. A
# producer does not wait for them.

# %% tags=["prediction"]
parcels = safe_topic(cluster, "parcels", partitions=6)
packers = consumer_groups.hire(packer, names[:3], cluster, parcels)
consumer_groups.owners(cluster, parcels, 3)
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
my_queue = Choice(
    "What becomes of orders that come faster than they are packed?",
    "the broker slows the producer down",
    "they wait in the log",
    "some are lost",
)
my_queue


# %%
story = consumer_groups.Story(cluster, parcels)
for number in range(orders_to_pack):
    producer.send(parcels, value=b"order %d" % number, partition=number % 6)
    if (number + 1) % (orders_to_pack // 5) == 0:
        producer.flush(timeout=20)
        story.look()
sent = story.seen[-1]
wait_until(lambda: story.look().lag == 0, timeout=90, what="a lag of 0")
done = story.seen[-1]
print(f"lag {sent.lag:,} after {sent.seconds:.1f} s, {done.lag} after {done.seconds:.1f} s")

# %%
slowed = f"the last send had its answer after {sent.seconds:.1f} s, with {sent.lag:,} yet to pack."
lost = f"of {done.end:,} orders {done.committed:,} were packed and committed."
why = {"the broker slows the producer down": slowed, "some are lost": lost}
print(my_queue.against("they wait in the log", why))
title = f"{sent.lag:,} of {sent.end:,} orders wait at the last send; then the lag falls to 0"
ax = consumer_groups.lag_over_time(story.seen, sent.seconds)
ax.set_title(title)
charts.show(ax, f"{title}. The committed offsets reach the log ends at {done.seconds:.1f} s.")

# %% tags=["proof", "A23"]
got = [e.facts for one in packers.values() for e in consumer_groups.records_of(one)]
each = {(one["partition"], one["offset"]) for one in got}
ends = {one.partition: one.end_offset for one in cluster.topic(parcels).partitions}
there = {(number, offset) for number, end in ends.items() for offset in range(end)}
assert each == there, there ^ each  # nothing lost
assert len(got) == len(each), (len(got), len(each))  # and nothing packed twice
assert story.seen[0].lag == 0, story.seen[0]
assert sent.lag > story.seen[1].lag > 0, (sent, story.seen[1])
assert done.end == done.committed == orders_to_pack, done

# %% tags=["proof", "B151"]
from kafkalab import members, spark_session

table = members.events_of(packers.values())
read_by = table[table["what"] == "record"][["member", "partition"]].astype({"partition": int})
spark = spark_session()
ax = consumer_groups.records_by_member(spark.createDataFrame(read_by))
ax.set_title("Records by member and partition, counted by Spark")
shown = sorted(label.get_text() for label in ax.texts)
assert shown == sorted(["0"] * 12 + [f"{end:,}" for end in ends.values()]), (shown, ends)
assert [label.get_text() for label in ax.get_yticklabels()] == names[:3], ax.get_yticklabels()
charts.show(ax, "Each partition's records were all read by one member.")
spark.stop()

# %% [markdown]
# The distance between the lines is the **lag** of lesson 03, log end less committed offset, here
# over all partitions. Both numbers come from the brokers. The log is the waiting room, and
# retention empties it (lesson 01).
#
# A lag that goes up and comes down is a rush hour. One that only grows has a reason to look for:
# packers that are too slow or too few, one full partition (lesson 02), one that is stuck. Here each
# order waits for the answer to its commit: to commit less often is what to try first.

# %% [markdown]
# ## When it goes wrong
#
# Somebody has to keep the list of members, hear the heartbeats, and take the commits: for each
# group one broker, its **coordinator** (transactions have theirs: lesson 10). It is found by the
# name of the group: see `Your turn`. Three packers are at work, and the coordinator of their group
# is killed. The topic lies on the two other brokers, so all its leaders live on.

# %% tags=["prediction"]
my_group = Choice(
    "The coordinator is dead. What do the packers do?",
    "each ends with an error",
    "they stand still, and go on later",
    "they go on as if nothing had happened",
)
my_group

# %%
urgent, coordinator = consumer_groups.beside_coordinator(cluster, "urgent")
packers = consumer_groups.hire(packer, names[:3], cluster, urgent)
before = consumer_groups.owners(cluster, urgent, 3)
for number in range(orders_to_pack):
    producer.send(urgent, value=b"order %d" % number, partition=number % 6)
consumer_groups.wait_for_records(packers.values(), orders_to_pack // 10)
killed_at = time.monotonic_ns()
cluster.kill(coordinator)
consumer_groups.wait_for_records(packers.values(), orders_to_pack)
anew = consumer_groups.dealt_since(packers.values(), killed_at)
print(f"coordinator: {coordinator}, then {cluster.coordinator(urgent)}; dealt anew: {anew} times")
print("copies of its log:", len(cluster.topic("__consumer_offsets").partitions[0].replicas))

# %%
silence = consumer_groups.longest_silence(packers.values())
ended = [name for name, one in packers.items() if one.state != "running"]
why = {
    "each ends with an error": f"{len(ended)} of {len(packers)} have ended.",
    "they go on as if nothing had happened": f"for {silence.seconds:.1f} s nobody had a record.",
}
print(my_group.against("they stand still, and go on later", why))
print("last words, in the middle of the silence:", silence.last)
title = f"The coordinator is killed: {silence.seconds:.1f} s in which nobody has a record"
ax = consumer_groups.records_over_time(packers.values(), killed_at, coordinator)
ax.set_title(title)
charts.show(ax, f"{title}. Each packer's records rise, stand still after the kill, and rise again.")

# %% tags=["proof", "A88"]
from kafka.admin import ConfigResource

successor = cluster.coordinator(urgent)
assert successor != coordinator, successor
copies = cluster.topic("__consumer_offsets").partitions[0].replicas
assert len(copies) == 3, copies
assert {leader.leader for leader in cluster.topic(urgent).partitions} == {
    min(set(cluster.brokers) - {coordinator})
}, cluster.topic(urgent)
assert ended == [], [packers[name].said for name in ended]
assert anew == 0, [one.events for one in packers.values()]
assert consumer_groups.owners(cluster, urgent, 3) == before, before
assert silence.began < killed_at + 2_000_000_000 < silence.ended, (killed_at, silence)
assert set(silence.last.values()) <= {"commits", "polls"}, silence
urgently = [e.facts for one in packers.values() for e in consumer_groups.records_of(one)]
once = {(one["partition"], one["offset"]) for one in urgently}
assert len(once) == orders_to_pack, len(once)
assert len(urgently) == orders_to_pack, len(urgently)
settings = admin.describe_configs(
    [ConfigResource("BROKER", str(successor))], include_synonyms=True, config_filter="all"
)["broker"][str(successor)]
missed = settings["broker.session.timeout.ms"]
assert missed["value"] == "3000", missed
assert [one["value"] for one in missed["synonyms"] if one["source"] == "DEFAULT_CONFIG"] == [
    "9000"
], missed
assert settings["offsets.topic.replication.factor"]["value"] == "3", settings
default = KafkaConsumer.DEFAULT_CONFIG["request_timeout_ms"]
assert default == 30_000, default

# %% [markdown]
# The packers do not read from the coordinator, and still they stand. Whose last word is *commits*
# waits for the answer to its commit. In kafka-python `commit` tries again for `request_timeout_ms`,
# 30 seconds by default and here; then it raises. And `poll` gives nothing while this client knows
# no coordinator.
#
# Why so long? First the dead broker has to be missed: here after 3 seconds, by default after 9
# (`broker.session.timeout.ms`). Then the group gets a new coordinator. It finds members and commits
# in a log, of which it has one of the copies that are counted above. So nobody was put out, and
# nothing dealt out anew.

# %% [markdown]
# ## Your turn
#
# That log is `__consumer_offsets`. A group's partition in it is the absolute value of Java's hash
# of the group's name, modulo the number of partitions. The leader of that partition is the
# coordinator. Which brokers will look after four groups that nobody has begun yet? Say it as
# `{name: broker}`. (The dead one stays dead.)

# %% tags=["exercise"]
log = cluster.topic("__consumer_offsets")  # its .partitions have a .leader each
groups = ["returns", "repairs", "audit", "labels"]
hashed = {name: consumer_groups.java_hash(name) for name in groups}
# BEGIN SOLUTION
# STUB: will_be = ...
places = {name: abs(hashed[name]) % len(log.partitions) for name in groups}
will_be = {name: log.partitions[place].leader for name, place in places.items()}
# END SOLUTION
exercise.check("coordinators", will_be, consumer_groups.coordinators_of(cluster, groups))

# %% tags=["proof", "A27", "A30"]
asked = [*groups, "kitchen", "Ümläut", parcels, urgent]
found = {}
computed = {}
for one in asked:
    found[one] = cluster.coordinator(one)
    number = abs(consumer_groups.java_hash(one)) % len(log.partitions)
    computed[one] = log.partitions[number].leader
assert computed == found, (computed, found)
assert {one: found[one] for one in groups} == will_be, (found, will_be)
assert len(set(will_be.values())) == 2, will_be  # shared by all that live: none guesses it
assert log.configs["cleanup.policy"].value == "compact", log.configs
assert len(log.partitions) == 10, log.partitions  # Kafka's default is 50; docker-compose.yml
command = f"--bootstrap-server {{bootstrap}} --describe --state --group {urgent}"
told = cluster.tool("kafka-consumer-groups", *command.split()).stdout
assert f"({cluster.coordinator(urgent)})" in told, told

# %% [markdown]
# The packers go home, and more orders come. Say the lag of each partition, as `{partition: lag}`.
# `reader.end_offsets(list of places)` gives the log ends, `admin.list_group_offsets(group)[group]`
# the commits, by place; a commit has an `offset`. The group has the name of its topic.

# %% tags=["exercise"]
for one in packers.values():
    one.stop()
for number in range(40):
    partition = number % 7 % 6  # 0 gets more than the others
    producer.send(urgent, value=b"late", partition=partition).get(timeout=10)
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
reader = KafkaConsumer(bootstrap_servers=cluster.address, **quick.consumer)
places = [TopicPartition(urgent, number) for number in range(6)]
# BEGIN SOLUTION
# STUB: lag = ...
ends = reader.end_offsets(places)
commits = admin.list_group_offsets(urgent)[urgent]
lag = {place.partition: ends[place] - commits[place].offset for place in places}
# END SOLUTION
exercise.check("the lag", lag, consumer_groups.lag_of(cluster, urgent))

# %% tags=["proof"]
right = {number: behind for (_, number), behind in cluster.group(urgent).lag.items()}
assert lag == right, (lag, right)
assert sum(lag.values()) >= 40, lag

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- In a group every partition has one reader: of three members each had {of_three["Ada"]}, of seven
  one had {having["Gus"]}, and no error. When the first left, {kept} of five kept their partition.
- Members dealt, by their assignor. `range` gave Ada {shares["range"]["Ada"]} of 10; when Dan left,
  round robin moved {numbers["roundrobin"]} partitions without need, sticky {numbers["sticky"]}.
- Lag is log end less committed offset: {sent.lag:,} at the last send, and then {done.lag}. The log
  kept what waited.
- A group has one broker as its coordinator, found by its name. When it was killed, these packers
  stood still for {silence.seconds:.1f} s, and then went on.
""")

# %%
cluster.close()
