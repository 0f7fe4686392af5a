"""A lab that judges wrongly is not proven."""

import shutil
from dataclasses import replace

import pytest

from grading.define.place import Place
from grading.judge.checks import Check
from grading.judge.outcome import Outcome
from grading.keep.store import slug
from grading.prove.verify import RIGHT, asked_again, verify
from grading.prove.wrong import WrongAnswer, gaps, last_task, pack, wrong_answers
from kafkalab.errors import CourseError


def answer(name, task, fails, also=()):
    return WrongAnswer(name, task, "", frozenset(fails), frozenset(also), "pass")


@pytest.mark.cluster
def test_the_tiny_lab_is_proven(tiny, tmp_path):
    proof = verify(tiny, tmp_path / "kept", jobs=2, pages=tmp_path / "pages")
    assert proof.problems == []
    assert len(proof.records) == 4, "reference, blank, and four wrong answers in two runs"
    assert all(tally.right == tally.all for tally in proof.checks.values())
    assert not (tmp_path / "kept").exists(), "nothing went otherwise than expected"
    assert "the demo cell ran" in (tmp_path / "pages" / "lab90_tiny.html").read_text()
    assert "the demo cell ran" in (tmp_path / "pages" / "lab90_tiny.ipynb").read_text()
    ends = {record.student: outcomes(record)["name_said"] for record in proof.records}
    assert ends["wrong 1"] == Outcome.FAIL
    assert ends["wrong 2"] == Outcome.NOT_REACHED, "task 2 was the last that it is wrong in"


@pytest.mark.cluster
def test_a_proof_of_the_whole_compares_what_comes_after_a_wrong_answer_too(tiny, tmp_path):
    proof = verify(tiny, tmp_path / "kept", jobs=2, whole=True)
    assert proof.problems == []
    found = {record.student: outcomes(record)["name_said"] for record in proof.records}
    assert found["wrong 2"] == Outcome.PASS


@pytest.mark.cluster
def test_a_lab_that_shows_what_is_not_true_is_not_proven(changed, tmp_path):
    lab = changed("lab.py", {'print("the demo': 'assert 1 == 2, ("the demo'})
    proof = verify(lab, tmp_path / "kept", pages=tmp_path / "pages")
    (problem,) = proof.problems
    assert problem.startswith("reference: a cell of the master failed: shown = ")
    assert "AssertionError" in (tmp_path / "pages" / "lab90_tiny.html").read_text()


@pytest.mark.cluster
def test_a_lab_whose_check_breaks_at_odd_answers_is_not_proven(changed, tiny, tmp_path):
    broken = changed("checks.py", {", list[str])": ")"})
    (problem,) = verify(broken, tmp_path / "kept", only=RIGHT).problems
    assert problem.startswith("words_reversed, where reversed_words is None, breaks: TypeError")
    (kept,) = (tmp_path / "kept").iterdir()
    assert asked_again(broken, kept).problems == [problem]
    assert asked_again(tiny, kept).problems == []
    with pytest.raises(CourseError, match="holds no run that was kept"):
        asked_again(tiny, kept.parent)


def outcomes(record):
    return {check["id"]: check["outcome"] for check in record.checks}


def test_wrong_answers_share_a_run_only_where_they_cannot_hide_one_another():
    a, b = answer("a", 1, {"x"}, {"y"}), answer("b", 2, {"y"})
    c, d = answer("c", 2, {"z"}), answer("d", 1, {"w"})
    for variant in range(5):
        groups = pack([a, b, c, d], variant)
        assert len(groups) == 2
        for group in groups:
            assert len({one.task for one in group}) == len(group)
            assert {"a", "b"} - {one.name for one in group}


def test_what_needs_a_long_run_shares_the_fewest():
    early = [answer(f"early {number}", 1, {f"e{number}"}) for number in range(4)]
    late = [answer(f"late {number}", 5, {f"l{number}"}) for number in range(2)]
    for variant in range(5):
        groups = pack([*early, *late], variant)
        assert [max(one.task for one in group) for group in groups] == [5, 5, 1, 1]


def test_a_run_is_as_long_as_the_last_check_that_must_fail(tiny):
    checks = [check(name, task) for name, task in (("x", 1), ("y", 2), ("z", 3))]
    assert last_task([answer("a", 1, {"x"})], checks) == 1
    assert last_task([answer("a", 1, {"x"}, {"z"})], checks) == 1, "z may fail, or not"
    assert last_task([answer("a", 1, {"x", "y"})], checks) == 2
    assert last_task([answer("a", 1, {"x"}), answer("b", 3, {"y"})], checks) == 3
    checks.append(check("after all", 2, "end"))
    assert last_task([answer("a", 1, {"after all"})], checks) is None


def check(name, task, at="after"):
    return Check(name, task, 1, name, at, None, lambda x: iter(()))


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
def test_a_check_that_lets_a_wrong_answer_pass_is_found(changed, tmp_path):
    lab = changed("checks.py", {'x.value("double", int), 2 * x.p.number': "1, 1"})
    kept = tmp_path / "kept"
    proof = verify(lab, kept, jobs=2)
    (passed,) = (one for one in proof.problems if "1_triple passes doubled" in one)
    assert any("blank" in problem for problem in proof.problems)
    names = {passed.partition(":")[0], "blank"}
    assert {folder.name for folder in kept.iterdir()} == {slug(name) for name in names}
    for folder in kept.iterdir():
        assert {file.name for file in folder.iterdir()} >= {"record.json", "evidence.json"}
