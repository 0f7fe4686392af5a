# %% [markdown]
# # 13 Offsets
#
# A program reads payments from a log and charges cards. It can die at any moment, and then somebody
# starts it again. No customer wants to pay twice, and the shop wants its money. What is done twice,
# what never?

# %% [markdown]
# You will
# - kill a program between its work and its commit, and say what that costs,
# - say what the automatic commit takes as done, and when,
# - weigh the price of a commit, and find it in the log,
# - let work and offset change together, so that ten kills leave no trace.
#
# Needs 03 and 11. 25 minutes.

# %% tags=["parameters"]
seed = 6  # of the points at which a program is killed ten times

# %%
import sqlite3
import time

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.errors import NoOffsetForPartitionError

from kafkalab import Choice, Cluster, Prediction, charts, clients, quick, wait_until
from kafkalab.lessons import offsets
from kafkalab.notebook import exercise

# Brokers look for commits that have expired every ten minutes; this one does it each second.
cluster = Cluster.start("single", settings={"offsets.retention.check.interval.ms": 1_000})

# %% [markdown]
# ## Killed once
#
# Twelve payments lie in one partition, and a hundred in another for later. A value is an amount in
# euros.

# %%
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
payments = cluster.unused("payments")
admin.create_topics({payments: {"num_partitions": 2, "replication_factor": 1}})
cluster.wait_for_topic(payments)
few = TopicPartition(payments, 0)
many = TopicPartition(payments, 1)
for place, number in ((few, 12), (many, 100)):
    for euros in range(1, number + 1):
        producer.send(payments, value=b"%d" % euros, partition=place.partition)
producer.flush(timeout=10)

# %% [markdown]
# The program below takes four at a time, charges each, and commits. `note` writes a charge down,
# and no kill takes that back, as with a bank. At `danger` the power may fail. (`assign` takes a
# partition without asking the group who reads what, so nobody waits for a dead member's session.
# The group is there for the commits alone.)
#
# `desk.killed` kills it (SIGKILL) at its eighth charge: the second batch is charged, its commit not
# sent. Then it starts the same program once more, which reads to the end. How many payments are
# charged twice?

# %% tags=["prediction"]
careful = """
consumer = KafkaConsumer(bootstrap_servers=address, group_id=group, **settings)
consumer.assign([place])
while consumer.position(place) < end:
    records = consumer.poll(timeout_ms=10_000, max_records=4)[place]
    danger("ready")
    for record in records:
        note("charged", offset=record.offset)
        danger("charged")
    consumer.commit()
consumer.close()
"""
my_twice = Prediction("payments charged twice")
my_twice

# %%
by_hand = {"auto_offset_reset": "earliest", "enable_auto_commit": False, **quick.consumer}
desk = offsets.Desk(cluster, few, by_hand)
careful_trial = desk.killed(careful, ("charged", 8))
print(careful_trial)
my_twice.against(len(careful_trial.twice))

# %% tags=["proof"]
assert careful_trial.twice == [4, 5, 6, 7], careful_trial
assert careful_trial.never == [], careful_trial
assert careful_trial.charged == (list(range(8)), list(range(4, 12))), careful_trial
assert careful_trial.committed == [None, 4, 4], careful_trial

# %% [markdown]
# The next program begins at the commit, as in lesson 03. Each payment is charged **at least once**.
#
# Move one line, and the commit comes before the work.

# %% tags=["prediction"]
commit = "    consumer.commit()\n"
ready = '    danger("ready")\n'
hasty = careful.replace(commit, "").replace(ready, commit + ready)
print(hasty)
my_titles = Choice(
    "A book calls the first program “at most once” and this one “at least once”. Right?",
    "right",
    "swapped",
)
my_titles

# %%
hasty_trial = desk.killed(hasty, ("charged", 6))
print(hasty_trial)
found = f"the first charged {len(careful_trial.twice)} twice, this one {len(hasty_trial.twice)}."
my_titles.against("swapped", {"right": found})

# %% tags=["proof", "B187"]
assert hasty_trial.twice == [], hasty_trial
assert hasty_trial.never == [6, 7], hasty_trial
assert hasty_trial.committed == [4, 8, 8], hasty_trial
assert hasty.count("consumer.commit()") == 1, hasty
assert hasty.index("commit()") < hasty.index("note("), hasty

# %% [markdown]
# It died in the middle of the second batch, whose commit said that all of it was done. **At most
# once**: what the next program skips is charged never, and nobody gets an error.

# %% [markdown]
# ## The automatic commit
#
# Most programs leave the commit to the client, `enable_auto_commit=True`. This one also gathers
# eight payments before it charges them, as the bank likes larger orders. It is killed right after
# its second poll, with nothing charged. `poll` may commit when an interval is over: 5 seconds by
# default, here a millisecond, so at every poll. How many payments are never charged?

# %% tags=["prediction"]
start = careful[: careful.index("while")]
gathering = f"""{start}
gathered = []
while consumer.position(place) < end:
    gathered += consumer.poll(timeout_ms=10_000, max_records=4)[place]
    danger("ready")
    if len(gathered) == 8 or consumer.position(place) == end:
        for record in gathered:
            note("charged", offset=record.offset)
            danger("charged")
        gathered = []
consumer.close()
"""
my_never = Prediction("payments never charged")
my_never

# %% [markdown]
# All together: five programs, each killed at three points.

# %%
automatic = {"enable_auto_commit": True, "auto_commit_interval_ms": 1}
at_once = careful.replace(commit, "")
programs = {
    "work, then commit": (careful, {}),
    "commit, then work": (hasty, {}),
    "automatic, at each poll": (at_once, automatic),
    "automatic, once a minute": (at_once, automatic | {"auto_commit_interval_ms": 60_000}),
    "automatic, gathering": (gathering, automatic),
}
points = {("ready", 2): "after 2 polls", ("charged", 6): "after 6 charges"}
points[("charged", 8)] = "after 8 charges"
fates = {(one.how, one.point): one for one in desk.all_killed(programs, points)}

# %%
gathered = fates["automatic, gathering", ("ready", 2)]
print("gathering: committed offset after its first and its second poll:", gathered.committed)
print(my_never.against(len(gathered.never)))
most_twice = max(len(trial.twice) for trial in fates.values())
most_never = max(len(trial.never) for trial in fates.values())
title = f"One kill, five programs: up to {most_twice} twice, up to {most_never} never"
ax = offsets.by_point(list(fates.values()), points)
ax.set_title(title)
charts.show(ax, f"{title}. For each program and each point of the kill, the fate of 12 payments.")

# %% tags=["proof", "B85", "B185"]
found = {place: (one.twice, one.never) for place, one in fates.items()}
careful_fates = [found["work, then commit", point] for point in points]
assert careful_fates == [([], []), ([4, 5], []), ([4, 5, 6, 7], [])], found
hasty_fates = [found["commit, then work", point] for point in points]
assert hasty_fates == [([], [4, 5, 6, 7]), ([], [6, 7]), ([], [])], found
assert [found["automatic, at each poll", point] for point in points] == careful_fates, found
minute = [found["automatic, once a minute", point] for point in points]
assert gathered.committed[-1] == 4, gathered
assert minute == [([0, 1, 2, 3], []), ([0, 1, 2, 3, 4, 5], []), (list(range(8)), [])], found
gathers = [found["automatic, gathering", point] for point in points]
assert gathers == [([], [0, 1, 2, 3]), ([4, 5], []), ([4, 5, 6, 7], [])], found
singly = {
    how: (text.replace("max_records=4", "max_records=1"), {})
    for how, text in (("at least", careful), ("at most", hasty))
}
fine = desk.all_killed(singly, [("ready", 2), ("charged", 2)])
each = [(one.twice, one.never) for one in fine]
assert each == [([], []), ([1], []), ([], [1]), ([], [])], fine

# %% tags=["proof", "B160"]
from kafkalab.lessons.reading import new_group

interval = by_hand | {"enable_auto_commit": True, "auto_commit_interval_ms": 600}
timed = new_group(cluster, f"{payments} timed")
with KafkaConsumer(bootstrap_servers=cluster.address, group_id=timed, **interval) as slow:
    slow.assign([few])
    began = time.monotonic()
    got = slow.poll(timeout_ms=10_000, max_records=4)[few]
    assert len(got) == 4, got
    slow.pause(few)
    early = slow.committed(few)
    wait_until(lambda: time.monotonic() - began > 1, timeout=5, what="an interval without a poll")
    assert slow.committed(few) == early, "without a poll nothing is committed"
    assert early in (None, 0), early
    wait_until(
        lambda: slow.poll(timeout_ms=50) or slow.committed(few) == 4, timeout=5, what="the commit"
    )
    took = time.monotonic() - began
    assert took >= 0.6, took
    slow.resume(few)
    got = slow.poll(timeout_ms=10_000, max_records=4)[few]
    assert got[0].offset == 4, got
left = admin.list_group_offsets(timed)[timed][few].offset
assert left == 8, left  # `close` commits, too

# %% [markdown]
# The gathering program's second poll committed 4, the position that the first one had left. The
# **automatic commit** takes what *earlier* polls handed out as done, whatever became of it. It
# comes in `poll`, when the interval is over, and in `close`. (In kafka-python, and in Java's client
# with the older group protocol.)
#
# Each row has orange or blue: between work and commit a kill means twice, between commit and work
# it means never. The gathering program has both, and the moment of the kill decides. With a longer
# interval, more is done twice.

# %% [markdown]
# ## What a commit costs
#
# A smaller batch makes the damage smaller. The smallest is one payment with a commit of its own.
# (What is committed is the *next* offset: one more than that of the record.) A clerk commits a
# hundred times.

# %% tags=["prediction"]
clerk = KafkaConsumer(bootstrap_servers=cluster.address, group_id=f"{payments} clerk", **by_hand)
clerk.assign([many])
began = time.perf_counter()
for offset in range(100):
    clerk.commit({many: OffsetAndMetadata(offset + 1, "", -1)})
waited = (time.perf_counter() - began) * 1000 / 100
print(f"commit: {waited:.2f} ms; for every 20th payment, {waited / 20:.2f} ms a payment")
clerk.commit({many: OffsetAndMetadata(0, "", -1)})  # back to the start
my_commit = Choice(
    "Now the same with `commit_async`, which does not wait. How many of the hundred arrive?",
    "all",
    "not all",
)
my_commit

# %%
answers = []
began = time.perf_counter()
for offset in range(100):
    answers.append(clerk.commit_async({many: OffsetAndMetadata(offset + 1, "", -1)}))
called = (time.perf_counter() - began) * 1000 / 100
wait_until(lambda: all(one.is_done for one in answers), timeout=10, what="all answers")
failed = [one.exception for one in answers if one.exception]
reached = clerk.committed(many)
print(f"commit_async: {called:.2f} ms; {len(failed)} failed, the committed offset is {reached}")
my_commit.against("not all", {"all": f"{100 - len(failed)} did, and no line raised an error."})

# %% tags=["proof", "B161"]
from kafka.errors import NodeNotReadyError, OffsetMetadataTooLargeError

assert called < waited, (called, waited)
assert 0 < len(failed) < 100, len(failed)
arrived = [n + 1 for n, answer in enumerate(answers) if not answer.exception]
assert reached == arrived[-1], (reached, arrived)
assert {type(error) for error in failed} == {NodeNotReadyError}, failed
# A refusal by a broker: `commit` raises; of `commit_async` the callback is told, in a later poll.
too_long = {many: OffsetAndMetadata(7, "why " * 2_000, -1)}
try:
    clerk.commit(too_long)
except OffsetMetadataTooLargeError as error:
    refused = error
assert isinstance(refused, OffsetMetadataTooLargeError), refused
told = []
future = clerk.commit_async(too_long, callback=lambda commits, answer: told.append(answer))
wait_until(lambda: future.is_done, timeout=10, what="the answer")
assert told == [], told
clerk.poll(timeout_ms=1_000, max_records=1)
assert [type(answer) for answer in told] == [OffsetMetadataTooLargeError], told
assert clerk.committed(many) == reached, clerk.committed(many)
# A commit costs the same for one record and for twenty, so the price of a record falls.
began = time.perf_counter()
for offset in range(0, 100, 20):
    clerk.commit({many: OffsetAndMetadata(offset + 20, "", -1)})
of_twenty = (time.perf_counter() - began) * 1000 / 100
assert of_twenty < waited, (of_twenty, waited)

# %% [markdown]
# `commit` waits until a broker has written it down, and raises where it cannot. `commit_async`
# waits for nothing. What became of it, its future knows, or a `callback`; this loop asked neither.
# (They failed because kafka-python has five requests on their way to a broker and refuses the
# sixth. Java's client lets it wait. A coordinator that is gone fails for both.)
#
# A commit that failed does no harm where a later one works, as that says more. So the usual loop
# calls `commit_async` for each batch, looks at the answers, and calls `commit` at its end.

# %% [markdown]
# ## Work and offset change together
#
# As long as work and commit are two steps, a kill can come between. Lesson 10 made them one step
# for work that ends in Kafka. Here it ends in a database (SQLite, a file), so the offset becomes a
# row of the *same* database. This program has no group. It asks its database where to go on, and
# calls `seek`.

# %%
begin = """
import sqlite3
db = sqlite3.connect(file, isolation_level=None)  # a transaction lasts from BEGIN to COMMIT
db.execute("CREATE TABLE IF NOT EXISTS charges (offset, amount, by)")
db.execute("CREATE TABLE IF NOT EXISTS offsets (topic, part, next, PRIMARY KEY (topic, part))")
consumer = KafkaConsumer(bootstrap_servers=address, **settings)
consumer.assign([place])
found = db.execute("SELECT next FROM offsets WHERE topic = ? AND part = ?", place).fetchone()
consumer.seek(place, found[0] if found else 0)
"""

# %%
together = f"""{begin}
while consumer.position(place) < end:
    records = consumer.poll(timeout_ms=10_000, max_records=4)[place]
    danger("ready")
    db.execute("BEGIN")
    for record in records:
        charge = (record.offset, int(record.value), name)
        db.execute("INSERT INTO charges VALUES (?, ?, ?)", charge)
        danger("booked")
    db.execute("REPLACE INTO offsets VALUES (?, ?, ?)", (*place, consumer.position(place)))
    danger("placed")
    db.execute("COMMIT")
    danger("committed")
"""

# %% [markdown]
# A hundred payments, and ten kills, one after the other, at points drawn by `seed`. Beside it runs
# the same program without its two lines `BEGIN` and `COMMIT`, killed at the same points. How many
# payments does the first one charge twice or never, in its ten lives and an eleventh?

# %% tags=["prediction"]
apart = together.replace('db.execute("BEGIN")', "").replace('db.execute("COMMIT")', "")
both = {"one transaction": together, "each line by itself": apart}
my_wrong = Prediction("payments charged twice or never")
my_wrong

# %%
kills = offsets.ten_kills(seed)
books = offsets.survive(cluster, many, both, kills, by_hand)
wrong = {name: len(one.twice) + len(one.never(100)) for name, one in books.items()}
print(my_wrong.against(wrong["one transaction"]))
axes = offsets.by_life(books, 100)
title = "Ten kills, payments wrong: {} in one transaction, {} without".format(*wrong.values())
axes[0].figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
charts.show(axes[0], f"{title}. The offsets that each life charged, in two programs.")

# %% tags=["proof", "B188"]
amounts = {number: number + 1 for number in range(100)}
one = books["one transaction"]
assert one.twice == [], one.twice
assert one.never(100) == [], one.never(100)
assert set(one.times.values()) == {1}, one.times
assert dict(one.select("SELECT offset, amount FROM charges")) == amounts, "what the log holds"
assert one.select("SELECT next FROM offsets") == [(100,)], one.select("SELECT next FROM offsets")
assert len(one.lives) == 11, one.lives
points_seen = {life.killed_at for life in one.lives[:10]}
assert points_seen == {"ready", "booked", "placed", "committed"}, points_seen
assert books["each line by itself"].twice, books["each line by itself"].lives
assert books["each line by itself"].never(100) == [], books["each line by itself"].lives

# %% tags=["proof", "A29"]
handler = apart.replace("(offset, amount, by)", "(offset PRIMARY KEY, amount, by)")
handler = handler.replace("INSERT INTO", "INSERT OR IGNORE INTO")
hidden = offsets.survive(cluster, many, {"handler": handler}, kills, by_hand)["handler"]
assert set(hidden.times.values()) == {1}, hidden.times
assert len(hidden.times) >= 100, hidden.times

# %% tags=["proof", "B189", "B190", "B191", "B192"]
from kafkalab import members
from kafkalab.lessons.offsets import Books

prices = cluster.unused("prices")
admin.create_topics({prices: {"num_partitions": 2, "replication_factor": 1}})
cluster.wait_for_topic(prices)
names = ["IBM", "UBER", "GOOG"]


def trade(numbers):
    for number in numbers:
        name = names[number % 3]
        producer.send(prices, b"%d" % number, key=name.encode(), partition=number % 3 % 2)
    producer.flush(timeout=10)


# The partitions by a group, the positions by the database, whatever Kafka has committed.
trader = """
import sqlite3
from kafka import ConsumerRebalanceListener

def connect():
    return sqlite3.connect(file, isolation_level=None, timeout=10)

class Seek(ConsumerRebalanceListener):
    def on_partitions_revoked(self, revoked):
        pass
    def on_partitions_assigned(self, assigned):
        db = connect()  # of this thread, which is the client's
        for place in assigned:
            row = db.execute("SELECT next FROM offsets WHERE topic=? AND part=?", place).fetchone()
            consumer.seek(place, row[0] if row else 0)
            note("sought", partition=place.partition, offset=row[0] if row else 0)
        db.close()

db = connect()
db.execute("CREATE TABLE IF NOT EXISTS charges (offset, part, by)")
db.execute("CREATE TABLE IF NOT EXISTS stocks (name PRIMARY KEY, price, part, at)")
db.execute("CREATE TABLE IF NOT EXISTS offsets (topic, part, next, PRIMARY KEY (topic, part))")
consumer = KafkaConsumer(bootstrap_servers=address, group_id=topic, **settings)
consumer.subscribe([topic], listener=Seek())
while running():
    for place, records in consumer.poll(timeout_ms=100, max_records=4).items():
        db.execute("BEGIN IMMEDIATE")
        for record in records:
            row = (record.offset, place.partition, name)
            db.execute("INSERT INTO charges VALUES (?, ?, ?)", row)
            stock = (record.key.decode(), int(record.value), place.partition, record.offset)
            db.execute(
                "INSERT INTO stocks VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE "
                "SET price = excluded.price, at = excluded.at WHERE excluded.at > at", stock)
        db.execute("REPLACE INTO offsets VALUES (?, ?, ?)", (*place, records[-1].offset + 1))
        consumer.commit()  # for those who watch the lag
        db.execute("COMMIT")
        note("stored", partition=place.partition, offset=records[-1].offset)
consumer.close()
"""
held = Books()
own = {"topic": prices, "file": held.file, "settings": by_hand}
in_order = "SELECT part, offset FROM charges ORDER BY part, offset"


def stored(number):
    wait_until(
        lambda: len(held.select("SELECT 1 FROM charges")) >= number,
        timeout=30,
        what=f"{number} rows",
        seen=lambda: [ada.said, bob and bob.said],
    )


trade(range(60))
bob = None
ada = members.start(trader, "ada", address=cluster.address, **own)
wait_until(lambda: any(e.what == "stored" for e in ada.events), timeout=30, what="the tables")
stored(60)
bob = members.start(trader, "bob", address=cluster.address, **own)
bob.wait_for(lambda seen: any(e.what == "sought" for e in seen) or None, what="a partition")
(took_over,) = [e.facts for e in bob.events if e.what == "sought"]
at = dict(held.select("SELECT part, next FROM offsets"))
assert took_over["offset"] == at[took_over["partition"]], (took_over, at)
assert took_over["offset"] > 0, took_over
trade(range(60, 90))
stored(90)
ada.kill()
trade(range(90, 120))
stored(120)  # Bob has both now
bob.stop()
assert {e.facts["partition"] for e in bob.events if e.what == "stored"} == {0, 1}, bob.events
left = admin.list_group_offsets(prices)[prices]
admin.delete_group_offsets(prices, list(left))
assert admin.list_group_offsets(prices)[prices] == {}, "Kafka knows nothing any more"
trade(range(120, 150))
ada = members.start(trader, "ada", address=cluster.address, **own)
stored(150)
ada.stop()
sought = {e.facts["partition"]: e.facts["offset"] for e in ada.events if e.what == "sought"}
assert sum(sought.values()) == 120, sought
admin.reset_group_offsets(prices, dict.fromkeys(left, 0))  # and wrong ones do not matter
trade(range(150, 153))
ada = members.start(trader, "ada", address=cluster.address, **own)
stored(153)
ada.stop()
each_once = [(0, n) for n in range(102)] + [(1, n) for n in range(51)]
assert held.select(in_order) == each_once, held.select(in_order)
newest = dict(held.select("SELECT name, price FROM stocks"))
assert newest == {"IBM": 150, "UBER": 151, "GOOG": 152}, newest

# %% tags=["proof", "B193"]
highest = "SELECT max(at) + 1 FROM stocks WHERE part = 1"
next_one = "SELECT next FROM offsets WHERE part = 1"
assert held.select(highest) == held.select(next_one) == [(51,)], held.select(highest)
with sqlite3.connect(held.file) as rows:
    rows.execute("DELETE FROM stocks WHERE name = 'UBER'")  # a share is no longer traded
rows.close()
assert held.select(highest) == [(None,)], "by its rows the program would begin anew"
assert held.select(next_one) == [(51,)], "by its own table it goes on"

# %% tags=["proof", "B156", "B157", "B159"]
import json
import random
from dataclasses import asdict, dataclass

from pyspark.sql import functions as F

from kafkalab import read_topic, spark_session


@dataclass(frozen=True)
class StockPrice:
    dollars: int
    cents: int
    name: str

    def to_json(self):
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, data):
        return cls(**json.loads(data))

    def __str__(self):
        return f"{self.name} {self.dollars}.{self.cents:02}"


rng = random.Random(seed)
stocks = cluster.unused("stock-prices")
admin.create_topics({stocks: {"num_partitions": 3, "replication_factor": 1}})
cluster.wait_for_topic(stocks)
sent_prices = {}
for _ in range(250):
    price = StockPrice(rng.randrange(1_000), rng.randrange(100), rng.choice(names))
    producer.send(stocks, price.to_json(), key=price.name.encode())
    sent_prices[price.name] = price
producer.flush(timeout=10)
newest, statistics, batches = {}, [], 0
with KafkaConsumer(bootstrap_servers=cluster.address, **by_hand) as simple:
    simple.assign([TopicPartition(stocks, number) for number in range(3)])
    for _ in range(300):
        for records in simple.poll(timeout_ms=200, max_records=1).values():
            batches += 1
            for record in records:
                newest[record.key.decode()] = StockPrice.from_json(record.value)
            if batches % 100 == 0:
                statistics.append([batches, *map(str, newest.values())])
        if batches == 250:
            break
assert newest == sent_prices, newest
assert [lines[0] for lines in statistics] == [100, 200], statistics
shown = [line.rpartition(".")[2] for lines in statistics for line in lines[1:]]
assert {len(cents) for cents in shown} == {2}, statistics
assert str(StockPrice(68, 7, "IBM")) == "IBM 68.07", str(StockPrice(68, 7, "IBM"))
assert StockPrice.from_json(price.to_json()) == price, price
spark = spark_session()
by_key = read_topic(spark, cluster, stocks).groupBy("key")  # a key has one partition
rows = by_key.agg(F.max_by("value", "offset").alias("value")).collect()
of_spark = {row.key.decode(): StockPrice.from_json(bytes(row.value)) for row in rows}
assert newest == of_spark, (newest, of_spark)
spark.stop()

# %% [markdown]
# None. A transaction that was not committed leaves nothing, neither charge nor offset, and the next
# life begins where the last whole one ended. The records were *read* more than once. Their effect
# is there **exactly once**. And without the two lines the same kills show.
#
# This holds as far as the database goes: a letter in the post knows no rollback. Where the effect
# has a name of its own, as the offset is here, a unique key in the table hides repeats as well.

# %% [markdown]
# ## When it goes wrong
#
# A commit is a record, too. The clerk's lie in the brokers' topic `__consumer_offsets`, one for
# each commit that worked, and the last one counts.

# %%
group = f"{payments} clerk"
clerk.commit({many: OffsetAndMetadata(100, "", -1)})
log = KafkaConsumer(
    "__consumer_offsets",
    bootstrap_servers=cluster.address,
    auto_offset_reset="earliest",
    **quick.consumer,
)
commits = offsets.commits_of(group, clients.records_until_end(log))
len(commits), commits[-1]

# %% [markdown]
# And it can go. Brokers let a commit **expire**: by default seven days after the last member of a
# group has left; with `assign`, seven days after it was made (`offsets.retention.minutes`). You
# need not wait for that. An admin client deletes the clerk's, and the log then says the same. Three
# more payments come, and the clerk starts again, with each of the three reset policies.

# %%
admin.delete_group_offsets(group, [many])
print(*offsets.commits_of(group, clients.records_until_end(log)))
for euros in (101, 102, 103):
    producer.send(payments, value=b"%d" % euros, partition=1).get(timeout=10)
for policy in ("earliest", "latest", "none"):
    own = by_hand | {"group_id": group, "auto_offset_reset": policy}
    with KafkaConsumer(bootstrap_servers=cluster.address, **own) as after:
        after.assign([many])
        try:
            print(policy, after.position(many))
        except NoOffsetForPartitionError as error:
            print(policy, error)

# %% tags=["proof"]
assert commits[-1].offset == 100, commits[-1]
assert len(commits) >= 100 + 5, len(commits)
begins = {}
for policy in ("earliest", "latest", "none"):
    own = by_hand | {"group_id": group, "auto_offset_reset": policy}
    with KafkaConsumer(bootstrap_servers=cluster.address, **own) as after:
        after.assign([many])
        try:
            begins[policy] = after.position(many)
        except NoOffsetForPartitionError:
            begins[policy] = "no offset"
end = clerk.end_offsets([many])[many]
assert end >= 103, end
assert begins == {"earliest": 0, "latest": end, "none": "no offset"}, begins

# %% [markdown]
# `earliest` begins at 0: what was charged is charged again. `latest` begins at the end: the three
# that came meanwhile are never charged. Neither says a word. Only `none` stops, and its error can
# be read: *no offset for partition*, the group has none, and no policy may choose one. With
# payments that may be the right answer: a person decides.
#
# The program with its offset in the database does not notice. It has nothing in Kafka that could
# expire.

# %% tags=["proof"]
# What expires by itself leaves the same record: a commit that was made to last half a second.
from kafka.protocol.consumer import OffsetCommitRequest

OfTopic = OffsetCommitRequest.OffsetCommitRequestTopic
OfPart = OfTopic.OffsetCommitRequestPartition
part = OfPart(partition_index=0, committed_offset=7, committed_metadata="")
short = f"{payments} short"
brief = OffsetCommitRequest(
    max_version=4,  # the last version with a time of its own
    group_id=short,
    generation_id_or_member_epoch=-1,
    member_id="",
    retention_time_ms=500,
    topics=[OfTopic(name=payments, partitions=[part])],
)


async def sent(request):
    return await admin._manager.send(request, node_id=cluster.coordinator(short))


answer = admin._manager.run(sent, brief)
assert answer.topics[0].partitions[0].error_code == 0, answer
wait_until(lambda: not admin.list_group_offsets(short)[short], timeout=20, what="the expiry")
story = [one.offset for one in offsets.commits_of(short, clients.records_until_end(log))]
assert story == [7, None], story

# %% [markdown]
# ## Your turn
#
# A database can fail, too. Here another program holds its lock, so four payments are not charged.
# Then the lock is gone, and the clerk polls again: it gets the *next* four. A rollback does not
# move a consumer. Let `again` be the four that failed.

# %% tags=["exercise"]
book = "INSERT INTO charges VALUES (?, ?, 'you')"
clerk.seek(many, 40)
failed_ones = clerk.poll(timeout_ms=10_000, max_records=4)[many]
with books["one transaction"].locked() as db:
    try:
        db.executemany(book, [(one.offset, int(one.value)) for one in failed_ones])
    except sqlite3.OperationalError as error:
        locked_out = error
print(locked_out)
next_ones = clerk.poll(timeout_ms=10_000, max_records=4)[many]
# BEGIN SOLUTION
# STUB: again = ...
clerk.seek(many, failed_ones[0].offset)
again = clerk.poll(timeout_ms=10_000, max_records=4)[many]
# END SOLUTION
exercise.check("again", again, lambda some: offsets.not_these(some, failed_ones))

# %% tags=["proof", "B186"]
assert str(locked_out) == "database is locked", locked_out
assert [one.offset for one in failed_ones] == [40, 41, 42, 43], failed_ones
assert [one.offset for one in next_ones] == [44, 45, 46, 47], next_ones
assert [one.offset for one in again] == [40, 41, 42, 43], again
assert books["one transaction"].twice == [], "nothing of it was written"

# %% [markdown]
# The bank has found a bug: it wants cents, and `together` books euros. The program is repaired, and
# the log still has every payment. Which SQL statements, in one transaction, let it charge all of
# them anew? (The check runs them, and then the program, on a copy of the books.)

# %% tags=["exercise"]
repaired = together.replace("int(record.value)", "int(record.value) * 100")
# BEGIN SOLUTION
# STUB: undo = ...
undo = ["DELETE FROM charges", "DELETE FROM offsets"]
# END SOLUTION
replay = offsets.Replay(cluster, many, repaired, books["one transaction"], by_hand)
exercise.check("the repair", undo, replay.problem)

# %% tags=["proof", "B84", "B177"]
cents = dict(replay.books.select("SELECT offset, amount FROM charges"))
assert [cents[number] for number in range(103)] == [100 * (n + 1) for n in range(103)], cents
assert set(replay.books.times.values()) == {1}, replay.books.times
assert "twice" in replay.problem(["DELETE FROM offsets"]), "the charges of before are still there"
assert "never" in replay.problem(["DELETE FROM charges"]), "it goes on where it was"

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- Work, then commit: at least once; a kill did {len(careful_trial.twice)} of 12 twice. Commit, then
  work: at most once; {len(hasty_trial.never)} were never done.
- The automatic commit takes what earlier polls handed out as done, when its interval is over. A
  program that gathered lost {len(gathered.never)}.
- A `commit` took {waited:.2f} ms, a `commit_async` {called:.2f} ms; that {len(failed)} of 100 had
  failed, only their futures knew.
- Offset and result in one transaction: {len(kills)} kills, {wrong["one transaction"]} payments
  wrong; without the transaction {wrong["each line by itself"]}.
- A commit is a record of `__consumer_offsets`. When it is gone, the reset policy decides between
  twice and never.
""")

# %%
cluster.close()
