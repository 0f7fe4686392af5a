"""A page of the learner that asks for what the course no longer has is known before it fails."""

import json

import pytest

from kafkalab.places import repository
from kafkalab.setup.copies import offered
from kafkalab.setup.gone_names import gone_names
from tests.kafkalab.setup.pages import notebook


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("from kafkalab import Cluster, nothing", ["kafkalab.nothing"]),
        ("from kafkalab.nowhere import thing", ["kafkalab.nowhere.thing"]),
        ("import kafkalab.nowhere", ["kafkalab.nowhere"]),
        ("from kafkalab import errors as e\ne.CourseError\ne.Old(1)", ["kafkalab.errors.Old"]),
        ("import kafkalab.errors as e\ne.Old", ["kafkalab.errors.Old"]),
        ("from kafkalab import errors\nerrors.CourseError('what')", []),
        ("from pandas import nothing\nimport nowhere\nnowhere.thing", []),
        ("%matplotlib inline\nfrom kafkalab import nothing", []),
    ],
)
def test_names_are_looked_up_in_the_course(tmp_path, text, gone):
    (tmp_path / "page.ipynb").write_text(notebook(text))
    (tmp_path / "program.py").write_text(text)

    assert gone_names(tmp_path / "page.ipynb") == gone
    assert gone_names(tmp_path / "program.py") == gone


def test_a_name_of_one_cell_is_known_in_the_next(tmp_path):
    one, two = (
        json.loads(notebook(text))["cells"][0]
        for text in ("from kafkalab import errors", "errors.Old")
    )
    (tmp_path / "page.ipynb").write_text(json.dumps({"cells": [one, two]}))

    assert gone_names(tmp_path / "page.ipynb") == ["kafkalab.errors.Old"]


def test_what_is_no_notebook_has_no_names(tmp_path):
    (tmp_path / "page.ipynb").write_text("{broken")

    assert gone_names(tmp_path / "page.ipynb") == []


def test_what_the_course_gives_out_uses_nothing_that_is_gone():
    found = {path: gone_names(repository() / path) for path in offered(repository())
             if path.suffix in (".ipynb", ".py")}  # fmt: skip

    assert len(found) > 10
    assert {path: gone for path, gone in found.items() if gone} == {}
