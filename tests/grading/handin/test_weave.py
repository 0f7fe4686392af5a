"""The student's notebook runs from top to bottom, with the course's cells in their places."""

import copy
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode

from grading.handin.weave import (
    FIRST,
    PARAMETERS,
    HandedIn,
    Unclear,
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
ASKED = {1: {"double"}, 2: {"reversed_words", "reverse"}, 3: {"said"}}
MARK = re.compile(r"^# Task \d+\n")
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


def answered(blank):
    """The blank notebook with all tasks answered."""
    return [
        HandedIn(cell.id, cell.kind, ANSWERS.get(cell.id.replace("task-", "t"), cell.text))
        for cell in as_handed_in(blank)
    ]


@settings(deadline=None)
@example(operations=[("delete", 4, 0), ("copy", 0, 5), ("rename", 0, 17), ("delete", 49, 0)])
@given(operations=OPERATIONS)
def test_the_course_is_whole_whatever_was_done(blank, operations):
    """Each given cell and each check runs, as the master has it, and nothing has a strange tag."""
    handed_in = done_to(answered(blank), operations)
    try:
        woven = weave(blank, handed_in, "first = 1", {"count": 2})
    except Unclear:
        return
    cells = {cell.id: cell for cell in woven.notebook.cells}
    assert len(cells) == len(woven.notebook.cells), "ids are unique"
    for cell in code_cells(blank):
        if task_number(cell.id) is None and "demo" not in cell.metadata.get("tags", []):
            assert cells[cell.id].source == cell.source
    kinds = {name: cell.metadata["grading"]["kind"] for name, cell in cells.items()
             if cell.cell_type == "code"}  # fmt: skip
    assert [name for name, kind in kinds.items() if kind == "check"].count("check-2") == 1
    order = list(kinds)
    assert order[0] == FIRST
    parameters, set_up = (cell.id for cell in code_cells(blank)[:2])
    assert order.index(parameters) + 1 == order.index(PARAMETERS)
    assert order.index(parameters) < order.index(set_up) < order.index("check-1")
    assert all(set(cell.metadata) <= {"grading"} for cell in cells.values())
    assert set(woven.answers) == {1, 2, 3}


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def run_order(woven):
    """What runs, given cells and all, but for cells of the grader's."""
    return [
        cell.source
        for cell in code_cells(woven.notebook)
        if cell.metadata["grading"]["kind"] != "ours"
    ]


def replaced(cells, **texts):
    """With other texts for some cells: t2 is the cell of task 2, c2 its check."""
    names = {"t": "task", "c": "check"}
    changed = {f"{names[name[0]]}-{name[1:]}": text for name, text in texts.items()}
    return [HandedIn(c.id, c.kind, changed.get(c.id, c.text), c.tags) for c in cells]


def beside(cells, name, *own, below=True):
    """With cells of one's own below a cell, or above it."""
    at = next(at for at, cell in enumerate(cells) if cell.id == name) + below
    new = [HandedIn(f"mine-{at}", "code", text) for at, text in enumerate(own)]
    return [*cells[:at], *new, *cells[at:]]


def without(cells, *names):
    return [cell for cell in cells if cell.id not in names]


def bare(cells):
    """Without ids, and without the lines that name the tasks."""
    return [HandedIn("", c.kind, MARK.sub("", c.text), c.tags) for c in cells]


def told(woven, task):
    return [words for words in woven.oddities if words.startswith(f"Task {task}")]


def test_the_solution_runs_as_it_is(blank):
    cells = answered(blank)
    woven = weave(blank, cells)
    demo = next(c.source for c in blank.cells if "demo" in c.metadata.get("tags", []))
    assert run_order(woven) == [c.text for c in cells if c.kind == "code" and c.text != demo]
    assert woven.oddities == ()
    assert not woven.unanswered
    assert woven.answers == {int(name[1:]): text for name, text in ANSWERS.items()}


def test_the_blank_lab_is_not_answered(blank):
    woven = weave(blank, as_handed_in(blank))
    assert woven.unanswered == {1, 2, 3}
    assert woven.oddities == ()
    assert "NotImplementedError" in woven.answers[2]


@pytest.mark.parametrize("below", [True, False])
def test_cells_of_ones_own_run_in_their_place_and_are_part_of_the_answer(blank, below):
    cells = beside(answered(blank), "task-2", "helper = 1", "look = 2", below=below)
    woven = weave(blank, cells)
    texts = run_order(woven)
    at = texts.index(ANSWERS["t2"])
    own = texts[at + 1 : at + 3] if below else texts[at - 2 : at]
    assert own == ["helper = 1", "look = 2"]
    assert "helper = 1" in woven.answers[2]
    assert ANSWERS["t2"] in woven.answers[2]
    assert woven.oddities == ()


def test_of_two_tries_both_run_and_it_is_told(blank):
    cells = beside(replaced(answered(blank), t1="# Task 1\ndouble = 1"), "task-1", ANSWERS["t1"])
    woven = weave(blank, cells)
    assert woven.answers[1] == f"# Task 1\ndouble = 1\n\n{ANSWERS['t1']}"
    assert "all ran" in told(woven, 1)[0]


@pytest.mark.parametrize("below", [True, False])
def test_a_blank_cell_beside_the_answer_takes_nothing_away(blank, below):
    stub = task_cells(blank)[2]
    cells = beside(replaced(answered(blank), t2=stub), "task-2", ANSWERS["t2"], below=below)
    for some in (cells, bare(cells)):
        woven = weave(blank, some)
        assert stub not in run_order(woven)
        assert 2 not in woven.unanswered
        assert "def reverse" in woven.answers[2]


def test_an_answer_without_names_of_its_own_below_the_stub_is_one(blank):
    cells = beside(as_handed_in(blank), "task-1", "globals().update(double=4)")
    assert weave(blank, cells).unanswered == {2, 3}


@pytest.mark.parametrize("strip", [list, bare])
def test_checks_that_are_gone_come_back_behind_the_answers(blank, strip):
    cells = beside(answered(blank), "task-2", "more = 1")
    cells = strip(without(cells, "check-1", "check-2", "check-3"))
    texts = run_order(weave(blank, cells))
    whole = [c.source for c in code_cells(blank) if "check cell" in c.source]
    assert [text for text in texts if text in whole] == whole
    assert texts.index(whole[0]) < next(n for n, text in enumerate(texts) if "reverse" in text)
    assert texts.index("more = 1") < texts.index(whole[1])


def test_a_check_that_slipped_above_its_answer_goes_back(blank):
    cells = answered(blank)
    check = next(cell for cell in cells if cell.id == "check-2")
    cells = [check, *without(cells, "check-2")]
    woven = weave(blank, cells)
    assert run_order(woven) == run_order(weave(blank, answered(blank)))
    assert "put back" in told(woven, 2)[0]


def test_a_second_try_below_the_check_counts_if_one_looks_again(blank):
    """Of two looks at a task the one behind the last try is its check, whatever comes of it."""
    lab = looking(blank)
    wrong = replaced(answered(lab), t1="# Task 1\ndouble = 1")
    once = beside(wrong, "check-1", ANSWERS["t1"])
    again = beside(wrong, "check-1", ANSWERS["t1"], "lab.check(1)")
    assert weave(lab, once).answers[1] == "# Task 1\ndouble = 1"
    assert "cannot see it" in told(weave(lab, once), 1)[0]
    woven = weave(lab, again)
    assert woven.answers[1].endswith(ANSWERS["t1"])
    assert run_order(woven).count("lab.check(1)") == 1
    assert told(woven, 1)[-1].endswith("what they left at the check counts")


def test_a_look_at_all_tasks_at_the_end_moves_no_check(blank):
    lab = looking(blank)
    cells = [*answered(lab), *(HandedIn("", "code", f"lab.check({n})") for n in (1, 2, 3))]
    for some in (cells, bare(cells)):
        texts = run_order(weave(lab, some))
        assert texts[:9] == run_order(weave(lab, some[: len(answered(lab))]))[:9]


def looking(blank):
    """The tiny lab with checks as labs have them."""
    cells = [
        NotebookNode({**c, "source": f"lab.check({c.id[-1]})"}) if c.id[:5] == "check" else c
        for c in blank.cells
    ]
    return NotebookNode({**blank, "cells": cells})


def test_what_stands_in_a_check_cell_runs_around_the_check(blank):
    lab = looking(blank)
    cells = replaced(answered(lab), c1="double = 3\nlab.check(1)\nlater = 1")
    texts = run_order(weave(lab, cells))
    at = texts.index("lab.check(1)")
    assert texts[at - 1 : at + 2] == ["double = 3", "lab.check(1)", "later = 1"]


def test_what_is_put_into_the_set_up_runs_behind_it(blank):
    cells = answered(blank)
    at = next(at for at, cell in enumerate(cells) if "import os" in cell.text)
    set_up = code_cells(blank)[1].source
    changed = f"import math\n{set_up}\nown = math.pi"
    for name in (cells[at].id, ""):
        cells[at] = HandedIn(name, "code", changed)
        texts = run_order(weave(blank, cells))
        assert texts[1:3] == [set_up, "import math\nown = math.pi"]


def test_a_broken_set_up_is_ours_again(blank):
    cells = answered(blank)
    at = next(at for at, cell in enumerate(cells) if "import os" in cell.text)
    cells[at] = HandedIn(cells[at].id, "code", "import os\nlab = = 1")
    woven = weave(blank, cells)
    assert run_order(woven) == run_order(weave(blank, answered(blank)))
    assert "no Python" in woven.oddities[0]


def test_a_given_cell_that_acts_does_not_act_twice(blank):
    cells = answered(blank)
    at = next(at for at, cell in enumerate(cells) if cell.text.startswith("reversed_words"))
    cells[at] = HandedIn(cells[at].id, "code", "reversed_words = [reverse(w) for w in ['x']]")
    woven = weave(blank, cells)
    assert run_order(woven) == run_order(weave(blank, answered(blank)))
    assert "was changed and ran as it was: without reversed_words =" in told(woven, 2)[0]


def test_values_of_grading_stand_against_a_changed_or_copied_parameters_cell(blank):
    cells = answered(blank)
    at = next(at for at, cell in enumerate(cells) if cell.text == "count = 3")
    twice = HandedIn("", "code", "count = 3")
    cells[at] = HandedIn(cells[at].id, "code", "count = 100\nmine = 7")
    woven = weave(blank, [*cells, twice], values={"count": 2})
    texts = [cell.source for cell in code_cells(woven.notebook)]
    assert texts[:3] == ["count = 3", "count = 2", "mine = 7"]
    assert texts.count("count = 3") == 1
    assert woven.oddities == ()


def test_set_up_cells_below_the_tasks_go_back(blank):
    cells = answered(blank)
    woven = weave(blank, [*cells[3:], *cells[:3]])
    assert run_order(woven) == run_order(weave(blank, cells))
    assert any("moved" in words for words in woven.oddities)


def test_a_deleted_cell_is_no_answer(blank):
    woven = weave(blank, without(answered(blank), "task-2"))
    assert woven.unanswered == {2}
    assert "Task 2 has no cell" in woven.oddities
    assert "NotImplementedError" in woven.answers[2]


def test_an_emptied_cell_gets_its_stub(blank):
    woven = weave(blank, [HandedIn("task-1", "code", "  \n")])
    assert 1 in woven.unanswered


def test_a_hand_in_of_which_nobody_can_say_what_answers_is_refused_with_the_cells(blank):
    """Without marks and checks, and with two cells that define the same name far apart."""
    cells = bare(without(answered(blank), "check-1", "check-2", "check-3"))
    cells.append(HandedIn("", "code", "double = 5"))
    with pytest.raises(Unclear, match=r"answers task 1: .*“double = 2 \* p.*“double = 5”"):
        weave(blank, cells, asked=ASKED)
    marked = [*cells[:-1], HandedIn("", "code", "# Task 1\ndouble = 5")]
    assert weave(blank, marked, asked=ASKED).answers[1].endswith("double = 5")


def test_answers_are_found_by_their_names_where_all_marks_are_lost(blank):
    cells = bare(without(answered(blank), "check-1", "check-2", "check-3"))
    woven = weave(blank, cells, asked=ASKED)
    assert woven.answers == {1: "double = 2 * p.number", 3: "said = p.name",
                             2: "def reverse(text):\n    return text[::-1]"}  # fmt: skip
    assert weave(blank, bare(answered(blank))).answers == woven.answers


def test_prose_becomes_code_where_it_was_the_answer(blank):
    cells = [
        HandedIn(cell.id, "markdown" if cell.id == "task-1" else cell.kind, cell.text)
        for cell in answered(blank)
    ]
    woven = weave(blank, cells)
    assert woven.answers[1] == ANSWERS["t1"]
    kinds = {cell.id: cell.cell_type for cell in woven.notebook.cells}
    assert kinds["task-1"] == "code"
    assert "no code cell" in told(woven, 1)[0]
    notes = HandedIn("", "markdown", "# Task 1\n\nI doubled it.")
    assert weave(blank, [*answered(blank), notes]).oddities == ()


def test_no_tag_of_a_student_is_left(blank):
    cells = [HandedIn(c.id, c.kind, c.text, ("skip-execution", "x")) for c in answered(blank)]
    woven = weave(blank, cells)
    tags = {tag for cell in woven.notebook.cells for tag in cell.metadata.get("tags", [])}
    assert not tags & {"skip-execution", "x"}
    assert any("skip-execution" in oddity for oddity in woven.oddities)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("here = 'localhost:9092'", "names the address localhost:9092"),
        ("%matplotlib qt", "became %matplotlib inline"),
        ("p.close()", "closes p, which the course made"),
    ],
)
def test_what_goes_otherwise_than_on_the_students_machine_is_told(blank, text, words):
    lab = copy.deepcopy(looking(blank))
    for cell in lab.cells:
        if cell.source.startswith("reversed_words"):
            cell.source += "\np.again()"
    woven = weave(lab, beside(answered(lab), "task-1", text))
    assert [words in one for one in told(woven, 1)] == [True], woven.oddities
    assert "%matplotlib qt" not in run_order(woven)


def test_a_value_of_grading_that_the_cell_does_not_set_is_refused():
    assert assignments("count = 3\nname: str = ''", {"count": 5}) == "count = 5"
    with pytest.raises(CourseError, match="does not set size"):
        assignments("count = 3", {"size": 5})


def test_what_a_lab_shows_runs_where_the_students_code_sees_it(blank):
    """In front of it stands a cell of ours, behind it the first cell again."""

    def shown(cells, **how):
        return [c.source for c in weave(blank, cells, "first", apart="apart", **how).notebook.cells]

    cells = answered(blank)
    assert not [text for text in shown(cells) if "demo cell" in text]
    uses = [
        beside(cells, "task-3", "print(shown)"),
        beside(cells, "task-1", "def later():\n    return shown"),
        beside(cells, "task-3", "eval('shown')"),
        beside(cells, "task-3", "!echo {shown}"),
        [HandedIn(c.id, c.kind, c.text.replace("demo cell", "demo cell!")) for c in cells],
    ]
    for some in (*uses, *map(bare, uses[:4])):
        texts = shown(some)
        at = next(n for n, text in enumerate(texts) if "demo cell" in text)
        assert (texts[at - 1], texts[at + 1]) == ("apart", "first")
    assert not [text for text in shown(beside(cells, "task-3", "shown = 3\nprint(shown)"))
                if "demo cell" in text]  # fmt: skip
    assert [text for text in shown(cells, all_shown=True) if "demo cell" in text]


def test_a_job_travels_as_one_line():
    cells = [HandedIn("task-1", "code", "x = 1\n", ("a", "b"))]
    job = Job("Jörg", "seed", cells, "cluster.json", False, ["odd"], True, 3)
    line = job.to_json()
    assert "\n" not in line
    assert Job.from_json(line) == job
