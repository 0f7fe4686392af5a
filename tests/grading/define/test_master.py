"""A lab that could not be graded is refused before a whole class is told so."""

import pytest

from grading.define import definition, master
from grading.define.place import places


@pytest.mark.parametrize("name", [place.name for place in places()])
def test_every_lab_can_be_graded(name: str) -> None:
    master.prove(definition.load(name))
