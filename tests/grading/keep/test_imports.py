"""What modules import is read once on a machine, and rightly whatever was kept."""

import importlib.metadata
import json

import pytest

from grading.keep import digest as digests
from grading.keep import imports
from grading.keep.imports import Reader
from kafkalab.places import repository
from tests.grading.keep.test_digest import digest

TEXT = "from grading.run import plan\nimport kafka\nENGINE = 'kafkalab.engine.docker'\n"


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The file in which it is kept, in a cache of its own."""
    monkeypatch.setenv("KAFKALAB_CACHE", str(tmp_path))
    imports._kept_in.cache_clear()
    yield imports._kept_in
    imports._kept_in.cache_clear()


def test_a_second_grader_reads_no_module_again(kept, monkeypatch):
    first = digest(repository())
    monkeypatch.setattr(imports, "imports_of", lambda *_: pytest.fail("was read again"))
    assert digest(repository()) == first


def test_a_changed_text_is_read_again_and_its_package_counts(kept):
    first = Reader()
    found = first.read(TEXT, "")
    assert {"grading.run.plan", "kafka", "kafkalab.engine.docker"} <= set(found.names)
    first.keep()
    again = Reader()
    assert again.read(TEXT, "") == found
    assert again.read(TEXT + "import json\n", "").meaning != found.meaning
    assert "grading.run.wait" in again.read("from . import wait", "grading.run").names
    assert again.read("from . import wait", "").names == []
    assert again.read(f"# said otherwise\n{TEXT}", "").meaning == found.meaning


def test_grading_another_lab_between_costs_nothing_and_what_is_kept_has_a_bound(kept, monkeypatch):
    monkeypatch.setattr(imports, "MOST", 3)
    for number in (1, 2):
        reader = Reader()
        reader.read(f"import lab_{number}\n", "")
        reader.read(f"import room_{number}\n", "")
        reader.keep()
    assert len(json.loads(kept().read_bytes())) == 3
    monkeypatch.setattr(imports, "imports_of", lambda *_: pytest.fail("was read again"))
    for number in (1, 2):
        Reader().read(f"import room_{number}\n", "")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"a": 1}', b'{"a": [1]}', b"\xff"])
def test_what_is_kept_and_no_longer_whole_is_read_again(kept, content):
    reader = Reader()
    found = reader.read(TEXT, "")
    reader.keep()
    kept().write_bytes(content)
    assert Reader().read(TEXT, "") == found


def test_a_cache_that_cannot_be_written_costs_time_only(kept):
    kept().parent.mkdir()
    kept().mkdir()  # root may write into any folder, but no file over one
    reader = Reader()
    found = reader.read(TEXT, "")
    reader.keep()
    assert Reader().read(TEXT, "") == found


def test_a_pin_counts_where_the_package_has_what_is_imported():
    every = importlib.metadata.packages_distributions()
    for package in ("kafka-python", "pyspark", "nbformat", "psutil"):
        names = {name for name, packages in every.items() if package in packages}
        assert names <= digests.names_of(package) | {"__pycache__"}, package
    assert digests.names_of("no-such-package") == frozenset()
