# %% [markdown]
# # 12 Rebalancing
#
# A warehouse takes on a packer, and some customers wait longer than before. Nothing has failed: the
# group was dealing out its partitions anew. What stands still when a member comes, goes or freezes?

# %% [markdown]
# You will
# - say which partitions stand still when a member joins, in each of three kinds of groups,
# - say who notices that a member is gone, and when,
# - restart a member without disturbing the others,
# - keep a member in its group that works for long.
#
# Needs 03 and 11. 25 minutes.

# %% tags=["parameters"]
long_order = 6.0  # seconds that it lasts once Dan has come; more than a session of 4

# %%
from kafka import KafkaProducer

from kafkalab import Choice, Cluster, Prediction, charts, members, panel, quick
from kafkalab.lessons import rebalancing
from kafkalab.lessons.reading import new_group
from kafkalab.lessons.topics import new_topic
from kafkalab.notebook import exercise

cluster = Cluster.start("single")
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
orders = new_topic(cluster, "orders", partitions=6)
crowd = rebalancing.customers(cluster, orders, partitions=6)

# %% [markdown]
# ## A join
#
# Most packers of this page use confluent-kafka (librdkafka): it knows the three kinds of groups
# below, kafka-python two of them. They commit by themselves. `told` notes what the group gives and
# takes. The value of an order says how many seconds of `work` it costs.

# %%
packer = """
from confluent_kafka import Consumer
with Consumer({"auto.commit.interval.ms": 500, **settings}) as consumer:
    consumer.subscribe([topic], told.on_assign, told.on_revoke, told.on_lost)
    while running():
        record = consumer.poll(0.1)  # one at most
        if record is not None and record.error():
            note("error", says=record.error().str())
        elif record is not None:
            work(float(record.value()))
            note("record", partition=record.partition(), offset=record.offset())
"""

# %% [markdown]
# Three groups read all orders. While we measure, customers (the `crowd`) send up to twenty a second
# to each partition, and these cost no time. So where a packer with free hands notes nothing for
# long, a partition stands still. (Short gaps in all groups at once are no group's doing.)
#
# A **session** is how long a member may go without a heartbeat before it is put out: 45 seconds by
# default, 4 here, with a heartbeat each second. The last group below gets both from the broker.

# %%
session = 4_000  # milliseconds; the brokers here are set to the same for the last group
classic = {"session.timeout.ms": session, "heartbeat.interval.ms": 1_000}
kinds = {
    "eager": {"partition.assignment.strategy": "range", **classic},
    "cooperative": {"partition.assignment.strategy": "cooperative-sticky", **classic},
    "KIP-848": {"group.protocol": "consumer"},
}
common = {"address": cluster.address, "topic": orders, "limit": 7_200}  # seconds


def start(name, group, more=()):
    own = {"bootstrap.servers": cluster.address, "client.id": name, **kinds[group], **dict(more)}
    return members.start(packer, f"{name} ({group})", settings=own, **common)


# %% [markdown]
# Ada, Bob and Cleo have two partitions each. One of them gets an order of 60 seconds. The others
# are free, and have four partitions. Then Dan is hired. Six seconds after these two have heard of
# him, `let_go` ends the long order in all groups.

# %% tags=["prediction"]
for group in kinds:
    kinds[group]["group.id"] = new_group(cluster, group)
trio = ("Ada", "Bob", "Cleo")
teams = {group: {name: start(name, group) for name in trio} for group in kinds}
rebalancing.settled(teams, members=3, partitions=6)
my_standing = Prediction(
    "partitions", "Group `eager` (`range`): how many of the four stand for two seconds and more?"
)
my_standing

# %%
rebalancing.fill_up(teams, start, members=3, partitions=6, without=["Dan"])  # when run again
with rebalancing.change(teams, "Dan comes", members=4, crowd=crowd) as comes:
    producer.send(orders, value=b"60", partition=3).get(timeout=10)
    rebalancing.wait_for_work(teams, comes.began)
    for group, team in teams.items():
        team["Dan"] = start("Dan", group)
    rebalancing.wait_for_members(cluster, [kinds[group]["group.id"] for group in teams], members=4)
    rebalancing.let_go(teams, "eager", long_order, since=comes.began)
stand = comes.standing_of_others("eager", seconds=2)
print(my_standing.against(len(stand)))
rebalancing.show_standing(comes, "eager", stand)

# %% [markdown]
# When the others hear of Dan (in the answer to a heartbeat), they give everything back, and nothing
# is dealt until all have joined anew. Who is at work gives nothing back before the next `poll`. So
# all wait for that one, 5 minutes at most by default (`max.poll.interval.ms`): an **eager**
# rebalance. It is what `range`, round robin and `sticky` do, in Java's client and in kafka-python
# too.

# %% tags=["proof", "A26", "B165"]
for group, having in comes.before.items():
    assert sorted(having) == list(range(6)), comes.before
    assert set(having.values()) == {"Ada", "Bob", "Cleo"}, comes.before
    assert set(comes.after[group].values()) == {"Ada", "Bob", "Cleo", "Dan"}, comes.after
    assert len(comes.busy[group]) == 1, comes.busy
    assert len(comes.of_busy(group)) == 2, comes.busy
for name in trio:
    given_back = rebalancing.told_since(teams["eager"][name], comes.began, "revoked")
    assert given_back == 1, (name, given_back)
for group in teams:
    flow = len(comes.records[group]) / 6 / (comes.ended - comes.began) * 1e9
    assert 2 < flow < 22, (group, flow)  # orders of a partition in a second
assert len(stand) == 4, comes.stood("eager")
assert comes.longest("eager", stand) >= long_order, comes.stood("eager")

# %% [markdown]
# ## Does everything have to stand?
#
# Both other groups went through the same, each with two free packers. (The work itself empties the
# rows of the busy one, who may be another: look at the four others.)

# %%
others = ["cooperative", "KIP-848"]
for group in others:
    print(comes.story(group))
longest = comes.longest("eager", stand)
kept = max(comes.longest(group, comes.kept(group)) for group in others)
title = f"What a free packer keeps has gaps of {kept:.1f} s at most, not of {longest:.1f} s"
ax = rebalancing.records_by_partition(comes, others)
ax.set_title(title)
charts.show(ax, f"{title}. A stroke for each record.")

# %% [markdown]
# In a **cooperative** rebalance (KIP-429; [how a group gets there](../lessons/reference/kafka.md))
# everybody keeps what is not to move, and reads on. It takes two rounds: one in which a packer lets
# go, and one in which Dan gets it. All take part in both, so Dan waits for the busy one, whoever
# gives. (Here what moves has no reader between the rounds. With Java's client the giver reads on
# until the first is over.)
#
# The third group is of the protocol of **KIP-848**, ready for use since Kafka 4.0, for clients that
# ask for it: `group.protocol=consumer`. (The two others are *classic* groups.) Here the broker
# deals. In the answer to a heartbeat it tells each member what to let go and what to take. Nobody
# joins anew. Dan waits only for the one who gives. (If that is the busy one, he waits as long as in
# the others.)

# %% tags=["proof", "B182"]
moves = {group: comes.moved(group) for group in others}
assert min(comes.stood(group)[3] for group in teams) * 1000 > session, session
for group, team in teams.items():  # heartbeats went on beside the work
    for member in team.values():
        assert rebalancing.told_since(member, 0, "lost") == 0, (group, member)
for group in others:
    assert len(moves[group]) == 1, comes.after
    assert {comes.after[group][place] for place in moves[group]} == {"Dan"}, comes.after
    standing = comes.standing_of_others(group, seconds=2)
    assert set(standing) <= set(moves[group]), (standing, moves)
broker_told = [
    sum(e.at > comes.began and "partitions" in e.facts for e in teams["KIP-848"][name].events)
    for name in trio
]
assert broker_told.count(0) == 2, broker_told  # only who gave something up was told anything
assert cluster.group(kinds["KIP-848"]["group.id"]).protocol == "uniform", kinds
assert cluster.group(kinds["eager"]["group.id"]).protocol == "range", kinds
assert kept < longest / 2, (kept, longest)
(place,) = moves["cooperative"]
if place not in comes.of_busy("cooperative"):  # else the work itself is in the way
    giver, dan = (
        teams["cooperative"][team[place]]
        for team in (comes.before["cooperative"], comes.after["cooperative"])
    )
    let_at = min(e.at for e in giver.events if e.what == "revoked" and e.at > comes.began)
    got_at = min(e.at for e in dan.events if e.what == "assigned" and e.facts["partitions"])
    assert (got_at - let_at) / 1e9 > long_order / 2, (let_at, got_at)  # let go in the first round
(place,) = moves["KIP-848"]
if place not in comes.of_busy("KIP-848"):
    assert comes.stood("KIP-848")[place] < longest / 2, comes.stood("KIP-848")

# %% [markdown]
# ## Who notices?
#
# Now nobody is busy. Dan says good-bye: the end of `with` closes his consumer. Then Cleo's program
# is killed: the system closes her connections at once. Then Bob's program freezes: his connections
# stay open.

# %% tags=["prediction"]
my_end = Choice(
    "When does somebody else read Cleo's partitions, in any of the groups?",
    "at once: her connections are closed",
    "at the next heartbeat of the others",
    "when her session is over",
)
my_end

# %%
rebalancing.fill_up(teams, start, members=4, partitions=6)  # when this cell is run again
with rebalancing.change(teams, "Dan leaves", members=3, crowd=crowd) as leaves:
    for team in teams.values():
        team["Dan"].stop()
with rebalancing.change(teams, "Cleo is killed", members=2, crowd=crowd) as dies:
    for team in teams.values():
        team["Cleo"].kill()
with rebalancing.change(teams, "Bob freezes", members=1, crowd=crowd) as freezes:
    for team in teams.values():
        team["Bob"].freeze()

# %%
table = rebalancing.standstills([leaves, dies, freezes])
good_bye = table["change"] == "Dan leaves"
left = table[good_bye]["moved"].max()
silent = table[~good_bye]["moved"].min()
why = {
    "at once: her connections are closed": f"who fell silent cost {silent:.1f} s and more.",
    "at the next heartbeat of the others": f"so it was when Dan left: {left:.1f} s at most.",
}
print(my_end.against("when her session is over", why))
rebalancing.show_standstills(table, session / 1000, "Dan leaves")

# %% [markdown]
# A closed connection ends no *membership*. The broker goes by signs of life, above all heartbeats,
# and a dead member and a frozen one are silent alike. No kind of group helps against that: it costs
# about the session, which counts from the last of them. (In a classic group a commit is one, too.)
# A good-bye is the cheap case, so close your consumers. What keeps its reader (the rings) stands
# for a fraction of a session, in the eager group too.

# %% tags=["proof", "A78"]
import time

thirteen = new_topic(cluster, "thirteen", partitions=13)
own = kinds["eager"] | {"session.timeout.ms": 2_000, "group.id": new_group(cluster, thirteen)}
given = {"address": cluster.address, "topic": thirteen}
given["settings"] = own | {"bootstrap.servers": cluster.address}
stage = {name: members.start(packer, name, **given) for name in ("Kim", "Lea", "Max")}
shares, takeover = {}, {}
for size, name in ((3, ""), (2, "Max"), (1, "Lea")):
    since = time.monotonic_ns()
    if name:
        stage[name].kill() if size == 1 else stage[name].stop()
    held = rebalancing.settled({"": stage}, members=size, partitions=13)[""]
    shares[size] = sorted(list(held.values()).count(one) for one in set(held.values()))
    told_at = [e.at for e in stage["Kim"].events if e.what == "assigned" and e.at > since]
    takeover[size] = (told_at[-1] - since) / 1e9
assert shares == {3: [4, 4, 5], 2: [6, 7], 1: [13]}, shares
assert takeover[1] > takeover[2], takeover  # a crash costs more than a good-bye
assert takeover[1] > 1, takeover  # at least the session of 2 s, less a heartbeat of 1
stage["Kim"].stop()

# %% tags=["proof", "A26", "B149", "B152", "B165", "B182", "C91"]
kept_by = table.pivot(index="change", columns="group", values="kept")
moved = table.pivot(index="change", columns="group", values="moved")
for event in ("Cleo is killed", "Bob freezes"):
    assert kept_by.loc[event].max() < moved.loc[event].min() / 2, (kept_by, moved)
    assert moved.loc[event].min() > session / 1000 - 1.5, moved  # less what passed since the last
    assert moved.loc[event].min() > left, moved
for group in teams:
    assert set(dies.after[group].values()) == {"Ada", "Bob"}, dies.after
    assert set(freezes.after[group].values()) == {"Ada"}, freezes.after
    assert len(dies.moved(group)) >= 2, dies.after
with rebalancing.change(teams, "Bob wakes", members=2, crowd=crowd) as wakes:
    for team in teams.values():
        team["Bob"].thaw()
    for team in teams.values():  # until then he believes that he has what he had
        team["Bob"].wait_for(
            lambda events: any(e.what == "lost" and e.at > wakes.began for e in events) or None,
            what="the loss of his partitions",
        )
for team in teams.values():
    assert rebalancing.told_since(team["Bob"], wakes.began, "lost") == 1, team["Bob"]
with rebalancing.change(teams, "Bob is killed, too", members=1, crowd=crowd) as second:
    for team in teams.values():
        team["Bob"].kill()
for group, team in teams.items():
    assert set(second.after[group].values()) == {"Ada"}, second.after
    seen = {}
    for member in team.values():
        for event in member.events:
            if event.what == "record" and event.at > leaves.began:
                seen.setdefault(event.facts["partition"], set()).add(event.facts["offset"])
    for partition, offsets in seen.items():  # nothing is missing, whoever was killed
        assert len(offsets) == max(offsets) - min(offsets) + 1, (group, partition)

# %% [markdown]
# ## A restart
#
# Each night the packers are restarted. That is a good-bye and a join for each. But a member may
# have a name that outlives its process, `group.instance.id`: a **static member**. Eve and Finn have
# such names, in an eager group with a session of 10 seconds. Finn restarts. What does Eve notice?


# %%
def seat(name, group="seats"):
    return start(name, group, {"group.instance.id": name, "session.timeout.ms": 10_000})


kinds["seats"] = kinds["eager"] | {"group.id": new_group(cluster, "seats")}
crew = {name: seat(name) for name in ("Eve", "Finn")}
rebalancing.settled({"seats": crew}, members=2, partitions=6)
with rebalancing.change({"seats": crew}, "Finn restarts", members=2, crowd=crowd) as restarts:
    crew["Finn"].stop()
    crew["Finn"] = seat("Finn")
told_eve = rebalancing.told_since(crew["Eve"], restarts.began)
back = restarts.stood_of("seats", "Finn")
print(f"His partitions stood for up to {back:.1f} s: his program ended, started and joined.")
print(f"Eve was given partitions {told_eve} times.")

# %% [markdown]
# Nothing. By default a static member's close tells a classic group nothing. Whoever comes with the
# name gets what its owner had, without a rebalance if topics and assignor are the same. (Ada in
# `eager`, without such a name, was given hers anew when Dan came, and again when he left.)
#
# The price: until Finn is back, or his session is over, nobody takes his partitions over. And a
# session has to be longer than a restart takes.

# %% tags=["proof"]
assert told_eve == 0, told_eve
ada = teams["eager"]["Ada"]
for one in (comes, leaves):  # once when Dan came, and once when he left
    times = rebalancing.told_since(ada, one.began) - rebalancing.told_since(ada, one.ended)
    assert times == 1, (one.what, times)
assert restarts.moved("seats") == [], restarts.after
rebalancing.fill_up({"seats": crew}, seat, members=2, partitions=6)  # when this cell is run again
with rebalancing.change({"seats": crew}, "Finn goes for good", members=1, crowd=crowd) as goes:
    crew["Finn"].stop()
waited = goes.stood_of("seats", "Finn")
assert back < waited, (back, waited)
assert set(goes.after["seats"].values()) == {"Eve"}, goes.after
assert waited > 10 - 1.5, goes.stood("seats")  # less what passed since the last heartbeat

# %% [markdown]
# ## When it goes wrong
#
# The long order of the first section took longer than a session, and nobody was put out: a thread
# of the client sends heartbeats beside the work, also where the work hangs. So there is a second
# limit. `poll` has to be called again within `max.poll.interval.ms`, 5 minutes by default.
#
# Hana uses kafka-python, and for her this limit is 2 seconds. Thirty orders wait. One `poll` hands
# her all of them, and each takes a tenth of a second.

# %% tags=["prediction"]
heavy = new_topic(cluster, "heavy")
for number in range(30):
    producer.send(heavy, value=b"order %d" % number).get(timeout=10)
limits = {"auto_offset_reset": "earliest", "enable_auto_commit": False, **quick.consumer}
limits |= {"max_poll_interval_ms": 2_000, "heartbeat_interval_ms": 200}
my_packed = Prediction(
    "orders", "Hana polls, packs and commits, twice. How many are committed then?"
)
my_packed

# %%
slow = """
from kafka.errors import CommitFailedError
with KafkaConsumer(topic, bootstrap_servers=address, group_id=group, **settings) as consumer:
    while running():
        for records in consumer.poll(timeout_ms=100).values():
            work(0.1 * len(records))
            try:
                consumer.commit()
                note("committed", offsets=[record.offset for record in records])
            except CommitFailedError as error:
                note("refused", offsets=[record.offset for record in records], why=str(error))
"""

# %%
hers = {"address": cluster.address, "topic": heavy, "group": heavy, "settings": limits}
hana = members.start(slow, "Hana", **hers)
hana.wait_for(lambda events: sum(e.what == "refused" for e in events) >= 2, what="two refusals")
hana.kill()
refused = [event for event in hana.events if event.what == "refused"][:2]
packed = [offset for event in refused for offset in event.facts["offsets"]]
print(my_packed.against(cluster.group(heavy).offsets.get((heavy, 0), 0)))
print(f"packed {len(packed)} times, {len(set(packed))} orders; refused {len(refused)} times")
print(refused[0].facts["why"])

# %% [markdown]
# Read it from its middle. *Not part of an active group*: her client has left the group by itself,
# while she packed. (Java's client and librdkafka do so, too, unless the member is a static one.)
# *Likely kicked out*: nobody kicked her. *Commit cannot be completed*: who is no longer a member
# may not commit for the group, and her client does not even ask the broker. So her thirty orders
# count for nothing. She polls, joins again and gets the same thirty; this loop never gets past
# them. She is alive, busy and useless.

# %% tags=["proof", "B171", "B183"]
assert len(set(packed)) == 30, packed
assert sorted(packed) == sorted(2 * list(range(30))), packed
assert refused[0].facts["why"].startswith("CommitFailedError: Offset commit cannot"), refused
assert not any(e.what == "committed" for e in hana.events), hana
assert cluster.group(heavy).offsets == {}, cluster.group(heavy).offsets
log = cluster.logs(0, lines=20_000).splitlines()
gone = [line for line in log if f"group {heavy} " in line and "LeaveGroup" in line]
assert len(gone) >= 2, [line for line in log if heavy in line]  # she said so herself

# %% [markdown]
# ## Your turn
#
# Ivan packs Hana's orders, and her limit of 2 seconds stays. (A single long order wants a higher
# one.) `max_poll_records` says how many one `poll` gives at most, 500 by default. Choose it so that
# his commits are accepted.

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: at_once = ...
at_once = 10  # a second of work
# END SOLUTION


def ivan(number):
    his = {"group": new_group(cluster, "ivan"), "settings": limits | {"max_poll_records": number}}
    return members.start(slow, "Ivan", **hers | his)


check = rebalancing.refused_with(ivan, orders=30, seconds=0.1, limit=2)
exercise.check("smaller batches", at_once, check)

# %% tags=["proof", "B184"]
commits = [cluster.group(group).offsets for group in cluster.groups() if group.startswith("ivan")]
assert {(heavy, 0): 30} in commits, commits

# %% [markdown]
# Gus is started from a copy of Eve's configuration, her `group.instance.id` in it, while she works.
# One of the two is put out. Who?

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: put_out = ...  # "Eve" or "Gus"
put_out = "Eve"
# END SOLUTION


def gus():
    return start("Gus", "seats", {"group.instance.id": "Eve"})


rebalancing.fill_up({"seats": crew}, seat, members=2, partitions=6)  # when this cell is run again
result = exercise.check("the twin", put_out, rebalancing.fenced_by(gus, "Gus", crew))
for name, member in crew.items():
    print(f"{name} was told: {rebalancing.fence_of(member.events) or 'nothing'}")
result

# %% tags=["proof"]
told_to_eve = rebalancing.fence_of(crew["Eve"].events)
assert "fenced by other consumer with same group.instance.id" in told_to_eve, told_to_eve
crew["Eve"] = seat("Eve")
crew["Eve"].wait_for(lambda events: any(e.what == "assigned" for e in events), what="her seat")
live = repr(panel.show_group(cluster, kinds["seats"]["group.id"], crew, start=seat))
assert "Eve" in live, live
shown = {member.client for member in cluster.group(kinds["seats"]["group.id"]).members}
assert shown <= set(crew) | {"Gus"}, (shown, live)  # the panel knows members by these
crew["Eve"].stop()
crowd.stop()

# %% [markdown]
# In a classic group the older one is **fenced**: refused from now on. (By KIP-848 it is the
# newcomer who is refused.)
#
# To kill and freeze members by hand, run this in a cell of your own:
# `panel.show_group(cluster, kinds["seats"]["group.id"], crew, start=seat)`
#
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- A join made {len(stand)} of 4 free partitions stand in the eager group, for up to
  {longest:.1f} s, because one packer was busy. In the others, what a free packer kept had gaps of
  {kept:.1f} s at most.
- After a good-bye what moved stood for {left:.1f} s at most; after a death or a freeze for
  {silent:.1f} s and more, in each kind of group: about the session of {session / 1000:.0f} s.
- A static member came back: his partitions stood for {back:.1f} s, and the other was given
  partitions {told_eve} times.
- Who does not poll in time is out, heartbeats or not: {len(packed)} orders packed,
  {len(set(packed))} different, none committed.
""")

# %%
cluster.close()
