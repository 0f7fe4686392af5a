"""Lesson batches: what a producer holds, when its batches leave, what settings do to them."""

from kafkalab.lessons.batches import answers
from kafkalab.lessons.batches.complaints import Complaints
from kafkalab.lessons.batches.costs import costs, side_by_side
from kafkalab.lessons.batches.departures import departures
from kafkalab.lessons.batches.kept import codecs, left_of_100
from kafkalab.lessons.batches.pace import each_millisecond, stopwatch, wait_for_receipts
from kafkalab.lessons.batches.parts import inside
from kafkalab.lessons.batches.placed import new_topic
from kafkalab.lessons.batches.prices import quotes
from kafkalab.lessons.batches.room import WithRoom

__all__ = [
    "Complaints",
    "WithRoom",
    "answers",
    "codecs",
    "costs",
    "departures",
    "each_millisecond",
    "inside",
    "left_of_100",
    "new_topic",
    "quotes",
    "side_by_side",
    "stopwatch",
    "wait_for_receipts",
]
