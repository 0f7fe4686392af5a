"""Lesson single_broker: an index, the files of a log over time, checks, and this disk's speed."""

from kafkalab.lessons.single_broker.checks import wait_for_checks
from kafkalab.lessons.single_broker.defaults import AS_IN_KAFKA
from kafkalab.lessons.single_broker.disk import speeds
from kafkalab.lessons.single_broker.files import Looks, files_over_time
from kafkalab.lessons.single_broker.finding import after_problem, jump_problem
from kafkalab.lessons.single_broker.index import index_pairs, ways

__all__ = [
    "AS_IN_KAFKA",
    "Looks",
    "after_problem",
    "files_over_time",
    "index_pairs",
    "jump_problem",
    "speeds",
    "wait_for_checks",
    "ways",
]
