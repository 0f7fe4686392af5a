"""Who has which partition, as the members themselves were told it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkalab.members import Event, Member
from kafkalab.wait import wait_until

Team = Mapping[str, Member]
Having = dict[int, str]


def partitions_of(events: Iterable[Event]) -> set[int]:
    """What a member has of its one topic, after all that it was given and all that was taken."""
    held: set[int] = set()
    for event in events:
        told = {partition for _, partition in event.facts.get("partitions", ())}
        if event.what == "assigned":
            held |= told
        elif event.what in ("revoked", "lost"):
            held -= told
    return held


def having(team: Team) -> Having:
    """Partition -> name of its reader, of the members that run. Who is dead or frozen has none."""
    return {
        partition: name
        for name, member in team.items()
        if member.state == "running"
        for partition in partitions_of(member.events)
    }


def settled(
    teams: Mapping[str, Team], *, members: int, partitions: int, timeout: float = 60
) -> dict[str, Having]:
    """Team -> partition -> reader, once in each team so many have dealt out all among them."""

    def dealt() -> dict[str, Having] | None:
        found = {title: having(team) for title, team in teams.items()}
        done = all(
            len(held) == partitions and len(set(held.values())) == members
            for held in found.values()
        )
        return found if done else None

    return wait_until(
        dealt,
        timeout=timeout,
        what=f"{partitions} partitions among {members} in each of {len(teams)} groups",
        seen=lambda: {title: having(team) for title, team in teams.items()},
    )


def told_since(member: Member, moment: int, what: str = "assigned") -> int:
    """How many times a member was told so since a moment, in monotonic nanoseconds."""
    return sum(event.what == what and event.at > moment for event in member.events)
