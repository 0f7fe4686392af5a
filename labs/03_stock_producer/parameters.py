"""What each student of lab 03 gets: stocks with their bounds, and names and sizes of topics."""

from kafka.partitioner import murmur2

NAMES = (
    "IBM",
    "SUN",
    "GOOG",
    "INEL",
    "UBER",
    "ABC",
    "XYZ",
    "DEF",
    "KLM",
    "OPQ",
    "RST",
    "VWX",
)


def make(rng):
    names, partitions = rng.sample(NAMES, 8), rng.choice([3, 4, 5])
    while _alone_by_luck(names, partitions):
        names = rng.sample(NAMES, 8)
    return {
        "topic": rng.name("stock-prices"),
        "partitions": partitions,
        "max_bytes": rng.randrange(40, 80) * 1000,
        "stocks": [[name, *_bounds(rng)] for name in names],
        "important": names[:2],
        "counted_topic": rng.name("counted"),
        "good": rng.randrange(20, 40),
        "too_large": rng.randrange(2, 6),
        "restarted": rng.randrange(3),
        "missing_topic": rng.name("missing"),
        "program_topic": rng.name("program-prices"),
    }


def _alone_by_luck(names, partitions):
    """Whether the usual partitioner, too, puts the important ones, and no other, last."""
    last = {n for n in names if (murmur2(n.encode()) & 0x7FFFFFFF) % partitions == partitions - 1}
    return last == set(names[:2])


def _bounds(rng):
    low = rng.randrange(20, 400)
    return [low, rng.randrange(1, 40)], [low + rng.randrange(20, 200), rng.randrange(60, 100)]
