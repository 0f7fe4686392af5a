"""What the experiments of task 7 see, with the client as they make it and with another one."""

import functools
import sys
import time
from typing import Any
from unittest.mock import patch

from kafka import KafkaConsumer, KafkaProducer

CLIENTS = {"producer": KafkaProducer, "consumer": KafkaConsumer}


class ReadBack(dict[str, Any]):
    """The settings of a client, with the value that it was asked for; its own code finds the other.

    What is read back from a client that has another value than it was given shows nothing of it.
    """

    def __init__(self, asked: dict[str, Any], has: dict[str, Any]) -> None:
        super().__init__(asked)
        self.has = has

    def __getitem__(self, name: str) -> Any:
        return self.has[name] if _asks_for_itself() else super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self.has.get(name, default) if _asks_for_itself() else super().get(name, default)


def _asks_for_itself() -> bool:
    """Whether it is code of the client, or of the course, that looks a setting up."""
    asking = str(sys._getframe(2).f_globals.get("__name__"))
    return asking.partition(".")[0] in ("kafka", "kafkalab")


def seen(setting: dict[str, Any], asks: int, has: int) -> Any:
    """What an experiment sees that is called with one of the two values of its setting.

    asks: which of the two it is called with. has: which one each client then has that it makes.
    Where they differ the experiment is deceived: what it only remembers of a value does not fit.
    An error counts by its name.
    """
    client, name, values = CLIENTS[setting["client"]], setting["name"], setting["values"]
    make = client.__init__

    @functools.wraps(make)
    def deceived(self: Any, *given: Any, **named: Any) -> None:
        make(self, *given, **named | {name: values[has]})
        config = vars(self).get("config")
        if isinstance(config, dict):
            self.config = ReadBack(config | {name: named.get(name, values[asks])}, config)

    with patch.object(client, "__init__", make if asks == has else deceived):
        try:
            return setting["experiment"](values[asks])
        except Exception as error:
            return type(error).__name__


def timed(setting: dict[str, Any], asks: int, has: int) -> tuple[Any, float]:
    """The same, and the seconds that it took."""
    began = time.monotonic()
    saw = seen(setting, asks, has)
    return saw, time.monotonic() - began
