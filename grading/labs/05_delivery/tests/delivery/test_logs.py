"""Payload logs: written, merged, removed, and compared by diff and by Spark. No cluster here."""

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as some

from delivery import payload
from delivery.comparing import compare, compare_all, difference, findings, payloads
from delivery.overview import overview
from delivery.payload import Entry, PayloadLog, path_of
from delivery.sayings import SAYINGS, saying
from kafkalab.errors import CourseError
from kafkalab.places import repository

NASTY = 'a, "b", c\'s, "", ,,'


def entries(numbers, partitions=3):
    return [Entry("t", n % partitions, str(n), saying(n)) for n in numbers]


def put(folder, role, found, local_id=-1, kind="payload"):
    payload.write(path_of(folder, role, local_id, kind), found)


def test_the_sayings_have_what_makes_a_line_awkward():
    texts = [saying(number) for number in range(1000)]
    assert len(SAYINGS) >= 25
    assert len(set(texts)) == len(SAYINGS)  # each is drawn
    assert all(25 <= len(text) <= 500 and "\n" not in text for text in texts)
    for mark in (",", '"', "'"):
        assert any(mark in text.strip('"') for text in texts)
    assert texts == [saying(number) for number in range(1000)]


@given(
    some.binary(max_size=40),
    some.one_of(some.none(), some.binary(max_size=9).filter(lambda key: b"," not in key)),
)
def test_a_line_is_read_as_it_was_written(value, key):
    entry = Entry.of("t", 3, key, value)
    assert "\n" not in str(entry)
    assert Entry.parse(str(entry)) == entry


def test_what_is_no_line_of_a_log_is_an_error():
    with pytest.raises(CourseError, match="no line of a payload log"):
        Entry.parse("t,three,key,value")


def test_a_log_is_appended_to_or_emptied_and_has_the_number_of_its_program(tmp_path):
    path = path_of(tmp_path, "producer", 1)
    for truncate, lines in ((False, 1), (False, 2), (True, 1)):
        PayloadLog(path, truncate).write(Entry("t", 0, "1", NASTY))
        # Read while it is open: each line is there at once.
        assert len(payload.read(path)) == lines
    assert path.name == "payload-1.log"
    assert path_of(tmp_path, "producer").name == "payload.log"
    assert payload.read(path)[0].value == NASTY


def test_collecting_merges_each_role_sorts_and_removes_the_originals(tmp_path):
    put(tmp_path, "producer", entries([9984, 999, 9995], partitions=1))
    put(tmp_path, "consumer", entries([2, 0]), local_id=1)
    put(tmp_path, "consumer", entries([1, 0]), local_id=2)

    taken = payload.collect(tmp_path)

    assert [[path.name for path in sources] for sources in taken.values()] == [
        ["payload.log"],
        ["payload-1.log", "payload-2.log"],
    ]
    assert [entry.key for entry in payload.read(tmp_path / "consumer.log")] == ["0", "0", "1", "2"]
    assert [e.key for e in payload.read(tmp_path / "producer.log")] == ["9984", "999", "9995"]
    assert not list(tmp_path.glob("*/*.log"))


@pytest.mark.process
def test_results_are_not_replaced_without_a_word(tmp_path):
    put(tmp_path, "producer", entries([1]))
    payload.collect(tmp_path)
    put(tmp_path, "producer", entries([2]))

    with pytest.raises(CourseError, match="results of an earlier run"):
        payload.collect(tmp_path)
    assert [entry.key for entry in payload.read(tmp_path / "producer.log")] == ["1"]
    command = [sys.executable, "-m", "delivery", "collect", str(tmp_path)]
    for answer, key in (("n", "1"), ("y", "2")):
        done = subprocess.run(
            command,
            input=answer,
            cwd=repository() / "labs" / "05_delivery",
            capture_output=True,
            text=True,
        )
        assert "Replace them?" in done.stdout
        assert [entry.key for entry in payload.read(tmp_path / "producer.log")] == [key]


def test_removing_deletes_all_logs_and_names_them(tmp_path):
    put(tmp_path, "producer", entries([1]))
    put(tmp_path, "producer", entries([1]), kind="failed")
    put(tmp_path, "consumer", entries([1]), local_id=3)
    (tmp_path / "consumer.log").write_text("")
    (tmp_path / "notes.txt").write_text("mine")

    removed = payload.remove(tmp_path)

    assert sorted(path.name for path in removed) == [
        "consumer.log",
        "failed.log",
        "payload-3.log",
        "payload.log",
    ]
    assert [path.name for path in tmp_path.rglob("*.*")] == ["notes.txt"]
    assert payload.remove(tmp_path) == []


def test_equal_logs_have_no_difference(tmp_path):
    put(tmp_path, "producer", entries(range(50)))
    put(tmp_path, "consumer", reversed(entries(range(50))))

    assert difference(tmp_path) == difference(tmp_path).__class__([], [], 0)


@given(
    some.lists(some.integers(0, 20), max_size=30),
    some.lists(some.integers(0, 20), max_size=30),
)
def test_diff_counts_copies(tmp_path_factory, sent, read):
    folder = tmp_path_factory.mktemp("run")
    put(folder, "producer", entries(sent))
    put(folder, "consumer", entries(read))

    found = difference(folder)

    assert Counter(found.lost) == Counter(entries(sent)) - Counter(entries(read))
    assert Counter(found.extra) == Counter(entries(read)) - Counter(entries(sent))


@pytest.fixture(scope="module")
def spark():
    from kafkalab import spark_session

    return spark_session()


@pytest.mark.spark
def test_spark_and_diff_agree_on_what_is_lost_and_extra(tmp_path, spark):
    put(tmp_path, "producer", [Entry("t", 5, "nasty", NASTY), *entries(range(100))])
    put(tmp_path, "producer", entries([300]), kind="failed")
    # Lost: 30 to 39 (the keys of one batch), of each partition some. Extra: 7 once, 8 twice.
    read = [n for n in range(100) if not 30 <= n < 40] + [7, 8, 8, 300]
    put(tmp_path, "consumer", [Entry("t", 5, "nasty", NASTY), *entries(read[:60])], local_id=1)
    put(tmp_path, "consumer", entries(read[60:]), local_id=2)

    by_diff, by_spark = difference(tmp_path), compare(spark, tmp_path)

    assert repr(by_spark) == "sent 101 · read 95 · lost 10 · extra 4"
    assert (
        Counter(by_spark.lost_entries) == Counter(by_diff.lost) == Counter(entries(range(30, 40)))
    )
    assert Counter(by_spark.extra_entries) == Counter(by_diff.extra)
    assert Counter(by_diff.extra) == Counter(entries([7, 8, 8, 300]))
    assert by_diff.lines > len(by_diff.lost) + len(by_diff.extra), "diff prints headers too"
    assert by_spark.lost_ranges == {0: [(30, 39)], 1: [(31, 37)], 2: [(32, 38)]}
    assert (by_spark.most_copies, by_spark.failed_but_read, by_spark.read_by_several) == (3, 1, 2)
    rows = by_spark.per_partition.set_index("partition")
    assert rows["lost"].to_dict() == {0: 4, 1: 3, 2: 3, 5: 0}
    assert rows["extra"].to_dict() == {0: 1, 1: 1, 2: 2, 5: 0}
    values = payloads(spark, tmp_path, "producer").where("key = 'nasty'").first()
    assert (values.value, values.log) == (NASTY, "payload.log")
    assert "<td" in by_spark._repr_html_()


@pytest.mark.spark
def test_equal_logs_have_two_empty_differences(tmp_path, spark):
    for role in payload.ROLES:
        put(tmp_path, role, entries(range(20)))
    payload.collect(tmp_path)
    found = compare(spark, tmp_path)
    sent, read = (payloads(spark, tmp_path, role) for role in payload.ROLES)

    assert repr(found) == "sent 20 · read 20 · lost 0 · extra 0"
    assert (found.lost_entries, found.extra_entries) == ([], [])
    columns = ["topic", "partition", "key", "value"]
    assert sent.select(columns).exceptAll(read.select(columns)).count() == 0
    assert read.select(columns).exceptAll(sent.select(columns)).count() == 0


@pytest.mark.spark
def test_a_run_in_which_nobody_read_anything_has_lost_all(tmp_path, spark):
    put(tmp_path, "producer", entries(range(5)))
    assert repr(compare(spark, tmp_path)) == "sent 5 · read 0 · lost 5 · extra 0"


@pytest.mark.spark
def test_several_runs_are_compared_at_once_and_each_as_by_itself(tmp_path, spark):
    read = {"same": [0, 1, 2, 3], "lossy": [1, 3], "twice": [0, 1, 1, 1, 2, 3, 0], "nobody": []}
    folders = {name: tmp_path / name for name in read}
    for name, numbers in read.items():
        put(folders[name], "producer", entries(range(4)))
        put(folders[name], "consumer", entries(numbers), local_id=1)

    records = compare_all(spark, folders)

    found = findings(records)
    for name, folder in folders.items():
        by_text, alone = difference(folder), compare(spark, folder)
        assert found[name, "lost"] == sorted(by_text.lost) == sorted(alone.lost_entries)
        assert found[name, "extra"] == sorted(by_text.extra) == sorted(alone.extra_entries)
    sums = records.groupBy("run").sum("sent", "lost", "extra").collect()
    assert {run: counts for run, *counts in sums} == {
        "same": [4, 0, 0],
        "lossy": [4, 2, 0],
        "twice": [4, 0, 3],
        "nobody": [4, 4, 0],
    }


@pytest.mark.spark
def test_a_run_that_was_left_out_is_a_row_of_zeros_in_the_table_of_all(tmp_path, spark):
    folders = {name: tmp_path / name for name in ("left out", "twice", "never read", "begun")}
    for name in ("twice", "never read"):
        put(folders[name], "producer", entries(range(4)))
    put(folders["twice"], "consumer", entries([0, 1, 1, 2, 3, 0]))
    (folders["begun"] / "producer").mkdir(parents=True)

    texts = {name: difference(folder) for name, folder in folders.items()}
    table = overview(summed(spark, folders), texts)

    assert list(table.index) == list(folders)
    assert table.to_numpy()[:, :5].tolist() == [
        [0, 0, 0, 0, 0],
        [4, 0, 2, 0, 2],
        [4, 4, 0, 4, 0],
        [0, 0, 0, 0, 0],
    ]
    alone = {"left out": folders["left out"]}
    assert overview(summed(spark, alone), {"left out": texts["left out"]}).sent.to_list() == [0]


def summed(spark, folders):
    """What Spark counts in the logs of these runs, as the closing table of the lab has it."""
    names = ("sum(sent)", "sum(lost)", "sum(extra)")
    sums = compare_all(spark, folders).groupBy("run").sum("sent", "lost", "extra").toPandas()
    return sums.rename(columns={name: name[4:-1] for name in names})
