"""What a check answers, and how checks are asked one after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from kafkalab.errors import CourseError

# What mends a failure that nobody foresaw.
AGAIN = "Mend what is bad above. Is nothing? Install the course's packages again: ./course setup"

Level = Literal["good", "note", "bad", "untried"]


@dataclass(frozen=True)
class Diagnosis:
    """`bad` keeps lessons from running, `note` may matter, `good` is as it should be.

    `untried` says what this course has not been tried on: a fact about it, not about the machine.
    """

    subject: str
    level: Level
    seen: str
    why: str = ""
    mend: str = ""


Check = Callable[[], Diagnosis]


def ask(checks: Iterable[Check]) -> Iterator[Diagnosis]:
    """Every diagnosis, one after the other. A check that fails itself ends nothing."""
    for check in checks:
        subject = check.__name__.replace("_", " ")
        try:
            yield check()
        except CourseError as error:
            yield Diagnosis(subject, "bad", error.what, error.why, error.mend)
        except Exception as error:
            # Whatever it is, the other checks may still find the cause of it.
            yield Diagnosis(
                subject, "note", f"could not be looked at: {type(error).__name__}: {error}"
            )


def as_json(diagnoses: Iterable[Diagnosis]) -> str:
    """For a report: a list of objects with the fields of a Diagnosis."""
    return json.dumps([vars(diagnosis) for diagnosis in diagnoses], indent=1)
