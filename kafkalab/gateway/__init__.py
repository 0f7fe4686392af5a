"""A byte forwarder in front of a cluster's listeners: what clients and brokers really say, and a
network that fails on order.

`Cluster.start(…, gateway=True)` puts it there. A client connects to the address that the broker
advertises, which is the gateway's; the gateway hands whole frames on to the broker and back.

What it costs a kafka-python client, by `./course bench gateway` on two cores (medians of
three rounds, gateway / direct): 1.05 of the records/s when producing, 1.01 when consuming, 0.98 of
the milliseconds of a `send().get()`. With `--busy`, where the client's own process computes all
the time: 1.12, 0.93 and 1.16. So the hop costs less than such a measurement varies by.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from kafkalab.errors import CourseError
from kafkalab.gateway import apis, orders, routes
from kafkalab.gateway.faults import CUT, DELAY, DROP, HOLD, THROTTLE
from kafkalab.gateway.routes import CLIENTS, NODES, Route
from kafkalab.gateway.seen import Frame, Frames
from kafkalab.wait import wait_until

__all__ = ["Frame", "Frames", "Gateway", "Route"]


class Gateway:
    """Orders to the gateway of one cluster. Each returns when it has taken effect.

    A fault concerns the connections of clients with every broker, unless `broker`, `api` (a name
    of Kafka's protocol, such as "Produce", or several) or `client_id` say whom. With
    `between="nodes"` it concerns what the nodes of the cluster send to each other.
    """

    def __init__(self, folder: Path, process: subprocess.Popen[bytes] | None = None) -> None:
        self._folder = folder
        self._routes = routes.read(folder)
        self._process = process

    @classmethod
    def start(cls, folder: Path, wanted: Iterable[Route], mark: str) -> Gateway:
        """Run a gateway for the slot with this folder; `mark` is how its clean-up knows it."""
        return cls(folder, orders.start(folder, wanted, mark))

    @property
    def covers_nodes(self) -> bool:
        """Whether the traffic between the nodes passes through as well."""
        return any(route.between == NODES for route in self._routes)

    # --- Faults --------------------------------------------------------------------------------

    def cut(
        self,
        broker: int | None = None,
        *,
        api: str | Iterable[str] | None = None,
        client_id: str | None = None,
        between: str = CLIENTS,
    ) -> None:
        """Reset the connections and refuse new ones.

        With `api` or `client_id` a connection is accepted, and reset at the first such request.
        """
        self._rule(CUT, broker, api, client_id, between)

    def isolate(self, node: int) -> None:
        """Cut a node off from all other nodes, in both directions."""
        self._known(node, NODES)
        self._order("isolate", node=node)

    def heal(self, broker: int | None = None) -> None:
        """Undo what was done to one broker by its number; without a number, undo everything.

        A connection on which an answer was withheld is of no more use, so it is reset.
        """
        self._order("heal", broker=broker)

    def delay(
        self,
        ms: float,
        broker: int | None = None,
        *,
        api: str | Iterable[str] | None = None,
        client_id: str | None = None,
        between: str = CLIENTS,
    ) -> None:
        """Hold each request back for so many milliseconds."""
        self._rule(DELAY, broker, api, client_id, between, amount=ms / 1000)

    def throttle(
        self,
        bytes_per_second: float,
        broker: int | None = None,
        *,
        api: str | Iterable[str] | None = None,
        client_id: str | None = None,
        between: str = CLIENTS,
    ) -> None:
        """Let so much through, to each broker and from it. A frame arrives when all of it has."""
        self._rule(THROTTLE, broker, api, client_id, between, amount=bytes_per_second)

    def half_close(self, broker: int | None = None, *, client_id: str | None = None) -> int:
        """Tell clients that nothing more will come, and still take what they send.

        Concerns the connections that are open now; returns how many those are.
        """
        self._known(broker, CLIENTS)
        (count,) = self._order("half_close", broker=broker, client_id=client_id)
        return count

    def reset(self, broker: int | None = None, *, client_id: str | None = None) -> int:
        """Break the connections that are open now, with all that is on its way through them.

        A request that a delay holds back does not reach its broker. New connections are accepted;
        returns how many were broken.
        """
        self._known(broker, CLIENTS)
        (count,) = self._order("reset", broker=broker, client_id=client_id)
        return count

    def drop_replies(
        self,
        *apis: str,
        count: int = 1,
        broker: int | None = None,
        client_id: str | None = None,
        silent: bool = False,
        after: int = 0,
        between: str = CLIENTS,
    ) -> None:
        """Let the broker get `count` requests and the client never their answers.

        They are the next ones, or those that follow `after` more which are answered.

        The connection is reset in place of the answer, so a client tries again at once. A `silent`
        one stays open without a word, until the client gives up or `heal` resets it.
        """
        self._rule(DROP, broker, apis, client_id, between, amount=count, silent=silent, after=after)

    def hold_requests(
        self,
        *apis: str,
        count: int = 1,
        broker: int | None = None,
        client_id: str | None = None,
        between: str = CLIENTS,
    ) -> None:
        """Keep the next `count` requests here: they left the client and are not at the broker yet.

        Their connections stay open without a word, until the client gives up or `heal` resets
        them. What is held arrives with `release`, and never if `heal` comes first.
        """
        self._rule(HOLD, broker, apis, client_id, between, amount=count)

    def release(self) -> list[Any]:
        """Deliver what was held, however late; the brokers' answers, as kafka-python reads them.

        The clients do not get them: nobody waits for them any more.
        """
        return [apis.answer(*line) for line in self._order("release")]

    # --- Records -------------------------------------------------------------------------------

    def frames(
        self,
        api: str | None = None,
        *,
        broker: int | None = None,
        client_id: str | None = None,
        between: str | None = CLIENTS,
    ) -> Frames:
        """Every request since the start or `clear`, with what became of it, oldest first.

        `between=None` gives those of clients and of nodes. The questions that the views of a
        cluster ask are left out.
        """
        apis.keys(api)
        return Frames(
            frame
            for frame in map(Frame.of, self._order("frames"))
            if api in (None, frame.api)
            and broker in (None, frame.broker)
            and client_id in (None, frame.client_id)
            and between in (None, frame.between)
        )

    def clear(self) -> None:
        """Forget the frames seen so far."""
        self._order("clear")

    def wait_for_request(
        self, api: str, *, client_id: str, count: int = 1, timeout: float = 10
    ) -> None:
        """Until so many of them have come since `clear`, whatever becomes of them."""
        wait_until(
            lambda: len(self.frames(api, client_id=client_id)) >= count,
            timeout=timeout,
            what=f"a {api} request of {client_id}" if count == 1 else f"{count} of {client_id}",
        )

    def wait_for_retries(
        self, client_id: str, brokers: Collection[int], timeout: float = 10
    ) -> None:
        """Until a producer has sent again all that it sent to these brokers since `clear`.

        One that got no answer opens a new connection first. That shows already where the broker
        stands still, and counts.
        """
        silent = set(brokers)

        def retried() -> bool:
            sent: Counter[tuple[int, int]] = Counter()
            again = set()
            for frame in self.frames(client_id=client_id):
                sent.update((frame.broker, batch.checksum) for batch in frame.batches)
                if frame.api == "ApiVersions":
                    again.add(frame.broker)
            once = {broker for (broker, _), times in sent.items() if times == 1}
            silent.clear()
            silent.update(set(brokers) - again - ({broker for broker, _ in sent} - once))
            return not silent

        wait_until(
            retried,
            timeout=timeout,
            what=f"the producer {client_id} to ask again",
            seen=lambda: f"it has not asked {', '.join(map(str, sorted(silent)))} again",
        )

    def close(self) -> None:
        """End its process; only who started it can."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _rule(
        self,
        kind: str,
        broker: int | None,
        api: str | Iterable[str] | None,
        client_id: str | None,
        between: str,
        **more: Any,
    ) -> None:
        self._known(broker, between)
        self._order(
            "rule",
            kind=kind,
            between=between,
            broker=broker,
            apis=apis.keys(api),
            client_id=client_id,
            **more,
        )

    def _known(self, broker: int | None, between: str) -> None:
        """Refuse an order that could have no effect."""
        nodes = sorted({route.node for route in self._routes if route.between == between})
        if not nodes:
            raise CourseError(
                f"The gateway does not carry what {between} send.",
                "With the Docker engine the nodes reach each other over Docker's network.",
            )
        if broker is not None and broker not in nodes:
            raise CourseError(
                f"No listener of node {broker} for {between} is behind the gateway.",
                f"Those of {', '.join(map(str, nodes))} are.",
            )

    def _order(self, do: str, **fields: Any) -> list[Any]:
        return orders.give(self._folder, do, **fields)
