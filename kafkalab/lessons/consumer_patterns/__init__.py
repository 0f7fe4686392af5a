"""Lesson consumer_patterns: a slow service, members that hand over, and what is drawn of it."""

from kafkalab.lessons.consumer_patterns.answers import gap_free, rush_first, served
from kafkalab.lessons.consumer_patterns.charging import charge_all
from kafkalab.lessons.consumer_patterns.clerks import Killed, killed
from kafkalab.lessons.consumer_patterns.drawings import lag_by_day, models
from kafkalab.lessons.consumer_patterns.orders import place_orders
from kafkalab.lessons.consumer_patterns.reading import evening, first_poll, lags, read_on
from kafkalab.lessons.consumer_patterns.service import Call, CardService
from kafkalab.lessons.consumer_patterns.threads import threads
from kafkalab.lessons.topics import new_topic

__all__ = [
    "Call",
    "CardService",
    "Killed",
    "charge_all",
    "evening",
    "first_poll",
    "gap_free",
    "killed",
    "lag_by_day",
    "lags",
    "models",
    "new_topic",
    "place_orders",
    "read_on",
    "rush_first",
    "served",
    "threads",
]
