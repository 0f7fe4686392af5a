"""Public checks, which students run at any time; grading/judge/checks.py says how to write one."""

from collections.abc import Iterator

from grading.judge.checks import Finding, check, equal, same
from grading.judge.visible import Visible


@check(1, points=10, title="The topic has its partitions")
def topic_has_its_partitions(x: Visible) -> Iterator[Finding]:
    yield equal("partitions", len(x.kafka.topic(x.p.topic).partitions), x.p.partitions)


@check(2, points=6, title="Every rider was sent once")
def riders_were_sent_once(x: Visible) -> Iterator[Finding]:
    yield same("keys in the topic", x.read(x.p.topic).keys, x.p.riders)
