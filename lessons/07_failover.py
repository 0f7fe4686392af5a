# %% [markdown]
# # 07 Failover
#
# A broker was away, and comes back with its disk. Records may be missing there, because others took
# its place meanwhile. And it may have some that nobody else has. How does a broker that comes back
# know what it may keep, and does it lead again?

# %% [markdown]
# You will
# - watch what a broker that comes back does with its log, and say why,
# - say what it leads then, and change that,
# - compare four ways to lose a broker,
# - tell a copy that may lead from one that may not. Needs 06. 25 minutes.

# %% tags=["parameters"]
alone = 5  # records that a broker gets which is cut off from the others
# Said below, where it matters.
settings = {"auto.leader.rebalance.enable": False}

# %%
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

from kafkalab import Choice, Cluster, Ledger, Prediction, Watch, charts, clients, quick
from kafkalab.lessons import failover

cluster = Cluster.start("replicated", settings=settings, gateway=True)
cluster

# %% [markdown]
# ## A broker comes back
#
# `orders` has three partitions, and each broker is the first on the list of one of them. As in
# lesson 06 a `Watch` asks broker 2 who leads.

# %%
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
three = {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]}
topics = {
    "orders": {"assignments": three, "configs": {"min.insync.replicas": "2"}},
    "pair": {"assignments": {0: [1, 0], 1: [1, 0]}},  # two copies; for the end
}
admin.create_topics(topics, raise_errors=False)  # a second run of this cell finds them there
for name in topics:
    cluster.wait_for_topic(name)
watch = Watch(cluster, "orders", asked=2)
cluster.topic("orders")

# %% [markdown]
# The producer `steady` waits for all in-sync replicas (`acks="all"`, the default), and tries again
# for up to a minute. With `min.insync.replicas=2` a leader refuses its records while fewer than two
# are in sync (more in lesson 08). The watch will call `a_round` ten times a second. The turn of
# `loner` comes later.

# %%
from itertools import count

own = {"client_id": "steady", "request_timeout_ms": 1_000, "delivery_timeout_ms": 60_000}
steady = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer | own)
own = {"client_id": "loner", "acks": 1, "enable_idempotence": False}
loner = KafkaProducer(bootstrap_servers=cluster.addresses[0], **quick.producer | own)
ledger = Ledger()
numbers = count(cluster.topic("orders").records)  # none twice, also where you run this cell again


def a_round():
    for partition in three:
        number = next(numbers)
        ledger.sent(number, steady.send("orders", value=b"%d" % number, partition=partition))


# %% [markdown]
# Broker 0 is stopped in good order, records go on, and it is started again. How many of the three
# partitions does it lead, once it is in sync?

# %% tags=["prediction"]
my_led = Prediction("partitions", "How many of the three does it lead?")
my_led

# %%
failover.start_over(cluster, "orders", a_round)  # a few records, three equal copies
with watch.during("stop", a_round):
    cluster.stop(0)
    cluster.wait_for_isr("orders", 2)
    steady.flush(timeout=30)
away = cluster.log_ends("orders")  # of partition 0
with watch.during("restart", a_round):
    cluster.restart(0)
    cluster.wait_for_isr("orders", 3)
print("while broker 0 was away, the logs of partition 0 ended, by broker:", away)
print("back again, it asked for offset", failover.asked_first(cluster, 0, "orders-0"))

# %% tags=["proof", "A86", "C52", "R14"]
orders = cluster.topic("orders").partitions
assert 0 not in [one.leader for one in orders], orders
assert watch.until_moved("restart", 0) is None, "coming back moved a leader"
assert {one.partition: one.replicas for one in orders} == three, orders  # the lists are as before
assert all(sorted(one.isr) == [0, 1, 2] for one in orders), orders

# %% tags=["proof", "B110"]
failover.settle(cluster, "orders", steady)
assert 0 < away[0] < away[1] == away[2], away
assert failover.asked_first(cluster, 0, "orders-0") == away[0], away  # it kept what it had
assert cluster.copies("orders").equal, cluster.copies("orders")
assert cluster.copies("orders")[0].bytes > 0, cluster.copies("orders")

# %% tags=["proof", "B112"]
import re

admin.create_topics({"counter": {"assignments": {0: [1, 0, 2]}}}, raise_errors=False)
cluster.wait_for_topic("counter")
for change in (5, -2, 40, -1):
    steady.send("counter", value=b"change:%+d" % change).get(timeout=10)
failover.wait_for_equal_copies(cluster, "counter")
with KafkaConsumer(bootstrap_servers=cluster.address, **quick.consumer) as first:
    first.assign([TopicPartition("counter", 0)])
    first.seek_to_beginning()
    by_leader = b"".join(record.value for record in clients.records_until_end(first))
by_follower = cluster.segments("counter", 0, broker=0)[0].path.read_bytes()
state = [
    sum(int(change) for change in re.findall(rb"change:([+-]\d+)", found))
    for found in (by_leader, by_follower)
]
assert state[0] == state[1], state  # two replicas of one counter
assert state[0] % 42 == 0, state

# %% [markdown]
# While broker 0 was away, its log ended where it had left. Back again, it kept that, and asked the
# new leader for what comes next.
#
# The next cell looks what it leads. Then it orders a *preferred election*: the first broker of each
# list is its **preferred leader**. (By default Kafka looks every five minutes for one to order.
# Here that is off.)

# %%
led_again = [one.partition for one in cluster.topic("orders").partitions if one.leader == 0]
print(my_led.against(len(led_again)))
admin.elect_leaders(0, ["orders"])  # 0 stands for preferred
cluster.wait_for_leader("orders", partition=0, among=[0])
cluster.topic("orders")

# %% tags=["proof", "B108", "C53"]
leads = [one.leader for one in cluster.topic("orders").partitions]
assert leads == [0, 1, 2], leads

# %% [markdown]
# It was in sync, and a follower everywhere, until you gave the order.

# %% [markdown]
# ## Two brokers that believe they lead
#
# That return was harmless: broker 0 had nothing that the others lacked. Now you cut it off from the
# other brokers and from the controller, so that it does not hear when another is made leader.
# `take_sides` blocks the ways of `loner` to brokers 1 and 2, and that of `steady` to broker 0. When
# broker 1 leads, `loner` sends five records with `acks=1`.

# %%
failover.take_sides(cluster, "orders", alone=0, with_it="loner", with_others="steady")
with watch.during("cut", a_round):
    cluster.cut(0, clients=False)
    cluster.wait_for_isr("orders", 2)
    said = {n: failover.leader_by(cluster, "orders", asked=n) for n in (0, 1, 2)}
    promises = [loner.send("orders", value=b"alone", partition=0) for _ in range(alone)]
    offsets = [promise.get(timeout=5).offset for promise in promises]
    steady.flush(timeout=30)
print("who leads partition 0, by broker asked:", said)
print("acknowledged by broker 0 alone:", offsets)
cluster.copies("orders")

# %% tags=["proof"]
apart = cluster.copies("orders")
new_leader = cluster.topic("orders").partitions[0].leader
epoch, fork = max(apart[new_leader].epochs.items())  # the newest, and where it begins
assert said == {0: 0, 1: 1, 2: 1}, said  # before the five
assert failover.in_sync_by(cluster, "orders", asked=0) == [0, 1, 2], "as broker 0 believes"
assert failover.leader_by(cluster, "orders", asked=0) == 0, "and after them"
own = {"client_id": "loner"}  # a reader on its side
with KafkaConsumer(bootstrap_servers=cluster.addresses[0], **quick.consumer | own) as beside:
    mark = beside.end_offsets([TopicPartition("orders", 0)])
assert list(mark.values()) == [offsets[0]], mark  # nobody could read the five
assert len(offsets) == alone, offsets
assert fork == offsets[0], (fork, offsets)
assert apart[new_leader].log_end > offsets[-1], apart  # the same offsets, given twice
assert epoch not in apart[0].epochs, apart

# %% [markdown]
# Two leaders. Five acknowledgements, and at the same offsets the others have records of `steady`.
# (A minimum in sync counts for `acks="all"` only, and broker 0 still believes in three. The high
# watermarks of the table are those that each broker last wrote to its disk, and may be old.)
#
# What tells two records of one offset apart is the **leader epoch**. The controller counts it up
# with each change of leader, and a leader writes it into every batch. Beside each log lies a list:
# each epoch, and its first offset. It is the column `epoch: first offset` above; find where the
# lists part.
#
# Now the network is whole again. The two logs cannot both be right. How many of the five records of
# broker 0 are in the log, when it is back in sync?

# %% tags=["prediction"]
my_kept = Prediction("records", "How many of its five records are left?")
my_kept

# %%
if 0 in cluster.cut_off:  # only the first time that you run this cell
    logs = {f"broker {n}, apart": cluster.batches("orders", 0, broker=n) for n in (0, 1)}
    with watch.during("heal", a_round):
        cluster.heal(0)
        cluster.wait_for_isr("orders", 3)
steady.flush(timeout=30)
reader = KafkaConsumer(bootstrap_servers=cluster.address, **quick.consumer)
reader.assign([TopicPartition("orders", 0)])
reader.seek(TopicPartition("orders", 0), offsets[0])
values = [record.value for record in clients.records_until_end(reader)]
my_kept.against(values.count(b"alone"))

# %%
failover.wait_for_equal_copies(cluster, "orders")
logs["broker 0, back"] = cluster.batches("orders", 0, broker=0)
ax = failover.epochs(logs, start=offsets[0] - 3)
title = f"From offset {offsets[0]} on, broker 0 gave up its records for those of a newer epoch"
ax.set_title(title)
charts.show(ax, f"Offsets of three logs, shaded by leader epoch. {title}.")

# %% tags=["proof"]
line = failover.last_line(cluster, 0, "Truncating partition", "orders-0")
assert b"alone" not in values, values
assert len(values) >= alone, values
assert f"offset={fork}," in line, line
assert f"endOffset={fork})" in line, line
asked = cluster.gateway.frames("OffsetForLeaderEpoch", between=None)
assert len(asked) == 0, asked  # the answer to a Fetch said it

# %% [markdown]
# Every one was acknowledged, and at its offset you read something else. Broker 0 cut off the end of
# its own log: **truncation**. The leader has nothing of the epoch of the five.
#
# So that is the rule for every follower of a new leader: keep the log as far as both have the same
# epochs at the same offsets. A follower is a copy of its leader, even where that means throwing
# records away. Lesson 08 is about producers that cannot bear it.

# %% [markdown]
# ## Four ways to lose a broker
#
# Stopped and cut off it was already. Now it freezes, comes back, and is killed. Before each fault a
# preferred election lets it lead again. The connections of a process that is killed end at once;
# those of a frozen one stay open, and nothing comes.

# %% tags=["prediction"]
my_first = Choice(
    "On which of the two does the controller act sooner?",
    "the kill",
    "the freeze",
    "neither: both wait for the same",
)
my_first

# %%
failover.preferred_lead(cluster, "orders")
with watch.during("freeze", a_round):
    cluster.pause(0)
    cluster.wait_for_isr("orders", 2)
with watch.during("resume", a_round):
    cluster.resume(0)
    cluster.wait_for_isr("orders", 3)
failover.preferred_lead(cluster, "orders")
with watch.during("kill", a_round):
    cluster.kill(0)
    cluster.wait_for_isr("orders", 2)
ledger.verdict(cluster)

# %%
from kafkalab import spark_session

spark = spark_session()
seconds = {fault: watch.until_moved(fault, 0) for fault in ("stop", "cut", "freeze", "kill")}
moved = [way for way in ("restart", "heal", "resume") if watch.until_moved(way, 0) is not None]
ax = failover.leader_and_in_sync(watch.frame(spark).where("partition = 0"), session=3)
silent = sorted(seconds[fault] for fault in ("cut", "freeze", "kill"))
title = f"Another leader {seconds['stop']:.1f} s after a stop, {silent[0]:.1f} to "
title += f"{silent[-1]:.1f} s after the others\n{len(moved)} of 3 returns moved the leader"
ax.get_figure().suptitle(title)
print(my_first.against("neither: both wait for the same", failover.not_sooner(seconds)))
charts.show(ax, f"A strip for each of seven events: who leads, how many are in sync. {title}.")

# %% tags=["proof", "C32"]
faults = {"stop", "cut", "freeze", "kill"}
drawn = [label.get_text() for label in ax.get_yticklabels()]
assert drawn == ["stop", "restart", "cut", "heal", "freeze", "resume", "kill"], drawn
for name in drawn:
    looks = [look for look in watch.looks if look.during == name and look.partition == 0]
    story = [(look.leader, look.in_sync) for look in looks]
    way = [(0, 3), (1, 2)] if name in faults else [(1, 2), (1, 3)]
    assert [story[0], story[-1]] == way, (name, story)  # so each has ended as it waited for
    assert {leader for leader, _ in story} <= {0, 1, None}, (name, story)
shown = [failover.drawn(panel) for panel in ax.get_figure().axes]  # the shades of each strip
assert [len(set(strip)) for strip in shown[0]] == [2, 1, 2, 1, 2, 1, 2], shown[0]  # leaders
assert [len(set(strip)) for strip in shown[1]] == [2] * 7, shown[1]  # in sync
assert shown[1][0][0] == shown[1][1][-1] == shown[1][3][-1] == shown[1][5][-1], shown[1]  # three

# %% tags=["proof", "A87", "B99", "B117", "R11", "R13", "R36"]
assert abs(seconds["freeze"] - seconds["kill"]) < 1.5, seconds  # half a session
assert moved == [], moved
assert 2 < seconds["kill"] < 9, seconds  # a session lasts three seconds
assert all(seconds["stop"] < seconds[fault] for fault in ("kill", "freeze", "cut")), seconds
verdict = ledger.verdict()
assert verdict.acknowledged == verdict.sent, verdict
assert verdict.lost == [], verdict
assert verdict.duplicated == [], verdict  # exactly once in the log
fenced = failover.last_line(cluster, "controller", "Fencing broker 0")
assert "its session has timed out" in fenced, fenced
assert steady.config["acks"] == -1, steady.config["acks"]  # all, if you set nothing
assert cluster.quorum().leader == 100, cluster.quorum()  # a controller of Kafka's own
batches = cluster.batches("orders", 0)
assert max(batch.records for batch in batches) > 1, batches  # they gathered without a leader
assert max(batch.producer_id for batch in batches) > -1, batches  # numbered

# %% tags=["proof", "R13"]
waits = ledger.frame(spark).where("partition = 0")
waits = waits.selectExpr("unix_micros(sent_at) / 1e6 AS sent", "latency_ms / 1000 AS waited")
waits, longest = waits.toPandas(), {}  # seconds until a record was acknowledged
for fault in ("stop", "kill"):
    looks = [look for look in watch.looks if look.during == fault]
    meanwhile = waits.sent.between(looks[0].began, looks[-1].began + looks[-1].seconds)
    longest[fault] = waits.waited[meanwhile].max()
assert longest["kill"] > 2, longest  # a session lasts three seconds, from the last heartbeat on
assert longest["stop"] < longest["kill"] / 2, longest

# %% tags=["proof", "A89"]
from kafka.admin import ConfigResource

made = cluster.unused("made-without-0")
other = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
other.create_topics({made: {"num_partitions": 1, "replication_factor": 2}})
cluster.wait_for_topic(made)
other.alter_configs([ConfigResource("TOPIC", made, configs={"retention.ms": "60000"})])
assert cluster.topic(made).partitions[0].leader in (1, 2), cluster.topic(made)

# %% [markdown]
# A stop tells the controller first, and the leaders move before the process ends. The others are
# all the same to the controller: silence. It looks at no connection, but waits for *heartbeats*,
# with which each broker says that it lives. Three seconds after the last one the broker's session
# ends (so it is set here; by default after nine). The last one may have come just before the fault
# or some time earlier, and the controller looks for ended sessions only now and then: so the three
# differ a little, by chance. Then the broker is **fenced**: it leads nothing, and counts as in sync
# with nothing, so on the right three became two at the same time.
#
# The verdict is about the records of `steady`, through four faults and three ways back: each waited
# for all in-sync replicas, and none is lost.

# %% [markdown]
# ## When it goes wrong
#
# "With two copies one broker may fail." `pair` has two partitions, both on brokers 1 and 0, and no
# record. Broker 0 is dead since the kill. The first record goes to partition 0, acknowledged by
# broker 1 alone (the minimum of `pair` is one, the default); partition 1 stays empty. Then broker 1
# is stopped, and broker 0 starts.

# %% tags=["prediction"]
my_heir = Choice(
    "Which partitions of `pair` does broker 0 lead now?",
    "both",
    "only the empty one",
    "none",
)
my_heir

# %%
if cluster.state(0) != "running":  # only the first time that you run this cell
    steady.send("pair", value=b"late", partition=0).get(timeout=10)
    cluster.stop(1)
    cluster.restart(0)
led = [one.partition for one in cluster.topic("pair").partitions if one.leader == 0]
why = dict.fromkeys(my_heir.answers[:2], f"it is alive, and leads {len(led)} of them.")
print(my_heir.against("none", why))
cluster.topic("pair")

# %% tags=["proof", "A90", "A15", "B109"]
copies = [cluster.copies("pair", partition) for partition in (0, 1)]
pair = cluster.topic("pair").partitions
assert [one.leader for one in pair] == [None, None], pair
assert [one.elr for one in pair] == [[1], [1]], pair
assert copies[0][0].log_end < copies[0][1].log_end, copies
assert copies[1].equal, copies  # what the controller cannot know

# %% [markdown]
# A copy lives, its disk is well, in partition 1 there is nothing that it could lack, and it leads
# neither. Broker 0 was not in sync when broker 1 left, and the controller does not look into logs.
# An *unclean* election would take broker 0, and lose `late`: lesson 08.
#
# The table says who may lead. `eligible` are the **eligible leader replicas** (in clusters new with
# Kafka 4.1 or later): not in sync, and yet with all that was promised to be safe. Here it is broker
# 1, and both partitions wait for it.
#
# So the rule of thumb is half true. A record that both copies have outlives the loss of one; that
# somebody may lead then is not promised. And how many copies has a record that was acknowledged
# with `acks="all"`? As many as were in sync at that moment. Only `min.insync.replicas` are certain.

# %% tags=["proof"]
if cluster.state(1) != "running":
    cluster.restart(1)
leader = cluster.wait_for_leader("pair", partition=0)
reader.assign([TopicPartition("pair", 0)])
reader.seek_to_beginning()
assert [record.value for record in clients.records_until_end(reader)] == [b"late"], leader
assert leader == 1, leader
pair = cluster.topic("pair").partitions
assert [one.leader for one in pair] == [1, 1], pair
assert pair[0].records == copies[0][1].log_end, pair

# %% [markdown]
# ## Your turn
#
# 1. Two logs, each as epoch and first offset. The follower's ends at 50. Where does it cut?

# %% tags=["exercise"]
from kafkalab.notebook import exercise

of_follower = {0: 0, 3: 20, 4: 41}
of_leader = {0: 0, 3: 20, 5: 34}
# BEGIN SOLUTION
# STUB: keeps_up_to = ...  # the offset from which the follower takes the leader's records
keeps_up_to = 34
# END SOLUTION
exercise.check("cut", keeps_up_to, failover.not_the_cut)

# %% [markdown]
# 2. A topic has five copies and `min.insync.replicas=2`; all records go with `acks="all"`. How many
#    brokers may burn down at once, disks and all, if it is to be certain that no acknowledged
#    record is lost?

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: may_burn = ...
may_burn = 1
# END SOLUTION
exercise.check("how many", may_burn, failover.not_how_many)

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

verdict = ledger.verdict()
Markdown(f"""
- A broker that comes back follows. It keeps its log as far as it has the epochs of the leader:
  broker 0 cut its own at {offsets[0]}, and {alone} acknowledged records were gone.
- It led {len(led_again)} partitions until a preferred election.
- Another leader was named {seconds["stop"]:.1f} s after a stop. After a cut, a freeze and a kill
  the session had to end first: {silent[0]:.1f} to {silent[-1]:.1f} s.
- Of {len(verdict.sent):,} records with `acks="all"` {len(verdict.lost)} were lost.
- A copy that had not been in sync led {len(led)} of two partitions.
""")

# %%
cluster.close()
spark.stop()
