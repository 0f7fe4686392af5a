"""What CI tests beyond `./course test`: all of it in the end, each time what it has time for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import changes

PRICES = st.lists(st.sampled_from([0.5, 2.0, 8.0, 30.0]), max_size=40)


@given(PRICES, st.floats(1, 25))
def test_commit_by_commit_each_has_its_turn_within_the_room(prices, room):
    seen: set[int] = set()
    with pytest.MonkeyPatch.context() as patch:
        for commits in range(len(prices)):
            patch.setattr(changes, "_commits", lambda commits=commits: commits)
            now = changes.in_turn(prices, room)
            assert len(now) == 1 or sum(prices[number] for number in now) <= room
            seen.update(now)
    assert seen == set(range(len(prices)))


def test_without_room_nobody_has_a_turn():
    assert changes.in_turn([0.5, 8], 0) == []
