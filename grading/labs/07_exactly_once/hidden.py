"""Hidden checks of lab 07."""

from grading.judge.checks import check, expect

from .booked import looked_at, newest_of


@check(2, points=4, title="A batch is one transaction", needs="killed_and_once_each")
def batch_is_one_transaction(x):
    kept = looked_at(x, 2)
    found = {row[0]: row[1] for row in kept["prices"]}
    there = newest_of(x, x.p.killed)
    # Prices that are wrong to the end are the matter of another check.
    is_newest = all(found.get(stock) == cents for stock, cents in there.items())
    yield expect(
        not (kept["torn"] and is_newest),
        f"a batch took more than one transaction: {kept['torn']} times its trades came before its "
        "prices",
        must=True,
    )
    # A start may write a row of its own for each partition, and when it first meets it.
    spare = [len(kept["ends"])] * len(kept["starts"])
    for one, few in zip([*kept["starts"], kept], [*spare, 0], strict=True):
        yield expect(
            one["commits"] <= one["most"] + few and one["hollow"] <= few,
            f"records that came in at most {one['most']} batches took {one['commits']} commits of "
            f"the database, and {one['hollow']} of them brought no trade",
            must=True,
        )
