"""What a producer counts about itself, with the names that the lessons rely on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalab import tables

if TYPE_CHECKING:
    from kafka import KafkaProducer

# A broker has these for itself, and the producer for all of them together.
_OF_NODE = {
    "incoming-byte-rate",
    "outgoing-byte-rate",
    "request-latency-avg",
    "request-latency-max",
    "request-rate",
    "request-size-avg",
    "request-size-max",
}
_OF_ALL = _OF_NODE | {
    "batch-size-avg",
    "batch-size-max",
    "compression-rate-avg",
    "record-error-rate",
    "record-queue-time-avg",
    "record-queue-time-max",
    "record-retry-rate",
    "record-send-rate",
    "record-size-avg",
    "record-size-max",
    "records-per-request-avg",
    "requests-in-flight",
}
_OF_TOPIC = {
    "byte-rate",
    "compression-rate",
    "record-error-rate",
    "record-retry-rate",
    "record-send-rate",
}
_GROUPS = {
    "producer-metrics": _OF_ALL,
    "producer-node-metrics": _OF_NODE,
    "producer-topic-metrics": _OF_TOPIC,
}
NAMES = frozenset((group, name) for group, names in _GROUPS.items() for name in names)
COLUMNS = ("group", "name", "value", "description")


@dataclass(frozen=True)
class Number:
    """One metric; `group` also names the broker or the topic, where it is about one."""

    group: str
    name: str
    value: float
    description: str


class Numbers(tuple[Number, ...]):
    """All metrics at one moment, by group and name."""

    @property
    def names(self) -> frozenset[tuple[str, str]]:
        """Each group without the broker or the topic it is about, and each name."""
        return frozenset((one.group.partition(".")[0], one.name) for one in self)

    def _rows(self) -> list[list[object]]:
        return [[one.group, one.name, f"{one.value:,.3g}", one.description] for one in self]

    def __repr__(self) -> str:
        return tables.text(COLUMNS, self._rows())

    def _repr_html_(self) -> str:
        return tables.html("what the producer counts", COLUMNS, self._rows())


def numbers(producer: KafkaProducer) -> Numbers:
    """What the producer counts at this moment."""
    found = producer.metrics(raw=True)
    return Numbers(
        Number(name.group, name.name, metric.value(), name.description)
        for name, metric in sorted(found.items(), key=lambda one: (one[0].group, one[0].name))
        if name.group.startswith("producer-")
    )
