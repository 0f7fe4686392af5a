"""Lesson share_groups: films, who developed them and when, and how often each was handed out."""

from kafkalab.lessons.share_groups.bars import (
    deliveries_per_record,
    show_both,
    show_deliveries,
    work_over_time,
)
from kafkalab.lessons.share_groups.classic import (
    again_and_again,
    hire_alone,
)
from kafkalab.lessons.share_groups.crew import (
    Turn,
    answer_to,
    answers,
    by_worker,
    dead,
    hire,
    holder,
    overtakers,
    ready,
    seconds_of,
    settled,
    turns,
    wait_for_films,
)
from kafkalab.lessons.share_groups.developing import (
    develop,
    developed,
    fits,
    spoilt,
)
from kafkalab.lessons.share_groups.kept import (
    agreed,
    states,
    told,
)

__all__ = [
    "Turn",
    "again_and_again",
    "agreed",
    "answer_to",
    "answers",
    "by_worker",
    "dead",
    "deliveries_per_record",
    "develop",
    "developed",
    "fits",
    "hire",
    "hire_alone",
    "holder",
    "overtakers",
    "ready",
    "seconds_of",
    "settled",
    "show_both",
    "show_deliveries",
    "spoilt",
    "states",
    "told",
    "turns",
    "wait_for_films",
    "work_over_time",
]
