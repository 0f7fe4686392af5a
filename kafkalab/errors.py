"""The one kind of failure that a learner sees: what happened, why, and what mends it."""


class CourseError(Exception):
    """A failure that a person can mend.

    Notebooks and the command line show its lines and never a traceback. All three parts are whole
    sentences; `mend` names a command where there is one.
    """

    def __init__(self, what: str, why: str = "", mend: str = "") -> None:
        super().__init__(what, why, mend)
        self.what = what
        self.why = why
        self.mend = mend

    def lines(self) -> list[str]:
        """The parts that are not empty, in reading order."""
        return [part for part in (self.what, self.why, self.mend) if part]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _render_traceback_(self) -> list[str]:
        # IPython shows what this returns in place of its own traceback.
        return self.lines()
