"""What the brokers keep of a share group: its settings, and the state of each record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkalab.errors import CourseError

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster

FORMATTER = "org.apache.kafka.tools.consumer.group.share.ShareGroupStateMessageFormatter"
STATES = {0: "available", 2: "accepted", 4: "given up"}


def agreed(answer: Mapping[str, Mapping[str, str]]) -> None:
    """An error where brokers refused a change: `alter_configs` of kafka-python returns that."""
    for of_kind in answer.values():
        for name, said in of_kind.items():
            if said != "OK":
                raise CourseError(f"The brokers refuse the settings of {name}.", f"{said}.")


def states(cluster: Cluster, group: str) -> dict[int, tuple[str, int]]:
    """Offset -> state and number of deliveries, as the group's coordinator last wrote them down.

    It reads the log of all share groups with Kafka's own tool, and takes seconds.
    """
    command = "--bootstrap-server {bootstrap} --topic __share_group_state --from-beginning"
    asked = [*command.split(), "--timeout-ms", "4000", "--formatter", FORMATTER]
    return told(cluster.tool("kafka-console-consumer", *asked).stdout, group)


def told(written: str, group: str) -> dict[int, tuple[str, int]]:
    """The same from what the tool printed: objects of JSON, one after the other."""
    found: dict[int, tuple[str, int]] = {}
    decoder, place = json.JSONDecoder(), written.find("{")
    while place >= 0:
        entry, end = decoder.raw_decode(written, place)
        place = written.find("{", end)
        if entry["key"]["data"]["groupId"] != group or not entry["value"]:
            continue
        for batch in entry["value"]["data"]["stateBatches"]:
            state = STATES.get(batch["deliveryState"], str(batch["deliveryState"]))
            for offset in range(batch["firstOffset"], batch["lastOffset"] + 1):
                found[offset] = (state, batch["deliveryCount"])
    return found
