import pytest

from authoring import percent, rules

LESSON = """# %% [markdown]
# # 05 Durability
#
# Is it safe?

# %% tags=["parameters"]
records = 3

# %% tags=["A7"]
assert records
"""
LAB = """# %% [markdown]
# # Lab 02 Iris
#
# Where?

# %% tags=["parameters"]
student = ""

# %% [markdown]
# ## Task 1: choose

# %% tags=["task-1"]
# Task 1
# BEGIN SOLUTION
a = 1
# END SOLUTION

# %% tags=["check-1"]
lab.check(1)

# %% [markdown]
# ## Task 2: say

# %% tags=["task-2"]
# Task 2
# BEGIN SOLUTION
b = 1
# END SOLUTION

# %% tags=["check-2"]
lab.check(2)
"""


def refused(text: str, path: str, hints: set[int] | None = None) -> list[str]:
    script = percent.read(text, path)
    found = rules.refusals(script, hints=hints, rows={"A7", "B12"})
    return [str(problem) for problem in found]


def test_good_ones_pass() -> None:
    assert not refused(LESSON, "lessons/05_durability.py")
    assert not refused(LAB, "grading/labs/02_iris/lab.py", {1, 2})


def test_titles() -> None:
    assert str(rules.title(percent.read(LESSON, "05_x.py"))) == "05 Durability"
    assert str(rules.title(percent.read(LAB, "lab02_x.py"))) == "Lab 02 Iris"
    assert rules.task_titles(percent.read(LAB, "lab02_x.py")) == {1: "choose", 2: "say"}


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("# # 05 Durability", "# Durability", 1, "no title in the first cell"),
        ("# # 05 Durability", "# # Lab 05 Durability", 1, "no title in the first cell"),
        ("# # 05", "# # 06", 2, "the title says 06, the file name says 05"),
        ('tags=["parameters"]', "", 1, "no parameters cell"),
        ('tags=["A7"]', 'tags=["parameters"]', 10, "a second parameters cell"),
        ('tags=["A7"]', 'tags=["A8"]', 10, "no requirement has the id A8"),
        ('tags=["A7"]', 'tags=["prove"]', 10, "an unknown tag: prove"),
        ('tags=["A7"]', 'tags=["raises-exception"]', 10, "an unknown tag: raises-exception"),
        ('tags=["A7"]', 'tags=["task-1"]', 10, "task-1 in a lesson"),
        ('tags=["A7"]', 'tags=["A7", "A7"]', 10, "the tag A7 twice on one cell"),
        ('tags=["A7"]\nassert records', '[markdown] tags=["A7"]\n# Prose.', 10, "a tag on prose"),
        ('tags=["A7"]\nassert records', "[markdown]\n# Prose.", 10, "the last cell is prose"),
        ("assert records", "records", 10, "A7 claimed by a cell that asserts nothing"),
        ("assert records", "assert True", 10, "A7 claimed by a cell that asserts nothing"),
        ("assert records", "assert (records, 3)", 10, "A7 claimed by a cell that asserts"),
    ],
)
def test_a_bad_lesson_is_refused(old: str, new: str, line: int, what: str) -> None:
    assert old in LESSON
    found = refused(LESSON.replace(old, new), "lessons/05_durability.py")
    start = f"lessons/05_durability.py:{line}: "
    assert any(problem.startswith(start) and what in problem for problem in found), found


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("# # Lab 02", "# # 02", 1, "no title in the first cell"),
        ("# Task 1\n# BEGIN", "# BEGIN", 13, "the cell of task 1 does not say so"),
        ("## Task 1: choose", "## Choose", 13, "task 1 has no title"),
        ('tags=["check-1"]', "", 13, "task 1 has no check cell after it"),
        ('tags=["check-1"]', 'tags=["check-3"]', 19, "check-3 checks a task that is not there"),
        ('tags=["check-2"]', 'tags=["check-1"]', 31, "the tag check-1 a second time"),
        ('tags=["task-2"]', 'tags=["task-1"]', 25, "the tag task-1 a second time"),
        ('tags=["task-2"]', 'tags=["task-3"]', 13, "tasks numbered 1, 3"),
        ("# BEGIN SOLUTION\nb = 1\n# END SOLUTION", "b = 1", 25, "would run green"),
        ('# END SOLUTION\n\n# %% tags=["check-1"]', '\n# %% tags=["check-1"]', 14, "never closed"),
    ],
)
def test_a_bad_lab_is_refused(old: str, new: str, line: int, what: str) -> None:
    assert old in LAB
    found = refused(LAB.replace(old, new), "grading/labs/02_iris/lab.py", {1, 2})
    start = f"grading/labs/02_iris/lab.py:{line}: "
    assert any(problem.startswith(start) and what in problem for problem in found), found


def test_a_task_without_a_hint_is_refused() -> None:
    found = refused(LAB, "grading/labs/02_iris/lab.py", {1})
    assert len(found) == 1
    assert "task 2 has no hint" in found[0]


def test_a_lab_needs_a_task() -> None:
    found = refused(LESSON.replace("05", "Lab 05"), "grading/labs/05_x/lab.py", set())
    assert any("a lab without a task" in problem for problem in found)


PROOF = """
# %% tags=["proof", "A7", "B12"]
assert records == 3, records

# %%
records
"""


def test_a_proof_that_can_fail_is_accepted() -> None:
    assert not refused(LESSON + PROOF, "lessons/05_durability.py")
    deep = PROOF.replace("assert", "for number in [3]:\n    assert")
    assert not refused(LESSON + deep, "lessons/05_durability.py")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("assert records == 3, records", "records", "a proof that cannot fail"),
        ("assert records == 3, records", "assert True, records", "a proof that cannot fail"),
        ("assert records == 3, records", "assert (records == 3, records)", "cannot fail"),
        ('"proof", "A7"', '"proof", "parameters"', "a proof with the tag parameters"),
        ('"proof", "A7"', '"proof", "prediction"', "a proof with the tag prediction"),
        ('# %% tags=["proof"', '# %% [markdown] tags=["proof"', "a tag on prose"),
    ],
)
def test_a_proof_that_proves_nothing_is_refused(old: str, new: str, what: str) -> None:
    assert old in PROOF
    found = refused(LESSON + PROOF.replace(old, new), "lessons/05_durability.py")
    assert any(":13:" in problem and what in problem for problem in found), found


@pytest.mark.parametrize(
    ("makes", "uses"),
    [
        ("kept = 1", "kept"),
        ("import zlib", "zlib.crc32(b'')"),
        ("def kept():\n    return 1", "print(kept())"),
        ("for kept in [1]:\n    pass", "[kept]"),
    ],
)
def test_a_page_that_needs_a_proof_is_refused(makes: str, uses: str) -> None:
    needy = LESSON + PROOF.replace("assert", f"{makes}\nassert").replace(
        "\nrecords\n", f"\n{uses}\n"
    )
    (problem,) = refused(needy, "lessons/05_durability.py")
    assert "the page uses" in problem
    assert "which a proof makes" in problem
    made_again = needy.replace("# %%\n", f"# %%\n{makes}\n")
    assert not refused(made_again, "lessons/05_durability.py")


def test_a_proof_leaves_what_the_page_shows_below_it_alone() -> None:
    changing = PROOF.replace("assert", "records = 4\nassert")
    found = refused(LESSON + changing, "lessons/05_durability.py")
    assert any("a proof gives records another value" in problem for problem in found), found
    made_again = changing.replace("\nrecords\n", "\nrecords = 5\nrecords\n")
    assert not refused(LESSON + made_again, "lessons/05_durability.py")
    unused = changing.replace("\nrecords\n", "\nprint()\n")
    assert not refused(LESSON + unused, "lessons/05_durability.py")


def test_names_inside_a_proof_and_inside_a_cell_are_their_own() -> None:
    proof = PROOF.replace("assert", "assert [error for error in [1]], records\nassert")
    page = "try:\n    1 / 0\nexcept ValueError as error:\n    print(error)"
    assert not refused(LESSON + proof.replace("\nrecords\n", f"\n{page}\n"), "lessons/05_x.py")


@pytest.mark.parametrize("before", ['# %% tags=["check-1"]', "# %% [markdown]\n# ## Task 2"])
def test_a_lab_has_no_proofs(before: str) -> None:
    """Neither between a task and its check nor elsewhere: students change what it would prove."""
    proof = f'# %% tags=["proof"]\nassert a == 1, a\n\n{before}'
    found = refused(LAB.replace(before, proof), "grading/labs/02_iris/lab.py", {1, 2})
    assert len(found) == 1
    assert "a proof in a lab" in found[0]


def test_the_checks_of_a_lab_prove_its_tasks() -> None:
    claimed = LAB.replace('"task-1"', '"task-1", "A7"').replace('"check-2"', '"check-2", "B12"')
    assert not refused(claimed, "grading/labs/02_iris/lab.py", {1, 2})


def test_a_lesson_does_not_end_in_prose_for_its_readers() -> None:
    end = '\n# %% [markdown]\n# The end.\n\n# %% tags=["proof"]\nassert records, records\n'
    found = refused(LESSON + end, "lessons/05_durability.py")
    assert [problem for problem in found if "the last cell is prose" in problem]


def test_no_cell_needs_what_a_demo_defines() -> None:
    demo = '# %% tags=["demo"]\nimport zlib as shown\n\n'
    used = LAB.replace('# %% tags=["check-1"]', '# %%\nshown.crc32(b"a")\n\n# %% tags=["check-1"]')
    assert used != LAB
    at = used.index("# %%", used.index('tags=["parameters"]'))
    (problem,) = refused(used[:at] + demo + used[at:], "grading/labs/02_iris/lab.py", {1, 2})
    assert "needs shown of the demo cell" in problem
    own = used.replace("shown.crc32", "import zlib as shown\nshown.crc32")
    assert not refused(own[:at] + demo + own[at:], "grading/labs/02_iris/lab.py", {1, 2})
