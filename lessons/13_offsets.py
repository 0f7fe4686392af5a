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
# - let work and offset change together, and kill that ten times,
# - lose a commit, and say where the program goes on.
#
# Needs 03, 10 and 11. 25 minutes.

# %% tags=["parameters"]
seed = 6  # draws the points of ten kills, in the second half

# %%
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.errors import NoOffsetForPartitionError

from kafkalab import Choice, Cluster, Prediction, charts, quick
from kafkalab.lessons import offsets
from kafkalab.notebook import exercise

cluster = Cluster.start("single")

# %% [markdown]
# ## Killed once
#
# Twelve payments lie in one partition, a hundred in another for later. A value is an amount in
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
# The program below takes four at a time, charges each, and commits. `charge` charges a card, and no
# kill takes that back. The program may be killed at `danger("ready")`, and after each charge.
# (`assign` asks no group for the partition; the group is there for the commits.)
#
# `desk.killed` kills it (SIGKILL) after its eighth charge. Then it starts the same program once
# more, which reads to the end. How many payments are charged twice?

# %% tags=["prediction"]
careful = """
consumer = KafkaConsumer(bootstrap_servers=address, group_id=group, **settings)
consumer.assign([place])
while consumer.position(place) < end:
    records = consumer.poll(timeout_ms=10_000, max_records=4)[place]
    danger("ready")
    for record in records:
        charge(record.offset)
    consumer.commit()
consumer.close()"""
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
# The second run begins at the commit of the first batch.
#
# Move one line, and the commit comes before the work. The changed program is killed after its sixth
# charge.

# %% tags=["prediction"]
my_titles = Choice(
    "A book calls the first program “at most once” and the changed one “at least once”. Right?",
    "right",
    "swapped",
)
my_titles

# %%
commit = "    consumer.commit()\n"
ready = '    danger("ready")\n'
hasty = careful.replace(commit, "").replace(ready, commit + ready)
hasty_trial = desk.killed(hasty, ("charged", 6))
print(hasty, hasty_trial, sep="\n\n")
lost = f"the first lost {len(careful_trial.never)} payments, this one {len(hasty_trial.never)}."
my_titles.against("swapped", {"right": lost})

# %% tags=["proof", "B187"]
assert hasty_trial.twice == [], hasty_trial
assert hasty_trial.never == [6, 7], hasty_trial
assert hasty_trial.committed == [4, 8, 8], hasty_trial
assert hasty.count("consumer.commit()") == 1, hasty
assert hasty.index("commit()") < hasty.index("charge("), hasty

# %% [markdown]
# It died in the middle of a batch whose commit said that all of it was done. **At most once**: what
# the second run skips is charged never, and nobody gets an error. The first program charges **at
# least once**.

# %% [markdown]
# ## The automatic commit
#
# By default the client commits by itself (`enable_auto_commit=True`): in `poll`, when an interval
# is over (5 seconds; here a millisecond, so every poll commits). This program also gathers all
# payments before it charges them. It is killed after its second poll, with nothing charged. How
# many are never charged? (The chart has all four programs, killed there and after six charges.)

# %% tags=["prediction"]
start = careful[: careful.index("while")]
gathering = f"""{start}gathered = []
while consumer.position(place) < end:
    gathered += consumer.poll(timeout_ms=10_000, max_records=4)[place]
    danger("ready")
for record in gathered:
    charge(record.offset)
consumer.close()"""
my_never = Prediction("payments never charged")
my_never

# %%
automatic = {"enable_auto_commit": True, "auto_commit_interval_ms": 1}
programs = {
    "work, then commit": (careful, {}),
    "commit, then work": (hasty, {}),
    "automatic": (careful.replace(commit, ""), automatic),
    "automatic, gathering": (gathering, automatic),
}
points = {("ready", 2): "after 2 polls", ("charged", 6): "after 6 charges"}
fates = {(one.how, one.point): one for one in desk.all_killed(programs, points)}
gathered = fates["automatic, gathering", ("ready", 2)]
print("gathering, committed after its first and its second poll:", gathered.committed)
my_never.against(len(gathered.never))

# %%
most_twice = max(len(trial.twice) for trial in fates.values())
most_never = max(len(trial.never) for trial in fates.values())
title = f"One kill, four programs: up to {most_twice} twice, up to {most_never} never"
ax = offsets.by_point(list(fates.values()), points)
ax.set_title(title)
charts.show(ax, f"{title}. For each program and each point of the kill, the fate of 12 payments.")

# %% tags=["proof", "B85", "B185", "C99"]
at_once = careful.replace(commit, "")
rarely = {"once a minute": (at_once, automatic | {"auto_commit_interval_ms": 60_000})}
rarely |= {"work, then commit": (careful, {}), "automatic": (at_once, automatic)}
found = {place: (one.twice, one.never) for place, one in fates.items()}
careful_fates = [found["work, then commit", point] for point in points]
assert careful_fates == [([], []), ([4, 5], [])], found
hasty_fates = [found["commit, then work", point] for point in points]
assert hasty_fates == [([], [4, 5, 6, 7]), ([], [6, 7])], found
assert [found["automatic", point] for point in points] == careful_fates, found
assert gathered.committed == [0, 4], gathered
gathers = [found["automatic, gathering", point] for point in points]
assert gathers == [([], [0, 1, 2, 3]), ([], [6, 7])], found
late = desk.all_killed(rarely, [("ready", 2), ("charged", 8)])
lates = [(one.twice, one.never) for one in late]
assert lates[:2] == [([0, 1, 2, 3], []), (list(range(8)), [])], late  # more than one batch
assert lates[2:] == [([], []), ([4, 5, 6, 7], [])] * 2, late
fine_commit = "consumer.commit({place: OffsetAndMetadata(record.offset + 1, '', -1)})"
loop = "from kafka import OffsetAndMetadata\n" + at_once
mark = "        charge(record.offset)\n"
after_it = loop.replace(mark, f"{mark}        {fine_commit}\n")
before_it = loop.replace(mark, f"        {fine_commit}\n        danger('between')\n{mark}")
(repeats,) = desk.all_killed({"work, then commit of one": (after_it, {})}, [("charged", 6)])
(loses,) = desk.all_killed({"commit of one, then work": (before_it, {})}, [("between", 6)])
assert repeats.twice == loses.never == [5], [repeats, loses]
assert repeats.never == loses.twice == [], [repeats, loses]

# %% tags=["proof", "B160"]
import time

from kafkalab import wait_until
from kafkalab.lessons.reading import new_group

interval = by_hand | {"enable_auto_commit": True}  # 5 seconds, the default
timed = new_group(cluster, f"{payments} timed")
began = time.monotonic()  # before the consumer is made, and so before its interval begins
with KafkaConsumer(bootstrap_servers=cluster.address, group_id=timed, **interval) as slow:
    assert slow.config["auto_commit_interval_ms"] == 5_000, slow.config
    slow.assign([few])
    got = slow.poll(timeout_ms=10_000, max_records=4)[few]
    assert len(got) == 4, got
    slow.pause(few)
    within = {}
    while time.monotonic() - began < 3:
        slow.poll(timeout_ms=50)
        committed = slow.committed(few)
        within[time.monotonic() - began] = committed
    early = [committed for seconds, committed in within.items() if seconds < 5]
    assert len(early) > 2, within
    assert set(early) == {None}, "polls within the interval commit nothing"
    wait_until(lambda: time.monotonic() - began > 5.5, timeout=9, what="an interval without a poll")
    assert slow.committed(few) is None, "without a poll nothing is committed"
    wait_until(
        lambda: slow.poll(timeout_ms=50) or slow.committed(few) == 4, timeout=9, what="the commit"
    )
    slow.resume(few)
    got = slow.poll(timeout_ms=10_000, max_records=4)[few]
    assert got[0].offset == 4, got
left = admin.list_group_offsets(timed)[timed][few].offset
assert left == 8, left  # `close` commits, too: what the last poll handed out

# %% tags=["proof"]
# An exception in the work: `finally` with `close` loses the batch, kafka-python's `with` does not.
long = by_hand | {"enable_auto_commit": True, "auto_commit_interval_ms": 60_000}
ends = {}
for way in ("finally", "with"):
    group = new_group(cluster, f"{payments} {way}")
    failing = KafkaConsumer(bootstrap_servers=cluster.address, group_id=group, **long)
    failing.assign([few])
    try:
        if way == "with":
            with failing:
                got = failing.poll(timeout_ms=10_000, max_records=4)[few]
                raise ZeroDivisionError
        got = failing.poll(timeout_ms=10_000, max_records=4)[few]
        raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    finally:
        failing.close()
    assert len(got) == 4, got
    with KafkaConsumer(bootstrap_servers=cluster.address, group_id=group, **by_hand) as later:
        ends[way] = later.committed(few)
assert ends == {"finally": 4, "with": None}, ends

# %% tags=["proof"]
# librdkafka commits without another poll, and the record that it handed out last, too.
import confluent_kafka

for storing in ("by itself", "when done"):
    by_timer = new_group(cluster, f"{payments} timer, {storing}")
    own = {
        "bootstrap.servers": cluster.address,
        "group.id": by_timer,
        "auto.commit.interval.ms": 200,
        "enable.auto.offset.store": storing == "by itself",
    }
    other_client = confluent_kafka.Consumer(own)
    other_client.assign([confluent_kafka.TopicPartition(payments, 0, 0)])
    handed_out = other_client.poll(10)
    if storing == "when done":
        other_client.store_offsets(handed_out)
        handed_out = other_client.poll(10)  # the next is in hand, and no commit is to cover it
    try:
        assert handed_out.offset() == (storing == "when done"), handed_out
        wait_until(
            lambda group=by_timer: (
                [one.offset for one in admin.list_group_offsets(group)[group].values()] == [1]
            ),
            timeout=10,
            what="a commit without a poll",
        )
    finally:
        other_client.close()
    left = [one.offset for one in admin.list_group_offsets(by_timer)[by_timer].values()]
    assert left == [1], left

# %% [markdown]
# Each poll of the gathering program committed the position at which it began: 0, then 4. In `poll`
# the **automatic commit** takes what *earlier* polls handed out as done, whatever became of it. So
# what a program has put aside can be lost. A loop that finishes before it polls again is at least
# once, as the third row shows.
#
# With the automatic commit `close` commits, too, and takes the *last* poll's records as done. So
# with `finally: consumer.close()` an exception in the work loses the rest of its batch.
#
# > Java's consumer with the older group protocol commits automatically at the same moments,
# > librdkafka's clients at others:
# > [Commits, in detail](../lessons/reference/kafka.md#commits-in-detail).

# %% tags=["proof", "B161"]
# What a commit costs, waiting for its answer or not, and who hears of a refusal.
from kafka.errors import OffsetMetadataTooLargeError

own = by_hand | {"group_id": f"{payments} price"}
hundred = [{many: OffsetAndMetadata(offset + 1, "", -1)} for offset in range(100)]
too_long = {many: OffsetAndMetadata(7, "why " * 2_000, -1)}  # a broker takes 4,096 bytes
with KafkaConsumer(bootstrap_servers=cluster.address, **own) as payer:
    payer.assign([many])
    for _ in range(2):  # the first time is for warming up
        began = time.perf_counter()
        for one in hundred:
            payer.commit(one)
        waited = time.perf_counter() - began
    began = time.perf_counter()
    answers = [payer.commit_async(one) for one in hundred]
    called = time.perf_counter() - began
    wait_until(lambda: all(one.is_done for one in answers), timeout=10, what="all answers")
    assert called < waited, (called, waited)
    assert [one.exception for one in answers] == [None] * 100, answers
    reached = payer.committed(many)
    assert reached == 100, reached
    try:
        payer.commit(too_long)
    except OffsetMetadataTooLargeError as error:
        refused = error
    assert isinstance(refused, OffsetMetadataTooLargeError), refused
    told = []
    future = payer.commit_async(too_long, callback=lambda commits, answer: told.append(answer))
    wait_until(lambda: future.is_done, timeout=10, what="the answer")
    assert isinstance(future.exception, OffsetMetadataTooLargeError), future.exception
    assert told == [], told
    payer.poll(timeout_ms=1_000, max_records=1)  # only now is the callback told
    assert [type(one) for one in told] == [OffsetMetadataTooLargeError], told
    assert payer.committed(many) == reached, payer.committed(many)

# %% [markdown]
# ## Work and offset change together
#
# Lesson 10 made work and commit one step where the work ends in Kafka. A card's charge cannot be
# taken back, rows of a database (SQLite, a file) can. So the next program *books* payments: each is
# a row, and the offset a row of the *same* database. (Whoever charges a card for each row has the
# first problem again.) The program has no group: it asks its database where to go on, and calls
# `seek`. `offsets.TABLES` makes the tables and names the statements `book` and `move`.

# %%
print(offsets.TABLES)
begin = f"""{offsets.TABLES}
consumer = KafkaConsumer(bootstrap_servers=address, **settings)
consumer.assign([place])
(at,) = db.execute("SELECT next FROM offsets WHERE topic = ? AND part = ?", place).fetchone()
consumer.seek(place, at)
"""

# %% [markdown]
# Between BEGIN and COMMIT lies one transaction of the database: a batch of payments, and the offset
# behind it.

# %%
together = f"""{begin}
while consumer.position(place) < end:
    records = consumer.poll(timeout_ms=10_000, max_records=4)[place]
    danger("ready")
    db.execute("BEGIN IMMEDIATE")
    for record in records:
        db.execute(book, (record.offset, int(record.value), name))
        danger("booked")
    db.execute(move, (consumer.position(place), *place))
    danger("placed")
    db.execute("COMMIT")
    danger("committed")"""

# %% [markdown]
# A hundred payments, and ten kills at points drawn by `seed`; then a run to the end. Beside it the
# same program, without `BEGIN` and `COMMIT`, is killed at points of the same names. How many
# payments does the first book twice or never?

# %% tags=["prediction"]
apart = together.replace('db.execute("BEGIN IMMEDIATE")', "").replace('db.execute("COMMIT")', "")
both = {"one transaction": together, "each line by itself": apart}
my_wrong = Prediction("payments booked twice or never")
my_wrong

# %%
kills = offsets.ten_kills(seed)
by_database = by_hand | {"auto_offset_reset": "none"}
books = offsets.survive(cluster, many, both, kills, by_database)
wrong = {name: len(one.twice) + len(one.never(100)) for name, one in books.items()}
print(my_wrong.against(wrong["one transaction"]))
axes = offsets.by_life(books, 100)
title = "Ten kills: {} payments wrong with one transaction, {} without".format(*wrong.values())
axes[0].figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
charts.show(axes[0], f"{title}. The offsets that each run booked, in two programs.")

# %% tags=["proof", "B85", "B188"]
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

# %% tags=["proof"]
# Of two runs at the same time the later one is shut out, where the offset moves only from where the
# batch began: one freezes between poll and BEGIN.
from kafkalab import members
from kafkalab.errors import CourseError

rest = """
passed = []
def danger(point):
    passed.append(point)
    if passed.count("ready") == stops and point == "ready":
        os.kill(os.getpid(), signal.SIGSTOP)
"""
guarded = together
for old_words, new_words in {
    "while consumer.position(place) < end": "while (at := consumer.position(place)) < end",
    "    db.execute(move, (consumer.position(place), *place))\n": """\
    moved = db.execute(move + " AND next = ?", (consumer.position(place), *place, at))
    if moved.rowcount == 0:
        raise SystemExit("another run has gone on")
""",
}.items():
    assert old_words in guarded, f"the page has other words than {old_words}"
    guarded = guarded.replace(old_words, new_words)
both_runs = offsets.Books()
own = {"address": cluster.address, "place": few, "end": 12, "settings": by_database}
old = members.start(rest + guarded, "old", file=both_runs.file, stops=2, **own)
wait_until(lambda: old.state == "frozen", timeout=20, what="the freeze")
new = members.start(rest + guarded, "new", file=both_runs.file, stops=0, **own)
new.wait_for_end()
old.thaw()
try:
    old.wait_for_end()
except CourseError as error:
    shut_out = str(error)
assert "another run has gone on" in shut_out, shut_out
assert both_runs.select("SELECT by, count(*) FROM charges GROUP BY by ORDER BY by") == [
    ("new", 8),
    ("old", 4),
], both_runs.times
assert both_runs.twice == both_runs.never(12) == [], both_runs.times
assert both_runs.select("SELECT next FROM offsets") == [(12,)], both_runs.times

# %% tags=["proof"]
# Payments that are no longer in the log are told, not passed over.
short_log = TopicPartition(cluster.unused("short-log"), 0)
admin.create_topics({short_log.topic: {"num_partitions": 1, "replication_factor": 1}})
cluster.wait_for_topic(short_log.topic)
for euros in range(8):
    producer.send(short_log.topic, value=b"%d" % euros)
producer.flush(timeout=10)
admin.delete_records({short_log: 4})
try:
    offsets.survive(cluster, short_log, {"late": together}, [], by_database)
except CourseError as error:
    missed = str(error)
assert "OffsetOutOfRange" in missed, missed

# %% tags=["proof", "A29"]
import sqlite3

handled = offsets.Books()
with sqlite3.connect(handled.file) as rows:
    rows.execute("CREATE TABLE charges (offset PRIMARY KEY)")
rows.close()
handler = careful.replace(
    "        charge(record.offset)",
    """        note("charged", offset=record.offset)
        import sqlite3
        db = sqlite3.connect(FILE, isolation_level=None)
        db.execute("INSERT OR IGNORE INTO charges VALUES (?)", (record.offset,))
        db.close()
        danger("charged")""".replace("FILE", repr(handled.file)),
)
repeated = desk.killed(handler, ("charged", 8))
assert repeated.twice == [4, 5, 6, 7], repeated  # it was handed them twice
assert handled.times == dict.fromkeys(range(12), 1), handled.times

# %% tags=["proof", "B189", "B190", "B191", "B192"]
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
            db.execute(upsert, stock)
        db.execute("REPLACE INTO offsets VALUES (?, ?, ?)", (*place, records[-1].offset + 1))
        consumer.commit()  # for who watches the lag; of a member that was shut out it raises
        db.execute("COMMIT")
        note("stored", partition=place.partition, offset=records[-1].offset)
consumer.close()
"""
held = offsets.Books()
upsert = (
    "INSERT INTO stocks VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE "
    "SET price = excluded.price, at = excluded.at WHERE excluded.at > at"
)
own = {"topic": prices, "file": held.file, "settings": by_hand, "upsert": upsert}
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
sought = {e.facts["partition"]: e.facts["offset"] for e in ada.events if e.what == "sought"}
assert sum(sought.values()) == 150, sought
each_once = [(0, n) for n in range(102)] + [(1, n) for n in range(51)]
assert held.select(in_order) == each_once, held.select(in_order)
newest = dict(held.select("SELECT name, price FROM stocks"))
assert newest == {"IBM": 150, "UBER": 151, "GOOG": 152}, newest
with sqlite3.connect(held.file) as rows:
    changed = [rows.execute(upsert, ("IBM", 1, 0, at)).rowcount for at in (0, 10_000)]
    assert changed == [0, 1], "an older price changes nothing, a newer one does"
    rows.rollback()
rows.close()

# %% tags=["proof", "B193"]
highest = "SELECT max(at) + 1 FROM stocks WHERE part = 1"
next_one = "SELECT next FROM offsets WHERE part = 1"
assert held.select(highest) == held.select(next_one) == [(51,)], held.select(highest)
with sqlite3.connect(held.file) as rows:
    rows.execute("DELETE FROM stocks WHERE name = 'UBER'")  # a share is no longer traded
rows.close()
assert held.select(highest) == [(None,)], "by its rows the program would begin anew"
assert held.select(next_one) == [(51,)], "by its own table it goes on"

# %% tags=["proof", "B188"]
# The same program on a server, with the newest prices: it commits to Kafka, too, before it commits
# there, and is killed between.
import random

import psycopg

from kafkalab.lessons.offsets.runs import ProgramRun, run_all
from kafkalab.postgres import Postgres

server = Postgres.start()
quotes = TopicPartition(cluster.unused("quotes"), 0)
admin.create_topics({quotes.topic: {"num_partitions": 1, "replication_factor": 1}})
cluster.wait_for_topic(quotes.topic)
for euros in range(1, 101):
    producer.send(quotes.topic, b"%d" % euros, key=names[euros % 3].encode())
producer.flush(timeout=10)
other_words = {
    "import sqlite3": "import psycopg",
    "sqlite3.connect(file, isolation_level=None)": "psycopg.connect(file, autocommit=True)",
    "charges (offset, amount, by)": "charges (at bigint, amount int, by int)",
    "offsets (topic, part, next,": "offsets (topic text, part int, next bigint,",
    "OR IGNORE INTO offsets VALUES (?, ?, 0)": (
        "INTO offsets VALUES (?, ?, 0) ON CONFLICT DO NOTHING"
    ),
    "BEGIN IMMEDIATE": "BEGIN",
    "?": "%s",
}
more_work = {
    "consumer = ": (
        'db.execute("CREATE TABLE IF NOT EXISTS stocks (name text PRIMARY KEY, price int)")\n'
        "consumer = "
    ),
    '        danger("booked")': (
        "        db.execute(newest_price, (record.key.decode(), int(record.value)))\n"
        '        danger("booked")'
    ),
    '    danger("placed")': ('    danger("placed")\n    consumer.commit()\n    danger("between")'),
}
on_server = together
for old_words, new_words in [*other_words.items(), *more_work.items()]:
    assert old_words in on_server, f"the page has other words than {old_words}"
    on_server = on_server.replace(old_words, new_words)
places_of_kills = ("ready", "booked", "placed", "between", "committed")
server_kills = [(point, times) for point in places_of_kills for times in (1, 2)]
random.Random(seed).shuffle(server_kills)
own = {
    "address": cluster.address,
    "place": quotes,
    "end": 100,
    "file": server.address,
    "settings": by_database | {"group_id": quotes.topic},
    "newest_price": "INSERT INTO stocks VALUES (%s, %s) "
    "ON CONFLICT (name) DO UPDATE SET price = excluded.price",
}
lives = [
    ProgramRun(on_server, die, own | {"name": number}) for number, die in enumerate(server_kills)
]
lives.append(ProgramRun(on_server, given=own | {"name": len(lives)}))
noted = run_all(cluster, "on a server", lives, imports="import psycopg").events()
with psycopg.connect(server.address) as db:
    charged = db.execute("SELECT at, amount FROM charges ORDER BY at, by").fetchall()
    assert charged == [(number, number + 1) for number in range(100)], charged
    reached = db.execute("SELECT next FROM offsets").fetchall()
    assert reached == [(100,)], reached
    newest_quotes = dict(db.execute("SELECT name, price FROM stocks").fetchall())
    for number, (point, _) in enumerate(server_kills):
        if point == "between":
            (of_kafka,) = [
                event.facts["committed"]
                for event in noted[number]
                if event.facts.get("point") == "between" and event == noted[number][-1]
            ]
            later = "SELECT min(at) FROM charges WHERE by > %s"
            (began_at,) = db.execute(later, (number,)).fetchone()
            assert began_at == of_kafka - 4, "the next one trusts the database, not Kafka"
# Two members at the same moment: a file is locked as a whole, and a server locks rows.
touch = "UPDATE offsets SET next = next WHERE part = "
with psycopg.connect(server.address) as db:
    db.execute("INSERT INTO offsets VALUES ('another', 1, 0)")
with psycopg.connect(server.address) as one_member, psycopg.connect(server.address) as another:
    one_member.execute(touch + "0")
    assert another.execute(touch + "1").rowcount == 1, "the other row is free"
    another.execute("SET LOCAL lock_timeout = 100")
    try:
        another.execute(touch + "0")
    except psycopg.errors.LockNotAvailable as error:
        held_row = error
    another.rollback()
assert "lock timeout" in str(held_row), held_row
server.close()
file = both_runs.file
with sqlite3.connect(file) as rows:
    rows.execute("REPLACE INTO offsets VALUES ('another', 1, 0)")
rows.close()
writers = [sqlite3.connect(file, isolation_level=None, timeout=0.1) for _ in range(2)]
writers[0].execute("BEGIN IMMEDIATE")
writers[0].execute(touch + "0")
try:
    writers[1].execute(touch + "1")
except sqlite3.OperationalError as error:
    held_file = error
for one in writers:
    one.close()
assert "locked" in str(held_file), held_file

# %% tags=["proof", "B156", "B157", "B159", "B188"]
import json
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
decoding = by_hand | {"value_deserializer": StockPrice.from_json}
with KafkaConsumer(bootstrap_servers=cluster.address, **decoding) as simple:
    simple.assign([TopicPartition(stocks, number) for number in range(3)])
    for _ in range(300):
        for records in simple.poll(timeout_ms=200, max_records=1).values():
            batches += 1
            for record in records:
                newest[record.key.decode()] = record.value
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
by_key = read_topic(spark, cluster, quotes.topic).groupBy("key")
rows = by_key.agg(F.max_by("value", "offset").alias("value")).collect()
quotes_of_spark = {row.key.decode(): int(row.value) for row in rows}
assert newest_quotes == quotes_of_spark, (newest_quotes, quotes_of_spark)
spark.stop()

# %% [markdown]
# None. What a run had written and not committed is gone, rows and offset (its bar shows earlier
# batches). The next begins where the last whole transaction ended. Each payment is booked **exactly
# once**. (For two runs at the same time that is not enough: `move` would have to change the offset
# only where it is still the one at which the batch began, and a run that changes no row roll back.)

# %% [markdown]
# ## When it goes wrong
#
# Brokers let a commit **expire**: by default seven days after the last member of its group has
# gone, and with `assign`, where there are no members, seven days after the commit itself
# (`offsets.retention.minutes`). Here an admin client deletes it, which leaves the same.
#
# A clerk has committed 40 of the hundred payments. It starts again without that commit, with each
# reset policy. Where does it begin?

# %%
group = f"{payments} clerk"
with KafkaConsumer(bootstrap_servers=cluster.address, group_id=group, **by_hand) as clerk:
    clerk.commit({many: OffsetAndMetadata(40, "", -1)})
admin.delete_group_offsets(group, [many])
for policy in ("earliest", "latest", "none"):
    own = by_hand | {"group_id": group, "auto_offset_reset": policy}
    with KafkaConsumer(bootstrap_servers=cluster.address, **own) as after:
        after.assign([many])
        try:
            print(policy, after.position(many))
        except NoOffsetForPartitionError as error:
            print(policy, error)

# %% tags=["proof"]
# A commit is a record of `__consumer_offsets`, and one that goes leaves a record without an offset.
from kafkalab import clients

log = KafkaConsumer(
    "__consumer_offsets",
    bootstrap_servers=cluster.address,
    auto_offset_reset="earliest",
    **quick.consumer,
)
commits = offsets.commits_of(group, clients.records_until_end(log))
assert [one.offset for one in commits[-2:]] == [40, None], commits
begins = {}
for policy in ("earliest", "latest", "none"):
    own = by_hand | {"group_id": group, "auto_offset_reset": policy}
    with KafkaConsumer(bootstrap_servers=cluster.address, **own) as after:
        after.assign([many])
        try:
            begins[policy] = after.position(many)
        except NoOffsetForPartitionError:
            begins[policy] = "no offset"
assert begins == {"earliest": 0, "latest": 100, "none": "no offset"}, begins

# %% [markdown]
# `earliest` begins at the start of the log: what was charged is charged again. `latest` begins at
# the end: the other sixty are never charged. Neither raises an error. `none` does. With payments
# that may be right: a person decides. An offset in the database does not expire.

# %% tags=["proof"]
# What expires by itself leaves the same record: a commit that was made to last half a second.
from kafka.protocol.consumer import OffsetCommitRequest

OfTopic = OffsetCommitRequest.OffsetCommitRequestTopic
OfPart = OfTopic.OffsetCommitRequestPartition
part = OfPart(partition_index=0, committed_offset=7, committed_metadata="")
short = "short"
brief = OffsetCommitRequest(
    max_version=4,  # the last version with a time of its own
    group_id=short,
    generation_id_or_member_epoch=-1,
    member_id="",
    retention_time_ms=500,
    topics=[OfTopic(name="brief", partitions=[part])],
)


async def sent(request):
    return await hasty_admin._manager.send(request, node_id=hasty_one.coordinator(short))


# Brokers look for commits that have expired every ten minutes; this one does it each second.
each_second = {"offsets.retention.check.interval.ms": 1_000}
with Cluster.start("single", settings=each_second, beside=True) as hasty_one:
    hasty_admin = KafkaAdminClient(bootstrap_servers=hasty_one.address, **quick.admin)
    hasty_admin.create_topics({"brief": {"num_partitions": 1, "replication_factor": 1}})
    hasty_one.wait_for_topic("brief")
    with KafkaConsumer(bootstrap_servers=hasty_one.address, group_id=short, **by_hand) as first:
        first.assign([TopicPartition("brief", 0)])
        first.commit({TopicPartition("brief", 0): OffsetAndMetadata(6, "", -1)})
    expired = hasty_admin._manager.run(sent, brief)
    assert expired.topics[0].partitions[0].error_code == 0, expired
    wait_until(
        lambda: not hasty_admin.list_group_offsets(short)[short], timeout=20, what="the expiry"
    )
    of_brokers = {"auto_offset_reset": "earliest", **quick.consumer}
    with KafkaConsumer(
        "__consumer_offsets", bootstrap_servers=hasty_one.address, **of_brokers
    ) as short_story:
        found = offsets.commits_of(short, clients.records_until_end(short_story))
    assert [one.offset for one in found] == [6, 7, None], found
    hasty_admin.close()

# %% [markdown]
# ## Your turn
#
# 1. A database can fail, too. This one takes no payment above 42 euros, so the third of four fails,
#    and the two before it are rolled back. The clerk polls again and gets the *next* four: a
#    rollback does not move a consumer. Let `again` be the four that failed, polled once more.

# %% tags=["exercise"]
clerk = KafkaConsumer(bootstrap_servers=cluster.address, **by_hand)
clerk.assign([many])
clerk.seek(many, 40)
failed_ones = clerk.poll(timeout_ms=10_000, max_records=4)[many]
ledger = offsets.book_up_to(42, failed_ones)
next_ones = clerk.poll(timeout_ms=10_000, max_records=4)[many]
# BEGIN SOLUTION
# STUB: again = ...
clerk.seek(many, failed_ones[0].offset)
again = clerk.poll(timeout_ms=10_000, max_records=4)[many]
# END SOLUTION
exercise.check("again", again, lambda some: offsets.not_these(some, failed_ones))

# %% tags=["proof", "B186"]
assert ledger.total_changes == 2, "two were written"
assert ledger.execute("SELECT count(*) FROM charges").fetchone() == (0,), "and rolled back"
assert [one.offset for one in failed_ones] == [40, 41, 42, 43], failed_ones
assert [one.offset for one in next_ones] == [44, 45, 46, 47], next_ones
assert [one.offset for one in again] == [40, 41, 42, 43], again
assert offsets.not_these(failed_ones, failed_ones), "the old records are no answer"
ledger.close()

# %% [markdown]
# 2. The bank wants cents, and `together` books euros. `repaired` books cents. Which SQL statements
#    let it book each payment of the log anew, once? `undo` is a list of strings, which run in one
#    transaction, on a copy of the books.

# %% tags=["exercise"]
repaired = together.replace("int(record.value)", "int(record.value) * 100")
# BEGIN SOLUTION
# STUB: undo = ...
undo = ["DELETE FROM charges", "DELETE FROM offsets"]
# END SOLUTION
replay = offsets.Replay(cluster, many, repaired, books["one transaction"], by_database)
exercise.check("the repair", undo, replay.problem)

# %% tags=["proof", "B84", "B177"]
cents = dict(replay.books.select("SELECT offset, amount FROM charges"))
assert [cents[number] for number in range(100)] == [100 * (n + 1) for n in range(100)], cents
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
- The automatic commit in `poll` takes what earlier polls handed out as done. A program that
  gathered lost {len(gathered.never)}.
- Offset and result in one transaction: {len(kills)} kills, {wrong["one transaction"]} payments
  wrong; without the transaction {wrong["each line by itself"]}.
- When a commit is gone, the reset policy decides between twice, never, and an error.
""")

# %%
cluster.close()
