"""The table of submitters that Gradescope puts beside the folders of an export."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import yaml

from grading.handin.names import Who, shown

METADATA = "submission_metadata.yml"


@dataclass(frozen=True)
class Submitter:
    """Who handed in a folder of the export, with whom, and when."""

    who: Who
    together: tuple[str, ...]
    when: datetime.datetime | None


def submitters(data: bytes) -> dict[str, Submitter]:
    """Folder -> who handed it in; what cannot be read is nobody."""
    try:
        table = yaml.safe_load(data)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError):
        return {}
    found = {}
    for folder, entry in (table if isinstance(table, dict) else {}).items():
        people = [p for p in _list(entry, ":submitters") if isinstance(p, dict)]
        if not people:
            continue
        first = people[0]
        name = shown(str(first.get(":name") or first.get(":email") or folder))
        sid, email = str(first.get(":sid") or ""), str(first.get(":email") or "")
        number = sid or email or str(folder).removeprefix("submission_")
        when = entry.get(":created_at")
        found[str(folder)] = Submitter(
            Who(name, number, email),
            tuple(shown(str(other.get(":name"))) for other in people[1:]),
            when if isinstance(when, datetime.datetime) else None,
        )
    return found


def _list(entry: Any, name: str) -> list[Any]:
    value = entry.get(name) if isinstance(entry, dict) else None
    return value if isinstance(value, list) else []
