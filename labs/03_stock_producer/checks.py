"""Public checks of lab 03."""

import json
import re

from grading.judge.checks import check, equal, expect, same

from .trade import SETTINGS, names, number, place_of


@check(1, points=5, title="The topic has its partitions and copies")
def topic_has_its_shape(x):
    topic = x.kafka.topic(x.p.topic)
    yield equal("partitions", len(topic.partitions), x.p.partitions)
    copies = sorted({len(partition.replicas) for partition in topic.partitions})
    yield equal("copies of a partition", copies, [3])


@check(1, points=5, title="Two settings are the topic's own")
def settings_of_the_topic(x):
    configs = x.kafka.topic(x.p.topic).configs
    for name, value in (
        ("min.insync.replicas", "2"),
        ("max.message.bytes", str(x.p.max_bytes)),
    ):
        yield equal(name, configs[name].value, value)
        yield equal(f"where {name} comes from", configs[name].source, "DYNAMIC_TOPIC_CONFIG")


@check(2, points=6, title="A price as JSON, with its fields in order")
def json_has_its_form(x):
    for name in names(x)[:3]:
        dollars, cents = x.rng.randrange(1000), x.rng.randrange(100)
        text = x.value(f"to_json(StockPrice({dollars}, {cents}, {name!r})).decode()")
        yield _fields(text, [("dollars", dollars), ("cents", cents), ("name", name)])


def _fields(text, expected):
    try:
        seen = json.loads(text, object_pairs_hook=list)
    except ValueError:
        return False, f"{text!r} is not JSON"
    fits = seen == [list(pair) for pair in expected] or seen == expected
    return fits, f"expected the fields {expected} in this order, saw {text}"


@check(2, points=5, title="A price lies within its bounds, both ends included")
def prices_stay_in_bounds(x):
    seed = x.rng.randrange(10**6)
    draw = "random_price(['NARROW', [10, 5], [12, 7]], generator)"
    prices = x.value(
        f"(lambda generator: [[p.dollars, p.cents] for p in [{draw} for _ in range(300)]])"
        f"(__import__('random').Random({seed}))"
    )
    yield equal("dollars drawn between 10 and 12", sorted({d for d, _ in prices}), [10, 11, 12])
    yield equal("cents drawn between 5 and 7", sorted({c for _, c in prices}), [5, 6, 7])
    pairs = {(dollars, cents) for dollars, cents in prices}
    yield equal("different prices of the nine that there are", len(pairs), 9)


@check(3, points=8, title="Every stock goes to its partition")
def every_stock_has_its_place(x):
    count, important = x.rng.choice([4, 6, 9]), names(x)[:2]
    keys = [*names(x), *(f"S{x.rng.randrange(10**6)}" for _ in range(40))]
    seen = x.value(f"[partition_of(k.encode(), {count}, set({important!r})) for k in {keys!r}]")
    wrong = [
        (key, place, place_of(key, count, important))
        for key, place in zip(keys, seen, strict=True)
        if place != place_of(key, count, important)
    ]
    yield (
        not wrong,
        f"{len(wrong)} of {len(keys)} stocks; with {count} partitions and {important} important, "
        f"(name, yours, expected): {wrong[:3]}",
    )


@check(3, points=6, title="One partition, and no key")
def edges_are_handled(x):
    # An important stock is at home in the last of one partitions anyway: ask for another one.
    name, important = names(x)[3], names(x)[4]
    place = x.value(f"partition_of({name.encode()!r}, 1, {{{important!r}}})")
    yield equal("a stock with one partition", place, 0)
    # a future tells an exception without a try, which an expression cannot have
    pool = "__import__('concurrent.futures').futures.ThreadPoolExecutor(1)"
    refused = x.value(f"type({pool}.submit(partition_of, None, 4, set()).exception(10)).__name__")
    yield equal("a record without a key", refused, "ValueError")


@check(4, points=8, title="The counts add up")
def counts_add_up(x):
    sent, acknowledged, failed = x.value("[counting.sent, counting.acknowledged, counting.failed]")
    yield equal("sent", sent, x.p.good + x.p.too_large + 1)
    yield equal("acknowledged", acknowledged, x.p.good)
    yield equal("records in the log", len(x.read(x.p.counted_topic)), acknowledged)
    yield equal("failed", failed, x.p.too_large + 1)


@check(4, points=3, title="A failure is told by the future that send returns")
def futures_come_back(x):
    reasons = x.value("reasons")
    yield equal("reasons", reasons, ["MessageSizeTooLargeError"] * x.p.too_large)


@check(5, points=5, title="The settings of the producer are in force")
def settings_are_in_force(x):
    for name, expected in SETTINGS.items():
        yield equal(name, x.value(f"shared.config[{name!r}]"), expected)


@check(6, points=7, title="Every price is in the log, once")
def no_price_is_lost(x):
    log = x.read(x.p.topic)
    tried, acknowledged = x.value("[prices_tried, trading.acknowledged]")
    yield expect(len(log) > 200, f"the log holds {len(log)} prices", must=True)
    told = "tried and acknowledged, against the prices in the log"
    yield equal(told, [tried, acknowledged], [len(log)] * 2)
    for name in names(x):
        numbers = [number(record) for record in log if record.key_text() == name]
        yield same(f"numbers of {name}", numbers, range(1, len(numbers) + 1))


@check(6, points=3, title="In the order in which they were drawn", needs="no_price_is_lost")
def order_is_kept(x):
    log = x.read(x.p.topic)
    for name in names(x):
        numbers = [number(record) for record in log if record.key_text() == name]
        yield numbers == sorted(numbers), f"{name}: an earlier price stands behind a later one"
    for stock in x.p.stocks:
        drawn = x.value(f"to_json(random_price({stock!r}, random.Random({stock[0]!r}))).decode()")
        first = [r.text() for r in log if r.key_text() == stock[0] and number(r) == 1]
        yield equal(f"first price of {stock[0]}, by a generator of this seed", first, [drawn])


@check(6, points=3, title="The last partition holds important stocks only")
def important_are_alone(x):
    log = x.read(x.p.topic)
    last = {r.key_text() for r in log if r.partition == x.p.partitions - 1}
    yield same(f"stocks in partition {x.p.partitions - 1}", sorted(map(str, last)), names(x)[:2])


@check(6, points=4, title="A line for every hundredth price")
def samples_are_told(x):
    log, lines = x.read(x.p.topic), x.value("[str(line) for line in lines]")
    for name in names(x):
        hundredth = {
            (record.partition, record.offset)
            for record in log
            if record.key_text() == name and number(record) % 100 == 0
        }
        said = [line for line in lines if re.match(rf"{name}\b", line)]
        told = {place for line in said if (place := _place(line))}
        # a thread that was stopped right after its send need not have told it
        missing = hundredth - told
        yield (
            len(said) >= 1 and told <= hundredth and len(missing) <= 1,
            f"{name}: {len(hundredth)} hundredth prices in the log, {len(told)} of them told, "
            f"{len(told - hundredth)} lines of other places",
        )


def _place(line):
    found = re.search(r"partition\D*(\d+)\D+offset\D*(\d+)", line)
    return (int(found[1]), int(found[2])) if found else None


@check(7, points=4, title="Ctrl-C ends the program with status 130")
def status_tells_the_signal(x):
    yield equal("status after SIGINT", x.value("ends['SIGINT'][0]"), 130)


@check(7, points=6, title="Nothing is left in the buffer")
def nothing_is_left_behind(x):
    counted = [_counts(said) for said in x.value("[ends[s][1] for s in ('SIGINT', 'SIGTERM')]")]
    yield expect(all(counted), "a run did not come to its last line, the counts", must=True)
    yield equal("failed", [failed for _, _, failed in counted], [0, 0])
    for sent, acknowledged, _ in counted:
        yield equal("acknowledged of those that were sent", acknowledged, sent)
    stored = len(x.read(x.p.program_topic))
    yield equal("prices in the log of both runs", stored, sum(counts[1] for counts in counted))


def _counts(said):
    try:
        counts = json.loads(said[-1])
    except (IndexError, ValueError):
        return None
    return counts if isinstance(counts, list) and len(counts) == 3 else None
