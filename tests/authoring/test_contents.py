import pytest

from authoring import contents, percent
from authoring.contents import Page
from authoring.marked import marks


def page(path: str, title: str, facts: str = "Needs nothing. 5 minutes.") -> Page:
    text = f"""# %% [markdown]
# # {title}
#
# A record was sent. Is it
# safe? Who knows?

# %% [markdown]
# You will
# - see
#
# {facts}

# %%
a = 1
"""
    return contents.page(percent.read(text, path))


START = page("lessons/00_start.py", "00 Start")
BROKER = page("lessons/01_broker.py", "01 One broker", "Needs 00. 25 minutes.")
LAB = page("grading/labs/01_topics/lab.py", "Lab 01 Topics", "Needs lessons 00 and 01. 40 minutes.")
PAGES = [START, BROKER, LAB]


def test_a_page_knows_its_question_minutes_and_needs() -> None:
    assert BROKER.question == "Is it safe?"
    assert BROKER.minutes == 25
    assert BROKER.needs == ("00",)
    assert LAB.needs == ("00", "01")
    assert START.needs == ()
    assert str(LAB.notebook) == "labs/01_topics/lab01_topics.ipynb"


def test_a_range_of_lessons_is_all_of_them() -> None:
    needs = page("06_x.py", "06 X", "**Needs** lessons 01 and 03 to 05. 45 minutes.").needs
    assert needs == ("01", "03", "04", "05")


def test_minutes_are_no_lesson() -> None:
    assert page("02_x.py", "02 X", "Needs 01, 45 minutes.").needs == ("01",)


def test_navigation_leads_back_on_and_across() -> None:
    assert contents.navigation(START, PAGES) == (
        "---\n[Contents](README.md) · Next: [01 One broker](01_broker.ipynb)\n\n"
        "Lab: [Lab 01 Topics](../labs/01_topics/lab01_topics.ipynb)"
    )
    assert contents.navigation(BROKER, PAGES).startswith(
        "---\nPrevious: [00 Start](00_start.ipynb)"
    )
    assert contents.navigation(LAB, PAGES) == (
        "---\n[Contents](../../notebooks/README.md)\n\n"
        "Lessons: [00 Start](../../notebooks/00_start.ipynb), "
        "[01 One broker](../../notebooks/01_broker.ipynb)"
    )


def test_the_table_stands_between_its_marks_and_nothing_else_changes() -> None:
    readme = "before\n{}\nold\n{}\nafter\n".format(*marks("lessons"))
    new = contents.put_table(readme, PAGES)
    assert new.startswith("before\n")
    assert new.endswith("\nafter\n")
    assert "old" not in new
    assert "| 01 | [One broker](notebooks/01_broker.ipynb) | Is it safe? | 25 |" in new
    assert "| 01 | [Topics](labs/01_topics/lab01_topics.ipynb) | 00, 01 | 40 |" in new
    assert contents.put_table(new, PAGES) == new


def test_the_contents_lead_to_both_folders() -> None:
    page = contents.contents(PAGES)
    assert "[One broker](../notebooks/01_broker.ipynb)" in page
    assert "[Topics](../labs/01_topics/lab01_topics.ipynb)" in page


def test_a_readme_without_marks_is_said_so() -> None:
    with pytest.raises(ValueError, match="lacks the marks"):
        contents.put_table("nothing", PAGES)
