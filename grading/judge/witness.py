"""What the checks of a run asked and were told: enough to put the same questions without a cluster.

A proof keeps it of the reference, so that every check can be asked what it makes of other answers
(grading/prove/hostile.py).
"""

from __future__ import annotations

import base64
import pickle
from typing import Any

from grading.define.seed import Parameters
from grading.judge.checks import Unseen
from grading.judge.log import Log
from grading.judge.view import ClusterView
from grading.judge.visible import Notebook, Visible

VALUE, READ = "value", "read"
Question = tuple[Any, ...]
"""Name of what was asked, and with which arguments."""
Answers = dict[Question, Any]
Transcript = dict[str, Answers]
"""Check -> the answers that it got, the last one where it asked again; Unseen where it got none."""


def question(name: str, *given: Any, **named: Any) -> Question:
    """A question as a key."""
    return (name, *given, *sorted(named.items()))


def plain(name: str) -> Question:
    """What is there without being asked for, as a key: a method without arguments is another."""
    return (f"the {name}",)


class _Witness:
    """Stands before a notebook or a view of the cluster, and keeps what it answers."""

    def __init__(self, of: object, answers: Answers) -> None:
        self._of = of
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        there = getattr(self._of, name)
        if not callable(there):
            self._answers[plain(name)] = there
            return there

        def asked(*given: Any, **named: Any) -> Any:
            key = question(name, *given, **named)
            try:
                self._answers[key] = there(*given, **named)
            except Unseen as nothing:
                self._answers[key] = nothing
                raise
            return self._answers[key]

        return asked


class Witnessed(Visible):
    """What a check sees, and a transcript of it."""

    def __init__(
        self, notebook: Notebook, cluster: ClusterView | None, p: Parameters, seed: str
    ) -> None:
        super().__init__(notebook, cluster, p, seed)
        self.transcript: Transcript = {}
        self._answers: Answers = {}
        self._asked = notebook

    def begin(self, check: str) -> None:
        super().begin(check)
        self._answers = self.transcript.setdefault(check, {})
        self._notebook = _Witness(self._asked, self._answers)

    @property
    def kafka(self) -> ClusterView:
        return _Witness(super().kafka, self._answers)  # type: ignore[return-value]


class Retold:
    """Stands for the notebook and for the view of the cluster: gives answers again."""

    def __init__(self, answers: Answers) -> None:
        self.patience = 0.0
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        if plain(name) in self._answers:
            return self._answers[plain(name)]
        return lambda *given, **named: self._told(question(name, *given, **named))

    def read(self, topic: str, **how: Any) -> Log:
        log = self._told(question(READ, topic, **how))
        if not log and not how["may_be_empty"]:
            raise Unseen(f"the topic {topic} is empty")
        return log

    def down(self) -> list[int]:
        return []

    def _told(self, key: Question) -> Any:
        answer = self._answers.get(key, Unseen(f"nobody has asked for {key}"))
        if isinstance(answer, Unseen):
            raise answer
        return answer


def retold(answers: Answers, p: Parameters, seed: str, check: str) -> Visible:
    """What a check sees of answers that were kept, or of others in their place."""
    told: Any = Retold(answers)
    x = Visible(told, told, p, seed)
    x.patience = 0
    x.begin(check)
    return x


def written(transcript: Transcript) -> str:
    """As text, for evidence. A proof of ours reads it again, and nobody else."""
    return base64.b64encode(pickle.dumps(transcript)).decode()


def unwritten(text: str) -> Transcript:
    """The reverse of `written`."""
    return pickle.loads(base64.b64decode(text)) if text else {}
