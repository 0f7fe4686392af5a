"""Mend kafka-python at the moment when somebody imports it, and refuse another version of it.

Importing kafka-python takes longer than all the rest of `./course --help`. So `kafkalab` does not
import it, but is there when it comes.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, cast

from kafkalab.errors import CourseError

if TYPE_CHECKING:
    from importlib.abc import Loader

# The version for which the mends are written; pyproject.toml pins the same one.
VERSION = "3.0.12"


def mend(kafka: ModuleType) -> None:
    """Mend the classes of this package `kafka`, and keep a list of the clients that it opens."""
    if not __debug__:
        raise without_assertions()
    found = getattr(kafka, "__version__", None)
    if found is None:
        raise hidden_by(str(kafka.__file__))
    if found != VERSION:
        raise CourseError(
            f"This is kafka-python {found}, and the course needs {VERSION}.",
            "It mends faults of that version, and would do harm in another one.",
            "Install the packages of the course: ./course setup",
        )
    importlib.import_module("kafkalab.clients.mends").apply()
    importlib.import_module("kafkalab.clients.created").show_short()
    importlib.import_module("kafkalab.clients.opened").watch()


def hidden_by(file: str) -> CourseError:
    """Tells that a file of the learner's stands before kafka-python."""
    return CourseError(
        f"kafka-python cannot be imported: {file} has its name.",
        "Python looks beside the notebook first, and takes that file for it.",
        f"Give it another name, then restart the kernel: mv '{file}' '{file}.txt'",
    )


def without_assertions() -> CourseError:
    """Tells that this Python leaves out each `assert`: those of a page, and those of kafka-python.

    Without its own, kafka-python reads answers of a broker from the wrong place.
    """
    return CourseError(
        "This Python leaves out every assert, and kafka-python does not work so.",
        "PYTHONOPTIMIZE is set, or Python was started with -O.",
        "Start it without: unset PYTHONOPTIMIZE; then restart the kernel.",
    )


def when_imported() -> None:
    """Mend kafka-python when it is imported, or now if it is there already."""
    if "kafka" in sys.modules:
        mend(sys.modules["kafka"])
    else:
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds `kafka` where it lies, and loads it with its mends. It finds nothing else."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "kafka":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.submodule_search_locations is None:
            raise hidden_by(str(spec.origin))
        if spec is not None and spec.loader is not None:
            # No subclass of Loader, which would be imported with every `import kafkalab`.
            spec.loader = cast("Loader", _Loader(spec.loader))
        return spec


class _Loader:
    """Mends the package when it has been loaded."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # Who asks for the loader later (inspect, importlib.resources) gets the real one.
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        mend(module)
