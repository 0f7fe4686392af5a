import pytest

from authoring import notebooks, style
from authoring.build import REPOSITORY

LESSON = (REPOSITORY / "lessons" / "TEMPLATE.py").read_text("utf-8")
LAB = (REPOSITORY / "lessons" / "LAB_TEMPLATE.py").read_text("utf-8")
PROSE = "# " + "word " * 101


def problems(text: str, name: str) -> list[str]:
    return [str(problem) for problem in style.problems(notebooks.checked(text, name))]


def test_the_templates_follow_the_rules() -> None:
    assert problems(LESSON, "TEMPLATE.py") == []
    assert problems(LAB, "LAB_TEMPLATE.py") == []


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("and who else can read it?", "and that is it.", "no question under the title"),
        ("# said yes.", PROSE, "an opening of over 60 words"),
        ("# You will\n", "# The plan\n", "the second cell is no 'You will' list"),
        ("# - send a record and say where it was put\n", "", "1 objectives"),
        ("# Needs 00. 20", "# 20", "no 'Needs'"),
        ("20 minutes", "A while", "no time"),
        (
            '# %% tags=["parameters"]',
            '# %%\n1\n\n# %% tags=["parameters"]',
            "before the parameters",
        ),
        ("records = 20", "records = 20\na = b = 1\n" * 3, "over 5 lines of parameters"),
        ('\ncluster = Cluster.start("single")', "\n", "no set-up cell after the parameters"),
        ('Cluster.start("single")\n', 'Cluster.start("single")\n1\n2\n', "set-up cell of over 4"),
        ("a **partition**", "a partition", "defines no term"),
        ("assert [receipt.offset for receipt in receipts]", "[receipts]", "asserts nothing"),
        ("# ## Who may read it?\n", "# More.\n", "1 sections with an idea"),
        ("# ## Try it", "# ## Play", "the lesson does not end as the others do"),
        ('assert refusal == "', 'refusal == "', "no failure is provoked"),
        ("# - Send the records from two", "# Send the records from two", "1 things to try"),
        ("# - A record is put", "# A record is put", ""),
        ("cluster.close()", "producer.close()", "the last cell stops nothing"),
        ("cluster.close()", "1\n2\n3\ncluster.close()", "a last cell of over 3 lines"),
        ("charts.", "pictures.", "no chart"),
        ("# ## Try it", f"{PROSE}\n\n# %% [markdown]\n# ## Try it", "101 words"),
        ("cluster.close()", "1\n\n# %%\n" * 40 + "cluster.close()", "code cells"),
        ("records = 20", 'records = 20\n\n# %% tags=["A7"]\n1', "A7 claimed by a cell that"),
        ("cluster.close()", "KafkaConsumer()\ncluster.close()", "a KafkaConsumer for any cluster"),
    ],
)
def test_a_lesson_that_differs_is_found(old: str, new: str, what: str) -> None:
    assert old in LESSON
    found = problems(LESSON.replace(old, new), "TEMPLATE.py")
    assert any(what in problem for problem in found) or not what, found
    assert all(problem.startswith("TEMPLATE.py:") for problem in found)


def test_facts_are_a_list_or_come_from_a_cell() -> None:
    without = LESSON.replace("# - A record is put", "# A record").replace("# - Reading l", "# L")
    assert any("no facts" in problem for problem in problems(without, "TEMPLATE.py"))
    computed = without.replace("cluster.close()", "counts\n\n# %%\ncluster.close()")
    assert problems(computed, "TEMPLATE.py") == []


def test_one_section_may_go_without_a_prediction() -> None:
    one = LESSON.replace("Before you run the next cell: which", "Which")
    assert problems(one, "TEMPLATE.py") == []
    none = one.replace('# %% tags=["prediction"]', "# %%")
    assert any("said what to expect" in problem for problem in problems(none, "TEMPLATE.py"))


def test_long_code_is_found() -> None:
    cells = ("# %%\n" + "1\n" * 11 + "\n") * 13
    long = LESSON.replace("# %% [markdown]\n# ## Try it", f"{cells}# %% [markdown]\n# ## Try it")
    assert any("a median of 11 lines" in problem for problem in problems(long, "TEMPLATE.py"))


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("Before you run the check", "Think", "no prediction"),
        ("read_topic(spark_session()", "read(session()", "no analysis with Spark"),
        ("lab.score()", "lab.cluster", "the lab shows no score; call lab.score()"),
        ("lab = Lab.open", "lab = Lab.start", "call Lab.open("),
    ],
)
def test_a_lab_that_differs_is_found(old: str, new: str, what: str) -> None:
    assert old in LAB
    found = problems(LAB.replace(old, new), "LAB_TEMPLATE.py")
    assert any(what in problem for problem in found), found


def test_check_cells_do_not_make_a_lab_long() -> None:
    tasks = "".join(
        f"""# %% [markdown]
# ## Task {number}: more

# %% tags=["task-{number}"]
# Task {number}
# BEGIN SOLUTION
a = 1
# END SOLUTION

# %% tags=["check-{number}"]
lab.check({number})

"""
        for number in range(3, 27)
    )
    end = "# %% [markdown]\n# ## What Spark sees"
    assert problems(LAB.replace(end, tasks + end), "LAB_TEMPLATE.py") == []
    more = "# %%\n1\n\n" * 15 + end
    found = problems(LAB.replace(end, tasks + more), "LAB_TEMPLATE.py")
    assert any("code cells; at most" in problem for problem in found)
