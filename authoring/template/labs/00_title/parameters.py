"""What each student of this lab gets."""

from typing import Any

from grading.define.seed import Draw


def make(rng: Draw) -> dict[str, Any]:
    return {
        "topic": rng.name("title-rides"),
        "partitions": rng.randrange(3, 7),
        "riders": [f"rider-{number}" for number in rng.sample(range(100, 1_000), 30)],
    }
