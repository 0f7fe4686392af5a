import json
import shutil
from pathlib import Path

import pytest

from authoring import build
from authoring.build import Course
from authoring.marked import marks
from authoring.percent import BadScript
from kafkalab.errors import CourseError

TABLE = "\n".join(marks("lessons"))

REPOSITORY = build.REPOSITORY


TEMPLATE = REPOSITORY / "authoring" / "template"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A working tree with the lesson and the lab of the template."""
    shutil.copytree(TEMPLATE, tmp_path, dirs_exist_ok=True)
    files = {
        "lessons/outline.md": "| A7 | parts | title | planned |\n",
        "lessons/glossary.md": "| say | not | right in |\n|---|---|---|\n| record | message | |\n",
        "README.md": f"# Course\n\n{TABLE}\n",
    }
    for path, text in files.items():
        (tmp_path / path).write_text(text, "utf-8")
    return Course(tmp_path)


def paths(problems: list) -> list[str]:
    return [problem.path for problem in problems]


def test_a_build_writes_what_a_check_misses_and_nothing_twice(course: Course) -> None:
    missing = course.differences()
    assert paths(missing) == [
        "notebooks/00_title.ipynb",
        "labs/00_title/lab00_title.ipynb",
        "notebooks/README.md",
        "README.md",
        "lessons/reference/kafkalab.md",
    ]
    assert str(missing[0]) == (
        "notebooks/00_title.ipynb:1: is missing; it is made from lessons/00_title.py; "
        "run ./course build"
    )
    assert list(map(str, course.write())) == paths(missing)
    assert course.differences() == []
    assert course.write() == []


def test_a_changed_notebook_is_named_with_its_script(course: Course) -> None:
    course.write()
    notebook = course.root / "notebooks" / "00_title.ipynb"
    notebook.write_text(notebook.read_text("utf-8").replace("records = 20", "records = 21"))
    (problem,) = course.differences()
    assert "differs from lessons/00_title.py; run ./course build" in str(problem)


def test_a_line_feed_more_is_a_difference(course: Course) -> None:
    course.write()
    notebook = course.root / "labs" / "00_title" / "lab00_title.ipynb"
    notebook.write_bytes(notebook.read_bytes() + b"\n")
    assert paths(course.differences()) == ["labs/00_title/lab00_title.ipynb"]


def test_a_notebook_goes_with_its_script(course: Course) -> None:
    course.write()
    (course.root / "lessons/00_title.py").rename(course.root / "lessons/00_name.py")
    assert "notebooks/00_title.ipynb" in paths(course.differences())
    course.write()
    assert [path.name for path in course.root.glob("notebooks/*.ipynb")] == ["00_name.ipynb"]
    assert course.differences() == []


def test_a_notebook_of_somebody_else_stays(course: Course) -> None:
    course.write()
    own = course.root / "notebooks" / "mine.ipynb"
    copy = course.root / "notebooks" / "00_title-Copy1.ipynb"
    own.write_text('{"metadata": {}, "cells": []}')
    copy.write_bytes((course.root / "notebooks" / "00_title.ipynb").read_bytes())
    assert all("move it to work/" in str(problem) for problem in course.differences())
    assert course.write() == []
    assert own.exists()
    assert copy.exists()


def test_mistakes_of_all_files_are_reported_and_nothing_is_written(course: Course) -> None:
    (course.root / "labs/00_title/hints.md").write_text("## task-1\n")
    lesson = course.root / "lessons/00_title.py"
    lesson.write_text(lesson.read_text("utf-8").replace('tags=["parameters"]', ""))
    with pytest.raises(BadScript) as caught:
        course.write()
    assert paths(caught.value.problems) == [
        "grading/labs/00_title/lab.py",
        "lessons/00_title.py",
    ]
    assert not (course.root / "notebooks").exists()


def test_every_file_has_a_number_of_its_own(course: Course) -> None:
    lessons = course.root / "lessons"
    text = (lessons / "00_title.py").read_text("utf-8")
    (lessons / "00_zebra.py").write_text(text, "utf-8")
    (lessons / "title.py").write_text(text, "utf-8")
    with pytest.raises(BadScript) as caught:
        course.write()
    assert list(map(str, caught.value.problems)) == [
        "lessons/00_zebra.py:1: the number 00 a second time; "
        "lessons/00_title.py has it already: take the next one",
        "lessons/title.py:1: a file name without its number; call it NN_name.py",
    ]


def test_the_outline_is_filled(course: Course) -> None:
    lesson = course.root / "lessons/00_title.py"
    lesson.write_text(lesson.read_text("utf-8").replace('["proof"]', '["proof", "A7"]', 1))
    course.write()
    assert (course.root / "lessons/outline.md").read_text() == "| A7 | parts | title | title |\n"


def test_a_requirement_that_the_outline_does_not_list_is_refused(course: Course) -> None:
    lesson = course.root / "lessons/00_title.py"
    lesson.write_text(lesson.read_text("utf-8").replace('["proof"]', '["proof", "A8"]', 1))
    with pytest.raises(BadScript, match="no requirement has the id A8"):
        course.write()
    with (course.root / "lessons/outline.md").open("a") as outline:
        outline.write("| A8 | the eighth | title | planned |\n")  # one line in one file
    course.write()


def test_a_reader_gets_no_proof(course: Course) -> None:
    course.write()
    assert '["proof"]' in (course.root / "lessons" / "00_title.py").read_text("utf-8")
    notebook = (course.root / "notebooks" / "00_title.ipynb").read_text("utf-8")
    assert "proof" not in notebook
    assert "assert" not in notebook


def test_what_a_build_remarks_refuses_nothing(course: Course) -> None:
    lesson = course.root / "lessons/00_title.py"
    wordy = "# Simply a message.\n" + "# word\n" * 1_500
    lesson.write_text(lesson.read_text("utf-8").replace("# The client refuses", wordy + "# It is"))
    course.write()
    sizes = {page.page: page for page in course.sizes()}
    assert sizes["00_title"].words > 1_500
    assert sizes["lab00_title"].words < 300
    said = [problem.what for problem in course.remarks()["00_title"]]
    assert "the word 'message'" in said
    assert "the word 'Simply'" in said


def test_labs_are_found_by_name_and_number(course: Course) -> None:
    for name in ("lab00", "lab00_title"):
        student = build.student_notebook(name, course.root)
        solved = build.solution_notebook(name, course.root)
        assert "NotImplementedError" in json.dumps(student)
        assert "NotImplementedError" not in json.dumps(solved)
        assert "zlib.crc32" in json.dumps(solved)
    with pytest.raises(CourseError, match="There is no lab lab07"):
        build.student_notebook("lab07", course.root)
