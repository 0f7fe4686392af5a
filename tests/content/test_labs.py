"""Every lab is proven: its reference with all that it shows, the blank notebook, each wrong answer.

The executed pages of the references stay in build/run/.
"""

from pathlib import Path

import pytest

from authoring.build import solution_notebook
from grading.define import definition
from grading.define.place import Place, places
from grading.practice import hints
from grading.prove.verify import RIGHT, WRONG, verify
from grading.prove.wrong import gaps, wrong_answers
from kafkalab.places import repository
from tests import sandboxed

ROOT = repository()


def labs() -> list:
    """Each a unit of its own, to which both of its folders belong.

    None has to go to the first worker, also where brokers break: a hand-in waits for conditions,
    and its limits grow with what the machine has to do.
    """
    found = []
    for place in places():
        folders = place.student.relative_to(ROOT), place.teacher.relative_to(ROOT)
        found.append(pytest.param(place, marks=pytest.mark.content(*folders), id=place.folder))
    return found


@pytest.mark.parametrize("name", [place.name for place in places()])
def test_every_check_is_failed_by_some_wrong_answer(name: str) -> None:
    lab = definition.load(name)
    wrong = wrong_answers(lab, solution_notebook(name))
    assert list(gaps((*lab.checks, *lab.hidden_checks()), wrong)) == []


@pytest.mark.parametrize("name", [place.name for place in places()])
def test_a_lab_has_a_hundred_points(name: str) -> None:
    assert definition.load(name).points == 100


@pytest.mark.parametrize("name", [place.name for place in places()])
def test_a_hint_goes_in_steps(name: str) -> None:
    lab = definition.load(name)
    at_once = [task for task, hint in lab.hints.items() if len(hints.steps(hint)) < 2]
    assert not at_once, f"tasks {at_once} tell all in one step"


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("place", labs())
def test_the_reference_has_all_points_and_a_blank_lab_its_floor(
    place: Place, tmp_path: Path
) -> None:
    proof = verify(
        definition.load(place.name),
        tmp_path / "kept",
        pages=ROOT / "build" / "run",
        only=RIGHT,
        around=sandboxed.around(),
    )
    assert proof.problems == []
    assert len(proof.records) == 2


@pytest.mark.whole
@pytest.mark.docker
@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("place", labs())
def test_lab_on_docker(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKALAB_ENGINE", "docker")
    lab, around = definition.load(place.name), sandboxed.around()
    proof = verify(lab, tmp_path / "kept", only=RIGHT, around=around)
    assert proof.problems == []


@pytest.mark.rest(minutes=8)
@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.timeout(1200)
@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("place", labs())
def test_each_wrong_answer_fails_the_checks_that_it_names(place: Place, tmp_path: Path) -> None:
    proof = verify(definition.load(place.name), tmp_path / "kept", only=WRONG)
    assert proof.problems == []
    assert proof.records
