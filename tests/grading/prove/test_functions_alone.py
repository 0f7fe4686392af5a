"""Answers that are functions alone, for many students.

Such a task needs no cluster, so it is judged with parameters that the proof of its lab, which runs
once, does not draw. What happens to one student in thirty shows up here.
"""

from types import SimpleNamespace

import pytest

from grading.define import definition, master, seed
from grading.handin.weave import task_cells
from grading.judge import checks
from grading.judge.outcome import Outcome
from grading.judge.visible import Visible
from grading.prove.wrong import wrong_answers
from tests.grading.state import Notebook

TASKS = [("lab03", 2), ("lab03", 3), ("lab04", 2)]
STUDENTS = 100


def failed(lab, mine, answer, student):
    """Those of these checks that the answer of a student does not pass."""
    seed_text = seed.practice_seed(lab.name, student)
    p = seed.parameters(lab.make, seed_text)
    names = {"lab": SimpleNamespace(p=p)}
    exec(answer, names)
    x = Visible(Notebook(names), None, p, seed_text)
    outcomes = {check.id: checks.run(check, x).outcome for check in mine}
    assert Outcome.CHECK_ERROR not in outcomes.values(), (student, outcomes)
    return {name for name, outcome in outcomes.items() if outcome is not Outcome.PASS}


@pytest.mark.slow  # a hundred students for each wrong answer
@pytest.mark.parametrize(("name", "task"), TASKS)
def test_no_students_parameters_make_a_wrong_answer_right(name, task):
    lab = definition.load(name)
    solved = master.solved(lab)
    right = compile(task_cells(solved)[task], "reference", "exec")
    wrong = [
        (one, compile(one.answer, one.name, "exec"))
        for one in wrong_answers(lab, solved)
        if one.task == task
    ]
    mine = [check for check in (*lab.checks, *lab.hidden_checks()) if check.task == task]
    of_this_task = {check.id for check in mine}
    for student in (f"student {number}" for number in range(STUDENTS)):
        assert failed(lab, mine, right, student) == set(), student
        for one, answer in wrong:
            seen = failed(lab, mine, answer, student)
            assert one.fails & of_this_task <= seen <= one.touches, (one.name, student, seen)
