import json
from pathlib import Path

import pytest

from authoring import build
from authoring.build import Course
from authoring.contents import TABLE_BEGIN, TABLE_END
from authoring.percent import BadScript
from kafkalab.errors import CourseError

REPOSITORY = build.REPOSITORY


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A working tree with one lesson and one lab, made from the templates."""
    lessons = REPOSITORY / "lessons"
    lesson = (lessons / "TEMPLATE.py").read_text("utf-8")
    lab = (lessons / "LAB_TEMPLATE.py").read_text("utf-8")
    files = {
        "lessons/00_title.py": lesson,
        "grading/labs/00_title/lab.py": lab,
        "lessons/outline.md": "| A7 | parts | 00 | planned |\n",
        "labs/00_title/hints.md": "## task-1\n\nLook.\n\n## task-2\n\nThink.\n",
        "README.md": f"# Course\n\n{TABLE_BEGIN}\n{TABLE_END}\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
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
    assert not list(course.root.rglob("*.new"))


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
    lesson.write_text(
        lesson.read_text("utf-8").replace("# %%\nassert counts", '# %% tags=["A7"]\nassert counts')
    )
    course.write()
    assert (course.root / "lessons/outline.md").read_text() == "| A7 | parts | 00 | 00_title |\n"


def test_labs_are_found_by_name_and_number(course: Course) -> None:
    for name in ("lab00", "lab00_title"):
        student = build.student_notebook(name, course.root)
        solved = build.solution_notebook(name, course.root)
        assert "NotImplementedError" in json.dumps(student)
        assert "NotImplementedError" not in json.dumps(solved)
        assert "zlib.crc32" in json.dumps(solved)
    with pytest.raises(CourseError, match="There is no lab lab07"):
        build.student_notebook("lab07", course.root)


def test_the_command_says_what_differs(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "Course", lambda: course)
    assert build.main(["--check"]) == 1
    assert "run ./course build" in capsys.readouterr().err
    assert build.main([]) == 0
    assert "notebooks/00_title.ipynb" in capsys.readouterr().out
    assert build.main(["--check"]) == 0
