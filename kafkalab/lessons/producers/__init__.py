"""Lesson producers: what a producer holds and counts, and when its batches leave."""

from kafkalab.lessons.producers.departures import departures
from kafkalab.lessons.producers.parts import inside
from kafkalab.lessons.producers.settings import settings_grids

__all__ = ["departures", "inside", "settings_grids"]
