"""What the cells of a page name of Kafka has to be there: tools, options, settings and classes."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from authoring.distribution import Distribution
from authoring.percent import Problem, Script

RUNS = {"tool": 0, "console": 1}  # which argument is the name of the tool
COLUMN = "col"  # of Spark: its texts are names of columns
SCRIPT = re.compile(r"(?:[\w./-]*/)?[\w-]+\.sh\b")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
CLASS = re.compile(r"\b(?:kafka|org\.apache\.kafka)\.(?:\w+\.)*[A-Z]\w*")
# A text that is nothing else; in a program within a text what is quoted; and what gets a value.
DOTTED = r"[a-z][a-z0-9]*(?:\.[a-z0-9_]+)+"
SETTING = re.compile(rf"""\A({DOTTED})\Z|["']({DOTTED})["']|(?<![\w./-])({DOTTED})=""")
FILES = {".csv", ".json", ".jsonl", ".log", ".py", ".sqlite", ".txt"}


@dataclass
class ToolCall:
    """A tool, as a cell calls it."""

    line: int
    script: str
    options: list[str]


@dataclass
class _CellReader(ast.NodeVisitor):
    """Goes through the cells from top to bottom, and knows which texts a name holds by then."""

    line: int = 1  # of the cell
    calls: list[ToolCall] = field(default_factory=list)
    texts: list[tuple[int, str]] = field(default_factory=list)
    held: dict[str, list[ast.expr]] = field(default_factory=lambda: defaultdict(list))

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.held[target.id] = [node.value]

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            self.held[node.target.id].append(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.texts.append((self.line + node.lineno - 1, node.value))

    def visit_Call(self, node: ast.Call) -> None:
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if called == COLUMN:
            return
        self.generic_visit(node)
        if called in RUNS:
            arguments = node.args[RUNS[called] :]
            given = [text for argument in arguments for text in self._texts_of(argument, ())]
            options = [option for text in given[1:] for option in OPTION.findall(text)]
            self.calls.append(ToolCall(self.line + node.lineno - 1, (given or [""])[0], options))

    def _texts_of(self, node: ast.expr, within: tuple[str, ...]) -> Iterator[str]:
        for one in ast.walk(node):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                yield one.value
            elif isinstance(one, ast.Name) and one.id not in within:
                for value in self.held.get(one.id, []):
                    yield from self._texts_of(value, (*within, one.id))


def missing(script: Script, kafka: Distribution) -> Iterator[Problem]:
    """What Kafka does not have, or has no longer."""
    reader = _CellReader()
    for cell in script.code():
        reader.line = cell.line
        reader.visit(cell.tree)
    for line, text in reader.texts:  # a command for a shell
        for found in SCRIPT.finditer(text):
            reader.calls.append(ToolCall(line, found[0], OPTION.findall(text, found.end())))
    for call in reader.calls:
        if not kafka.help(call.script):
            yield script.problem(call.line, f"no tool {call.script!r}", "say the name of one")
            continue
        for option in sorted(set(call.options) - kafka.options(call.script)):
            what = f"{call.script} has no option {option}"
            yield script.problem(call.line, what, "look into its --help")
    helps = " ".join(kafka.help(call.script) for call in reader.calls)
    said = set(re.findall(rf"{DOTTED}|--[a-z][a-z-]*", helps))
    given = {option for call in reader.calls for option in call.options}
    for line, text in reader.texts:
        for option in sorted({*OPTION.findall(text)} - said - given):
            what = f"no tool of this page has the option {option}"
            yield script.problem(line, what, "look into its --help")
        for name in sorted(set(CLASS.findall(text)) - kafka.classes):
            yield script.problem(line, f"no class {name}", "Kafka has no such class any more")
        names = {next(filter(None, found)) for found in SETTING.findall(text)}
        for name in sorted(names - kafka.settings - said):
            if not (_is_file(name) or _is_module(name) or _is_of_librdkafka(name)):
                yield script.problem(
                    line, f"no setting {name!r}", "look into Kafka's documentation"
                )


def _is_file(name: str) -> bool:
    return PurePosixPath(name).suffix in FILES


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _is_of_librdkafka(name: str) -> bool:
    from confluent_kafka import Consumer, KafkaException

    try:
        Consumer({"group.id": "asks", name: "?"}).close()
    except KafkaException as error:
        return "No such configuration property" not in str(error)
    return True
