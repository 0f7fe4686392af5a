"""What Java's measuring program says of the records that it could not send."""

from __future__ import annotations

from collections import Counter


class Complaints(Counter[str]):
    """How many records ended with each error, by its name; `first` has its first message."""

    def __init__(self, said: str) -> None:
        super().__init__()
        self.first: dict[str, str] = {}
        for line in said.splitlines():
            kind, colon, message = line.partition(": ")
            package, _, name = kind.rpartition(".")
            if colon and package.startswith("org.apache.kafka") and name.endswith("Exception"):
                self[name] += 1
                self.first.setdefault(name, message.partition(". ")[0])

    def __repr__(self) -> str:
        return "\n".join(f"{count} x {name}: {self.first[name]}" for name, count in self.items())
