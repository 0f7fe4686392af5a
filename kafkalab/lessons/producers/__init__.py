"""Lesson producers: where the time of a send goes."""

from kafkalab.lessons.producers import answers
from kafkalab.lessons.producers.before import new_topic, used_before
from kafkalab.lessons.producers.clock import (
    ID,
    LEADERS,
    RECORD,
    Span,
    clock,
    on_the_wire,
    spans,
    waits,
)

__all__ = [
    "ID",
    "LEADERS",
    "RECORD",
    "Span",
    "answers",
    "clock",
    "new_topic",
    "on_the_wire",
    "spans",
    "used_before",
    "waits",
]
