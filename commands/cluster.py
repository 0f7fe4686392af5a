"""`./course up`, `down`, `status`, `logs`: a cluster without a notebook."""

import json as json_format
from typing import Annotated, Literal

import typer
from rich.console import Console

from commands.cluster_list import Node, show
from kafkalab.cluster import inventory
from kafkalab.cluster.inventory import Running
from kafkalab.errors import CourseError

Engine = Annotated[
    Literal["process", "docker"] | None,
    typer.Option(help="What runs the cluster; without it KAFKALAB_ENGINE or process."),
]
SlotNumber = Annotated[int | None, typer.Option("--slot", help="The cluster in this slot.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


def up(
    profile: Annotated[str, typer.Argument(help="A profile of docker-compose.yml.")] = "replicated",
    engine: Engine = None,
    json: AsJson = False,
) -> None:
    """Start a cluster that runs until `./course down`."""
    from kafkalab.cluster.cluster import Cluster

    cluster = Cluster.start(profile, engine=engine)
    cluster.keep()
    chosen = inventory.choose(number=cluster.slot.number)
    if json:
        print(json_format.dumps(_facts(chosen), indent=1))
        return
    console = Console(soft_wrap=True, highlight=False)
    console.print(repr(cluster))
    console.print(f"For a notebook: export KAFKALAB_CLUSTER={chosen.record}")
    console.print(f"To end it: ./course down --slot {chosen.slot}")


def down(
    profile: Annotated[
        str | None, typer.Argument(help="Only clusters of this profile.", show_default=False)
    ] = None,
    slot: SlotNumber = None,
    all: Annotated[
        bool, typer.Option("--all", help="Also those that a notebook or a test run started.")
    ] = False,
) -> None:
    """Stop the clusters that `./course up` started, and forget their data."""
    found = [
        cluster
        for cluster in inventory.clusters()
        if profile in (None, cluster.profile) and slot in (None, cluster.slot)
    ]
    # One that nobody holds any more is a leftover, whoever started it.
    chosen = [c for c in found if all or slot is not None or c.kept or not c.held]
    failed: list[CourseError] = []
    for cluster in chosen:
        try:
            inventory.end(cluster)
        except CourseError as error:
            failed.append(error)
        else:
            print(f"Ended {cluster.profile} in slot {cluster.slot}.")
    for told in failed[:-1]:
        print(told)
    if failed:
        raise failed[-1]
    if not chosen:
        if found:
            raise CourseError(
                "No cluster was ended.",
                "; ".join(f"slot {c.slot}: {c.profile}, {c.holder}" for c in found),
                "End it there, or end it from here: ./course down --all",
            )
        print("No cluster is running.")


def status(json: AsJson = False) -> None:
    """Show the clusters that run on this machine."""
    found = inventory.clusters()
    if json:
        print(json_format.dumps([_facts(cluster) for cluster in found], indent=1))
        return
    if not found:
        print("No cluster is running.")
        return
    console = Console(highlight=False)
    for cluster in found:
        show(cluster, _nodes(cluster), console)


def logs(
    node: Annotated[str, typer.Argument(help="A broker id, or the name of a service.")],
    slot: SlotNumber = None,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many.")] = 50,
) -> None:
    """Show the last lines that a node of a running cluster wrote."""
    from kafkalab.cluster.cluster import Cluster

    cluster = Cluster.attach(inventory.choose(number=slot).record)
    print(cluster.logs(int(node) if node.isdigit() else node, lines))


def _facts(cluster: Running) -> dict[str, object]:
    return {
        "slot": cluster.slot,
        "profile": cluster.profile,
        "engine": cluster.engine,
        "address": cluster.address,
        "addresses": cluster.addresses,
        "owner": cluster.owner,
        "by": cluster.by,
        "since": cluster.since,
        "record": str(cluster.record),
        "nodes": {node.name: node.state for node in _nodes(cluster)},
    }


def _nodes(cluster: Running) -> list[Node]:
    """Its services; none for a leftover or a cluster about to start."""
    from kafkalab.cluster.cluster import Cluster

    try:
        attached = Cluster.attach(cluster.record)
    except CourseError:
        return []
    addresses = {s.name: attached.addresses[n] for n, s in attached.description.brokers.items()}
    return [Node(n, state, addresses.get(n, "")) for n, state in attached.engine.states().items()]
