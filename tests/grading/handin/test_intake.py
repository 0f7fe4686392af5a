"""Any upload becomes hand-ins or clear refusals."""

import io
import json
import os
import stat
import tarfile
import zipfile
from pathlib import PurePosixPath

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.handin import archives, notebookfile, upload
from grading.handin.intake import collect
from grading.handin.names import said
from grading.handin.notebookfile import Unreadable, read
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
        (b"{", "it is damaged or cut off: it is not JSON"),
        (b"[" * 200_000, "it is nested too deep"),
        (b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> mine\n", "merge conflict"),
        (b"\xff\xfe\x00", "it is not text in UTF-8"),
        (b'{"nbformat": 3, "worksheets": []}', "old notebook format 3"),
        (b'{"nbformat": 5, "cells": []}', "notebook format 5"),
        (b'{"nbformat": 4}', "it has no list of cells"),
        (b'{"nbformat": 4, "cells": []}', "all its cells are empty"),
        (b'{"cells": [1, null, "x"]}', "all its cells are empty"),
        (b"x" * 200_000_001, "it is larger than 200 MB"),
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


@pytest.mark.parametrize("named", ["", "lab90.ipynb", "mine.zip"])
def test_one_person_of_a_class_is_the_same_person_alone(tmp_path, good, named):
    folder = tmp_path / "Anna Ö_123_assignsubmission_file"
    folder.mkdir()
    if named == "mine.zip":
        with zipfile.ZipFile(folder / named, "w") as archive:
            archive.writestr("deep/lab90.ipynb", good)
    else:
        (folder / "lab90.ipynb").write_bytes(good)
    (of_all,) = collect(tmp_path, "lab90_tiny").submissions
    (alone,) = collect(folder / named, "lab90_tiny").submissions
    assert (alone.student, alone.id, alone.platform) == ("Anna Ö", "123", "Moodle")
    assert alone.id == of_all.id
    assert alone.notebook == of_all.notebook


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
    assert any("broken.ipynb: because it is damaged" in note for note in found["ben"].notes)
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
    monkeypatch.setattr(upload, "MOST_INNER_WORK", 10)
    monkeypatch.setattr(upload, "LARGEST_FILE", 1_000_000)
    monkeypatch.setattr(notebookfile, "LARGEST_FILE", 1_000_000)
    (tmp_path / "anna.ipynb").write_bytes(good)
    (tmp_path / "ben.zip").write_bytes(packed({f"{n}.ipynb": good for n in range(11)}))
    (tmp_path / "carl.zip").write_bytes(packed({"big.ipynb": bytes(1_000_010)}))
    (tmp_path / "dora.zip").write_bytes(b"PK\x03\x04 broken")
    found = by_student(tmp_path)
    assert found["anna"].notebook is not None
    assert "far too many notebooks" in found["ben"].why
    assert "larger than 1 MB" in found["carl"].why
    assert "no readable zip file" in found["dora"].why


def test_an_upload_without_any_notebook_is_a_mistake_of_the_caller(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(CourseError, match="holds no hand-in"):
        collect(tmp_path, LAB)
    with pytest.raises(CourseError, match="There is nothing at"):
        collect(tmp_path / "missing", LAB)


@given(name=st.text(min_size=1, max_size=30).filter(lambda n: "/" not in n and n not in ".."))
def test_a_student_always_has_a_name_to_show(name):
    student = said(PurePosixPath(f"{name}.ipynb")).who.name
    assert student
    assert student.isprintable()


def put(folder, members):
    for name, data in members.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def answered(good: bytes, text: str = "double = 2") -> bytes:
    cells = json.loads(good)["cells"]
    for cell in cells:
        if cell.get("id") == "task-1":
            cell["source"] = f"# Task 1\n{text}"
    return changed(good, cells=cells)


@pytest.mark.parametrize(
    ("platform", "members", "ids", "names"),
    [
        (
            "Moodle",
            [f"Ada Lee_{n}_assignsubmission_file_/lab.ipynb" for n in (11, 12)],
            ["11", "12"],
            ["Ada Lee (11)", "Ada Lee (12)"],
        ),
        (
            "Moodle without folders",
            ["Ada Lee_11_assignsubmission_file_lab.ipynb", "Bo_12_assignsubmission_file_x.ipynb"],
            ["11", "12"],
            ["Ada Lee", "Bo"],
        ),
        (
            "Canvas",
            ["leeada_5100_311_lab.ipynb", "leeada_LATE_5110_312_lab-1.ipynb"],
            ["5100", "5110"],
            ["leeada (5100)", "leeada (5110)"],
        ),
        (
            "Blackboard",
            [
                "Lab 01_alee_attempt_2026-11-20-10-15-30_lab.ipynb",
                "Lab 01_alee_attempt_2026-11-27-18-00-00_lab_2.ipynb",
                "Lab 01_blee_attempt_2026-11-26-09-00-00_lab.ipynb",
            ],
            ["alee", "blee"],
            ["alee", "blee"],
        ),
        (
            "names with dates",
            ["lab01_20261128_101530_1.ipynb", "lab01_20261128_101531_2.ipynb"],
            ["lab01_20261128_101530_1", "lab01_20261128_101531_2"],
            ["lab01_20261128_101530_1", "lab01_20261128_101531_2"],
        ),
        (
            "dates behind names",
            ["ada_20261128_1015_lab.ipynb", "ada_20261128_1016_lab.ipynb"],
            ["ada_20261128_1015_lab", "ada_20261128_1016_lab"],
            ["ada_20261128_1015_lab", "ada_20261128_1016_lab"],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("shape", ["folder", "zip", "zip in a zip"])
def test_a_hand_in_belongs_to_an_id(tmp_path, good, platform, members, ids, names, shape):
    content = dict.fromkeys(members, good)
    path = tmp_path / "all"
    if shape == "folder":
        put(path, content)
    else:
        path = tmp_path / "all.zip"
        inside = packed(content)
        if shape == "zip in a zip" and platform in {"names with dates", "dates behind names"}:
            return  # without a platform's shape, an inner archive is somebody's
        path.write_bytes(inside if shape == "zip" else packed({"class.zip": inside}))
    found = collect(path, LAB).submissions
    assert [one.id for one in found] == ids
    assert [one.student for one in found] == names
    assert all(one.notebook is not None for one in found)


def test_what_a_platform_tells_beside_the_work(tmp_path, good):
    note = b"Name: Ada Lee (alee)\nAssignment: Lab 01\nDate Submitted: Friday\n"
    put(tmp_path / "blackboard", {
        "Lab 01_alee_attempt_2026-11-27-18-00-00.txt": note,
        "Lab 01_alee_attempt_2026-11-27-18-00-00_lab.ipynb": good,
    })  # fmt: skip
    (ada,) = collect(tmp_path / "blackboard", LAB).submissions
    assert (ada.student, ada.id, ada.handed_in) == ("Ada Lee", "alee", "2026-11-27T18:00:00")
    put(tmp_path / "canvas", {"leeada_LATE_11_311_lab.ipynb": good})
    (late,) = collect(tmp_path / "canvas", LAB).submissions
    assert late.notes == ("Canvas marks it as late",)
    assert late.handed_in == ""
    table = b"""---
submission_77:
  :submitters:
  - :name: Ada Lee
    :sid: s100
    :email: ada@example.org
  - :name: Bo Ray
  :created_at: 2026-11-27 18:00:00.5 Z
submission_78:
  :submitters:
  - :name: Ada Lee
    :sid: s101
"""
    put(tmp_path / "scope", {
        "assignment_5_export/submission_77/lab.ipynb": good,
        "assignment_5_export/submission_78/lab.ipynb": good,
        "assignment_5_export/submission_metadata.yml": table,
    })  # fmt: skip
    found = collect(tmp_path / "scope" / "assignment_5_export", LAB).submissions
    assert [one.student for one in found] == ["Ada Lee (s100)", "Ada Lee (s101)"]
    assert found[0].handed_in == "2026-11-27T18:00:00+00:00"
    assert "handed in together with Bo Ray" in found[0].notes
    put(tmp_path / "broken", {"submission_1/lab.ipynb": good, "submission_metadata.yml": b":\n- ["})
    assert [one.id for one in collect(tmp_path / "broken", LAB).submissions] == ["submission_1"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("lab01_2026-11-28.ipynb", "lab01_2026-12-02.ipynb"),
        ("lab01_28-11-2026.ipynb", "lab01_02-12-2026.ipynb"),
        ("lab01_20261128-101530.ipynb", "lab01_20261202-090000.ipynb"),
    ],
)
def test_a_date_is_no_copy_number(tmp_path, good, first, second):
    put(tmp_path / "ada", {first: answered(good, "double = 1"), second: answered(good)})
    os.utime(tmp_path / "ada" / first, (1, 1))
    (ada,) = collect(tmp_path, LAB).submissions
    assert any("double = 2" in cell.text for cell in ada.notebook.cells)


@pytest.mark.parametrize(
    "fresh", ["lab.new.ipynb", "lab-Copy1.ipynb", "lab (1).ipynb", "a/lab.ipynb"]
)
def test_a_blank_copy_beside_the_work_does_not_count(tmp_path, good, fresh):
    put(tmp_path / "ada", {"lab.ipynb": answered(good), fresh: good})
    os.utime(tmp_path / "ada" / "lab.ipynb", (1, 1))
    (ada,) = collect(tmp_path, LAB).submissions
    assert any("double = 2" in cell.text for cell in ada.notebook.cells)
    assert any("it has no answers" in note for note in ada.notes)


def tarred(members: dict[str, bytes], mode: str, **links: str) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode=f"w:{mode}") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for name, target in links.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return written.getvalue()


def test_notebooks_in_other_wraps_are_read(tmp_path, good):
    deep = packed({"b.zip": packed({"c/d.tgz": tarred({"./lab.ipynb": good}, "gz")})})
    put(tmp_path, {
        "ada/lab.ipynb.json": good,
        "bo.ipynb.txt": good,
        "cy/lab.json": good,
        "di.tar.gz": tarred({"./work/lab.ipynb": good}, "gz"),
        "ed.tar.xz": tarred({"lab.ipynb": good}, "xz"),
        "fe/all.zip": deep,
        "gil_1_2_lab.zip": packed({"lab.ipynb": good}),
    })  # fmt: skip
    found = by_student(tmp_path)
    assert set(found) == {"ada", "bo", "cy", "di", "ed", "fe", "gil"}
    assert all(one.notebook is not None for one in found.values())


def test_what_is_no_notebook_is_refused_with_its_reason_on_the_list(tmp_path, good):
    put(tmp_path, {
        "ada.py": b"x = 1", "bo/lab.py": b"x = 1", "cy.rar": b"Rar!", "di/lab.pdf": b"%PDF",
        "ed_1_2_lab.html": b"<html>", "fe.tar.gz": b"no tar", "gil/essay.docx": b"x",
        "stray.html": b"<html>", "ok.ipynb": good,
    })  # fmt: skip
    intake = collect(tmp_path, LAB)
    why = {one.student: one.why for one in intake.submissions}
    assert "ada.py: because it is a Python script" in why["ada"]
    assert "lab.py: because it is a Python script" in why["bo"]
    assert "not read; zip and tar.gz are" in why["cy"]
    assert "it is a PDF" in why["di"]
    assert "it is a web page" in why["ed"]
    assert "no readable tar archive" in why["fe"]
    assert "no notebook, but essay.docx" in why["gil"]
    assert any(line.startswith("stray.html: it is a web page") for line in intake.ignored)
    assert set(why) == {"ada", "bo", "cy", "di", "ed", "fe", "gil", "ok"}


def test_bounds_count_what_is_kept(tmp_path, good, monkeypatch):
    monkeypatch.setattr(upload, "MOST_INNER_WORK", 5)
    dropped = {f"lab/.git/objects/{n:03}": b"" for n in range(50)}
    dropped |= {f"lab/.venv/lib/{n}.ipynb": b"" for n in range(50)}
    dropped |= {f"lab/my/lib/python3.11/site-packages/{n}.zip": b"" for n in range(50)}
    dropped |= {f"lab/data/{n}.csv": b"" for n in range(50)}
    outputs = json.loads(answered(good))
    outputs["cells"][2]["outputs"] = [{"output_type": "stream", "text": "x" * 3_000_000}]
    monkeypatch.setattr(notebookfile, "LARGEST", 1_000_000)
    put(tmp_path, {
        "ada.zip": packed(dropped | {"lab/lab.ipynb": good}),
        "bo.ipynb": json.dumps(outputs).encode(),
        "cy.zip": packed({f"{n}.zip": packed({f"{m}.ipynb": good for m in range(3)})
                          for n in range(3)}),
    })  # fmt: skip
    found = by_student(tmp_path)
    assert found["ada"].notebook is not None
    assert found["bo"].notebook is not None
    assert "far too many" in found["cy"].why


def test_bombs_and_links_in_other_archives_cost_nothing(tmp_path, good, monkeypatch):
    monkeypatch.setattr(archives, "LARGEST", 1_000_000)
    nested = good
    for _ in range(8):
        nested = packed({"x.zip": nested, "lab.ipynb": good})
    put(tmp_path, {
        "ada.tar.gz": tarred({"lab.ipynb": b" " * 2_000_000}, "gz"),
        "bo.zip": packed({"lab.ipynb": good, "broken.zip": b"PK"}),
        "cy.tar": tarred({"../out.ipynb": good, "lab.ipynb": good}, "", link="/etc/passwd"),
        "di.zip": nested,
    })  # fmt: skip
    intake = collect(tmp_path, LAB)
    found = {one.student: one for one in intake.submissions}
    assert "more than 1 MB" in found["ada"].why
    assert found["bo"].notebook is not None
    assert found["cy"].notebook is not None
    assert "../out.ipynb: a path that leaves the archive" in intake.ignored
    assert "link: a link or no plain file" in intake.ignored
    assert found["di"].notebook is not None
    assert any("deep in one another" in note for note in found["di"].notes)
