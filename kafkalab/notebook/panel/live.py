"""What every panel does: look again and again, and obey what was pressed, one after the other."""

from __future__ import annotations

import atexit
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from queue import Queue
from typing import Any

from kafkalab.cluster.cluster import Cluster
from kafkalab.errors import CourseError
from kafkalab.notebook.panel.board import LiveBoard

# Seconds from the end of one look to the next.
EVERY = 0.5

# The panels that are open, by what they show.
_OPEN: dict[Hashable, Live] = {}

Fault = Callable[[], object]


class Live(ABC):
    """Watches in threads of its own from `_begin` on; without it nothing runs."""

    def __init__(self, cluster: Cluster, shown: Hashable) -> None:
        self._cluster = cluster
        self._shown = shown
        self._board: LiveBoard | None = None
        self._over = threading.Event()
        self._wake = threading.Event()
        self._orders: Queue[tuple[str, Fault] | None] = Queue()
        self._threads: list[threading.Thread] = []

    @abstractmethod
    def _look(self) -> None:
        """Look once and tell the board."""

    def _begin(self, board: LiveBoard, name: str) -> None:
        self._board = board
        _OPEN[self._shown] = self
        for number, work in enumerate((self._watch, self._obey)):
            thread = threading.Thread(
                target=work, args=(board,), name=f"panel of {name} {number}", daemon=True
            )
            self._threads.append(thread)
            thread.start()

    @property
    def text(self) -> str:
        """What the panel shows at this moment, without its form."""
        return self._board.text if self._board else repr(self)

    @property
    def running(self) -> bool:
        """Whether one of its threads still works; False where there is no JupyterLab."""
        return any(thread.is_alive() for thread in self._threads)

    def stop(self, why: str = "This panel has stopped.") -> None:
        """End watching; what was seen last stays on the page, with the reason. Safe to call twice.

        A fault that is under way goes on to its end, those after it are dropped.
        """
        if self._board is None or self._over.is_set():
            return
        self._over.set()
        self._wake.set()
        self._orders.put(None)
        if _OPEN.get(self._shown) is self:
            del _OPEN[self._shown]
        self._board.end(why)

    def _repr_mimebundle_(self, **formats: Any) -> dict[str, Any]:
        view = self._board.box._repr_mimebundle_() if self._board else {}
        return {**view, "text/plain": repr(self)}

    def _order(self, name: str, fault: Fault) -> None:
        """Do this after what was pressed before; `name` is what the log says of it."""
        self._orders.put((name, fault))

    # --- In threads ----------------------------------------------------------------------------

    def _watch(self, board: LiveBoard) -> None:
        while not self._over.is_set():
            self._wake.clear()
            try:
                self._look()
            except Exception as error:
                if self._cluster.closed:
                    self.stop("This cluster is closed. Run the cell that starts it again.")
                else:
                    # Also what a cluster that dies says first is a sentence, and not a traceback.
                    board.warn(_sentence(error))
            self._wake.wait(EVERY)

    def _obey(self, board: LiveBoard) -> None:
        while (order := self._orders.get()) and not self._over.is_set():
            name, fault = order
            began = time.monotonic()
            try:
                fault()
            except Exception as error:
                board.tell(f"{name}: {_sentence(error)}")
            else:
                board.tell(f"{name}: done in {time.monotonic() - began:.1f} s")
            self._wake.set()


def stop_earlier(shown: Hashable, why: str) -> None:
    """End the panel that shows the same, where there is one."""
    if shown in _OPEN:
        _OPEN[shown].stop(why)


def _sentence(error: Exception) -> str:
    if isinstance(error, CourseError):
        return " ".join(error.lines())
    return f"{type(error).__name__}: {error}"


@atexit.register
def _stop_all() -> None:
    for panel in list(_OPEN.values()):
        panel.stop()
        for thread in panel._threads:
            thread.join(2)


# The threads of a parent do not run in its child.
os.register_at_fork(after_in_child=_OPEN.clear)
