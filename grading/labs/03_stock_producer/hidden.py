"""Hidden checks of lab 03: the same questions, asked with other values."""

from kafka.partitioner import murmur2

from grading.judge.checks import check, equal, expect

from .checks import came_through, has_worked, last_line
from .trade import names, place_of


@check(2, points=4, title="All chance comes from the generator")
def chance_comes_from_the_generator(x):
    stock, seed = x.p.stocks[4], x.rng.randrange(10**6)
    prices = list[tuple[int, int]]
    first, again, other = x.value(
        f"[[[p.dollars, p.cents] for p in [random_price({stock!r}, own) for _ in range(20)]]"
        f" for own in map(__import__('random').Random, ({seed}, {seed}, {seed + 1}))]",
        tuple[prices, prices, prices],
        called=f"what random_price draws for {stock[0]} with three generators",
    )
    yield (
        again == first != other,
        "another seed gives the same prices"
        if again == first
        else "the same seed gives other prices a second time",
    )


@check(3, points=6, title="A key stays where it is when a broker is away")
def partitions_without_leader_count(x):
    # the four partitions of a topic, of which two have a leader now
    metadata = (
        "type('Metadata', (), {'topics': lambda self: {'t'},"
        " 'partitions_for_topic': lambda self, topic: {0, 1, 2, 3},"
        " 'available_partitions_for_topic': lambda self, topic: {0, 1}})()"
    )
    important = names(x)[:2]
    # a hash whose top bit is set goes astray where the bit is not removed
    keys = [key for key in (f"T{n}" for n in range(60)) if murmur2(key.encode()) & 0x80000000]
    asked = [important[0], *keys[:8]]
    seen = {
        key: x.value(
            f"StockPartitioner({important!r}).partition('t', {key!r}, {key.encode()!r}, None, None,"
            f" {metadata})",
            int,
            called=f"the partition that StockPartitioner finds for {key}",
        )
        for key in asked
    }
    yield equal(
        "places in a topic of four partitions, of which two have a leader now",
        seen,
        {key: place_of(key, 4, important) for key in asked},
    )


@check(4, points=4, title="What send raises is counted and passed on")
def own_failures_pass_on(x):
    came_through(x)
    raised = x.value("passed_on", str)
    yield equal("what send raised for a value that is no bytes", raised, "TypeError")


@check(6, points=3, title="A failure does not end the trade", needs="no_price_is_lost")
def trade_goes_on(x):
    failed = [line for line in x.value("complaints", list[str]) if "failed" in line.lower()]
    few = f"{len(failed)} lines say failed, and the trade went on for three at least"
    yield expect(len(failed) >= 3, few, must=True)
    yield (
        x.value("hopeless.done() and hopeless.exception() is None", bool, called="hopeless"),
        "trade ended by an exception, or not at all",
    )


@check(7, points=5, title="First flushing, then closing, also after SIGTERM")
def end_is_orderly(x):
    has_worked(x)
    yield equal("status after SIGTERM", x.value("ends['SIGTERM'][0]", int), 143)
    for name in ("SIGINT", "SIGTERM"):
        said = x.value(f"ends[{name!r}][1]", list[str], called=f"lines after {name}")
        told = [word for line in said for word in ("flushing", "closing") if word in line.lower()]
        in_order = "closing" in told and "flushing" in told[: told.index("closing")]
        yield in_order, f"after {name} the lines told the steps {told}"
        asked = last_line(x, name)["asked"]
        yield (
            "close" in asked and "flush" in asked[: asked.index("close")],
            f"after {name} and its last price the producer was asked to {asked or 'do nothing'}",
        )
