"""The form that a check expects of a value of the notebook, and a sentence where it has another.

A form is written as Python writes types: `int`, `float`, `str`, `bool`, `None`, `list[str]`,
`set[int]`, `tuple[int, int]` (so many, in this order), `dict[str, int]`, `int | None`, `object`
(anything). A dictionary with keys of its own is written as one: `{"leader": int, "isr": list[int]}`
has at least these keys. What comes out is made of plain values of ours, so nothing that a check
does with it can break.
"""

from __future__ import annotations

import math
import reprlib
import types
from collections.abc import Callable, Mapping
from typing import Any, Union, get_args, get_origin

LARGEST = 1e18  # beyond it a number is a slip, and too large for what floats can do


class Misshapen(Exception):
    """The value has another form; the text is for the student."""


def shaped(what: str, value: Any, form: Any) -> Any:
    """`value`, which JSON has made, in the form; Misshapen where it has none.

    A whole number is a float too, and a float without a rest a whole number; True and False are
    neither. JSON makes text of the keys of a dictionary and lists of tuples and sets: that is
    turned back.
    """
    if isinstance(form, Mapping):
        return _with_keys(what, value, form)
    origin, parts = get_origin(form) or form, get_args(form)
    if origin in (types.UnionType, Union):
        return _one_of(what, value, parts, form)
    if origin in _READERS:
        return _READERS[origin](what, value, parts, form)
    raise TypeError(f"no check can ask for {form!r}")


def in_words(form: Any) -> str:
    """What a form is called in a sentence."""
    if isinstance(form, Mapping):
        return f"a dictionary with {_keys(form)}"
    origin, parts = get_origin(form) or form, get_args(form)
    if origin in (types.UnionType, Union):
        return " or ".join(map(in_words, parts))
    if origin is list:
        return f"a list, and in each place {in_words(parts[0])}" if parts else "a list"
    if origin is set:
        return f"a set, of which each is {in_words(parts[0])}"
    if origin is tuple:
        return f"({', '.join(map(in_words, parts))})"
    if origin is dict:
        return f"a dictionary with {in_words(parts[1])} for each key"
    return _NAMES[form]


_NAMES = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "True or False",
    None: "None",
    types.NoneType: "None",
    object: "something",
}


_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring = 3, 60


def _other(what: str, value: Any, form: Any) -> Misshapen:
    return Misshapen(f"{what}: expected {in_words(form)}, saw {_seen(value)}")


def _seen(value: Any) -> str:
    return _SHORT.repr(value)


def _keys(form: Mapping[str, Any]) -> str:
    names = [repr(name) for name in form]
    return f"the key {names[0]}" if len(names) == 1 else f"the keys {', '.join(names)}"


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and not math.isnan(value)
        and abs(value) <= LARGEST
    )


def _whole(what: str, value: Any, parts: tuple[Any, ...], form: Any) -> int:
    if not _is_number(value) or value != int(value):
        raise _other(what, value, form)
    return int(value)


def _number(what: str, value: Any, parts: tuple[Any, ...], form: Any) -> float:
    if not _is_number(value):
        raise _other(what, value, form)
    return float(value)


def _text(what: str, value: Any, parts: tuple[Any, ...], form: Any) -> str:
    if not isinstance(value, str):
        raise _other(what, value, form)
    return value


def _truth(what: str, value: Any, parts: tuple[Any, ...], form: Any) -> bool:
    if not isinstance(value, bool):
        raise _other(what, value, form)
    return value


def _nothing(what: str, value: Any, parts: tuple[Any, ...], form: Any) -> None:
    if value is not None:
        raise _other(what, value, form)


def _anything(what: str, value: Any, parts: tuple[Any, ...], form: Any) -> Any:
    return value


def _list(what: str, value: Any, parts: tuple[Any, ...], form: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _other(what, value, form)
    return [shaped(f"{what}[{at}]", one, parts[0]) for at, one in enumerate(value)]


def _set(what: str, value: Any, parts: tuple[Any, ...], form: Any) -> set[Any]:
    if not isinstance(value, list):
        raise _other(what, value, form)
    return {shaped(f"one of {what}", one, parts[0]) for one in value}


def _row(what: str, value: Any, parts: tuple[Any, ...], form: Any) -> tuple[Any, ...]:
    if not isinstance(value, list) or len(value) != len(parts):
        raise _other(what, value, form)
    pairs = enumerate(zip(value, parts, strict=True))
    return tuple(shaped(f"{what}[{at}]", one, part) for at, (one, part) in pairs)


def _table(what: str, value: Any, parts: tuple[Any, ...], form: Any) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise _other(what, value, form)
    found = {}
    for key, one in value.items():
        if parts[0] is int and not _is_index(key):
            raise Misshapen(f"{what}: expected whole numbers as keys, saw {_seen(key)}")
        name = int(key) if parts[0] is int else key
        found[name] = shaped(f"{what}[{name!r}]", one, parts[1])
    return found


def _is_index(key: str) -> bool:
    return key.removeprefix("-").isdecimal() and len(key) < 18


def _with_keys(what: str, value: Any, form: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _other(what, value, form)
    if lacking := {name: part for name, part in form.items() if name not in value}:
        raise Misshapen(f"{what} lacks {_keys(lacking)}")
    return {name: shaped(f"{what}[{name!r}]", value[name], form[name]) for name in form}


def _one_of(what: str, value: Any, parts: tuple[Any, ...], form: Any) -> Any:
    for part in parts:
        try:
            return shaped(what, value, part)
        except Misshapen:
            continue
    raise _other(what, value, form)


_READERS: dict[Any, Callable[[str, Any, tuple[Any, ...], Any], Any]] = {
    int: _whole,
    float: _number,
    str: _text,
    bool: _truth,
    None: _nothing,
    types.NoneType: _nothing,
    object: _anything,
    list: _list,
    set: _set,
    tuple: _row,
    dict: _table,
}
