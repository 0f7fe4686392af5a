"""What a cell shows that ends in `admin.create_topics(…)`: a line for each topic.

The answer of the brokers holds some thirty settings of each topic, and a notebook would show them
all. It stays the dict that it is: only how a notebook displays it is short.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.lib.pretty import PrettyPrinter


class Created(dict[str, Any]):
    """The answer of `create_topics`; `dict(answer)` and `print` show all of it."""

    def _repr_pretty_(self, printer: PrettyPrinter, cycle: bool) -> None:
        printer.text("\n".join(map(_line, self.get("topics", []))))


def show_short() -> None:
    """Let `create_topics` answer with one; called once, when kafka-python is imported."""
    from kafka import KafkaAdminClient

    ask = KafkaAdminClient.create_topics

    @functools.wraps(ask)
    def create_topics(self: Any, *arguments: Any, **settings: Any) -> Created:
        return Created(ask(self, *arguments, **settings))

    KafkaAdminClient.create_topics = create_topics


def _line(topic: dict[str, Any]) -> str:
    name = topic["name"]
    if topic["error_code"]:
        return f"{name}: not created, {topic['error_message'] or 'error'} ({topic['error_code']})"
    partitions, copies = topic["num_partitions"], topic["replication_factor"]
    return (
        f"{name}: created with {partitions} partition{'s' * (partitions != 1)}, "
        f"{copies} cop{'y' if copies == 1 else 'ies'} of each"
    )
