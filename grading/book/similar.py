"""Similar answers: a list to look at, never a mark.

What a student was given is taken out first: the code of the lab, and the values that are the
student's own. What two hand-ins then share, and few others have, is counted in short runs of
tokens; names that students chose make no difference, and comments neither.
"""

from __future__ import annotations

import builtins
import hashlib
import io
import itertools
import keyword
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from grading.book.labclass import LabClass, label_of
from grading.define import master
from grading.define.definition import Definition
from grading.keep.store import Store

RUN = 8  # tokens
COMMON = 0.3  # of the class: what so many wrote is the usual way
FEWEST = 6  # people who share something, before it can be usual
SHORTEST = 12  # runs that only some have; less says nothing
LEFT_OUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
            tokenize.ENCODING, tokenize.ENDMARKER}  # fmt: skip
KNOWN = frozenset(dir(builtins)) | frozenset(keyword.kwlist)

Runs = frozenset[int]


@dataclass(frozen=True)
class Pair:
    """Two hand-ins that share much. share: of the smaller one's own runs, from 0 to 1."""

    one: str
    other: str
    share: float
    tasks: tuple[int, ...]
    """In which they share something."""


def similar(lab: Definition, found: LabClass, store: Store, least: float) -> list[Pair]:
    """Pairs of the class, the most alike first."""
    cells = [cell.source for cell in master.blank(lab).cells if cell.cell_type == "code"]
    given = _runs([*cells, "\n".join(cells)])  # also where an answer goes over several cells
    answers: dict[str, dict[int, Runs]] = {}
    for mark in found.marks:
        evidence = store.evidence(mark.record.key)
        if evidence is not None:
            own = {str(value) for value in _leaves(evidence.parameters) if len(str(value)) > 1}
            answers[label_of(mark)] = {
                number: _runs([code], own) - given for number, code in evidence.answers.items()
            }
    return _pairs(answers, least)


def without_names(pairs: Iterable[Pair]) -> list[Pair]:
    """The same with numbers for names, so that the list can be shown to others."""
    numbers: dict[str, str] = {}

    def name(student: str) -> str:
        return numbers.setdefault(student, f"student {len(numbers) + 1}")

    return [replace(pair, one=name(pair.one), other=name(pair.other)) for pair in pairs]


def _pairs(answers: Mapping[str, Mapping[int, Runs]], least: float) -> list[Pair]:
    """Which of these share much that few have."""
    whole = {name: frozenset().union(*tasks.values()) for name, tasks in answers.items()}
    having = Counter(run for runs in whole.values() for run in runs)
    most = max(FEWEST - 1, COMMON * len(whole))
    rare = {name: {run for run in runs if having[run] <= most} for name, runs in whole.items()}
    alike = []
    for one, other in itertools.combinations(sorted(rare), 2):
        shared = rare[one] & rare[other]
        smaller = min(len(rare[one]), len(rare[other]))
        if smaller >= SHORTEST and len(shared) / smaller >= least:
            tasks = tuple(
                number
                for number in sorted(answers[one])
                if shared & answers[one][number] & answers[other].get(number, frozenset())
            )
            alike.append(Pair(one, other, len(shared) / smaller, tasks))
    return sorted(alike, key=lambda pair: (-pair.share, pair.one, pair.other))


def _runs(cells: Iterable[str], own: Iterable[str] = ()) -> Runs:
    """Fingerprints of all runs of tokens. own: values that the student was given."""
    values, runs = frozenset(own), set[int]()
    for cell in cells:
        words = list(_words(cell, values))
        for at in range(len(words) - RUN + 1):
            digest = hashlib.blake2b("\0".join(words[at : at + RUN]).encode(), digest_size=8)
            runs.add(int.from_bytes(digest.digest()))
    return frozenset(runs)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value


def _words(cell: str, own: frozenset[str]) -> Iterator[str]:
    """The tokens of a cell, without what a student chose or was given."""
    is_behind_dot = False
    try:
        for token in tokenize.generate_tokens(io.StringIO(cell).readline):
            if token.type in LEFT_OUT:
                continue
            text = token.string
            if text.strip("\"'") in own:
                yield "given"
            # What stands behind a dot is a word of Kafka's and not the student's.
            elif token.type == tokenize.NAME and not is_behind_dot and text not in KNOWN:
                yield "name"
            else:
                yield text
            is_behind_dot = text == "."
    except (tokenize.TokenError, SyntaxError):
        return  # what stands before the mistake is enough
