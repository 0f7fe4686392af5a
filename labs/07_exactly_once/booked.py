"""What the books of lab 07 held, beside what the brokers hold.

The books were read from outside while the programs ran and when they had ended (faults.py). What
stands in them is a student's: a value may be anything.
"""

import json
from collections import Counter

from grading.judge.checks import Unseen, expect


def log_of(x, topic):
    """(partition, offset) -> stock and price of each record."""
    found = {}
    for record in x.read(topic):
        try:
            value = json.loads(record.value or b"")
        except (ValueError, RecursionError):
            value = None
        cents = value.get("cents") if isinstance(value, dict) else None
        found[record.partition, record.offset] = record.key_text(), cents
    return found


def topic_of(x, task):
    """The topic of a task."""
    return (x.p.careless, x.p.killed, x.p.locked, x.p.shared)[task - 1]


def is_blank(x, task):
    """Whether nothing happened in a task: no record was ever in its topic."""
    try:
        x.kept(task)
    except Unseen:
        partitions = x.kafka.topic(topic_of(x, task)).partitions
        return all(one.end_offset == 0 for one in partitions)
    return False


def why_empty(x, task):
    """Why there is no record in the topic of a task, where nothing happened."""
    return f"{topic_of(x, task)} is empty, as task {task} has no answer or has not run"


def looked_at(x, task):
    """What the fault of a task has seen; ends the check where a row or a reader is not honest."""
    kept = x.kept(task)
    topic = topic_of(x, task)
    found = Counter(record.partition for record in x.read(topic))
    if found != Counter(dict(enumerate(kept["ends"]))):
        raise Unseen(f"{topic} does not hold the records any more that the clerks were to book")
    if kept["unfetched"]:
        raise Unseen(
            f"{kept['unfetched']} rows of trades were in the books before a client had fetched "
            "their records"
        )
    if kept["others"]:
        raise Unseen("a process that is no clerk has written into the books")
    if kept["strays"]:
        raise Unseen(
            f"when the clerk was dead, somebody else has read on: {kept['strays']} times records "
            "went over a connection that had brought some before"
        )
    return kept


def places(rows):
    """How often each place stands in these rows of trades."""
    return Counter((row[0], row[1]) for row in rows)


def once_each(x, topic, rows, until=None):
    """Each record has one row, which tells its stock and its price; else the check ends.

    until: the offset where each partition ended then; by default all records count.
    """
    log = log_of(x, topic)
    if until is not None:
        log = {at: told for at, told in log.items() if at[0] < len(until) and at[1] < until[at[0]]}
    found = places(rows)
    never = sum(at not in found for at in log)
    twice = sum(number > 1 for at, number in found.items() if at in log)
    other = sum((row[0], row[1]) not in log for row in rows)
    other += sum((row[2], row[3]) != log[row[0], row[1]] for row in rows if (row[0], row[1]) in log)
    words = [f"{never} were never booked"] * bool(never)
    words += [f"{twice} were booked more than once"] * bool(twice)
    words += [f"{other} rows tell of another trade than the log"] * bool(other)
    return expect(not words, f"of {len(log)} trades in {topic} {', '.join(words)}", must=True)


def newest_of(x, topic):
    """Stock -> its newest price: a stock has one partition."""
    found = {}
    for _, (stock, cents) in sorted(log_of(x, topic).items()):
        found[stock] = cents
    return found


def wrong_in_report(x, task):
    """What is not true in the report of a topic, as a sentence; empty where all is."""
    topic = topic_of(x, task)
    form = {"records": int, "rows": int, "missing": int, "twice": int}
    try:
        said = x.value("report", {topic: form})[topic]
        rows = [] if is_blank(x, task) else looked_at(x, task)["trades"]
    except Unseen as why:
        return str(why)
    log = places((one.partition, one.offset) for one in x.read(topic, may_be_empty=True))
    found = places(rows)
    there = {
        "records": len(log),
        "rows": len(rows),
        "missing": len(log.keys() - found.keys()),
        "twice": sum(number > 1 for number in found.values()),
    }
    wrong = ", ".join(name for name in there if said[name] != there[name])
    so = "" if log else f": {why_empty(x, task)}"
    return wrong and f"{topic}: {wrong} of your report is not what is there{so}"
