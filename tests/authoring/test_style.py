import pytest

from authoring import notebooks, style
from authoring.build import REPOSITORY

TEMPLATE = REPOSITORY / "authoring" / "template"
LESSON_PATH, LAB_PATH = "lessons/00_title.py", "grading/labs/00_title/lab.py"
LESSON = (TEMPLATE / LESSON_PATH).read_text("utf-8")
LAB = (TEMPLATE / LAB_PATH).read_text("utf-8")


def problems(text: str, path: str) -> list[str]:
    return [str(problem) for problem in style.problems(notebooks.checked(text, path))]


def test_the_templates_follow_the_rules() -> None:
    assert problems(LESSON, LESSON_PATH) == []
    assert problems(LAB, LAB_PATH) == []


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("and who else can read it?", "and that is it.", "no question under the title"),
        ("# You will\n", "# The plan\n", "the second cell is no 'You will' list"),
        ("# Needs 00. 20", "# 20", "no 'Needs'"),
        ("20 minutes", "A while", "no time"),
        (
            '# %% tags=["parameters"]',
            '# %%\n1\n\n# %% tags=["parameters"]',
            "before the parameters",
        ),
        ('\ncluster = Cluster.start("single")', "\n", "no set-up cell after the parameters"),
        ("# ## Your turn", "# ## Play", "the lesson does not end as the others do"),
        ("cluster.close()", "producer.close()", "the last cell stops nothing"),
        ("spark.stop()", "spark", "Spark keeps half a GB"),
        ("cluster.close()", "KafkaConsumer()\ncluster.close()", "KafkaConsumer for any cluster"),
    ],
)
def test_a_lesson_that_differs_is_found(old: str, new: str, what: str) -> None:
    assert old in LESSON
    found = problems(LESSON.replace(old, new), LESSON_PATH)
    assert any(what in problem for problem in found), found
    assert all(problem.startswith(f"{LESSON_PATH}:") for problem in found)


def test_a_lesson_may_say_what_it_is_about_before_its_cluster_starts() -> None:
    first = '# %% tags=["parameters"]'
    rest = LESSON.partition(first)[2].partition("\n\n")
    about = f"{LESSON.partition(first)[0]}{first}{rest[0]}\n\n# %%\nlog = [1, 2]\n\n{rest[2]}"
    assert problems(about, LESSON_PATH) == []
    asks = about.replace("log = [1, 2]", "log = cluster.topics()")
    assert any("no set-up cell" in problem for problem in problems(asks, LESSON_PATH))


def test_a_proof_at_the_end_does_not_hide_the_tear_down() -> None:
    after = f'{LESSON}\n# %% tags=["proof"]\nassert records, records\n'
    assert problems(after, LESSON_PATH) == []
    before = LESSON.replace(
        '# %% tags=["parameters"]',
        '# %% tags=["proof"]\nassert __name__, __name__\n\n# %% tags=["parameters"]',
    )
    assert problems(before, LESSON_PATH) == []


ANALYSIS = LAB[LAB.index("records = read_topic(") : LAB.index("\n\n# %%\nlab.score()")]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("Before you run the check", "Think", "no prediction"),
        (ANALYSIS, "lab.p.riders", "no analysis with Spark"),
        ("lab.score()", "lab.cluster", "the lab shows no score; call lab.score()"),
        ("lab = Lab.open", "lab = Lab.start", "call Lab.open("),
    ],
)
def test_a_lab_that_differs_is_found(old: str, new: str, what: str) -> None:
    assert old in LAB
    found = problems(LAB.replace(old, new), LAB_PATH)
    assert any(what in problem for problem in found), found
