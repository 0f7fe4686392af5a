"""The producer program: numbered records with sayings, and a log of those that were acknowledged.

The log is written in the callback of a send, when the partition is known, and for a success only.
With acks=0 success says no more than that the bytes were handed to the socket.
"""

from __future__ import annotations

import threading
from collections import Counter
from functools import partial

from kafka import KafkaProducer
from kafka.errors import KafkaTimeoutError
from kafka.producer.future import FutureRecordMetadata, RecordMetadata

from delivery import settings
from delivery.options import ProducerOptions
from delivery.output import Say, Warnings, pause
from delivery.payload import Entry, PayloadLog, path_of
from delivery.sayings import saying
from kafkalab.errors import CourseError

SOME_FAILED = 3
EVERY = 10_000  # records for each line of a quiet run


def produce(options: ProducerOptions) -> int:
    """Run to the end; the exit status: 0 if every record was acknowledged, else 3."""
    say = Say()
    warnings = Warnings.listen(say)
    sends = Sends(options, say)
    chosen = settings.for_producer(options)
    producer = KafkaProducer(bootstrap_servers=settings.brokers(options), **chosen)
    # kafka-python keeps "all" as the number that goes over the wire.
    say.settings("producer settings in force", producer.config | {"acks": chosen["acks"]})
    on, why = settings.idempotence(options)
    say(f"idempotence is {'on' if on else 'off'}: {why}")
    say(
        f"retry-max has no effect on repeats: this client pauses for {options.retry_backoff} ms "
        "before each; it limits the pause before a new connection"
    )
    size, rolls = options.num_records_per_roll, options.num_rolls
    say(f"sends {size} records to {options.topic} in each of {rolls} cycles")
    # Asked before the first send: a cluster that creates topics by itself does so now.
    try:
        places = len(producer.partitions_for(options.topic))
    except KafkaTimeoutError as error:
        raise CourseError(
            f"There is no topic {options.topic}.",
            "The brokers do not know it, and this cluster does not create one by itself.",
            "Create it first, or name another with --topic.",
        ) from error
    for number in range(rolls * size):
        if number % size == 0:
            if number:
                pause(options.wait_after_roll)
            say(f"cycle {number // size + 1} of {rolls}")
        key, value = str(number).encode(), saying(number).encode()
        place = number % places if options.partitioning == "round-robin" else None
        future = producer.send(options.topic, key=key, value=value, partition=place)
        sends.follow(future, key, value)
        pause(options.wait_after_send)
    producer.flush()
    producer.close()
    warnings.total()
    return sends.total()


class Sends:
    """What became of the sends. Its methods run on the producer's network thread."""

    def __init__(self, options: ProducerOptions, say: Say) -> None:
        self._quiet, self._say = options.quiet, say
        # flush() returns when the futures are done, which is before their callbacks have run.
        self._answered = threading.Condition()
        self._sent = 0
        self._acknowledged = 0
        self._failed: Counter[str] = Counter()
        places = (
            path_of(options.directory, "producer", options.local_id, kind)
            for kind in ("payload", "failed")
        )
        self._log, self._failures = (PayloadLog(path, options.payload_trunc) for path in places)
        for log in (self._log, self._failures):
            say(f"opens {log.path}")

    def follow(self, future: FutureRecordMetadata, key: bytes, value: bytes) -> None:
        self._sent += 1
        # The only place where a send that fails tells which partition it was meant for.
        topic, partition = future._produce_future.topic_partition
        future.add_callback(partial(self._succeeded, key, value))
        future.add_errback(partial(self._failed_with, Entry.of(topic, partition, key, value)))

    def _succeeded(self, key: bytes, value: bytes, metadata: RecordMetadata) -> None:
        entry = Entry.of(metadata.topic, metadata.partition, key, value)
        self._log.write(entry)
        with self._answered:
            self._acknowledged += 1
            count = self._acknowledged
            self._answered.notify_all()
        if not self._quiet:
            self._say(f"acknowledged {entry}")
        elif count % EVERY == 0:
            self._say(f"{count} records acknowledged")

    def _failed_with(self, entry: Entry, error: BaseException) -> None:
        self._failures.write(entry)
        with self._answered:
            self._failed[type(error).__name__] += 1
            self._answered.notify_all()
        if not self._quiet:
            self._say(f"failed {entry.topic},{entry.partition},{entry.key}: {error!r}")

    def total(self) -> int:
        """Print the counts; the exit status."""
        with self._answered:
            self._answered.wait_for(self._is_complete, timeout=10)
            failures = ", ".join(f"{count} {name}" for name, count in self._failed.items())
            self._say(
                f"acknowledged {self._acknowledged}, failed {self._failed.total()}"
                + (f" ({failures})" if failures else "")
            )
            return 0 if self._acknowledged == self._sent else SOME_FAILED

    def _is_complete(self) -> bool:
        return self._acknowledged + self._failed.total() == self._sent
