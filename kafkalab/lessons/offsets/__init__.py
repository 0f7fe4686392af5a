"""Lesson offsets: programs that are killed at a chosen point, and what was done twice or never."""

from kafkalab.lessons.offsets.books import (
    TABLES,
    Books,
    Life,
    Replay,
    book_up_to,
    not_these,
    survive,
    ten_kills,
)
from kafkalab.lessons.offsets.commits import StoredCommit, commits_of
from kafkalab.lessons.offsets.drawings import by_life, by_point
from kafkalab.lessons.offsets.trials import Desk, Fate

__all__ = [
    "TABLES",
    "Books",
    "Desk",
    "Fate",
    "Life",
    "Replay",
    "StoredCommit",
    "book_up_to",
    "by_life",
    "by_point",
    "commits_of",
    "not_these",
    "survive",
    "ten_kills",
]
