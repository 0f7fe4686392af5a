"""A value of the notebook on its way to a check: evaluated in the kernel, decoded here.

It is evaluated as in `lab.check()`, see grading/judge/plain.py. It travels as JSON in hexadecimal
digits, through the kernel's user expressions and not through what is printed. Nothing of it is
executed on this side, and what compares is ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from grading.lab import no_value

LARGEST = 1_000_000  # bytes
CODE = (
    "__import__('grading.judge.plain', fromlist=['plain']).as_digits("
    "{expression!r}, (lambda: 0).__globals__, {largest})"
)
"""The names of the notebook are taken from a function made there: `globals` may be a student's."""


def code(expression: str) -> str:
    """The expression that the kernel evaluates."""
    return CODE.format(expression=expression, largest=LARGEST)


def decoded(expression: str, found: Mapping[str, Any]) -> Any:
    """The value in the kernel's answer; Unseen where there is none that can be read."""
    if found.get("status") != "ok":
        raise no_value(expression, str(found.get("ename")), str(found.get("evalue")))
    try:
        return json.loads(bytes.fromhex(found["data"]["text/plain"].strip("'")).decode())
    except (KeyError, AttributeError, TypeError, ValueError, RecursionError):
        what = f"nothing that can be read, or more than {LARGEST / 1e6:g} MB"
        raise no_value(expression, "ValueError", what) from None
