"""What is wrong with the network at the moment: rules, and whom each concerns. No input, no output.

Times are seconds of one clock that the caller chooses.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkalab.gateway.framing import Request
from kafkalab.gateway.routes import NODES, Route

CUT, DELAY, THROTTLE, DROP, HOLD = "cut", "delay", "throttle", "drop", "hold"
# The course's own questions about a cluster (kafkalab.wire) are neither slowed nor recorded.
OWN = "kafkalab"


@dataclass
class Rule:
    """One fault. What is None concerns all.

    `amount`: seconds of a delay, bytes per second of a throttle, answers left to drop, requests
    left to hold.
    """

    kind: str
    between: str
    broker: int | None = None
    apis: list[int] | None = None
    client_id: str | None = None
    amount: float = 0
    silent: bool = False
    after: int = 0  # so many answers pass before the first is dropped
    # Throttle: when each direction of each broker has sent what it was given.
    _free: dict[tuple[int, str], float] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether it concerns a listener with everything that comes in."""
        return self.apis is None and self.client_id is None

    def concerns(self, route: Route) -> bool:
        """Whether this rule is about such a connection."""
        return self.between == route.between and self.broker in (None, route.node)

    def fits(self, route: Route, request: Request) -> bool:
        """Whether this rule is about such a request."""
        return (
            self.concerns(route)
            and self.client_id in (None, request.client_id)
            and (self.apis is None or request.api in self.apis)
        )

    def passes(self, now: float, route: Route, direction: str, size: int) -> float:
        """When a frame has made its way through a line of so many bytes per second."""
        key = (route.node, direction)
        self._free[key] = max(self._free.get(key, now), now) + size / self.amount
        return self._free[key]


class Faults:
    """All rules in force, and the nodes that are cut off from the others."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.isolated: set[int] = set()

    def closed(self, route: Route) -> bool:
        """Whether nobody may connect."""
        if route.between == NODES and route.node in self.isolated:
            return True
        return any(r.kind == CUT and r.whole and r.concerns(route) for r in self.rules)

    def forbids(self, route: Route, source: int | None, request: Request) -> bool:
        """Whether a request ends its connection instead of reaching the broker."""
        if self.closed(route) or (route.between == NODES and source in self.isolated):
            return True
        return any(r.kind == CUT and r.fits(route, request) for r in self.rules)

    def due(self, now: float, route: Route, direction: str, request: Request, size: int) -> float:
        """When a frame may be handed on. A delay lies on the requests alone."""
        due = now
        if request.client_id == OWN:
            return due
        for rule in self.rules:
            if not rule.fits(route, request):
                continue
            if rule.kind == DELAY and direction == "request":
                due = max(due, now + rule.amount)
            elif rule.kind == THROTTLE:
                due = max(due, rule.passes(now, route, direction, size))
        return due

    def drops(self, route: Route, request: Request) -> Rule | None:
        """The rule by which this answer does not reach its client; it counts."""
        return self._counts(DROP, route, request)

    def holds(self, route: Route, request: Request) -> Rule | None:
        """The rule by which this request does not reach its broker yet; it counts."""
        return self._counts(HOLD, route, request)

    def _counts(self, kind: str, route: Route, request: Request) -> Rule | None:
        if request.client_id == OWN:
            return None
        for rule in self.rules:
            if rule.kind != kind or rule.amount <= 0 or not rule.fits(route, request):
                continue
            if rule.after > 0:
                rule.after -= 1
                continue
            rule.amount -= 1
            return rule
        return None

    def heal(self, broker: int | None) -> None:
        """Forget what is wrong with one broker, or everything."""
        if broker is None:
            self.rules.clear()
            self.isolated.clear()
        else:
            self.rules = [rule for rule in self.rules if rule.broker != broker]
            self.isolated.discard(broker)
