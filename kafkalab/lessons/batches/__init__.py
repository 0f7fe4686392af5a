"""Lesson batches: what a producer holds, when its batches leave, what settings do to them."""

from kafkalab.lessons.batches import answers
from kafkalab.lessons.batches.departures import departures
from kafkalab.lessons.batches.pace import each_millisecond
from kafkalab.lessons.batches.parts import inside
from kafkalab.lessons.batches.prices import quotes
from kafkalab.lessons.batches.settings import settings_grids

__all__ = ["answers", "departures", "each_millisecond", "inside", "quotes", "settings_grids"]
