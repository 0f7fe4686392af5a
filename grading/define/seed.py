"""Parameters of one's own: the same seed gives the same names, counts and values everywhere.

In grading the seed comes from a secret of the course, so nobody can work out the parameters of
another student. In the learner's own notebook it is a fixed practice seed.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import random
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kafkalab.errors import CourseError

Make = Callable[["Draw"], dict[str, Any]]


class Draw(random.Random):
    """The generator that `make(rng)` of a lab draws its parameters from."""

    def __init__(self, seed: str) -> None:
        super().__init__(seed)
        self.tag = hashlib.sha256(f"tag {seed}".encode()).hexdigest()[:6]

    def name(self, stem: str) -> str:
        """A name for a topic, group or transactional id that no other student has."""
        return f"{stem}-{self.tag}"


class Parameters(dict):
    """The parameters of a lab for one student: p.topic is p["topic"]."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(
                f"this lab has no parameter {name}; it has {', '.join(self)}"
            ) from None

    def __repr__(self) -> str:
        return "\n".join(f"{name} = {value!r}" for name, value in self.items())


def course_secret(folder: Path) -> bytes:
    """The secret of a course folder, made on first use and readable by its owner only."""
    file = folder / "secret"
    folder.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        unfinished = folder / f".secret.{os.getpid()}"
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as opened:
            opened.write(f"{secrets.token_hex(32)}\n")
        with contextlib.suppress(FileExistsError):  # made by another run at the same moment
            os.link(unfinished, file)
        unfinished.unlink()
    secret = file.read_text("ascii").strip()
    if len(secret) < 32:
        raise CourseError(
            f"{file} holds no secret.",
            "The parameters of every student are drawn from it.",
            "Restore it from a copy. A new one changes the parameters of all labs.",
        )
    return secret.encode()


def student_seed(secret: bytes, lab: str, student: str) -> str:
    """The seed of a student in a lab; tells nothing about the secret."""
    return hmac.new(secret, f"{lab}\0{student}".encode(), hashlib.sha256).hexdigest()


def practice_seed(lab: str, student: str = "") -> str:
    """The seed of a learner who works alone."""
    return hashlib.sha256(f"practice\0{lab}\0{student}".encode()).hexdigest()


def parameters(make: Make, seed: str) -> Parameters:
    """What a lab draws from a seed. Every value can be written as JSON, so evidence can hold it."""
    return Parameters(make(Draw(seed)))
