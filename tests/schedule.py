"""Which tests share a worker, in what order they start, and which of them go first.

Workers share a machine: clusters are safe side by side by their slots. Tests of one file share
what their file starts, so they stay on one worker; a lesson or a lab is a unit of its own. Lessons
that compare times, as they break brokers, and tests that need Docker run on the first worker, one
after another; the other workers are polite: of a processor that both want, they get a quarter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

# Long units first: what is left at the end, while one worker has nothing to do, is short.
DOCKER, BREAKS, CONTENT, HEAVY, TREE, QUICK = range(6)
NEEDS = ("cluster", "spark", "docker", "browser", "slow")
# What the name of a lesson ends in that breaks brokers: markers do not reach the scheduler.
BREAKING = "-breaks"
FIRST_WORKER = "gw0"
NICENESS = 5


class Units(LoadScopeScheduling):
    """Hands a worker one unit after the other, in the order of the run.

    By the name of a test, because that is all that xdist hands over: its own groups, which it
    writes into the names, have no effect with pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        """As usual, the first unit of the queue, of those that this worker may have."""
        for scope in self.workqueue:
            if self._leads(node) or not needs_the_first_worker(scope):
                self.workqueue.move_to_end(scope, last=False)
                super()._assign_work_unit(node)
                return
        node.shutdown()  # all that is left is for the first worker

    def _leads(self, node: WorkerController) -> bool:
        """Whether it is the first worker, or the one that stands in for it after a crash."""
        return node.gateway.id == min(other.gateway.id for other in self.assigned_work)


def unit(nodeid: str) -> str:
    """A lesson or a lab is one; else a file. All that is done with Docker is one: two clusters in
    containers at a time are more than two cores bear.
    """
    file = nodeid.partition("::")[0]
    if "docker" in nodeid or file.endswith("test_compose_file.py"):
        return "docker"
    return nodeid if file.startswith("tests/content/") else file


def needs_the_first_worker(unit: str) -> bool:
    """Docker's containers are no children of a worker, so that no worker makes them polite."""
    return unit == "docker" or unit.endswith(f"{BREAKING}]")


def arrange(items: list[pytest.Item]) -> None:
    """Put the long ones first."""
    items.sort(key=_place)  # stable: tests of a file keep their order


def _place(item: pytest.Item) -> int:
    if item.get_closest_marker("docker"):
        return DOCKER
    if needs_the_first_worker(unit(item.nodeid)):
        return BREAKS
    if item.get_closest_marker("content"):
        return CONTENT
    if any(item.get_closest_marker(name) for name in NEEDS):
        return HEAVY
    # The checker of types takes half a minute where nothing is kept of an earlier run.
    return TREE if item.path.name == "test_tree.py" else QUICK
