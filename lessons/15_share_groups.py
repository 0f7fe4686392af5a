# %% [markdown]
# # 15 Share groups
#
# In a consumer group a partition has one reader at a time, so Judy of lesson 11 had nothing to do.
# What if a topic were a queue, from which every free worker takes the next job?

# %% [markdown]
# You will
# - let four workers share one partition, and count what that costs in order,
# - accept, release and reject a record, and say how often a bad one is handed out,
# - say who gets the record of a worker that is dead, frozen or too slow, and when,
# - choose between the two kinds of groups.
#
# Needs 03 and 11. 25 minutes.

# %% tags=["parameters"]
films_to_develop = 16

# %%
from collections import Counter

from confluent_kafka import AcknowledgeType, ShareConsumer
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import ConfigResource, ConfigResourceType

from kafkalab import Cluster, Prediction, charts, members, quick, wait_until
from kafkalab.lessons import share_groups
from kafkalab.notebook import exercise

cluster = Cluster.start("single")

# %% [markdown]
# ## Four workers, one partition
#
# A photo lab develops films. A record is a film, and its value says how many seconds a machine
# needs for it. This is a worker of a consumer group, as in lesson 11: one film at a time, and a
# commit after each.

# %%
alone = """
worker = KafkaConsumer(topic, bootstrap_servers=address, client_id=name, group_id=group, **settings)
while running():
    for records in worker.poll(timeout_ms=100, max_records=1).values():
        for record in records:
            note("begins", offset=record.offset)
            develop(record.value)
            note("done", offset=record.offset)
            worker.commit()
worker.close()
"""

# %% [markdown]
# A **share group** (KIP-932) is the other kind. The broker gives each record to one member and
# keeps a lock on it for that member. There are no positions to commit: the member *acknowledges*
# each record by itself. kafka-python has no such consumer. confluent-kafka has one, on top of
# librdkafka; it calls it a preview. (The brokers' part and Java's consumer are meant for daily use
# since Kafka 4.2.) `delivery_count` says how often a record was handed out.

# %%
sharing = """
from confluent_kafka import AcknowledgeType, ShareConsumer
worker = ShareConsumer({"bootstrap.servers": address, "group.id": group, **settings})
worker.subscribe([topic])
while running():
    for record in worker.poll(timeout=0.1):
        note("begins", offset=record.offset(), tries=record.delivery_count())
        develop(record.value())
        note("done", offset=record.offset())
        worker.acknowledge(record, AcknowledgeType.ACCEPT)
        told = worker.commit_sync(timeout=10)  # sends it, and waits for the answer
        note("told", errors=[str(error) for error in told.values() if error])
worker.close()
"""

# %% [markdown]
# Where a share group begins, and how long a lock lasts, are settings of the *group*. The brokers
# keep them. By default a group begins at the end, and a lock lasts 30 seconds.


# %%
def film_topic(name, films=(), lock_ms=30_000):
    """A topic of one partition with films, and the settings of a share group of the same name."""
    topic = cluster.unused(name)
    admin.create_topics({topic: {"num_partitions": 1, "replication_factor": 1}})
    cluster.wait_for_topic(topic)
    settings = {"share.auto.offset.reset": "earliest", "share.record.lock.duration.ms": lock_ms}
    admin.alter_configs([ConfigResource(ConfigResourceType.GROUP, topic, settings)])
    for film in films:
        producer.send(topic, value=film).get(timeout=10)
    return topic


def hire(program, names, topic, group, settings):
    given = {"topic": topic, "group": group, "settings": settings, "develop": share_groups.develop}
    return {name: members.start(program, name, address=cluster.address, **given) for name in names}


# %% [markdown]
# Two crews of four get the same films. Film 0 takes 1.6 seconds, each of the others 0.2.

# %% tags=["prediction"]
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
one_by_one = {"share.acknowledgement.mode": "explicit", "max.poll.records": 1, "log_level": 3}
films = film_topic("films")
by_commit = {"auto_offset_reset": "earliest", "enable_auto_commit": False, **quick.consumer}
loners = hire(alone, ["Ada", "Bob", "Cleo", "Dan"], films, f"{films} classic", by_commit)
sharers = hire(sharing, ["Eve", "Finn", "Gus", "Hana"], films, films, one_by_one)
share_groups.ready(cluster, f"{films} classic", 4)
share_groups.ready(cluster, films, 4)
my_overtakers = Prediction("films", "How many films does the share group finish before film 0?")
my_overtakers

# %%
offsets = []
for seconds in [b"1.6"] + [b"0.2"] * (films_to_develop - 1):
    offsets.append(producer.send(films, value=seconds).get(timeout=10).offset)
shared = share_groups.wait_for_films(sharers, offsets)
in_line = share_groups.wait_for_films(loners, offsets)
overtook = share_groups.overtakers(shared)
my_overtakers.against(overtook)

# %%
took = share_groups.seconds_of(shared)
took_longer = share_groups.seconds_of(in_line)
busy = len(share_groups.by_worker(shared))
alone_busy = len(share_groups.by_worker(in_line))
title = f"{alone_busy} busy worker needs {took_longer:.1f} s, {busy} need {took:.1f} s"
ax = share_groups.work_over_time(in_line + shared, [*loners, *sharers])
ax.set_title(title)
charts.show(ax, f"{title}. Film 0 keeps one sharer busy; {overtook} others are done meanwhile.")

# %% tags=["proof"]
assert busy == 4, busy
assert alone_busy == 1, alone_busy
assert sorted(piece.offset for piece in shared) == offsets, shared
assert {piece.tries for piece in shared} == {1}, shared
assert overtook > films_to_develop // 2, overtook
assert share_groups.overtakers(in_line) == 0, in_line
assert [piece.offset for piece in in_line] == offsets, in_line
assert took < took_longer / 1.5, (took, took_longer)
settings = cluster.broker_configs(0)  # nobody has changed these
assert str(settings["group.share.record.lock.duration.ms"]) == "30000 (DEFAULT_CONFIG)", settings
assert str(settings["group.share.delivery.count.limit"]) == "5 (DEFAULT_CONFIG)", settings

# %% tags=["proof"]
batch = film_topic("batch")
with KafkaProducer(bootstrap_servers=cluster.address, linger_ms=500, **quick.producer) as together:
    for _ in range(16):
        together.send(batch, value=b"0")
    together.flush(timeout=10)
with ShareConsumer(
    {"bootstrap.servers": cluster.address, "group.id": batch, **one_by_one}
) as greedy:
    greedy.subscribe([batch])
    polled = wait_until(lambda: list(greedy.poll(timeout=0.5)) or None, timeout=20, what="films")
    for record in polled:
        greedy.acknowledge(record)
assert len(polled) == 16, polled  # though max.poll.records is 1

# %% [markdown]
# Nobody of the share group waits behind film 0, and no partition had to be added. The price is
# order: the films were *begun* in turn, and they ended as it came. What needs the order of a key
# (lesson 02) does not belong here.
#
# One more thing had a part in it: the producer waited for each acknowledgement, so each film was a
# batch by itself. The broker hands out whole batches to this client. Sixteen films in one batch
# would all have gone to one worker, whatever `max.poll.records` says.

# %% [markdown]
# ## A film that tears
#
# Seven films wait, and film 2 cannot be developed: its value is no number. A consumer group has one
# way to try again: stay where you are. (`seek` goes back, or the program dies and the next one
# begins there.)
#
# A member of a share group has three answers. **Accept** says done. **Release** gives the record
# back, for anybody to try. **Reject** says that nobody need try. (By default this client answers
# nothing by itself and accepts all with the next `poll`; the setting `explicit` above asks for a
# word on each.) This worker releases what fails.

# %% tags=["prediction"]
spool = [b"0.01", b"0.01", b"torn", b"0.01", b"0.01", b"0.01", b"0.01"]
line = film_topic("line", spool)
stuck = Counter()
with KafkaConsumer(
    line, bootstrap_servers=cluster.address, group_id=f"{line} classic", **by_commit
) as worker:
    for _ in range(20):
        for place, (record,) in worker.poll(timeout_ms=500, max_records=1).items():
            stuck[record.offset] += 1
            if record.value == b"torn":
                worker.seek(place, record.offset)
my_tries = Prediction("times", "How often does the share group hand the torn film out?")
my_tries


# %%
def work(topic, group, verdict):
    """How often each of seven films came, until all came and no more."""
    came = Counter()
    own = {"bootstrap.servers": cluster.address, "group.id": group, **one_by_one}
    with ShareConsumer(own) as worker:
        worker.subscribe([topic])
        for _ in range(60):  # polls; the first ones may bring nothing
            polled = worker.poll(timeout=0.5)
            for record in polled:
                came[record.offset()] += 1
                worker.acknowledge(record, verdict(record.value(), record.delivery_count()))
            if came[6] and not polled:
                break
    return came


# %%
def release(film, tries):
    try:
        share_groups.develop(film)
        return AcknowledgeType.ACCEPT
    except ValueError:
        return AcknowledgeType.RELEASE


torn = film_topic("torn", spool)
given_up = work(torn, torn, release)
my_tries.against(given_up[2])

# %%
waiting = 7 - len(stuck)
title = f"Share group: {given_up[2]} tries, then the next. Consumer group: {waiting} films wait"
ax = share_groups.deliveries_per_record(stuck, given_up, records=7)
ax.set_title(title)
charts.show(ax, f"{title}. The consumer group got film 2 {stuck[2]} times in twenty polls.")

# %% tags=["proof"]
assert given_up == Counter(dict.fromkeys(range(7), 1) | {2: 5}), given_up
assert stuck[2] > 5, stuck
assert set(stuck) == {0, 1, 2}, stuck

# %% [markdown]
# The fifth release was the last. Kafka's default limit is five deliveries
# (`share.delivery.count.limit` of the group); then the broker gives the record up and goes on. No
# error says so, neither to the worker nor to the producer. In the consumer group the films behind
# wait for as long as somebody tries.

# %% [markdown]
# ## Dead or frozen
#
# A lock ends by itself. In this group it lasts two seconds. A worker takes a film and is killed;
# then another one takes a film and stands still, as a machine does that has too much to do. In both
# cases the film is with a worker who says nothing more.

# %% tags=["prediction"]
held = film_topic("held", lock_ms=2_000)
crew = hire(sharing, ["Ada", "Bob", "Cleo"], held, held, one_by_one)
share_groups.ready(cluster, held, 3)
my_kill = Prediction("seconds", "After how long has somebody else the film of the killed one?")
my_kill

# %%
crew |= hire(sharing, share_groups.dead(crew), held, held, one_by_one)  # in a second run
waited = {}
for fault in ("kill", "freeze"):
    receipt = producer.send(held, value=b"1.2").get(timeout=10)
    first = share_groups.holder(crew, receipt.offset)
    victim = crew[first.worker]
    getattr(victim, fault)()
    heir = share_groups.holder(crew, receipt.offset, besides=[first.worker])
    waited[fault] = heir.began - first.began
victim.thaw()
late = share_groups.answer_to(victim, receipt.offset)
killed, frozen = waited["kill"], waited["freeze"]
print(f"frozen: after {frozen:.1f} s. Then it goes on, and to its ACCEPT it is told:", *late)
my_kill.against(round(killed, 1))

# %% tags=["proof"]
assert killed < 1.5, waited
assert 1.8 < frozen < 4, waited
assert heir.tries == 2, heir
assert any("INVALID_RECORD_STATE" in error for error in late), late
twice = share_groups.settled(crew, receipt.offset, quiet=0)
assert [piece.tries for piece in twice] == [1, 2], twice  # both have done it, from start to end

# %% [markdown]
# The connection of the killed one broke, and the broker took that as a release. (A member of a
# consumer group is missed only when its session ends.) A frozen one keeps its connection, so the
# lock had to end. When it came back it finished its film, and was refused: the film is another
# worker's by now. So it was developed twice. A share group promises *at least once*, no more.

# %% [markdown]
# ## What the broker keeps
#
# A consumer group has one number for each partition. Here records are done in any order, so the
# broker keeps a state and a count for each record between a *start offset* and the newest one
# handed out. Kafka's own tool shows the group of the torn film. Six of its seven films were
# accepted, one was given up.

# %%
command = f"--bootstrap-server {{bootstrap}} --describe --offsets --group {torn}"
told = cluster.tool("kafka-share-groups", *command.split()).stdout
print(told)

# %% tags=["proof"]
import time

settings = {"share.auto.offset.reset": "earliest"}
second = f"{torn} archive {time.monotonic_ns()}"
admin.alter_configs([ConfigResource(ConfigResourceType.GROUP, second, settings)])
everything = work(torn, second, lambda film, tries: AcknowledgeType.ACCEPT)
(kept,) = cluster.topic(torn).partitions
assert int(told.split()[-1]) == 0, told
assert kept.start_offset == 0, kept
assert kept.end_offset == 7, kept
assert everything == Counter(range(7)), everything
assert cluster.group(torn).type == "share", cluster.group(torn)
command = f"--bootstrap-server {{bootstrap}} --group {torn} --topic {torn}"
back = "--reset-offsets --to-earliest --execute"
cluster.tool("kafka-share-groups", *command.split(), *back.split())
anew = work(torn, torn, lambda film, tries: AcknowledgeType.ACCEPT)
assert anew == Counter(range(7)), anew

# %% [markdown]
# The lag is 0: given up counts as done. But this is no queue that forgets. The log keeps all seven
# for as long as its retention says (lesson 01), and a second group would get them all.
#
# | you need | consumer group | share group |
# |---|---|---|
# | more workers than partitions | some idle | all busy |
# | the order of a key | yes | no |
# | one bad record not to stop the rest | your own code | release, reject, limit |
# | exactly once, by a transaction (lesson 10) | yes | no |
# | to go back to an offset | `seek` | only the whole group, when nobody is in it |

# %% [markdown]
# ## When it goes wrong
#
# A film of one and a half seconds, and a lock of one. All workers are well.

# %% tags=["prediction"]
shorter = {"share.record.lock.duration.ms": 1_000}
admin.alter_configs([ConfigResource(ConfigResourceType.GROUP, held, shorter)])
my_long = Prediction("times developed", "How often is the long film developed, from start to end?")
my_long

# %%
receipt = producer.send(held, value=b"1.5").get(timeout=10)
tries = share_groups.settled(crew, receipt.offset, quiet=2)
answers = share_groups.answers(crew, receipt.offset)
refused = sum(bool(errors) for errors in answers)
print(my_long.against(len(tries)))
title = f"Developed {len(tries)} times; {refused} times the answer is an error"
ax = share_groups.work_over_time(tries, share_groups.by_worker(tries), label="tries")
ax.set_title(title)
charts.show(ax, f"{title}. Each second the film is handed out anew, while others are still at it.")

# %% tags=["proof"]
import itertools

assert [piece.tries for piece in tries] == [1, 2, 3, 4, 5], tries
assert all(piece.ended for piece in tries), tries
gaps = [later.began - one.began for one, later in itertools.pairwise(tries)]
assert all(0.9 < gap < 1.5 for gap in gaps), gaps
assert refused == 4, answers
assert all("INVALID_RECORD_STATE" in errors[0] for errors in answers[:4]), answers
assert answers[4] == [], answers

# %% [markdown]
# At the end of each lock the film was another worker's, so all these acceptances came too late. The
# number in a bar is the delivery. After the fifth the broker gave the film up: a film that every
# worker had developed. The last one even got no error, so read the others: `The record state is
# invalid` says that your lock has ended. Choose a lock that is longer than your longest work.
# (Java's client can also renew a lock, since 4.2; this one cannot.)

# %% [markdown]
# ## Your turn
#
# A worker can do better than release all that fails. A `busy` film fails at its first try only,
# when no machine is free. A `torn` one fails each time. Which answer is right for which? (The other
# films are accepted for you.)

# %% tags=["exercise"]
films_on_shelf = [b"0.01", b"busy", b"torn", b"0.01", b"busy", b"0.01", b"0.01"]
# BEGIN SOLUTION
# STUB: answer = ...  # {b"busy": AcknowledgeType.…, b"torn": AcknowledgeType.…}
answer = {b"busy": AcknowledgeType.RELEASE, b"torn": AcknowledgeType.REJECT}
# END SOLUTION


def say(film, tries):
    done = film == b"0.01" or (film == b"busy" and tries > 1)
    return AcknowledgeType.ACCEPT if done else answer[film]


def tried(_):
    shelf = film_topic("shelf", films_on_shelf)
    return share_groups.spoilt(work(shelf, shelf, say), busy=(1, 4), torn=2)


exercise.check("the answers", answer, tried)

# %% [markdown]
# Four programs want records from Kafka. Which of them want a share group? Write a set of letters.
#
# - a: books the payments of each account in their order
# - b: makes small copies of photos, some of which are damaged
# - c: counts by a transaction, so that nothing counts twice
# - d: sends letters; one takes a second, another a minute

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: for_sharing = ...
for_sharing = {"b", "d"}
# END SOLUTION
exercise.check("for sharing", for_sharing, share_groups.fits)

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- On one partition {busy} of four sharers worked and {alone_busy} of the other four. Film 0 was
  overtaken by {overtook}: a share group keeps no order.
- A film that was released each time came {given_up[2]} times, and then the broker gave it up. One
  that is rejected comes no more.
- The film of a killed worker was handed out again after {killed:.1f} s, that of a frozen one when
  the lock had ended, after {frozen:.1f} s. It was developed twice.
- Work that was longer than its lock was done {len(tries)} times, and never accepted.
""")

# %%
cluster.close()
