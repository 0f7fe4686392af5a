"""What the code of a hand-in finds around it: a sandbox or not, and packages to install."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Surroundings:
    """`wheels`: the folder from which pip installs; without one it installs nothing."""

    is_sandboxed: bool = False
    wheels: Path | None = None

    def to_json(self) -> str:
        return json.dumps([self.is_sandboxed, self.wheels and str(self.wheels)])

    @classmethod
    def from_json(cls, text: str) -> Surroundings:
        """The reverse of to_json."""
        is_sandboxed, wheels = json.loads(text)
        return cls(is_sandboxed, Path(wheels) if wheels else None)


OPEN = Surroundings()
"""No sandbox: for code that is trusted, as that of whoever runs it."""
