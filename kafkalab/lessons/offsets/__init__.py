"""Lesson offsets: programs that are killed at a chosen point, and what was done twice or never."""

from kafkalab.lessons.offsets.books import Books, Life, Replay, not_these, survive, ten_kills
from kafkalab.lessons.offsets.commits import Commit, commits_of
from kafkalab.lessons.offsets.drawings import by_life, by_point
from kafkalab.lessons.offsets.trials import Desk, Trial

__all__ = [
    "Books",
    "Commit",
    "Desk",
    "Life",
    "Replay",
    "Trial",
    "by_life",
    "by_point",
    "commits_of",
    "not_these",
    "survive",
    "ten_kills",
]
