"""What a watch makes of its looks. A real cluster is watched in tests/kafkalab/cluster."""

from dataclasses import dataclass, field

from kafkalab.evidence.watch import Look, Watch


@dataclass
class Addressed:
    addresses: list[str] = field(default_factory=lambda: ["host:1"])


def test_a_partition_has_moved_when_another_leader_is_named_and_not_when_none_is() -> None:
    watch = Watch(Addressed(), "orders", asked=0)  # type: ignore[arg-type]
    leaders = [(0.0, 0), (1.0, None), (2.0, 0), (3.0, 2)]
    watch.looks = [Look("kill", 100.0, seconds, 0, leader, 0, 2) for seconds, leader in leaders]
    assert watch.until_moved("kill", 0) == 3.0
    watch.looks.pop()
    assert watch.until_moved("kill", 0) is None
    assert watch.until_moved("never", 0) is None
