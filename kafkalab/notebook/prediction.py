"""A number that a reader commits to before the measurement, and what came of it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from kafkalab.errors import CourseError
from kafkalab.notebook import kept, page
from kafkalab.notebook.text import Text

if TYPE_CHECKING:
    from kafkalab.notebook.asking import Form

KIND = "predictions"
CLOSE = 0.2
"""Of the measured number: what is no further away was a good guess."""
UNASKED = "You did not predict it."
TOO_FAR = 3.0
"""From here on, how many times as many says more than a difference."""


class Prediction:
    """`Prediction("records")`, as the last line of a cell, shows a field and a button.

    The number is kept with the page, also when the cell or the kernel is run again. A page runs
    without one too; what was measured then stands alone.
    """

    def __init__(self, what: str, question: str = "", *, said: float | None = None) -> None:
        """said: a number that was typed elsewhere, as the answer to a task of a lab."""
        if not isinstance(what, str):
            raise CourseError(
                "A prediction is typed into the field below its cell now.",
                "This page comes from an older version of the course.",
                "Get the page of today, which keeps yours aside: ./course reset, with its number",
            )
        self.what = what
        self.question = question or f"How many {what} do you expect?"
        before = said if said is not None else kept.answer(KIND, what).get("said")
        self.number = None if before is None else _number(before)
        if self.number is None and said is not None:
            raise CourseError(f"A prediction is a number, and {said!r} is none.")
        self._form: Form | None = None

    def keep(self, number: float | str) -> str:
        """What the field does. Returns the sentence below it, also for what is no number."""
        value = _number(number)
        if value is None:
            return f"“{number}” is not a number. Type one such as 12 or 0.5."
        self.number = value
        kept.keep(KIND, self.what, said=value)
        return self._kept()

    def against(self, measured: float) -> Text:
        """The prediction beside the measurement, in a sentence that says how close it is."""
        found = f"Measured: **{_short(measured)} {self.what}**."
        if self.number is None:
            return Text(f"{UNASKED} {found}")
        verdict, distance = _distance(self.number, measured)
        kept.keep(KIND, self.what, measured=float(measured), verdict=verdict)
        return Text(f"You said {_short(self.number)}. {found} {distance}")

    def _kept(self) -> str:
        if self.number is None:
            return "Nothing is kept yet. You may also go on without."
        return f"Kept: you expect {_short(self.number)} {self.what}. Go on and see."

    def __repr__(self) -> str:
        return f"{self.question} {self._kept()}"

    def _repr_mimebundle_(self, **formats: Any) -> dict[str, Any]:
        view = self.form().box._repr_mimebundle_() if page.can_show_widgets() else {}
        # Where nobody can answer, as on a page of a site, the question remains.
        return {**view, "text/markdown": self.question, "text/plain": repr(self)}

    def form(self) -> Form:
        """What JupyterLab shows, the same each time."""
        import ipywidgets

        from kafkalab.notebook.asking import Form

        if self._form is None:
            field = ipywidgets.Text(
                value="" if self.number is None else _short(self.number),
                placeholder="a number",
                continuous_update=False,  # whole answers, not each key
                description=self.what,
                style={"description_width": "initial"},
            )
            self._form = Form(self.question, field, self._kept(), lambda: self.keep(field.value))
        return self._form


def _number(given: object) -> float | None:
    """Also as people type it: 1,000 or 50 %."""
    if isinstance(given, str):
        text = re.sub(r"(?<=\d)[,_ ](?=\d{3}\b)|\s*%\s*$", "", given.strip())
        try:
            given = float(text)
        except ValueError:
            return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        return None
    return given


def _distance(said: float, measured: float) -> tuple[str, str]:
    """close or off, and the sentence."""
    if _short(said) == _short(measured):
        return "close", "That is your number."
    if abs(said - measured) <= CLOSE * abs(measured):
        return "close", "Close."
    low, high = sorted((abs(said), abs(measured)))
    if said * measured > 0 and high >= TOO_FAR * low:
        times = _short(round(high / low, 1 if high < 10 * low else 0))
        more = "many" if abs(measured) > abs(said) else "few"
        return "off", f"Off: {times} times as {more} as you said."
    return "off", f"Off by {_short(abs(said - measured))}."


def _short(number: float) -> str:
    """Whole numbers whole, others to three figures: nobody predicts the fourth."""
    if float(number).is_integer():
        return f"{int(number):,}"
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
