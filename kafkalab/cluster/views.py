"""What a cluster looked like at one moment: topics, groups, the quorum, settings.

Plain records with a readable form. They do not change when the cluster does; ask again for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kafkalab import tables
from kafkalab.errors import CourseError

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class ConfigValue:
    """A setting and where its value comes from, in Kafka's words (`DEFAULT_CONFIG`, …)."""

    value: str | None
    source: str

    def __str__(self) -> str:
        return f"{self.value} ({self.source})"


class Configs(dict[str, ConfigValue]):
    """Every setting by name; shows those that somebody has set."""

    @property
    def chosen(self) -> Configs:
        """Without the values that nobody has set."""
        return Configs({k: v for k, v in self.items() if v.source != "DEFAULT_CONFIG"})

    def __repr__(self) -> str:
        return tables.text(*self._table()) + f"\n{self._rest()}"

    def _repr_html_(self) -> str:
        return tables.html(self._rest(), *self._table())

    def _table(self) -> tuple[Sequence[str], list[tuple[object, ...]]]:
        rows: list[tuple[object, ...]] = [
            (name, c.value, c.source) for name, c in sorted(self.chosen.items())
        ]
        return ("setting", "value", "source"), rows

    def _rest(self) -> str:
        return f"{len(self.chosen)} of {len(self)} settings have a chosen value"


@dataclass(frozen=True)
class PartitionView:
    """`leader` is None while there is none. Offsets are None while no leader tells them.

    `end_offset` is the high watermark: what a consumer can read ends before it.
    """

    partition: int
    leader: int | None
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    elr: list[int]
    last_known_elr: list[int]
    start_offset: int | None
    end_offset: int | None

    @property
    def records(self) -> int | None:
        """Offsets between start and end; with compaction or transactions more than records."""
        if self.start_offset is None or self.end_offset is None:
            return None
        return self.end_offset - self.start_offset


@dataclass(frozen=True)
class TopicView:
    """A topic as it was asked for; `id` is new where a topic of this name was made again."""

    name: str
    id: str
    partitions: list[PartitionView]
    configs: Configs = field(repr=False)

    @property
    def records(self) -> int:
        """All partitions together. A partition without a living leader makes this an error."""
        silent = [p.partition for p in self.partitions if p.records is None]
        if silent:
            raise CourseError(
                f"Nobody can say how many records {self.name} holds.",
                f"No leader answers for partition {tables.show(silent)}.",
            )
        return sum(p.records or 0 for p in self.partitions)

    def to_pandas(self) -> pandas.DataFrame:
        """One row per partition."""
        import pandas

        return pandas.DataFrame([vars(partition) for partition in self.partitions])

    def __repr__(self) -> str:
        return f"{self._caption()}\n{tables.text(*self._table())}"

    def _repr_html_(self) -> str:
        return tables.html(self._caption(), *self._table())

    def _caption(self) -> str:
        chosen = {n: c.value for n, c in self.configs.items() if "TOPIC" in c.source}
        settings = ", ".join(f"{name}={value}" for name, value in sorted(chosen.items()))
        return f"topic {self.name}" + (f" ({settings})" if settings else "")

    def _table(self) -> tuple[Sequence[str], list[tuple[object, ...]]]:
        columns = ["partition", "leader", "epoch", "replicas", "in sync", "start", "end"]
        rows: list[tuple[object, ...]] = [
            (p.partition, p.leader, p.leader_epoch, p.replicas, p.isr, p.start_offset, p.end_offset)
            for p in self.partitions
        ]
        # Eligible leaders matter only when the in-sync replicas are few, so they show only then.
        if any(p.elr or p.last_known_elr for p in self.partitions):
            columns += ["eligible", "last known"]
            rows = [
                (*row, p.elr, p.last_known_elr)
                for row, p in zip(rows, self.partitions, strict=True)
            ]
        return columns, rows


@dataclass(frozen=True)
class MemberView:
    """`instance` is the static id, None without one; `assignment` is topic -> partitions."""

    id: str
    client: str
    instance: str | None
    assignment: dict[str, list[int]]


@dataclass(frozen=True)
class GroupView:
    """A group that nobody ever joined, or that was deleted, has the state DEAD."""

    name: str
    state: str
    type: str
    protocol: str
    coordinator: int | None
    members: list[MemberView]
    offsets: dict[tuple[str, int], int]
    end_offsets: dict[tuple[str, int], int | None] = field(repr=False)

    @property
    def lag(self) -> dict[tuple[str, int], int | None]:
        """Records behind each committed offset; None while no leader tells the end."""
        return {
            place: None if (end := self.end_offsets.get(place)) is None else end - committed
            for place, committed in self.offsets.items()
        }

    @property
    def total_lag(self) -> int:
        """The sum over those partitions of which it is known."""
        return sum(lag or 0 for lag in self.lag.values())

    def __repr__(self) -> str:
        return f"{self._caption()}\n{tables.text(*self._table())}"

    def _repr_html_(self) -> str:
        return tables.html(self._caption(), *self._table())

    def _caption(self) -> str:
        count = f"{len(self.members)} member{'' if len(self.members) == 1 else 's'}"
        how = f", {self.protocol}" if self.protocol else ""
        where = "" if self.coordinator is None else f", coordinator {self.coordinator}"
        return f"group {self.name}: {self.state}, {count}{how}{where}"

    def _table(self) -> tuple[Sequence[str], list[tuple[object, ...]]]:
        owners = {
            (topic, partition): member.client
            for member in self.members
            for topic, partitions in member.assignment.items()
            for partition in partitions
        }
        rows: list[tuple[object, ...]] = [
            (
                topic,
                partition,
                self.offsets.get((topic, partition)),
                self.end_offsets.get((topic, partition)),
                self.lag.get((topic, partition)),
                owners.get((topic, partition)),
            )
            for topic, partition in sorted({*owners, *self.offsets})
        ]
        return ("topic", "partition", "committed", "end", "lag", "member"), rows


@dataclass(frozen=True)
class ReplicaView:
    """A copy of the metadata log. `lag` counts records behind the leader's end."""

    node: int
    log_end_offset: int
    lag: int


@dataclass(frozen=True)
class QuorumView:
    """Who keeps the cluster's metadata: voters are controllers, observers are brokers."""

    leader: int | None
    epoch: int
    high_watermark: int
    voters: list[ReplicaView]
    observers: list[ReplicaView]

    def __repr__(self) -> str:
        return f"{self._caption()}\n{tables.text(*self._table())}"

    def _repr_html_(self) -> str:
        return tables.html(self._caption(), *self._table())

    def _caption(self) -> str:
        return (
            f"quorum: leader {tables.show(self.leader)}, epoch {self.epoch}, "
            f"high watermark {self.high_watermark:,}"
        )

    def _table(self) -> tuple[Sequence[str], list[tuple[object, ...]]]:
        rows: list[tuple[object, ...]] = [
            (replica.node, role, replica.log_end_offset, replica.lag)
            for role, replicas in (("voter", self.voters), ("observer", self.observers))
            for replica in replicas
        ]
        return ("node", "role", "log end", "lag"), rows
