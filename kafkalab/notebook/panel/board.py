"""What every panel has on the screen: a line that says how things stand, and a log."""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from collections import deque
from datetime import datetime
from html import escape, unescape

import ipywidgets

from kafkalab.draw.charts import COLOURS
from kafkalab.notebook.asking import heard_while_a_cell_runs

# Lines of the log; the newest stands first.
REMEMBERED = 16
MARKED_FOR = 10  # seconds for which a change stands beside what has changed
# A word, a sign and a colour: each of them says the same.
SIGNS = {
    "running": ("●", "blue"),
    "paused": ("‖", "orange"),
    "frozen": ("‖", "orange"),
    "stopped": ("✕", "red"),
    "ended": ("✕", "red"),
    "cut": ("⊘", "pink"),
}


class LiveBoard(ABC):
    """May be told things by several threads. A widget sends only what has changed."""

    box: ipywidgets.Widget

    def __init__(self, title: str) -> None:
        self._title = title
        self._status, self._log = html_part(), html_part()
        self._lines: deque[str] = deque(maxlen=REMEMBERED)
        self._lock = threading.Lock()
        self._ended = False
        self._note("Looking at it for the first time.")

    @property
    @abstractmethod
    def _parts(self) -> list[ipywidgets.HTML]:
        """What is shown, from top to bottom."""

    @property
    @abstractmethod
    def _pressable(self) -> list[ipywidgets.Widget]:
        """What a person can press or choose."""

    @property
    def text(self) -> str:
        """What it shows, without its form."""
        return "\n".join(_plain(part.value) for part in self._parts if part.value)

    def tell(self, *sentences: str) -> None:
        """Write into the log what happened now."""
        if not sentences:
            return
        now = f"{datetime.now():%H:%M:%S}"
        with self._lock:
            self._lines.extendleft(f"{now} {sentence}" for sentence in sentences)
            lines = "".join(f"<div>{escape(line)}</div>" for line in self._lines)
            self._log.value = f'<div role="log"><b>What happened, newest first</b>{lines}</div>'

    def warn(self, sentence: str) -> None:
        """Say it where the state stands, until the next look."""
        with self._lock:
            if not self._ended:
                self._note(sentence)

    def end(self, why: str) -> None:
        """Nothing can be pressed any more."""
        with self._lock:
            self._ended = True
            self._note(why)
            for widget in self._pressable:
                widget.disabled = True

    def _note(self, sentence: str) -> None:
        self._status.value = (
            f"<b>{escape(self._title)}</b> <span role='status'>{escape(sentence)}</span>"
        )


def html_part() -> ipywidgets.HTML:
    part = ipywidgets.HTML()
    # JupyterLab's own look for tables, in its light and its dark theme.
    part.add_class("jp-RenderedHTMLCommon")
    return part


def button() -> ipywidgets.Button:
    return ipywidgets.Button(layout=ipywidgets.Layout(width="auto", min_width="5.5em"))


def offer(button: ipywidgets.Button, fault: str, what: str, tooltip: str, can: bool) -> None:
    """Let a button offer a fault of something; `can`: whether it makes sense now."""
    button.description = f"{fault} {what}"
    button.tooltip = tooltip
    button.disabled = not can
    heard_while_a_cell_runs(button)  # each change makes the kernel forget it


def sign(state: str) -> str:
    shape, colour = SIGNS[state]
    return f"<span aria-hidden='true' style='color: {COLOURS[colour]}'>{shape}</span>"


def _plain(html: str) -> str:
    return " ".join(unescape(re.sub("<[^>]*>", " ", html)).split())
