"""The options of both programs: their names, defaults, units and meanings, in one place.

The command line, the helper that starts a program from a notebook, `--print-defaults` and the
settings of kafka-python are all made from these two classes. In Python a name has underscores
(`wait_after_send`), on the command line hyphens (`--wait-after-send`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kafkalab.errors import CourseError

# As many attempts as a 32-bit number can hold: the time limit of a send ends it, not the count.
UNLIMITED = 2_147_483_647
ACKS = ("0", "1", "all")
PARTITIONING = ("key", "round-robin")
ASSIGNORS = ("coop", "range", "rr", "sticky")
RESETS = ("latest", "earliest", "none")
COMMITS = ("position", "processed")


def option(default: Any, unit: str, meaning: str, client: str = "", **more: Any) -> Any:
    """A field of the options; `client` is kafka-python's setting that takes the value as it is."""
    return field(default=default, metadata={"unit": unit, "help": meaning, "client": client} | more)


@dataclass(frozen=True)
class Options:
    """What both programs know."""

    topic: str = option("test-topic", "", "the topic")
    bootstrap: str | None = option(
        None, "host:port,…", "where brokers are found; unset: the course's cluster that runs here"
    )
    directory: str = option(
        "run", "folder", "the payload log lies in producer/ or consumer/ below it"
    )
    local_id: int = option(-1, "number", "suffix of the payload log: payload-N.log; -1: no suffix")
    payload_trunc: bool = option(False, "", "empty the payload log at start, or else append")
    quiet: bool = option(False, "", "summaries in place of a line for each record")

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            value, choices = getattr(self, each.name), each.metadata.get("choices")
            if choices and str(value) not in choices:
                raise CourseError(
                    f"{flag(each.name)} cannot be {value!r}.", f"It is one of {', '.join(choices)}."
                )


@dataclass(frozen=True)
class ProducerOptions(Options):
    num_rolls: int = option(1, "cycles", "how many cycles of sends")
    num_records_per_roll: int = option(100, "records", "records in one cycle")
    wait_after_roll: int = option(5_000, "ms", "pause between two cycles: room for a fault")
    wait_after_send: int = option(0, "ms", "pause after each record")
    partitioning: str = option(
        "key", "", "which partition: by the hash of the key, or in turns", choices=PARTITIONING
    )
    acks: str = option("all", "", "which acknowledgement counts as success", choices=ACKS)
    max_inflight: int = option(
        5, "requests", "unanswered requests per connection", "max_in_flight_requests_per_connection"
    )
    idempotent: bool | None = option(
        None, "", "unset: on if acks is all and max-inflight at most 5, else off"
    )
    batch: int = option(16_384, "bytes", "upper size of a batch", "batch_size")
    linger: int = option(0, "ms", "how long a batch waits for more records", "linger_ms")
    retries: int = option(UNLIMITED, "attempts", "how often a send is repeated", "retries")
    delivery_timeout: int = option(
        120_000,
        "ms",
        "from send to result; at least linger plus request-timeout",
        "delivery_timeout_ms",
    )
    request_timeout: int = option(
        30_000, "ms", "how long a request may stay unanswered", "request_timeout_ms"
    )
    retry_backoff: int = option(100, "ms", "pause before a repeat", "retry_backoff_ms")
    retry_max: int = option(
        1_000, "ms", "longest pause before a repeat; here: before a new connection"
    )


@dataclass(frozen=True)
class ConsumerOptions(Options):
    poll_period: int = option(1_000, "ms", "longest wait in one poll")
    wait_after_recv: int = option(0, "ms", "pause after a batch came, before it is processed")
    wait_after_batch: int = option(0, "ms", "pause after a batch was processed, before its commit")
    wait_after_record: int = option(0, "ms", "pause after each processed record")
    ack_every_x_msgs: int | None = option(
        None, "records", "commit after every x processed records; turns auto-commit off"
    )
    ack_after_batch: bool = option(
        False, "", "commit after each batch; turns auto-commit and ack-every-x-msgs off"
    )
    commit_offsets: str = option(
        "position",
        "",
        "what a commit by hand stores: the position, which lies behind all that poll handed "
        "over, or the offset after the last processed record",
        choices=COMMITS,
    )
    crash_after_commits: int | None = option(
        None, "commits", "end with status 17 right after this many commits by hand"
    )
    wait_cmd_period: int = option(5_000, "ms", "how long a wait record blocks the program")
    group_id: str = option("test-app", "", "the consumer group", "group_id")
    instance_id: str | None = option(None, "", "makes the member static", "group_instance_id")
    auto_commit: bool = option(True, "", "commit from inside poll")
    ac_interval: int = option(5_000, "ms", "how often auto-commit acts", "auto_commit_interval_ms")
    fetch_min_bytes: int = option(
        1, "bytes", "least data that a fetch waits for", "fetch_min_bytes"
    )
    max_poll_recs: int = option(500, "records", "largest batch of one poll", "max_poll_records")
    assignment_strategy: str = option(
        "coop", "", "cooperative-sticky, range, round-robin or sticky", choices=ASSIGNORS
    )
    heartbeat_interval: int = option(
        3_000, "ms", "how often the member reports that it lives", "heartbeat_interval_ms"
    )
    session_timeout: int = option(
        45_000, "ms", "silence after which the member is removed", "session_timeout_ms"
    )
    auto_offset_reset: str = option(
        "latest",
        "",
        "where to start in a partition without a committed offset",
        "auto_offset_reset",
        choices=RESETS,
    )
    max_poll_interval: int = option(
        300_000, "ms", "longest time between polls before the member leaves", "max_poll_interval_ms"
    )


def flag(name: str) -> str:
    """The name as on the command line."""
    return "--" + name.replace("_", "-")


def defaults(kind: type[Options]) -> dict[str, Any]:
    """Every option without its hyphens in front, and its default."""
    return {flag(each.name)[2:]: each.default for each in dataclasses.fields(kind)}


def for_client(options: Options) -> dict[str, Any]:
    """The settings of kafka-python that take an option's value as it is."""
    return {
        each.metadata["client"]: getattr(options, each.name)
        for each in dataclasses.fields(options)
        if each.metadata["client"]
    }


def arguments(kind: type[Options], chosen: dict[str, Any]) -> Iterator[str]:
    """The command line for options that are given in Python."""
    known = {each.name for each in dataclasses.fields(kind)}
    for name, value in chosen.items():
        if name not in known:
            raise CourseError(
                f"There is no option {name!r}.", f"There are {', '.join(sorted(known))}."
            )
        if value is not None:
            yield flag(name)
            yield str(value).lower() if isinstance(value, bool) else str(value)
