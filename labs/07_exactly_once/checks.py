"""Public checks of lab 07: the books, read from outside, against the log."""

from grading.judge.checks import Unseen, check, equal, expect

from .booked import is_blank, looked_at, newest_of, once_each, places, why_empty, wrong_in_report

AN_OLDER_ONE = """
(lambda db, trade: [
    book(db, 0, [trade(7, 300)], print), db.commit(),
    book(db, 0, [trade(4, 100)], print), db.commit(),
    db.execute('SELECT cents FROM prices').fetchall(),
][-1])(
    open_books(':memory:'),
    lambda offset, cents: __import__('types').SimpleNamespace(
        topic='t', partition=0, offset=offset, key='OLD', value={'cents': cents}, timestamp=offset,
        headers=[],
    ),
)
"""


@check(1, points=9, title="The trades that are in the books twice")
def repeated_are_found(x):
    kept = looked_at(x, 1)
    if not kept["kills"]:
        raise Unseen("the clerk was not killed")
    there = [at[1] for at, number in places(kept["trades"]).items() if number > 1]
    said = x.value("again_1", list[int])
    yield (
        sorted(said) == sorted(there, key=lambda offset: offset if type(offset) is int else -1),
        f"again_1 has {len(said)} offsets; the books say something else, or one is there twice",
    )


@check(1, points=5, title="The prediction", needs="repeated_are_found")
def repeated_were_foretold(x):
    kept = looked_at(x, 1)
    there = sum(number > 1 for number in places(kept["trades"]).values())
    said = x.value("predicted_1", int)
    if kept["foretold"] != said:
        raise Unseen("when the clerk was started, predicted_1 was not there yet, or was another")
    yield said == there, f"predicted_1 is {said}: what lies between two commits of the clerk?"


@check(2, points=16, title="Four kills, and each trade is booked once")
def killed_and_once_each(x):
    kept = looked_at(x, 2)
    yield expect(kept["kills"] >= 4, f"the clerk was killed {kept['kills']} times", must=True)
    yield once_each(x, x.p.killed, kept["trades"])


@check(2, points=6, title="The newest price of each stock", needs="killed_and_once_each")
def prices_are_the_newest(x):
    kept = looked_at(x, 2)
    found = {row[0]: row[1] for row in kept["prices"]}
    there = newest_of(x, x.p.killed)
    wrong = sorted(str(stock) for stock in there if found.get(stock) != there[stock])
    yield not wrong, f"prices has an old price, or none, of {', '.join(wrong)}"
    extra = sorted(str(stock) for stock in found if stock not in there)
    yield not extra, f"prices has {', '.join(extra)}, which nobody traded"
    yield (
        not kept["torn"],
        f"between two commits, {kept['torn']} times a trade was in the books and its price not yet",
    )


@check(
    2,
    points=4,
    title="Kafka is told first, then the database commits",
    needs="killed_and_once_each",
)
def kafka_is_told_first(x):
    kept = looked_at(x, 2)
    yield expect(
        kept["told"] > 0 and not kept["booked"],
        f"when the first commit of the database was kept back, it held {kept['booked']} rows, and "
        f"{kept['told']} records were committed in Kafka",
        must=True,
    )


@check(2, points=4, title="An older trade that comes late", needs="killed_and_once_each")
def older_changes_nothing(x):
    rows = x.value(AN_OLDER_ONE, list[tuple[int]], called="prices after an older trade")
    yield equal("the price after a trade at 300 and then an older one", rows, [(300,)])


@check(3, points=10, title="Nothing is lost when the database refuses")
def refused_and_once_each(x):
    kept = looked_at(x, 3)
    yield once_each(x, x.p.locked, kept["trades"])
    yield expect(
        not kept["stayed"],
        "what the database had refused stayed open and was committed later: it was not rolled back",
        must=True,
    )


@check(3, points=6, title="The same process goes on", needs="refused_and_once_each")
def same_process_goes_on(x):
    yield looked_at(x, 3)["same"], "the program that met the lock has ended, and another went on"


@check(4, points=12, title="A partition that moves goes on where the books say")
def moved_and_once_each(x):
    kept = looked_at(x, 4)
    readers = kept["readers"]
    several = sum(1 for parts in readers.values() if parts)
    yield expect(
        several >= 2, f"records went to {several} client; two clerks are to share them", must=True
    )
    yield once_each(x, x.p.shared, kept["moved"], until=kept["until"])


@check(4, points=12, title="Offsets in Kafka that are wrong or gone", needs="moved_and_once_each")
def kafka_may_be_wrong(x):
    yield once_each(x, x.p.shared, looked_at(x, 4)["trades"])


@check(5, points=6, title="The report of Spark")
def report_is_true(x):
    if is_blank(x, 1) and is_blank(x, 2):
        raise Unseen("nothing to compare: tasks 1 and 2 have no answer, so their topics are empty")
    for task in (1, 2):
        wrong = wrong_in_report(x, task)
        yield not wrong, wrong


@check(5, points=6, title="The newest prices of Spark")
def newest_by_spark(x):
    there = {} if is_blank(x, 2) else newest_of(x, x.p.killed)
    # What is true of an empty topic counts for who has compared the other one.
    if not there and (is_blank(x, 1) or wrong_in_report(x, 1)):
        raise Unseen(f"nothing to find: {why_empty(x, 2)}, and the report of task 1 is not true")
    said = x.value("newest", dict[str, int], may_be_empty=not there)
    wrong = sorted(str(stock) for stock in there if said.get(stock) != there[stock])
    yield (
        not wrong and len(said) == len(there),
        f"newest has {len(said)} stocks, and not the newest price of {wrong or 'others'}",
    )
