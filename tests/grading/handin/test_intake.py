"""Any upload becomes hand-ins or clear refusals."""

import io
import json
import stat
import zipfile
from pathlib import PurePosixPath

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.handin import upload
from grading.handin.intake import collect, student_of
from grading.handin.notebookfile import LARGEST, Unreadable, read
from grading.judge.outcome import Outcome
from kafkalab.errors import CourseError

LAB = "lab90_tiny"


@pytest.fixture(scope="session")
def good(blank) -> bytes:
    """A notebook as it is handed in."""
    return nbformat.writes(blank).encode()


def changed(good: bytes, **changes) -> bytes:
    return json.dumps(json.loads(good) | changes).encode()


def packed(members: dict[str, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return written.getvalue()


def by_student(path):
    return {one.student: one for one in collect(path, LAB).submissions}


@pytest.mark.parametrize(
    ("data", "because"),
    [
        (b"", "it is empty"),
        (b"\0\0\0", "it is empty"),
        (b"<!DOCTYPE html><html></html>", "it is a web page"),
        (b"[]", "it holds a list"),
        (b"42", "it holds a single value"),
        (b"{", "it is not JSON"),
        (b"[" * 200_000, "it is nested too deep"),
        (b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> mine\n", "merge conflict"),
        (b"\xff\xfe\x00", "it is not text in UTF-8"),
        (b'{"nbformat": 3, "worksheets": []}', "old notebook format 3"),
        (b'{"nbformat": 5, "cells": []}', "notebook format 5"),
        (b'{"nbformat": 4}', "it has no list of cells"),
        (b'{"nbformat": 4, "cells": []}', "all its cells are empty"),
        (b'{"cells": [1, null, "x"]}', "all its cells are empty"),
        (b"x" * (LARGEST + 1), "it is larger than 50 MB"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_notebook_is_refused_with_its_reason(data, because):
    with pytest.raises(Unreadable, match=because):
        read(data)


def test_what_can_be_read_is_read(good, blank):
    cells = read(good).cells
    assert read(b"\xef\xbb\xbf" + good).cells == cells
    assert read(good.decode().encode("utf-16")).cells == cells
    assert read(good).lab == LAB
    lists = json.loads(good)
    for cell in lists["cells"]:
        cell["source"] = cell["source"] if isinstance(cell["source"], list) else [cell["source"]]
    assert read(json.dumps(lists).encode()).cells == cells


def test_a_notebook_without_metadata_names_its_lab_in_the_set_up(good):
    cell = {"cell_type": "code", "source": f'lab = Lab.open("{LAB}", "anna")'}
    assert read(changed(good, metadata={}, cells=[cell])).lab == LAB
    for metadata in (None, [], {"kafka_course": 3}, {"kafka_course": {"source": "../lab90.sh"}}):
        assert read(changed(good, metadata=metadata)).lab is None


def test_running_a_notebook_makes_no_other_hand_in_of_it(good):
    ran = json.loads(good)
    for cell in ran["cells"]:
        if cell["cell_type"] == "code":
            cell["execution_count"] = 7
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "hello"}]
    assert read(json.dumps(ran).encode()).digest == read(good).digest


@given(data=st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["cells", "source", "id", "metadata", "tags", "nbformat", "cell_type"]),
        inner,
    ),
    max_leaves=30,
))  # fmt: skip
def test_no_json_breaks_the_reader(data):
    try:
        found = read(json.dumps(data).encode())
    except Unreadable:
        return
    assert all(isinstance(cell.text, str) for cell in found.cells)


def test_a_folder_of_notebooks(tmp_path, good):
    names = ["anna.ipynb", "Jörg Müller.ipynb", "x (1).ipynb", "{weird} [name].ipynb"]
    for name in names:
        (tmp_path / name).write_bytes(good)
    (tmp_path / "empty.ipynb").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("stray")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "anna.ipynb").write_bytes(good)
    intake = collect(tmp_path, LAB)
    found = {one.student: one for one in intake.submissions}
    assert set(found) == {"anna", "Jörg Müller", "x (1)", "{weird} [name]", "empty"}
    assert found["empty"].refusal is Outcome.UNREADABLE
    assert found["empty"].why == "empty.ipynb: because it is empty"
    assert intake.ignored == ("notes.txt: no notebook",)


def test_a_folder_per_student_as_platforms_make_it(tmp_path, good):
    for folder in ("Anna Ö_123_assignsubmission_file_", "ben", "carl", "dora"):
        (tmp_path / folder).mkdir()
    (tmp_path / "Anna Ö_123_assignsubmission_file_" / "lab.ipynb").write_bytes(good)
    (tmp_path / "ben" / "lab90-2.ipynb").write_bytes(good)
    (tmp_path / "ben" / "lab90.ipynb").write_bytes(changed(good, metadata={}))
    (tmp_path / "ben" / "broken.ipynb").write_bytes(b"{")
    (tmp_path / "carl" / "essay.docx").write_bytes(b"x")
    (tmp_path / "lmüller_LATE_12_345_lab90_tiny-1.ipynb").write_bytes(good)
    found = by_student(tmp_path)
    assert set(found) == {"Anna Ö", "ben", "carl", "dora", "lmüller"}
    assert found["Anna Ö"].notebook is not None
    assert found["ben"].notebook is not None
    assert any("broken.ipynb: because it is not JSON" in note for note in found["ben"].notes)
    assert found["carl"].refusal is Outcome.NOTHING_HANDED_IN
    assert found["dora"].refusal is Outcome.NOTHING_HANDED_IN


def test_the_latest_of_several_counts(tmp_path, good):
    for number in ("", "-1", "-2", "-10"):
        text = f"# answer {number}"
        cells = [{"cell_type": "code", "id": "task-1", "source": text}]
        (tmp_path / "anna").mkdir(exist_ok=True)
        (tmp_path / "anna" / f"lab90{number}.ipynb").write_bytes(changed(good, cells=cells))
    anna = by_student(tmp_path)["anna"]
    assert anna.notebook.cells[0].text == "# answer -10"
    assert len(anna.notes) == 3


def test_another_lab_is_told_and_not_graded(tmp_path, good):
    metadata = {"kafka_course": {"source": "lessons/labs/lab02_iris.py"}}
    (tmp_path / "anna.ipynb").write_bytes(changed(good, metadata=metadata))
    anna = by_student(tmp_path)["anna"]
    assert anna.refusal is Outcome.WRONG_LAB
    assert anna.why == f"the notebook belongs to lab02_iris, not to {LAB}"


def test_a_zip_of_a_folder_and_a_zip_inside_it(tmp_path, good):
    inner = packed({"work/lab.ipynb": good, "work/pic.png": b"x"})
    path = tmp_path / "all.zip"
    path.write_bytes(
        packed({"class/anna/lab.ipynb": good, "class/ben/work.zip": inner, "class/readme.md": b""})
    )
    found = by_student(path)
    assert set(found) == {"anna", "ben"}
    assert all(one.notebook is not None for one in found.values())


def test_the_folder_of_one_student_names_the_student(tmp_path, good):
    path = tmp_path / "one.zip"
    path.write_bytes(packed({"anna/lab90.ipynb": good}))
    assert set(by_student(path)) == {"anna"}


def test_nothing_leaves_an_archive_and_links_are_not_followed(tmp_path, good):
    path = tmp_path / "evil.zip"
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("../outside.ipynb", good)
        archive.writestr("/etc/absolute.ipynb", good)
        archive.writestr("..\\windows.ipynb", good)
        link = zipfile.ZipInfo("link.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("anna.ipynb", good)
    path.write_bytes(written.getvalue())
    intake = collect(path, LAB)
    assert [one.student for one in intake.submissions] == ["anna"]
    assert len(intake.ignored) == 4
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "ben.ipynb").symlink_to(path)
    (folder / "carl").symlink_to(tmp_path)
    (folder / "dora.ipynb").write_bytes(good)
    intake = collect(folder, LAB)
    assert [one.student for one in intake.submissions] == ["dora"]
    assert len(intake.ignored) == 2


def test_a_bomb_costs_its_owner_and_nobody_else(tmp_path, good, monkeypatch):
    monkeypatch.setattr(upload, "MOST_INNER_FILES", 10)
    (tmp_path / "anna.ipynb").write_bytes(good)
    (tmp_path / "ben.zip").write_bytes(packed({f"{n}.ipynb": good for n in range(11)}))
    (tmp_path / "carl.zip").write_bytes(packed({"big.ipynb": bytes(LARGEST + 10)}))
    (tmp_path / "dora.zip").write_bytes(b"PK\x03\x04 broken")
    found = by_student(tmp_path)
    assert found["anna"].notebook is not None
    assert "more than 10 files" in found["ben"].why
    assert "larger than 50 MB" in found["carl"].why
    assert "no readable zip file" in found["dora"].why


def test_an_upload_without_any_notebook_is_a_mistake_of_the_caller(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(CourseError, match="holds no hand-in"):
        collect(tmp_path, LAB)
    with pytest.raises(CourseError, match="There is nothing at"):
        collect(tmp_path / "missing", LAB)


@given(name=st.text(min_size=1, max_size=30).filter(lambda n: "/" not in n and n not in ".."))
def test_a_student_always_has_a_name_to_show(name):
    student = student_of(PurePosixPath(f"{name}.ipynb"))
    assert student
    assert student.isprintable()
