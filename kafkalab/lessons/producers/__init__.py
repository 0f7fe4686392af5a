"""Lesson producers: where the time of a send goes."""

from kafkalab.lessons.producers import answers
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

__all__ = ["ID", "LEADERS", "RECORD", "Span", "answers", "clock", "on_the_wire", "spans", "waits"]
