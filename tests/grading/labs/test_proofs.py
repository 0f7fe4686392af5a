"""Every lab of the course is proven: reference, blank, each wrong answer."""

import pytest

from grading import definition
from grading.verify import gaps, verify, wrong_answers
from tools.build import solution_notebook


@pytest.mark.parametrize("name", definition.names())
def test_every_check_is_failed_by_some_wrong_answer(name):
    lab = definition.load(name)
    wrong = wrong_answers(lab, solution_notebook(name))
    assert list(gaps((*lab.checks, *lab.hidden_checks()), wrong)) == []


@pytest.mark.parametrize("name", definition.names())
def test_a_lab_has_a_hundred_points(name):
    assert definition.load(name).points == 100


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", definition.names())
def test_lab_is_proven(name, tmp_path):
    proof = verify(definition.load(name), tmp_path / "kept", jobs=2)
    assert proof.problems == []
