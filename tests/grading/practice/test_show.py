"""What a learner is told of a check: the cause, what was seen, one step of a hint at a time."""

from dataclasses import replace

import pytest
from IPython.core.interactiveshell import InteractiveShell

from grading import lab as lab_module
from grading.judge.checks import Finding, Result
from grading.judge.outcome import Outcome
from grading.lab import Lab
from grading.practice import hints
from grading.practice.show import Assessment


@pytest.fixture
def shell(monkeypatch):
    shell = InteractiveShell.instance()
    monkeypatch.setattr(lab_module, "get_ipython", lambda: shell)
    shell.reset(new_session=False)
    return shell


@pytest.fixture
def lab(tiny, shell):
    stepwise = replace(tiny, hints=tiny.hints | {1: "Twice `x`.\n\n<b>Or</b> a sum.\n\n`x + x`"})
    opened = Lab(stepwise, "seed", None)
    yield opened
    opened.close()


def test_each_time_that_a_check_fails_one_step_more_is_told(lab, shell):
    shell.user_ns["double"] = "wrong"
    first, second = lab.check(1), lab.check(1)
    assert "Hint for task 1, 1 of 3: Twice `x`." in repr(first)
    assert "a sum" not in repr(first)
    assert "2 of 3: <b>Or</b> a sum." in repr(second)
    assert "Twice <code>x</code>" in second._repr_html_()
    assert "&lt;b&gt;Or&lt;/b&gt; a sum" in second._repr_html_()
    assert "3 of 3" in repr(lab.check(1))
    assert "3 of 3" in repr(lab.check(1))
    shell.user_ns["double"] = 2 * lab.p.number
    assert "Hint" not in repr(lab.check(1))


def test_a_cell_with_an_error_is_the_cause_and_the_hint_waits(lab, shell):
    shell.run_cell("# Task 1\ndouble = no_such_name", silent=False)
    told = lab.check(1)
    assert "✗ The cell of task 1 ended with NameError: name 'no_such_name'" in repr(told)
    assert "Hint" not in repr(told)
    assert "Task 1, first: " in repr(told)
    assert "NameError" in told._repr_html_()
    shell.run_cell("# Task 1\ndouble = 1")
    told = lab.check(1)
    assert "NameError" not in repr(told)
    assert "1 of 3" in repr(told), "what was not told has not been used up"
    shell.run_cell('# Task 1\nraise NotImplementedError("Task 1: double the number")')
    assert "Hint" in repr(lab.check(1)), "a cell without an answer is no error to mend"


def test_a_score_names_the_tasks(lab, shell):
    shell.user_ns["double"] = 2 * lab.p.number
    score = lab.score()
    assert "✓ 1 The number is doubled (2 of 2)" in repr(score)
    assert "✗ 2 Words are reversed (0 of 2)" in repr(score)
    assert "<th>Task</th>" in score._repr_html_()
    assert "<th>Task</th>" not in lab.check(1)._repr_html_()


def test_a_check_that_waits_for_another_names_its_title(tiny):
    checks = (*tiny.checks[:2], replace(tiny.checks[2], needs="words_reversed"))
    lab = replace(tiny, checks=checks)
    results = [
        Result("words_reversed", Outcome.FAIL, (Finding(False, "saw nothing"),)),
        Result("name_said", Outcome.NEEDS, detail="words_reversed"),
    ]
    told = repr(Assessment.of(lab, results, {2, 3}))
    assert "not run: “Words are reversed” comes first" in told
    assert "words_reversed" not in told


def test_a_hint_is_markdown_and_runs_nothing():
    assert hints.steps("One\nline.\n\n\nTwo.\n") == ["One\nline.", "Two."]
    shown = hints.as_html("**b** `c` <script>x</script> [l](javascript:x) ![p](http://x/y.png)")
    assert "<strong>b</strong> <code>c</code>" in shown
    for tag in ("<script", "<img", 'href="javascript'):
        assert tag not in shown
