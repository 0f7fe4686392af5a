"""Lesson 00 when things go otherwise: a kernel that is killed, two readers on one machine."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

import nbformat
import psutil
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError

from kafkalab import places
from kafkalab.engine import slot
from kafkalab.wait import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

MARK = "KAFKALAB_TEST"


@pytest.fixture
def mark(monkeypatch) -> str:
    """Everything this test starts carries it in its environment."""
    value = uuid.uuid4().hex
    monkeypatch.setenv(MARK, value)
    # An archive of classes that is recorded meanwhile outlives a kernel on purpose.
    monkeypatch.setenv("KAFKALAB_AOT", "off")
    return value


def alive(mark: str) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                found.append(f"{process.pid} {process.name()}")
        except psutil.Error:
            continue
    return found


def test_a_kernel_killed_in_the_middle_leaves_nothing(mark, tmp_path, monkeypatch):
    state = tmp_path / "state"
    state.mkdir()
    monkeypatch.setenv("KAFKALAB_STATE", str(state))
    notebook = nbformat.read(places.repository() / "notebooks" / "00_start.ipynb", as_version=4)
    middle = next(
        number for number, cell in enumerate(notebook.cells) if "spark_session()" in cell.source
    )
    seen: dict[str, object] = {}

    def kill(cell, cell_index: int, execute_reply) -> None:
        if cell_index == middle:
            seen["processes"] = alive(mark)
            seen["slots"] = slot.records()
            psutil.Process(client.km.provisioner.pid).kill()

    client = NotebookClient(
        notebook, kernel_name="python3", timeout=60, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.on_cell_executed = kill
    with pytest.raises(DeadKernelError):
        client.execute()
    # four Kafka nodes, Spark, the kernel
    assert len([line for line in seen["processes"] if line.endswith("java")]) >= 5
    assert [record["profile"] for record in seen["slots"]] == ["replicated"]
    wait_until(
        lambda: not alive(mark),
        timeout=20,
        what="the end of all that the killed kernel had started",
        seen=lambda: alive(mark),
    )
    assert slot.records() == []


@pytest.mark.rest  # the two workers of the suite show it all the time
def test_two_readers_at_once_do_not_meet(tmp_path):
    command = [sys.executable, "-m", "commands.app", "run", "00", "--json"]
    readers = []
    for name in ("one", "two"):
        log = (tmp_path / name).open("w")
        readers.append(
            subprocess.Popen(
                [*command, "--output", str(tmp_path / f"{name}-run")],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=places.repository(),
            )
        )
    codes = [reader.wait(timeout=200) for reader in readers]
    assert codes == [0, 0], [Path(tmp_path / name).read_text()[-1000:] for name in ("one", "two")]
