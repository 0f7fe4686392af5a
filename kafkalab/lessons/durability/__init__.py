"""Lesson durability: who answers a producer, and what became of the records that were answered."""

from kafkalab.lessons.durability.acknowledgements import IN_WORDS, acknowledgements, sequences
from kafkalab.lessons.durability.choosing import fit_for_payments, may_be_down, same_as
from kafkalab.lessons.durability.fates import fates, outcomes
from kafkalab.lessons.durability.frozen import frozen, wait_for_copies

__all__ = [
    "IN_WORDS",
    "acknowledgements",
    "fates",
    "fit_for_payments",
    "frozen",
    "may_be_down",
    "outcomes",
    "same_as",
    "sequences",
    "wait_for_copies",
]
