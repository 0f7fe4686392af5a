"""What lesson single_broker leaves to its helpers."""

import struct
from types import SimpleNamespace as Namespace

import pytest

from kafkalab import places
from kafkalab.cluster.segments import Segment
from kafkalab.lessons import single_broker
from kafkalab.lessons.single_broker import files

PAIRS = [(49, 4_604), (89, 9_208), (129, 13_812)]


def test_an_index_is_read_up_to_its_reserved_room(tmp_path):
    (tmp_path / "100.index").write_bytes(struct.pack(">iiii", 49, 4_604, 89, 9_208) + bytes(80))
    segment = Segment(100, {}, tmp_path / "100.log")
    assert single_broker.index_pairs(segment) == [(149, 4_604), (189, 9_208)]


def test_a_way_begins_where_the_last_pair_before_it_leads():
    starts = {0: 0, 10: 1_151, 90: 10_359, 100: 11_510}
    batches = [Namespace(base_offset=offset, position=place) for offset, place in starts.items()]
    found = single_broker.ways(batches, PAIRS)
    assert found["without the index"].tolist() == list(starts.values())
    assert found["with the index"].tolist() == [0, 1_151, 10_359 - 9_208, 11_510 - 9_208]


@pytest.mark.parametrize(
    ("place", "told"),
    [
        (9_208, ""),
        (4_604, "more than it must"),
        (13_812, "of offset 129"),
        (9_000, "no pair"),
    ],
)
def test_a_jump_is_the_last_pair_before(place, told):
    found = single_broker.jump_problem(place, PAIRS, 100)
    assert told in found
    assert bool(told) == bool(found)


def test_what_retention_deletes_frees_no_offset():
    assert single_broker.after_problem(600, first=600, end=600) == ""
    assert "frees no offset" in single_broker.after_problem(0, first=600, end=600)
    assert "from offset 257" in single_broker.after_problem(600, first=257, end=600)


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
