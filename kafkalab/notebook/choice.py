"""One answer of a few, chosen before the evidence, and what the evidence says of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafkalab.errors import CourseError
from kafkalab.notebook import kept, page
from kafkalab.notebook.text import Text

if TYPE_CHECKING:
    from kafkalab.notebook.asking import Form

KIND = "choices"
UNASKED = "You did not choose."


class Choice:
    """`Choice("Who leads then?", "broker 0", "nobody")`, as the last line of a cell.

    The chosen answer is kept with the page, also when the cell or the kernel is run again. A page
    runs without one too.
    """

    def __init__(self, question: str, *answers: str) -> None:
        if len(set(answers)) != len(answers) or len(answers) < 2:
            raise CourseError(
                f"“{question}” needs two answers or more, each another one.",
                f"It has: {', '.join(answers) or 'none'}.",
            )
        self.question = question
        self.answers = answers
        chosen = kept.answer(KIND, question).get("chosen")
        self.chosen: str | None = chosen if chosen in answers else None
        self._form: Form | None = None

    def keep(self, answer: str | None) -> str:
        """What the field does. Returns the sentence below it."""
        if answer not in self.answers:
            return "Choose one of them first."
        self.chosen = answer
        kept.keep(KIND, self.question, chosen=answer)
        return self._kept()

    def against(self, right: str, why: Mapping[str, str]) -> Text:
        """The right answer, and for a wrong one what this run says against it.

        why: for each wrong answer a sentence, with figures of this run; for the right one too,
        where there is more to say.
        """
        if missing := [a for a in self.answers if a != right and not why.get(a)]:
            raise CourseError(f"Nothing is said against {', '.join(missing)}.")
        if unknown := {right, *why} - set(self.answers):
            raise CourseError(f"No answer of this choice: {', '.join(sorted(unknown))}.")
        if self.chosen is not None:
            verdict = "close" if self.chosen == right else "off"
            kept.keep(KIND, self.question, right=right, verdict=verdict)
        return Text(" ".join(filter(None, [*self._said(right, why), why.get(right)])))

    def _said(self, right: str, why: Mapping[str, str]) -> list[str]:
        if self.chosen == right:
            return [f"You chose **{right}**, and so it is."]
        answer = f"The answer of this run: **{right}**."
        if self.chosen is not None:
            return [f"You chose “{self.chosen}”: {why[self.chosen]}", answer]
        refuted: dict[str, list[str]] = {}  # by what is said against them: once, if it is the same
        for wrong_answer in self.answers:
            if wrong_answer != right:
                refuted.setdefault(why[wrong_answer], []).append(wrong_answer)
        wrong = [f"Not “{'” nor “'.join(those)}”: {said}" for said, those in refuted.items()]
        return [UNASKED, answer, *wrong]

    def _kept(self) -> str:
        if self.chosen is None:
            return "Nothing is kept yet. You may also go on without."
        return f"Kept: {self.chosen}. Go on and see."

    def __repr__(self) -> str:
        return f"{self.question} {' / '.join(self.answers)}? {self._kept()}"

    def _repr_mimebundle_(self, **formats: Any) -> dict[str, Any]:
        view = self.form().box._repr_mimebundle_() if page.can_show_widgets() else {}
        # Where nobody can answer, as on a page of a site, the question remains.
        asked = "\n".join([self.question, "", *(f"- {answer}" for answer in self.answers)])
        return {**view, "text/markdown": asked, "text/plain": repr(self)}

    def form(self) -> Form:
        """What JupyterLab shows, the same each time."""
        import ipywidgets

        from kafkalab.notebook.asking import Form

        if self._form is None:
            field = ipywidgets.RadioButtons(
                options=self.answers,
                value=self.chosen,
                layout=ipywidgets.Layout(width="max-content"),
            )
            self._form = Form(self.question, field, self._kept(), lambda: self.keep(field.value))
        return self._form
