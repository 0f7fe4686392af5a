"""A lab that judges wrongly is not proven."""

import shutil
from dataclasses import replace

import pytest

from grading.define import definition
from grading.define.place import Place
from grading.keep.record import slug
from grading.prove.verify import verify
from grading.prove.wrong import WrongAnswer, gaps, pack, wrong_answers
from kafkalab.errors import CourseError


def answer(name, task, fails, also=()):
    return WrongAnswer(name, task, "", frozenset(fails), frozenset(also), "pass")


@pytest.mark.cluster
def test_the_tiny_lab_is_proven(tiny, tmp_path):
    proof = verify(tiny, tmp_path / "kept", jobs=2)
    assert proof.problems == []
    assert len(proof.records) == 4, "reference, blank, and four wrong answers in two runs"
    assert all(tally.right == tally.all for tally in proof.checks.values())
    assert not (tmp_path / "kept").exists(), "nothing went otherwise than expected"


def test_wrong_answers_share_a_run_only_where_they_cannot_hide_one_another():
    a, b = answer("a", 1, {"x"}, {"y"}), answer("b", 2, {"y"})
    c, d = answer("c", 2, {"z"}), answer("d", 1, {"w"})
    for variant in range(5):
        groups = pack([a, b, c, d], variant)
        assert len(groups) == 2
        for group in groups:
            assert len({one.task for one in group}) == len(group)
            assert {"a", "b"} - {one.name for one in group}


def test_every_check_needs_a_wrong_answer_and_every_name_a_check(tiny):
    wrong = [answer("a", 1, {"doubled"}), answer("b", 2, {"nothing_of_ours"})]
    problems = list(gaps(tiny.checks, wrong))
    assert "b names nothing_of_ours, which is no check" in problems
    assert "no wrong answer fails words_reversed" in problems


def test_a_replacement_must_be_there_once(course, tiny, solved, tmp_path):
    place = Place(tmp_path, "90_tiny")
    folder = place.teacher
    shutil.copytree(tiny.place.teacher, folder)
    (folder / "wrong" / "1_gone.toml").write_text(
        'task = 1\nwhy = "."\nfails = ["doubled"]\nreplace = { "not there" = "x" }\n'
    )
    with pytest.raises(CourseError, match="stands 0 times"):
        wrong_answers(replace(tiny, place=place), solved)


@pytest.mark.cluster
def test_a_check_that_lets_a_wrong_answer_pass_is_found(course, tiny, tmp_path):
    root = tmp_path / "course"
    shutil.copytree(course, root)
    checks = root / "labs" / "90_tiny" / "checks.py"
    text = checks.read_text().replace('x.value("double"), 2 * x.p.number', "1, 1")
    checks.write_text(text)
    kept = tmp_path / "kept"
    proof = verify(definition.load("lab90", root), kept, jobs=2)
    (passed,) = (one for one in proof.problems if "1_triple passes doubled" in one)
    assert any("blank" in problem for problem in proof.problems)
    names = {passed.partition(":")[0], "blank"}
    assert {folder.name for folder in kept.iterdir()} == {slug(name) for name in names}
    for folder in kept.iterdir():
        assert {file.name for file in folder.iterdir()} >= {"record.json", "evidence.json"}
