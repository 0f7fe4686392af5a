"""The panel of a group without a browser: what its buttons do to members, and what it says."""

import threading
from collections.abc import Iterator

import pytest
from kafka import KafkaAdminClient, KafkaProducer

from kafkalab import Cluster, members, panel, quick, wait_until
from kafkalab.cluster.views import GroupView, MemberView
from kafkalab.notebook.panel import changes, offers
from kafkalab.notebook.panel.group_board import GroupBoard, owners_of

READER = """
consumer = KafkaConsumer(bootstrap_servers=address, client_id=name, group_id="orders", **settings)
consumer.subscribe(["orders"])
while running():
    if consumer.poll(timeout_ms=100):
        consumer.commit()
consumer.close()
"""


def group(state: str, **held: list[int]) -> GroupView:
    """Of a topic with two partitions, of which the second has no commit."""
    views = [MemberView(f"{name}-1", name, None, {"orders": held[name]}) for name in sorted(held)]
    ends = {("orders", 0): 9, ("orders", 1): 9}
    return GroupView("orders", state, "classic", "range", 1, views, {("orders", 0): 4}, ends)


def test_what_happened_to_a_group_is_told_once_for_what_went_the_same_way():
    before, after = group("STABLE", Ada=[0, 1], Bob=[]), group("EMPTY", Bob=[0, 1])
    assert changes.of_group(None, before) == []
    assert changes.of_group(before, after) == [
        "the group counts Ada out",
        "the group was STABLE and is EMPTY",
    ]
    moved = changes.of_owners(owners_of(before), owners_of(after))
    assert moved == ["orders 0, 1: Ada read and Bob reads"]
    assert changes.of_owners(owners_of(before), {}) == ["orders 0, 1: Ada read and nobody reads"]


@pytest.mark.parametrize(
    ("state", "can_start", "stand", "make_sense"),
    [
        ("running", True, "freeze kill start", "freeze kill"),
        ("frozen", True, "thaw kill start", "thaw kill"),
        ("ended", True, "freeze kill start", "start"),
        ("ended", False, "freeze kill start", ""),
    ],
)
def test_a_member_is_offered_what_makes_sense_now(state, can_start, stand, make_sense):
    offered = offers.of_member(state, can_start)
    assert set(offered) == set(stand.split())
    assert {fault for fault, does in offered.items() if does} == set(make_sense.split())
    for place in offers.OF_A_MEMBER:
        assert sum(fault in offered for fault in place) == 1


def test_what_moved_is_marked_and_a_stranger_is_shown_too():
    board = GroupBoard("orders", ["Ada", "Bob"], can_start=True, press=print)
    states = {"Ada": "running", "Bob": "ended"}
    before, after = group("STABLE", Ada=[0], Zoe=[1]), group("STABLE", Ada=[0, 1])
    board.show(states, before, owners_of(before))
    assert "Ada ● running yes 0 5 Bob ✕ ended no — — Zoe not of this page yes 1 0" in board.text
    assert "was" not in board.text
    board.show(states, after, owners_of(after))
    assert "orders 0 Ada 4 9 5 orders 1 Ada — 9 — was Zoe" in board.text
    board.show(states, None, owners_of(after))
    assert "Its coordinator does not answer." in board.text
    assert "orders 1 Ada" in board.text  # as it was


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster.start("single") as cluster:
        with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
            admin.create_topics({"orders": {"num_partitions": 2}})
        cluster.wait_for_topic("orders")
        yield cluster


def threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("panel")]


def says(view: panel.GroupPanel, *wanted: str) -> None:
    wait_until(
        lambda: all(words in view.text for words in wanted),
        timeout=40,
        what=f"the panel to say {wanted}",
        seen=lambda: view.text,
    )


@pytest.mark.cluster
def test_a_group_is_watched_while_a_member_freezes_dies_and_comes_back(
    cluster: Cluster, monkeypatch
):
    settings = quick.consumer | {"auto_offset_reset": "earliest"}
    given = {"address": cluster.address, "settings": settings}

    def hire(name: str) -> members.Member:
        return members.start(READER, name, **given)

    team = {name: hire(name) for name in ("Ada", "Bob")}
    wait_until(
        lambda: len(set(owners_of(cluster.group("orders")).values())) == 2,
        timeout=30,
        what="two readers",
    )
    with KafkaProducer(bootstrap_servers=cluster.address, **quick.producer) as producer:
        for number in (0, 1, 1):
            producer.send("orders", value=b"", partition=number).get(timeout=10)
    wait_until(lambda: len(cluster.group("orders").offsets) == 2, timeout=10, what="two commits")

    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    still = panel.show_group(cluster, "orders", team)
    bundle = still._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "It is STABLE, with 2 members. Its coordinator is broker 0." in bundle["text/plain"]
    for shown in bundle.values():
        assert "● running" in shown
    assert not threads()

    monkeypatch.setenv("JPY_SESSION_NAME", "lesson.ipynb")
    view = panel.show_group(cluster, "orders", team, start=hire)
    says(view, "Ada ● running yes 0 0", "Bob ● running yes 1 0", "orders 1 Bob 2 2 0")
    view.chosen.value = "Bob"
    toggle = view.buttons["freeze"]
    assert (toggle.description, view.buttons["start"].disabled) == ("freeze Bob", True)
    toggle.click()
    says(view, "Bob ‖ frozen yes", "freeze Bob: done")
    assert (toggle.description, view.buttons["thaw"]) == ("thaw Bob", toggle)
    toggle.click()
    says(view, "Bob ● running yes", "thaw Bob: done")
    view.buttons["kill"].click()
    says(view, "Bob ✕ ended", "the group counts Bob out", "orders 1: Bob read and Ada reads")
    says(view, "Ada ● running yes 0, 1 0", "was Bob")
    assert toggle.disabled
    assert view.buttons["kill"].disabled
    view.buttons["start"].click()
    says(view, "start Bob: done", "the group counts Bob in", "orders 1: Ada read and Bob reads")
    assert team["Bob"].state == "running"
    assert "Error" not in view.text

    cluster.close()
    says(view, "This cluster is closed")
    assert view.chosen.disabled
    assert "Ada ✕ ended" in view.text  # what was seen last stays
    assert "Partitions topic partition member" in view.text
    wait_until(lambda: not threads(), timeout=20, what="the threads to end", seen=threads)
