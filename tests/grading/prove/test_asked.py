"""What the checks and faults of labs ask for is there, also where no run comes by."""

import ast
from pathlib import Path

import pytest

from grading.define.place import places
from grading.define.seed import Parameters
from grading.faults.breaker import Breaker
from grading.judge.view import ClusterView
from grading.judge.visible import Visible
from kafkalab.cluster.cluster import Cluster

BREAKER = Breaker(None, None, Parameters(), 0)
VISIBLE = Visible(None, None, Parameters(), "seed")
FILES = [
    file
    for place in places()
    for file in (*place.student.glob("*.py"), *place.teacher.glob("hidden.py"))
]


def asked(tree: ast.AST, *of: str) -> set[str]:
    """The names behind `x.kafka.` or the like, as in asked(tree, "x", "kafka")."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == ".".join(of)
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_what_a_lab_asks_for_is_there(file: Path) -> None:
    tree = ast.parse(file.read_text("utf-8"))
    has = {
        ("f",): {*dir(BREAKER)} | {*vars(BREAKER)},
        ("f", "cluster"): {*dir(Cluster)} | {"slot", "description"},
        ("f", "kafka"): {*dir(ClusterView)},
        ("x",): {*dir(type(VISIBLE))} | {*vars(VISIBLE)},
        ("x", "kafka"): {*dir(ClusterView)},
    }
    for of, names in has.items():
        assert asked(tree, *of) <= names, ".".join(of)
