"""The names that tell an answer where its marks are lost."""

from grading.define import master
from grading.define.asked import asked
from grading.define.place import places
from grading.handin.answers import names_of_tasks
from grading.handin.code import bound
from grading.handin.weave import as_handed_in, task_cells, weave
from tests.grading.state import loaded


def test_the_names_of_the_tiny_lab(tiny, blank):
    assert asked(tiny) == {1: {"double"}, 2: {"reversed_words"}, 3: {"said"}}
    assert names_of_tasks(blank, asked(tiny)) == {1: {"double"}, 2: {"reverse"}, 3: {"said"}}


def test_each_lab_names_what_its_solution_defines():
    for place in places():
        lab = loaded(place.name)
        blank, solved = master.blank(lab), task_cells(master.solved(lab))
        names = names_of_tasks(blank, asked(lab))
        known = [number for number, some in names.items() if some & bound(solved[number])]
        assert len(known) > len(names) / 2, (lab.name, names)
        for number, some in names.items():
            for other in names.keys() - {number}:
                assert not some & names[other]


def test_each_solution_runs_as_it_is_also_without_ids():
    for place in places():
        lab = loaded(place.name)
        blank, solved = master.blank(lab), master.solved(lab)
        cells = as_handed_in(solved)
        woven = weave(blank, cells, asked=asked(lab), all_shown=True)
        texts = [cell.source for cell in solved.cells if cell.cell_type == "code"]
        ran = [c.source for c in woven.notebook.cells if c.cell_type == "code"]
        assert ran == texts, lab.name
        without_ids = [type(cell)("", cell.kind, cell.text) for cell in cells]
        again = weave(blank, without_ids, asked=asked(lab), all_shown=True)
        assert [c.source for c in again.notebook.cells if c.cell_type == "code"] == texts
        assert (woven.unanswered, again.unanswered) == (set(), set())
        assert (woven.oddities, again.oddities) == ((), ())
