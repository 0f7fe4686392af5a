"""What became of the records: the judgement over everything a ledger noted. Pure, no Kafka here.

How the words are meant:

- acknowledged: the producer's future succeeded. With acks=0 kafka-python says so as soon as it has
  written to the socket, and nobody promised anything.
- failed, unresolved: the future raised, or nothing has been heard. The record may be in the log
  all the same.
- found: sent, and in the log at least once, whatever the producer was told.
- lost: acknowledged, and absent from the log.
- duplicated: in the log more than once.
- reordered: stands in its partition behind a record that was sent after it. Copies do not count,
  only the first one of each record.
- unobserved: in the log, and no reader of the lesson has read it. Where no reader took part there
  was nobody to miss a record, so there is none.
- reread: handed to one reader more than once from the same place, as after a crash before a commit.
  This is redelivery: the log holds the record once. A reader is a whole group, not a member of it.
- strangers: in the log, and never sent through this ledger.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields

from kafkalab import tables

Identity = str | int

ACKNOWLEDGED = "acknowledged"
FAILED = "failed"
UNRESOLVED = "unresolved"
STATES = (ACKNOWLEDGED, FAILED, UNRESOLVED)


@dataclass(frozen=True)
class Sending:
    """One send, and the answer once it is there.

    `partition` is where the producer means to put it, known before any answer. Times are seconds
    since 1970; the latency comes from a clock that is never set back.
    """

    identity: Identity
    topic: str
    partition: int | None
    sent_at: float
    state: str = UNRESOLVED
    offset: int | None = None
    acknowledged_at: float | None = None
    latency_ms: float | None = None
    error: str | None = None


@dataclass(frozen=True)
class Reading:
    """A record as one reader got it, `identity` as text; `timestamp_ms` is the record's own."""

    reader: str
    identity: str
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    read_at: float


@dataclass(frozen=True)
class Counts:
    """The numbers of one partition; partition None: none was chosen before the send failed."""

    topic: str
    partition: int | None
    sent: int
    acknowledged: int
    failed: int
    unresolved: int
    found: int
    lost: int
    duplicated: int
    reordered: int
    unobserved: int


COLUMNS = [field.name for field in fields(Counts)]
COUNTED = COLUMNS[2:]


@dataclass(frozen=True)
class Verdict:
    """Lists of identities, each in the order of sending (strangers: in the order of the log)."""

    sent: list[Identity]
    acknowledged: list[Identity]
    failed: list[Identity]
    unresolved: list[Identity]
    found: list[Identity]
    lost: list[Identity]
    duplicated: list[Identity]
    reordered: list[Identity]
    unobserved: list[Identity]
    reread: list[Identity]
    strangers: list[str]
    partitions: list[Counts]

    def __repr__(self) -> str:
        always = ["acknowledged", "found", "lost", "duplicated", "reordered", "unobserved"]
        order = ["sent", "acknowledged", "failed", "unresolved", *always[1:], "reread", "strangers"]
        shown = {*always, *(name for name in order[2:] if getattr(self, name))}
        if len(self.sent) != len(self.acknowledged):
            shown.add("sent")
        return " · ".join(f"{name} {len(getattr(self, name)):,}" for name in order if name in shown)

    def _repr_html_(self) -> str:
        rows = [[getattr(counts, name) for name in COLUMNS] for counts in self.partitions]
        return tables.html(repr(self), COLUMNS, rows)


def judge(
    sendings: Sequence[Sending],
    log: Iterable[Reading],
    reads: Iterable[Reading],
    readers: Collection[str] | None = None,
) -> Verdict:
    """Compare what was sent (in order of sending), what is in the log, and what was read.

    `readers` are those whose reading counts for `unobserved`; by default all who read anything.
    A record sent twice under one identity is one record, in the order of its first send, and
    acknowledged if one of its sends was.
    """
    known = _records(sendings)
    order = {key: place for place, key in enumerate(known)}
    places = _places(log)

    reads = [reading for reading in reads if readers is None or reading.reader in readers]
    listening = bool(reads) if readers is None else bool(readers)
    observed = {_key(reading) for reading in reads}
    deliveries = Counter((r.reader, r.partition, r.offset, _key(r)) for r in reads)
    reread = {key for (*_, key), times in deliveries.items() if times > 1}

    def named(keys: Collection[tuple[str, str]]) -> list[Identity]:
        return [known[key].identity for key in order if key in keys]

    groups = {state: {key for key in order if known[key].state == state} for state in STATES}
    found = {key for key in order if key in places}
    groups |= {
        "sent": set(order),
        "found": found,
        "lost": groups[ACKNOWLEDGED] - found,
        "duplicated": {key for key in found if len(places[key]) > 1},
        "reordered": _overtaken(places, order),
        "unobserved": found - observed if listening else set(),
    }
    return Verdict(
        **{name: named(keys) for name, keys in groups.items()},
        reread=named(reread),
        strangers=[key[1] for key in places if key not in order],
        partitions=_per_partition(known, places, groups),
    )


def _key(reading: Reading) -> tuple[str, str]:
    return reading.topic, reading.identity


def _records(sendings: Sequence[Sending]) -> dict[tuple[str, str], Sending]:
    """For each record the send that decides: an acknowledged one, else one that may yet be."""
    rank = (ACKNOWLEDGED, UNRESOLVED, FAILED)
    known: dict[tuple[str, str], Sending] = {}
    for sending in sendings:
        key = (sending.topic, str(sending.identity))
        best = known.setdefault(key, sending)
        if rank.index(sending.state) < rank.index(best.state):
            known[key] = sending
    return known


def _places(log: Iterable[Reading]) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """Where each record stands as (partition, offset), in log order. One offset is one copy."""
    places: dict[tuple[str, str], list[tuple[int, int]]] = {}
    seen = set()
    for reading in sorted(log, key=lambda r: (r.topic, r.partition, r.offset)):
        place = (reading.topic, reading.partition, reading.offset)
        if place not in seen:
            seen.add(place)
            places.setdefault(_key(reading), []).append((reading.partition, reading.offset))
    return places


def _overtaken(
    places: dict[tuple[str, str], list[tuple[int, int]]], order: dict[tuple[str, str], int]
) -> set[tuple[str, str]]:
    first: dict[tuple[str, int], list[tuple[int, tuple[str, str]]]] = {}
    for key in order.keys() & places.keys():
        for partition in {partition for partition, _ in places[key]}:
            offset = min(o for p, o in places[key] if p == partition)
            first.setdefault((key[0], partition), []).append((offset, key))
    overtaken = set()
    for entries in first.values():
        latest = -1
        for _, key in sorted(entries):
            if order[key] < latest:
                overtaken.add(key)
            latest = max(latest, order[key])
    return overtaken


def _per_partition(
    known: dict[tuple[str, str], Sending],
    places: dict[tuple[str, str], list[tuple[int, int]]],
    groups: dict[str, set[tuple[str, str]]],
) -> list[Counts]:
    """Every record counts in one row, so the columns add up to the whole.

    That is the partition it was sent to, else the one where it is found first.
    """
    tallies: dict[tuple[str, int | None], Counter[str]] = {}
    for key, sending in known.items():
        home = sending.partition
        if home is None and key in places:
            home = places[key][0][0]
        tally = tallies.setdefault((key[0], home), Counter())
        tally.update(name for name in COUNTED if key in groups[name])

    def by_place(entry: tuple[str, int | None]) -> tuple[str, bool, int]:
        return entry[0], entry[1] is None, entry[1] or 0

    return [
        Counts(topic, partition, **{name: tallies[topic, partition][name] for name in COUNTED})
        for topic, partition in sorted(tallies, key=by_place)
    ]
