import re

import pytest

from authoring import advice, notebooks
from authoring.build import REPOSITORY
from authoring.words import word_list

TEMPLATE = REPOSITORY / "authoring" / "template"
LESSON_PATH, LAB_PATH = "lessons/00_title.py", "grading/labs/00_title/lab.py"
LESSON = (TEMPLATE / LESSON_PATH).read_text("utf-8")
LAB = (TEMPLATE / LAB_PATH).read_text("utf-8")
WORDS = word_list((REPOSITORY / "lessons" / "glossary.md").read_text("utf-8"))
PROSE = "# " + "word " * 101


def remarks(text: str, path: str = LESSON_PATH) -> list[str]:
    return [str(problem) for problem in advice.remarks(notebooks.checked(text, path), WORDS)]


def test_there_is_nothing_to_say_about_the_templates() -> None:
    assert remarks(LESSON) == []
    assert remarks(LAB, LAB_PATH) == []


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("# said yes.", PROSE, "an opening of over 60 words"),
        ("# - send a record and say where it was put\n", "", "1 objectives"),
        ("records = 20", "records = 20\na = b = 1\n" * 3, "over 5 lines of parameters"),
        ('start("single")\n', 'start("single")\n1\n2\n3\n', "over 5 lines of set-up"),
        ("cluster.close()", "1\n2\n3\ncluster.close()", "over 3 lines of tear-down"),
        ("# ## Who may read it?\n", "# More.\n", "1 sections with an idea"),
        ("charts.", "pictures.", "no chart"),
        ("# ## Your turn", f"{PROSE}\n\n# %% [markdown]\n# ## Your turn", "101 words"),
        ("The client refuses", "The client simply refuses the message", "the word 'message'"),
        ("The client refuses", "The client simply refuses", "the word 'simply'"),
        (", offsets\n", "\n", "1 assert of a proof without a message; say what was seen"),
    ],
)
def test_what_could_be_better_is_remarked(old: str, new: str, what: str) -> None:
    found = remarks(LESSON.replace(old, new))
    assert any(what in problem for problem in found) or not what, found
    assert all(problem.startswith(f"{LESSON_PATH}:") for problem in found)


def test_an_idea_without_a_proof_is_remarked() -> None:
    bare = LESSON.replace(
        '# %% tags=["proof"]\noffsets = [receipt.offset for receipt in receipts]\n'
        "assert offsets == list(range(records)), offsets\n\n",
        "",
    )
    assert [problem for problem in remarks(bare) if "proves nothing" in problem]
    failure = LESSON.replace('["proof"]\nassert type(refusal)', "[]\ntype(refusal)")
    assert [problem for problem in remarks(failure) if "no failure is proved" in problem]


def test_a_page_without_an_exercise_gives_something_to_do() -> None:
    bare = re.sub(r'# %% tags=\["exercise"\].*?(?=# %% )', "", LESSON, flags=re.DOTALL)
    assert any("0 things to do" in problem for problem in remarks(bare))
    assert (
        remarks(bare.replace("# Which offset does", "# - Send one.\n# - Which offset does")) == []
    )


def test_facts_are_a_list_or_come_from_a_cell() -> None:
    without = LESSON.replace("# - A record is put", "# A record").replace("# - Reading l", "# L")
    assert any("no facts" in problem for problem in remarks(without))
    computed = without.replace("cluster.close()", "counts\n\n# %%\ncluster.close()")
    assert remarks(computed) == []


def test_one_section_may_go_without_a_prediction() -> None:
    one = LESSON.replace("Before you run the next cell: which", "Which")
    assert remarks(one) == []
    none = one.replace('# %% tags=["prediction"]', "# %%")
    assert any("said what to expect" in problem for problem in remarks(none))
