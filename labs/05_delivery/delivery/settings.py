"""From the options of the programs to the settings of kafka-python's clients."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from delivery.options import ConsumerOptions, Options, ProducerOptions, flag, for_client
from kafkalab.cluster import inventory, wire

MOST_IN_FLIGHT = 5
# kafka-python's own limit for a pause before it connects again is 30 s: a broker that came back
# would be found late, and the outage would look longer than it was.
RECONNECT = 1_000
# How long a producer asks for a topic that nobody knows; kafka-python's own minute is long.
PATIENCE = 10_000

ASSIGNORS = {
    "coop": CooperativeStickyAssignor,
    "range": RangePartitionAssignor,
    "rr": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}


def brokers(options: Options) -> str:
    """Those addresses at which a broker answers.

    Without the option `bootstrap` they are those of the cluster that KAFKALAB_CLUSTER names, or of
    the only one that the course runs on this machine.
    """
    if options.bootstrap:
        address = options.bootstrap
    elif record := os.environ.get("KAFKALAB_CLUSTER"):
        address = ",".join(json.loads(Path(record).read_text("utf-8"))["addresses"].values())
    else:
        address = inventory.choose(by="--bootstrap ADDRESS").address
    return wire.answering(address)


def idempotence(options: ProducerOptions) -> tuple[bool, str]:
    """Whether the producer is idempotent, and why.

    kafka-python has a rule of its own: it turns idempotence off where other settings forbid it, and
    says so in its log. Here the rule stands in the open, and both settings are always passed.
    """
    if options.idempotent is not None:
        return options.idempotent, f"{flag('idempotent')} says so"
    if options.acks != "all":
        return False, f"acks is {options.acks} and not all: a broker cannot recognise repeats"
    if options.max_inflight > MOST_IN_FLIGHT:
        return (
            False,
            f"max-inflight is {options.max_inflight}: a broker remembers the last "
            f"{MOST_IN_FLIGHT} batches of a producer only",
        )
    return True, f"acks is all and max-inflight at most {MOST_IN_FLIGHT}"


def for_producer(options: ProducerOptions) -> dict[str, Any]:
    return for_client(options) | {
        "client_id": _client_id("producer", options),
        "acks": "all" if options.acks == "all" else int(options.acks),
        "enable_idempotence": idempotence(options)[0],
        "reconnect_backoff_max_ms": options.retry_max,
        "max_block_ms": PATIENCE,
    }


def committing(options: ConsumerOptions) -> tuple[str, list[str]]:
    """Which kind of commit acts (`auto`, `every`, `batch`, `never`), and what it switched off."""
    off = []
    by_hand = options.ack_after_batch or options.ack_every_x_msgs is not None
    if by_hand and options.auto_commit:
        off.append("auto-commit is off: this program commits by hand")
    if options.ack_after_batch:
        if options.ack_every_x_msgs is not None:
            off.append("ack-every-x-msgs is off: ack-after-batch goes before it")
        return "batch", off
    if options.ack_every_x_msgs is not None:
        return "every", off
    return ("auto" if options.auto_commit else "never"), off


def for_consumer(options: ConsumerOptions) -> dict[str, Any]:
    return for_client(options) | {
        "client_id": _client_id("consumer", options),
        "enable_auto_commit": committing(options)[0] == "auto",
        # One and no list: eager and cooperative assignors cannot stand beside each other.
        "partition_assignment_strategy": [ASSIGNORS[options.assignment_strategy]],
        "reconnect_backoff_max_ms": RECONNECT,
    }


def _client_id(role: str, options: Options) -> str:
    return role if options.local_id < 0 else f"{role}-{options.local_id}"
