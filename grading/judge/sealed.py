"""A right answer that the check which knows it does not tell.

Students have the public checks. A typed answer that one compares with would stand there for all to
read, so its seal stands there instead:

    PROVEN = Sealed("lab01 proven", "2f0d…")
    yield x.value("proven", set[int]) == PROVEN, "proven has a claim that …"

The seal of an answer: `.venv/bin/python -m grading.judge.sealed "lab01 proven" "{1, 3}"`. It keeps
an answer from who reads, not from who tries all; so a point needs more than the answer.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Sealed:
    """Equal to the answer alone. `what` is asked for: one answer has many seals."""

    what: str
    seal: str

    def __eq__(self, answer: object) -> bool:
        return seal(self.what, answer) == self.seal

    __hash__ = None  # type: ignore[assignment]


def sealed(what: str, seals: Mapping[str, str]) -> dict[str, Sealed]:
    """The answers to several questions, each with its seal; what is asked for: "WHAT KEY"."""
    return {key: Sealed(f"{what} {key}", seal) for key, seal in seals.items()}


def seal(what: str, answer: object) -> str:
    """Sixteen digits; of a set in any order the same. "" of what no answer is."""
    try:
        text = json.dumps([what, answer], sort_keys=True, default=sorted)
    except (TypeError, ValueError, RecursionError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    print(seal(sys.argv[1], ast.literal_eval(sys.argv[2])))
