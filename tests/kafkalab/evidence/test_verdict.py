"""The judgement, over invented records: what its numbers mean and that they add up."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as some

from kafkalab.evidence.verdict import (
    ACKNOWLEDGED,
    COUNTED,
    FAILED,
    STATES,
    UNRESOLVED,
    Reading,
    Sending,
    judge,
)

TOPIC = "rides"


def sending(identity, state=ACKNOWLEDGED, partition=0, topic=TOPIC):
    return Sending(identity, topic, partition, sent_at=0.0, state=state)


def at(offset, identity, partition=0, reader="log", topic=TOPIC):
    return Reading(reader, str(identity), topic, partition, offset, timestamp_ms=0, read_at=0.0)


def log_of(*identities, partition=0):
    return [at(offset, identity, partition) for offset, identity in enumerate(identities)]


def read_by(reader, log):
    return [replace(reading, reader=reader) for reading in log]


def test_all_is_well():
    verdict = judge([sending(n) for n in range(3)], log_of(0, 1, 2), [])
    assert verdict.found == verdict.acknowledged == [0, 1, 2]
    assert repr(verdict) == (
        "acknowledged 3 · found 3 · lost 0 · duplicated 0 · reordered 0 · unobserved 0"
    )


def test_an_acknowledged_record_that_is_not_in_the_log_is_lost():
    verdict = judge([sending(n) for n in range(100)], [], [])
    assert verdict.lost == list(range(100))
    assert repr(verdict) == (
        "acknowledged 100 · found 0 · lost 100 · duplicated 0 · reordered 0 · unobserved 0"
    )


def test_a_failed_send_may_be_in_the_log_all_the_same():
    sent = [sending("a", FAILED), sending("b", UNRESOLVED), sending("c", FAILED)]
    verdict = judge(sent, log_of("a", "b"), [])
    assert (verdict.found, verdict.lost) == (["a", "b"], [])
    assert (verdict.failed, verdict.unresolved) == (["a", "c"], ["b"])
    assert repr(verdict).startswith("sent 3 · acknowledged 0 · failed 2 · unresolved 1 · found 2 ·")


def test_copies_are_duplicates_and_no_disorder():
    verdict = judge([sending(n) for n in range(3)], log_of(0, 1, 2, 0, 1), [])
    assert (verdict.duplicated, verdict.reordered, verdict.lost) == ([0, 1], [], [])


def test_a_record_behind_one_that_was_sent_later_is_reordered():
    sent = [sending(n) for n in range(4)]
    assert judge(sent, log_of(2, 0, 1, 3), []).reordered == [0, 1]


def test_order_counts_within_a_partition_only():
    sent = [sending(0, partition=1), sending(1)]
    assert judge(sent, [at(0, 1), at(5, 0, partition=1)], []).reordered == []


def test_unobserved_is_in_the_log_and_read_by_nobody():
    log = log_of(0, 1, 2)
    verdict = judge([sending(n) for n in range(4)], log, read_by("billing", log[:1]))
    assert (verdict.unobserved, verdict.lost) == ([1, 2], [3])


def test_a_named_reader_that_read_nothing_has_seen_nothing():
    log = log_of(0, 1)
    sent = [sending(0), sending(1)]
    assert judge(sent, log, []).unobserved == []
    assert judge(sent, log, read_by("audit", log), readers=["billing"]).unobserved == [0, 1]


def test_redelivery_is_not_a_duplicate():
    log = log_of(0, 1)
    reads = [*read_by("billing", log), *read_by("billing", log[1:]), *read_by("audit", log)]
    verdict = judge([sending(0), sending(1)], log, reads)
    assert (verdict.reread, verdict.duplicated) == ([1], [])
    assert repr(verdict).endswith("reread 1")


def test_the_same_record_seen_twice_by_one_look_at_the_log_is_one_copy():
    assert judge([sending(0)], log_of(0) * 2, []).duplicated == []


def test_strangers_were_never_sent_through_the_ledger():
    verdict = judge([sending(1)], log_of("sentinel", 1), [])
    assert (verdict.strangers, verdict.found) == (["sentinel"], [1])
    assert repr(verdict).endswith("strangers 1")


def test_two_sends_of_one_identity_are_one_record():
    sent = [sending("a", FAILED), sending("b"), sending("a")]
    verdict = judge(sent, log_of("b", "a"), [])
    assert (verdict.sent, verdict.failed, verdict.lost) == (["a", "b"], [], [])
    assert verdict.reordered == ["a"]  # the application's own retry overtook nobody, "b" did


def test_one_identity_in_two_topics_is_two_records():
    sent = [sending(1), sending(1, topic="receipts")]
    verdict = judge(sent, log_of(1), [])
    assert (verdict.found, verdict.lost) == ([1], [1])


def test_a_send_that_failed_before_a_partition_was_chosen_has_a_row_of_its_own():
    verdict = judge([sending(1), sending(2, FAILED, partition=None)], log_of(1), [])
    assert [(row.partition, row.failed) for row in verdict.partitions] == [(0, 0), (None, 1)]


def test_the_table_has_a_row_per_partition():
    sent = [sending(n, partition=n % 2) for n in range(4)]
    html = judge(sent, [], [])._repr_html_()
    assert html.count("<tr>") == 1 + 2
    assert "acknowledged 4 · found 0 · lost 4" in html


identities = some.integers(0, 12)
sends = some.lists(
    some.builds(sending, identities, some.sampled_from(STATES), some.integers(0, 2)), max_size=25
)
# A partition's log is a list: the offset of a record is its place there.
logs = some.lists(some.lists(identities, max_size=12), min_size=3, max_size=3).map(
    lambda partitions: [
        reading
        for number, found in enumerate(partitions)
        for reading in log_of(*found, partition=number)
    ]
)


@given(sends, logs, logs.map(lambda log: read_by("billing", log)))
def test_counts_add_up(sent, log, reads):
    verdict = judge(sent, log, reads)
    assert Counter(verdict.sent) == Counter(
        [*verdict.acknowledged, *verdict.failed, *verdict.unresolved]
    )
    assert set(verdict.sent) == {send.identity for send in sent}
    promised = set(verdict.acknowledged)
    assert set(verdict.lost) == promised - set(verdict.found)
    for inner in (verdict.duplicated, verdict.reordered, verdict.unobserved):
        assert set(inner) <= set(verdict.found)
    copies = Counter(reading.identity for reading in log)
    assert {str(i) for i in verdict.found} | set(verdict.strangers) == set(copies)
    assert {str(i) for i in verdict.duplicated} == {
        i for i, n in copies.items() if n > 1 and i not in verdict.strangers
    }
    for name in COUNTED:
        assert sum(getattr(row, name) for row in verdict.partitions) == len(getattr(verdict, name))


@given(some.permutations(range(8)))
def test_reordered_is_empty_only_where_the_log_is_in_the_order_of_sending(order):
    verdict = judge([sending(n) for n in range(8)], log_of(*order), [])
    assert (not verdict.reordered) == (list(order) == list(range(8)))
    assert verdict.reordered == [n for n in range(8) if any(m > n for m in order[: order.index(n)])]
    assert (verdict.lost, verdict.duplicated) == ([], [])


@given(sends, logs, some.randoms())
def test_how_the_log_was_read_does_not_matter(sent, log, chance):
    shuffled = list(log)
    chance.shuffle(shuffled)
    assert judge(sent, shuffled, []) == judge(sent, log, [])


@given(sends)
def test_nothing_is_lost_where_everything_is_found_and_observed(sent):
    log = log_of(*dict.fromkeys(send.identity for send in sent))
    verdict = judge(sent, log, read_by("billing", log))
    assert verdict.found == verdict.sent
    assert not any([verdict.lost, verdict.duplicated, verdict.reordered, verdict.unobserved])
    assert not any([verdict.reread, verdict.strangers])
