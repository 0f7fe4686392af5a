"""Settings that make a lesson quick: waits end within seconds, so that a mistake is soon seen.

    KafkaProducer(bootstrap_servers=cluster.address, acks="all", **quick.producer)

At work leave them out, or choose your own: kafka-python's waits are made for networks that heal.
"""

from __future__ import annotations

from typing import Any

admin: dict[str, Any] = {
    "bootstrap_timeout_ms": 5_000,
    "request_timeout_ms": 5_000,
    "reconnect_backoff_max_ms": 1_000,
}
producer: dict[str, Any] = {**admin, "max_block_ms": 5_000, "delivery_timeout_ms": 10_000}
consumer: dict[str, Any] = {
    **admin,
    "session_timeout_ms": 6_000,
    "heartbeat_interval_ms": 1_000,
    "max_poll_interval_ms": 30_000,
}
