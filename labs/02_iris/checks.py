"""Public checks of lab 02."""

import re
import statistics
from base64 import urlsafe_b64decode
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from uuid import UUID

from kafka import KafkaConsumer, KafkaProducer

from grading.judge.checks import Unseen, check, equal, expect, same
from grading.run import pace

from .flowers import (
    LONE,
    as_read,
    colour,
    flowers,
    log,
    of_flowers,
    pair,
    places,
    row,
    rows_of,
    were_read,
)

READERS = ("all", "setosa", "virginica")
CHANGED = [
    [84, "Iris-versicolor", "Iris-virginica"],
    [85, "Iris-versicolor", "Iris-virginica"],
    [86, "Iris-versicolor", "Iris-virginica"],
    [130, "Iris-virginica", "Iris-versicolor"],
]
ENDS = ("nothing", "flush", "close")
OBSERVED = {
    "brokers": list[int],
    "quorum_leader": int,
    "topic_ids": dict[str, str],
    "offsets_topic": str,
}
OFFSETS = "__consumer_offsets"
PLAIN = bool | int | float | str | None
RECORD = {"row": int, "topic": str, "partition": int, "offset": int, "pair": list[float]}
READ = list[RECORD]
SETTING = tuple[str, str, object, tuple[str, str]]
TRIES = Path(__file__).with_name("tries.py").read_text("utf-8")
TRIED = ((0, 0), (1, 1), (0, 1), (1, 0))
"""Which of its two values an experiment is called with, and which one the client then has."""
QUICK = 5.0  # seconds for five calls; slow ones take up to ten
ODD = {"slow": (0, 1, 3), "quick": (None, 0, 1, 3, 5)}
"""How many calls may not fit, after five, ten and fifteen: a machine stands still now and then. By
chance five calls are fitted now and then, ten hardly, so quick ones are called ten times at least.
"""
AGAIN = {"slow": 3, "quick": 6}
"""Rounds more than that for all settings together: a lab's questions take about a minute."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@check(1, points=8, title="Two topics with two partitions and one copy")
def topics_have_their_shape(x):
    for name in (x.p.pair_topic, x.p.lone_topic):
        topic = x.kafka.topic(name)
        copies = [len(partition.replicas) for partition in topic.partitions]
        # one copy alone proves nothing: a cluster of one broker has no more
        yield equal(f"copies of each partition of {name}", copies, [1, 1])


@check(2, points=5, title="Every flower was sent once")
def flowers_arrived_once(x):
    yield same("rows in the headers", [row(record) for _, record in log(x)], flowers())


@check(2, points=6, title="The class decides where")
def class_decides_where(x):
    records = log(x)
    for name, partition in x.p.partition_of.items():
        rows = [
            row(r) for topic, r in records if (topic, r.partition) == (x.p.pair_topic, partition)
        ]
        yield same(f"partition {partition} of {x.p.pair_topic} ({name})", rows, rows_of(name))
    rows = [row(record) for topic, record in records if topic == x.p.lone_topic]
    yield same(f"{x.p.lone_topic} ({LONE})", rows, rows_of(LONE))


@check(2, points=4, title="The value is the pair, and there is no key")
def value_is_the_pair(x):
    records = [record for _, record in log(x)]
    odd = [r for r in records if pair(r) != flowers().get(row(r) or 0, ("", None))[1]]
    yield expect(not odd, _odd_value(odd), must=True)
    keys = sorted({str(record.key_text()) for record in records if record.key is not None})
    yield not keys, f"{len(keys)} different keys, for example {keys[:3]}: send without a key"


@check(2, points=2, title="A line of text for each flower, in the order of the file")
def lines_are_in_order(x):
    lines = x.value("lines", list[str])
    of_flowers(x)
    yield equal("lines", len(lines), 150, must=True)
    for number, (line, (name, numbers)) in enumerate(
        zip(lines, flowers().values(), strict=True), 1
    ):
        found = re.search(r"\d+", line)
        fits = found and int(found[0]) == number and name in line and _has_pair(line, numbers)
        if not fits:
            yield False, f"line {number} is {line!r}; expected {number}, {name} and {numbers}"
            return
    yield True, ""


@check(3, points=11, title="Each reader got its partitions, from the beginning")
def readers_got_everything(x):
    consumed = {name: x.value(f"consumed[{name!r}]", READ) for name in READERS}
    for name in READERS:
        yield expect(*_same_records(name, consumed[name], _stored(x, name)))


@check(3, points=3, title="In the order of arrival", needs="readers_got_everything")
def order_of_arrival(x):
    consumed = x.value("consumed['all']", READ)
    for place in places(x, "all"):
        topic, partition = place
        offsets = [r["offset"] for r in consumed if (r["topic"], r["partition"]) == place]
        yield (
            offsets == sorted(offsets),
            f"partition {partition} of {topic}: a consumer hands out rising offsets, consumed "
            f"has {offsets[:6]} …",
        )


@check(3, points=3, title="Each ended when nothing had come for a while")
def readers_waited(x):
    waited = x.value(
        f"{{name: [idle_seconds, seconds[name]] for name in {list(READERS)}}}",
        dict[str, tuple[float, float]],
        called="seconds",
    )
    were_read(x, x.value("consumed['all']", READ))
    to_read = 10 * pace.now()  # seconds; the waiting itself is no longer on a busy machine
    for name in READERS:
        idle, took = waited.get(name, (0, 0))
        yield (
            0 < idle <= took < idle + to_read,
            f"reader {name} took {took:.1f} s; it ends {idle:g} s after its last record",
        )


@check(4, points=3, title="The listing has a header and a line per record")
def listing_shows_the_records(x):
    listing = x.value("listing", list[str])
    consumed = x.value("consumed['all']", READ)
    were_read(x, consumed)
    header = listing[0].lower() if listing else ""
    yield (
        all(word in header for word in ("topic", "value", "partition")),
        f"the first line is {header!r}; expected the columns topic, value and partition",
    )
    yield equal("lines", len(listing), len(consumed) + 1, must=True)
    odd = [
        (line, record)
        for line, record in zip(listing[1:], consumed, strict=True)
        if not _shows(line, record)
    ]
    yield not odd, _odd_line(odd)


@check(4, points=6, title="The points are the consumed records")
def points_are_the_records(x):
    points = x.value("points", list[tuple[float, float, str]])
    expected = [
        (*numbers, colour(x, topic, record.partition))
        for topic, record in log(x)
        if isinstance(numbers := pair(record), list)
    ]
    if not expected:
        raise Unseen("no record of the two topics has a pair as its value")
    yield same("points", points, expected)
    consumed = [r["pair"] for r in x.value("consumed['all']", READ)]
    yield equal("pairs in the order of consumed", [[*p[:2]] for p in points] == consumed, True)


@check(5, points=6, title="The labels that differ")
def labels_that_differ(x):
    changed = x.value("changed", list[tuple[int, str, str]])
    sent = {row(record) for _, record in log(x)}
    if any(number not in sent for number, *_ in CHANGED):
        raise Unseen("the two topics do not hold all flowers: there are no records to label")
    right = [found for found in changed if list(found) in CHANGED]
    yield (
        len(changed) == len(right) == len(CHANGED) and len({*changed}) == len(CHANGED),
        f"changed has {len(changed)} entries; {len(right)} of them say of a row what the two "
        "tables say, as [row, original class, label]",
    )


@check(6, points=4, title="Three programs left their records behind")
def programs_left_their_records(x):
    for end, count in {"nothing": 149, "flush": 150, "close": 150}.items():
        values = x.read(x.p.tail_topics[end], may_be_empty=True).values
        yield (
            sorted(values) == sorted(map(str, range(1, count + 1))),
            f"{x.p.tail_topics[end]} holds {len(values)} records, which is not what one run of the "
            f"program with {end} at its end leaves",
        )


@check(6, points=3, title="stored is what the topics hold")
def stored_is_measured(x):
    there = {end: len(x.read(x.p.tail_topics[end])) for end in ENDS}
    yield equal("stored", x.value("stored", dict[str, int]), there)


@check(6, points=3, title="missing names the rows that are not there")
def missing_is_measured(x):
    there = {
        end: set(range(1, 151)) - {record.number() for record in x.read(x.p.tail_topics[end])}
        for end in ENDS
    }
    yield equal("missing", x.value("missing", dict[str, set[int]]), there)


@check(7, points=3, title="Two values of each make a difference")
def values_make_a_difference(x):
    spare = dict(AGAIN)
    for number, (_, name, _, values) in enumerate(_settings(x)):
        calls, seconds = _round(x, number, name)
        pace = "quick" if seconds <= QUICK else "slow"
        bounds = ODD[pace]
        for allowed in bounds:
            odd = _unlike(calls)
            mostly = all(_mostly_fits(pair, calls, odd) for pair in TRIED)
            fits = allowed is not None and mostly and len(odd) <= allowed
            is_free = allowed is None
            if fits or odd == calls or not (spare[pace] or is_free) or allowed == bounds[-1]:
                break
            spare[pace] -= not is_free
            calls += _round(x, number, name)[0]
        yield fits, _told(name, values, calls, odd)


@check(
    7,
    points=3,
    title="Two settings of the producer, two of the consumer",
    needs="values_make_a_difference",
)
def four_settings(x):
    chosen = [(client, name) for client, name, _, _ in _settings(x)]
    clients = sorted(client for client, _ in chosen)
    yield equal("clients", clients, ["consumer"] * 2 + ["producer"] * 2, must=True)
    yield equal("different settings", len({name for _, name in chosen}), 4)
    unknown = [name for client, name in chosen if name not in _defaults(client)]
    yield not unknown, f"not a setting of this client: {', '.join(unknown)}"
    used = [name for _, name in chosen]
    yield "fetch_max_wait_ms" not in used, "fetch_max_wait_ms is the example of the text"


@check(7, points=3, title="The defaults are right", needs="values_make_a_difference")
def defaults_are_right(x):
    for client, name, default, _ in _settings(x):
        if name in _defaults(client):
            expected = _plain(_defaults(client)[name])
            said = _plain(default)
            is_all = name == "acks" and said == "all"  # another name of -1
            yield said == expected or is_all, f"the default of {name} is not {default!r}"
        else:
            yield False, f"{name} is not a setting of the {client}"


@check(8, points=9, title="Each role was observed")
def roles_were_observed(x):
    observed = x.value("observed", OBSERVED)
    ids = {name: _id(x.kafka.topic(name).id) for name in (x.p.pair_topic, x.p.lone_topic)}
    seen = {name: _id(text) for name, text in observed["topic_ids"].items()}
    # A cluster of one node has one id for all: without what is the student's own it tells nothing.
    yield expect(seen == ids, "topic_ids are not those of your two topics", must=True)
    yield sorted(observed["brokers"]) == x.kafka.brokers, "brokers: other ones are registered"
    is_leader = observed["quorum_leader"] == x.kafka.quorum().leader
    yield is_leader, "quorum_leader: another node leads the quorum"
    # It is made for the first group, and nothing in this lab needs one.
    name = observed["offsets_topic"]
    yield name == OFFSETS, f"offsets_topic: Kafka keeps no offsets of groups in {name!r}"


def _stored(x, name: str) -> list[dict]:
    wanted = places(x, name)
    return [
        as_read(topic, record) for topic, record in log(x) if (topic, record.partition) in wanted
    ]


def _same_records(name: str, seen: list[dict], expected: list[dict]) -> tuple[bool, str]:
    got = {(r["topic"], r["partition"], r["offset"]): r for r in seen}
    there = {(r["topic"], r["partition"], r["offset"]): r for r in expected}
    if len(seen) != len(expected) or got.keys() != there.keys():
        return False, f"consumed[{name!r}] has {len(seen)} records, its partitions {len(expected)}"
    for place, record in there.items():
        for field in ("row", "pair"):
            if got[place][field] != record[field]:
                return False, (
                    f"consumed[{name!r}]: at offset {place[2]} {field} is {got[place][field]!r}, "
                    f"the log has {record[field]!r}"
                )
    return True, ""


def _odd_value(odd: list) -> str:
    if not odd:
        return ""
    record = odd[0]
    wanted = flowers().get(row(record) or 0, ("", "no such flower"))[1]
    return (
        f"{len(odd)} values are another one: flower {row(record)} has {record.text()[:60]!r}, "
        f"expected {wanted}"
    )


def _has_pair(line: str, numbers: list[float]) -> bool:
    return all(re.search(rf"(?<![\d.]){re.escape(str(n))}(?!\d)", line) for n in numbers)


def _shows(line: str, record: dict) -> bool:
    rest = line.replace(str(record["topic"]), "", 1)
    return (
        str(record["topic"]) in line
        and _has_pair(rest, record["pair"])
        and bool(re.search(rf"(?<![\d.]){record['partition']}(?!\d|\.\d)", rest))
    )


def _odd_line(odd: list) -> str:
    if not odd:
        return ""
    line, record = odd[0]
    return (
        f"{len(odd)} lines do not show their record: {line!r} stands for {record['topic']}, "
        f"{record['pair']}, partition {record['partition']}"
    )


def _settings(x) -> list[tuple]:
    """Client, name, default and both values, as text, of each entry of `settings`.

    One too many is seen, and more of them would only be tried for long.
    """
    parts = "one['client'], one['name'], one['default'], [*map(repr, one['values'])]"
    return x.value(f"[[{parts}] for one in settings[:5]]", list[SETTING], called="settings")


def _round(x, number: int, name: str) -> tuple[list[tuple[int, int, object]], float]:
    """Five calls of an experiment, each with what it saw, and the seconds that they took."""
    saw = [(pair, *_seen(x, number, name, *pair)) for pair in _order(x.rng)]
    return [(*pair, seen) for pair, seen, _ in saw], sum(seconds for *_, seconds in saw)


def _seen(x, number: int, name: str, asks: int, has: int) -> tuple[object, float]:
    """See tries.py. The experiment runs in the notebook; what tries it goes there with it."""
    seen = f"own['timed'](settings[{number}], {asks}, {has})"
    ask = f"(lambda own: exec({TRIES!r}, own) or {seen})({{'__name__': 'tries'}})"
    return x.value(ask, tuple[PLAIN, float], called=f"what the experiment of {name} sees")


def _order(rng) -> list[tuple[int, int]]:
    """All four and one of them again, in an order that is not known: a list of answers does not
    fit. Neither value has all its calls before the other, as a counter would like it.
    """
    while True:
        order = rng.sample([*TRIED, rng.choice(TRIED)], 5)
        if sum(one != other for (_, one), (_, other) in pairwise(order)) > 1:
            return order


def _mostly_fits(pair: tuple[int, int], calls: list, odd: list) -> bool:
    """Whether more of these calls fit than not. Where none does, no chance is the reason."""
    asked = [call for call in calls if call[:2] == pair]
    return 2 * sum(call[:2] == pair for call in odd) < len(asked)


def _unlike(calls: list[tuple[int, int, object]]) -> list[tuple[int, int, object]]:
    """The calls that do not fit what is seen with the value that their client had.

    Words must be the same. Where they are the same with both values, the number counts that is
    seen, or stands in the text: it must be nearer to that of its own value by far.
    """
    parts = [(has, *_parts(seen)) for _, has, seen in calls]
    words = [statistics.mode(text for has, text, _ in parts if has == one) for one in (0, 1)]
    fits = [text == words[has] for has, text, _ in parts]
    if words[0] == words[1]:
        numbers: list[list[float]] = [[], []]
        for (has, _, number), is_like in zip(parts, fits, strict=True):
            if is_like and number is not None:
                numbers[has].append(number)
        if not numbers[0]:
            return calls
        usual = [statistics.median_low(of_value) for of_value in numbers]
        far = abs(usual[0] - usual[1]) / 2
        fits = [
            is_like and number is not None and abs(number - usual[has]) < far
            for (has, _, number), is_like in zip(parts, fits, strict=True)
        ]
    return [call for call, is_like in zip(calls, fits, strict=True) if not is_like]


def _parts(seen: object) -> tuple[str, float | None]:
    """What an experiment saw, as words, and the one number that it is or that stands in them."""
    is_number = isinstance(seen, int | float) and not isinstance(seen, bool)
    text = str(seen) if is_number else repr(seen)
    found = NUMBER.findall(text)
    if not is_number and len(found) != 1:
        return text, None
    with suppress(OverflowError):
        return ("" if is_number else NUMBER.sub("#", text)), float(seen if is_number else found[0])
    return text, None


def _told(name: str, values: tuple[str, str], calls: list, odd: list) -> str:
    """What a student is told whose experiment does not see its setting."""
    last = {(asks, has): seen for asks, has, seen in calls}
    first, second = (value[:60] for value in values)
    said = f"{name}: with {first} the experiment sees {last[0, 0]!r}, with {second} {last[1, 1]!r}"
    if last[0, 0] == last[1, 1] or not odd:
        return said
    asks, has, saw = max(odd, key=lambda call: call[0] != call[1])
    if asks == has:
        return f"{said}; called again with {values[asks][:60]} it sees {saw!r}"
    return f"{said}; where the client has {values[has][:60]} all the same, it sees {saw!r}"


def _defaults(client: object) -> dict:
    kinds = {"producer": KafkaProducer, "consumer": KafkaConsumer}
    return kinds[client].DEFAULT_CONFIG if client in kinds else {}


def _id(text: str) -> str:
    """One form for an id: Kafka's tools write it in base 64, its clients as a UUID."""
    with suppress(ValueError):
        return str(UUID(text))
    with suppress(ValueError):
        return str(UUID(bytes=urlsafe_b64decode(f"{text}==")))
    return text


def _plain(default: object) -> object:
    """A default in the form that JSON gives it; objects and classes by the name of the class."""
    if isinstance(default, list | tuple):
        return [_plain(part) for part in default]
    if default is None or isinstance(default, bool | int | float | str):
        return default
    return default.__name__ if hasattr(default, "__name__") else type(default).__name__
