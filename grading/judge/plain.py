"""A value of the notebook on its way to JSON: plain, and not without end. Runs in its kernel.

What a name holds may be anything, also a collection that never ends, or one of which each part
holds more. So it is copied by counted steps, and what is too large is told in a sentence.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Collection, Iterator, Mapping
from itertools import count
from typing import Any

MOST = 200_000  # parts in all: more do not fit into what a value may be large anyway
DEEPEST = 200


def as_json(expression: str, names: Mapping[str, Any]) -> str:
    """What a check asks of a notebook, evaluated among its names.

    Where the expression says `list` or `len` it means Python's, whatever the notebook calls so.
    """
    return json.dumps(plain(eval(expression, {**names, **vars(builtins)}), count(1)))


def as_digits(expression: str, names: Mapping[str, Any], largest: int) -> str:
    """The same as hexadecimal digits, cut after so many bytes, for the way out of the kernel."""
    return as_json(expression, names).encode()[:largest].hex()


def plain(thing: Any, steps: Iterator[int], depth: int = 0) -> Any:
    """Numbers, text, lists and tables; of numpy and its like what they make of themselves."""
    if next(steps) > MOST:
        raise ValueError(f"it has more than {MOST:,} parts, or no end")
    if depth > DEEPEST:
        raise ValueError(f"it is nested more than {DEEPEST} levels deep, or holds itself")
    if thing is None or isinstance(thing, str | int | float):
        return thing
    if hasattr(thing, "tolist"):
        return plain(thing.tolist(), steps, depth + 1)
    if isinstance(thing, Mapping):
        return {key: plain(one, steps, depth + 1) for key, one in thing.items()}
    if isinstance(thing, Collection) and not isinstance(thing, bytes | bytearray | memoryview):
        return [plain(one, steps, depth + 1) for one in thing]
    raise TypeError(f"a {type(thing).__name__} is no number, text, list or table")
