"""What is said of the exercises of lesson batches; records that trickle, and prices."""

import time

import pytest
from kafka.errors import KafkaTimeoutError

from kafkalab.lessons import batches
from kafkalab.wait import wait_until


def bound(take):
    """A class as a reader writes it; `take` is what stands in the place of the blank."""

    class Bounded(batches.WithRoom):
        def send(self, topic, value):
            take(self.room)
            return super().send(topic, value=value)

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
    class Late(batches.WithRoom):
        def send(self, topic, value):
            self.producer.send(topic, value=value)
            right(self.room)

    assert "must not be sent" in batches.answers.bounded(Late)


def test_room_that_is_not_given_back():
    class Greedy(batches.WithRoom):
        def send(self, topic, value):
            right(self.room)
            return self.producer.send(topic, value=value)

    assert "not given back" in batches.answers.bounded(Greedy)


def test_what_never_left_gives_its_room_back():
    class Closed:
        def send(self, topic, **record):
            raise KafkaTimeoutError

    producer = batches.WithRoom(Closed(), limit=1)
    producer.room.acquire()
    with pytest.raises(KafkaTimeoutError):
        producer.send("topic", value=b"")
    assert producer.room.acquire(blocking=False)


@pytest.mark.parametrize(
    ("records", "said"),
    [(16, ""), (16.2, ""), (50, "room for them"), (163, "how many"), (1, "how many")],
)
def test_how_many_go_together(records, said):
    problem = batches.answers.together(records)
    assert said in problem
    assert bool(said) == bool(problem)


def test_records_trickle_and_who_is_late_catches_up():
    began = time.monotonic()
    came = []
    for number in batches.each_millisecond(40):
        came.append((number, time.monotonic() - began))
        if number == 10:
            wait_until(lambda: time.monotonic() >= began + 0.03, timeout=5, what="a late moment")
    assert [number for number, _ in came] == list(range(40))
    assert all(moment >= number / 1000 for number, moment in came), came


def test_a_stopwatch_runs_until_the_answer():
    times = []
    watch = batches.stopwatch(times)
    before = time.monotonic()
    wait_until(lambda: time.monotonic() >= before + 0.01, timeout=5, what="a while")
    watch("a receipt")
    assert 10 <= times[0] < 5_000


def test_the_complaints_of_a_java_program_are_counted():
    said = """org.apache.kafka.common.errors.TimeoutException: Expiring 16 record(s) for t-0: 5 ms
org.apache.kafka.clients.producer.BufferExhaustedException: Failed to allocate 9 bytes. Total: 9
\tat org.apache.kafka.clients.Some.method(Some.java:1)
org.apache.kafka.common.errors.TimeoutException: Expiring 15 record(s) for t-0: 6 ms
Exception in thread "main" java.lang.Error: other"""
    found = batches.Complaints(said)
    assert found == {"TimeoutException": 2, "BufferExhaustedException": 1}
    assert repr(found).splitlines() == [
        "2 x TimeoutException: Expiring 16 record(s) for t-0: 5 ms",
        "1 x BufferExhaustedException: Failed to allocate 9 bytes",
    ]


def test_prices_are_the_same_each_time():
    assert batches.quotes(3) == batches.quotes(5)[:3]
    assert batches.quotes(1)[0].startswith(b'{"dollars": ')
