"""The APIs of Kafka's protocol by name, and their answers, as kafka-python knows them."""

from __future__ import annotations

import difflib
import functools
import importlib
from collections.abc import Iterable
from typing import Any

from kafkalab.errors import CourseError

# The parts of kafka.protocol in which kafka-python keeps its messages.
MESSAGES = ("producer", "consumer", "metadata", "admin")


def answer(api: int, version: int, frame: str) -> Any:
    """A response as kafka-python reads it; `frame` is the whole of it in hexadecimal digits."""
    from kafka.protocol.api_key import ApiKey

    name = f"{ApiKey(api).name}Response"
    modules = [importlib.import_module(f"kafka.protocol.{part}") for part in MESSAGES]
    kind = next(getattr(module, name) for module in modules if hasattr(module, name))
    return kind.decode(bytes.fromhex(frame), version, header=True, framed=True)


def keys(api: str | Iterable[str] | None) -> list[int] | None:
    """The numbers of APIs that are given by name; None for all. A CourseError for a wrong name."""
    if api is None or not api:
        return None
    from kafka.protocol.api_key import ApiKey

    keys = []
    for name in [api] if isinstance(api, str) else api:
        if name not in ApiKey.__members__:
            near = difflib.get_close_matches(name, ApiKey.__members__, n=1, cutoff=0.5)
            raise CourseError(
                f"Kafka's protocol has no API called {name!r}.",
                f"Did you mean {near[0]}?" if near else "Produce, Fetch and Metadata are some.",
            )
        keys.append(int(ApiKey[name]))
    return keys


def error(code: int) -> str:
    """Kafka's name of an error."""
    from kafka.errors import for_code

    return str(getattr(for_code(code), "message", "")) or f"error {code}"


@functools.cache
def names() -> dict[int, str]:
    """Number -> name of each API that kafka-python knows."""
    from kafka.protocol.api_key import ApiKey

    return {int(key): key.name for key in ApiKey}
