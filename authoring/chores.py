"""What a cell leaves to the package."""

import ast
import re
from collections.abc import Iterator

from authoring.percent import Problem, Script

CLIENTS = {"KafkaConsumer", "KafkaProducer", "KafkaAdminClient"}
FORBIDDEN_TEXT = {
    "spark.jars.packages": "use spark_session() of kafkalab",
    "2181": "it is ZooKeeper's port, and Kafka 4 has no ZooKeeper",
    "sys.path": "the package is installed: import it",
    "pip install": "packages stand in pyproject.toml",
}


def chores(script: Script) -> Iterator[Problem]:
    """Nothing that the package does, or that never ends."""
    for cell in script.code():
        for node in ast.walk(cell.tree):
            if found := _chore(node):
                yield script.problem(cell.line + getattr(node, "lineno", 1) - 1, *found)
        for number, line in enumerate(cell.lines, start=cell.line):
            for text, mend in FORBIDDEN_TEXT.items():
                if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", line):
                    yield script.problem(number, f"'{text}' in a cell", mend)


def _chore(node: ast.AST) -> tuple[str, str] | None:
    if isinstance(node, ast.Call):
        called, given = name_of(node.func), {keyword.arg for keyword in node.keywords}
        if called in CLIENTS and "bootstrap_servers" not in given:
            return f"a {called} for any cluster", "say bootstrap_servers=cluster.address"
        if called == "sleep":
            wait = "wait for a condition: wait_until(…) or a wait of the cluster"
            return "a wait for a time", wait
    if name_of(node) == "NewTopic" or (
        isinstance(node, ast.alias) and node.name.rpartition(".")[2] == "NewTopic"
    ):
        return "NewTopic", "pass a dictionary to admin.create_topics"
    if isinstance(node, ast.keyword) and node.arg == "value_deserializer":
        return "value_deserializer", "decode record.value where it is used"
    if isinstance(node, ast.alias) and node.name == "*":
        return "an import of everything", "import names"
    if isinstance(node, ast.While) and _never_ends(node):
        return "a loop without an end", "read until a condition or a deadline"
    return None


def _never_ends(loop: ast.While) -> bool:
    if not (isinstance(loop.test, ast.Constant) and loop.test.value):
        return False
    return not any(isinstance(node, ast.Break | ast.Return) for node in ast.walk(loop))


def name_of(node: ast.AST) -> str:
    """The last part of a dotted name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
