"""Hidden checks of lab 07."""

from grading.judge.checks import check, expect

from .booked import looked_at

FEWEST = 2
"""Rows of trades for a commit of the database, on average. Some batches are small: a `poll` hands
over what is there."""


@check(2, points=4, title="A batch is one transaction", needs="killed_and_once_each")
def batch_is_one_transaction(x):
    kept = looked_at(x, 2)
    rows, commits = len(kept["trades"]), max(kept["commits"], 1)
    yield expect(
        rows >= FEWEST * commits,
        f"the database has committed {commits} times for {rows} trades, and a batch has up to "
        f"{x.p.batch}",
        must=True,
    )
