"""What every engine is told."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalab.engine.compose import Description
from kafkalab.engine.slot import Slot


@dataclass(eq=False)
class Services:
    """The services that an engine runs, where, and with what on top of their description."""

    description: Description
    slot: Slot
    settings: dict[str, str]
    behind_gateway: bool = False

    def __post_init__(self) -> None:
        self.description = self.description.with_settings(self.settings)
