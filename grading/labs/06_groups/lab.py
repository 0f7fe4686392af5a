# %% [markdown]
# # Lab 06 Groups
#
# A warehouse packs orders, and its packers are programs of their own. You write these programs.
# Then some of them are killed, one more joins in the middle of the work, and nobody tells you when.
# Is every order packed, and none twice?

# %% [markdown]
# **You will**
#
# - foresee who reads what, and tell groups that share from groups that each get all;
# - write a member that loses nothing when it is killed, and repeats little;
# - count how far a group is behind;
# - hand partitions over with a listener, and keep a seat with a static member.
#
# **Needs** lessons 11, 12 and 14. **Time** about 120 minutes. **Points** 100.

# %% tags=["parameters"]
student = ""  # your name or number in the course; the grader puts it in
seconds = 0.04  # that it takes to pack an order, where packing takes time

# %%
from grading.lab import Lab

lab = Lab.open("lab06_groups", student)
lab

# %% [markdown]
# Above stand *your* names and numbers. A day (`lab.p.day_1` and so on) is a dictionary with a
# `topic` of orders, a topic for `results`, and mostly a `group`.
#
# **What happens to your members in tasks 3 to 6 happens in grading too.** It begins with a cell
# whose first line is `# Task 3` to `# Task 6`, waits for what your members do, and then kills one,
# or joins. Below the cell a list says what was done. To see that it is your members who pack,
# grading lets the notebook stand still for moments in tasks 3, 5 and 6; the members go on. To
# try a task again, run the cell in front of it first: it empties the topics. Write predictions with
# `lab.p.…`, and mend them when you have measured.

# %%
import shop
from kafka import KafkaAdminClient, KafkaConsumer, TopicPartition

from kafkalab import Prediction, members, quick, spark_session, wait_until

spark = spark_session("lab06")
admin = KafkaAdminClient(bootstrap_servers=lab.cluster.address, **quick.admin)
lab.cluster

# %% [markdown]
# ## Before task 1: the tools
#
# These lines stand before those of every member. `pack(record)` does the work: it takes `pace`
# seconds, then sends the order to `results`, with the member, its group and the place of the order
# in the headers. When it returns, the result is stored. A member packs one order at a time:
# threads that call `pack` wait for each other.

# %%
packing = """
import threading
from kafka import KafkaProducer
sender = KafkaProducer(bootstrap_servers=address, client_id=name)
one_at_a_time = threading.Lock()

def pack(record):
    told = {"member": name, "group": group, "place": f"{record.partition} {record.offset}"}
    headers = [(what, text.encode()) for what, text in told.items()]
    with one_at_a_time:
        work(pace)
        sender.send(results, record.value, f"{group} {name}".encode(), headers).get(timeout=20)
"""

# %% [markdown]
# `hire` starts a program as a member. Its lines have these names: `address`, `topic`, `results`,
# `group`, `settings` (for their consumer), `pace`, `every` (of task 5), and what each member has:
# `name`, `note`, `running`, `work`, `told`, `KafkaConsumer`, `TopicPartition`. `more` goes into
# `settings`.
#
# A team is a dictionary from names to members. `wait_for_team` waits until all of it are in the
# group and each partition has a reader, and returns what `lab.cluster.group` says. `close_shop`
# waits until the group of a day has packed every order (or nobody works any more, or no result has
# come for ten seconds), then stops the team, and tells of members that have ended with an error.
# `results_of` is a table of Spark with the columns `group`, `member`, `order`,
# `partition` (where there are six) and `at` (the broker's time, in seconds).


# %%
settings = quick.consumer | {
    "session_timeout_ms": 3_000,
    "heartbeat_interval_ms": 500,
    "max_partition_fetch_bytes": 500,  # so that every partition is read from early on
}


def hire(program, name, day, pace=0, **more):
    """Start a member of this name; one that has the name already is stopped."""
    given = {"address": lab.cluster.address, "pace": pace, "every": lab.p.every}
    given["settings"] = settings | more
    return members.start(packing + program, name, **given, **day)


# %%
def open_shop(day, number=0, partitions=6):
    """Empty topics for a day, with so many orders."""
    for topic in (day["topic"], day["results"]):
        shop.new_topic(lab.cluster, topic, partitions)
    shop.send_orders(lab.cluster, day["topic"], number)


def wait_for_team(day, team):
    """The group, when each partition has a reader."""
    return shop.wait_for_team(lab.cluster, day, team)


def close_shop(day, team):
    shop.close_shop(lab.cluster, day, team)


def results_of(day):
    return shop.results_of(spark, lab.cluster, day)


# %% [markdown]
# ## Task 1: who reads what
#
# Write `packer`, the text of a program with a `KafkaConsumer` (or another consumer of the classic
# protocol: of such groups Kafka keeps what the checks read). It joins the group `group` as a client
# with the id `name` and subscribes to `topic`. It begins at the first record where nothing is
# committed. It packs each record with `pack`, and commits only what is packed. When `running()` is
# no longer true it closes its consumer. While partitions are dealt anew, kafka-python refuses a
# commit with a `RebalanceInProgressError`: so commit only after records, or poll again when you get
# it.
#
# Hire the three of `lab.p.three` for `lab.p.day_1`, a topic of 13 partitions. Wait for the team,
# and look who has which partition, as the broker tells it: keep `owners_1`, from partition number
# to name. Then send `lab.p.orders` orders with `shop.send_orders(lab.cluster, topic, number)`, and
# close the shop.
#
# Predict `predicted_1`, from name to number of partitions. **14 points**
#
# *Example.* `{"Zoe": 6, "Yan": 7}` for two members.

# %%
open_shop(lab.p.day_1, partitions=13)

# %% tags=["task-1"]
# Task 1
# BEGIN SOLUTION
# STUB: write packer, predict, hire the three, ask who has what
packer = """
consumer = KafkaConsumer(
    bootstrap_servers=address,
    client_id=name,
    group_id=group,
    auto_offset_reset="earliest",
    enable_auto_commit=False,
    **settings,
)
consumer.subscribe([topic])
while running():
    polled = consumer.poll(timeout_ms=100)
    for records in polled.values():
        for record in records:
            pack(record)
    if polled:
        consumer.commit()
consumer.close()
"""
first, *others = sorted(lab.p.three)
predicted_1 = {first: 5} | dict.fromkeys(others, 4)
day = lab.p.day_1
team = {name: hire(packer, name, day) for name in lab.p.three}
group = wait_for_team(day, team)
owners_1 = {n: m.client for m in group.members for n in m.assignment[day["topic"]]}
shop.send_orders(lab.cluster, day["topic"], lab.p.orders)
close_shop(day, team)
# END SOLUTION
predicted_1, owners_1

# %% tags=["check-1", "B144"]
lab.check(1)

# %% [markdown]
# ## Task 2: three groups, and one by accident
#
# Each department of `lab.p.departments` wants to see every order of `lab.p.day_2`: hire one member
# for each, with a group of that name (`lab.p.day_2 | {"group": …}`). Two programs of `lab.p.pair`
# want the same, but somebody copied a configuration: both are in the group `lab.p.shared`. Hire
# them too. Wait for all four teams, send `lab.p.parcels` orders, and close the shop for
# each group.
#
# Let Spark count in `results_of(lab.p.day_2)`: `by_group`, from each of the four groups to the
# number of *different* orders in its results, and `by_member`, from each of the pair to the number
# of its orders. Predict `predicted_2`: how many will `lab.p.pair[0]` pack? **14 points**
#
# *Example.* `{"billing-ab12cd": 7, …}`

# %%
open_shop(lab.p.day_2)

# %% tags=["task-2"]
# Task 2
# BEGIN SOLUTION
# STUB: predict, hire five members in four groups, send, count with Spark
part = range(3) if lab.p.pair[0] == min(lab.p.pair) else range(3, 6)
predicted_2 = sum(n % 6 in part for n in range(lab.p.parcels))
hired = {lab.p.shared: lab.p.pair} | {name: [name] for name in lab.p.departments}
teams = {
    group: {name: hire(packer, name, lab.p.day_2 | {"group": group}) for name in names}
    for group, names in hired.items()
}
for group, team in teams.items():
    wait_for_team(lab.p.day_2 | {"group": group}, team)
shop.send_orders(lab.cluster, lab.p.day_2["topic"], lab.p.parcels)
for group, team in teams.items():
    close_shop(lab.p.day_2 | {"group": group}, team)
counted = results_of(lab.p.day_2).select("group", "member", "order").distinct()
by_group = dict(counted.select("group", "order").distinct().groupBy("group").count().collect())
shared = counted.filter(counted["group"] == lab.p.shared)
by_member = dict(shared.groupBy("member").count().collect())
# END SOLUTION
Prediction("orders", said=predicted_2).against(by_member[lab.p.pair[0]])

# %% tags=["check-2", "B147", "B164"]
lab.check(2)

# %% [markdown]
# Nothing failed and no line was wrong, yet each of the pair has seen a part. A group is a name, and
# whoever says it shares.

# %% [markdown]
# ## Task 3: two of three die
#
# `lab.p.crew` packs `lab.p.rush` orders of `lab.p.day_3`, with `pace=seconds`. `lab.p.killed` are
# killed, the second when the group has missed the first.
#
# Every order must be packed, and the group must have committed all of them. A kill may make at most
# `lab.p.repeated` orders come twice. Hire three, with `packer` or with a better program, and with
# the settings that you need. Wait for the team, send, and close the shop. **18 points**
#
# *Example.* `hire(better, "Zoe", lab.p.day_3, pace=seconds, **mine)`

# %%
open_shop(lab.p.day_3)

# %% tags=["task-3"]
# Task 3
# BEGIN SOLUTION
# STUB: hire the crew so that a kill repeats little
survivor = packer
small = {"max_poll_records": lab.p.repeated}
team = {name: hire(survivor, name, lab.p.day_3, pace=seconds, **small) for name in lab.p.crew}
wait_for_team(lab.p.day_3, team)
shop.send_orders(lab.cluster, lab.p.day_3["topic"], lab.p.rush)
close_shop(lab.p.day_3, team)
# END SOLUTION

# %% tags=["check-3", "B149"]
lab.check(3)

# %% [markdown]
# The orders of a dead member wait for somebody else.

# %% tags=["prediction"]
my_wait = Prediction("seconds", "For how long did a partition stand, at most?")
my_wait

# %% tags=["demo"]
import matplotlib.pyplot as plt

from kafkalab import charts

table = results_of(lab.p.day_3).toPandas().sort_values("at")
table["seconds"] = table["at"] - table["at"].min()
wait = round(float(table.groupby("partition")["seconds"].diff().max()), 1)
title = f"A partition stood for {wait} s; a session lasts {settings['session_timeout_ms'] / 1000} s"

# %% tags=["demo"]
_, ax = plt.subplots(figsize=(8, 3))
for name, marker in zip(lab.p.crew, "|ox", strict=True):
    mine = table[table["member"] == name]
    ax.scatter(mine["seconds"], mine["partition"], marker=marker, s=24, label=name)
ax.set(xlabel="seconds since the first result", ylabel="partition of the order", title=title)
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
charts.show(ax, title)
my_wait.against(wait)

# %% [markdown]
# ## Task 4: how far behind?
#
# The **lag** of a partition is the number of records that a group has before it: from its commit,
# or, where it has committed nothing, from the first record that the partition still holds, to the
# end. Write `lag_of(group, topic)`, which asks the broker and returns the lags of all partitions of
# the topic, from partition number to lag.
#
# Then hire `lab.p.counter` for `lab.p.day_4` with `pace=seconds`. In the middle of it more orders
# come, and then it is killed. Wait for that with `wait_for_end()`, and keep `lag_4`, what
# `lag_of` then says of the day's group and topic. **16 points**
#
# *Example.* `{0: 0, 1: 12, …}`. The next cell also makes the group `lab.p.clerks`, of which you can
# foresee the lags in `lab.p.archive`. Some records of that topic are deleted already. When your
# cell of task 4 is over, its offsets are set anew.

# %%
open_shop(lab.p.day_4, lab.p.counted)
shop.new_topic(lab.cluster, lab.p.archive)
shop.send_orders(lab.cluster, lab.p.archive, 60)
admin.delete_records({TopicPartition(lab.p.archive, n): 4 for n in (0, 1)})
known = {TopicPartition(lab.p.archive, n): offset for n, offset in ((1, 7), (2, 3), (3, 10))}
elsewhere = {TopicPartition(lab.p.day_4["topic"], n): 2 for n in (0, 5)}
shop.commit(admin, lab.p.clerks, known | elsewhere)


# %% tags=["task-4"]
# Task 4
# BEGIN SOLUTION
# STUB: write lag_of, hire the counter, and measure when it is dead
def lag_of(group, topic):
    """From partition to lag."""
    with KafkaConsumer(bootstrap_servers=lab.cluster.address, **quick.consumer) as asker:
        places = [TopicPartition(topic, n) for n in asker.partitions_for_topic(topic)]
        starts, ends = asker.beginning_offsets(places), asker.end_offsets(places)
    offsets = lab.cluster.group(group).offsets
    return {
        place.partition: ends[place] - offsets.get((topic, place.partition), starts[place])
        for place in places
    }


counter = hire(packer, lab.p.counter, lab.p.day_4, pace=seconds, max_poll_records=5)
counter.wait_for_end()
lag_4 = lag_of(lab.p.day_4["group"], lab.p.day_4["topic"])
# END SOLUTION
lag_4

# %% tags=["check-4"]
lab.check(4)

# %% [markdown]
# The broker does not know that a member is behind: it knows a commit and an end. The lag grew by
# what came, and nobody was told.

# %% [markdown]
# ## Task 5: hand over in good order
#
# Commits cost. Write `careful`, a program that packs as before, but commits only after each `every`
# orders (`lab.p.every`), **and** in a listener, in time, whenever partitions are taken from it.
# What the listener commits is for these partitions alone, where anything of them was packed: the
# offset after the last packed order. The metadata of this commit is the member's `name`, so that
# the next owner can see who handed over; the other commits need none.
#
# While it works, `lab.p.newcomer` joins the group, gets a half of the partitions, and leaves again.
# Nothing may be left out or packed twice.

# %% [markdown]
# The listener also notes each time what it is told. Hire `lab.p.careful` for `lab.p.day_5` with
# `pace=seconds` and `max_poll_records=10`, and close the shop. Then (closing tells the listener
# once more) keep `told_5`: a list of pairs, of `"assigned"` or `"revoked"` and the list of
# partition numbers, in order, as the listener was told. **20 points**
#
# *Example.* `[("assigned", [0, 1, 2, 3, 4, 5]), …]`. A listener's call that waits for an answer
# raises in kafka-python; lesson 14 has shown another way.

# %%
open_shop(lab.p.day_5, lab.p.handed)

# %% tags=["task-5"]
# Task 5
# BEGIN SOLUTION
# STUB: write careful with its listener, hire it, and keep told_5
careful = """
from kafka import AsyncConsumerRebalanceListener, OffsetAndMetadata

consumer = KafkaConsumer(
    bootstrap_servers=address,
    client_id=name,
    group_id=group,
    auto_offset_reset="earliest",
    enable_auto_commit=False,
    **settings,
)
done = {}


class HandOver(AsyncConsumerRebalanceListener):
    async def on_partitions_assigned(self, assigned):
        note("assigned", partitions=[place.partition for place in assigned])

    async def on_partitions_revoked(self, revoked):
        note("revoked", partitions=[place.partition for place in revoked])
        mine = {place: done.pop(place) for place in revoked if place in done}
        await consumer.commit_async(offsets(mine, name))


def offsets(some, metadata):
    return {place: OffsetAndMetadata(after, metadata, -1) for place, after in some.items()}


consumer.subscribe([topic], listener=HandOver())
count = 0
while running():
    for place, records in consumer.poll(timeout_ms=100).items():
        for record in records:
            pack(record)
            done[place] = record.offset + 1
            count += 1
            if count % every == 0:
                consumer.commit(offsets(done, ""))
consumer.close()
"""
one = hire(careful, lab.p.careful, lab.p.day_5, pace=seconds, max_poll_records=10)
close_shop(lab.p.day_5, {lab.p.careful: one})
told_5 = [
    (event.what, event.facts["partitions"])
    for event in one.events
    if event.what in ("assigned", "revoked")
]
# END SOLUTION
told_5

# %% tags=["check-5", "B165", "B168", "B169"]
lab.check(5)

# %% [markdown]
# A hand-over that is asked for is free of repetition. That takes somebody who is alive to be asked:
# in task 3 no listener was called, and a commit for each few orders was all that helped.

# %% [markdown]
# ## Task 6: a seat that is kept
#
# Two members pack `lab.p.nightly` orders of `lab.p.day_6`, with `pace=seconds`. `lab.p.falls` is
# killed. You are the supervisor: start it again, so that nobody else notices. The partitions must
# not be dealt anew, and at most `lab.p.repeated` orders may be packed twice.
#
# Hire the two of `lab.p.seats`, each as a static member with its name as `group_instance_id`, and a
# session that is long enough for a restart. Wait for the team, and send the orders. When one has
# ended (`state` is `"ended"`), hire it again. Then close the shop. **18 points**
#
# *Example.* `wait_until(lambda: one.state == "ended", timeout=60, what="a death")`. (It waits while
# the answer is `False` or `None`. An empty list is an answer.)

# %%
open_shop(lab.p.day_6)


# %% tags=["task-6"]
# Task 6
# BEGIN SOLUTION
# STUB: hire two static members, and whoever falls once more
def seat(name):
    """A static member."""
    own = {"group_instance_id": name, "session_timeout_ms": 20_000}
    own["max_poll_records"] = lab.p.repeated
    return hire(packer, name, lab.p.day_6, pace=seconds, **own)


team = {name: seat(name) for name in lab.p.seats}
wait_for_team(lab.p.day_6, team)
shop.send_orders(lab.cluster, lab.p.day_6["topic"], lab.p.nightly)
wait_until(lambda: team[lab.p.falls].state == "ended", timeout=60, what="somebody to fall")
team[lab.p.falls] = seat(lab.p.falls)
close_shop(lab.p.day_6, team)
# END SOLUTION

# %% tags=["check-6"]
lab.check(6)

# %% [markdown]
# The price is the session: had nobody started it again, its partitions would have stood until that
# was over.

# %% [markdown]
# ## What you saw
#
# - Who says the name of a group shares its partitions; another name gets everything.
# - A kill repeats what was packed and not committed, and loses what was committed and not packed.
# - A lag counts from the commit, or from the first record that is still there.
# - A listener can commit before partitions go. A static member that comes back in time disturbs
#   nobody.

# %%
lab.score()

# %%
spark.stop()
lab.close()
