"""Only answers come from a hand-in; whatever else was done to the notebook changes nothing."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.handin.weave import (
    FIRST,
    PARAMETERS,
    HandedIn,
    as_handed_in,
    assignments,
    task_cells,
    task_number,
    weave,
)
from grading.run.job import Job
from kafkalab.errors import CourseError

ANSWERS = {
    "t1": "# Task 1\ndouble = 2 * p.number",
    "t2": "# Task 2\ndef reverse(text):\n    return text[::-1]",
    "t3": "# Task 3\nsaid = p.name",
}
OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["delete", "copy", "move", "retype", "retag", "rename", "edit", "empty"]),
        st.integers(0, 60),
        st.integers(0, 60),
    ),
    max_size=12,
)


def done_to(cells, operations):
    """A notebook after all sorts of handling."""
    cells = list(cells)
    for kind, at, other in operations:
        if not cells:
            break
        at %= len(cells)
        cell = cells[at]
        if kind == "delete":
            del cells[at]
        elif kind == "copy":
            cells.insert(other % (len(cells) + 1), cell)
        elif kind == "move":
            cells.insert(other % len(cells), cells.pop(at))
        elif kind == "retype":
            retyped = ["code", "markdown", "raw", "heading", ""][other % 5]
            cells[at] = HandedIn(cell.id, retyped, cell.text, cell.tags)
        elif kind == "retag":
            tags = ("skip-execution", "raises-exception", "injected-parameters", "task-1")
            cells[at] = HandedIn(cell.id, cell.kind, cell.text, tags)
        elif kind == "rename":
            names = ["", "task-1", "task-99", "check-1", "../../etc/passwd", FIRST, "task-2"]
            cells[at] = HandedIn(names[other % 7], cell.kind, cell.text, cell.tags)
        elif kind == "edit":
            cells[at] = HandedIn(cell.id, cell.kind, f"{cell.text}\nextra = {other}", cell.tags)
        else:
            cells[at] = HandedIn(cell.id, cell.kind, "", cell.tags)
    return cells


def scaffold(notebook):
    """Everything but the texts of the task cells."""
    return [
        {**cell, "source": None if task_number(cell.id) else cell.source}
        for cell in notebook.cells
        if cell.id not in {FIRST, PARAMETERS}
    ]


def answered(blank):
    """The blank notebook with all tasks answered."""
    return [
        HandedIn(cell.id, cell.kind, ANSWERS.get(cell.id.replace("task-", "t"), cell.text))
        for cell in as_handed_in(blank)
    ]


@settings(deadline=None)
@given(operations=OPERATIONS)
def test_the_scaffold_is_the_masters_whatever_was_done(blank, operations):
    handed_in = done_to(answered(blank), operations)
    woven = weave(blank, handed_in, "first = 1", {"count": 2})
    expected = weave(blank, [], "first = 1", {"count": 2})
    assert scaffold(woven.notebook) == scaffold(expected.notebook)
    texts = {cell.text for cell in handed_in} | set(task_cells(blank).values())
    assert set(woven.answers.values()) <= texts
    assert [cell.id for cell in woven.notebook.cells if task_number(cell.id)] == [
        "task-1",
        "task-2",
        "task-3",
    ]


@settings(deadline=None)
@given(seed=st.integers(0, 10_000), lose=st.sampled_from(["ids", "lines", "nothing"]))
def test_answers_are_found_in_any_order_by_what_is_left_of_their_marks(blank, seed, lose):
    cells = answered(blank)
    if lose == "ids":
        cells = [HandedIn("", cell.kind, cell.text) for cell in cells]
    if lose == "lines":
        cells = [
            HandedIn(cell.id, cell.kind, cell.text.partition("\n")[2])
            if task_number(cell.id)
            else cell
            for cell in cells
        ]
    random.Random(seed).shuffle(cells)
    woven = weave(blank, cells)
    wanted = {
        int(name[1:]): text.partition("\n")[2] if lose == "lines" else text
        for name, text in ANSWERS.items()
    }
    assert woven.answers == wanted
    assert not woven.unanswered


def test_a_cell_without_any_mark_is_found_by_its_place(blank):
    cells = [
        HandedIn("", "code", "said = p.name") if cell.id == "task-3" else cell
        for cell in answered(blank)
    ]
    woven = weave(blank, cells)
    assert woven.answers[3] == "said = p.name"
    assert "Task 3 had lost its mark and was found by its place" in woven.oddities


def test_a_deleted_cell_is_no_answer(blank):
    woven = weave(blank, [cell for cell in answered(blank) if cell.id != "task-2"])
    assert woven.unanswered == {2}
    assert "Task 2 has no cell" in woven.oddities
    assert "NotImplementedError" in woven.answers[2]


def test_of_two_cells_the_answered_one_counts(blank):
    stub = next(cell for cell in as_handed_in(blank) if cell.id == "task-1")
    cells = [stub, HandedIn("copy", "code", ANSWERS["t1"]), *answered(blank)[8:]]
    assert weave(blank, cells).answers[1] == ANSWERS["t1"]


def test_an_emptied_cell_gets_its_stub(blank):
    woven = weave(blank, [HandedIn("task-1", "code", "  \n")])
    assert 1 in woven.unanswered


def test_cells_of_ones_own_do_not_run_and_are_told(blank):
    woven = weave(blank, [HandedIn("mine", "code", "helper = 1"), *answered(blank)])
    assert all("helper" not in cell.source for cell in woven.notebook.cells)
    assert any("1 code cell outside the task cells did not run" in one for one in woven.oddities)


def test_prose_becomes_code_where_it_was_the_answer(blank):
    cells = [
        HandedIn(cell.id, "markdown" if cell.id == "task-1" else cell.kind, cell.text)
        for cell in answered(blank)
    ]
    woven = weave(blank, cells)
    assert woven.answers[1] == ANSWERS["t1"]
    kinds = {cell.id: cell.cell_type for cell in woven.notebook.cells}
    assert kinds["task-1"] == "code"


def test_no_tag_of_a_student_is_left(blank):
    cells = [HandedIn(c.id, c.kind, c.text, ("skip-execution", "x")) for c in answered(blank)]
    woven = weave(blank, cells)
    tags = {tag for cell in woven.notebook.cells for tag in cell.metadata.get("tags", [])}
    assert not tags & {"skip-execution", "x"}
    assert any("skip-execution" in oddity for oddity in woven.oddities)


def test_a_value_of_grading_that_the_cell_does_not_set_is_refused():
    assert assignments("count = 3\nname: str = ''", {"count": 5}) == "count = 5"
    with pytest.raises(CourseError, match="does not set size"):
        assignments("count = 3", {"size": 5})


def test_what_a_lab_shows_is_left_out_or_runs_behind_a_cell_of_ours(blank):
    def shown(**how):
        return [cell.source for cell in weave(blank, [], **how).notebook.cells]

    assert not [text for text in shown() if "demo cell" in text]
    cells = shown(demos="from_here = 1")
    at = cells.index("from_here = 1")
    assert "demo cell" in cells[at + 1]
    assert cells.count("from_here = 1") == 1
    assert len(cells) == len(shown()) + 2


def test_a_job_travels_as_one_line():
    cells = [HandedIn("task-1", "code", "x = 1\n", ("a", "b"))]
    job = Job("Jörg", "seed", cells, "cluster.json", False, ["odd"], True, 3)
    line = job.to_json()
    assert "\n" not in line
    assert Job.from_json(line) == job
