"""A wait for fewer in-sync replicas ends when the leader shows them, and newer metadata then."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafkalab.cluster import waited, wire
from kafkalab.cluster.views import Configs, ConfigValue
from kafkalab.cluster.waited import Waited

OLD, NEW = [1, 0], [1]
LEADER = "127.0.0.1:9093"


class Told(Waited):
    """Broker 1 leads; what it shows at each look is given, and how new its metadata is then."""

    brokers = (0, 1)

    def __init__(self, minimum: int, looks: list[list[int]]) -> None:
        self._looks = iter(looks)
        self._survey = SimpleNamespace(
            describe_now=self._describe,
            configs=lambda *asked: Configs(
                {"min.insync.replicas": ConfigValue(str(minimum), "DEFAULT_CONFIG")}
            ),
        )

    def _describe(self, topic: str, address: str | None = None) -> Any:
        isr = next(self._looks) if address == LEADER else NEW
        partition = SimpleNamespace(partition_index=0, leader_id=1, isr_nodes=isr)
        return SimpleNamespace(partitions=[partition])

    def _reachable(self) -> Mapping[int, str]:
        return {0: "127.0.0.1:9092", 1: LEADER}

    def _storage(self, broker: int, part: str) -> Path | None:
        return None


@pytest.fixture
def offsets(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What the leader says of its metadata, one after the other; the last of them for ever."""
    told: list[int] = []

    def metadata_offset(address: str) -> int:
        assert address == LEADER
        return told.pop(0) if len(told) > 1 else told[0]

    monkeypatch.setattr(wire, "metadata_offset", metadata_offset)
    return told


@pytest.mark.process
def test_the_wait_ends_when_the_leader_shows_newer_metadata(offsets: list[int]) -> None:
    offsets += [7, 7, 7, 8]
    Told(2, [OLD, OLD, NEW]).wait_for_isr("rides", 1)
    assert offsets == [8]


@pytest.mark.process
def test_without_newer_metadata_it_ends_all_the_same(
    offsets: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waited, "NEWER_METADATA", 0.3)
    offsets += [7]
    Told(2, [NEW]).wait_for_isr("rides", 1)


def test_at_the_minimum_no_leader_is_asked(offsets: list[int]) -> None:
    Told(1, []).wait_for_isr("rides", 1)
    assert offsets == []
