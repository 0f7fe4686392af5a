# %% [markdown]
# # 08 Durability
#
# You sent records, a broker acknowledged them, and then the broker dies. Which acknowledged records
# are safe? You will lose a whole burst of them, and lose it again whenever you like. What did that
# acknowledgement promise, and who gave the promise?

# %% [markdown]
# You will
# - see on the wire who answers your producer, and when,
# - lose every record of a burst with `acks=0` and `acks=1`, and none with `acks=all`,
# - choose copies and a minimum so that one broker may fail, and see what goes wrong otherwise,
# - say what each setting costs. Needs 04 and 06. 45 minutes.

# %% tags=["parameters"]
records = 120  # in each experiment; a multiple of twelve
sends = 100  # with each setting, to measure what an acknowledgement costs

# %%
from kafka import KafkaAdminClient, KafkaProducer

from kafkalab import Cluster, Ledger, Prediction, charts, quick, spark_session, wait_until

cluster = Cluster.start("replicated", settings={"min.insync.replicas": 2}, gateway=True)
cluster

# %% [markdown]
# ## Who answers, and when?
#
# Every partition here has three **replicas**: a leader and two followers that copy from it. The
# leader answers your producer, and that answer is the **acknowledgement**. Your producer's setting
# `acks` says what the leader waits for before it answers. There are three values, so three
# producers.

# %%
plain, patient = {"enable_idempotence": False}, {"delivery_timeout_ms": 3_600_000}  # an hour
own = {0: plain, 1: plain | patient, "all": patient}  # idempotence needs acks=all: lesson 09
producers = {
    acks: KafkaProducer(
        bootstrap_servers=cluster.address,
        client_id=f"acks-{acks}",
        acks=acks,
        **quick.producer | own[acks],
    )
    for acks in own
}


# %%
def new_topic(name, layout, minimum=1, **configs):
    """A topic whose partition n lies on the brokers `layout[n]`; the first of them leads."""
    topic = cluster.unused(name)
    configs |= {"min.insync.replicas": str(minimum)}
    new = {"assignments": dict(enumerate(layout)), "configs": configs}
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.create_topics({topic: new})
    cluster.wait_for_topic(topic)
    return topic


def first(topic):
    return cluster.topic(topic).partitions[0]


one, two = [[0], [1], [2]] * 2, [[0, 1], [1, 2], [2, 0]] * 2  # layouts of six partitions
early, burst = [f"before {n}" for n in range(6)], [f"record {n}" for n in range(records)]


# %% [markdown]
# One record from each producer, twice over: the first round opens the connections, the second is
# the one to look at. Before each next send you wait until every replica has the record. The last
# line shows which offset each producer was told.

# %%
topic, receipts = new_topic("one-each", [[0, 1, 2]]), []
for value in (b"hello", b"21.5"):
    for producer in producers.values():
        receipts.append(producer.send(topic, value).get(timeout=10))
        wait_until(lambda: first(topic).end_offset == len(receipts), timeout=10, what="copies")
[receipt.offset for receipt in receipts]

# %% [markdown]
# Six records, and they lie at offsets 0 to 5. So the fourth number is false. It belongs to
# `acks=0`: nobody told that producer an offset, and the client library put a 0 where the offset
# should be. The gateway in front of the brokers noted every request and every answer. Here is the
# second round.

# %% tags=["A24", "A114", "C50"]
from kafkalab.lessons import durability

frames = cluster.gateway.frames
sent = {f"acks={acks}": frames("Produce", client_id=f"acks-{acks}")[-1] for acks in producers}
fetches = frames("Fetch", broker=0, between="nodes")
strict = sent["acks=all"]
told = {fetch.source for fetch in fetches if strict.requested < fetch.requested < strict.answered}

assert [frame.outcome for frame in sent.values()] == ["unasked", "answered", "answered"]
if cluster.gateway.covers_nodes:  # with Docker only what clients say passes the gateway
    assert told == {1, 2}  # both followers spoke before acks=all was answered

ax = durability.acknowledgements(sent, fetches)
copies = len(first(topic).isr)
ax.set_title(f"acks=all was answered after {strict.ms:.1f} ms, when there were {copies} copies")
charts.show(
    ax,
    "Three sequences. With acks=0 nothing comes back to the producer. With acks=1 the leader "
    "answers when its own log has the record. With acks=all it answers after each follower has "
    "fetched the record and asked for the next one.",
)

# %% tags=["proof", "A24", "A114", "C50"]
assert [receipt.offset for receipt in receipts] == [0, 1, 2, 0, 4, 5]  # the fourth lies at 3

# %% [markdown]
# Read the third sequence downwards. A follower does not say "I have it". It asks for the *next*
# offset, and from that the leader knows that everything before has arrived. When each follower has
# asked, the high watermark moves past the record, and with `acks=all` this is the moment of the
# answer.
#
# So an acknowledgement is a promise by somebody: by nobody, by one broker, by all that are in sync.
# Now break the brokers at the worst moment for each.

# %% [markdown]
# ## A promise by nobody
#
# Three topics of six partitions; broker 0 leads two partitions of each. You freeze broker 0: its
# connections stay open, and it reads nothing. You send `records` records to each topic (see the
# first cell), then you kill broker 0. One of the topics has *two copies* of every partition and
# gets its records with `acks=0`. How many of them are lost?

# %% tags=["prediction"]
my_lost = Prediction("records")
my_lost

# %% [markdown]
# The whole experiment is in one cell. With `acks=1` you can wait for the records of the two healthy
# brokers only; with `acks=0` you can wait for all.

# %%
cluster.mend()  # all brokers are well, also where you run this cell again
own = quick.producer | plain | {"client_id": "acks-0"}
producers[0] = KafkaProducer(bootstrap_servers=cluster.address, acks=0, **own)  # new connections
silent, copied = new_topic("acks-0-one-copy", one), new_topic("acks-0-two-copies", two)
waiting = new_topic("acks-1-one-copy", one)
runs, frozen = {silent: 0, copied: 0, waiting: 1}, Ledger()


def send_all(ledger, topic, acks, names):  # to the six partitions in turn
    return [
        ledger.sent(name, producers[acks].send(topic, name.encode(), partition=number % 6))
        for number, name in enumerate(names)
    ]


for topic, acks in runs.items():  # after this all leaders are in office, and the way is known
    [promise.get(timeout=10) for promise in send_all(frozen, topic, "all", early)]
    [producers[acks].send(topic, b"hello", partition=p).get(timeout=10) for p in range(6)]
cluster.pause(0)
promises = {topic: send_all(frozen, topic, acks, burst) for topic, acks in runs.items()}
due = [p for t, acks in runs.items() for n, p in enumerate(promises[t]) if acks == 0 or n % 3]
[promise.get(timeout=10) for promise in due]  # every third goes to broker 0
assert 0 in first(copied).isr, "Too slow: broker 0 is given up already. Run this cell again."
cluster.kill(0)
{topic: sum(promise.succeeded() for promise in promises[topic]) for topic in runs}

# %% [markdown]
# With `acks=0` every send succeeded, also those to a broker that stood still. The bytes went into
# the memory that the operating system keeps for a connection, and that is all a producer can know
# without an answer. The controller hears no heartbeat from broker 0, and gives it up when the
# session timeout is over.

# %%
spark = spark_session()  # it starts while the controller waits for heartbeats
cluster.wait_for_leader(copied, 0, among=[1, 2])
alone = [p for p in cluster.topic(waiting).partitions if p.leader is None]
cluster.topic(waiting)

# %% tags=["proof", "C47"]
assert [(p.partition, p.isr, p.elr) for p in alone] == [(0, [], [0]), (3, [], [0])]
assert sum(promise.succeeded() for promise in promises[waiting]) == records * 2 // 3

# %% [markdown]
# With one copy, two partitions have no leader: nobody is in sync, and the only *eligible* replica
# is the dead one. The `acks=1` producer still holds their records and tries again. With two copies
# another replica leads already. Bring broker 0 back and count: **lost** is what was acknowledged
# and is not in the log. (*Reordered*: behind a record that was sent after it. *Strangers*: not sent
# through this ledger, as the greetings.)

# %%
cluster.restart(0)
[cluster.wait_for_leader(topic, partition) for topic in runs for partition in (0, 3)]
said = [line for line in cluster.logs(100, 5_000).splitlines() if f"{waiting}-0 with" in line]
assert any("UNCLEAN" in line and "lastKnownElr: [0] -> []" in line for line in said)
verdict = frozen.verdict(cluster)
verdict

# %% tags=["C46", "C48", "C49", "C51", "C95"]
assert all(promise.succeeded() for promise in promises[waiting])  # those that had to wait, too
lost = {(count.topic, count.partition): count.lost for count in verdict.partitions if count.lost}
my_lost.against(lost[copied, 0] + lost[copied, 3])

# %% tags=["proof", "C46", "C48", "C49", "C51", "C95"]
assert lost == {(topic, p): records // 6 for topic in (silent, copied) for p in (0, 3)}
assert not set(early) & set(verdict.lost)
assert not verdict.duplicated

# %% [markdown]
# Two copies lost as much as one. A follower copies what the leader *has*, and the leader never read
# these records: they died in a buffer of broker 0. And the topic with one copy and `acks=1` lost
# nothing, because its producer knew what had not been answered. An answer was worth more than a
# copy. With one copy on one disk that holds as long as the disk does.

# %% [markdown]
# Who made broker 0 the leader again? A broker that was killed cannot say that its log is whole, so
# on its return it was no longer eligible. It leads as the *last known* leader: see that column
# above. The controller's log calls this *unclean*; the last part comes back to the word.

# %% [markdown]
# ## A promise by one
#
# Now the leader has the record and nobody else. Broker 1 leads, both followers are frozen. As many
# records go out with each setting; broker 1 answers as the setting demands. Then broker 1 is
# killed, the followers go on, and one of them becomes the leader. How many of those that were
# acknowledged with `acks=1` are there?

# %% tags=["prediction"]
my_left = Prediction("records")
my_left

# %% [markdown]
# One thing could spoil it. A follower keeps a fetch request waiting at the leader at all times, and
# the first record after the freeze goes out as its answer, into the frozen follower's buffer. So
# send one record first that is not counted, a **sentinel**, and begin when the leader owes no
# follower an answer.

# %%
cluster.mend()
held = {acks: new_topic(f"held-{acks}", [[1, 2, 0]]) for acks in producers}
leader_only, ends, to_1 = Ledger(), {}, {"broker": 1, "between": "nodes"}
for acks, topic in held.items():
    producers[acks].partitions_for(topic)  # it learns who leads, while all are there to tell
    leader_only.sent("before", producers[1].send(topic, b"before")).get(timeout=10)
wait_until(lambda: {first(t).end_offset for t in held.values()} == {1}, timeout=10, what="copies")
[cluster.pause(follower) for follower in (0, 2)]
producers[1].send(held[1], b"sentinel").get(timeout=10)
wait_until(
    lambda: "open" not in [f.outcome for f in frames("Fetch", **to_1)], timeout=2, what="answers"
)
promises = {
    acks: [leader_only.sent(name, producers[acks].send(topic, name.encode())) for name in burst]
    for acks, topic in held.items()
}
[promise.get(timeout=10) for promise in promises[0] + promises[1]]
led = first(held[1])
assert len(led.isr) == 3, "Too slow: the followers are given up already. Run this cell again."
answered = {acks: sum(promise.is_done for promise in promises[acks]) for acks in held}
cluster.kill(1)
[cluster.resume(follower) for follower in (0, 2)]  # before they are given up
ends["leader killed"] = {acks: cluster.log_ends(held[acks]) for acks in ("all", 1)}
answered

# %% [markdown]
# `acks=1` was answered for every record, `acks=all` for none: its leader was still waiting. Once
# the controller has given broker 1 up, there is a new leader. The `acks=all` producer has kept its
# records and now sends them again, to that one.

# %%
for topic in held.values():
    cluster.wait_for_leader(topic, 0, among=[0, 2])
verdict = leader_only.verdict(cluster)
ends["new leader"] = {acks: cluster.log_ends(held[acks]) for acks in (1, "all")}
found = {count.topic: count.found - 1 for count in verdict.partitions}  # one is from before
my_left.against(found[held[1]])

# %% [markdown]
# Every one was acknowledged, and none exists. But broker 1 wrote them to its disk. Start it again:
# does it bring them back?

# %% tags=["C54", "C55", "C56", "A115", "A116"]
cluster.restart(1)
for topic in held.values():
    cluster.wait_for_isr(topic, 3)
ends["old leader back"] = {acks: cluster.log_ends(held[acks]) for acks in (1, "all")}
verdict = leader_only.verdict(cluster)
lost = {count.topic: count.lost for count in verdict.partitions}
stored, left = (ends[moment][1][1] for moment in ("leader killed", "old leader back"))
assert left == first(held[1]).end_offset  # the old leader has cut its log off

rows = [
    (place, moment, broker, end, f"acks={acks}")
    for place, (moment, logs) in enumerate(ends.items())
    for acks, log in logs.items()
    for broker, end in log.items()
]
ax = durability.log_ends(spark.createDataFrame(rows, durability.LOG_ENDS))
title = f"With acks=1 broker 1 had {stored} records, and then {left}"
ax.set_title(title)
charts.show(ax, f"Log end offsets of three replicas at three moments. {title}.")

# %% tags=["proof", "C54", "C55", "C56", "A115", "A116"]
assert answered[1] == records > answered["all"] == 0
assert lost == {held[0]: records, held[1]: records, held["all"]: 0}
assert "before" not in verdict.lost + verdict.duplicated
assert stored == records + 2  # those of the burst, one before, and the sentinel
assert max(led.end_offset, left) <= 2  # before it died no consumer could read any of the burst

# %% [markdown]
# The old leader threw them away. A replica that returns asks the new leader where their logs part
# and cuts its own off there. Otherwise the consumers of two brokers would read two histories.
#
# Nobody else ever saw these records either. They lay above the high watermark, and consumers read
# below it. So what `acks=1` can lose is what the leader has and the followers have not copied yet.
# In a healthy cluster that is the work of milliseconds; here you chose the moment.

# %% [markdown]
# ## A promise by all that are in sync
#
# `acks=all` waits for all *in-sync* replicas. If two of three are dead, all means one. So a topic
# has a floor, `min.insync.replicas`: with fewer in sync, the leader refuses a record that wants
# `acks=all`. Here are topics with a minimum of 1, 2 and 3, and with two and with three copies.

# %%
from kafka.errors import KafkaError

once = {
    acks: KafkaProducer(
        bootstrap_servers=cluster.address, acks=acks, retries=0, **quick.producer | plain
    )
    for acks in producers
}


def ask(topic, acks, partition=0):
    """Send one record, without a second try: None, or the name of the error."""
    try:
        once[acks].send(topic, b"?", partition=partition).get(timeout=10)
    except KafkaError as error:
        return type(error).__name__


# %%
def to_the_end(topic):
    return first(topic).end_offset == cluster.log_ends(topic)[0]


def ask_all(in_sync):
    for minimum, topic in minimums.items():
        errors = {acks: ask(topic, acks) for acks in once}
        if errors["all"] is None:  # the record with acks=0 may arrive last
            wait_until(lambda t=topic: to_the_end(t), timeout=5, what="the high watermark")
        accepted = "read" if to_the_end(topic) else "unseen"
        for acks, error in errors.items():
            answers[in_sync, minimum, str(acks)] = "refused" if error else accepted


# %% [markdown]
# Now broker 2 is killed. `2-copies-minimum-2` has six partitions, two led by each broker, each with
# a copy on one other broker. It gets `records` records with `acks=all`, spread evenly. How many of
# them does it accept?

# %% tags=["prediction"]
my_accepted = Prediction("records")
my_accepted

# %% tags=["B102", "B103", "C60", "C64"]
cluster.mend()
three = [[0, 1, 2], [1, 2, 0], [2, 0, 1]] * 2
minimums = {number: new_topic(f"minimum-{number}", three[:1], number) for number in (1, 2, 3)}
pair, triple = new_topic("2-copies-minimum-2", two, 2), new_topic("3-copies-minimum-2", three, 2)
single, spread = new_topic("single", [[0]], 2), new_topic("2-copies-minimum-1", two, 1)
floor, answers = Ledger(), {}
ask_all(3)
default = cluster.broker_configs(0)["min.insync.replicas"]
assert ask(single, "all") is None  # one copy, a minimum of 2, and accepted

cluster.kill(2)
cluster.wait_for_leader(pair, 2, among=[0])
cluster.wait_for_isr(minimums[3], 2)
ask_all(2)
assert cluster.log_ends(minimums[3])[0] < 6  # six were sent to it; the refused one is not there
promises = {topic: send_all(floor, topic, "all", burst) for topic in (pair, triple)}
for promise in promises[triple] + promises[pair][::3]:  # of the pair partitions 0 and 3
    promise.get(timeout=20)
refusals = {partition: ask(pair, "all", partition) for partition in range(6)}
accepted = sum(promise.succeeded() for promise in promises[pair])
my_accepted.against(accepted)

# %% tags=["proof", "B102", "B103", "C60", "C64"]
assert (default.value, default.source) == ("2", "DYNAMIC_DEFAULT_BROKER_CONFIG")
assert accepted == records // 3
assert {p for p, error in refusals.items() if error == "NotEnoughReplicasError"} == {1, 2, 4, 5}
assert all(promise.succeeded() for promise in promises[triple])

# %% [markdown]
# Three copies with a minimum of two took everything. Two copies with a minimum of two stopped in
# each partition that had a copy on broker 2: nothing is lost, nothing goes on, and the producer
# tries again. `single`, one copy with a minimum of two, takes records: more than the number of
# copies is never asked for. (The minimum in the controller's file, from the set-up, is now a
# *dynamic* default for all brokers.)

# %% [markdown]
# A record that is refused was not written. But replicas can also drop out while a written record
# waits for them. Then the producer gets a time-out or `NotEnoughReplicasAfterAppendError`, and the
# record *is* in the log; sent again without idempotence, it is there twice (lesson 09).

# %% [markdown]
# The minimum speaks to `acks=all` alone. What about an `acks=1` record where it is not met?

# %%
from kafka.admin import ConfigResource

hidden = new_topic("hidden", [[0, 1, 2]], 3)  # broker 2 is dead: two in sync
receipt = once[1].send(hidden, b"who sees me?").get(timeout=10)
unseen = first(hidden).end_offset
lower = ConfigResource("TOPIC", hidden, configs={"min.insync.replicas": "2"})
with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
    admin.alter_configs([lower])
wait_until(
    lambda: cluster.topic(hidden).configs["min.insync.replicas"].value == "2",
    timeout=10,
    what="the new minimum",
)
wait_until(lambda: ask(hidden, "all") is None, timeout=10, what="a record that is accepted")
unseen, first(hidden).end_offset

# %% tags=["proof", "C63", "A118", "A119"]
assert unseen == receipt.offset == 0  # acknowledged at 0, and readable up to 0: nothing
assert first(hidden).end_offset == cluster.log_ends(hidden)[0] == 2

# %% [markdown]
# Accepted, copied to the other replica in sync, and invisible: below the minimum the high watermark
# stands still. Then the minimum was lowered, on a topic in use. The next record moved the high
# watermark, and both appeared at once.
#
# Now broker 1 is stopped as well, in good order. Before that, four topics for the last part get
# half of their records; their copies are on brokers 0 and 1.

# %% tags=["C31", "C58", "C65", "R16"]
refused = {"NotEnoughReplicasError"}
if cluster.state(1) == "running":  # a second run of this cell only looks
    waits, forced = new_topic("waits", [[0, 1]]), new_topic("forced", [[0, 1]])
    unclean = new_topic("unclean", [[0, 1]], **{"unclean.leader.election.enable": "true"})
    guarded = new_topic("guarded", [[0, 1]], 2)
    fates, last, half = (waits, forced, unclean, guarded), Ledger(), records // 2
    for name in burst[:half]:
        for topic in fates:
            last.sent(name, once["all"].send(topic, name.encode()))
    assert last.settle(20)["failed"] == 0
    cluster.stop(1)
    six = [(triple, "all", partition) for partition in range(6)]
    wait_until(lambda: {ask(*one) for one in six} == refused, timeout=20, what="refusals")
    late = send_all(floor, triple, "all", [f"late {number}" for number in range(records)])

ask_all(1)
assert {ask(*one) for one in six} == refused
assert cluster.quorum().leader == 100  # the controller is a process of its own
leaderless = [p.partition for p in cluster.topic(spread).partitions if p.leader is None]
cluster.topic(triple)

# %% tags=["proof", "C31", "C58", "C65", "R16"]
assert not any(promise.is_done for promise in late)
assert leaderless == [1, 4]  # those whose two copies lie on brokers 1 and 2

# %% [markdown]
# No `acks=all` record is accepted: in each partition one replica is in sync, and two are needed.
# Broker 2 comes back first; broker 1 stays away. Will the sends that wait be done? And the two
# partitions of `2-copies-minimum-1` without a leader, of which broker 2 has a copy, will they get
# one?

# %% tags=["B101", "C66", "C99"]
cluster.restart(2)
for promise in late:
    promise.get(timeout=30)
cluster.wait_for_isr(triple, 2)
assert not [p for p in cluster.topic(triple).partitions if 1 in p.isr]  # it was not needed
assert [p.leader for p in cluster.topic(spread).partitions if p.partition in (1, 4)] == [None] * 2

rows = [(*field, answer) for field, answer in answers.items()]
asked = spark.createDataFrame(rows, durability.ANSWERS)
cases = asked.selectExpr("*", "in_sync >= minimum as met").collect()
assert (len(cases), sum(case.met for case in cases)) == (27, 18)
assert {case.answer for case in cases if case.met} == {"read"}
assert {case.answer for case in cases if not case.met and case.acks == "all"} == {"refused"}
assert {case.answer for case in cases if not case.met and case.acks != "all"} == {"unseen"}
goes_on, one_holds = (
    {case.minimum for case in cases if (case.in_sync, case.answer) == (size, "read")}
    for size in (2, 1)
)
(best,) = goes_on - one_holds  # one may fail, and no record rests on one broker alone

ax = durability.answers(asked)
title = f"Three copies: a minimum of {best} goes on with two and stops at one"
ax.set_title(title)
charts.show(ax, f"What became of a record, by acks, minimum and replicas in sync. {title}.")

# %% tags=["proof", "B101", "C66", "C99"]
assert best == 2

# %% [markdown]
# The sends are done, with two of three brokers. The two partitions still have no leader: broker 2
# left first and may have missed records. Only broker 1, which left last, may lead them. Whoever
# left last must return first.
#
# In the chart, look for the row that you want: it goes on when one broker fails, and lets no record
# rest on one broker alone. There is one such row. So the rule: three copies, a minimum of two and
# at most one below the number of copies, `acks=all`, and idempotence, which is the subject of
# lesson 09.

# %% [markdown]
# ## When the last copy dies
#
# Broker 1 is still stopped. The four topics lie on 0 and 1, so broker 0 is alone in sync. They get
# the other half of their records, with `acks=all`. Then broker 0 is killed, and broker 1, which
# missed that half, comes back. On two of the topics it is made the leader all the same: an
# **unclean election**. How many of the `records` are left there when broker 0 is back as well?

# %% tags=["prediction"]
my_kept = Prediction("records")
my_kept

# %%
if cluster.state(0) == "running":
    for name in burst[half:]:
        for topic in fates:
            last.sent(name, once["all"].send(topic, name.encode()))
    settled, shown = last.settle(20), first(unclean).end_offset
    cluster.kill(0)
cluster.wait_for_brokers([2])
allowed = cluster.broker_configs(2)["unclean.leader.election.enable"]
cluster.topic(guarded)

# %% tags=["proof", "B105"]
assert (allowed.value, allowed.source) == ("false", "DEFAULT_CONFIG")
assert (settled["failed"], shown) == (half, records)  # `guarded` refused; all can be read
assert {first(topic).leader for topic in fates} == {None}
assert [first(topic).elr for topic in fates] == [[0], [0], [0], [0, 1]]
assert [first(topic).last_known_elr for topic in fates] == [[0]] * 4

# %% [markdown]
# `guarded` has a minimum of 2. It refused its second half, so broker 1 has missed nothing there,
# and the controller remembers that: broker 1 is an **eligible leader replica**, in sync or not. On
# the other three only broker 0 is eligible, and it was killed: it can return as the last known
# leader only. Start broker 1.

# %% tags=["B107"]
if cluster.state(1) == "exited":
    cluster.restart(1)
    wait_until(lambda: first(guarded).leader == 1 == first(unclean).leader, timeout=20, what="both")
    assert first(waits).leader is first(forced).leader is None
    with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
        admin.elect_leaders(1, {forced: [0]})  # 1 stands for unclean
    again = producers[1].send(unclean, b"another history").get(timeout=20)

# %% [markdown]
# Four topics, four fates. `guarded` has a leader at once, a clean one. `waits` has none and waits
# for broker 0. `unclean` was told when it was made that any replica may lead; `forced` follows your
# order. You sent one record more to `unclean`, to look at its offset below. Bring broker 0 back.

# %%
cluster.restart(0)
for topic in fates:
    cluster.wait_for_isr(topic, 2)
verdict = last.verdict(cluster)
lost = {count.topic: count.lost for count in verdict.partitions}
my_kept.against(records - lost[unclean])

# %% tags=["B104", "B106", "C59", "C61", "C68"]
from IPython.display import Markdown
from pyspark.sql import functions as F

rest = floor.verdict(cluster)  # those that had to wait: one broker was killed, one was stopped
assert len(rest.acknowledged) == len(rest.found) == records * 3
assert None not in {p.leader for p in cluster.topic(spread).partitions}  # broker 1 is back

every = frozen.frame(spark).union(leader_only.frame(spark))
every = every.union(floor.frame(spark)).union(last.frame(spark))
fate = F.when(F.col("state") == "failed", "refused").when(F.col("copies_in_log") > 0, "kept")
every = every.where("identity like 'record%'").withColumn("fate", fate.otherwise("lost"))
gone = {row.topic for row in every.where("fate = 'lost'").collect()}
assert gone == {silent, copied, held[0], held[1], forced, unclean}
topics = [*runs, *held.values(), pair, triple, *fates]
ax = durability.fates(every, by="topic", order=topics)
title = f"{len(gone)} of {len(topics)} topics lost records that were acknowledged"
ax.set_title(title)
charts.show(ax, f"Bars of {records} records by topic. {title}: {', '.join(sorted(gone))}.")

# %% tags=["proof", "B104", "B106", "C59", "C61", "C68"]
assert rest.lost == rest.duplicated == []
assert lost == {waits: 0, forced: half, unclean: half, guarded: 0}
assert again.offset == half  # consumers have read another record of this offset

# %% [markdown]
# Broker 0 had all of them and cut its log to that of the leader. Half of what `acks=all` had
# acknowledged is gone, and this time it could be read. The record that you added got an offset
# for the second time: two consumers can hold different records of one offset, and neither is wrong.
#
# `waits` has everything, and could not be used meanwhile. An unclean election trades records for
# time. By default Kafka waits.

# %% [markdown]
# ## What a promise costs
#
# If `acks=all` loses nothing, why has anybody ever used something else? Send `sends` records with
# each setting, each when the one before is done; all brokers are well. With `acks=0` nobody
# answers: a record is done when it is handed to the socket. How many times as long as with `acks=1`
# does a record take with `acks=all`?

# %% tags=["prediction"]
my_times = Prediction("times as long")
my_times

# %% tags=["B86", "R21"]
cost, speed = Ledger(), {acks: new_topic(f"speed-{acks}", [[0, 1, 2]]) for acks in producers}
for number in range(sends):
    for acks, topic in speed.items():
        cost.sent(number, producers[acks].send(topic, b"%d" % number)).get(timeout=10)

waited = cost.frame(spark).withColumn("acks", F.regexp_extract("topic", "speed-(0|1|all)", 1))
typical = F.expr("percentile(latency_ms, 0.5)")
rate = (1_000 / typical).alias("per_second")  # one after the other
costs = {row.acks: row for row in waited.groupBy("acks").agg(typical.alias("ms"), rate).collect()}
assert costs["0"].ms < costs["1"].ms < costs["all"].ms
assert costs["0"].per_second > costs["1"].per_second > costs["all"].per_second
times = costs["all"].ms / costs["1"].ms
medians = ", ".join(f"{costs[a].ms:.1f} ms with acks={a}" for a in sorted(costs))
print(my_times.against(times))

ax = charts.latency_distribution(waited, by="acks")
title = f"acks=all takes {times:.1f} times as long as acks=1"
ax.set_title(title)
ax.set_xlabel("milliseconds until the record is done")
charts.show(ax, f"The share of records that were done within a time, by acks. {title}.")

# %% [markdown]
# What `acks=all` adds is one more turn: the followers fetch the record and ask again. It is a wait,
# not work. A producer that does not stand and wait for each answer has many records on the way, and
# that hides much of it. So look at the time of a record, not at records per second.

# %% [markdown]
# ## When it goes wrong
#
# Somebody chose three copies with a minimum of three, to be quite sure. Broker 2 is taken down for
# maintenance. One producer tries again for a second and a half, the other does not. Which error
# does each get?

# %%
sure = new_topic("sure", [[0, 1, 2]], 3)
if cluster.state(2) == "running":
    cluster.stop(2)
cluster.wait_for_isr(sure, 2)
limits = {"retry_backoff_ms": 1_000, "request_timeout_ms": 1_000, "delivery_timeout_ms": 1_500}
trying = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer | limits)
try:
    trying.send(sure, b"?").get(timeout=10)
except KafkaError as error:
    expired = f"{type(error).__name__}: {error}"
hasty = ask(sure, "all")
log = [line for line in cluster.logs(0, 5_000).splitlines() if "NotEnoughReplicasException" in line]
print(hasty, expired, log[-1], sep="\n\n")

# %% tags=["proof", "A117", "C62"]
assert hasty == "NotEnoughReplicasError"
assert expired.startswith("KafkaTimeoutError")
assert f"{sure}-0" in log[-1]

# %% [markdown]
# Three errors, one cause. The first names it: *not enough replicas*. The second does not. The
# producer was refused, tried again, was refused again, and kept that to itself. When its delivery
# timeout ends, it says only that the time is up. Whoever sees this error must look at the broker.

# %% [markdown]
# The third is from there. *The size of the current ISR*, of the replicas in sync, *is insufficient
# to satisfy the min.isr requirement*, the minimum; then the partition, and the brokers that are
# alive. Compare the two numbers and you know. A minimum that equals the number of copies makes an
# outage of every restart.

# %% [markdown]
# ## Try it
#
# - In "A promise by one", put `cluster.wait_for_isr(held[1], 1)` before the kill: then both
#   followers are out of sync. Nothing is lost, and nothing works: the next cell ends with an error.
#   Why?
# - Leave the sentinel and the wait behind it out, and run that experiment a few times. What
#   changes, and why not always?
# - Which `acks`, copies and minimum would you choose for clicks, and which for payments?

# %% [markdown]
# ## What you saw
#
# The leader answers: never with `acks=0`, when its own log has the record with `acks=1`, when all
# in-sync replicas have it with `acks=all`. In numbers of this run:

# %%
Markdown(f"""
- acks=0 lost {records // 3} of {records}, with one copy and with two; acks=1 lost {answered[1]}.
- Without one of three brokers, minimum 2 took {accepted} with two copies and {records} with three.
- An unclean election cost {lost[unclean]} of {records} records that acks=all had acknowledged.
- One record after the other, half of them were done within {medians}.
""")

# %%
cluster.close()
spark.stop()
