"""A database of somebody else's is read from outside, and its commits are kept back from there."""

import os
import select
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grading.faults import rows
from grading.faults.left import LARGEST, LeftFile
from grading.judge.checks import Unseen
from kafkalab.wait import wait_until

TRADES = {"trades": ("part", "offset")}
WRITER = """
import sqlite3, sys
db = sqlite3.connect("books.sqlite", timeout=20)
print("ready", flush=True)
for line in sys.stdin:
    for statement in line.split(";"):
        if statement.strip() == "commit":
            db.commit()
        elif statement.strip() == "again":
            try:
                db.commit()
            except sqlite3.OperationalError:
                pass
        else:
            db.execute(statement)
    print("done", flush=True)
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made(tmp_path / "books.sqlite", "INSERT INTO trades VALUES (0, 7)")
    return tmp_path / "books.sqlite"


def made(file, *statements, table='CREATE TABLE trades (part, "offset")'):
    file.unlink(missing_ok=True)
    db = sqlite3.connect(file, isolation_level=None)
    for statement in (table, *statements):
        db.execute(statement)
    db.close()


def left():
    return LeftFile.find("books.sqlite", os.getpid())


@pytest.fixture
def writer(file):
    with subprocess.Popen(
        [sys.executable, "-c", WRITER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def says(process, line):
    process.stdin.write(line + "\n")


def test_rows_are_read_while_somebody_writes(file, writer):
    books = left()
    assert books.rows(TRADES) == {"trades": [[0, 7]]}
    before = books.commits
    says(writer, "INSERT INTO trades VALUES (0, 8)")
    assert writer.stdout.readline() == "done\n"
    assert books.rows(TRADES) == {"trades": [[0, 7]]}, "nothing was committed"
    says(writer, "commit")
    assert writer.stdout.readline() == "done\n"
    assert books.rows(TRADES) == {"trades": [[0, 7], [0, 8]]}
    assert books.commits != before
    books.close()


def test_a_commit_is_kept_back_and_let_pass(file, writer):
    books = left()
    books.hold()
    assert books.waiting is None
    says(writer, "INSERT INTO trades VALUES (0, 8); commit")
    wait_until(lambda: books.waiting == writer.pid, timeout=10, what="a commit that waits")
    assert books.rows(TRADES) == {"trades": [[0, 7]]}
    assert books.waiting == writer.pid, "to look lets nobody pass"
    before = books.commits
    books.release()
    assert writer.stdout.readline() == "done\n"
    assert books.commits != before
    books.hold()
    says(writer, "INSERT INTO trades VALUES (1, 9); commit")
    wait_until(lambda: books.waiting == writer.pid, timeout=10, what="the next one")
    assert books.rows(TRADES) == {"trades": [[0, 7], [0, 8]]}, "one, and not both"
    writer.kill()
    writer.wait()
    books.release()
    assert books.waiting is None
    with sqlite3.connect(file) as db:
        assert db.execute("SELECT count(*) FROM trades").fetchone() == (2,)
    db.close()
    books.close()


@pytest.mark.parametrize("begin", ["begin", "begin immediate"])
def test_a_transaction_that_is_tried_again_is_told_from_one_that_begins_anew(file, writer, begin):
    says(writer, "PRAGMA busy_timeout = 100")
    assert writer.stdout.readline() == "done\n"
    books = left()
    books.hold()
    says(writer, f"{begin}; INSERT INTO trades VALUES (0, 8); again; again; again")
    wait_until(lambda: books.waiting == writer.pid, timeout=10, what="a commit that waits")
    with books.transaction() as is_over:
        while not select.select([writer.stdout], [], [], 0)[0]:
            assert not is_over()
        assert writer.stdout.readline() == "done\n"
        assert not is_over()
        says(writer, f"ROLLBACK; {begin}; INSERT INTO trades VALUES (0, 8); again")
        assert writer.stdout.readline() == "done\n"
        assert books.waiting == writer.pid
        assert is_over(), "however short it was"
    assert books.rows(TRADES) == {"trades": [[0, 7]]}
    books.close()


def test_a_journal_that_was_deleted_by_hand_is_no_rollback(file, writer):
    """It had the points: what was refused stayed open, and was committed when we let go."""
    says(writer, "PRAGMA busy_timeout = 100")
    assert writer.stdout.readline() == "done\n"
    books = left()
    books.hold()
    says(writer, "INSERT INTO trades VALUES (0, 8); again")
    wait_until(lambda: books.waiting == writer.pid, timeout=10, what="a commit that waits")
    with books.transaction() as is_over:
        assert writer.stdout.readline() == "done\n"
        Path("books.sqlite-journal").unlink()
        assert not is_over()
        says(writer, "again")
        assert writer.stdout.readline() == "done\n"
        assert not is_over()
    books.release()
    says(writer, "again")  # SQLite misses its journal and says so, when all is written
    assert writer.stdout.readline() == "done\n"
    assert books.rows(TRADES) == {"trades": [[0, 7], [0, 8]]}
    books.close()


def test_what_lies_beside_the_file_in_a_log_of_its_own_is_read(file):
    db = sqlite3.connect(file, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("INSERT INTO trades VALUES (1, 1)")
    books = left()
    assert books.rows(TRADES) == {"trades": [[0, 7], [1, 1]]}
    books.close()
    db.close()


HOSTILE = {
    "a view": ["CREATE VIEW trades AS SELECT 0 AS part, 1 AS 'offset'"],
    "a view without end": [
        "CREATE VIEW trades AS WITH RECURSIVE n(part, 'offset') AS "
        "(SELECT 1, 1 UNION ALL SELECT part + 1, 1 FROM n) SELECT * FROM n"
    ],
    "a virtual table": ["CREATE VIRTUAL TABLE trades USING fts5(part, 'offset')"],
    "another table": ["CREATE TABLE trade (part, 'offset')"],
    "a table that lacks a column": [
        "CREATE TABLE trades (part, place)",
        "INSERT INTO trades VALUES (1, 2)",
    ],
    "a column that computes": [
        "CREATE TABLE trades (part, 'offset' AS (printf('%.*c', 1000000, 'x')))",
        "INSERT INTO trades VALUES (1)",
    ],
    "too many rows": [
        "CREATE TABLE trades (part, 'offset')",
        "INSERT INTO trades WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n "
        f"WHERE a <= {rows.MOST_ROWS}) SELECT a, a FROM n",
    ],
    "a value that is too long": [
        "CREATE TABLE trades (part, 'offset')",
        "INSERT INTO trades VALUES (1, zeroblob(1000000))",
    ],
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_nothing_but_a_small_table_is_read(file, kind):
    table, *rest = HOSTILE[kind]
    made(file, *rest, table=table)
    books = left()
    began = time.monotonic()
    with pytest.raises(Unseen, match=r"^books\.sqlite: "):
        books.rows(TRADES)
    assert time.monotonic() - began < 10
    books.close()


def test_values_of_any_kind_come_as_numbers_and_short_texts(file):
    made(
        file, "INSERT INTO trades VALUES (1.5, x'ff'), (9e99, NULL), (9223372036854775807, 'long')"
    )
    db = sqlite3.connect(file)
    db.execute("INSERT INTO trades VALUES (?, ?)", ("x" * 500, "\0\n"))
    db.commit()
    db.close()
    books = left()
    found = books.rows(TRADES)["trades"]
    assert found == [[None, None], [None, None], [None, "long"], ["x" * 60, "\0\n"]]
    books.close()


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5_000])
def test_what_is_no_database_is_told_in_a_sentence(file, content):
    file.write_bytes(content)
    books = left()
    with pytest.raises(Unseen):
        books.rows(TRADES)
    books.close()


def test_a_file_that_is_too_large_is_not_read(file):
    os.truncate(file, LARGEST + 1)
    books = left()
    with pytest.raises(Unseen, match="bytes"):
        books.rows(TRADES)
    books.close()


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "nothing"])
def test_a_link_is_not_followed_and_a_pipe_not_waited_for(file, kind):
    file.rename("other.sqlite")
    if kind == "link":
        file.symlink_to("other.sqlite")
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    with pytest.raises(Unseen, match=r"no file books\.sqlite"):
        left()


def test_a_journal_that_names_another_file_has_no_effect(file, tmp_path):
    """SQLite would look for the file that a journal names, and delete the journal."""
    victim = tmp_path / "victim"
    victim.write_text("here")
    Path("books.sqlite-journal").write_bytes(b"\xd9\xd5\x05\xf9 \xa1c\xd7" + str(victim).encode())
    books = left()
    assert books.rows(TRADES) == {"trades": [[0, 7]]}
    assert victim.read_text() == "here"
    assert Path("books.sqlite-journal").exists()
    books.close()
