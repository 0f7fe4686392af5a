"""What a leader says of its minimum, beside what is told of its in-sync replicas."""

from types import SimpleNamespace
from typing import Any

import pytest
from kafka.record.memory_records import MemoryRecords

from kafkalab.cluster import minimum, wire
from kafkalab.cluster.survey import Survey
from kafkalab.cluster.views import Configs, ConfigValue

ADDRESS = "127.0.0.1:9093"


class Told(Survey):
    """Broker 1 is in reach, and the topic has this minimum."""

    def __init__(self, least: int) -> None:
        super().__init__(lambda: {1: ADDRESS})
        self.least = least

    def configs(self, kind: int, name: str) -> Configs:
        return Configs({"min.insync.replicas": ConfigValue(str(self.least), "DEFAULT_CONFIG")})


def partitions(*isrs: list[int], leader: int = 1) -> dict[int, Any]:
    return {
        number: SimpleNamespace(leader_id=leader, isr_nodes=isr, replica_nodes=[1, 0])
        for number, isr in enumerate(isrs)
    }


@pytest.mark.parametrize(
    ("isr", "least", "refused", "acts"),
    [
        ([1], 2, True, True),
        ([1], 2, False, False),  # it still counts the one that is gone
        ([1, 0], 2, False, True),
        ([1, 0], 2, True, False),  # it does not count yet the one that is back
        ([1, 0], 3, False, True),  # a minimum is never more than the copies
        ([1], 3, True, True),
    ],
)
def test_a_leader_acts_where_it_refuses_as_its_in_sync_replicas_say(
    monkeypatch: pytest.MonkeyPatch, isr: list[int], least: int, refused: bool, acts: bool
) -> None:
    monkeypatch.setattr(minimum, "refuses", lambda *asked: {0: refused})
    idle = Told(least).idle_leader("rides", partitions(isr))
    assert idle == ("" if acts else "leader 1 of partition 0 does not act on it yet")


def test_each_leader_is_asked_once_about_all_that_it_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def refuses(address: str, topic: str, numbers: dict[int, Any]) -> dict[int, bool]:
        asked.append((address, topic, list(numbers)))
        return dict.fromkeys(numbers, True)

    monkeypatch.setattr(minimum, "refuses", refuses)
    assert Told(2).idle_leader("rides", partitions([1], [1])) == ""
    assert asked == [(ADDRESS, "rides", [0, 1])]


@pytest.mark.parametrize(("least", "leader"), [(1, 1), (2, 0), (2, -1)])
def test_nobody_is_asked_where_the_minimum_is_one_or_the_leader_out_of_reach(
    monkeypatch: pytest.MonkeyPatch, least: int, leader: int
) -> None:
    monkeypatch.setattr(minimum, "refuses", lambda *asked: pytest.fail("asked"))
    assert Told(least).idle_leader("rides", partitions([1], leader=leader)) == ""


@pytest.mark.parametrize("why", [wire.NoConnection("cut"), ConnectionResetError(), EOFError()])
def test_a_leader_that_is_cut_off_from_its_clients_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, why: Exception
) -> None:
    def refuses(*asked: object) -> dict[int, bool]:
        raise why

    monkeypatch.setattr(minimum, "refuses", refuses)
    assert Told(2).idle_leader("rides", partitions([1])) == ""


def test_the_batch_is_one_that_no_broker_takes() -> None:
    batch = MemoryRecords(minimum._spoilt()).next_batch()
    assert not batch.validate_crc()
