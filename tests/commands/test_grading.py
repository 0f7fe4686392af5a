"""`./course check`, `grade`, `report`, `verify` with the tiny lab of the grader's tests."""

import json
import re
import shutil
import subprocess
import sys
import zipfile

import nbformat
import pytest

from commands import app
from grading.define import place
from grading.sandbox import bubblewrap
from tests import isolation, sandboxed
from tests.grading.tiny import write_course

pytestmark = pytest.mark.usefixtures("at_home")


@pytest.fixture
def solved(course):
    from authoring.build import solution_notebook

    return solution_notebook("lab90", course)


def test_a_lab_that_is_not_there_is_told_with_those_that_are(capsys):
    assert app.main(["grade", "7", "."]) == 1
    said = capsys.readouterr().err
    assert "There is no lab 7." in said
    assert "lab90_tiny" in said


@pytest.mark.slow
@pytest.mark.parametrize("command", [["grade", "01", "anna.ipynb"], ["verify", "01"]])
def test_without_a_sandbox_nothing_runs_and_the_other_ways_are_named(command, tmp_path):
    course = [sys.executable, "-P", "-m", "commands.app", *command]
    done = subprocess.run(
        [*([] if sandboxed.why_not() else isolation.without_namespaces()), *course],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1, done.stderr
    assert "This machine has no sandbox for the code of students." in done.stderr
    assert "does not let" in done.stderr
    assert "Docker or podman" in done.stderr
    assert "--trust-students" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_system_without_namespaces_of_linux_is_told_so(monkeypatch):
    monkeypatch.setattr(bubblewrap.sys, "platform", "darwin")
    bubblewrap.found.cache_clear()
    try:
        with pytest.raises(bubblewrap.NoSandbox) as refused:
            bubblewrap.require()
    finally:
        bubblewrap.found.cache_clear()
    assert "namespaces of Linux" in refused.value.why
    assert "Docker or podman" in refused.value.mend


def test_a_folder_without_wheels_is_refused(tmp_path, capsys):
    command = ["grade", "90", ".", "--wheels", str(tmp_path), *sandboxed.options()]
    assert app.main(command) == 1
    assert "pip download" in capsys.readouterr().err


@pytest.mark.slow
def test_grade_writes_records_pages_and_json_and_resumes(solved, tmp_path, capsys):
    class_folder, out = tmp_path / "class", tmp_path / "grades"
    class_folder.mkdir()
    solved.metadata["kafka_course"] |= {"edition": "0.9", "version": 7, "text": ""}
    nbformat.write(solved, class_folder / "anna.ipynb")
    (class_folder / "ben.ipynb").write_text("<html>")
    command = ["grade", "90", str(class_folder), "--out", str(out), "--json"]
    command += sandboxed.options()
    assert app.main(command) == 0
    captured = capsys.readouterr()
    anna, ben = json.loads(captured.out)
    other = "The notebook was made from version 7 of the lab, and this is version 1 (edition 0.9)"
    assert f"anna: {other}; that alone costs nothing" in captured.err
    assert [note for note in anna["notes"] if other in note]
    assert (anna["student"], anna["outcome"], anna["reached"]) == ("anna", "pass", 8)
    assert (ben["student"], ben["outcome"], ben["reached"]) == ("ben", "unreadable", 0)
    assert app.main(command) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == [anna, ben]
    assert "2 of 2 are graded already" in captured.err
    page = out / "lab90_tiny" / "class.html"
    page.unlink()
    assert app.main(["report", "90", "--out", str(out)]) == 0
    assert page.exists()


@pytest.mark.parametrize("command", ["grade 90 anna.ipynb --out grades", "verify 90", "run 00 01"])
def test_an_engine_that_is_not_there_is_told_once_before_the_first_run(
    command, solved, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    monkeypatch.setenv("KAFKALAB_ENGINE", "process")  # is put back afterwards
    nbformat.write(solved, tmp_path / "anna.ipynb")
    options = [] if command.startswith("run") else sandboxed.options()
    assert app.main([*command.split(), *options, "--engine", "docker"]) == 1
    said = capsys.readouterr()
    assert re.match("Docker is (not installed|installed, but)", said.err), said
    assert not said.out
    assert [path.name for path in tmp_path.iterdir()] == ["anna.ipynb"]


OLD_KEY = "0f3c5a7d9b1e2468ace0"
OLD_RECORD = {
    "key": OLD_KEY,
    "student": "anna",
    "lab": "lab90_tiny",
    "lab_digest": "5f" * 32,
    "grader": "0123456789abcdef",
    "hand_in": "7a" * 32,
    "status": "finished",
    "started": "2026-10-05T08:00:00.000+00:00",
    "finished": "2026-10-05T08:00:09.000+00:00",
    "outcome": "fail",
    "why": "",
    "reached": 1.0,
    "full": 8.0,
    "checks": [
        {"id": "doubled", "task": 1, "title": "The number is doubled", "hidden": False,
         "outcome": "fail", "reached": 0.0, "full": 2.0, "messages": ["double: saw 3"],
         "detail": "", "seconds": 0.1},
    ],
    "notes": [],
    "seconds": {"wall": 9.0, "cells": 5.0, "values": 0.1},
}  # fmt: skip
OLD_EVIDENCE = {
    "lab": "lab90_tiny", "student": "anna", "seed": "s", "parameters": {"number": 5},
    "cells": {"1": {"state": "ran", "output": "3", "error": "", "seconds": 0.1}},
    "results": [{"check": "doubled", "outcome": "fail", "detail": "", "seconds": 0.1,
                 "findings": [{"ok": False, "message": "double: saw 3", "must": False}]}],
    "unanswered": [], "oddities": [], "trouble": [], "ended": None, "why": "", "refusal": None,
    "is_complete": True, "snapshots": {}, "phases": {},
}  # fmt: skip


@pytest.mark.slow
def test_a_class_of_an_older_layout_is_read_and_goes_on(solved, tmp_path, capsys):
    """Its folder has the name of the lab, its hand-ins name the script where it lay then."""
    out = tmp_path / "grades"
    attempts = out / "lab90_tiny" / "attempts"
    (attempts / OLD_KEY).mkdir(parents=True)
    (attempts / OLD_KEY / "record.json").write_text(json.dumps(OLD_RECORD))
    (attempts / OLD_KEY / "evidence.json").write_text(json.dumps(OLD_EVIDENCE))
    (out / "lab90_tiny" / "class.json").write_text(json.dumps({"anna": OLD_KEY}))
    assert app.main(["report", "lab90_tiny", "--out", str(out)]) == 0
    assert "anna" in (out / "lab90_tiny" / "class.csv").read_text()
    (page,) = (out / "lab90_tiny" / "students").iterdir()
    assert "double: saw 3" in page.read_text()
    solved.metadata["kafka_course"]["source"] = "lessons/labs/lab90_tiny.py"
    nbformat.write(solved, tmp_path / "anna.ipynb")
    capsys.readouterr()
    graded = []
    for name in ("lab90_tiny", "lab90", "90", "90_tiny"):
        command = ["grade", name, str(tmp_path / "anna.ipynb"), "--out", str(out), "--json"]
        assert app.main([*command, *sandboxed.options()]) == 0
        (record,) = json.loads(capsys.readouterr().out)
        graded.append(record)
    assert graded[0]["reached"] == 8, "another grader runs it again"
    assert graded == [graded[0]] * 4, "however the lab is named it is the same"
    assert json.loads((out / "lab90_tiny" / "class.json").read_text()) == {"anna": graded[0]["key"]}
    assert (attempts / OLD_KEY / "record.json").exists(), "what was kept stays"
    assert app.main(["check", str(tmp_path / "anna.ipynb")]) == 0
    assert "6 of 6 points" in capsys.readouterr().out


def test_a_report_needs_records(tmp_path, capsys):
    assert app.main(["report", "90", "--out", str(tmp_path)]) == 1
    assert "Nothing of lab90_tiny is graded" in capsys.readouterr().err


@pytest.mark.cluster
def test_check_tells_what_is_wrong_and_one_next_step(solved, tmp_path, capsys):
    for cell in solved.cells:
        if cell.id == "task-2":
            cell.source = "# Task 2\ndef reverse(text):\n    return text"
    path = tmp_path / "my lab (2).ipynb"
    solved.metadata["kafka_course"] |= {"edition": "0.9", "version": 1, "text": "1f"}
    nbformat.write(solved, path)
    assert app.main(["check", str(path)]) == 0
    said = capsys.readouterr().out
    assert "✓ 1 The number is doubled (2 of 2)" in said
    assert "made from another text of version 1 of the lab than this one (edition 0.9)" in said
    assert "first word: expected 'ba', saw 'ab'" in said
    assert "1 hidden check worth 2 more runs when it is graded" in said
    assert "Hint for task 2: Slices have a step." in said
    assert "any_word" not in said
    assert "Any word" not in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        ('{"cells": [{"cell_type": "code", "source": "x"}]}', "does not say which lab"),
    ],
)
def test_check_refuses_what_is_no_lab(tmp_path, capsys, text, said):
    path = tmp_path / "mine.ipynb"
    path.write_text(text)
    assert app.main(["check", str(path)]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.cluster
def test_verify_says_what_is_proven_and_what_is_not(course, tmp_path, monkeypatch, capsys):
    assert app.main(["verify", "90", "--jobs", "2", *sandboxed.options()]) == 0
    assert "lab90_tiny is proven: 4 checks in 4 runs." in capsys.readouterr().out
    assert (course / "build" / "run" / "lab90_tiny.html").exists()
    wrong = tmp_path / "wrong"
    shutil.copytree(course, wrong)
    (wrong / "grading" / "labs" / "90_tiny" / "wrong" / "1_triple.toml").unlink()
    monkeypatch.setattr(place, "repository", lambda: wrong)
    assert app.main(["verify", "90", *sandboxed.options()]) == 1
    assert "no wrong answer fails doubled" in capsys.readouterr().out


@pytest.mark.cluster
def test_a_fault_of_a_check_has_its_own_exit_code(solved, tmp_path, monkeypatch, capsys):
    broken = write_course(tmp_path / "broken")
    checks = broken / "labs" / "90_tiny" / "checks.py"
    checks.write_text(checks.read_text().replace("2 * x.p.number", "2 * x.p.nothing"))
    monkeypatch.setattr(place, "repository", lambda: broken)
    path = tmp_path / "anna.ipynb"
    nbformat.write(solved, path)
    out = ["--out", str(tmp_path / "grades"), *sandboxed.options()]
    assert app.main(["grade", "90", str(path), *out, "--json"]) == 3
    (record,) = json.loads(capsys.readouterr().out)
    assert record["outcome"] == "check_error"
    assert record["reached"] is None
    assert app.main(["check", str(path)]) == 3
    assert "please tell your teacher" in capsys.readouterr().out


def test_a_bad_roster_is_refused_before_anything_runs(solved, tmp_path, capsys):
    nbformat.write(solved, tmp_path / "anna.ipynb")
    (tmp_path / "list.csv").write_text("id,name\n1,Ada\n1,Ben\n")
    out = tmp_path / "grades"
    command = ["grade", "90", str(tmp_path / "anna.ipynb"), "--out", str(out)]
    command += ["--roster", str(tmp_path / "list.csv"), *sandboxed.options()]
    assert app.main(command) == 1
    assert "line 3: the id 1 stands on line 2 too" in capsys.readouterr().err
    assert not out.exists()


def test_report_tells_who_is_missing(classroom, capsys):
    classroom.hand_in("Ada Lee")
    classroom.write("students.csv", "name\nAda Lee\nBen Ohm\n")
    assert app.main(["report", "90", "--out", str(classroom.folder)]) == 0
    assert "look at: nothing was handed in by Ben Ohm" in capsys.readouterr().out


@pytest.mark.slow
def test_a_class_from_a_zip_of_moodle_is_graded_corrected_made_late_and_exported(
    solved, tmp_path, capsys
):
    out, upload = tmp_path / "grades", tmp_path / "KAFKA-Lab 90-4711.zip"
    with zipfile.ZipFile(upload, "w") as archive:
        for person, file, text in [
            ("Ada Lee_41000", "lab90.ipynb", nbformat.writes(solved)),
            ("Ben Ohm_41001", "lab90.html", "<html>"),
        ]:
            archive.writestr(f"{person}_assignsubmission_file_/{file}", text)
    (tmp_path / "list.csv").write_text("id,name\ns1,Ada Lee\ns2,Ben Ohm\ns3,Cem Ay\n")
    to = ["--out", str(out)]
    grade = ["grade", "90", str(upload), *to]
    assert app.main([*grade, "--roster", str(tmp_path / "list.csv")]) == 0
    assert "nothing was handed in by Cem Ay (s3)" in capsys.readouterr().out

    why = ["--why", "read from the page", "--by", "Ms Berg"]
    assert app.main(["review", "90", "Ben Ohm", "--points", "5", *why, *to]) == 0
    (out / "sheet.csv").write_text(
        "Identifier,Full name,Last modified (submission)\n"
        'Participant 41000,Ada Lee,"Saturday, 28 November 2026, 9:40 AM"\n'
    )
    (out / "class.toml").write_text(
        'timezone = "Europe/Berlin"\n[labs.lab90]\ndue = 2026-11-27T18:00:00\n'
        'worksheet = "sheet.csv"\nlate = { percent_per_day = 10 }\n'
    )
    assert app.main(grade) == 0
    (tmp_path / "gradebook.csv").write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section,Lab 90 (78)\n    Points Possible,,,,,16\n"
        '"Ay, Cem",9,s3,cem,1,\n"Lee, Ada",7,s1,ada,1,\n"Ohm, Ben",8,s2,ben,1,\n'
    )
    table = ["--table", str(tmp_path / "gradebook.csv")]
    assert app.main(["export", "90", "--to", "canvas", *table, *to]) == 0
    lines = (out / "lab90_tiny" / "canvas.csv").read_text().splitlines()
    assert lines[2:] == ['"Lee, Ada",7,s1,ada,1,14.4', '"Ohm, Ben",8,s2,ben,1,10']
