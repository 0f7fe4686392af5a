"""Lesson single_broker: the files of a log over time, retention's checks, and this disk's speed."""

from kafkalab.lessons.single_broker.checks import wait_for_checks
from kafkalab.lessons.single_broker.disk import speeds
from kafkalab.lessons.single_broker.files import Looks, files_over_time
from kafkalab.lessons.single_broker.finding import jump_problem

__all__ = ["Looks", "files_over_time", "jump_problem", "speeds", "wait_for_checks"]
