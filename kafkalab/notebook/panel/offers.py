"""Which faults can be pressed, and when: a fault and its undoing share one place."""

from __future__ import annotations

Place = tuple[str, ...]

OF_THE_PROCESS: tuple[Place, ...] = (("stop", "restart"), ("kill",), ("pause", "resume"))
OF_THE_NETWORK: tuple[Place, ...] = (("cut", "heal"),)


def places(has_gateway: bool) -> tuple[Place, ...]:
    """The buttons of a node, each with all that it may come to offer. Only a gateway can cut."""
    return OF_THE_PROCESS + (OF_THE_NETWORK if has_gateway else ())


def now(state: str, is_cut: bool) -> dict[str, bool]:
    """What each place offers of a node in this state; False: it stands there and makes no sense."""
    is_there = state != "stopped"
    return {
        "stop" if is_there else "restart": True,
        "kill": is_there,
        "resume" if state == "paused" else "pause": is_there,
        "heal" if is_cut else "cut": is_cut or is_there,
    }


OF_A_MEMBER: tuple[Place, ...] = (("freeze", "thaw"), ("kill",), ("start",))


def of_member(state: str, can_start: bool) -> dict[str, bool]:
    """What each place offers of a member: `running`, `frozen` or `ended`."""
    is_there = state != "ended"
    return {
        "thaw" if state == "frozen" else "freeze": is_there,
        "kill": is_there,
        "start": can_start and not is_there,
    }
