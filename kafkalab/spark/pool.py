"""A few Java processes for the Spark of many notebooks, one notebook after the other.

    with warm_spark():
        ...                       # kernels that start in here take them over

For the tests and for the proof of a lab, where starting Java would be most of the work. A process
is started when a kernel asks for one, cleaned after each, ended after some, and gone with the pool
or with the process that owns it. loan.py is the side of the kernel.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import math
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from kafkalab.errors import CourseError
from kafkalab.spark.cleaning import Cleaner
from kafkalab.spark.driver import Driver, folder_of_this_process
from kafkalab.spark.loan import KIND, POOL, WORN, kind_of
from kafkalab.wait import wait_until

logger = logging.getLogger(__name__)

MASTER = "local[2]"
AT_MOST = 2
USES = 12  # of one process: what piles up in it, such as compiled queries, goes with it


@contextlib.contextmanager
def warm_spark(at_most: int = AT_MOST) -> Iterator[None]:
    """Kernels that this process starts in here have warm Java processes for their Spark.

    Inside another pool that one serves.
    """
    if os.environ.get(POOL):
        yield
        return
    with SparkPool(at_most) as pool:
        os.environ[POOL] = str(pool.folder)
        try:
            yield
        finally:
            del os.environ[POOL]


class SparkPool:
    """Owns up to `at_most` processes, of half a GB each. None is started before it is wanted."""

    def __init__(self, at_most: int = AT_MOST, uses: int = USES) -> None:
        self.at_most = at_most
        self.uses = uses
        # Of now: what a test changes for its own processes is not for those of the pool.
        self._surroundings = dict(os.environ)
        self.folder, self._life = folder_of_this_process()
        (self.folder / KIND).write_text(kind_of(MASTER), "utf-8")
        self._is_closing = False
        self._kept: set[int] = set()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> SparkPool:
        self._begin(self._serve)
        return self

    def __exit__(self, *_: object) -> None:
        self._is_closing = True
        # The first of them begins others, which stand behind it.
        for thread in self._threads:
            thread.join()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._life.close()

    def _begin(self, what: Callable[..., None], *arguments: int) -> None:
        self._threads.append(threading.Thread(target=what, args=arguments, daemon=True))
        self._threads[-1].start()

    def _serve(self) -> None:
        """Start a process for each kernel that asks, as far as the bound."""
        number = 0
        while True:
            self._until(lambda: any(self.folder.glob("*.wanted")))
            if self._is_closing:
                return
            for wanted in list(self.folder.glob("*.wanted")):
                if len(self._kept) < self.at_most:
                    number += 1
                    self._kept.add(number)
                    (self.folder / f"{number}.coming").touch()
                    self._begin(self._keep, number)
                # After that: whoever asked goes on when it sees what comes of it.
                wanted.unlink(missing_ok=True)

    def _keep(self, number: int) -> None:
        """The life of one process. Where it fails, the next kernel that asks gets another."""
        from py4j.protocol import Py4JError

        with contextlib.ExitStack() as at_end, self._announced(number):
            try:
                driver = Driver(MASTER, local=True, surroundings=self._surroundings)
                at_end.callback(driver.stop)
                cleaner = Cleaner(driver.key())
                for use in range(1, self.uses + 1):
                    room = driver.folder / f"notebook-{use}"
                    room.mkdir()
                    cleaner.prepare(room)
                    if not self._lend(number, driver, room) or use == self.uses:
                        return
                    cleaner.clean()
                    shutil.rmtree(room, ignore_errors=True)
            except (CourseError, Py4JError, OSError) as why:
                logger.warning("A Java process is not used again: %s", str(why).replace("\n", " "))

    @contextlib.contextmanager
    def _announced(self, number: int) -> Iterator[None]:
        """What a process is at stands in the folder. After that another may have its place."""
        try:
            yield
        finally:
            for left in self.folder.glob(f"{number}.*"):
                left.unlink(missing_ok=True)
            self._kept.discard(number)

    def _lend(self, number: int, driver: Driver, room: Path) -> bool:
        """Offer a process and wait until it is given back; whether another may have it then."""
        coming, ready = self.folder / f"{number}.coming", self.folder / f"{number}.ready"
        taken = self.folder / f"{number}.taken"
        facts = {"key": driver.key(), "pid": driver.process.pid, "folder": str(room)}
        coming.write_text(json.dumps(facts), "utf-8")
        with coming.open("r", encoding="utf-8") as offer:
            coming.rename(ready)
            self._until(lambda: taken.exists() or not driver.alive())
            self._until(lambda: _is_free(offer) or not driver.alive())
            if self._is_closing or not driver.alive():
                return False
            taken.rename(coming)
            return offer.read() != WORN

    def _until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that a kernel does. The deadline is the end of the pool."""
        wait_until(lambda: self._is_closing or condition(), timeout=math.inf, what="a kernel")


def _is_free(offer: TextIO) -> bool:
    try:
        fcntl.flock(offer, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
