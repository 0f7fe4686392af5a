"""Public checks of lab 01."""

from itertools import pairwise

from grading.judge.checks import Unseen, check, equal, expect, same
from grading.judge.log import whole_number
from grading.judge.sealed import Sealed

PROVEN = Sealed("lab01 proven", "6f87232382952f0e")
PLACE = {"leader": int, "replicas": list[int], "isr": list[int]}


@check(1, points=5, title="The topic has its partitions and copies")
def topic_has_its_shape(x):
    topic = x.kafka.topic(x.p.topic)
    yield equal("partitions", len(topic.partitions), x.p.partitions)
    copies = sorted({len(partition.replicas) for partition in topic.partitions})
    yield equal("copies of a partition", copies, [3])


@check(1, points=3, title="The retention was ordered for this topic")
def retention_is_set(x):
    retention = x.kafka.topic(x.p.topic).configs["retention.ms"]
    yield equal("retention.ms", int(retention.value), x.p.retention_ms)


@check(2, points=5, title="Every reading is there, once")
def readings_arrived(x):
    log = x.read(x.p.topic)
    _are_numbers(log, x.p.topic, x.p.records)
    yield same("values", log.values, _numbers(x.p.records))
    twice = log.duplicates()
    yield (
        not twice,
        f"{len(twice)} values are there more than once, for example {twice[:3]}: "
        "make the topic anew with task 1 and send once",
    )


@check(2, points=3, title="The key is the station")
def key_is_the_station(x):
    log = [record for record in x.read(x.p.topic) if record.number() is not None]
    _are_numbers(log, x.p.topic, x.p.records)
    wrong = [r for r in log if r.key_text() != station(x, r.number())]
    yield not wrong, _wrong_key(x, wrong)


@check(2, points=4, title="The receipts say where each reading lies")
def receipts_are_right(x):
    receipts = x.value("receipts", list[tuple[int, int]])
    yield equal("receipts", len(receipts), x.p.records, must=True)
    places = {(record.partition, record.offset): record.text() for record in x.read(x.p.topic)}
    wrong = [
        (number, *place)
        for number, place in enumerate(receipts, start=1)
        if places.get(place) != str(number)
    ]
    yield expect(not wrong, _wrong_place(wrong, places), must=True)


@check(3, points=6, title="Leader, replicas and in-sync replicas of your partition")
def home_is_right(x):
    home = x.value("home", PLACE)
    yield from place_is_right(x, "home", home, x.p.topic, x.p.looked_at)


@check(3, points=3, title="What the output proves", needs="home_is_right")
def evidence_is_weighed(x):
    mine = x.value("mine", dict[str, int])
    looked_at = x.kafka.partition(x.p.topic, x.p.looked_at)
    there = {
        "brokers": len(x.kafka.brokers),
        "copies": len(looked_at.replicas),
        "records": max(len(records) for records in x.read(x.p.topic).partitions.values()),
        "left": len(set(looked_at.isr) - {looked_at.leader}),
    }
    other = [what for what, count in there.items() if mine.get(what) != count]
    yield expect(
        not other,
        f"mine has another number than your cluster, or none, for {', '.join(other)}",
        must=True,
    )
    proven = x.value("proven", set[int])
    yield (
        proven == PROVEN,
        "proven has a claim that the output does not prove, or lacks one that it proves: what in "
        "the output would look different if the claim were false?",
    )


@check(4, points=8, title="Everything in the topic was read")
def everything_was_read(x):
    yield same("arrived", _arrived(x), [as_read(record) for record in x.read(x.p.topic)])


@check(4, points=2, title="In the order of arrival", needs="everything_was_read")
def order_of_arrival(x):
    arrived = _arrived(x)
    for partition in sorted({entry[0] for entry in arrived}):
        offsets = [entry[1] for entry in arrived if entry[0] == partition]
        yield (
            offsets == sorted(offsets),
            f"partition {partition}: a consumer hands out rising offsets, arrived has "
            f"{offsets[:6]} …",
        )


@check(4, points=2, title="The steps back are counted", needs="everything_was_read")
def steps_back_are_counted(x):
    arrived = _arrived(x)
    numbers = [n for *_, value in arrived if (n := whole_number(value)) is not None]
    falls = sum(later < earlier for earlier, later in pairwise(numbers))
    counted = x.value("steps_back", int)
    yield expect(
        counted == falls,
        f"steps_back is {counted}, and for this arrived it is another number",
        must=True,
    )
    partitions = len({partition for partition, _, _, _ in arrived})
    yield (
        falls > 0 or partitions < 2,
        f"the numbers in arrived never fall, though they come from {partitions} partitions: keep "
        "the order in which the consumer hands them out",
    )


@check(5, points=5, title="Every reader sees the steps in order")
def steps_are_in_order(x):
    topic = x.kafka.topic(x.p.steps_topic)
    yield equal("partitions", len(topic.partitions), x.p.steps_partitions, must=True)
    log = x.read(x.p.steps_topic)
    _are_numbers(log, x.p.steps_topic, x.p.steps)
    yield same("values", log.values, _numbers(x.p.steps))
    yield (
        len(log.partitions) == 1,
        f"the steps lie in {len(log.partitions)} partitions, and between partitions there is no "
        "order",
    )
    for partition, records in log.partitions.items():
        numbers = [n for r in records if (n := r.number()) is not None]
        in_order = bool(numbers) and numbers == sorted(numbers)
        yield in_order, f"partition {partition} holds {numbers[:8]} …"


@check(5, points=2, title="They have your key")
def steps_have_the_key(x):
    keys = sorted({str(key) for key in x.read(x.p.steps_topic).keys})
    yield equal("keys", keys, [x.p.steps_key])


@check(6, points=6, title="Nothing left out, nothing done twice")
def forms_are_done_once(x):
    first = x.value("first_clerk", list[int])
    second = x.value("second_clerk", list[int])
    if (x.p.queue_topic, 0) not in x.kafka.group(x.p.group).offsets:
        raise Unseen(f"the group {x.p.group} has committed nothing in {x.p.queue_topic}")
    yield equal("forms of the first clerk", first, list(range(1, x.p.first + 1)))
    yield same("forms of both", first + second, range(1, x.p.queue + 1))


@check(6, points=4, title="The group has committed everything")
def group_is_at_the_end(x):
    committed = x.kafka.group(x.p.group).offsets.get((x.p.queue_topic, 0))
    yield equal(f"committed offset of {x.p.group}", committed, x.p.queue)


@check(7, points=7, title="Text lines and empty lines are stored")
def notes_are_stored(x):
    log = x.read(x.p.notes_topic)
    texts = [text for text in log.values if text]
    yield equal("records with text", texts, x.p.lines)
    yield equal("records of size 0", len(log) - len(texts), x.p.empty)


@check(7, points=3, title="The console consumer counted them")
def notes_are_counted(x):
    counted = x.value("counted", int)
    yield expect(
        counted == len(x.read(x.p.notes_topic)),
        f"counted is {counted}, and the topic holds another number of records",
        must=True,
    )
    expected = len(x.p.lines) + x.p.empty
    yield equal("records that the console consumer saw", counted, expected)


@check(8, points=6, title="The four cases were played")
def cases_were_played(x):
    for case, count in {"a": 2, "b": 3, "c": 2, "d": 3}.items():
        stored = x.kafka.topic(x.p.third_line[case]).records
        yield (
            stored == count,
            f"case {case}: its topic holds {stored} records; played as described it holds another "
            "number",
        )


@check(8, points=2, title="stored is what the topics hold", needs="cases_were_played")
def stored_is_measured(x):
    there = {case: x.kafka.topic(topic).records for case, topic in x.p.third_line.items()}
    stored = x.value("stored", dict[str, int])
    other = [case for case, count in there.items() if stored.get(case) != count]
    if not any(there.values()):
        raise Unseen("all four topics are empty")
    yield (
        not other,
        f"stored has another number than the topic, or none, for {', '.join(other)}",
    )


@check(8, points=2, title="The case that fits screen and records", needs="stored_is_measured")
def likeliest_fits(x):
    likeliest = x.value("likeliest", str)
    why = {
        "b": "b stores three records, and the colleague's topic holds two",
        "c": "c shows a new prompt below the third line; the colleague's screen has none",
        "d": "d has no keyboard, so there was nothing to press Ctrl-C on",
    }
    yield (
        likeliest == "a",
        why.get(likeliest, f"likeliest is {likeliest!r}, not a letter of a case"),
    )


def station(x, number: int) -> str:
    """The station of a reading."""
    return x.p.stations[number % len(x.p.stations)]


def as_read(record) -> tuple:
    """A record as `read_everything` returns it; without a key it may say None or nothing."""
    return record.partition, record.offset, record.key_text() or "", record.text()


def place_is_right(x, what: str, place: dict, topic: str, number: int):
    """Findings about a dictionary of leader, replicas and isr."""
    partition = x.kafka.partition(topic, number)
    for part, there in (
        ("leader", partition.leader),
        ("replicas", sorted(partition.replicas)),
        ("isr", sorted(partition.isr)),
    ):
        seen = place[part] if part == "leader" else sorted(place[part])
        yield seen == there, f"{what}: {part} is {seen}, and the cluster says something else"


def _arrived(x) -> list:
    arrived = x.value("arrived", list[tuple[int, int, str | None, str]])
    return [(partition, offset, key or "", value) for partition, offset, key, value in arrived]


def _are_numbers(log, topic: str, count: int) -> None:
    """Ends the check where the records are not the numbers that were to be sent, or a few."""
    there = {r.number() for r in log} & set(range(1, count + 1))
    if 2 * len(there) < count:
        raise Unseen(f"{topic} holds {len(there)} of the numbers from 1 to {count}")


def _numbers(count: int) -> list[str]:
    return [str(number) for number in range(1, count + 1)]


def _wrong_key(x, wrong: list) -> str:
    if not wrong:
        return ""
    record = wrong[0]
    return (
        f"{len(wrong)} records have another key: reading {record.text()} belongs to "
        f"{station(x, record.number())}, its key is {record.key_text()!r}"
    )


def _wrong_place(wrong: list, places: dict) -> str:
    if not wrong:
        return ""
    number, partition, offset = wrong[0]
    there = places.get((partition, offset))
    held = "nothing" if there is None else f"reading {there}"
    return (
        f"{len(wrong)} receipts do not fit: that of reading {number} says partition {partition}, "
        f"offset {offset}, and there lies {held}"
    )
