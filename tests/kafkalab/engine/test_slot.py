"""Slots: who gets which, when they come back, and what a taken port is told as."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from kafkalab import CourseError, places, wait_until
from kafkalab.engine import slot
from kafkalab.engine.slot import Slot, StuckSlot

# Other ports than those of real clusters, so that these tests pass beside some that run; and, by
# the number of this process, beside another run of these tests.
FIRST = 30_000 + os.getpid() % 1_000 * 2
PUBLISHED = {"A_PORT": FIRST, "B_PORT": FIRST + 1}
FIRST_PORT = 20_000 + os.getpid() % 1_000


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKALAB_STATE", str(tmp_path))
    monkeypatch.setattr(slot, "FIRST_PORT", FIRST_PORT)


def test_each_taker_gets_another_number_folder_and_ports() -> None:
    first, second = Slot.take(PUBLISHED), Slot.take(PUBLISHED)
    # A cluster that somebody else runs may hold the ports of slot 1, so that it is passed over.
    assert first.number == 0 < second.number
    assert first.ports == PUBLISHED
    base = FIRST_PORT + 100 * second.number
    assert second.ports == {"A_PORT": base, "B_PORT": base + 1}
    assert first.folder.is_dir()
    assert first.folder != second.folder
    assert (first.project, second.project) == ("kafkalab-0", f"kafkalab-{second.number}")
    assert first.folder.stat().st_mode & 0o077 == 0
    first.release()
    first.release()
    assert not first.folder.exists()
    again = Slot.take(PUBLISHED)
    assert again.number == 0
    for taken in (again, second):
        taken.release()


def test_who_shares_the_machine_and_not_the_folder_begins_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three starts in a row failed, as both took the next slot at the same moment each time."""
    mine = Slot.take(PUBLISHED)
    monkeypatch.setenv("KAFKALAB_STATE", str(tmp_path / "another"))
    theirs = Slot.take(PUBLISHED)
    assert (mine.number, theirs.number) == (0, 1)
    mine.release()
    again = Slot.take(PUBLISHED)
    assert again.number == 0
    for taken in (again, theirs):
        taken.release()


def test_internal_ports_are_different_and_stay_the_same() -> None:
    taken = Slot.take(PUBLISHED)
    ports = [taken.internal_port(f"service-{number}") for number in range(5)]
    assert len(set(ports)) == 5
    assert ports == [taken.internal_port(f"service-{number}") for number in range(5)]
    assert not set(ports) & set(taken.ports.values())
    taken.release()


def test_a_port_of_somebody_else_is_named_and_passed_over() -> None:
    with socket.create_server(("127.0.0.1", PUBLISHED["B_PORT"])):
        taken = Slot.take(PUBLISHED)
    assert taken.number > 0
    note = taken.notes[0]
    assert f"Port {PUBLISHED['B_PORT']} is held by" in note
    assert f"(pid {os.getpid()})" in note
    assert "slot 0 is passed over" in note
    taken.release()


def test_a_full_machine_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot, "SLOTS", 2)
    taken = [Slot.take(PUBLISHED), Slot.take(PUBLISHED)]
    with pytest.raises(CourseError, match=r"(?s)None of the 2 slots.*down --all"):
        Slot.take(PUBLISHED)
    for one in taken:
        one.release()


def test_what_a_dead_owner_left_is_cleaned_before_the_slot_is_used_again() -> None:
    left = places.state() / "slot-0"
    (left / "volumes").mkdir(parents=True)
    cleaned = []
    taken = Slot.take(PUBLISHED, cleaned.append)
    assert cleaned == [left]
    assert taken.folder == left
    assert list(left.iterdir()) == []
    taken.release()


def test_a_failing_clean_up_gives_the_slot_back() -> None:
    def fail(folder: Path) -> None:
        raise CourseError("cannot")

    with pytest.raises(CourseError, match="cannot"):
        Slot.take(PUBLISHED, fail)
    assert not slot.is_held(0)


def test_what_cannot_be_cleaned_up_is_told_passed_over_and_not_tried_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left, tried = places.state() / "slot-0", []
    left.mkdir()

    def stuck(folder: Path) -> None:
        if folder == left:
            tried.append(folder)
            raise StuckSlot(folder, "Docker hangs.", "Restart Docker.")

    for _ in range(2):
        taken = Slot.take(PUBLISHED, stuck)
        assert taken.number > 0
        assert taken.notes[0] == (
            "Slot 0 is passed over. What a cluster left in slot 0 cannot be removed. "
            "Docker hangs. Restart Docker. Then: ./course down --slot 0"
        )
        taken.release()
        assert tried == [left]
        assert not slot.is_held(0)
        assert slot.records()[0]["slot"] == 0
    # Whoever starts the machine anew starts Docker anew.
    monkeypatch.setattr("psutil.boot_time", lambda: 0.0)
    taken = Slot.take(PUBLISHED)
    assert taken.number == 0
    assert list(left.iterdir()) == []
    taken.release()


def test_records_tell_what_runs_where() -> None:
    taken = Slot.take(PUBLISHED)
    assert slot.records() == [{"slot": 0, "folder": str(taken.folder), "held": True}]
    taken.describe({"profile": "single", "ports": taken.ports})
    (facts,) = slot.records()
    assert facts["profile"] == "single"
    same = Slot.of(facts)
    assert (same.number, same.folder, same.ports) == (taken.number, taken.folder, taken.ports)
    same.release()
    assert taken.folder.exists()
    taken.release()
    assert slot.records() == []


def test_the_death_of_its_holder_frees_a_slot() -> None:
    hold = (
        "from kafkalab.engine.slot import Slot; "
        f"s = Slot.take({PUBLISHED}); print(s.number); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=places.repository(),
    ) as holder:
        assert holder.stdout is not None
        number = int(holder.stdout.readline())  # not 0 where somebody else runs a cluster there
        assert slot.is_held(number)
        holder.kill()
    assert not slot.is_held(number)


def test_a_forked_child_does_not_keep_the_slot() -> None:
    taken = Slot.take(PUBLISHED)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(reading, 1)
        os._exit(0)
    try:
        taken.release()
        wait_until(lambda: not slot.is_held(0), timeout=10, what="the slot to be free")
    finally:
        os.write(writing, b"x")
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)
