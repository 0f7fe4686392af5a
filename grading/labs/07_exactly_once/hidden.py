"""Hidden checks of lab 07."""

from grading.judge.checks import check, expect

from .booked import looked_at


@check(2, points=4, title="A batch is one transaction", needs="killed_and_once_each")
def batch_is_one_transaction(x):
    kept = looked_at(x, 2)
    yield expect(
        not kept["torn"],
        f"between two commits, {kept['torn']} times a trade was in the books and its price not yet",
        must=True,
    )
    yield expect(
        kept["commits"] <= kept["most"] and not kept["hollow"],
        f"records that came in at most {kept['most']} batches took {kept['commits']} commits of "
        f"the database, and {kept['hollow']} of them brought no trade",
        must=True,
    )
