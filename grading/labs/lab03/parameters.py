"""What each student of lab 03 gets: stocks with their bounds, and names and sizes of topics."""

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
    names = rng.sample(NAMES, 8)
    return {
        "topic": rng.name("stock-prices"),
        "partitions": rng.choice([3, 4, 5]),
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


def _bounds(rng):
    low = rng.randrange(20, 400)
    return [low, rng.randrange(1, 40)], [low + rng.randrange(20, 200), rng.randrange(60, 100)]
