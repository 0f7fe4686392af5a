"""Every lab of the course is proven: reference, blank, each wrong answer."""

import pytest

from authoring.build import solution_notebook
from grading.define import definition
from grading.define.place import places
from grading.prove.verify import gaps, verify, wrong_answers


@pytest.mark.parametrize("name", [place.name for place in places()])
def test_every_check_is_failed_by_some_wrong_answer(name):
    lab = definition.load(name)
    wrong = wrong_answers(lab, solution_notebook(name))
    assert list(gaps((*lab.checks, *lab.hidden_checks()), wrong)) == []


@pytest.mark.parametrize("name", [place.name for place in places()])
def test_a_lab_has_a_hundred_points(name):
    assert definition.load(name).points == 100


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", [place.name for place in places()])
def test_lab_is_proven(name, tmp_path):
    proof = verify(definition.load(name), tmp_path / "kept", jobs=2)
    assert proof.problems == []
