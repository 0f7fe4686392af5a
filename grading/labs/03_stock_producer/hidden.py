"""Hidden checks of lab 03: the same questions, asked with other values."""

from kafka.partitioner import murmur2

from grading.judge.checks import at_least, check, equal

from .trade import names, place_of


@check(2, points=4, title="All chance comes from the generator")
def chance_comes_from_the_generator(x):
    stock, seed = x.p.stocks[4], x.rng.randrange(10**6)
    draw = (
        f"(lambda generator: [[p.dollars, p.cents] for p in "
        f"[random_price({stock!r}, generator) for _ in range(20)]])"
        f"(__import__('random').Random({{}}))"
    )
    first, again, other = (x.value(draw.format(s)) for s in (seed, seed, seed + 1))
    yield equal("the same seed a second time", again, first)
    yield other != first, "another seed gives the same prices"


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
    for key in [important[0], *keys[:5]]:
        seen = x.value(
            f"StockPartitioner({important!r}).partition('t', {key!r}, {key.encode()!r}, None, None,"
            f" {metadata})"
        )
        yield equal(f"the partition of {key}", seen, place_of(key, 4, important))


@check(4, points=4, title="What send raises is counted and passed on")
def own_failures_pass_on(x):
    yield equal("what send raised for a value that is no bytes", x.value("passed_on"), "TypeError")


@check(6, points=3, title="A failure does not end the trade")
def trade_goes_on(x):
    complaints = x.value("[str(line) for line in complaints]")
    failed = [line for line in complaints if "failed" in line]
    yield at_least("lines that say failed", len(failed), 3)
    yield (
        x.value("hopeless.done() and hopeless.exception() is None"),
        "trade ended by an exception, or not at all",
    )


@check(7, points=5, title="First flushing, then closing, also after SIGTERM")
def end_is_orderly(x):
    yield equal("status after SIGTERM", x.value("ends['SIGTERM'][0]"), 143)
    for name in ("SIGINT", "SIGTERM"):
        said = x.value(f"[str(line) for line in ends[{name!r}][1]]")
        steps = [word for line in said for word in ("flushing", "closing") if word in line.lower()]
        yield equal(f"steps told after {name}", steps, ["flushing", "closing"])
