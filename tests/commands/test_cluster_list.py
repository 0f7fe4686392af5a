"""Clusters are listed without a cut word, however narrow the window."""

import io
import time
from pathlib import Path

import pytest
from rich.console import Console

from commands.cluster_list import Node, show
from kafkalab.cluster.inventory import Running


def running(slot: int, profile: str, **facts) -> Running:
    usual = {"engine": "process", "owner": None, "watcher": 1, "since": 0.0, "held": True}
    return Running(slot, profile, addresses={}, folder=Path(), **usual | facts)


def brokers(count: int) -> list[Node]:
    return [
        Node("controller", "running", ""),
        *(Node(f"broker-{n}", "paused", f"127.0.0.1:{19092 + n}") for n in range(count)),
    ]


def three() -> list[tuple[Running, list[Node]]]:
    """Made when they are asked for: one says for how long it has been running."""
    since = time.time() - 3 * 3600
    page = "09_idempotence_and_transactions.ipynb"
    busy = running(117, "single", engine="docker", owner=1234567, by=page, since=since)
    return [
        (running(0, "replicated", since=since), brokers(12)),
        (busy, [Node("broker", "running", "b:1")]),
        (running(3, "single", owner=1234567), []),
        (running(2, "starting", engine="", held=False), []),
    ]


def listed(width: int, clusters: list[tuple[Running, list[Node]]] | None = None) -> list[str]:
    written = io.StringIO()
    for cluster, nodes in clusters or three():
        show(cluster, nodes, Console(file=written, width=width, highlight=False))
    return [line.rstrip() for line in written.getvalue().splitlines()]


@pytest.mark.parametrize("width", [80, 60])
def test_no_word_is_cut(width):
    lines = listed(width)

    assert max(map(len, lines)) <= width
    assert " ".join(lines).split() == " ".join(listed(1000)).split()


def test_what_is_said_of_each():
    lines = listed(80)

    assert lines[0] == "slot 0: replicated, engine process, by ./course up, 180 min"
    assert lines[1] == "  controller  running"
    assert lines[2] == "  broker-0    paused   127.0.0.1:19092"
    assert lines[14:16] == [
        "slot 117: single, engine docker, 180 min",
        "  by 09_idempotence_and_transactions.ipynb (process 1234567)",
    ]
    assert lines[16] == "  broker  running  b:1"
    assert lines[17] == "slot 3: single, engine process, by process 1234567"
    assert lines[18:] == ["slot 2: starting, a leftover that nobody holds"]


def test_an_address_longer_than_the_window_stands_whole():
    address = "a-host-with-a-name." * 5 + "example:19092"

    one = (three()[0][0], [Node("b", "up", address)])
    assert any(address in line for line in listed(60, [one]))
