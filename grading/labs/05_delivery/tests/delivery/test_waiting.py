"""Waiting for consumers that may not have had their turn yet. No cluster here."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from delivery import Run
from delivery.programs import Program
from delivery.workers import read_to_the_end, wait_for_members
from kafkalab import CourseError, WaitTimeout

# Says a line of a consumer for each line that it gets.
ECHO = "import sys\nfor line in sys.stdin: print('    0.000  ' + line, end='', flush=True)"


class Told(Program):
    """A program that says what it is told to."""

    def __init__(self, folder):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
        process = subprocess.Popen([sys.executable, "-c", ECHO], **pipes)
        super().__init__("consumer", process, folder / "payload", folder / "failed")

    def says(self, line):
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        self.wait_for(f"^{line}$")


@pytest.mark.process
def test_what_a_consumer_said_before_the_last_send_does_not_count(tmp_path):
    ends = [SimpleNamespace(partition=number, end_offset=3 * number) for number in (0, 1)]
    cluster = SimpleNamespace(topic=lambda name: SimpleNamespace(partitions=ends))
    with Run(cluster, tmp_path / "run", topic="t-1") as run:
        consumer = Told(tmp_path)
        run.programs.append(consumer)
        consumer.says("assigned t-1 0, 1; has t-1 0, 1")
        consumer.says("nothing left, positions t-1 0: 0, t-1 1: 0")
        with pytest.raises(WaitTimeout):
            run.wait_until_read(timeout=0.2)
        consumer.says("batch of 3 records")
        assert consumer.read_up_to == {}
        consumer.says("nothing left, positions t-1 0: 0, t-1 1: 3")
        run.wait_until_read(timeout=5)


@pytest.mark.process
def test_nobody_waits_for_workers_that_have_all_ended(tmp_path):
    ends = [SimpleNamespace(partition=0, end_offset=3)]
    offsets = {}
    cluster = SimpleNamespace(
        topic=lambda name: SimpleNamespace(partitions=ends),
        group=lambda name: SimpleNamespace(offsets=offsets),
        group_now=lambda name: SimpleNamespace(state="STABLE", members=[name]),
    )
    with Run(cluster, tmp_path / "run", topic="t-1", group="g-1") as run:
        dead, alive = Told(tmp_path), Told(tmp_path)
        run.programs += [dead, alive]
        with pytest.raises(WaitTimeout):
            wait_for_members(run, 2, timeout=0.2)
        dead.says("an error of its own")
        dead.kill()
        wait_for_members(run, 1)
        with pytest.raises(CourseError, match=r"status -9.*\n.*an error of its own"):
            wait_for_members(run, 2, timeout=60)
        run.programs.reverse()
        with pytest.raises(WaitTimeout):
            read_to_the_end(run, timeout=0.2)
        alive.kill()
        with pytest.raises(CourseError, match=r"status -9.*an error of its own"):
            read_to_the_end(run, timeout=60)
        offsets["t-1", 0] = 3
        assert read_to_the_end(run) == []
