"""Whether two spellings are of one name, and which name stands first."""

from __future__ import annotations

import re
import unicodedata

SHORTEST = 3  # letters of a part of a name that says something


def same(one: str, other: str) -> bool:
    """Whether these are one name: order, accents, commas and case do not matter."""
    a, b = _words(one), _words(other)
    if not (a and b):
        return False
    return sorted(a) == sorted(b) or _is_squeezed(a, b) or _is_squeezed(b, a)


def agree(one: str, other: str) -> bool:
    """Whether one may be the other: they share a part, or there is only one of them."""
    a, b = _words(one), _words(other)
    if not (a and b):
        return True
    squeezed = "".join(b)
    return same(one, other) or any(
        word in b or (len(word) >= SHORTEST and len(b) == 1 and word in squeezed) for word in a
    )


def within(part: str, name: str) -> bool:
    """Whether all words of a part are words of the name."""
    words = set(_words(part))
    return bool(words) and words <= set(_words(name))


def in_order(name: str) -> tuple[list[str], str]:
    """A key to sort names by: accents and case do not matter, so Öz stands before Park."""
    return _words(name), name


def _is_squeezed(words: list[str], other: list[str]) -> bool:
    """Canvas writes leeada into names of files, for Ada Lee."""
    turned = (words[at:] + words[:at] for at in range(len(words)))
    return len(other) == 1 and other[0] in {"".join(each) for each in turned}


def _words(name: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(c for c in plain if not unicodedata.combining(c)).replace("ß", "ss")
    return re.findall(r"[^\W_]+", plain)
