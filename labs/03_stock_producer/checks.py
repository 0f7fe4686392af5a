"""Public checks of lab 03."""

import json
import re
from itertools import zip_longest

from grading.judge.checks import Unseen, check, equal, same
from grading.judge.log import whole_number
from grading.judge.shape import Misshapen, shaped

from .trade import CHOSEN, SETTINGS, by_name, names, number, of_stocks, place_of

COUNTS = tuple[int, int, int]
LAST_LINE = {"sent": int, "acknowledged": int, "failed": int, "asked": list[str]}


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
        text = x.value(f"to_json(StockPrice({dollars}, {cents}, {name!r})).decode()", str)
        yield _fields(text, (("dollars", dollars), ("cents", cents), ("name", name)))


def _fields(text, expected):
    try:
        seen = json.loads(text, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        return False, f"{text!r} is not JSON"
    return seen == expected, f"expected the fields {expected} in this order, saw {text}"


@check(2, points=5, title="A price lies within its bounds, both ends included")
def prices_stay_in_bounds(x):
    seed = x.rng.randrange(10**6)
    draw = "random_price(['NARROW', [10, 5], [12, 7]], generator)"
    prices = x.value(
        f"(lambda generator: [[p.dollars, p.cents] for p in [{draw} for _ in range(300)]])"
        f"(__import__('random').Random({seed}))",
        list[tuple[int, int]],
        called="what random_price draws for ['NARROW', [10, 5], [12, 7]]",
    )
    yield equal("dollars drawn between 10 and 12", sorted({d for d, _ in prices}), [10, 11, 12])
    yield equal("cents drawn between 5 and 7", sorted({c for _, c in prices}), [5, 6, 7])
    pairs = {(dollars, cents) for dollars, cents in prices}
    yield equal("different prices of the nine that there are", len(pairs), 9)


@check(3, points=8, title="Every stock goes to its partition")
def every_stock_has_its_place(x):
    count, important = x.rng.choice([4, 6, 9]), names(x)[:2]
    keys = [*names(x), *(f"S{x.rng.randrange(10**6)}" for _ in range(40))]
    seen = x.value(
        f"[partition_of(k.encode(), {count}, set({important!r})) for k in {keys!r}]",
        list[int],
        called="what partition_of returns",
    )
    wrong = [
        (key, place, place_of(key, count, important))
        for key, place in zip_longest(keys, seen[: len(keys)])
        if place != place_of(key, count, important)
    ]
    yield (
        not wrong,
        f"{len(wrong)} of {len(keys)} stocks; with {count} partitions and {important} important, "
        f"(name, yours, expected): {wrong[:3]}",
    )


@check(3, points=6, title="One partition, and no key")
def edges_are_handled(x):
    several = x.value(f"[partition_of(k.encode(), 9, set()) for k in {names(x)!r}]", list[int])
    if len(set(several)) == 1:
        raise Unseen(f"partition_of sends every stock to partition {several[0]} of nine")
    # An important stock is at home in the last of one partitions anyway: ask for another one.
    name, important = names(x)[3], names(x)[4]
    place = x.value(f"partition_of({name.encode()!r}, 1, {{{important!r}}})", int)
    yield equal("a stock with one partition", place, 0)
    # a future tells an exception without a try, which an expression cannot have
    pool = "__import__('concurrent.futures').futures.ThreadPoolExecutor(1)"
    refused = x.value(
        f"type({pool}.submit(partition_of, None, 4, set()).exception(10)).__name__", str
    )
    yield equal("a record without a key", refused, "ValueError")


@check(4, points=8, title="The counts add up")
def counts_add_up(x):
    came_through(x)
    numbers = "[{0}.sent, {0}.acknowledged, {0}.failed]"
    sent, acknowledged, failed = x.value(
        numbers.format("counting"), COUNTS, called="[sent, acknowledged, failed] of counting"
    )
    (fresh,) = x.value(
        f"[{numbers.format('new')} for new in [CountingProducer(plain)]]",
        list[COUNTS],
        called="the numbers of a new CountingProducer",
    )[:1]
    if fresh != (0, 0, 0):
        raise Unseen(f"a new CountingProducer, which has sent nothing, says {fresh}")
    yield equal("sent", sent, x.p.good + x.p.too_large + 1)
    yield equal("acknowledged", acknowledged, x.p.good)
    yield equal("records in the log", len(x.read(x.p.counted_topic)), x.p.good)
    yield equal("failed", failed, x.p.too_large + 1)


@check(4, points=3, title="A failure is told by the future that send returns")
def futures_come_back(x):
    came_through(x)
    reasons = x.value("reasons", list[str])
    told = reasons.count("MessageSizeTooLargeError")
    yield (
        told == len(reasons) == x.p.too_large,
        f"{told} of {x.p.too_large} futures tell that the broker refused a record for its size; "
        f"reasons has {sorted(set(reasons))}",
    )


def came_through(x):
    """Ends the check where the records of the given cell did not come through the wrapper."""
    stored = len(set(x.read(x.p.counted_topic).values) & {str(n) for n in range(x.p.good)})
    if stored < x.p.good:
        raise Unseen(f"{x.p.counted_topic} holds {stored} records of the {x.p.good} that were sent")


@check(5, points=5, title="The settings of the producer are in force")
def settings_are_in_force(x):
    named = x.value(
        f"sorted(settings(set({names(x)[:2]!r})))", list[str], called="the names in settings(…)"
    )
    if not set(CHOSEN) & set(named):
        raise Unseen("what settings returns names nothing of what the text asks for")
    seen = {name: x.value(f"shared.config[{name!r}]") for name in SETTINGS}
    other = {name: seen[name] for name in SETTINGS if seen[name] != SETTINGS[name]}
    # Points are for what is not the client's default anyway.
    for name in CHOSEN:
        yield name not in other, f"{name} is {seen[name]!r}, and the text asks for something else"
    yield not other, f"not as the text asks: {', '.join(other)}"


@check(6, points=7, title="Every price is in the log, once")
def no_price_is_lost(x):
    log = x.read(x.p.topic)
    tried = x.value("prices_tried", int)
    acknowledged = x.value("trading.acknowledged", int)
    if (prices := len(of_stocks(x, log))) <= 200:
        raise Unseen(f"the log holds {prices} prices, and the broker is restarted after 1,000")
    told = "tried and acknowledged, against the prices in the log"
    yield equal(told, [tried, acknowledged], [len(log)] * 2)
    for name, prices in by_name(x, log).items():
        numbers = [number(record) for record in prices]
        if numbers:
            yield same(f"numbers of {name}", numbers, range(1, len(numbers) + 1))
        else:
            yield False, f"no price in the log has the key {name}"


@check(6, points=3, title="In the order in which they were drawn", needs="no_price_is_lost")
def order_is_kept(x):
    prices = by_name(x, x.read(x.p.topic))
    for name in names(x):
        numbers = [number(record) for record in prices[name]]
        in_order = bool(numbers) and numbers == sorted(numbers)
        yield in_order, f"{name}: an earlier price stands behind a later one, or there is none"
    for stock in x.p.stocks:
        generator = f"__import__('random').Random({stock[0]!r})"
        drawn = x.value(f"to_json(random_price({stock!r}, {generator})).decode()", str)
        first = [record.text() for record in prices[stock[0]] if number(record) == 1]
        yield equal(f"first price of {stock[0]}, by a generator of this seed", first, [drawn])


@check(6, points=3, title="The last partition holds important stocks only")
def important_are_alone(x):
    log = x.read(x.p.topic)
    last = {r.key_text() for r in log if r.partition == x.p.partitions - 1}
    yield same(f"stocks in partition {x.p.partitions - 1}", sorted(map(str, last)), names(x)[:2])


@check(6, points=4, title="A line for every hundredth price")
def samples_are_told(x):
    ordered = {}
    for name, prices in by_name(x, x.read(x.p.topic)).items():
        places = {n: (price.partition, price.offset) for price in prices if (n := number(price))}
        hundredth = {place for n, place in places.items() if n % 100 == 0}
        # A thread that was stopped right after its send need not have told it; and on a busy
        # machine a stock may not have come so far.
        last = {places[max(places)]} if places else set()
        if due := hundredth - last:
            ordered[name] = hundredth, due
    if not ordered:
        raise Unseen("no stock came beyond its hundredth price")
    lines = x.value("lines", list[str])
    for name, (hundredth, due) in ordered.items():
        said = [line for line in lines if re.match(rf"{name}\b", line)]
        told = {place for line in said if (place := _place(line))}
        yield (
            due <= told <= hundredth,
            f"{name}: {len(hundredth)} hundredth prices in the log, {len(told & hundredth)} of "
            f"them told, {len(told - hundredth)} lines of other places",
        )


def _place(line):
    found = re.search(r"partition\D*(\d+)\D+offset\D*(\d+)", line, re.IGNORECASE)
    return (whole_number(found[1]), whole_number(found[2])) if found else None


@check(7, points=4, title="Ctrl-C ends the program with status 130")
def status_tells_the_signal(x):
    has_worked(x)
    yield equal("status after SIGINT", x.value("ends['SIGINT'][0]", int), 130)


@check(7, points=6, title="Nothing is left in the buffer")
def nothing_is_left_behind(x):
    has_worked(x)
    ends = [last_line(x, name) for name in ("SIGINT", "SIGTERM")]
    yield equal("failed", [end["failed"] for end in ends], [0, 0])
    for end in ends:
        yield equal("acknowledged of those that were sent", end["acknowledged"], end["sent"])
    stored = len(x.read(x.p.program_topic))
    told = sum(end["acknowledged"] for end in ends)
    yield equal("prices in the log of both runs", stored, told)


def has_worked(x):
    """Ends the check where the program ended before anybody asked it to."""
    stored = len(of_stocks(x, x.read(x.p.program_topic)))
    if stored <= 200:
        raise Unseen(f"after both runs the log holds {stored} prices: they ended by themselves")


def last_line(x, name):
    """What the program said of itself in its last line, after a signal."""
    lines = x.value(f"ends[{name!r}][1]", list[str], called=f"lines after {name}")
    try:
        return shaped("the last line", json.loads(lines[-1]), LAST_LINE)
    except (ValueError, RecursionError, Misshapen):
        raise Unseen(f"after {name} the program did not come to its last line") from None
