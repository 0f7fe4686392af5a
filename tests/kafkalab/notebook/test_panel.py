"""The panel without a browser: what its buttons do, what it says, and that it leaves nothing."""

import threading
from collections.abc import Iterator

import nbformat
import pytest
from kafka import KafkaAdminClient
from nbclient import NotebookClient

from kafkalab import Cluster, CourseError, panel, quick, wait_until
from kafkalab.cluster.glance import Glance, PartitionGlance
from kafkalab.notebook.panel import changes

HEADLESS = """
import threading
from kafkalab import Cluster, panel
cluster = Cluster.attach({slot})
"""
THREADS = "[t.name for t in threading.enumerate() if t.name.startswith('panel')]"


def threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("panel")]


def seen(*members: int, **leaders: tuple[int | None, list[int]]) -> Glance:
    """Partitions p0, p1, … of a topic with leader and in-sync replicas."""
    return Glance(
        frozenset(members),
        {
            ("rides", int(name[1:])): PartitionGlance(leader, 0, [0, 1, 2], isr, 5)
            for name, (leader, isr) in leaders.items()
        },
    )


def test_what_happened_to_several_partitions_is_one_sentence():
    before = seen(0, 1, 2, p0=(0, [0, 1, 2]), p1=(1, [0, 1, 2]), p2=(0, [0, 1, 2]))
    after = seen(1, 2, p0=(1, [1, 2]), p1=(1, [1, 2]), p2=(1, [1, 2]))
    assert changes.of_cluster(before, after) == [
        "the controller counts broker 0 out",
        "rides 0, 2: the leader was broker 0 and is broker 1",
        "rides 0, 1, 2: broker 0 left the in-sync replicas",
    ]
    assert changes.of_cluster(after, before)[-1] == (
        "rides 0, 1, 2: broker 0 joined the in-sync replicas"
    )


def test_a_partition_can_be_without_a_leader():
    (sentence,) = changes.of_cluster(seen(0, p0=(0, [0])), seen(0, p0=(None, [0])))
    assert sentence == "rides 0: the leader was broker 0 and is nobody"


def test_what_is_seen_first_has_not_changed():
    assert changes.of_cluster(Glance(), seen(0, p0=(0, [0]))) == []
    assert changes.of_processes({}, {"broker 0": "running"}) == []


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    with Cluster.start("single", gateway=True) as cluster:
        with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
            admin.create_topics({"rides": {"num_partitions": 2}})
        cluster.wait_for_topic("rides")
        yield cluster


@pytest.fixture
def cluster(running: Cluster, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """With the mark of a kernel that Jupyter Server started."""
    monkeypatch.setenv("JPY_SESSION_NAME", "lesson.ipynb")
    return running


def says(view: panel.Panel, *wanted: str) -> None:
    wait_until(
        lambda: all(words in view.text for words in wanted),
        timeout=40,
        what=f"the panel to say {wanted}",
        seen=lambda: view.text,
    )


@pytest.mark.cluster
def test_without_jupyter_nothing_runs_and_a_sentence_says_so(running: Cluster, monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(source)
            for source in (
                HEADLESS.format(slot=running.slot.number),
                "panel.show(cluster)",
                THREADS,
            )
        ]
    )
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    start, shown, threads = (cell.outputs for cell in notebook.cells)
    assert start == []
    assert list(shown[0].data) == ["text/plain"]
    assert "Panel of the single cluster" in shown[0].data["text/plain"]
    assert len(shown) == 1
    assert threads[0].data["text/plain"] == "[]"
    assert "widgets" not in notebook.metadata


@pytest.mark.cluster
def test_each_button_does_what_it_says_one_after_the_other(cluster: Cluster):
    view = panel.show(cluster)
    says(view, "broker 0 running", "rides 0 0", "counted in")
    assert {fault for fault, _ in view.buttons} == {*panel.FAULTS, *panel.NETWORK_FAULTS}
    view.buttons["pause", 0].click()
    says(view, "broker 0 paused")
    for fault in ("resume", "cut", "kill"):
        view.buttons[fault, 0].click()
    says(view, "broker 0 stopped", "No broker answers", "cut broker 0: done")
    # A fault where there is nothing to break is a sentence as well.
    view.buttons["kill", 0].click()
    says(view, "is not running")
    for fault in ("heal", "restart"):
        view.buttons[fault, 0].click()
    says(view, "broker 0 running", "restart broker 0: done")
    assert "Traceback" not in view.text
    view.stop()


@pytest.mark.cluster
def test_a_second_panel_of_a_cluster_stops_the_first(cluster: Cluster):
    first = panel.show(cluster)
    second = panel.show(cluster)
    wait_until(lambda: not first.running, timeout=20, what="the first panel to end")
    assert "another one of this cluster was opened" in first.text
    assert first.buttons["kill", 0].disabled
    says(second, "broker 0 running")
    second.stop()
    second.stop()
    wait_until(lambda: not threads(), timeout=20, what="the threads to end", seen=threads)


@pytest.mark.cluster
def test_a_panel_ends_with_its_cluster(cluster: Cluster):
    view = panel.show(cluster)
    says(view, "broker 0 running")
    cluster.close()
    says(view, "This cluster is closed")
    wait_until(lambda: not threads(), timeout=20, what="the threads to end", seen=threads)
    with pytest.raises(CourseError, match="closed"):
        panel.show(cluster)
