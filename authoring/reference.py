"""lessons/reference/kafkalab.md: what lessons and labs import, out of the docstrings."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import ModuleType

PAGE = PurePosixPath("lessons", "reference", "kafkalab.md")
OURS = ("kafkalab", "grading")
HEAD = """# Names of the course

What lessons and labs import beside Kafka's own clients and Spark. This page is made from the code
by `./course build`; in a notebook, `help(NAME)` says more.
"""
# A module of its own beside those that a lesson imports from `kafkalab` itself.
HELPERS = "kafkalab.lessons."


@dataclass(frozen=True, order=True)
class Imported:
    """A name as a cell imports it: `from MODULE import NAME`."""

    module: str
    name: str

    @property
    def found(self) -> object:
        """The object; an ImportError where there is none."""
        module = importlib.import_module(self.module)
        if hasattr(module, self.name):
            return getattr(module, self.name)
        return importlib.import_module(f"{self.module}.{self.name}")


def imported(texts: Iterable[str]) -> list[Imported]:
    """What these scripts import from packages of ours, each name once."""
    found = set()
    for text in texts:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
                found |= {Imported(node.module or "", alias.name) for alias in node.names}
    return sorted(found)


def page(texts: Iterable[str]) -> str:
    """The page for these scripts: classes and functions first, then modules, in order of names."""
    objects: dict[int, tuple[str, object]] = {}
    for one in imported(texts):
        # A class that is imported from two places is one class.
        objects.setdefault(id(one.found), (one.name, one.found))
    names = sorted(objects.values(), key=lambda entry: entry[0].lower())
    single = [entry for entry in names if not inspect.ismodule(entry[1])]
    modules = [entry for entry in names if inspect.ismodule(entry[1])]
    general = [one for one in modules if not _is_helper(one[1])]
    helpers = [one for one in modules if _is_helper(one[1])]
    parts = [HEAD]
    parts += ["## Classes", *(_class(*one) for one in single if inspect.isclass(one[1]))]
    parts += ["## Functions", *(_entry(*one) for one in single if not inspect.isclass(one[1]))]
    parts += ["## Modules", *(_module(*one) for one in general)]
    parts += ["## What single lessons draw and read", *(_module(*one) for one in helpers)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _is_helper(module: object) -> bool:
    return getattr(module, "__name__", "").startswith(HELPERS)


def _class(name: str, kind: object) -> str:
    assert isinstance(kind, type)
    members = [_entry(member, found) for member, found in _members(kind)]
    return "\n\n".join([f"### {name}", summary(kind), *members])


def _module(name: str, module: object) -> str:
    assert isinstance(module, ModuleType)
    values = inspect.get_annotations(module)
    public = getattr(module, "__all__", None) or [
        member
        for member, found in vars(module).items()
        if not member.startswith("_")
        and (member in values or getattr(found, "__module__", None) == module.__name__)
    ]
    found = {f"{name}.{member}": getattr(module, member) for member in public}
    entries = [_entry(one, value) for one, value in found.items() if callable(value)]
    rest = [f"`{one}`" for one, value in found.items() if not callable(value)]
    also = [f"Values: {', '.join(rest)}."] if rest else []
    return "\n\n".join([f"### {name}", summary(module), *entries, *also])


def _members(kind: type) -> Iterator[tuple[str, object]]:
    """Public methods and properties, its own first, then those of the classes it builds on."""
    seen: set[str] = set()
    for part in kind.__mro__:
        if part.__module__.split(".")[0] not in OURS:
            continue
        for name, member in vars(part).items():
            shown = inspect.isfunction(member) or isinstance(member, (property, classmethod))
            if shown and not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, member


def _entry(name: str, found: object) -> str:
    return f"**`{name}{signature(found)}`**  \n{summary(found)}"


def summary(found: object) -> str:
    """The first paragraph of a docstring, in one line."""
    return " ".join((inspect.getdoc(found) or "").split("\n\n", 1)[0].split())


class _AsWritten:
    """An annotation that is shown without quotes."""

    def __init__(self, text: object) -> None:
        self.text = text

    def __repr__(self) -> str:
        return str(self.text)


def signature(found: object) -> str:
    """How a name is called, with types as they stand in the code; a property has only one type."""
    if isinstance(found, property):
        told = inspect.signature(found.fget).return_annotation if found.fget else ""
        return f": {told}"
    if isinstance(found, classmethod):
        found = found.__func__
    if not callable(found) or getattr(found, "__init__", None) in (dict.__init__, list.__init__):
        return ""
    whole = inspect.signature(found)
    shown = [
        one.replace(annotation=_AsWritten(one.annotation))
        if isinstance(one.annotation, str)
        else one
        for one in whole.parameters.values()
        if one.name not in ("self", "cls")
    ]
    back = whole.return_annotation
    text = str(whole.replace(parameters=shown, return_annotation=inspect.Signature.empty))
    if inspect.isclass(found) or back in (inspect.Signature.empty, "None", None):
        return text
    return f"{text} -> {back if isinstance(back, str) else inspect.formatannotation(back)}"
