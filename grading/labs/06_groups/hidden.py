"""Hidden checks of lab 06: the order of work and commit, another group, and the end."""

from grading.judge.checks import Unseen, check
from grading.judge.groups import Commit

from .packing import committed, ends, history, lags_of, missed, orders, packed, said_lags


@check(3, points=4, title="The order of work and commit")
def work_comes_first(x):
    day = x.p.day_3
    missed(x, day, 3)
    first = {}
    for one in sorted(packed(x, day), key=lambda one: one.at):
        first.setdefault(one.place, one.at)
    began = min(record.timestamp for record in x.read(day["topic"]))
    commits = [
        event
        for event in history(x, day["group"])
        if isinstance(event, Commit)
        and event.topic == day["topic"]
        and event.offset is not None
        and event.at >= began
    ]
    if not any(commit.offset for commit in commits):
        raise Unseen(f"{day['group']} has committed nothing for {day['topic']}")
    early = [
        commit
        for commit in commits
        if any(
            first.get((n, offset), commit.at + 1) > commit.at
            for n, offset in orders(x, day["topic"])
            if n == commit.partition and offset < commit.offset
        )
    ]
    yield not early, f"{len(early)} of {len(commits)} commits covered orders that were not packed"


# Of a group that has committed all there is, any function is right that knows the end.
@check(4, points=6, title="Another group and its lag", needs="lag_is_asked")
def lag_of_another_group(x):
    lags = lags_of(x, x.p.clerks, x.p.archive)
    moved, offsets = x.kept(4).get("moved", ()), x.kafka.group(x.p.clerks).offsets
    if not moved or any(offsets.get((x.p.archive, n)) != offset for n, offset in moved):
        raise Unseen(
            f"{x.p.clerks} is not as the cell in front of the task made it, and what came after it"
        )
    yield said_lags(x, x.p.clerks, x.p.archive, lags)


@check(5, points=4, title="The last commits", needs="committed_in_time")
def committed_at_the_end(x):
    day = x.p.day_5
    packed(x, day)
    last = committed(history(x, day["group"]), day["topic"])
    for n, end in ends(x, day["topic"]).items():
        yield (
            n in last and last[n].offset == end and last[n].metadata == x.p.careful,
            f"the last commit of partition {n} is not its end, or does not bear the name of the "
            "member",
        )
