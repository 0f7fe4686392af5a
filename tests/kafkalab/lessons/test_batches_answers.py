"""What is said of the exercises of lesson batches; records that trickle, and prices."""

import threading
import time

import pytest
from kafka.errors import KafkaTimeoutError

from kafkalab.lessons import batches


def bound(take):
    """A class as a reader writes it; `take` is what stands in the place of the blank."""

    class Bounded:
        def __init__(self, producer, limit):
            self.producer = producer
            self.room = threading.Semaphore(limit)

        def send(self, topic, value):
            take(self.room)
            return self.producer.send(topic, value=value).add_both(lambda _: self.room.release())

    return Bounded


def right(room):
    if not room.acquire(timeout=0.1):
        raise KafkaTimeoutError


def test_a_bound_that_holds():
    assert batches.answers.bounded(bound(right)) == ""


def test_the_blank_is_no_bound():
    assert "one more was taken" in batches.answers.bounded(bound(lambda room: ...))


def test_a_bound_that_refuses_what_has_room():
    def strict(room):
        raise KafkaTimeoutError

    assert "record 1 is refused" in batches.answers.bounded(bound(strict))


def test_a_bound_that_sends_first():
    class Late:
        def __init__(self, producer, limit):
            self.producer, self.room = producer, threading.Semaphore(limit)

        def send(self, topic, value):
            self.producer.send(topic, value=value)
            right(self.room)

    assert "must not be sent" in batches.answers.bounded(Late)


def test_room_that_is_not_given_back():
    class Greedy:
        def __init__(self, producer, limit):
            self.producer, self.room = producer, threading.Semaphore(limit)

        def send(self, topic, value):
            right(self.room)
            return self.producer.send(topic, value=value)

    assert "not given back" in batches.answers.bounded(Greedy)


@pytest.mark.parametrize(
    ("records", "said"), [(20, ""), (21, ""), (163, "time is up"), (1, "within the linger")]
)
def test_how_many_go_together(records, said):
    problem = batches.answers.together(records)
    assert said in problem
    assert bool(said) == bool(problem)


def test_records_trickle():
    began = time.monotonic()
    assert list(batches.each_millisecond(20)) == list(range(20))
    assert time.monotonic() - began >= 0.019


def test_prices_are_the_same_each_time():
    assert batches.quotes(3) == batches.quotes(5)[:3]
    assert batches.quotes(1)[0].startswith(b'{"dollars": ')
