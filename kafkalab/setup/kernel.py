"""Which Python a notebook runs in."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from kafkalab.errors import CourseError

NAME = "python3"


@dataclass(frozen=True)
class KernelPython:
    """What Jupyter starts under the name python3, and the folder with the file that says so."""

    program: Path
    described_in: Path

    @property
    def is_ours(self) -> bool:
        """Whether it is this Python, and not one that another project registered."""
        # Not resolved: the programs of two environments are often links to the same one.
        return self.program.parent == Path(sys.executable).parent


def kernel() -> KernelPython:
    """What runs a notebook here; a CourseError where Jupyter knows no kernel called python3."""
    from jupyter_client.kernelspec import NoSuchKernel
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name=NAME)
    try:
        # The manager puts its own Python in the place of a bare `python`, as it would at a start.
        program, described = manager.format_kernel_cmd()[0], manager.kernel_spec
    except NoSuchKernel as error:
        raise CourseError(
            f"Jupyter knows no kernel called {NAME}, so no notebook can run.",
            "The course's packages bring one; they may not be installed completely.",
            "Install the course's packages again: ./course setup",
        ) from error
    assert described is not None  # else there was a NoSuchKernel
    return KernelPython(Path(program), Path(described.resource_dir))
