"""A notebook is run in a process of its own and judged from outside."""

from grading.outcome import Outcome
from grading.score import total


def outcomes(attempted):
    return {result.check: result.outcome for result in attempted.evidence.results}


def test_the_solution_passes_everything(hand_in, tiny):
    attempted = hand_in(t1="double = 2 * p.number\nimport sys\n"
                        "print('hidden:', [m for m in sys.modules if 'hidden' in m])")  # fmt: skip
    evidence = attempted.evidence
    assert evidence.is_complete
    assert evidence.fault is None
    assert evidence.trouble == []
    assert set(outcomes(attempted).values()) == {Outcome.PASS}
    checks = (*tiny.checks, *tiny.hidden_checks())
    assert total(checks, {result.check: result for result in evidence.results}).reached == 8
    assert [cell.state for cell in evidence.cells.values()] == [Outcome.RAN] * 3
    assert evidence.cells[1].output == "hidden: []", "the kernel never holds hidden checks"
    text = str(attempted.notebook)
    assert "count = 2" in text
    assert "the check cell" in text
    assert "check cell of task 1 ran'" not in text
