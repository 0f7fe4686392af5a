"""What a prediction and a choice share on the screen: a question, a button, and what was kept."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import ipywidgets


class Form:
    """A question above a field and a button.

    What stands in the field is kept when it changed: at a choice, at Enter, when a text is left.
    The button says so again, or what is still missing. It cannot be what keeps alone: while the
    kernel works on one change of a field, the page holds the next ones back, but not the press of a
    button (ipywidgets, "throttle"). Who types 12 and presses at once would be kept with 1.
    """

    def __init__(
        self, question: str, field: ipywidgets.Widget, kept: str, press: Callable[[], str]
    ) -> None:
        """press: keeps what the field holds, and gives the sentence to show."""
        self._press = press
        self.status = ""
        self._shown = ipywidgets.HTML()
        self.button = ipywidgets.Button(description="Keep", tooltip="Keep my answer")
        self.button.on_click(lambda _: self._pressed())
        heard_while_a_cell_runs(self.button)
        field.observe(lambda _: self._pressed(), "value")
        heard_while_a_cell_runs(field)
        self.field = field
        self.tell(kept)
        label = ipywidgets.HTML(escape(question))
        row = ipywidgets.HBox([field, self.button], layout=ipywidgets.Layout(flex_flow="row wrap"))
        self.box = ipywidgets.VBox([label, row, self._shown])

    def tell(self, sentence: str) -> None:
        """Say it below the field."""
        self.status = sentence
        self._shown.value = f"<span role='status'>{escape(sentence)}</span>"

    def _pressed(self) -> None:
        self.tell(self._press())


def heard_while_a_cell_runs(widget: ipywidgets.Widget) -> None:
    """Let the page choose which loop of the kernel hears of a press.

    JupyterLab chooses one of its own for widgets. But ipykernel notes which loop spoke last of a
    widget, and sends what comes back there: to the loop of the cells, which is busy while a cell
    runs. Without the note it does as it is asked.
    """
    vars(widget.comm).pop("_reply_subshell_id", None)
