"""What a student gets fits the lab, whoever it is."""

import json

import pytest

from grading.define import definition, seed
from grading.define.place import places

LABS = [place.name for place in places()]
STUDENTS = [f"student {number}" for number in range(200)]


def drawn(name: str) -> list[seed.Parameters]:
    lab = definition.load(name)
    return [seed.parameters(lab.make, seed.practice_seed(lab.name, who)) for who in STUDENTS]


def texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for part in value.values() for text in texts(part)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("name", LABS)
def test_parameters_are_json_and_repeat(name):
    assert json.loads(json.dumps(drawn(name))) == drawn(name)


@pytest.mark.parametrize("name", LABS)
def test_topics_and_groups_are_a_students_own(name):
    """A name that two students share would let one see the work of the other."""
    for key in ("topic", "group"):
        for field in (field for field in drawn(name)[0] if key in field):
            every = [text for parameters in drawn(name) for text in texts(parameters[field])]
            assert len(set(every)) == len(every), field


def test_the_group_of_lab01_has_work_for_both_clerks():
    for p in drawn("lab01_first_topics"):
        assert 0 < p.first < p.queue


def test_the_looked_at_partition_of_lab01_is_there():
    for p in drawn("lab01_first_topics"):
        assert 0 <= p.looked_at < p.partitions
        assert len(set(p.stations)) == 5
        assert len(set(p.lines)) == 3


def test_the_stations_of_lab01_share_several_partitions():
    """Otherwise nothing is out of order, and task 4 has nothing to count."""
    from kafka.partitioner.default import murmur2

    for p in drawn("lab01_first_topics"):
        hashes = [murmur2(station.encode()) & 0x7FFFFFFF for station in p.stations]
        assert len({found % p.partitions for found in hashes}) > 1


def test_the_usual_partitioner_of_lab03_is_another_one():
    """Otherwise an answer without a partitioner of its own would be right."""
    from kafka.partitioner.default import murmur2

    for p in drawn("lab03_stock_producer"):
        names, last = [name for name, *_ in p.stocks], p.partitions - 1
        hashes = {name: murmur2(name.encode()) & 0x7FFFFFFF for name in names}
        assert {name for name in names if hashes[name] % p.partitions == last} != set(names[:2])


def test_both_layouts_of_lab02_occur():
    layouts = {tuple(sorted(p.partition_of.items())) for p in drawn("lab02_iris")}
    assert len(layouts) == 2


def test_the_practice_layout_of_lab02_is_the_recorded_one():
    lab = definition.load("lab02_iris")
    p = seed.parameters(lab.make, seed.practice_seed(lab.name))
    assert p.partition_of == {"Iris-virginica": 0, "Iris-setosa": 1}
