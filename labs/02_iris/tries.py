"""What the experiments of task 7 see, with the client as they make it and with another one."""

from typing import Any
from unittest.mock import patch

from kafka import KafkaConsumer, KafkaProducer

CLIENTS = {"producer": KafkaProducer, "consumer": KafkaConsumer}


def seen(setting: dict[str, Any], asks: int, has: int) -> Any:
    """What an experiment sees that is called with one of the two values of its setting.

    asks: which of the two it is called with. has: which one each client then has that it makes.
    Where they differ the experiment is deceived: what it only remembers of a value does not fit.
    An error counts by its name.
    """
    client, values = CLIENTS[setting["client"]], setting["values"]
    make = client.__init__

    def deceived(self: object, *given: Any, **named: Any) -> None:
        make(self, *given, **named | {setting["name"]: values[has]})

    with patch.object(client, "__init__", make if asks == has else deceived):
        try:
            return setting["experiment"](values[asks])
        except Exception as error:
            return type(error).__name__
