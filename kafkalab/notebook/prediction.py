"""A number that a reader commits to before the measurement, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalab.errors import CourseError


@dataclass(frozen=True)
class Text:
    """A sentence that JupyterLab shows as prose."""

    markdown: str

    def _repr_markdown_(self) -> str:
        return self.markdown

    def __repr__(self) -> str:
        return self.markdown.replace("**", "").replace("`", "")


class Prediction:
    """`Prediction(None, "batches")`: the reader puts a number in the place of None.

    A lesson also runs without one, so that it can be tested; the cell then says what is missing.
    """

    def __init__(self, number: float | None, what: str) -> None:
        if number is not None and (isinstance(number, bool) or not isinstance(number, int | float)):
            raise CourseError(
                f"A prediction is a number, and {number!r} is none.",
                mend=f"Type one: Prediction(12, {what!r})",
            )
        self.number = number
        self.what = what

    def _repr_markdown_(self) -> str:
        if self.number is None:
            return (
                f"No prediction yet. How many {self.what} do you expect? Put your number "
                "in the place of `None`, then run this cell again."
            )
        return f"Kept: you expect **{_short(self.number)} {self.what}**."

    def __repr__(self) -> str:
        return repr(Text(self._repr_markdown_()))

    def against(self, measured: float) -> Text:
        """The prediction beside the measurement, in a sentence."""
        found = f"Measured: **{_short(measured)} {self.what}**."
        if self.number is None:
            return Text(found)
        said = f"You said {_short(self.number)}. {found}"
        if _short(self.number) == _short(measured):
            said += " That is your number."
        return Text(said)


def _short(number: float) -> str:
    """Whole numbers whole, others to three figures: nobody predicts the fourth."""
    if float(number).is_integer():
        return f"{int(number):,}"
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
