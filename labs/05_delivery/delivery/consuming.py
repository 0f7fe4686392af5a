"""The consumer program: poll, process the whole batch, commit where the options say so.

Processing a record is writing its line into the payload log. Nothing here tidies up when the
program is interrupted, stopped or killed: it ends as a program does that crashes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping

from kafka import ConsumerRebalanceListener, KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.consumer.fetcher import ConsumerRecord
from kafka.errors import IllegalStateError, KafkaError, RetriableError

from delivery import settings
from delivery.options import ConsumerOptions
from delivery.output import Say, Warnings, pause
from delivery.payload import Entry, PayloadLog, path_of

QUIT, CRASH, WAIT = b"quit", b"crash", b"wait"
ENDED_ITSELF = 17
RETRY = 500  # ms between two polls that failed
# ms to wait for an offset. A broker answers in order, and first it holds the fetch before the
# question for up to half a second: with less patience the answer may be missed every time.
PATIENCE = 2_000


class Listener(ConsumerRebalanceListener):
    """Prints what the group gives and takes. Runs on the client's own thread: it may not block."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._owned: set[TopicPartition] = set()
        self.changed = False

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._owned |= set(assigned)
        self._tell("assigned", assigned)

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        self._owned -= set(revoked)
        self._tell("revoked", revoked)

    def on_partitions_lost(self, lost: Iterable[TopicPartition]) -> None:
        """The member was thrown out: others may own its partitions already."""
        self._owned -= set(lost)
        self._tell("lost", lost)

    def _tell(self, what: str, places: Iterable[TopicPartition]) -> None:
        self.changed = True
        self._say(f"{what} {_names(places)}; has {_names(self._owned)}")


class Consumption:
    """One run of the program."""

    def __init__(self, options: ConsumerOptions) -> None:
        self._options = options
        self._say = Say()
        self._warnings = Warnings.listen(self._say)
        path = path_of(options.directory, "consumer", options.local_id)
        self._log = PayloadLog(path, options.payload_trunc)
        self._say(f"opens {path}")
        chosen = settings.for_consumer(options)
        self._consumer = KafkaConsumer(bootstrap_servers=settings.brokers(options), **chosen)
        self._say.settings("consumer settings in force", self._consumer.config)
        self._mode, switched_off = settings.committing(options)
        for line in switched_off:
            self._say(line)
        self._listener = Listener(self._say)
        self._processed = 0
        self._commits = 0
        self._done: dict[TopicPartition, int] = {}
        self._generation = -1
        self._at_end = False

    def run(self) -> int:
        """Until a quit record; the exit status."""
        options = self._options
        self._consumer.subscribe([options.topic], listener=self._listener)
        self._say(
            f"polls for up to {options.max_poll_recs} records or {options.poll_period} ms, "
            f"commits: {self._mode}"
        )
        quitting = False
        while not quitting:
            try:
                polled = self._consumer.poll(timeout_ms=options.poll_period)
            except RetriableError as error:
                # No broker answers; the client looks for one again in the next poll.
                self._say(f"poll failed, tries again: {error!r}")
                pause(RETRY)
                continue
            batch = [record for records in polled.values() for record in records]
            self._tell_membership(polled)
            if not batch:
                self._tell_end()
                continue
            self._at_end = False
            self._say(f"batch of {len(batch)} records")
            pause(options.wait_after_recv)
            quitting = self._process(batch)
            pause(options.wait_after_batch)
            if self._mode == "batch":
                self._commit("ack-after-batch")
        self._say("quit: closes the consumer")
        self._consumer.close()
        self._warnings.total()
        self._say(f"processed {self._processed} records")
        return 0

    def _process(self, batch: list[ConsumerRecord]) -> bool:
        """The whole batch; whether a quit record was in it.

        A quit takes effect after its batch, so nothing is dropped that came with it.
        """
        quitting = False
        for record in batch:
            if record.value == QUIT:
                quitting = True
                continue
            if record.value == CRASH:
                self._say("crash: ends without a good-bye")
                raise RuntimeError("a crash record was read")
            if record.value == WAIT:
                self._say(f"wait: stands still for {self._options.wait_cmd_period} ms")
                pause(self._options.wait_cmd_period)
                self._say("wait: goes on")
                continue
            self._process_one(record)
        if self._options.quiet:
            self._say(f"{self._processed} records processed")
        return quitting

    def _process_one(self, record: ConsumerRecord) -> None:
        entry = Entry.of(record.topic, record.partition, record.key, record.value)
        if not self._options.quiet:
            self._say(f"received {entry}")
        self._log.write(entry)
        self._processed += 1
        self._done[TopicPartition(record.topic, record.partition)] = record.offset + 1
        pause(self._options.wait_after_record)
        every = self._options.ack_every_x_msgs
        if self._mode == "every" and every and self._processed % every == 0:
            self._commit(f"ack-every-x-msgs={every}")

    def _commit(self, why: str) -> None:
        """Commit by hand; a member that was thrown out is refused, says so, and goes on."""
        try:
            if self._options.commit_offsets == "processed":
                owned = self._consumer.assignment()
                done = {
                    place: OffsetAndMetadata(offset, "", -1)
                    for place, offset in self._done.items()
                    if place in owned
                }
                self._consumer.commit(done)
            else:
                # Without arguments it stores the positions: behind all that poll handed over.
                self._consumer.commit()
        except KafkaError as error:
            self._say(f"commit refused after {self._processed} records ({why}): {error!r}")
            return
        self._commits += 1
        self._say(f"committed after {self._processed} records ({why})")
        if self._commits == self._options.crash_after_commits:
            self._say(f"ends itself with status {ENDED_ITSELF}")
            # Not sys.exit(): that would leave time to be orderly.
            os._exit(ENDED_ITSELF)

    def _tell_membership(self, polled: Mapping[TopicPartition, list[ConsumerRecord]]) -> None:
        member = self._consumer.group_metadata()
        if member.generation_id != self._generation and member.generation_id >= 0:
            self._generation = member.generation_id
            static = f", instance {member.group_instance_id}" if member.group_instance_id else ""
            self._say(f"generation {self._generation} as {member.member_id}{static}")
        if self._listener.changed:
            self._listener.changed = False
            self._at_end = False
            self._done = {
                place: offset
                for place, offset in self._done.items()
                if place in self._consumer.assignment()
            }
            try:
                if positions := dict(self._positions()):
                    # Records that came with the partitions have moved the positions already.
                    came = {place: batch[0].offset for place, batch in polled.items() if batch}
                    self._say(f"ready, positions {_offsets(positions | came)}")
            except RetriableError:
                self._listener.changed = True  # asked again after the next poll

    def _positions(self) -> Iterator[tuple[TopicPartition, int]]:
        """Where it reads on; asks for what is not known yet, as a new group has no position."""
        for place in sorted(self._consumer.assignment()):
            # The group may take a partition away between two of these questions.
            with contextlib.suppress(IllegalStateError, KeyError):
                position = self._consumer.position(place, timeout_ms=PATIENCE)
                if position is not None:
                    yield place, position

    def _tell_end(self) -> None:
        """Say once that nothing is left to read."""
        places = self._consumer.assignment()
        if self._at_end or not places:
            return
        try:
            ends = self._consumer.end_offsets(list(places), timeout_ms=PATIENCE)
            positions = dict(self._positions())
        except KafkaError:
            return  # no leader answers: it is not known what is left
        if all(positions.get(place, -1) >= end for place, end in ends.items()):
            self._at_end = True
            self._say(f"nothing left, positions {_offsets(positions)}")


def consume(options: ConsumerOptions) -> int:
    return Consumption(options).run()


def _names(places: Iterable[TopicPartition]) -> str:
    by_topic: dict[str, list[int]] = {}
    for place in sorted(places):
        by_topic.setdefault(place.topic, []).append(place.partition)
    texts = [f"{topic} {', '.join(map(str, numbers))}" for topic, numbers in by_topic.items()]
    return "; ".join(texts) or "nothing"


def _offsets(positions: dict[TopicPartition, int]) -> str:
    return ", ".join(f"{place.topic} {place.partition}: {at}" for place, at in positions.items())
