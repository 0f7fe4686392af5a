"""Take over a warm Java process of a pool instead of starting one.

Only the tests and the proof of a lab have a pool (pool.py); KAFKALAB_SPARK_POOL names its
folder to the kernels that they start. A reader's session starts a Java of its own. What a kernel
takes over is the same to its cells: the same jars, options and settings, and nothing in it that
another left behind. It has one limit: a Python function that Spark runs begins in the folder of
the pool's owner, though it imports what lies beside the notebook.

A pool never makes a session fail. Where it has nothing to give, where what it gives does not
answer, there is a Java of one's own.

Files of the folder: `N.coming` is a process that starts or is being cleaned, `N.ready` waits for a
taker and says how to reach it, `N.taken` is in use as long as its lock is held, `NAME.wanted` asks
for one more. A lock ends with the process that holds it, however that ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
import uuid
from pathlib import Path
from typing import TextIO

import psutil

from kafkalab.java import aot
from kafkalab.java.runtime import java
from kafkalab.spark.driver import LIFE, JavaKey, connectors, spark_home
from kafkalab.wait import WaitTimeout, wait_until

POOL = "KAFKALAB_SPARK_POOL"
KIND = "kind"
PATIENCE = 30  # seconds for a process that starts or is being cleaned
WORN = "worn"


def kind_of(master: str) -> str:
    """What two sessions must have in common for the one to work in the Java of the other."""
    chosen = {name: os.environ.get(name) for name in ("KAFKALAB_AOT", aot.TRAINING)}
    files = [java().executable, spark_home(), *connectors(), sys.executable]
    return json.dumps([master, chosen, *map(str, files)])


class Loan:
    """A Java process of the pool that is this process's own until it ends."""

    def __init__(self, offer: TextIO) -> None:
        self._lock = offer
        # A child made by fork would keep the lock beyond the end of this process.
        os.register_at_fork(after_in_child=offer.close)
        facts = json.load(offer)
        self.folder = Path(facts["folder"])
        self._key = JavaKey(*facts["key"])
        self.process = psutil.Process(facts["pid"])

    def move_in(self) -> None:
        """See that it answers, and tell it where files without a folder in their name are."""
        from kafkalab.spark.cleaning import talking

        with talking(self._key) as gateway:
            gateway.jvm.System.setProperty("user.dir", str(Path.cwd()))

    def key(self) -> JavaKey:
        return self._key

    def alive(self) -> bool:
        return self.process.is_running() and self.process.status() != psutil.STATUS_ZOMBIE

    def settings(self) -> dict[str, str]:
        """What a Java of one's own has from the place where it starts."""
        path = [str(Path.cwd()), os.environ.get("PYTHONPATH", "")]
        return {"spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, path))}

    def reject(self) -> None:
        """Give it back, and nobody shall have it after this."""
        self._lock.seek(0)
        self._lock.write(WORN)
        self._lock.truncate()
        self.stop()

    def stop(self) -> None:
        """Give it back. The owner of the pool ends what still runs in it."""
        self._lock.close()


def take(master: str) -> Loan | None:
    """A warm process that fits; None where one has to be started."""
    folder = Path(os.environ.get(POOL) or os.devnull)
    # The owner itself would keep it from the kernels to the end of the pool.
    if _owner(folder) in (None, os.getpid()):
        return None
    if (folder / KIND).read_text("utf-8") != kind_of(master) or not (offer := _offer(folder)):
        return None
    loan = Loan(offer)
    try:
        loan.move_in()
    except Exception:  # of py4j and of sockets, many kinds
        loan.reject()
        return None
    return loan


def _owner(folder: Path) -> int | None:
    """The process that owns a pool, while it lives."""
    try:
        with (folder / LIFE).open() as life:
            fcntl.flock(life, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return int((folder / LIFE).read_text())
    except OSError:
        pass
    return None


def _offer(folder: Path) -> TextIO | None:
    """The file of a process that is now ours. Waits for one that is coming, asks for one more."""
    wanted = folder / f"{uuid.uuid4().hex}.wanted"
    found: list[TextIO] = []
    asked = False

    def settled() -> bool:
        nonlocal asked
        # Seen before the search: one that becomes ready meanwhile is found by it, or was taken.
        is_coming = any(folder.glob("*.coming")) or _is_coming_back(folder) or wanted.exists()
        for ready in sorted(folder.glob("*.ready")):
            if offer := _locked(ready):
                found.append(offer)
                return True
        if is_coming:
            return False
        if asked:
            return True
        wanted.touch()
        asked = True
        return False

    try:
        wait_until(settled, timeout=PATIENCE, what="a warm Java process", every=0.02)
    except WaitTimeout:
        return None
    finally:
        wanted.unlink(missing_ok=True)
    return found[0] if found else None


def _is_coming_back(folder: Path) -> bool:
    """Whether one was given back, and the owner of the pool has not seen that yet."""
    for taken in folder.glob("*.taken"):
        with contextlib.suppress(OSError), taken.open("rb") as offer:
            fcntl.flock(offer, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return True
    return False


def _locked(ready: Path) -> TextIO | None:
    """The file of an offer, if nobody else has it."""
    with contextlib.ExitStack() as closing, contextlib.suppress(FileNotFoundError, BlockingIOError):
        offer = closing.enter_context(ready.open("r+", encoding="utf-8"))
        fcntl.flock(offer, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # It may have been another's in between, and not be the file of that name any more.
        if os.path.samestat(os.fstat(offer.fileno()), ready.stat()):
            ready.rename(ready.with_suffix(".taken"))
            closing.pop_all()
            return offer
    return None
