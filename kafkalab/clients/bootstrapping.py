"""A first question that one silent broker does not use up, and an error that says what failed.

kafka-python 3.0.12 draws one of the given addresses by lot and gives it all the time that there is.
A broker that is frozen accepts connections and never answers, so the client does not come to the
others. Where nobody answers, the error names the addresses and no reason.
"""

from __future__ import annotations

import functools
from typing import Any

from kafka.errors import KafkaTimeoutError
from kafka.net.connection import KafkaConnection
from kafka.net.manager import KafkaConnectionManager

from kafkalab.errors import CourseError

# Seconds to find out why nobody answered, once the time for an answer is over.
PATIENCE = 0.5


def ask_each_address() -> None:
    """Each address gets its share of the time, and none is asked twice before all were asked."""
    run, connect = KafkaConnectionManager._do_bootstrap, KafkaConnectionManager.get_connection

    @functools.wraps(run)
    async def _do_bootstrap(self: KafkaConnectionManager, deadline: float | None) -> bool:
        every = self.cluster.bootstrap_brokers

        def least_asked() -> list[Any]:
            brokers = every()
            failures = [self._backoff.get(broker.node_id, (0,))[0] for broker in brokers]
            counted = zip(brokers, failures, strict=True)
            return [broker for broker, count in counted if count == min(failures)]

        self.cluster.bootstrap_brokers = least_asked
        try:
            return await run(self, deadline)
        finally:
            self.cluster.bootstrap_brokers = every

    @functools.wraps(connect)
    def get_connection(
        self: KafkaConnectionManager, node_id: Any, timeout_ms: float | None = None, **how: Any
    ) -> KafkaConnection:
        if timeout_ms is not None and self.cluster.is_bootstrap(node_id):
            timeout_ms /= max(len(self.cluster.bootstrap_brokers()), 1)
        return connect(self, node_id, timeout_ms, **how)

    KafkaConnectionManager._do_bootstrap = _do_bootstrap
    KafkaConnectionManager.get_connection = get_connection


def name_the_step_that_failed() -> None:
    """The error stays kafka-python's own. A note is added to it, from a question of our own."""
    bootstrap = KafkaConnectionManager.bootstrap

    @functools.wraps(bootstrap)
    def and_say_why(self: KafkaConnectionManager, *arguments: Any, **settings: Any) -> None:
        try:
            bootstrap(self, *arguments, **settings)
        except KafkaTimeoutError as error:
            if self.config["security_protocol"] == "PLAINTEXT":
                asked = self.cluster.bootstrap_brokers()
                error.add_note(_why(",".join(f"{one.host}:{one.port}" for one in asked)))
            raise

    KafkaConnectionManager.bootstrap = and_say_why


def _why(addresses: str) -> str:
    from kafkalab.cluster import wire  # it imports kafka, which may be about to be imported

    try:
        return f"A moment later a broker answered at {wire.answering(addresses, PATIENCE)}."
    except CourseError as error:
        return str(error)
