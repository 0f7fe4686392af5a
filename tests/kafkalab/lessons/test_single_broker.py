"""What lesson single_broker leaves to its helpers."""

from types import SimpleNamespace as Namespace

import pytest

from kafkalab import places
from kafkalab.lessons import single_broker
from kafkalab.lessons.single_broker import files

PAIRS = [(49, 4_604), (89, 9_208), (129, 13_812)]


@pytest.mark.parametrize(
    ("place", "told"),
    [
        (9_208, ""),
        (4_604, "more than it must"),
        (13_812, "begins offset 129"),
        (9_000, "no pair"),
    ],
)
def test_a_jump_is_the_last_pair_before(place, told):
    found = single_broker.jump_problem(place, PAIRS, 100)
    assert told in found
    assert bool(told) == bool(found)


def test_four_speeds_are_measured_and_nothing_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(places, "state", lambda: tmp_path / "state")
    found = single_broker.speeds(megabytes=2, pieces=50)
    assert list(found) == [
        "written in order",
        "read in order",
        "read at random",
        "the same from memory",
    ]
    assert all(speed > 0 for speed in found.values())
    assert list((tmp_path / "state").iterdir()) == []


def test_the_clock_of_the_looks_leaves_out_what_passes_between_cells(monkeypatch):
    times = iter([0.0, 1.0, 301.0, 301.2])
    monkeypatch.setattr(files.clock, "monotonic", lambda: next(times))
    partition = Namespace(start_offset=3)
    segment = Namespace(base_offset=0, files={"log": 80})
    cluster = Namespace(
        segments=lambda topic, number: [segment],
        topic=lambda name: Namespace(partitions=[partition]),
    )
    looks = single_broker.Looks(cluster, "rides")
    assert looks.look() == 3
    looks.mark("an hour")
    looks.look()
    assert looks.frame().seconds.tolist() == pytest.approx([1.0, 1.7])
    assert looks.marks == {"an hour": pytest.approx(1.5)}
