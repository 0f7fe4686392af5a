"""Whatever a name of a notebook or a record holds, a check says a sentence and never breaks.

Each check of a run that went right is asked again without a cluster, with one of the answers that
it got then replaced: a value of the notebook by one of another form, a log by one that nobody
meant, a topic or a group by one that is not there. What would be "not the student's fault" in
grading is found here, and so is a check that passes for nothing.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from grading.define.expression import names_in
from grading.define.seed import Parameters
from grading.judge import checks
from grading.judge.checks import Check, Result, Unseen
from grading.judge.log import Log
from grading.judge.outcome import OURS, Outcome
from grading.judge.plain import as_json
from grading.judge.witness import READ, VALUE, Answers, Question, Transcript, retold
from grading.lab import no_value
from kafkalab.cluster.views import GroupView, TopicView

NOTHING: tuple[Any, ...] = (None, "", [], {}, False, 0)
"""What stands for no answer."""
ODD: tuple[Any, ...] = (
    *(True, -1, 7, 0.5, float("nan"), float("inf"), -float("inf"), 10**30, "7", "text", "\0\ud800"),
    *([None], [[]], [{}], [[None, None]], [[0, -5]], [1, "a", None], ["a", "a"], [-1] * 300),
    *({"a": None}, {"0": {}}, {"-1": [1]}, {"leader": None, "isr": None}, [[[[1]]]]),
    json.loads("[" * 300 + "]" * 300),
)
OBJECTS: tuple[Any, ...] = (
    *(len, dict, object(), b"bytes", bytearray(b"\xff"), {1, "a", None}, {(1, 2): 3}),
    *(range(5), 10**5_000, 1 + 2j, Exception("odd"), (n for n in range(3)), memoryview(b"a")),
)
"""What a name may hold beside that, and JSON does not know."""
FIELDS: tuple[dict[str, Any], ...] = (
    *({"value": v} for v in (None, b"", b"\xff\xfe", b"null", b"[]", b"{}", b"[1]", b"-1", b"NaN")),
    *({"value": v} for v in (b"9" * 5_000, b"[" * 5_000, "\u0663".encode(), b'{"a": [null]}')),
    *({"key": k} for k in (None, b"", b"\xff", b"9" * 5_000)),
    *({"headers": ()}, {"headers": (("number", None), ("row", None), ("worker", None))}),
    {"headers": tuple((name, b"\xff") for name in ("number", "row", "worker", "worker"))},
    {"headers": tuple((name, b"9" * 5_000) for name in ("number", "row", "worker"))},
    *({"partition": 99}, {"offset": -1}, {"timestamp": -1}, {"timestamp": 2**62}),
)
"""What a record may hold beside what was asked for."""
MOST_PARTS = 6
MOST_RECORDS = 500
MOST_QUESTIONS = 3  # of one check about the same names


def weaknesses(
    all_checks: Iterable[Check], transcript: Transcript, p: Parameters, seed: str, every: int = 1
) -> Iterator[str]:
    """One sentence for each check that breaks, falls silent, or passes for another answer.

    every: of so many other answers one is tried, and each check begins at a place of its own.
    """
    for check in all_checks:
        answers = transcript.get(check.id)
        if answers:
            yield from islice(_of_check(check, answers, p, seed, every), 1)


def _of_check(
    check: Check, answers: Answers, p: Parameters, seed: str, every: int
) -> Iterator[str]:
    right = checks.run(check, retold(answers, p, seed, check.id))
    if right.outcome is not Outcome.PASS:
        yield f"{check.id} says of what it saw before: {right.detail or right.messages}"
        return
    first = zlib.crc32(check.id.encode()) % every
    for question, name, other, is_equal in islice(_changes(answers), first, None, every):
        result = checks.run(check, retold({**answers, question: other}, p, seed, check.id))
        if isinstance(other, TopicView) and result.outcome is Outcome.INFRA:
            continue  # a partition that nobody leads is a fault of the cluster, and told as one
        if weakness := _weakness(result, is_equal):
            yield f"{check.id}, where {name} is {_short(other)}, {weakness}"


def _weakness(result: Result, is_equal: bool) -> str:
    if result.outcome in OURS:
        return f"breaks: {result.detail.strip().splitlines()[-1]}"
    if result.outcome is Outcome.PASS:
        return "" if is_equal else "passes"
    return "" if all(result.messages or [""]) else "fails without a word"


def _changes(answers: Answers) -> Iterator[tuple[Question, str, Any, bool]]:
    """A question, what it is about, another answer, and whether a check may take it for right."""
    asked: dict[tuple[str, ...], int] = {}
    for question, right in answers.items():
        kind, *given = question
        if kind == VALUE:
            names = tuple(names_in(given[0]))
            asked[names] = asked.get(names, 0) + 1
            if asked[names] <= MOST_QUESTIONS and not isinstance(right, Unseen):
                yield from ((question, given[0], *change) for change in _values(given[0], right))
        elif kind == READ and isinstance(right, Log):
            yield from ((question, given[0], log, True) for log in _logs(right))
        elif isinstance(right, TopicView):
            yield from ((question, given[0], topic, True) for topic in _topics(right))
        elif isinstance(right, GroupView):
            yield from ((question, given[0], group, True) for group in _groups(right))
        if given:
            yield question, str(given[0]), Unseen(f"there is no {given[0]}"), False


def _values(expression: str, right: Any) -> Iterator[tuple[Any, bool]]:
    for value in (*NOTHING, *ODD):
        yield value, value == right or _may_be_measured(value, right)
    for path in islice(_paths(right), 1, 1 + MOST_PARTS):
        for value in (*NOTHING, *ODD[:8]):
            yield _with(right, path, value), True
    for thing in OBJECTS:
        for held in (thing, lambda *given, thing=thing, **named: thing):
            value = _evaluated(expression, held)
            yield value, value == right


def _may_be_measured(value: Any, right: Any) -> bool:
    """Whether a run of another day could have come to this: a time is never the same twice."""
    return isinstance(right, float) and isinstance(value, float) and 0 < value < math.inf


def _evaluated(expression: str, held: Any) -> Any:
    """What comes of an expression whose names all hold this."""
    try:
        return json.loads(as_json(expression, dict.fromkeys(names_in(expression), held)))
    except Exception as error:
        return no_value(expression, type(error).__name__, str(error))


def _paths(value: Any) -> Iterator[tuple[Any, ...]]:
    """The places in a value: itself, then its first and last parts, and theirs."""
    yield ()
    if not value or not isinstance(value, list | dict):
        return
    places = list(value) if isinstance(value, dict) else range(len(value))
    for place in dict.fromkeys((places[0], places[-1])):
        yield from ((place, *path) for path in _paths(value[place]))


def _with(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    if not path:
        return other
    copied = value.copy()
    copied[path[0]] = _with(value[path[0]], path[1:], other)
    return copied


def _logs(right: Log) -> Iterator[Log]:
    yield Log()
    yield Log(right[: len(right) // 2])
    yield Log([*right, *right])
    yield Log(reversed(right))
    for field in FIELDS:
        odd = [replace(record, **field) for record in right[:MOST_RECORDS]]
        yield Log([*odd, *right[MOST_RECORDS:]])
        yield Log([*odd[:1], *right[1:]])


def _topics(right: TopicView) -> Iterator[TopicView]:
    all_of_them = right.partitions
    yield replace(right, partitions=all_of_them[:1])
    yield replace(right, partitions=[*all_of_them, replace(all_of_them[0], partition=99)])
    silent = [
        replace(one, leader=None, start_offset=None, end_offset=None, isr=[]) for one in all_of_them
    ]
    yield replace(right, partitions=silent)
    yield replace(right, partitions=[replace(one, isr=one.isr[:1]) for one in all_of_them])


def _groups(right: GroupView) -> Iterator[GroupView]:
    yield replace(right, offsets={}, end_offsets={})
    yield replace(right, offsets=dict.fromkeys(right.offsets, -1))
    yield replace(right, members=[])


def _short(thing: Any) -> str:
    text = repr(thing)
    return text if len(text) <= 80 else f"{text[:80]} …"
