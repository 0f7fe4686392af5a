# %% [markdown]
# # Lab 07 Exactly once
#
# A program reads trades from a log and books them into a database. It can be killed at any line,
# and somebody starts it again. Here somebody does kill it, where it hurts, while your cell runs.
# Is every trade in the books, once?

# %% [markdown]
# **You will**
#
# - count what a kill between two commits does twice;
# - write result and offset in one transaction, and survive four kills;
# - go on after the database has refused a commit;
# - let a group deal the partitions, and let nobody trust its offsets;
# - prove books against log with Spark.
#
# **Needs** lessons 10 to 14. **Time** about 100 minutes. **Points** 100.

# %% tags=["parameters"]
student = ""  # your name or number in the course; the grader puts it in

# %%
from grading.lab import Lab

lab = Lab.open("lab07_exactly_once", student)
lab

# %% [markdown]
# ## Before task 1: the desk
#
# A program here is a function that gets a `desk`. It runs as a process of its own, `clerk-1`, and
# is started again when it has died (`shop.py`, in the folder of this lab). On its desk lie
#
# - `desk.consumer`, a `KafkaConsumer` of the group `desk.topic`. It commits nothing by itself, and
#   one `poll` hands over `lab.p.batch` records at most;
# - `desk.places`, the partitions of the topic, and `desk.is_open()`, whether to go on;
# - `desk.db`, a SQLite connection to `desk.file`. Python begins a transaction before the first row
#   is written, and it lasts until `commit` or `rollback`.
#
# A record has the name of a stock as its `key`, and `{"cents": 6837}` as its `value`: a trade, and
# at which price.

# %%
import sqlite3
from contextlib import closing
from pathlib import Path

from kafka import ConsumerRebalanceListener, KafkaAdminClient
from shop import BOOKS, keep_running, open_books

from kafkalab import Prediction, charts, quick, read_topic, spark_session, wait_until

admin = KafkaAdminClient(bootstrap_servers=lab.cluster.address, **quick.admin)
print(BOOKS)


# %% [markdown]
# `trades` has a row for each trade that was booked, `prices` the newest price of each stock. The
# table `offsets` is for you. `fresh` empties a topic and its books.


# %%
def fresh(topic, file, partitions):
    """An empty topic, a group that nobody knows, and empty books."""
    for name in (file, f"{file}-journal", f"{file}-wal", f"{file}-shm"):
        Path(name).unlink(missing_ok=True)
    if topic in admin.list_topics():
        admin.delete_topics([topic])
        wait_until(lambda: topic not in admin.list_topics(), timeout=15, what=f"{topic} to go")
    if topic in lab.cluster.groups():
        admin.delete_groups([topic])
    admin.create_topics({topic: {"num_partitions": partitions, "replication_factor": 1}})
    lab.cluster.wait_for_topic(topic)
    open_books(file).close()


def select(file, query):
    """The rows that the query finds in these books."""
    with closing(sqlite3.connect(file)) as db:
        return db.execute(query).fetchall()


if lab.p.bell not in admin.list_topics():
    admin.create_topics({lab.p.bell: {"num_partitions": 1, "replication_factor": 1}})
    lab.cluster.wait_for_topic(lab.p.bell)

# %% [markdown]
# **The same thing happens here and in grading.** When the clerk reads, trades are drawn, so nobody
# knows them before. Then the clerk is killed. At the end the books are read from outside, beside
# what the network has brought to whom: a row counts when its record was fetched before. Then a bell
# rings, and the cell is over. To try a task again, run the cell in front of it first.

# %% [markdown]
# ## Task 1: what a kill does twice
#
# This clerk commits each batch twice: its rows in the database, then its offset in Kafka. It is
# killed once, between the two.


# %%
def careless(desk):
    """Works, then commits."""
    desk.consumer.assign(desk.places)
    while desk.is_open():
        for place, records in desk.consumer.poll(timeout_ms=200).items():
            for record in records:
                row = (place.partition, record.offset, record.key, record.value["cents"])
                desk.db.execute("INSERT INTO trades VALUES (?, ?, ?, ?)", row)
            desk.db.commit()
            desk.consumer.commit()


fresh(lab.p.careless, "books-1.sqlite", partitions=1)

# %% [markdown]
# Predict `predicted_1`, before the clerk runs: how many trades will be in the books more than once?
# Let it run: `ends_1 = keep_running(lab, careless, lab.p.careless, "books-1.sqlite")`. Then find
# them: `again_1` is a list of their offsets, each once. Mend your prediction when you know better,
# in words of `lab.p`: in grading its numbers are others. **14 points**
#
# *Example.* `again_1 = [0, 1, 2]`. `select("books-1.sqlite", "SELECT …")` returns a list of rows.

# %% tags=["task-1"]
# Task 1
# BEGIN SOLUTION
# STUB: predict, run the clerk, find what is there more than once
predicted_1 = lab.p.batch
ends_1 = keep_running(lab, careless, lab.p.careless, "books-1.sqlite")
query = 'SELECT "offset" FROM trades GROUP BY "offset" HAVING count(*) > 1'
again_1 = [offset for (offset,) in select("books-1.sqlite", query)]
# END SOLUTION
Prediction("trades booked twice", said=predicted_1).against(len(again_1))

# %% tags=["check-1"]
lab.check(1)

# %% [markdown]
# With the two commits the other way round they would be missing, and no order of the two helps. So
# there must be one commit.

# %% [markdown]
# ## Task 2: one transaction
#
# Write two functions for the clerk below.
#
# - `book(db, part, records, tell)` books a batch of partition `part`, a list of records, in **one**
#   transaction: a row in `trades` for each, the newest price of each stock in `prices` (with its
#   partition and offset; an older trade that comes late changes nothing), and where to go on. Call
#   `tell()` right before the database commits: it commits in Kafka, for those who watch the lag.
# - `next_offset(db, part)` returns where to go on in this partition, 0 if the books know nothing.
#
# Do not change `journal_mode`, and use no `BEGIN EXCLUSIVE`: it waits for readers before any work.
# Tasks 3 and 4 build on both functions; without yours they use poor ones (`shop.py`). **34 points**
#
# *Example.* After a batch that ended with offset 41, `next_offset(db, part)` is 42.


# %%
def by_hand(desk):
    """All partitions are its own, and the books say where to go on."""
    desk.consumer.assign(desk.places)
    for place in desk.places:
        desk.consumer.seek(place, next_offset(desk.db, place.partition))
    while desk.is_open():
        for place, records in desk.consumer.poll(timeout_ms=200).items():
            book(desk.db, place.partition, records, tell=desk.consumer.commit)


fresh(lab.p.killed, "books-2.sqlite", partitions=2)

# %% [markdown]
# It will be killed four times: when Kafka has its commit and the database has not; in the middle of
# its work; while it fetches after a start; and once more. The last lines let it run.

# %% tags=["task-2", "B188", "B189", "B192"]
# Task 2
# BEGIN SOLUTION
# STUB: write book and next_offset
NEWEST = """
INSERT INTO prices VALUES (?, ?, ?, ?) ON CONFLICT (stock) DO UPDATE
SET cents = excluded.cents, part = excluded.part, "offset" = excluded."offset"
WHERE excluded."offset" > "offset"
"""


def book(db, part, records, tell):
    with db:
        for record in records:
            stock, cents = record.key, record.value["cents"]
            db.execute(
                "INSERT INTO trades VALUES (?, ?, ?, ?)", (part, record.offset, stock, cents)
            )
            db.execute(NEWEST, (stock, cents, part, record.offset))
        db.execute("REPLACE INTO offsets VALUES (?, ?)", (part, records[-1].offset + 1))
        tell()


def next_offset(db, part):
    found = db.execute("SELECT next FROM offsets WHERE part = ?", (part,)).fetchone()
    return found[0] if found else 0


# END SOLUTION
ends_2 = keep_running(lab, by_hand, lab.p.killed, "books-2.sqlite")
ends_2

# %% tags=["check-2"]
lab.check(2)

# %% [markdown]
# A batch is in the books with its offset, or nothing of it is. What Kafka has committed is now for
# watching only: it may be ahead of the books, and nobody goes by it.

# %% [markdown]
# ## Task 3: the database says no
#
# Somebody else holds a lock of the books. After two seconds a statement of the transaction, mostly
# its commit, fails with `sqlite3.OperationalError: database is locked`. The consumer does not know:
# its next `poll` hands over the *next* records.
#
# Write `read_on(consumer, db, is_open)`, a loop as in `by_hand`, while `is_open()` is true. When
# a batch cannot be booked, it rolls back, sees to it that the same records come again, and goes on;
# the program does not end. The lock comes twice. **16 points**
#
# *Example.* `rollback()` of a connection takes back what was not committed.


# %%
def with_a_loop(desk):
    """As `by_hand`, with your loop."""
    desk.consumer.assign(desk.places)
    for place in desk.places:
        desk.consumer.seek(place, next_offset(desk.db, place.partition))
    read_on(desk.consumer, desk.db, desk.is_open)


fresh(lab.p.locked, "books-3.sqlite", partitions=2)


# %% tags=["task-3", "B186"]
# Task 3
# BEGIN SOLUTION
# STUB: write read_on
def read_on(consumer, db, is_open):
    while is_open():
        for place, records in consumer.poll(timeout_ms=200).items():
            try:
                book(db, place.partition, records, tell=consumer.commit)
            except sqlite3.Error as error:
                print(error)
                db.rollback()
                consumer.seek(place, records[0].offset)


# END SOLUTION
ends_3 = keep_running(lab, with_a_loop, lab.p.locked, "books-3.sqlite")
ends_3

# %% tags=["check-3"]
lab.check(3)

# %% [markdown]
# ## Task 4: whose offsets?
#
# Now the group deals the partitions. First `clerk-1` has all three, then `clerk-2` joins; one of
# them is killed. Then the shop closes, and somebody moves the group's offsets in Kafka: one is
# deleted, one goes to the start, one to the end.
#
# Write `FromTheBooks(consumer, file)`, a `ConsumerRebalanceListener`: a clerk that gets partitions
# goes on in each of them where the books say. kafka-python calls it from another thread, so give it
# a connection of its own, `open_books(file)`. It needs `on_partitions_revoked`, too, which may do
# nothing. **24 points**
#
# *Example.* `on_partitions_assigned(self, assigned)` gets a list of `TopicPartition`.


# %%
def in_a_group(desk):
    """The group deals the partitions; a member that was shut out cannot tell, nor book."""
    listener = FromTheBooks(desk.consumer, desk.file)
    desk.consumer.subscribe([desk.topic], listener=listener)
    while desk.is_open():
        for place, records in desk.consumer.poll(timeout_ms=200).items():
            book(desk.db, place.partition, records, tell=desk.consumer.commit)


both = ("clerk-1", "clerk-2")
stages = [("clerk-1",), both, (), both]
fresh(lab.p.shared, "books-4.sqlite", partitions=3)


# %% tags=["task-4", "B190", "B191"]
# Task 4
# BEGIN SOLUTION
# STUB: write FromTheBooks
class FromTheBooks(ConsumerRebalanceListener):
    def __init__(self, consumer, file):
        self.consumer, self.file = consumer, file

    def on_partitions_revoked(self, revoked):
        pass

    def on_partitions_assigned(self, assigned):
        db = open_books(self.file)
        for place in assigned:
            self.consumer.seek(place, next_offset(db, place.partition))
        db.close()


# END SOLUTION
ends_4 = keep_running(lab, in_a_group, lab.p.shared, "books-4.sqlite", stages)
ends_4

# %% tags=["check-4"]
lab.check(4)

# %% [markdown]
# ## Task 5: what does Spark say?
#
# Compare the books of tasks 1 and 2 with their topics, by partition and offset. `report` goes from
# the topic to a dictionary: `"records"` in the topic, `"rows"` in `trades`, `"missing"` records
# that have no row, and records that are there `"twice"` or more often. `newest` goes from each
# stock to its newest price in the topic `lab.p.killed`, in cents, from Spark and not from the
# books. **12 points**
#
# *Example.* `{"careless-…": {"records": 50, "rows": 53, "missing": 0, "twice": 3}, …}`

# %%
from pyspark.sql import functions as F

spark = spark_session("lab07")


def books(file):
    """The trades of these books, as a DataFrame."""
    rows = select(file, 'SELECT part, "offset" FROM trades')
    return spark.createDataFrame(rows, "partition INT, offset LONG")


# %% tags=["task-5"]
# Task 5
# BEGIN SOLUTION
# STUB: compare with Spark: report and newest
place = ["partition", "offset"]
report = {}
for topic, file in ((lab.p.careless, "books-1.sqlite"), (lab.p.killed, "books-2.sqlite")):
    log, booked = read_topic(spark, lab.cluster, topic), books(file)
    report[topic] = {
        "records": log.count(),
        "rows": booked.count(),
        "missing": log.join(booked, place, "left_anti").count(),
        "twice": booked.groupBy(place).count().where("count > 1").count(),
    }
cents = F.get_json_object(F.col("value").cast("string"), "$.cents").cast("int").alias("cents")
trades = read_topic(spark, lab.cluster, lab.p.killed).select("key", "offset", cents)
newest = {
    row.key.decode(): row.cents
    for row in trades.groupBy("key").agg(F.max_by("cents", "offset").alias("cents")).collect()
}
# END SOLUTION
report

# %% tags=["check-5", "B188"]
lab.check(5)

# %% [markdown]
# Before you run the next cell: in whose books does a trade stand twice?

# %% tags=["demo"]
import pandas as pd

wrong = pd.DataFrame(report).T[["missing", "twice"]]
kills = [sum(status == -9 for _, status in ends) for ends in (ends_1, ends_2)]
ax = wrong.plot.barh(figsize=(7, 2.2), color=["#0072B2", "#D55E00"])
title = (
    f"{kills[0]} kill, {wrong.twice.iloc[0]} twice; {kills[1]} kills, {wrong.twice.iloc[1]} twice"
)
ax.set(title=title, xlabel="trades", yticks=[0, 1])
ax.set_yticklabels(["two commits", "one transaction"])
assert wrong.sum(axis=1).iloc[1] == 0, wrong
assert dict(select("books-2.sqlite", "SELECT stock, cents FROM prices")) == newest
charts.show(ax, f"{title}. Trades missing and twice in the books of tasks 1 and 2.")

# %% [markdown]
# ## What you saw
#
# - Two commits, one kill between them: a batch is booked twice.
# - Result and offset in one transaction of the database: each effect is there once, wherever the
#   program dies. This holds for what the database can take back.
# - A rollback does not move the consumer; `seek` does.
# - Kafka deals the partitions, the books say where to go on. Offsets in Kafka may be wrong or gone.

# %%
lab.score()

# %%
lab.close()
