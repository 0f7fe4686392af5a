"""A cluster as its metadata sees it: controllers, brokers, a client that asks one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from kafkalab.diagrams.canvas import ADDED, GIVEN
from kafkalab.diagrams.plan import Arrow, plan

if TYPE_CHECKING:
    from kafkalab.views import QuorumView


def controllers(quorum: QuorumView, addresses: dict[int, str], asked: int | None = None) -> Axes:
    """Who keeps the metadata log and who follows it, with the offset that each has reached.

    `addresses` are those of the brokers, as `cluster.addresses` gives them; `asked` is the broker
    whose address a client was given.
    """
    ends = {one.node: one.log_end_offset for one in [*quorum.observers, *quorum.voters]}
    brokers = {
        number: f"broker {number}\n{address}\n" + _reached(ends.get(number))
        for number, address in addresses.items()
    }
    voters = {
        voter.node: f"controller {voter.node}\n"
        + (f"active, epoch {quorum.epoch}" if voter.node == quorum.leader else "standby")
        + f"\n{_reached(voter.log_end_offset)}"
        for voter in quorum.voters
    }
    arrows: list[Arrow] = []
    client = []
    if asked is not None:
        client = [["a client"]]
        arrows.append(("a client", brokers[asked], "bootstrap"))
    if quorum.leader is not None:
        leader = voters[quorum.leader]
        arrows += [(leader, text, "metadata") for text in brokers.values()]
    return plan(
        [*client, list(brokers.values()), list(voters.values())],
        arrows,
        colours={
            voters.get(quorum.leader, ""): ADDED,
            brokers.get(asked, ""): GIVEN,
        },
        frames={"brokers": list(brokers.values()), "controller quorum": list(voters.values())},
        width=1.85,
        between=1.05,
    )


def _reached(end: int | None) -> str:
    return "metadata unknown" if end is None else f"metadata to {end:,}"
