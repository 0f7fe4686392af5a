"""What the checks of lab 03 know about prices and places."""

from kafka.partitioner import murmur2

from grading.judge.log import whole_number

SETTINGS = {
    "acks": -1,
    "enable_idempotence": True,
    "compression_type": "snappy",
    "batch_size": 65_536,
    "linger_ms": 20,
}
CHOSEN = ("compression_type", "batch_size", "linger_ms")
"""Those of the settings that are not the client's defaults."""


def names(x):
    """The names of the student's stocks; the first two are the important ones."""
    return [name for name, *_ in x.p.stocks]


def place_of(key, partitions, important):
    """Where a stock belongs."""
    if partitions == 1 or key in important:
        return partitions - 1
    return (murmur2(key.encode()) & 0x7FFFFFFF) % (partitions - 1)


def number(record):
    """The how-manieth price of its stock a record is; 0 where its header does not say so."""
    return whole_number(record.header("number")) or 0


def by_name(x, log):
    """The name of each stock -> its prices, in the order of the log."""
    found = {name: [] for name in names(x)}
    for record in log:
        if (key := record.key_text()) in found:
            found[key].append(record)
    return found


def of_stocks(x, log):
    """The records that tell of one of the student's stocks, by their key or in their value."""
    known = names(x)
    return [r for r in log if r.key_text() in known or any(name in r.text() for name in known)]
