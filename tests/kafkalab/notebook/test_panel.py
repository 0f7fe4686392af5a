"""The panel without a browser: what its buttons do, what it says, and that it leaves nothing."""

import threading
from collections.abc import Iterator

import nbformat
import pytest
from kafka import KafkaAdminClient
from nbclient import NotebookClient

from kafkalab import Cluster, CourseError, panel, quick, wait_until
from kafkalab.cluster.glance import Glance, PartitionGlance
from kafkalab.notebook.panel import changes, offers
from kafkalab.notebook.panel.widgets import NodeRow, Widgets

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


@pytest.mark.parametrize(
    ("state", "is_cut", "stand", "make_sense"),
    [
        ("running", False, "stop kill pause cut", "stop kill pause cut"),
        ("paused", False, "stop kill resume cut", "stop kill resume cut"),
        ("running", True, "stop kill pause heal", "stop kill pause heal"),
        ("stopped", False, "restart kill pause cut", "restart"),
        ("stopped", True, "restart kill pause heal", "restart heal"),
    ],
)
def test_a_place_offers_what_makes_sense_now(state, is_cut, stand, make_sense):
    offered = offers.now(state, is_cut)
    assert set(offered) == set(stand.split())
    assert {fault for fault, does in offered.items() if does} == set(make_sense.split())
    for place in offers.places(has_gateway=True):
        assert sum(fault in offered for fault in place) == 1


def test_the_topic_of_the_page_stands_first_and_a_change_is_marked():
    node = NodeRow(0, "broker 0", "127.0.0.1:1", None)
    widgets = Widgets("single", [node], offers.places(False), print, ("rides",))
    before = seen(0, 1, p0=(0, [0, 1]), p1=(1, [0, 1]))
    before.partitions["archive", 0] = PartitionGlance(0, 0, [0], [0], 1)
    after = seen(0, 1, p0=(1, [1]), p1=(1, [1]))
    after.partitions["archive", 0] = PartitionGlance(0, 0, [0], [0], 2)

    widgets.show({"broker 0": "running"}, before)
    assert widgets.text.index("rides 0") < widgets.text.index("archive 0")
    assert "in sync 0" not in widgets.text

    widgets.show({"broker 0": "running"}, after)
    assert "rides 0 1 0 0, 1, 2 1 (without 0, 2) 5 leader, in sync" in widgets.text
    assert "rides 1 1 0 0, 1, 2 1 (without 0, 2) 5 in sync" in widgets.text
    assert "archive 0 0 0 0 0 2\nGroups" in widgets.text  # an end that grows is no news


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
    toggle = view.buttons["pause", 0]
    assert toggle.description == "pause 0"
    toggle.click()
    says(view, "broker 0 paused")
    assert (toggle.description, view.buttons["resume", 0]) == ("resume 0", toggle)
    for fault in ("resume", "cut", "kill"):
        view.buttons[fault, 0].click()
    says(view, "broker 0 stopped", "No broker answers", "cut broker 0: done")
    assert view.buttons["kill", 0].disabled
    assert not view.buttons["restart", 0].disabled
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
