"""Lesson durability: what became of records that were sent while something failed."""

from kafkalab.lessons.durability.acknowledgements import acknowledgements
from kafkalab.lessons.durability.fates import ANSWERS, LOG_ENDS, answers, fates, log_ends

__all__ = ["ANSWERS", "LOG_ENDS", "acknowledgements", "answers", "fates", "log_ends"]
