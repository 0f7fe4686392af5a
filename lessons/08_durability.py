# %% [markdown]
# # 08 Durability
#
# You sent a record, and a broker acknowledged it. Now it is stored, you would say. Then that broker
# dies. Which acknowledged records are safe? That depends on who gave the promise, and you choose
# who gives it.

# %% [markdown]
# You will
# - see who answers a producer, and when,
# - lose a hundred acknowledged records, and say why,
# - choose copies and a minimum in sync so that it cannot happen,
# - say what that is worth when two brokers are killed.
#
# Needs 06 and 07. 25 minutes.

# %% tags=["parameters"]
records = 100  # in each experiment

# %%
from kafka import KafkaAdminClient, KafkaProducer

from kafkalab import Choice, Cluster, Ledger, Prediction, charts, quick, spark_session
from kafkalab.lessons import durability
from kafkalab.notebook import exercise

cluster = Cluster.start("replicated", gateway=True)
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
# Idempotence (lesson 09) is off: with it `acks` could only be `all`.
settings = quick.producer | {"enable_idempotence": False, "delivery_timeout_ms": 60_000}
cluster

# %% [markdown]
# ## Who answers, and when?
#
# The leader's answer to a producer is the **acknowledgement**, and `acks` says what it waits for
# first. Each topic here has one partition and three copies: broker 1 leads, brokers 0 and 2 follow.
# Its first record, `before`, reaches all three.


# %%
def create(name, producer, minimum=1):
    cluster.mend()  # all brokers are well, also where you run a cell again
    topic = cluster.unused(name)
    new = {"assignments": {0: [1, 0, 2]}, "configs": {"min.insync.replicas": str(minimum)}}
    admin.create_topics({topic: new})
    producer.send(topic, b"before").get(timeout=10)  # it knows the leader from now on
    return topic


producers = {}
for acks in (0, 1, "all"):
    own = settings | {"client_id": f"acks={acks}"}
    producers[acks] = KafkaProducer(bootstrap_servers=cluster.address, acks=acks, **own)

# %% [markdown]
# Three producers, one for each value of `acks`, send a record. Before you run the next cell: with
# which of them does the leader know, when it answers, that a follower has the record? The picture
# has the order of the wire, from the top down; distances say nothing.

# %%
healthy = create("healthy", producers["all"])
told = {}
for count, acks in enumerate(producers, start=2):
    told[acks] = producers[acks].send(healthy, b"look at me").get(timeout=10).offset
    durability.wait_for_copies(cluster, healthy, count)  # on all three, before the next
print("told offsets, by acks:", told)
charts.show(durability.acknowledgements(cluster, list(producers)), durability.IN_WORDS)

# %% tags=["proof", "A24", "A114", "C50"]
assert told == {0: 0, 1: 2, "all": 3}, told
outcomes = [cluster.gateway.frames("Produce", client_id=f"acks={n}")[-1].outcome for n in producers]
assert outcomes == ["unasked", "answered", "answered"], outcomes
strict = cluster.gateway.frames("Produce", client_id="acks=all")[-1]
fetches = cluster.gateway.frames("Fetch", broker=1, between="nodes")
asked = {f.source for f in fetches if strict.requested < f.requested < strict.answered}
assert asked == ({0, 2} if cluster.gateway.covers_nodes else set()), asked

# %% tags=["proof", "B86"]
from statistics import median
from time import perf_counter

waited = {acks: [] for acks in producers}
for acks in list(producers) * records:
    began = perf_counter()
    producers[acks].send(healthy, b"how long?").get(timeout=10)
    waited[acks].append(1000 * (perf_counter() - began))
half = {acks: median(times) for acks, times in waited.items()}  # in milliseconds
assert half[0] < half[1] < half["all"], half

# %% tags=["proof", "R21"]
rates = {}  # records per second: one in a batch, one batch under way
for acks in producers:
    own = settings | {"batch_size": 1, "max_in_flight_requests_per_connection": 1}
    with KafkaProducer(bootstrap_servers=cluster.address, acks=acks, **own) as in_turn:
        in_turn.send(healthy, b"the connection is there").get(timeout=10)
        began = perf_counter()
        for _ in range(records):
            in_turn.send(healthy, b"how many?")
        in_turn.flush(timeout=10)
        rates[acks] = records / (perf_counter() - began)
assert rates[0] > rates["all"], rates

# %% [markdown]
# Read the last sequence. A follower asks before there is *anything*, and that request waits. It
# never says "I have it". It asks for the *next* record, and from that the leader knows that all
# before has arrived. With `acks=all` the leader waits for both: that is the price. With `acks=1` it
# waits for nobody. With `acks=0` it does not answer: the client calls a record done once its
# connection has it, and makes up the offset 0 (Java's says −1).
#
# So with `acks=1` there is a moment in which the leader alone has an acknowledged record. It is
# over when the followers have asked again, and a kill has to hit it. Make it longer.

# %% [markdown]
# ## Followers that stand still
#
# Two topics get a hundred records each, one with `acks=1` and one with `acks=all`. A `Ledger` notes
# each send and its answer.


# %%
def send(producer, ledgers, numbers, seconds=10):
    for topic, ledger in ledgers.items():
        for number in numbers:
            ledger.sent(number, producer.send(topic, b"%d" % number))
    return [ledger.settle(timeout=seconds)["acknowledged"] for ledger in ledgers.values()]


# %% [markdown]
# While you send, both followers are frozen: their processes stand still, their connections stay
# open, and for some seconds the cluster does not notice. Then you kill broker 1, the followers go
# on (the block of `frozen` ends), and one of them leads. A record is *lost* if it was acknowledged
# and is not in the new leader's log. How many of the hundred with `acks=1` survive?

# %% tags=["prediction"]
my_left = Prediction("surviving records")
my_left

# %%
pair = {acks: create(f"frozen-acks-{acks}", producers[acks]) for acks in (1, "all")}
ledgers = {acks: Ledger() for acks in pair}
early = {}
with durability.frozen(cluster, *pair.values()):
    early[1] = send(producers[1], {pair[1]: ledgers[1]}, range(records))
    early["all"] = send(producers["all"], {pair["all"]: ledgers["all"]}, range(records), seconds=1)
    cluster.kill(1)
print("acknowledged by broker 1:", *early[1], "with acks=1,", *early["all"], "with acks=all")
for acks, topic in pair.items():
    cluster.wait_for_leader(topic, partition=0, among=[0, 2])
    print(f"in the end, acks={acks}:", ledgers[acks].verdict(cluster))
my_left.against(len(ledgers[1].verdict().found))

# %% tags=["proof", "A115", "A116", "C54", "C56"]
careless, careful = ledgers[1].verdict(), ledgers["all"].verdict()
assert early == {1: [records], "all": [0]}, early
assert len(careless.lost) == records, careless
assert careless.strangers == ["before"], careless
assert len(careful.acknowledged) == records, careful
assert not careful.lost, careful

# %% [markdown]
# (The *stranger* is `before`.) With `acks=1` every one was acknowledged, and the new leader has
# none. With `acks=all` broker 1 had promised nothing: it was waiting for its followers. So the
# producer still had all the records, and sent them again; the new leader acknowledged them.
# (Perhaps they came twice: lesson 09.)
#
# Broker 1 still has the hundred of `acks=1`. When it comes back, it cuts off what the leader does
# not have (lesson 07), and they are gone for good.

# %% tags=["proof", "C55"]
killed = cluster.log_ends(pair[1])
cluster.restart(1)
cluster.wait_for_isr(pair[1], 3)
back = cluster.log_ends(pair[1])
assert killed == {0: 1, 1: records + 1, 2: 1}, killed
assert set(back.values()) == {1}, back
assert len(ledgers[1].verdict(cluster).lost) == records, back

# %% [markdown]
# ## All of whom?
#
# `acks=all` waits for all replicas *in sync*, three or one. Frozen followers stay in sync for some
# seconds. Those that are stopped, or frozen for longer, are struck off. With both struck off, *all*
# means broker 1 alone, and `acks=all` promises no more than `acks=1`.
#
# Against that a topic has a floor, the **minimum of in-sync replicas** (`min.insync.replicas`, by
# default 1): with fewer in sync the leader refuses what wants `acks=all`.
#
# Three topics have a minimum of 1, 2 and 3. Each gets a hundred records with `acks=all`; broker 2
# is stopped; a hundred more; broker 0 is killed and struck off; the last hundred. How many of the
# 300 are acknowledged where the minimum is 2?

# %% tags=["prediction"]
my_accepted = Prediction("acknowledged records")
my_accepted

# %%
no_retries = KafkaProducer(bootstrap_servers=cluster.address, acks="all", retries=0, **settings)
topics = {low: create(f"minimum-{low}", producers["all"], low) for low in (1, 2, 3)}
table = {topic: Ledger() for topic in topics.values()}
rounds = [send(no_retries, table, range(records))]
cluster.stop(2)
rounds.append(send(no_retries, table, range(records, 2 * records)))
cluster.kill(0)
spark = spark_session()  # for a chart; it starts while the controller waits for broker 0
cluster.wait_for_isr(topics[2], 1)  # broker 1 alone is in sync, and acts on it
rounds.append(send(no_retries, table, range(2 * records, 3 * records)))
print("acknowledged after each hundred, minimum 1 and 2:", [counts[:2] for counts in rounds])
my_accepted.against(rounds[-1][1])

# %% tags=["proof", "R16", "C31"]
assert [counts[0] for counts in rounds] == [records, 2 * records, 3 * records], rounds
assert [counts[1] for counts in rounds] == [records, 2 * records, 2 * records], rounds
assert [counts[2] for counts in rounds] == [records, records, records], rounds
assert cluster.quorum().leader == 100, "the controller is a process of its own"
told_why = {row.error for row in table[topics[2]].frame(spark).collect() if row.error}
assert told_why == {"NotEnoughReplicasError"}, told_why

# %% [markdown]
# With a minimum of 1 the last hundred was acknowledged, and lies on broker 1 alone. With a minimum
# of 2 it was refused, as a `NotEnoughReplicasError`. (This producer has `retries=0`; by default it
# tries again, for two minutes.) For each minimum: how many of the two *followers* may be down, and
# `acks=all` is still accepted?

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: goes_on = {1: ..., 2: ..., 3: ...}  # minimum: followers that may be down
goes_on = {1: 2, 2: 1, 3: 0}
# END SOLUTION
measured = durability.may_be_down(rounds, topics)
exercise.check("followers that may be down", goes_on, durability.same_as(measured))

# %% tags=["proof", "B101"]
assert measured == {1: 2, 2: 1, 3: 0}, measured

# %% [markdown]
# The topic with a minimum of 2 has one replica in sync. What becomes of a record that is sent to it
# with `acks=1`?

# %% tags=["prediction"]
my_quiet = Choice(
    "With acks=1 the record is …",
    "refused as well",
    "acknowledged, and readable",
    "acknowledged, and readable by nobody",
)
my_quiet

# %%
quiet = Ledger()
receipt = quiet.sent("quiet", producers[1].send(topics[2], b"quiet")).get(timeout=10)
below = cluster.topic(topics[2]).partitions[0]
against = {
    "refused as well": f"it was acknowledged, with the offset {receipt.offset}.",
    "acknowledged, and readable": f"it lies at {receipt.offset}; reading ends before "
    f"{below.end_offset}.",
}
my_quiet.against("acknowledged, and readable by nobody", against)

# %% tags=["proof", "B102"]
assert receipt.offset >= 2 * records + 1, receipt
assert below.end_offset == 2 * records + 1, below

# %% tags=["proof"]
from kafkalab import wait_until

# Three topics with the leader alone in sync. In the first two nobody orders an election later.
waits, recovers, priced = [cluster.unused(name) for name in ("waits", "recovers", "priced")]
new = {"assignments": {0: [1, 0, 2]}}
two = new | {"configs": {"min.insync.replicas": "2"}}
admin.create_topics({waits: new, recovers: two, priced: two})
for topic in (waits, recovers, priced):
    cluster.wait_for_topic(topic)
waiting = Ledger()
assert send(no_retries, {waits: waiting}, range(records)) == [records], waiting
receipt_too = producers[1].send(recovers, b"quiet").get(timeout=10)
assert receipt_too.offset == 0, receipt_too
assert cluster.topic(recovers).partitions[0].end_offset == 0, "readable below the minimum"
promised = {acks: Ledger() for acks in producers}
for number, acks in enumerate(producers):
    by = no_retries if acks == "all" else producers[acks]
    send(by, {priced: promised[acks]}, [number])

# %% [markdown]
# Below the minimum the high watermark stands still (since Kafka 3.7), so that broker 0, struck off
# last, lacks nothing that anybody has read. Readers stop there until two are in sync. A refusal
# wakes somebody. The quiet record does not: its producer was told that all is well.

# %% [markdown]
# ## When it goes wrong
#
# Broker 1 alone has everything that was acknowledged. Now it is killed too, and broker 0 comes
# back, which was down while the last hundred came. Who leads?

# %%
if cluster.state(1) == "running":
    cluster.kill(1)
    cluster.restart(0)
cluster.wait_for_brokers([0])  # until the cluster has noticed
alone = {low: cluster.topic(topic).partitions[0] for low, topic in topics.items()}
print("leader, by minimum:", {low: partition.leader for low, partition in alone.items()})
print("log_ends with a minimum of 1:", cluster.log_ends(topics[1]))
print("log_ends with a minimum of 2:", cluster.log_ends(topics[2]))

# %% tags=["proof", "B105", "B107"]
default = cluster.broker_configs(0)["unclean.leader.election.enable"]
assert default.value == "false", default
assert default.source == "DEFAULT_CONFIG", default
assert [partition.leader for partition in alone.values()] == [None] * 3, alone
assert [partition.elr for partition in alone.values()] == [[1], [1], [1, 2]], alone  # not 0
assert cluster.topic(waits).partitions[0].leader is None, waits
admin.elect_leaders(1, {priced: [0]})
kept = {low: cluster.log_ends(topic)[0] for low, topic in topics.items()}
assert kept == {1: 2 * records + 1, 2: 2 * records + 1, 3: records + 1}, kept

# %% [markdown]
# Nobody, whatever the minimum. With 1, broker 0 lacks what `acks=all` acknowledged without it. With
# 2 it has all of that, but it was *killed*, not stopped. For Kafka that may have been a loss of
# power, and then its disk may lack what it had: it is no eligible leader replica any more (lesson
# 07). Kafka waits for broker 1.
#
# You may refuse to wait. An **unclean election** makes a replica the leader that may have missed
# records. Order one for the topics with 1 and 2. Then broker 1 comes back, which has everything.
# With a minimum of 1, how many records that `acks=all` acknowledged are lost?

# %% tags=["prediction"]
my_lost = Prediction("lost records")
my_lost

# %%
if cluster.state(1) != "running":
    admin.elect_leaders(1, {topics[1]: [0], topics[2]: [0]})  # 1: unclean; [0]: the partitions
    cluster.restart(1)
for low in (1, 2):
    durability.wait_for_copies(cluster, topics[low], 2 * records + 1)
    print(f"minimum {low}:", table[topics[low]].verdict(cluster))
print("lost of those with acks=1:", quiet.verdict(cluster).lost)
my_lost.against(len(table[topics[1]].verdict().lost))

# %%
everything = {
    "acks=1, followers frozen": ledgers[1],
    "acks=all, followers frozen": ledgers["all"],
    "minimum 1, unclean election": table[topics[1]],
    "minimum 2, unclean election": table[topics[2]],
}
lost = [len(ledger.verdict().lost) for ledger in everything.values()]
ax = durability.fates(durability.outcomes(spark, everything), order=list(everything))
title = f"Lost: {lost[0]} of acks=1, {lost[2]} of acks=all with minimum 1, {lost[3]} with 2"
ax.set_title(title)
charts.show(ax, f"Bars of records: kept, lost, refused. {title}. Refused are those of minimum 2.")

# %% tags=["proof", "B104", "B106", "C57", "C68"]
leads = {low: cluster.topic(topics[low]).partitions[0].leader for low in (1, 2)}
assert leads == {1: 0, 2: 0}, leads
assert lost == [records, 0, records, 0], lost
assert len(table[topics[1]].verdict().found) == 2 * records, table
assert len(table[topics[2]].verdict().failed) == records, table
cluster.wait_for_isr(waits, 2)
assert len(waiting.verdict(cluster).found) == records, waiting.verdict()

# %% tags=["proof", "B86"]
prices = {}  # by acks: milliseconds; acknowledged, lost, refused
for acks in producers:
    seen = promised[acks].verdict(cluster)
    prices[acks] = half[acks], len(seen.acknowledged), len(seen.lost), len(seen.failed)
assert [row[1:] for row in prices.values()] == [(1, 1, 0), (1, 1, 0), (0, 0, 1)], prices
prices

# %% tags=["proof", "C63"]
wait_until(
    lambda: cluster.topic(recovers).partitions[0].end_offset == 1,
    timeout=15,
    what="a record that is readable once two are in sync",
)
assert quiet.verdict().lost == ["quiet"], quiet.verdict()

# %% [markdown]
# Broker 1 cut off what the new leader did not have. With a minimum of 1 these were records that
# `acks=all` had acknowledged. With a minimum of 2 only the quiet one was lost: all else that broker
# 0 had missed had been refused. So an unclean election trades records for time. (Look before you
# order it: broker 2's copy has the first hundred only.)
#
# The rule has two halves. If all copies are in sync, sending with `acks=all` goes on while no more
# than *copies − minimum* of the replicas fail, as long as one that is in sync can lead. What
# `acks=all` acknowledged was in the logs of *minimum* brokers at least: *minimum − 1* of these may
# be lost for ever. (In the log is not yet on the disk: see [Kafka on one
# page](../lessons/reference/kafka.md).)

# %% [markdown]
# ## Your turn
#
# Payments. Any one broker may fail: sending goes on, and what only one broker has is not
# acknowledged. Which `copies`, which `minimum`, which `acks`?

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: payments = {"copies": ..., "minimum": ..., "acks": ...}
payments = {"copies": 3, "minimum": 2, "acks": "all"}
# END SOLUTION
exercise.check("payments", payments, durability.fit_for_payments)

# %% tags=["proof", "C99"]
assert not durability.fit_for_payments(payments), payments
for worse in ({"copies": 2}, {"minimum": 1}, {"minimum": 3}, {"acks": 1}):
    assert durability.fit_for_payments(payments | worse), worse

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- An acknowledgement is a promise: of nobody with acks=0, of the leader with acks=1, of all replicas
  in sync with acks=all.
- While both followers stood still, acks=1 acknowledged {early[1][0]} records and lost {lost[0]};
  acks=all acknowledged {early["all"][0]}, waited, and lost {lost[1]}.
- The minimum of in-sync replicas says how few *all* may be. After two kills an unclean election
  lost, of what acks=all had acknowledged, {lost[2]} records with a minimum of 1 and {lost[3]} with
  a minimum of 2, where {lost[2]} had been refused.
- With acks=1 or all a record whose acknowledgement is missing is by default sent again, until the
  delivery timeout. Can it arrive twice? That is lesson 09.
""")

# %%
cluster.close()
spark.stop()
