"""The faults of kafka-python 3.0.12 that the course mends when kafka-python is imported.

    from kafkalab import clients

    clients.MENDS

Each has a test that fails without it. Programs that do not import `kafkalab` have none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kafkalab import tables
from kafkalab.clients import (
    bootstrapping,
    committing,
    decoding,
    joining,
    leaders,
    looking,
    metadata,
    pausing,
    recalling,
    routing,
    sending,
)

UNREPORTED = "Not reported, as far as we know."
ISSUES = "https://github.com/dpkp/kafka-python/issues/"


@dataclass(frozen=True)
class Mend:
    """`fault` says what kafka-python does; `reported` where it can be read, by others too."""

    client: str
    fault: str
    reported: str
    apply: Callable[[], None]

    @property
    def name(self) -> str:
        """What the mend does, out of the name of its function."""
        return self.apply.__name__.replace("_", " ")


class Mends(tuple[Mend, ...]):
    """All of them, shown as a table."""

    def _repr_html_(self) -> str:
        rows = [(mend.client, mend.fault, mend.name, mend.reported) for mend in self]
        head = ("client", "what kafka-python does", "mend", "reported")
        return tables.html("Faults of kafka-python 3.0.12 that the course mends", head, rows)

    def __repr__(self) -> str:
        return "\n".join(f"{mend.client}: {mend.fault} {mend.reported}" for mend in self)


MENDS = Mends(
    [
        Mend(
            "every client",
            "One silent broker among several addresses can use up the whole time of the bootstrap.",
            f"{ISSUES}2284 (closed; 3.0.12 does it again)",
            bootstrapping.ask_each_address,
        ),
        Mend(
            "every client",
            "Where no broker answers, the error does not say which step failed.",
            UNREPORTED,
            bootstrapping.name_the_step_that_failed,
        ),
        Mend(
            "every client",
            "It believes a broker that names an older leader than the one it knows, and fails.",
            UNREPORTED,
            leaders.keep_the_newer_leader,
        ),
        Mend(
            "every client",
            "Its questions for metadata are 100 ms apart, whatever `retry_backoff_ms` says.",
            UNREPORTED,
            metadata.pause_as_told,
        ),
        Mend(
            "producer",
            "While a partition has no leader, it asks for metadata without a pause, on one core.",
            UNREPORTED,
            sending.ask_once,
        ),
        Mend(
            "producer",
            "While a connection is being made, it looks again without a pause, on one core.",
            f"{ISSUES}1907 (closed; 3.0.12 does it again)",
            sending.wait_for_connections,
        ),
        Mend(
            "producer",
            "Metadata that names a leader which is gone is kept for ever, and nothing is sent.",
            UNREPORTED,
            sending.hear_of_changes,
        ),
        Mend(
            "producer",
            "It gives records up that a leader of before calls out of order.",
            UNREPORTED,
            sending.send_again_what_came_out_of_order,
        ),
        Mend(
            "producer",
            "One record that a broker refuses for good makes every later send fail.",
            UNREPORTED,
            sending.go_on_after_a_refusal,
        ),
        Mend(
            "producer",
            "After records have expired, an idempotent producer waits for ever for a producer id.",
            UNREPORTED,
            sending.get_a_new_producer_id,
        ),
        Mend(
            "producer",
            "A broker that freezes while it is asked for a producer id makes every send fail.",
            UNREPORTED,
            sending.ask_another_for_an_id,
        ),
        Mend(
            "consumer",
            "An answer of the group that comes between two polls is dropped, and so is the member.",
            UNREPORTED,
            joining.finish_what_was_begun,
        ),
        Mend(
            "consumer",
            "While it looks for its coordinator, it raises that a dead broker refused it.",
            UNREPORTED,
            looking.ask_again,
        ),
        Mend(
            "consumer",
            "After a deserializer has raised in one poll, the next poll never returns.",
            UNREPORTED,
            decoding.tell_each_time,
        ),
        Mend(
            "consumer",
            "A partition that was paused stands after `resume` if another was read meanwhile.",
            UNREPORTED,
            pausing.take_up_what_was_paused,
        ),
        Mend(
            "consumer",
            "It refuses a commit while five requests are on their way to the coordinator.",
            UNREPORTED,
            committing.wait_for_room,
        ),
        Mend(
            "consumer",
            "It answers with a committed offset that it asked for long ago, before newer commits.",
            UNREPORTED,
            recalling.ask_anew,
        ),
        Mend(
            "admin client",
            "It keeps the broker that it calls the controller, also when that broker is gone.",
            UNREPORTED,
            routing.ask_whoever_is_there,
        ),
    ]
)


def apply() -> None:
    """Put every mend in its place; once, before the first client is made."""
    for mend in MENDS:
        mend.apply()
