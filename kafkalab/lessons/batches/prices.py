"""Stock prices as JSON."""

from __future__ import annotations

import json
import random

NAMES = ("IBM", "SUN", "GOOG", "INEL", "UBER")


def quotes(count: int, seed: int = 3) -> list[bytes]:
    """The same ones each time: {"dollars": 65, "cents": 75, "name": "UBER"} and so on."""
    pick = random.Random(seed)
    return [
        json.dumps(
            {
                "dollars": pick.randint(50, 99),
                "cents": pick.randint(0, 99),
                "name": pick.choice(NAMES),
            }
        ).encode()
        for _ in range(count)
    ]
