"""How far a learner is, read from the pages and from what was kept of them."""

import json

import pytest

from kafkalab.errors import CourseError
from kafkalab.notebook import kept
from kafkalab.places import repository
from kafkalab.setup import contents, way

START, SINGLE = "00_start", "01_single_broker"


@pytest.fixture
def work(tmp_path):
    return tmp_path


@pytest.fixture
def reached(work):
    """Write down what was reached: page -> kind -> name -> facts."""

    def write(**pages):
        (work / kept.FILE).write_text(json.dumps({"pages": pages}))

    return write


END = {"page": {"end": {"reached": True}}}


def steps(work):
    return {step.page.stem: step for step in way.steps(repository(), work)}


def test_at_first_nothing_is_done_and_the_first_lesson_is_next(work):
    found = way.steps(repository(), work)
    assert not any(step.is_done or step.is_begun for step in found)
    assert [step.is_lab for step in found] == sorted(step.is_lab for step in found)
    assert way.following(found) is found[0]
    assert (found[0].number, found[0].title) == ("00", "00 Start")
    assert all(step.minutes and (step.needs or step is found[0]) for step in found)


def test_a_lesson_is_done_when_its_last_cell_was_run(work, reached):
    reached(**{START: END, SINGLE: {"predictions": {"batches": {"said": 3}}}})
    found = steps(work)
    assert found[START].is_done
    assert (found[SINGLE].is_begun, found[SINGLE].is_done) == (True, False)
    assert way.following(list(found.values())).page.stem == SINGLE


def test_a_lab_is_offered_when_its_lessons_are_done_and_until_it_is_full(work, reached):
    score = {"reached": 60.0, "full": 80.0}
    done = {START: END, SINGLE: END}
    reached(**done)
    assert way.following(way.steps(repository(), work)).page.stem == "lab01_first_topics"
    reached(**done, lab01_first_topics={"page": {"score": score}})
    assert way.following(way.steps(repository(), work)).page.stem == "lab01_first_topics"
    assert steps(work)["lab01_first_topics"].points == (60.0, 80.0)
    reached(**done, lab01_first_topics={"page": {"score": score | {"reached": 80.0}}})
    assert way.following(way.steps(repository(), work)).page.stem == "02_partitions_and_keys"


def test_predictions_are_counted_close_and_off(work, reached):
    verdicts = {"a": {"verdict": "close"}, "b": {"verdict": "off"}, "c": {"said": 3}}
    leader = {"Who?": {"verdict": "close"}}
    exercises = {"newest": {"solved": True}, "oldest": {"solved": False}}
    reached(**{START: {"predictions": verdicts, "choices": leader, "exercises": exercises}})
    found = steps(work)[START]
    assert (found.close, found.off, found.solved) == (2, 1, 1)


def test_the_contents_name_the_next_step_and_the_words_of_what_is_done(work, reached):
    before = contents.as_markdown(repository(), work)
    assert "**Next:** [00 Start](notebooks/00_start.ipynb)" in before
    assert "## Words so far" not in before
    reached(**{START: END | {"predictions": {"records": {"verdict": "off"}}}})
    after = contents.as_markdown(repository(), work)
    found = steps(work)
    assert f"**Next:** [{found[SINGLE].title}](notebooks/01_single_broker.ipynb)" in after
    row = f"| [Start](notebooks/00_start.ipynb) | {found[START].minutes} | done | 0 close, 1 off |"
    assert row in after
    assert "**record**" in after
    assert "- [Kafka on one page](lessons/reference/kafka.md)" in after
    assert "## Still running" not in after


def test_the_contents_have_the_parts_of_the_course_in_their_order(work):
    text = contents.as_markdown(repository(), work)
    headings = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert headings[:2] == ["One broker", "Copies"]
    assert headings[-2:] == [way.LABS, "To look up"]
    assert (way.part("05"), way.part("10"), way.part("28")) == (
        "One broker",
        "Copies",
        "Beyond one cluster",
    )


def test_the_page_shows_it_before_its_cell_is_run(work, reached):
    import nbformat

    reached(**{START: END})
    contents.write(repository(), work)
    page = nbformat.read(work / contents.FILE, 4)
    nbformat.validate(page)
    told = page.cells[1].outputs[0].data["text/markdown"]
    assert told == contents.as_markdown(repository(), work)


def test_a_damaged_file_is_told(work):
    (work / kept.FILE).write_text("{")
    with pytest.raises(CourseError, match=r"mv .*progress\.json"):
        way.steps(repository(), work)
