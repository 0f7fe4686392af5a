import ast

import pytest

import kafkalab
from authoring import reference
from authoring.build import REPOSITORY, Course

SOURCES = Course().sources()
PAGE = REPOSITORY / reference.PAGE


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.parent.name + "/" + path.name)
def test_every_name_that_a_lesson_or_a_lab_imports_stands_on_the_page(source):
    text = PAGE.read_text("utf-8")
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kafkalab"):
            for alias in node.names:
                assert f"### {alias.name}\n" in text or f"**`{alias.name}(" in text, alias.name


def test_help_lists_what_a_learner_meets():
    assert [name for name in kafkalab.__all__ if f"    {name} " not in kafkalab.__doc__] == []


def test_every_entry_says_something():
    lines = PAGE.read_text("utf-8").splitlines()
    entries = [place for place, line in enumerate(lines) if line.startswith("**`")]
    assert len(entries) > 50
    assert [lines[place] for place in entries if not lines[place + 1 : place + 2][0]] == []


def test_a_signature_stands_as_it_is_called_and_a_name_once():
    texts = [
        "from kafkalab import Prediction, charts, wait_until\n",
        "def late():\n    from kafkalab.wait import wait_until\n",
        "from kafka import KafkaProducer\n",
    ]
    page = reference.page(texts)
    assert page.count("**`wait_until(condition: Callable[[], T | None], *, timeout: float") == 1
    assert "### Prediction\n" in page
    assert "**`against(measured: float) -> Text`**  \n" in page
    assert "**`charts.show(ax: Axes, text: str)`**" in page
    assert "`charts.COLOURS`" in page
    assert "`quick.producer`" in reference.page(["from kafkalab import quick\n"])
    assert "KafkaProducer" not in page


def test_a_name_that_is_not_there_is_an_error():
    with pytest.raises(ImportError, match="nothing_of_this_name"):
        reference.page(["from kafkalab import nothing_of_this_name\n"])
