import pytest

from authoring import solutions
from authoring.percent import Cell, Script

CELL = """# Task 2
import zlib

def pick(key, partitions):
    \"\"\"Doc.\"\"\"
    # BEGIN SOLUTION
    # STUB: choose a "good" partition
    number = zlib.crc32(key)
    return number % partitions
    # END SOLUTION


# BEGIN SOLUTION
answer = 42
# END SOLUTION"""


def task(text: str) -> Cell:
    return Cell("code", ("task-2",), text, 10)


def problems(text: str) -> list[str]:
    script = Script("x.py", [])
    return [str(problem) for problem in solutions.problems(script, task(text), "do it")]


def test_the_student_gets_a_stub_at_the_same_indentation() -> None:
    assert (
        solutions.student_text(task(CELL), "give the answer")
        == """# Task 2
import zlib

def pick(key, partitions):
    \"\"\"Doc.\"\"\"
    raise NotImplementedError("Task 2: choose a \\"good\\" partition")


raise NotImplementedError("Task 2: give the answer")"""
    )


def test_the_author_gets_everything_but_the_marks() -> None:
    text = solutions.solution_text(task(CELL))
    assert "SOLUTION" not in text
    assert "STUB" not in text
    assert "    number = zlib.crc32(key)\n    return number % partitions\n\n\nanswer = 42" in text


def test_regions_in_order_are_accepted() -> None:
    assert problems(CELL) == []


def solved(*lines: str) -> str:
    return "\n".join(["# BEGIN SOLUTION", *lines, "# END SOLUTION"])


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a = 1", 10, "no solution region, so its blank cell would run green"),
        ("# BEGIN SOLUTION\na = 1", 10, "never closed"),
        ("a = 1\n# END SOLUTION", 11, "never began"),
        (solved("# BEGIN SOLUTION", "a = 1", "# END SOLUTION"), 11, "inside a solution"),
        (solved(), 10, "an empty solution"),
        (solved("# only a comment"), 10, "an empty solution"),
        ("# begin solution\na = 1\n# END SOLUTION", 10, "not understood"),
        (solved("a = 1  # END SOLUTION"), 11, "not understood"),
        (solved("a = 1", "# STUB: too late"), 12, "not understood"),
        ("if True:\n    # BEGIN SOLUTION\n    a = 1\n# END SOLUTION", 13, "two indentations"),
        ("if True:\n" + solved("    a = 1"), 10, "without its solution is not Python"),
        (
            "try:\n    # BEGIN SOLUTION\n    a()\n    # END SOLUTION\nexcept Exception:\n    b()",
            10,
            "would run green: a try block catches its stub",
        ),
    ],
)
def test_a_bad_region_is_refused(text: str, line: int, what: str) -> None:
    found = problems(text)
    assert any(problem.startswith(f"x.py:{line}: ") and what in problem for problem in found), found


def test_a_try_block_for_another_error_is_fine() -> None:
    assert not problems(
        "try:\n    # BEGIN SOLUTION\n    a = 1\n    # END SOLUTION\nexcept KeyError:\n    a = 0"
    )


def test_a_solution_outside_a_task_is_refused() -> None:
    cell = Cell("code", (), solved("a = 1"), 10)
    (problem,) = solutions.problems(Script("x.py", []), cell, "")
    assert "outside a task cell" in str(problem)


EXERCISE = """# The newest record of partition 2
# BEGIN SOLUTION
# STUB: newest = ...
end = consumer.end_offsets([two])[two]
newest = end - 1
# END SOLUTION
reading.check_newest(newest)"""


def exercise(text: str) -> Cell:
    return Cell("code", ("exercise",), text, 10)


def test_an_exercise_of_a_lesson_is_a_blank_that_runs() -> None:
    assert solutions.blank_text(exercise(EXERCISE)) == (
        "# The newest record of partition 2\nnewest = ...\nreading.check_newest(newest)"
    )


def test_its_answer_is_folded() -> None:
    folded = solutions.folded(exercise(EXERCISE))
    assert folded.startswith("<details><summary>One answer</summary>\n\n```python\nend = consumer")
    assert folded.endswith("newest = end - 1\n```\n\n</details>")
    assert "STUB" not in folded


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("# STUB: newest = ...\n", "", "an exercise without a blank"),
        ("newest = ...", "newest = None", "an exercise without a blank"),
        ("newest = ...", "newest = ... and", "not Python while it is blank"),
        (EXERCISE, "check()", "an exercise without a blank"),
    ],
)
def test_an_exercise_needs_a_blank(old: str, new: str, said: str) -> None:
    cell = exercise(EXERCISE.replace(old, new))
    (problem,) = solutions.problems(Script("x.py", []), cell, "")
    assert said in str(problem)
