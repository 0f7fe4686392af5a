import sqlite3 as sq


class Ledger:
    """Books with statements of its own, and no helper of Python's."""

    def __init__(self, db):
        self.db = db

    def begin(self):
        self.db.execute("BEGIN IMMEDIATE")

    def end(self):
        self.db.execute("COMMIT")

    def price(self, stock):
        return self.db.execute('SELECT "offset" FROM prices WHERE stock = ?', [stock]).fetchone()

# Task 1
predicted_1 = 1 * lab.p.batch
ends_1 = keep_running(lab, careless, lab.p.careless, "books-1.sqlite")
seen, again_1 = set(), []
for (one,) in select("books-1.sqlite", 'SELECT "offset" FROM trades'):
    if one in seen:
        again_1.append(one)
    seen.add(one)

# Task 2
def book(db, part, records, tell):
    ledger = Ledger(db)
    ledger.begin()
    try:
        db.executemany(
            "INSERT INTO trades VALUES (?, ?, ?, ?)",
            [(part, r.offset, r.key, r.value["cents"]) for r in records],
        )
        for r in records:
            known = ledger.price(r.key)
            if known is None:
                db.execute(
                    "INSERT INTO prices VALUES (?, ?, ?, ?)",
                    (r.key, r.value["cents"], r.partition, r.offset),
                )
            elif known[0] < r.offset:
                db.execute(
                    'UPDATE prices SET cents = ?, "offset" = ? WHERE stock = ?',
                    (r.value["cents"], r.offset, r.key),
                )
        tell()
        ledger.end()
    except BaseException:
        db.rollback()
        raise


def next_offset(db, part):
    """The rows themselves say it."""
    (last,) = db.execute('SELECT max("offset") FROM trades WHERE part = ?', [part]).fetchone()
    return 0 if last is None else last + 1


ends_2 = keep_running(lab, by_hand, lab.p.killed, "books-2.sqlite")

# Task 3
def read_on(consumer, db, is_open):
    while is_open():
        batches = consumer.poll(timeout_ms=100)
        while batches:
            place, records = batches.popitem()
            while records:
                try:
                    book(db, place.partition, records, consumer.commit)
                    records = []
                except sq.OperationalError as error:
                    print(error)  # the same once more


ends_3 = keep_running(lab, with_a_loop, lab.p.locked, "books-3.sqlite")

# Task 4
class FromTheBooks(ConsumerRebalanceListener):
    def __init__(self, consumer, file):
        self.seek = consumer.seek
        self.file = file

    def on_partitions_revoked(self, revoked):
        print("gone", revoked)

    def on_partitions_assigned(self, assigned):
        with open_books(self.file) as db:
            for topic_partition in assigned:
                self.seek(topic_partition, next_offset(db, topic_partition.partition))


ends_4 = keep_running(lab, in_a_group, lab.p.shared, "books-4.sqlite", stages)

# Task 5
import json
from collections import Counter

report, newest = {}, {}
for topic, file in {lab.p.careless: "books-1.sqlite", lab.p.killed: "books-2.sqlite"}.items():
    rows = read_topic(spark, lab.cluster, topic).orderBy("offset").collect()
    there = {(row.partition, row.offset) for row in rows}
    found = Counter((row.partition, row.offset) for row in books(file).collect())
    report[topic] = dict(
        records=len(rows),
        rows=sum(found.values()),
        missing=len(there - set(found)),
        twice=len([one for one in found.values() if one > 1]),
    )
    if topic == lab.p.killed:
        for row in rows:
            newest[bytes(row.key).decode()] = json.loads(bytes(row.value))["cents"]
