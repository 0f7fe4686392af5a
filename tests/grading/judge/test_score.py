"""Points are between nothing and all, and a fault of ours is never a number."""

from hypothesis import given
from hypothesis import strategies as st

from grading.judge.checks import Check, Finding, Result, at_least, close, equal, expect, run, same
from grading.judge.outcome import Outcome
from grading.judge.score import of_check, total

FINDINGS = st.lists(st.builds(Finding, st.booleans(), st.just(""), st.booleans()), max_size=8)
SCORED = [Outcome.PASS, Outcome.PART, Outcome.FAIL, Outcome.NEEDS, Outcome.NOT_REACHED]


def made(points=3.0, function=lambda x: iter(())):
    return Check("one", 1, points, "", "after", None, function)


@given(points=st.floats(0.25, 1000), findings=FINDINGS, outcome=st.sampled_from(SCORED))
def test_points_are_between_nothing_and_all(points, findings, outcome):
    reached = of_check(made(points), Result("one", outcome, tuple(findings))).reached
    assert 0 <= reached <= points + 0.005
    if not findings:
        assert reached == 0, "points need positive evidence"
    if any(finding.must and not finding.ok for finding in findings):
        assert reached == 0


@given(findings=FINDINGS)
def test_a_fault_of_ours_is_no_number(findings):
    for outcome in (Outcome.CHECK_ERROR, Outcome.INFRA):
        broken = Result("one", outcome, tuple(findings))
        assert of_check(made(), broken).reached is None
        assert total([made(), made()], {"one": broken}).reached is None


def test_no_result_is_no_points():
    assert total([made(2), made(3)], {}).reached == 0


def yielding(*findings):
    def function(x):
        yield from findings

    return run(made(function=function), None)


def test_equal_shares():
    result = yielding((True, "a"), (False, "b"), (True, "c"))
    assert result.outcome is Outcome.PART
    assert of_check(made(), result).reached == 2
    assert result.messages == ["b"]


def test_a_must_that_is_not_met_ends_the_check():
    result = yielding((True, "a"), expect(False, "b", must=True), (True, "never seen"))
    assert result.outcome is Outcome.FAIL
    assert of_check(made(), result).reached == 0
    assert len(result.findings) == 2


def test_a_check_that_yields_nothing_or_raises_is_at_fault():
    assert yielding().outcome is Outcome.CHECK_ERROR

    def broken(x):
        yield True, ""
        raise ValueError("not foreseen")

    result = run(made(function=broken), None)
    assert result.outcome is Outcome.CHECK_ERROR
    assert "not foreseen" in result.detail


def test_matchers_say_what_was_seen_and_expected():
    assert equal("copies", 1, 3).message == "copies: expected 3, saw 1"
    assert not close("share", True, 1, within=0.1).ok
    assert close("share", 0.31, 0.3, within=0.02).ok
    assert not at_least("records", "many", 3).ok
    twice = same("values", ["a", "a", "c"], ["a", "b"])
    assert twice.message == "values: missing 'b'; not expected 'a', 'c'"
    assert same("values", ["b", "a"], ["a", "b"]).ok
