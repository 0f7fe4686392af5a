"""Who freezes a container, and programs that begin in it, keep out of each other's way."""

import threading

import pytest

from kafkalab.engine import docker_calls
from kafkalab.engine.docker_calls import nothing_begins_in, program_in


class Someone:
    """Does something in a thread; `inside` is set while it does."""

    def __init__(self, way, folder, service="broker-0"):
        self.inside, self.leave = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._be, args=(way, folder, service), daemon=True)
        self._thread.start()

    def _be(self, way, folder, service):
        with way(folder, service):
            self.inside.set()
            self.leave.wait(30)

    def go(self):
        self.leave.set()
        self._thread.join(30)
        assert not self._thread.is_alive()


def test_programs_run_side_by_side(tmp_path):
    some = [Someone(program_in, tmp_path) for _ in range(3)]
    assert all(one.inside.wait(20) for one in some)
    for one in some:
        one.go()


@pytest.mark.process
def test_who_freezes_waits_for_a_program_and_the_next_program_for_the_freeze(tmp_path):
    there = Someone(program_in, tmp_path)
    assert there.inside.wait(20)
    freezes = Someone(nothing_begins_in, tmp_path)
    assert not freezes.inside.wait(0.3)
    there.go()
    assert freezes.inside.wait(20)
    late = Someone(program_in, tmp_path)
    elsewhere = Someone(program_in, tmp_path, "broker-1")
    assert elsewhere.inside.wait(20)
    assert not late.inside.is_set()
    freezes.go()
    assert late.inside.wait(20)
    late.go()
    elsewhere.go()


@pytest.mark.process
def test_a_program_that_stays_does_not_keep_a_container_from_being_frozen(tmp_path, monkeypatch):
    monkeypatch.setattr(docker_calls, "LONGEST_BEGINNING", 0.2)
    stays = Someone(program_in, tmp_path)
    assert stays.inside.wait(20)
    freezes = Someone(nothing_begins_in, tmp_path)
    assert freezes.inside.wait(20)
    freezes.go()
    stays.go()


@pytest.mark.parametrize("way", [program_in, nothing_begins_in])
def test_what_failed_inside_leaves_nothing_locked(way, tmp_path):
    with pytest.raises(ZeroDivisionError), way(tmp_path, "broker-0"):
        raise ZeroDivisionError
    again = Someone(nothing_begins_in, tmp_path)
    assert again.inside.wait(20)
    again.go()
