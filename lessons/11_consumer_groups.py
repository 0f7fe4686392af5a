# %% [markdown]
# # 11 Consumer groups
#
# A warehouse packs orders. One program is too slow for all of them, so several share the work. No
# line of them says which orders are whose. Who reads what, and do they keep up?

# %% [markdown]
# You will
# - let a group grow, and say what changes when a member leaves,
# - say who deals out the partitions, and how,
# - say how far a group is behind,
# - kill the broker that looks after a group, and say which one that is.
#
# Needs 02, 03 and 07. 25 minutes.

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
# on machines of their own. These lines are the program of a packer. It takes one order, notes it
# (packing takes no time here), commits, and goes on until it is told to end. `note` writes down
# what it does. This and what else is not defined here is given to it: `name`, `topic`, `address`,
# `settings`, `told` and `running`.

# %%
packer = """
own = settings | {"auto_offset_reset": "earliest", "enable_auto_commit": False}
consumer = KafkaConsumer(bootstrap_servers=address, client_id=name, group_id=topic, **own)
consumer.subscribe([topic], listener=told)  # told is called when partitions come or go
while running():
    note("polls")
    for place, records in consumer.poll(timeout_ms=100, max_records=1).items():
        note("record", partition=place.partition, offset=records[0].offset)
        note("commits")
        consumer.commit()
consumer.close()
"""

# %% [markdown]
# `hire` starts it as a process beside the notebook, one for each name. Their group has the name of
# the topic. That has six partitions, and holds no orders yet. The first member is Ada. Two more
# join, then three, and then a seventh.

# %%
names = ["Ada", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus"]
orders = safe_topic(cluster, "orders", partitions=6)
team = {}
growth = {}
for size in (1, 3, 6, 7):
    new = [name for name in names[:size] if name not in team]
    team |= consumer_groups.hire(packer, new, cluster, orders)
    held = consumer_groups.owners(cluster, orders, size)
    growth[f"{size} member{'s' * (size > 1)}"] = held
    print(consumer_groups.counts(names[:size], held))

# %% [markdown]
# In a consumer group whose members subscribe, a partition has one reader, so six partitions of one
# topic are work for six. (Who uses `assign` is no member, and reads what the members read as well.)
# Gus is a member like the others: he polls, sends his **heartbeats**, the signs of life by which
# the group knows him, and has no partition. There is no error.
#
# What is he good for? Bob to Finn have one partition each. Ada goes home, and six members are left.
# How many of these five keep the partition that they have?

# %% tags=["prediction"]
my_keepers = Prediction("packers", "How many of the five keep the partition that they have?")
my_keepers

# %%
consumer_groups.rehire(packer, team, cluster, orders)  # hires whoever has ended
team["Ada"].stop()
growth["Ada left"] = consumer_groups.owners(cluster, orders, 6)
kept = 5 - len(consumer_groups.moved(growth["7 members"], growth["Ada left"]))
print(my_keepers.against(kept))
his = consumer_groups.counts(["Gus"], growth["Ada left"])["Gus"]
title = f"Ada leaves: {kept} of five keep their partition, and Gus has {his}"
ax = consumer_groups.who_has_what(growth)
ax.set_title(title)
charts.show(ax, f"{title}. Who has which partition, from one member to seven, and then.")

# %% tags=["proof", "A33", "A34"]
having = consumer_groups.counts(names, growth["7 members"])
of_three = consumer_groups.counts(names[:3], growth["3 members"])
assert growth["7 members"] == {(orders, n): names[n] for n in range(6)}, growth
assert having == dict.fromkeys(names, 1) | {"Gus": 0}, having
assert of_three == {"Ada": 2, "Bob": 2, "Cleo": 2}, of_three
assert set(growth["1 member"].values()) == {"Ada"}, growth
assert [len(owned) for owned in growth.values()] == [6, 6, 6, 6, 6], growth
assert set(growth["Ada left"].values()) == set(names) - {"Ada"}, growth
assert his == 1, his
assert kept == 0, kept
given = [event.facts["partitions"] for event in team["Gus"].events if event.what == "assigned"]
assert given[0] == [], given  # he was told that he has none
told_at = next(event.at for event in team["Gus"].events if event.what == "assigned")
polled = [event for event in team["Gus"].events if event.what == "polls" and event.at > told_at]
assert len(polled) > 1, polled  # and goes on
assert team["Gus"].state == "running", team["Gus"].said
for member in cluster.group(orders).members:
    assert member.id.startswith(f"{member.client}-"), member
assert team["Ada"].events[-1].what == "ended", team["Ada"].events

# %% [markdown]
# Gus was the spare: no partition is without a reader. But all were dealt out anew, as at each join
# before: a **rebalance**. The order was that of the members' ids, which begin with `client_id`,
# here the name: so all five moved up by one.
#
# To give Gus work beside the others takes more partitions, and to add some moves keys (lesson 02).

# %% [markdown]
# ## Who deals?
#
# Who tells a member what is its own? Hana joins a group in which she is alone, and of what her
# client logs, five lines are kept.

# %%
alone = f"{orders}, Hana alone"
own = quick.consumer | {"group_id": alone}
with consumer_groups.logged(alone) as logged:
    hana = KafkaConsumer(orders, bootstrap_servers=cluster.address, client_id="Hana", **own)
    wait_until(lambda: hana.poll(timeout_ms=50) or logged.complete, timeout=30, what="the lines")
hana.close()
logged

# %% tags=["proof", "B141"]
levels = {kind: level for kind, (level, _) in logged.lines.items()}
assert levels.pop("Sending heartbeat") == "DEBUG", logged
assert list(levels) == [
    "(Re-)joining group",
    "Successfully joined group",
    "Elected group leader",
    "Setting newly assigned partitions",
], logged
assert set(levels.values()) == {"INFO"}, logged
_, line = logged.lines["Setting newly assigned partitions"]
assert line.count("TopicPartition") == 6, line

# %% [markdown]
# In these groups a member deals, the *group leader* (no broker, and no leader of a partition): it
# gets the list of all, and to the others a broker hands on what it has dealt. (At INFO you see four
# of these lines; heartbeats are logged at DEBUG.) So how to deal is a setting of the *consumers*,
# the **assignor**:
# `partition_assignment_strategy`, a list, best first. The group uses one that is in the lists of
# all; who joins without one is refused. (By the newer protocol, KIP-848, a broker deals: a later
# lesson.)
#
# Four packers subscribe to two topics, red and blue, with five partitions each. `range`, by default
# the first in the lists of this client and of Java's, dealt above, too. It cuts each topic
# separately into pieces, longer ones first, and gives them out in the order of the ids.

# %% tags=["prediction"]
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

red = safe_topic(cluster, "red", partitions=5)
blue = safe_topic(cluster, "blue", partitions=5)
my_ada = Prediction("partitions", "How many of the ten partitions does `range` give to Ada?")
my_ada

# %% [markdown]
# There are three such groups, one for each assignor. These packers live in the notebook: they pack
# nothing.

# %%
teams = {}
own = quick.consumer | {"max_poll_interval_ms": 7_200_000}  # how long one may not poll
for assignor in [RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor]:
    own |= {"group_id": f"{red} {assignor.name}", "partition_assignment_strategy": [assignor]}
    teams[assignor.name] = [
        KafkaConsumer(red, blue, bootstrap_servers=cluster.address, client_id=name, **own)
        for name in names[:4]
    ]
dealt = consumer_groups.settle(teams, partitions=10)
shares = {how: consumer_groups.counts(names[:4], held) for how, held in dealt.items()}
print(my_ada.against(shares["range"]["Ada"]))

# %%
title = "Partitions of Ada, of ten: " + ", ".join(
    f"{shares[how]['Ada']} by {how}" for how in shares
)
ax = consumer_groups.who_has_what(dealt)
ax.set_title(title)
charts.show(ax, f"{title}. Ten partitions and their readers, as three assignors dealt them out.")

# %% [markdown]
# Five partitions among four leave one over, and by `range` it goes to the first by name both times.
# The other two deal all partitions together, and here nobody has two more than another.
#
# `sticky` also starts from who had what (KIP-54): where Ada left, all five would have kept theirs.
# That matters to a member that keeps in memory something about its keys, such as a sum: it does not
# move with the partition.

# %% tags=["proof"]
from kafka.errors import InconsistentGroupProtocolError

assert shares["range"] == {"Ada": 4, "Bob": 2, "Cleo": 2, "Dan": 2}, shares
for how in ("roundrobin", "sticky"):
    assert sorted(shares[how].values()) == [2, 2, 3, 3], shares
first = KafkaConsumer.DEFAULT_CONFIG["partition_assignment_strategy"][0]
assert first is RangePartitionAssignor, first
# When Dan leaves: how many others are moved, though their readers are still there.
for four in teams.values():
    four[3].close()
again = consumer_groups.settle({how: four[:3] for how, four in teams.items()}, partitions=10)
numbers = {how: len(consumer_groups.moved(dealt[how], again[how])) for how in teams}
assert numbers["sticky"] == 0, numbers
assert numbers["roundrobin"] > numbers["range"] > 0, numbers
# Seven on six partitions, as above, but sticky: Ada leaves, and five keep theirs.
seats = safe_topic(cluster, "seats", partitions=6)
own = quick.consumer | {"group_id": seats, "max_poll_interval_ms": 900_000}
own["partition_assignment_strategy"] = [StickyPartitionAssignor]
seven = [
    KafkaConsumer(seats, bootstrap_servers=cluster.address, client_id=name, **own) for name in names
]
seven_have = consumer_groups.settle({"seven": seven}, partitions=6)["seven"]
one_each = dict.fromkeys(names, 1) | {"Gus": 0}
assert consumer_groups.counts(names, seven_have) == one_each, seven_have
alone = {"partition_assignment_strategy": [RangePartitionAssignor], "client_id": "Zoe"}
stranger = KafkaConsumer(seats, bootstrap_servers=cluster.address, **(own | alone))
try:
    wait_until(lambda: stranger.poll(timeout_ms=50) or None, timeout=10, what="a refusal")
except InconsistentGroupProtocolError as error:
    no_common = error
assert isinstance(no_common, InconsistentGroupProtocolError), "no assignor in common"
stranger.close()
seven[0].close()
six_have = consumer_groups.settle({"six": seven[1:]}, partitions=6)["six"]
assert consumer_groups.moved(seven_have, six_have) == [], (seven_have, six_have)
assert consumer_groups.counts(["Gus"], six_have) == {"Gus": 1}, six_have
for one in seven[1:]:
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
    """What each member got until so many records had come, and in some polls after them."""
    got = {one.config["client_id"]: [] for one in team}

    def enough():
        for one in team:
            for records in one.poll(timeout_ms=10).values():
                got[one.config["client_id"]] += [(r.partition, r.offset) for r in records]
        return sum(map(len, got.values())) >= number

    wait_until(enough, timeout=30, what=f"{number} records")
    for _ in range(20):  # what comes twice comes now
        enough()
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

# %% tags=["proof", "B179", "B180", "B181"]
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
(joiner,) = join(f"{thirteen} by hand, after", thirteen)
try:
    joiner.assign(by_hand)
except IllegalStateError as error:
    refused_too = error
assert isinstance(refused_too, IllegalStateError), refused_too  # nor the other way round
joiner.close()


# %% [markdown]
# ## Who keeps up?
#
# Three packers share six partitions. They commit after each order, and wait for the answer.

# %% tags=["prediction"]
rush = safe_topic(cluster, "rush", partitions=6)
packers = consumer_groups.hire(packer, names[:3], cluster, rush)
consumer_groups.owners(cluster, rush, 3)
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
my_queue = Choice(
    "What becomes of orders that come faster than they are packed?",
    "the broker slows the producer down",
    "they wait in the log",
    "some are lost",
)
my_queue


# %%
consumer_groups.rehire(packer, packers, cluster, rush)
began = time.monotonic_ns()
story = consumer_groups.Story(cluster, rush)
for number in range(orders_to_pack):
    producer.send(rush, value=b"order %d" % number, partition=number % 6)
    if (number + 1) % (orders_to_pack // 5) == 0:
        producer.flush(timeout=20)
        story.look()
sent = story.seen[-1]
wait_until(lambda: story.look().lag == 0, timeout=90, what="a lag of 0")
done = story.seen[-1]
print(f"lag {sent.lag:,} after {sent.seconds:.1f} s, {done.lag} after {done.seconds:.1f} s")

# %%
packed = consumer_groups.packed_since(packers.values(), began)
slowed = f"all sends had their answers within {sent.seconds:.1f} s, with {sent.lag:,} yet to pack."
lost = f"of {done.end:,} different orders {packed:,} were packed."
why = {"the broker slows the producer down": slowed, "some are lost": lost}
print(my_queue.against("they wait in the log", why))
share = consumer_groups.share_in_commits(packers.values(), began)
print(f"in `commit`: {share:.0%} of the packers' time")
title = f"{sent.lag:,} of {sent.end:,} orders wait when all are sent; then the lag falls to 0"
ax = consumer_groups.lag_over_time(story.seen, sent.seconds)
ax.set_title(title)
charts.show(ax, f"{title}. The committed offsets reach the log ends at {done.seconds:.1f} s.")

# %% tags=["proof", "A23"]
got = [e.facts for one in packers.values() for e in consumer_groups.records_of(one)]
each = {(one["partition"], one["offset"]) for one in got}
ends = {one.partition: one.end_offset for one in cluster.topic(rush).partitions}
there = {(number, offset) for number, end in ends.items() for offset in range(end)}
assert each == there, there ^ each  # nothing lost
assert len(got) == len(each), (len(got), len(each))  # and nothing packed twice
assert story.seen[0].lag == 0, story.seen[0]
assert sent.lag > 0, story.seen
assert done.end == done.committed == packed == orders_to_pack, (done, packed)

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
# over all partitions. No broker looks at it when it answers a producer. What waits in the log
# longer than its retention is lost to this group (lesson 01).
#
# A lag that goes up and comes down is a rush hour. One that stays is a delay: divide it by the
# orders that are packed in a second. One that only grows has a reason to look for: packers that are
# too slow or too few, one hot partition (lesson 02), a member that is stuck.
#
# What makes these packers slow? Packing takes no time here, and `commit` most of it. To commit less
# often is what to try first. The price: after a crash more orders are packed again (lesson 03).

# %% [markdown]
# ## When it goes wrong
#
# Somebody has to keep the list of members, hear the heartbeats, and take the commits: for each
# group one broker, its **coordinator**. Three packers are at work, and the coordinator of their
# group is killed. The topic lies on the two other brokers, so all its leaders live on.

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
crew = consumer_groups.hire(packer, names[:3], cluster, urgent)
before = consumer_groups.owners(cluster, urgent, 3)
for number in range(orders_to_pack):
    producer.send(urgent, value=b"order %d" % number, partition=number % 6)
consumer_groups.wait_for_records(crew.values(), 10)  # they have begun, and have more to do
killed_at = time.monotonic_ns()
cluster.kill(coordinator)
consumer_groups.wait_for_records(crew.values(), orders_to_pack)
anew = consumer_groups.dealt_since(crew.values(), killed_at)
ended = [name for name, one in crew.items() if one.state != "running"]
print(f"coordinator: {coordinator}, then {cluster.coordinator(urgent)}")

# %%
silence = consumer_groups.longest_silence(crew.values())
why = {
    "each ends with an error": f"{len(ended)} of {len(crew)} had ended.",
    "they go on as if nothing had happened": f"for {silence.seconds:.1f} s nobody had a record.",
}
print(my_group.against("they stand still, and go on later", why))
print("what each does in the middle of the silence:", silence.last)
print(f"members to whom partitions were dealt anew: {anew}")
title = f"The coordinator is killed: {silence.seconds:.1f} s in which nobody has a record"
ax = consumer_groups.records_over_time(crew.values(), killed_at, coordinator)
ax.set_title(title)
charts.show(ax, f"{title}. Each packer's records rise, stand still after the kill, and rise again.")

# %% tags=["proof", "A88"]
from kafka.admin import ConfigResource
from kafka.errors import (
    CoordinatorNotAvailableError,
    IllegalGenerationError,
    KafkaConnectionError,
    NotCoordinatorError,
    UnknownMemberIdError,
)

successor = cluster.coordinator(urgent)
assert successor != coordinator, successor
offsets = cluster.topic("__consumer_offsets").partitions
its = offsets[abs(consumer_groups.java_hash(urgent)) % len(offsets)]
assert its.leader == successor, its
assert successor in its.isr, its
assert coordinator in its.replicas, its
assert {leader.leader for leader in cluster.topic(urgent).partitions} == {
    min(set(cluster.brokers) - {coordinator})
}, cluster.topic(urgent)
assert ended == [], [crew[name].said for name in ended]
assert anew == 0, [one.events for one in crew.values()]
assert consumer_groups.owners(cluster, urgent, 3) == before, before
# `killed_at` is before the kill: when the broker was gone, only the machine knows. From then on no
# commit has an answer until it is missed: 3 s after its last heartbeat, and one comes each 0.5 s.
assert silence.began > killed_at - 1_000_000_000, (killed_at, silence)
assert silence.seconds > 2, silence
middle = (silence.began + silence.ended) // 2
held_up = [name for name, last in silence.last.items() if last == "commits"]
assert held_up, silence  # a commit was under way when the coordinator died, and found the next one
for name in held_up:
    after = next(event for event in crew[name].events if event.at > middle)
    assert after.what == "polls", (name, after)
    assert after.at > killed_at + 2_000_000_000, (name, after, killed_at)
for passing in (NotCoordinatorError, CoordinatorNotAvailableError, KafkaConnectionError):
    assert passing.retriable, passing
for lasting in (UnknownMemberIdError, IllegalGenerationError):
    assert not lasting.retriable, lasting
urgently = [e.facts for one in crew.values() for e in consumer_groups.records_of(one)]
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
# The packers do not read from the coordinator, and still they stand. Who *commits* waits for the
# answer, and would with any client. kafka-python's `commit` looks for the next coordinator and
# tries again for `request_timeout_ms`, 30 seconds by default and here; then it raises. (Its `poll`
# waits for a coordinator, too; others' give records meanwhile.)
#
# Why so long? First the dead broker has to be missed: here after 3 seconds, by default after 9
# (`broker.session.timeout.ms`). Then another one becomes coordinator. It has an in-sync copy of the
# log with members and commits, leads it now (lesson 07), and lets each member's session (lesson 03)
# begin anew. So nobody was put out, and nothing dealt out anew.

# %% [markdown]
# ## Your turn
#
# That log is `__consumer_offsets`. It is compacted: of each key it keeps at least the newest
# record. By default it has 50 partitions, here 10. A group's partition in it is the absolute value
# of a hash of its name (Java's for strings) modulo their number. The leader of that partition is
# the coordinator. One broker is dead: which ones will look after four groups that nobody has begun
# yet? Say it as `{name: broker}`.

# %% tags=["exercise"]
log = cluster.topic("__consumer_offsets")  # .partitions is a list; each has a .leader
groups = ["returns", "repairs", "audit", "labels"]
hashed = {name: consumer_groups.java_hash(name) for name in groups}
# BEGIN SOLUTION
# STUB: will_be = ...
places = {name: abs(hashed[name]) % len(log.partitions) for name in groups}
will_be = {name: log.partitions[place].leader for name, place in places.items()}
# END SOLUTION
exercise.check("coordinators", will_be, consumer_groups.coordinators_of(cluster, groups))

# %% tags=["proof", "A27", "A30"]
asked = [*groups, "kitchen", "Ümläut", rush, urgent]
found = {}
computed = {}
for one in asked:
    found[one] = cluster.coordinator(one)
    number = abs(consumer_groups.java_hash(one)) % len(log.partitions)
    computed[one] = log.partitions[number].leader
assert computed == found, (computed, found)
assert {one: found[one] for one in groups} == will_be, (found, will_be)
# Both that live, so none guesses it. (Where new partitions are laid is partly luck of the cluster;
# the log's partitions of these four names are laid in one round. Other names may share a broker.)
assert len(set(will_be.values())) == 2, will_be
assert log.configs["cleanup.policy"].value == "compact", log.configs
assert len(log.partitions) == 10, log.partitions
number = settings["offsets.topic.num.partitions"]
assert [one["value"] for one in number["synonyms"] if one["source"] == "DEFAULT_CONFIG"] == [
    "50"
], number
command = f"--bootstrap-server {{bootstrap}} --describe --state --group {urgent}"
told = cluster.tool("kafka-consumer-groups", *command.split()).stdout
assert f"({cluster.coordinator(urgent)})" in told, told

# %% [markdown]
# The packers go home, and more orders come. Say the lag of each partition, as `{partition: lag}`.
# `reader.end_offsets(list of places)` gives the log ends, `admin.list_group_offsets(group)[group]`
# the commits: by place, each with its `offset`. The group has the name of its topic.

# %% tags=["exercise"]
for one in crew.values():
    one.stop()
for number in range(40):
    producer.send(urgent, key=b"shelf %d" % (number % 9), value=b"late").get(timeout=10)
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
assert sum(lag.values()) in (40, 80), lag  # the cell ran once or twice, and all else was committed
assert len(set(lag.values())) > 2, lag

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- In a consumer group whose members subscribe, a partition has one reader. Of seven members on six
  partitions one had none, without an error. When the first left, {kept} of the five others kept
  their partition.
- How partitions are dealt out is a setting of the members, their assignor. `range` gave Ada
  {shares["range"]["Ada"]} of 10.
- Lag is log end less committed offset: {sent.lag:,} when all were sent, and then {done.lag}. The
  log keeps what waits, as long as its retention.
- A group has one broker as its coordinator, found by its name. When it was killed, these packers
  stood still for {silence.seconds:.1f} s, and then went on.
""")

# %%
cluster.close()
