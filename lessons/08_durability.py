# %% [markdown]
# # 08 Durability
#
# You sent a record, and a broker acknowledged it. Now it is stored, you would say. Then that broker
# dies. Which acknowledged records are safe? That depends on who gave the promise, and you choose
# who gives it.

# %% [markdown]
# You will
# - see who answers a producer with each value of `acks`, and when,
# - lose a hundred acknowledged records, and say why,
# - choose the number of copies and the minimum in sync so that it cannot happen,
# - say what that costs. Needs 06 and 07. 25 minutes.

# %% tags=["parameters"]
records = 100  # in each experiment

# %%
from kafka import KafkaAdminClient, KafkaProducer

from kafkalab import Choice, Cluster, Ledger, Prediction, charts, quick, spark_session
from kafkalab.lessons import durability
from kafkalab.notebook import exercise

cluster = Cluster.start("replicated", gateway=True)
cluster

# %% [markdown]
# ## Kill the leader, and count
#
# Each topic here has one partition, and you say which brokers keep a copy: the first of them leads,
# the others follow. The `Ledger` notes each send and what became of it. (Idempotence is off, as it
# allows only one of the settings that you will compare; it is the subject of lesson 09.)

# %%
settings = quick.producer | {"enable_idempotence": False, "delivery_timeout_ms": 60_000}


def create(name, brokers, minimum=1):
    topic = cluster.unused(name)
    new = {"assignments": {0: list(brokers)}, "configs": {"min.insync.replicas": str(minimum)}}
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: new})
    cluster.wait_for_topic(topic)
    return topic


def send_all(producer, topic, ledger, numbers):
    for number in numbers:
        ledger.sent(number, producer.send(topic, b"%d" % number))
    return ledger.settle(timeout=1)


# %% [markdown]
# You send a hundred records to broker 1 and wait until each is acknowledged. Then you kill
# broker 1, and another one takes over. How many of the hundred are *lost*: acknowledged, and not in
# the log of the new leader?

# %% tags=["prediction"]
my_lost = Prediction("lost records")
my_lost

# %%
cluster.mend()  # all brokers are well, also where you run this cell again
topic = create("plain", brokers=[1, 0, 2])
producer = KafkaProducer(bootstrap_servers=cluster.address, acks=1, **settings)
plain = Ledger()
send_all(producer, topic, plain, range(1))
durability.wait_for_copies(cluster, topic, 1)  # the topic is new: now the followers fetch from it
send_all(producer, topic, plain, range(1, records))
cluster.kill(1)
spark = spark_session()  # it starts while the controller waits for broker 1
cluster.wait_for_leader(topic, 0, among=[0, 2])
print(plain.verdict(cluster))
my_lost.against(len(plain.verdict().lost))

# %% tags=["proof"]
assert len(plain.verdict().acknowledged) == records, plain

# %% [markdown]
# That was one run, and it proves nothing. Was the outcome the promise, or luck? What did broker 1
# promise? Ask the wire.
#
# The leader's answer to a producer is the **acknowledgement**, and the setting `acks` says what the
# leader waits for first. There are three values, so three producers. Each sends a hundred records,
# one after the other, and then one to look at. That one is drawn below, as the wire had it.

# %%
cluster.mend()
healthy = Ledger()
three = {acks: create(f"healthy-acks-{acks}", brokers=[1, 0, 2]) for acks in (0, 1, "all")}
producers = {}
for acks in three:
    own = settings | {"client_id": f"acks={acks}"}
    producers[acks] = KafkaProducer(bootstrap_servers=cluster.address, acks=acks, **own)
for number in range(records):
    for acks, topic in three.items():
        healthy.sent(number, producers[acks].send(topic, b"%d" % number)).get(timeout=10)
healthy

# %%
told = {}
for acks, topic in three.items():
    told[acks] = producers[acks].send(topic, b"look at me").get(timeout=10).offset
    durability.wait_for_copies(cluster, topic, records + 1)
print("told offsets, by acks:", told)
charts.show(
    durability.acknowledgements(cluster, ["acks=0", "acks=1", "acks=all"]),
    "Three sequences. With acks=0 nothing comes back. With acks=1 the leader answers when its own "
    "log has the record. With acks=all it answers when each follower has asked for the next one.",
)

# %% tags=["proof", "A24", "A114", "C50"]
assert told[0] == 0, told
assert told[1] == told["all"], told
assert told[1] >= records, told
outcomes = [cluster.gateway.frames("Produce", client_id=f"acks={n}")[-1].outcome for n in three]
assert outcomes == ["unasked", "answered", "answered"], outcomes
strict = cluster.gateway.frames("Produce", client_id="acks=all")[-1]
fetches = cluster.gateway.frames("Fetch", broker=1, between="nodes")
asked = {f.source for f in fetches if strict.requested < f.requested < strict.answered}
assert asked == ({0, 2} if cluster.gateway.covers_nodes else set()), asked

# %% [markdown]
# Read the last sequence downwards. A follower does not say "I have it". It asks for the *next*
# record, and from that the leader knows that all before has arrived. With `acks=all` the answer
# comes after both have asked. With `acks=1` the leader does not wait for them. With `acks=0` it
# does not even answer: the client calls a record done once it has given it to its connection, and
# so the ledger counts it as acknowledged. The offset above, 0, is made up by this client (Java's
# says −1).
#
# So with `acks=1` there is a moment in which the leader alone has an acknowledged record. Here it
# lasts milliseconds, and a kill has to hit it. Make it longer.

# %% [markdown]
# ## Followers that stand still
#
# Once more, with one difference: both followers are frozen while you send. Their processes stand
# still, their connections stay open, and the cluster does not notice for some seconds. (`frozen`
# freezes them, and wakes them when its block ends.) How many of the hundred are left?

# %% tags=["prediction"]
my_left = Prediction("surviving records")
my_left


# %%
def kill_while_followers_stand_still(acks):
    cluster.mend()
    topic = create(f"frozen-acks-{acks}", brokers=[1, 0, 2])
    producer = KafkaProducer(bootstrap_servers=cluster.address, acks=acks, **settings)
    producer.send(topic, b"before").get(timeout=10)  # one record while all is well
    ledger = Ledger()
    with durability.frozen(cluster, topic):
        print("before the kill:", send_all(producer, topic, ledger, range(records)))
        cluster.kill(1)
    cluster.wait_for_leader(topic, 0, among=[0, 2])
    return topic, ledger


# %%
careless_topic, careless = kill_while_followers_stand_still(acks=1)
print("then:", careless.verdict(cluster))
my_left.against(len(careless.verdict().found))

# %% [markdown]
# Every one was acknowledged, and the new leader has none. (The *stranger* is the record from
# before: it had been copied.) But broker 1 had written all of them to the files of its log. Here is
# where the log of each broker ends, read from the files. Then you start broker 1 again. What
# becomes of its records?

# %% tags=["prediction"]
killed = cluster.log_ends(careless_topic)
print(killed)
my_fate = Choice(
    "What becomes of the hundred on broker 1's disk?",
    "copied to the others",
    "kept there, and read by nobody",
    "thrown away",
)
my_fate

# %%
cluster.restart(1)
cluster.wait_for_isr(careless_topic, 3)
back = cluster.log_ends(careless_topic)
print(back)
against = {
    "copied to the others": f"the log of broker 0 ends at {back[0]}.",
    "kept there, and read by nobody": f"the log of broker 1 ends at {back[1]}.",
}
my_fate.against("thrown away", against)

# %% tags=["proof", "A115", "C54", "C55"]
verdict = careless.verdict(cluster)
assert len(verdict.acknowledged) == records, verdict
assert len(verdict.lost) == records, verdict
assert verdict.strangers == ["before"], verdict
assert killed == {0: 1, 1: records + 1, 2: 1}, killed
assert set(back.values()) == {1}, back

# %% [markdown]
# A replica that comes back cuts off what the leader does not have (lesson 07). So they are gone for
# good. Now change one word of the experiment.

# %%
careful_topic, careful = kill_while_followers_stand_still(acks="all")
print("then:", careful.verdict(cluster))

# %% tags=["proof", "A116", "C56"]
verdict = careful.verdict()
assert len(verdict.acknowledged) == records, verdict
assert not verdict.lost, verdict

# %% [markdown]
# Before the kill nobody was promised anything: the leader was waiting for its followers. So the
# producer still had all the records, and sent them to the new leader. (Sent again, some may have
# overtaken others; *reordered* counts them, and lesson 09 mends it.)

# %% [markdown]
# ## What the promise costs
#
# If `acks=all` lost nothing here, why has anybody ever used something else? You have the answer:
# the three producers above sent a hundred records each, one after the other, while all was well.

# %%
from pyspark.sql import functions as F

waited = healthy.frame(spark).withColumn("acks", F.regexp_extract("topic", "acks-(0|1|all)", 1))
typical = waited.groupBy("acks").agg(F.expr("percentile(latency_ms, 0.5) as ms"))
half = {row.acks: row.ms for row in typical.collect()}
ax = charts.latency_distribution(waited, by="acks")
title = f"A typical record took {half['all'] / half['1']:.1f} times as long with all as with 1"
ax.set_title(title)
ax.set_xlabel("milliseconds until the record is done")
charts.show(ax, f"The share of records that were done within a time, by acks. {title}.")

# %% tags=["proof", "B86", "R21"]
assert half["0"] < half["1"] < half["all"], half

# %% [markdown]
# What `acks=all` adds is one more turn: the followers fetch, and ask again. These are times of
# single records, each sent after the one before. A producer that does not stand and wait has many
# on the way: each waits as long, and as many a second may go through.

# %% [markdown]
# ## All of whom?
#
# `acks=all` waits for all replicas *in sync*. Brokers that are stopped are not in sync, so with two
# of three gone, *all* means one. Against that a topic has a floor, the **minimum of in-sync
# replicas** (`min.insync.replicas`): with fewer in sync, the leader refuses what wants `acks=all`.
#
# Five topics, with two or three copies and a minimum of one to three, are led by broker 0. A third
# of their records is sent; broker 2 is stopped; the second third; broker 1 is stopped; the rest.


# %%
def one_round(producer, topics, ledgers, numbers):
    taken = {}
    for one, topic in topics.items():
        states = send_all(producer, topic, ledgers[one], numbers)
        taken[one] = states["acknowledged"]
    return taken  # how many of each topic have been acknowledged so far


third = records // 3
combinations = [(2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]  # copies, minimum
names = {one: "{} copies, minimum {}".format(*one) for one in combinations}

# %%
cluster.mend()
once = KafkaProducer(bootstrap_servers=cluster.address, acks="all", retries=0, **settings)
ledgers = {one: Ledger() for one in combinations}
topics = {(copies, low): create("table", range(copies), low) for copies, low in combinations}
rounds = [one_round(once, topics, ledgers, range(third))]
cluster.stop(2)
rounds.append(one_round(once, topics, ledgers, range(third, 2 * third)))
cluster.stop(1)
rounds.append(one_round(once, topics, ledgers, range(2 * third, records)))
for one in [(3, 1), (3, 2)]:
    print(names[one], "- acknowledged:", [taken[one] for taken in rounds])

# %% tags=["proof", "R16", "C31"]
assert [taken[3, 1] for taken in rounds] == [third, 2 * third, records], rounds
assert [taken[3, 2] for taken in rounds] == [third, 2 * third, 2 * third], rounds
assert cluster.quorum().leader == 100, "the controller is a process of its own"

# %% [markdown]
# (The numbers are sums, after each third.) With a minimum of 1 the last third was acknowledged too,
# and lies on broker 0 alone. With a minimum of 2 it was refused. Now fill the table, before you see
# it: starting with all copies in sync, how many of the *followers* may be down, and records with
# `acks=all` are still taken?

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: goes_on = {(2, 1): ..., (2, 2): ..., (3, 1): ..., (3, 2): ..., (3, 3): ...}
goes_on = {(2, 1): 1, (2, 2): 0, (3, 1): 2, (3, 2): 1, (3, 3): 0}
# END SOLUTION
measured = durability.may_be_down(rounds, stopped=[2, 1])
exercise.check("copies that may be down", goes_on, durability.same_as(measured))

# %% tags=["proof", "B101"]
assert measured == {(2, 1): 1, (2, 2): 0, (3, 1): 2, (3, 2): 1, (3, 3): 0}, measured

# %% [markdown]
# ## When the last copy dies
#
# Broker 0 alone has everything. Now it is killed, and broker 1 comes back, which has missed a
# third. Who leads the five topics?

# %%
if cluster.state(0) == "running":
    cluster.kill(0)
    cluster.restart(1)
cluster.wait_for_brokers([1])  # until the cluster has noticed
alone = {one: cluster.topic(topic).partitions[0] for one, topic in topics.items()}
{names[one]: partition.leader for one, partition in alone.items()}

# %% tags=["proof", "B105", "B107"]
default = cluster.broker_configs(1)["unclean.leader.election.enable"]
assert default.value == "false", default
assert default.source == "DEFAULT_CONFIG", default
led = {one for one, partition in alone.items() if partition.leader == 1}
assert led == {(2, 2), (3, 2), (3, 3)}, alone
assert alone[3, 1].last_known_elr == [0], alone

# %% [markdown]
# Where the minimum is above 1, broker 1 leads: while it was away nothing that waited for *all* was
# acknowledged, so it has missed none of that. (For that the controller keeps a list, the *eligible
# leader replicas*, by default in clusters that were new with Kafka 4.1 or later. Broker 1 is on it
# as it was stopped; one that is killed is struck off when it starts again.) Where the minimum is 1,
# nobody leads. Kafka waits for broker 0.
#
# You may refuse to wait. An **unclean election** makes a replica the leader that may have missed
# records. Hold one for the topic with three copies, and leave the one with two alone. Then bring
# broker 0 back, which has everything.

# %%
with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
    admin.elect_leaders(1, {topics[3, 1]: [0]}, raise_errors=False)  # 1 stands for unclean
cluster.wait_for_leader(topics[3, 1], 0)
cluster.restart(0)
for topic in topics.values():
    cluster.wait_for_isr(topic, 2)
verdicts = {one: ledger.verdict(cluster) for one, ledger in ledgers.items()}
{names[one]: len(verdict.lost) for one, verdict in verdicts.items()}

# %%
everything = {"acks=1, leader killed": plain, "acks=1, followers frozen": careless}
everything["acks=all, followers frozen"] = careful
for one in combinations:
    forced = ", unclean election" if one == (3, 1) else ""
    everything[names[one] + forced] = ledgers[one]
fates = durability.outcomes(spark, everything)
lossy = [row.setting for row in fates.where("fate = 'lost'").distinct().collect()]
ax = durability.fates(fates, order=list(everything))
ax.set_title(f"{len(lossy)} of {len(everything)} experiments lost acknowledged records")
charts.show(ax, f"Bars of {records} records: kept, lost, refused. Lost with: {'; '.join(lossy)}.")

# %% tags=["proof", "B104", "B106", "C57", "C68"]
lost = {one: len(verdict.lost) for one, verdict in verdicts.items()}
assert lost == {**dict.fromkeys(combinations, 0), (3, 1): records - 2 * third}, lost
assert len(verdicts[2, 1].found) == records, verdicts[2, 1]
assert len(verdicts[3, 2].failed) == records - 2 * third, verdicts[3, 2]

# %% [markdown]
# Broker 0 cut off what the new leader did not have: records that `acks=all` had acknowledged, and
# that could be read. The topic that waited has all of its own. An unclean election trades records
# for time.
#
# So the rule has two halves. From the day on which all copies are in sync, sending goes on while at
# most *copies − minimum* of them fail, as long as one that is in sync can lead. And what `acks=all`
# has acknowledged was in the logs of *minimum* brokers at least, so *minimum − 1* of these may be
# lost for ever. (In the log means given to the operating system: Kafka waits for other brokers, not
# for the disk. If all lose their power at once, acknowledged records can go.)

# %% [markdown]
# ## When it goes wrong
#
# Somebody wanted to be quite sure: three copies, and a minimum of three. Brokers 0 and 1 run,
# broker 2 is still stopped. A record with `acks=all`, and what the leader wrote into its own log:

# %%
from kafka.errors import KafkaError

sure = topics[3, 3]
producer = KafkaProducer(bootstrap_servers=cluster.address, acks="all", retries=0, **settings)
try:
    producer.send(sure, b"?").get(timeout=10)
except KafkaError as error:
    refused = type(error).__name__
said = [line for line in cluster.logs(1, 5_000).splitlines() if "NotEnoughReplicas" in line]
print(refused, said[-1], sep="\n")

# %% [markdown]
# *The size of the current ISR*, of the replicas in sync, *is insufficient to satisfy the min.isr
# requirement*: compare the two numbers and you know. The record was not written. A minimum that
# equals the number of copies stops all sending with `acks=all` during every restart. (`retries=0`
# shows the refusal at once. A producer with its defaults tries again for two minutes, and reports
# only that its time is up.)
#
# But the minimum speaks to `acks=all` alone. The same record again, with `acks=1`?

# %% tags=["prediction"]
my_quiet = Choice(
    "With acks=1 the record is …",
    "refused as well",
    "acknowledged, and readable",
    "acknowledged, and readable by nobody",
)
my_quiet

# %%
producer = KafkaProducer(bootstrap_servers=cluster.address, acks=1, **settings)
receipt = producer.send(sure, b"who sees me?").get(timeout=10)
below = cluster.topic(sure).partitions[0]
against = {
    "refused as well": f"it was acknowledged, with the offset {receipt.offset}.",
    "acknowledged, and readable": f"it lies at {receipt.offset}; reading ends before "
    f"{below.end_offset}.",
}
my_quiet.against("acknowledged, and readable by nobody", against)

# %%
cluster.restart(2)
cluster.wait_for_isr(sure, 3)
well = cluster.topic(sure).partitions[0]
print(
    f"in sync: {well.isr}; the record lies at {receipt.offset}, reading ends before",
    well.end_offset,
)

# %% tags=["proof", "B102", "C63"]
assert refused == "NotEnoughReplicasError", refused
assert f"{sure}-0" in said[-1], said
assert receipt.offset >= third, receipt
assert below.end_offset == third, below
assert well.end_offset == receipt.offset + 1, well

# %% [markdown]
# Below the minimum the high watermark stands still (since Kafka 3.7), and readers stop there. It
# moved when broker 2 was back. The first failure wakes somebody. The quiet one does not: the
# producer was told that all is well. (Brokers count such partitions: `UnderMinIsrPartitionCount`.)

# %% [markdown]
# ## Your turn
#
# Payments. Any one broker may fail: sending goes on, and no record is acknowledged that a single
# broker has. Which `copies`, which `minimum`, which `acks`?

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
  in sync with acks=all. Half of the records had it after {half["1"]:.1f} ms with acks=1, after
  {half["all"]:.1f} ms with acks=all.
- With frozen followers acks=1 lost {len(careless.verdict().lost)} of {records} records that it had
  acknowledged, acks=all {len(careful.verdict().lost)}.
- The minimum of in-sync replicas says how few *all* may be. With 1, an unclean election lost
  {len(verdicts[3, 1].lost)}; with 2, as many were refused: nobody was promised anything.
- A record whose acknowledgement is missing is sent again, until the delivery timeout. Can it arrive
  twice? That is lesson 09.
""")

# %%
cluster.close()
spark.stop()
