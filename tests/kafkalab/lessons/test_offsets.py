"""The helpers of lesson 13: programs that are killed where they are to be, and what they left."""

import sqlite3
import struct
from types import SimpleNamespace as Namespace

import psutil
import pytest

from kafkalab.errors import CourseError
from kafkalab.lessons import offsets
from kafkalab.lessons.offsets import Fate, Life, StoredCommit
from kafkalab.lessons.offsets.runs import ProgramRun, run_all
from kafkalab.wait import WaitTimeout, wait_until
from tests.kafkalab.drawn import words

pytestmark = pytest.mark.usefixtures("no_figure_stays")

# What a program of the lesson has, without a client.
ALONE = """
consumer = type("Nobody", (), {"config": {"group_id": None}})
place = 0
for number in range(5):
    danger("ready")
    charge(number)
"""


def trial(first, second, how="careful", point=("charged", 2), end=6):
    return Fate(how, point, end, (first, second), [None])


def test_what_was_charged_twice_and_never():
    both = trial([0, 1, 2], [2, 4, 5])
    assert both.twice == [2]
    assert both.never == [3]
    assert repr(both) == "first run 0-2, second 2-5: twice 1, never 1"
    assert repr(trial([], [3])) == "first run none, second 3: twice 0, never 5"


@pytest.fixture
def nowhere():
    """A cluster that nobody asks for anything but its address."""
    return Namespace(address="")


@pytest.mark.process
def test_a_program_dies_where_it_is_to_die_and_the_next_one_runs(nowhere):
    runs = [ProgramRun(ALONE, ("ready", 3)), ProgramRun(ALONE)]
    killed, ended = run_all(nowhere, "two runs", runs).events()
    assert [e.facts["offset"] for e in killed if e.what == "charged"] == [0, 1]
    assert [e.facts["offset"] for e in ended if e.what == "charged"] == [0, 1, 2, 3, 4]
    assert "ended" not in {e.what for e in killed}


@pytest.mark.process
def test_a_charge_is_noted_before_its_program_dies(nowhere):
    (killed,) = run_all(nowhere, "in a charge", [ProgramRun(ALONE, ("charged", 2))]).events()
    assert [e.facts["offset"] for e in killed if e.what == "charged"] == [0, 1]


@pytest.mark.process
@pytest.mark.parametrize(
    ("text", "die", "said"),
    [
        (ALONE, ("ready", 6), "to die at"),  # it never comes there
        (ALONE + "raise KeyError('account')", ("", 0), "account"),
        ("os.kill(os.getpid(), signal.SIGKILL)", ("", 0), "to end"),
    ],
)
def test_a_program_with_another_end_is_an_error(nowhere, text, die, said):
    with pytest.raises(CourseError, match="did not end as it was to end") as caught:
        run_all(nowhere, "another end", [ProgramRun(text, die)]).events()
    assert said in str(caught.value)


@pytest.mark.process
def test_a_program_that_hangs_is_ended(nowhere):
    hung = "note('pid', pid=os.getpid()); import threading; threading.Event().wait()"
    running = run_all(nowhere, "hung", [ProgramRun(hung)], timeout=2)
    with pytest.raises(WaitTimeout):
        running.events()
    (pid,) = [e.facts["pid"] for e in running.member.events if e.what == "pid"]
    wait_until(lambda: not psutil.pid_exists(pid), timeout=5, what="its end")


def test_ten_kills_are_the_same_each_time_and_at_each_point():
    kills = offsets.ten_kills(6)
    assert kills == offsets.ten_kills(6)
    assert kills != offsets.ten_kills(7)
    for seed in range(50):
        drawn = offsets.ten_kills(seed)
        assert len(drawn) == 10
        assert {point for point, _ in drawn} == {"ready", "booked", "placed", "committed"}
        # so that a hundred payments, four in a batch, are enough for every draw
        assert sum(4 * number if point != "booked" else number for point, number in drawn) <= 88


@pytest.fixture
def books():
    kept = offsets.Books()
    with sqlite3.connect(kept.file) as db:
        db.execute("CREATE TABLE charges (offset, amount, by)")
        db.executemany("INSERT INTO charges VALUES (?, 1, 'a')", [(0,), (1,), (1,), (3,)])
    db.close()
    return kept


def test_books_say_what_is_there_twice_and_never(books):
    assert books.twice == [1]
    assert books.never(5) == [2, 4]


def test_books_are_gone_with_their_object(tmp_path):
    kept = offsets.Books()
    folder = kept.file.rpartition("/")[0]
    with sqlite3.connect(kept.file) as db:
        db.execute("CREATE TABLE charges (offset)")
    db.close()
    del kept
    with pytest.raises(sqlite3.OperationalError):
        sqlite3.connect(f"{folder}/books.sqlite")


def test_records_that_are_not_yet_those(books):
    records = [Namespace(offset=40), Namespace(offset=41)]
    again = [Namespace(offset=40), Namespace(offset=41)]
    assert offsets.not_these(again, records) == ""
    assert "records of before" in offsets.not_these(records, records)
    late = [Namespace(offset=44), Namespace(offset=45)]
    assert "first one has offset 44, and it should be 40" in offsets.not_these(late, records)
    assert "1 records, and it should be 2" in offsets.not_these(again[:1], records)
    assert "0 records" in offsets.not_these([], records)


def test_a_database_takes_all_of_a_batch_or_nothing(capsys):
    records = [Namespace(offset=number, value=b"%d" % number) for number in (41, 42, 43)]
    refused = offsets.book_up_to(42, records)
    assert "amount <= 42" in capsys.readouterr().out
    assert refused.execute("SELECT * FROM charges").fetchall() == []
    assert refused.total_changes == 2
    taken = offsets.book_up_to(42, records[:2])
    assert taken.execute("SELECT * FROM charges").fetchall() == [(41, 41), (42, 42)]
    assert capsys.readouterr().out == ""
    for db in (refused, taken):
        db.close()


def text(value):
    data = value.encode()
    return struct.pack(">h", len(data)) + data


def key(group, topic, partition, version=1):
    return struct.pack(">h", version) + text(group) + text(topic) + struct.pack(">i", partition)


def test_commits_are_found_among_other_records():
    value = struct.pack(">hqi", 3, 7, -1) + text("") + struct.pack(">q", 0)
    records = [
        Namespace(key=key("shop", "orders", 2), value=value),
        Namespace(key=key("other", "orders", 2), value=value),
        Namespace(key=struct.pack(">h", 2) + text("shop"), value=b"members"),
        Namespace(key=key("shop", "orders", 2), value=None),
        Namespace(key=None, value=None),
    ]
    found = [StoredCommit("shop", "orders", 2, 7), StoredCommit("shop", "orders", 2, None)]
    assert offsets.commits_of("shop", records) == found


def test_a_strip_says_what_became_of_each_payment():
    trials = [
        trial([0, 1], [1, 2, 3, 4, 5]),
        trial([0], [1, 2, 3, 4, 5], how="hasty"),
        trial([0], [3, 4, 5], point=("ready", 1)),
        trial([0], [3, 4, 5, 0], how="hasty", point=("ready", 1)),
    ]
    ax = offsets.by_point(trials, {("ready", 1): "ready", ("charged", 2): "two charged"})
    assert [label.get_text() for label in ax.get_yticklabels()] == ["careful", "hasty"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["ready", "two charged"]
    said = words(ax)
    for fate in ("1 twice", "each once", "2 never", "1 twice, 2 never"):
        assert fate in said
    assert len(ax.patches) == 4 * 6


def test_each_life_is_drawn_with_what_it_charged(books):
    books.lives = [Life(1, "ready", [0, 1]), Life(2, "booked", []), Life(3, "", [1, 3])]
    ax, other = offsets.by_life({"one": books, "other": books}, 5)
    assert "one: 1 twice, 2 never" in ax.get_title(loc="left") + ax.get_title()
    assert {"† ready", "† booked, nothing kept", "ended"} <= set(words(other))
    colours = [patch.get_facecolor() for patch in ax.patches]
    assert len(colours) == 4
    assert len(set(colours)) == 2
