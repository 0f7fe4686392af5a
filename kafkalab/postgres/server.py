"""A server as its starter sees it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from kafkalab import environment
from kafkalab.clients import opened
from kafkalab.errors import CourseError
from kafkalab.machine import lifeline, room
from kafkalab.postgres import folders, programs
from kafkalab.postgres.account import Account
from kafkalab.postgres.programs import GRACE, PORT, USER
from kafkalab.wait import wait_until


class Postgres:
    """Made by `Postgres.start`."""

    def __init__(self) -> None:
        # What `opened` asks a client for. It is of no cluster, so it is closed with none.
        self.config = {"bootstrap_servers": ""}
        # A file without a name: it is gone with the last process that has it open.
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - read to the end
        self._line = lifeline.Lifeline()
        self._folder, life = folders.make(Account.chosen())
        with life:  # from here on the keeper's alone
            self._keeper = subprocess.Popen(
                [sys.executable, "-P", "-m", "kafkalab.postgres.keeper", str(self._folder)],
                stdin=self._line.theirs,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                pass_fds=[life.fileno()],
                start_new_session=True,
                cwd=Path(__file__).parents[2],
                env=environment.for_python(),
            )
        self._line.given()
        opened.hold(self)

    @classmethod
    def start(cls, timeout: float = 60) -> Postgres:
        """A server of its own, with an empty database; returns when it answers."""
        programs.installed()
        server = cls()
        try:
            server._wait_for_start(timeout)
        except BaseException:
            server.close()
            raise
        return server

    @property
    def address(self) -> str:
        """What `psycopg.connect` takes."""
        from psycopg.conninfo import make_conninfo

        return make_conninfo(host=str(self._folder), port=PORT, user=USER, dbname=USER)

    @property
    def closed(self) -> bool:
        """Whether it has ended."""
        return self._keeper.poll() is not None

    @property
    def said(self) -> str:
        """What the server wrote: its log."""
        size = os.fstat(self._said.fileno()).st_size
        return os.pread(self._said.fileno(), size, 0).decode(errors="replace")

    def close(self) -> None:
        """End it, and forget its data. Safe to call twice."""
        opened.release(self)
        self._line.let_go()
        try:
            self._keeper.wait(timeout=2 * GRACE)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()

    def __enter__(self) -> Postgres:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return "PostgreSQL (closed)" if self.closed else f"PostgreSQL at {self.address}"

    def _wait_for_start(self, timeout: float) -> None:
        import psycopg

        def answers() -> bool:
            if self.closed:
                raise self._why_ended()
            psycopg.connect(self.address, connect_timeout=2).close()
            return True

        wait_until(
            answers,
            timeout=timeout,
            what="PostgreSQL to answer",
            seen=lambda: self._last_line() or "nothing",
            every=0.02,
            not_yet=(psycopg.OperationalError,),
            mend="Look for the cause: ./course doctor",
        )

    def _why_ended(self) -> CourseError:
        what = "PostgreSQL ended while it started."
        if room.is_full(self._folder.parent):
            return CourseError(
                what,
                f"The disk is full. Its data lies in {self._folder.parent}.",
                "Make room. How full each disk is: ./course doctor",
            )
        return CourseError(what, self._last_line() or "It said nothing.")

    def _last_line(self) -> str:
        lines = self.said.strip().splitlines()
        return lines[-1] if lines else ""
