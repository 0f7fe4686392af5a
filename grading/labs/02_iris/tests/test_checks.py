"""The checks of lab 02 against states that are nearly right."""

import json
import sys
from collections import Counter
from itertools import chain, count, cycle, permutations, repeat
from random import Random
from types import SimpleNamespace

import pytest

from grading.define.definition import module
from grading.define.place import find
from grading.judge.outcome import Outcome
from grading.judge.visible import Visible
from tests.grading.state import parameters, record, result, wrong_answer

LAB_FOLDER = find("lab02")
flowers = module(LAB_FOLDER, "flowers").flowers
CHECKS = module(LAB_FOLDER, "checks")
_id, CHANGED = CHECKS._id, CHECKS.CHANGED

LAB = "lab02"
P = parameters(LAB)


def logs(partition_of=P.partition_of, change=None):
    """Both topics as a right producer fills them; `change` may alter one record."""
    found = {P.pair_topic: [], P.lone_topic: []}
    ends = Counter()
    for row, (name, pair) in flowers().items():
        topic = P.pair_topic if name in partition_of else P.lone_topic
        partition = partition_of.get(name, row % 2)
        value, headers = json.dumps(pair).encode(), (("row", str(row).encode()),)
        if change:
            value, headers = change(row, value, headers)
        offset = ends[topic, partition]
        found[topic].append(record(partition, offset, value, headers=headers))
        ends[topic, partition] += 1
    return found


def consumed(state):
    return [
        {
            "row": int(dict(r.headers)["row"]),
            "topic": topic,
            "partition": r.partition,
            "offset": r.offset,
            "pair": r.json(),
        }
        for topic, records in state.items()
        for r in records
    ]


@pytest.mark.parametrize(
    "check", ["flowers_arrived_once", "class_decides_where", "value_is_the_pair"]
)
def test_a_right_producer_passes(check):
    assert result(LAB, check, logs()).outcome is Outcome.PASS


def test_a_partition_too_many_is_one_that_nobody_sends_to():
    """Kafka would fill it in the topic of the lone class, and no reader is told to read it."""
    made = {}
    names = {
        "lab": SimpleNamespace(p=P),
        "new_topic": lambda name, partitions: made.update({name: partitions}),
    }
    exec(wrong_answer(LAB, "1_three_partitions").answer, names)
    assert made == {P.pair_topic: 3, P.lone_topic: 2}


def test_the_other_layout_is_named_by_partition():
    turned = {name: 1 - partition for name, partition in P.partition_of.items()}
    found = result(LAB, "class_decides_where", logs(turned))
    assert found.outcome is Outcome.PART, "the third class is right"
    assert f"partition 0 of {P.pair_topic} (Iris-virginica)" in found.messages[0]


@pytest.mark.parametrize(
    ("value", "said"),
    [(b"[3.5, 5.1]", "'[3.5, 5.1]', expected [5.1, 3.5]"), (b"5.1;3.5", "'5.1;3.5', expected")],
)
def test_another_value_is_shown(value, said):
    state = logs(change=lambda row, right, headers: (value if row == 1 else right, headers))
    found = result(LAB, "value_is_the_pair", state)
    assert said in found.messages[0]


def test_a_missing_header_is_a_missing_row():
    state = logs(change=lambda row, value, headers: (value, () if row == 97 else headers))
    found = result(LAB, "flowers_arrived_once", state)
    assert found.messages == ["rows in the headers: missing 97; not expected None"]


def test_lines_may_have_any_form_with_the_three_facts():
    lines = [f"#{n}: {name} = {a} cm, {b} cm" for n, (name, (a, b)) in flowers().items()]
    values = {"lines": lines}
    assert result(LAB, "lines_are_in_order", logs(), values).outcome is Outcome.PASS
    lines[4], lines[5] = lines[5], lines[4]
    assert "line 5 is '#6:" in result(LAB, "lines_are_in_order", logs(), values).messages[0]


def test_a_reader_that_lost_a_record_is_told_how_many():
    state = logs()
    seen = consumed(state)
    of = {name: P.partition_of[f"Iris-{name}"] for name in ("setosa", "virginica")}
    values = {
        name: [r for r in seen if (r["topic"], r["partition"]) == (P.pair_topic, partition)]
        for name, partition in of.items()
    }
    good = {"consumed": {"all": seen, **values}}
    assert result(LAB, "readers_got_everything", state, good).outcome is Outcome.PASS
    lost = {"consumed": {"all": seen[:-1], **values}}
    assert result(LAB, "readers_got_everything", state, lost).messages == [
        "consumed['all'] has 149 records, its partitions 150"
    ]


@pytest.mark.parametrize(
    ("line", "fits"),
    [
        ("T | [5.8, 2.7] | partition 0", True),
        ("partition 0 of T: 5.8 and 2.7", True),
        ("T | [5.8, 2.7] | partition 0.", True),
        ("T | [5.8, 2.7] | partition 1", False),
        ("T | [5.8, 2.75] | partition 0", False),
        ("[5.8, 2.7] | partition 0", False),
    ],
)
def test_a_line_of_the_listing_shows_three_facts(line, fits):
    seen = [one for one in consumed(logs()) if one["row"] == 68]
    listing = ["topic, value, partition", line.replace("T", P.lone_topic)]
    values = {"consumed": {"all": seen}, "listing": listing}
    found = result(LAB, "listing_shows_the_records", logs(), values)
    assert (found.outcome is Outcome.PASS) is fits


class Client(SimpleNamespace):
    """Stands for a producer and for a consumer, and asks no broker."""

    def __init__(self, **own):
        super().__init__(**own, config=dict(own))


@pytest.fixture
def tries(monkeypatch):
    """Experiments make clients that ask no broker."""
    for name in ("KafkaProducer", "KafkaConsumer"):
        monkeypatch.setattr(f"kafka.{name}", Client)


def linger(value):
    """An experiment that sees what a client makes of its setting."""
    return Client(linger_ms=value).linger_ms + 3


def setting(client="producer", name="linger_ms", default=0, values=(0, 500), experiment=linger):
    names = ("client", "name", "default", "values", "experiment")
    return dict(zip(names, (client, name, default, values, experiment), strict=True))


def asked_in_order(monkeypatch, seed):
    """The order in which an experiment is tried is drawn from another seed."""
    monkeypatch.setattr(Visible, "begin", lambda x, check: x.rng.seed(seed))


def about(check, *settings):
    return result(LAB, check, values={"settings": list(settings)})


@pytest.mark.parametrize(
    ("name", "default", "right"),
    [
        ("acks", -1, True),
        ("acks", "all", True),
        ("acks", 1, False),
        ("partitioner", "DefaultPartitioner", True),
        ("key_serializer", None, True),
        ("retries", float("inf"), True),
        ("retries", 0, False),
        ("lingering", 0, False),
    ],
)
def test_a_default_is_compared_with_the_client(name, default, right):
    found = about("defaults_are_right", setting(name=name, default=default))
    assert (found.outcome is Outcome.PASS) is right


def size(value):
    """The name of an error, or an offset, which is a larger one at every call."""
    if Client(max_request_size=value).max_request_size < 5000:
        return "MessageSizeTooLargeError"
    return next(OFFSETS)


def told(value):
    """Words that are the same with both values, and a number that is nearly so each time."""
    return f"the answer came after {linger(value) + next(OFFSETS) % 7} ms"


def live(value):
    """A client that looks a setting up when it needs it, as kafka-python does."""
    names = {"__name__": "kafka.producer", "client": Client(linger_ms=value)}
    return eval("client.config['linger_ms'] + client.config.get('linger_ms')", names)


def stalled():
    """A time, of which one call in five takes longer than the other value does."""
    stalls = chain([0, 900, 0, 0, 0], repeat(0))
    return lambda value: linger(value) + next(stalls)


def start(value):
    """A text."""
    is_new = Client(auto_offset_reset=value).auto_offset_reset == "latest"
    return "at the end" if is_new else "at the beginning"


OFFSETS = count()
MEASURED = [
    {},
    {"name": "max_request_size", "values": (1000, 9000), "experiment": size},
    {"name": "max_request_size", "values": (9000, 1000), "experiment": size},
    {"experiment": told},
    {"experiment": live},
    {"experiment": stalled()},
    {
        "client": "consumer",
        "name": "auto_offset_reset",
        "values": ("latest", "earliest"),
        "experiment": start,
    },
]


@pytest.mark.parametrize("own", MEASURED)
def test_an_experiment_that_sees_what_the_client_has_passes(tries, own):
    assert about("values_make_a_difference", setting(**own)).outcome is Outcome.PASS


NOT_SEEN = {
    "typed": {0: 3, 500: 503}.get,
    "another client": lambda value: SimpleNamespace(linger_ms=value).linger_ms,
    "counted": lambda value: next(OFFSETS),
    "not handed on": lambda value: Client(linger_ms=0).linger_ms,
    "the same": lambda value: Client(linger_ms=value) and 3,
    "broken": lambda value: 1 / 0,
    "a counter beside it": lambda value: Client(linger_ms=value) and next(OFFSETS),
    "read back": lambda value: Client(linger_ms=value).config["linger_ms"],
    "read back by another way": lambda value: {**Client(linger_ms=value).config}["linger_ms"],
    "noticed": lambda value: 500 - value if Client.__init__.__name__ == "deceived" else value,
}


@pytest.mark.parametrize("experiment", NOT_SEEN.values(), ids=NOT_SEEN)
def test_what_was_not_seen_in_the_client_is_no_experiment(tries, monkeypatch, experiment):
    for seed in range(8):
        asked_in_order(monkeypatch, seed)
        found = about("values_make_a_difference", setting(experiment=experiment))
        assert found.outcome is Outcome.FAIL
        assert "linger_ms: with 0 the experiment sees" in found.messages[0]


def test_a_list_of_answers_by_the_count_of_calls_fits_few_orders(tries, monkeypatch):
    """The order is another one for each seed."""
    fits = Counter()
    for seed in range(10):
        asked_in_order(monkeypatch, seed)
        for answers in {*permutations((1, 1, 2, 2, 2))}:
            calls = cycle(answers)
            typed = setting(experiment=lambda _, calls=calls: next(calls))
            fits[answers] += about("values_make_a_difference", typed).outcome is Outcome.PASS
    assert max(fits.values()) <= 4, fits


@pytest.mark.parametrize("saw", [("stored", "refused"), (0, 500)], ids=["words", "numbers"])
def test_noise_fits_hardly_ever(tries, monkeypatch, saw):
    """It fitted one time of ten, with five calls of each setting."""
    chance, fits = Random(1), 0
    for seed in range(80):
        asked_in_order(monkeypatch, seed)
        noise = setting(experiment=lambda _: chance.choice(saw))
        fits += about("values_make_a_difference", noise).outcome is Outcome.PASS
    assert fits <= 2


def test_a_machine_that_stands_still_now_and_then_costs_an_honest_one_nothing(tries, monkeypatch):
    """Of four settings: one call in thirty is a stall that looks like the other value."""
    chance, fails = Random(2), 0
    for seed in range(60):
        asked_in_order(monkeypatch, seed)
        stalls = setting(experiment=lambda value: linger(value) + 900 * (chance.random() < 1 / 30))
        fails += about("values_make_a_difference", *[stalls] * 4).outcome is not Outcome.PASS
    assert fails <= 1


def test_a_module_of_that_name_in_the_notebook_is_not_asked(tries, monkeypatch):
    typed = SimpleNamespace(seen=lambda setting, asks, has: has)
    monkeypatch.setitem(sys.modules, "tries", typed)
    found = about("values_make_a_difference", setting(experiment=lambda value: 3))
    assert found.outcome is Outcome.FAIL


def test_a_learner_is_told_what_a_deceived_experiment_saw(tries):
    (said,) = about("values_make_a_difference", setting(experiment={0: 3, 500: 503}.get)).messages
    assert said == (
        "linger_ms: with 0 the experiment sees 3, with 500 503; where the client has 500 all the "
        "same, it sees 3"
    )


def test_a_setting_that_is_tried_again_leaves_the_client_as_it_was(tries):
    before = Client.__init__
    about("values_make_a_difference", setting())
    assert Client.__init__ is before


def test_labels_that_are_typed_without_a_record_earn_nothing():
    values = {"changed": CHANGED}
    empty = {P.pair_topic: [], P.lone_topic: []}
    assert result(LAB, "labels_that_differ", logs(), values).outcome is Outcome.PASS
    assert result(LAB, "labels_that_differ", empty, values).outcome is Outcome.FAIL
    junk = {name: [record(0, n, b"%d" % n) for n in range(300)] for name in empty}
    assert result(LAB, "labels_that_differ", junk, values).outcome is Outcome.FAIL


JUNK = {
    name: [record(0, n, b"%d" % n) for n in range(300)] for name in (P.pair_topic, P.lone_topic)
}
TYPED = [
    {"row": n, "topic": P.lone_topic, "partition": 0, "offset": n, "pair": pair}
    for n, (_, pair) in flowers().items()
]


@pytest.mark.parametrize(
    "check",
    [
        *("flowers_arrived_once", "class_decides_where", "value_is_the_pair"),
        *("lines_are_in_order", "readers_got_everything", "readers_waited"),
        *("listing_shows_the_records", "points_are_the_records", "labels_that_differ"),
        *("order_and_print", "reader_reads_elsewhere", "picture_was_drawn"),
        "differences_elsewhere",
    ],
)
@pytest.mark.parametrize("stored", [JUNK, {name: [] for name in JUNK}], ids=["junk", "nothing"])
def test_what_is_typed_beside_other_records_earns_nothing(check, stored):
    values = {
        "lines": [f"{n} {name} {pair}" for n, (name, pair) in flowers().items()],
        "consumed": dict.fromkeys(("all", "setosa", "virginica"), TYPED),
        "seconds": dict.fromkeys(("all", "setosa", "virginica"), 3.0),
        "idle_seconds": 2,
        "listing": ["topic value partition", *(f"{P.lone_topic} {r['pair']} 0" for r in TYPED)],
        "points": [(*r["pair"], "green") for r in TYPED],
        "changed": CHANGED,
        "label_differences": lambda records: CHANGED,
        "read_flowers": lambda places, idle, name: TYPED,
    }
    found = result(LAB, check, stored, values)
    assert not any(one.ok for one in found.findings), found


@pytest.mark.parametrize(
    ("took", "slowness", "fits"),
    [(2.5, 1, 3), (1.9, 1, 0), (13, 1, 0), (13, 3, 3), (40, 3, 0), (1.9, 6, 0), (0, 6, 0)],
)
def test_reading_may_take_longer_on_a_busy_machine_and_waiting_may_not(
    monkeypatch, took, slowness, fits
):
    monkeypatch.setattr(CHECKS.pace, "now", lambda: slowness)
    readers = ("all", "setosa", "virginica")
    state = logs()
    values = {
        "idle_seconds": 2,
        "seconds": dict.fromkeys(readers, float(took)),
        "consumed": {"all": consumed(state)},
    }
    found = result(LAB, "readers_waited", state, values)
    assert sum(one.ok for one in found.findings) == fits, found


def test_an_id_may_be_written_in_both_forms():
    one = "2543c9d2-26bf-4e63-b2f7-0402461ede9e"
    assert _id("JUPJ0ia_TmOy9wQCRh7eng") == _id(one) == one
    assert _id("no id at all") == "no id at all"


@pytest.mark.parametrize(
    ("name", "fits"), [("__consumer_offsets", True), ("__transaction_state", False), ("", False)]
)
def test_the_topic_of_offsets_is_told_right_also_where_no_group_has_made_it(name, fits):
    ids = {P.pair_topic: "JUPJ0ia_TmOy9wQCRh7eng", P.lone_topic: "2543c9d2-26bf-4e63"}
    observed = {"brokers": [1], "quorum_leader": 1, "topic_ids": ids, "offsets_topic": name}
    kafka = SimpleNamespace(
        brokers=[1],
        quorum=lambda: SimpleNamespace(leader=1),
        topic=lambda topic: SimpleNamespace(id=ids[topic]),
        topics=lambda internal: sorted(ids),
    )
    x = SimpleNamespace(p=P, kafka=kafka, value=lambda *_: observed)
    *others, (is_right, _) = list(CHECKS.roles_were_observed.function(x))[1:]
    assert all(holds for holds, _ in others)
    assert is_right is fits
