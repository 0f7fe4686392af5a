"""What a group did is read out of Kafka's topic of groups, whatever else lies there."""

import struct

import pytest

from grading.define.seed import Parameters
from grading.judge.checks import Unseen
from grading.judge.groups import TOPIC, Commit, Members, Membership, deals, events
from grading.judge.log import Record
from grading.judge.visible import Visible
from tests.grading.offsets_topic import commit, log, members, text
from tests.grading.state import Logs, Notebook

ADA, BOB = ("ada-1", "ada", None, [0, 1]), ("bob-1", "bob", "desk", [])


def seen(*records: Record) -> Visible:
    return Visible(Notebook(), Logs({TOPIC: list(records)}), Parameters(), "seed")


def told(*records: Record, group: str = "crew") -> list[Commit | Members]:
    return list(events(seen(*records), group))


def test_commits_and_members_come_in_their_order() -> None:
    first = members("crew", 3, "orders", ADA, BOB, at=5)
    found = told(*log(first, commit("crew", "orders", 1, 7, "ada", 6), members("crew", 4, "o")))
    ada = Membership("ada-1", None, "ada", 3_000, {"orders": [0, 1]})
    bob = Membership("bob-1", "desk", "bob", 3_000, {})
    assert found[0] == Members((ada, bob), 3, 5)
    assert found[1:] == [Commit("orders", 1, 7, "ada", 6), Members((), 4)]
    assert isinstance(found[0], Members)
    assert found[0].owners("orders") == {0: "ada", 1: "ada"}
    assert found[0].owners("other") == {}


def test_a_position_that_was_forgotten_and_a_group_that_was_deleted_are_told() -> None:
    key, _, _ = members("crew", 1, "orders", ADA)
    found = told(*log(commit("crew", "orders", 0, None, at=9), (key, None, 10)))
    assert found == [Commit("orders", 0, None, "", 9), Members(at=10)]


def test_a_text_that_ends_as_c_ends_it_is_that_text() -> None:
    assert told(*log(commit("crew", "orders", 0, 3, "ada\0"))) == [Commit("orders", 0, 3, "ada")]


def test_older_versions_of_a_commit_are_read() -> None:
    key, _, _ = commit("crew", "orders", 2, 1)
    with_epoch = struct.pack(">hqi", 3, 4, -1) + text("three") + bytes(8)
    without = struct.pack(">hq", 1, 5) + text("one") + bytes(16)
    found = told(*log((key, with_epoch, 0), (key, without, 0)))
    assert found == [Commit("orders", 2, 4, "three"), Commit("orders", 2, 5, "one")]


def test_other_groups_and_what_nobody_can_read_are_passed_over() -> None:
    key, value, _ = commit("crew", "orders", 0, 1, "name")
    assert value is not None
    odd = [
        *((b"", b"x", 0), (b"\0", b"x", 0), (b"\0\2\0\x09abc", None, 0)),
        *((key, value[:-12], 0), (key, value[:3], 0), (key, b"\xff" * 40, 0)),
        *((b"\0\2" + text("crew"), b"\0\3\0\xff", 0), (b"\0\5" + text("crew"), b"x", 0)),
    ]
    assert told(*log(*odd, commit("other", "orders", 0, 1))) == []


@pytest.mark.parametrize("version", [2, 3])
def test_deals_are_the_members_each_time_that_they_were_given_something(version: int) -> None:
    alone = members("crew", 1, "orders", ("ada-1", "ada", None, [0, 1]), version=version)
    both = members(
        "crew",
        2,
        "orders",
        ("ada-1", "ada", None, [0]),
        ("bob-1", "bob", None, [1]),
        session_ms=4_000,
        version=version,
    )
    other = members("other", 1, "orders", ADA)
    gone = members("crew", 3, "orders")
    x = seen(*log(alone, commit("crew", "orders", 0, 1), other, both, gone))
    found = deals(x, "crew")
    assert [{one.client: one.assignment for one in deal.members} for deal in found] == [
        {"ada": {"orders": [0, 1]}},
        {"ada": {"orders": [0]}, "bob": {"orders": [1]}},
    ]
    assert {one.session_ms for one in found[1].members} == {4_000}
    with pytest.raises(Unseen, match="the group nobody never had a member with partitions"):
        deals(x, "nobody")
