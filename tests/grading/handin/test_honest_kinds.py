"""The hand-ins of `./course bench fairness`: woven, every honest one has all its answers."""

import pytest

from benchmarks.handins.cheats import cheats
from benchmarks.handins.honest import honest
from grading.define import definition, master
from grading.define.asked import asked
from grading.define.place import places
from grading.handin import code
from grading.handin.notebookfile import read
from grading.handin.weave import weave

MANY = 30


@pytest.mark.rest
@pytest.mark.parametrize("name", [place.name for place in places()])
def test_every_honest_kind_has_its_answers(name):
    lab = definition.load(name)
    blank, names = master.blank(lab), asked(lab)
    kinds = dict(honest(lab))
    assert len(kinds) > MANY
    for kind, data in kinds.items():
        handed_in = read(data)
        assert handed_in.lab == lab.name, kind
        broken = [c.text for c in handed_in.cells if c.kind == "code" and not code.tree(c.text)]
        assert broken == [], kind
        assert not weave(blank, handed_in.cells, asked=names).unanswered, kind


def test_every_cheat_is_a_notebook_of_the_lab():
    lab = definition.load("lab01")
    told = dict.fromkeys(("COURSE", "ROOT", "LOOT", "STRAY", "VICTIM"), "told")
    found = dict(cheats(lab, told))
    assert len(found) > MANY
    for kind, data in found.items():
        handed_in = read(data)
        assert handed_in.lab == lab.name, kind
        assert all(c.kind != "code" or code.tree(c.text) for c in handed_in.cells), kind
