"""`./course site` on a course of one small lesson, and what a visitor does with it."""

import json
from pathlib import Path

import pytest
import typer
from playwright.sync_api import expect, sync_playwright
from typer.testing import CliRunner

from authoring.build import Course
from authoring.marked import marks
from commands import site
from kafkalab.errors import CourseError
from tests.browser import CHROMIUM, QUIET

APP = typer.Typer()
APP.command()(site.site)

LESSON = """# %% [markdown]
# # 08 Durability
#
# Is it safe? See [the lab](../labs/05_delivery/lab05_delivery.ipynb), [all](README.md),
# [this page](08_durability.ipynb) and [Kafka](https://kafka.apache.org).

# %% [markdown]
# You will see. Needs nothing. 25 minutes.

# %% tags=["parameters"]
records = 100

# %%
from kafkalab import Choice, Prediction
from kafkalab.notebook import exercise

# %% [markdown]
# ## Kill the leader, and count

# %% tags=["prediction"]
my_lost = Prediction("records lost")
my_lost

# %% tags=["prediction"]
my_fate = Choice("What becomes of them?", "kept", "thrown away")
my_fate

# %%
my_lost.against(records)

# %%
print("looked")
my_fate.against("thrown away", {"kept": "the log ends at 1."})

# %% tags=["proof"]
assert records == 100, "a proof is on no page"

# %% [markdown]
# ## Your turn

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: copies = ...
copies = 3
# END SOLUTION
exercise.check("copies", copies, lambda n: "" if n == 3 else "no.")
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    root = tmp_path_factory.mktemp("course")
    files = {
        "lessons/08_durability.py": LESSON,
        "lessons/outline.md": "# Outline\n",
        "lessons/glossary.md": "| say | not | right in |\n|---|---|---|\n",
        "README.md": "\n".join(marks("lessons")),
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return Course(root)


@pytest.fixture(scope="module")
def made(course: Course) -> Path:
    """The site, whose lesson was run for it."""
    folder = course.root / "site"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "Course", lambda: course)
        result = CliRunner().invoke(APP, [str(folder)], catch_exceptions=False)
    assert "08_durability was run" in result.stdout
    assert "Lessons: 1." in result.stdout
    return folder


@pytest.mark.slow
def test_it_has_a_page_for_each_lesson_and_contents(made: Path) -> None:
    names = sorted(file.name for file in made.iterdir())
    assert names == [
        "08_durability.html",
        "index.html",
        "search-index.js",
        "search.js",
        "site.css",
    ]
    contents = (made / "index.html").read_text("utf-8")
    for told in ("Copies", '<a href="08_durability.html">08 Durability</a>', "Is it safe?", "25"):
        assert told in contents


@pytest.mark.slow
def test_a_page_shows_questions_and_what_the_run_answered_and_hides_solutions(made: Path) -> None:
    html = (made / "08_durability.html").read_text("utf-8")
    body = html.partition("<main>")[2]
    assert body.count("How many records lost do you expect?") == 1
    assert body.count("What this run answered") == 2
    assert "Measured: <strong>100 records lost</strong>" in body
    assert "<li>kept</li>" in body
    assert "The answer of this run: <strong>thrown away</strong>." in body
    for absent in ("did not predict", "did not choose", "Nothing is kept", "a proof is on no page"):
        assert absent not in body
    assert "<details><summary>One answer</summary>" in body
    assert body.count("<details>") == 3
    assert "Solved" not in body


@pytest.mark.slow
def test_links_lead_to_pages_of_the_site_and_nothing_is_fetched_from_elsewhere(made: Path) -> None:
    html = (made / "08_durability.html").read_text("utf-8")
    for told in (
        "See the lab, ",
        '<a href="index.html">all</a>',
        '<a href="08_durability.html">this page</a>',
        '<a href="https://kafka.apache.org">Kafka</a>',
    ):
        assert told in html
    for fetching in ('src="http', "url(http", 'stylesheet" href="http', "@import"):
        assert fetching not in html


@pytest.mark.slow
def test_what_ran_before_is_taken_and_what_has_changed_is_run_again(
    course: Course, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "Course", lambda: course)
    again = CliRunner().invoke(APP, [str(made)], catch_exceptions=False)
    assert "was run" not in again.stdout
    ran = course.root / "build" / "run" / "08_durability.ipynb"
    notebook = json.loads(ran.read_text("utf-8"))
    notebook["cells"][2]["source"] = "records = 10"
    ran.write_text(json.dumps(notebook), "utf-8")
    again = CliRunner().invoke(APP, [str(made)], catch_exceptions=False)
    assert "08_durability was run" in again.stdout


def test_another_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CourseError, match="no site of the course"):
        CliRunner().invoke(APP, [str(tmp_path)], catch_exceptions=False)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.slow
def test_no_site_is_written_where_a_lesson_fails(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = course.root / "lessons" / "08_durability.py"
    monkeypatch.setattr(site, "Course", lambda: course)
    lesson.write_text(LESSON.replace('print("looked")', "1 / 0"), "utf-8")
    try:
        with pytest.raises(CourseError, match="08_durability failed"):
            CliRunner().invoke(APP, [str(tmp_path / "site")], catch_exceptions=False)
    finally:
        lesson.write_text(LESSON, "utf-8")
    assert not (tmp_path / "site").exists()


@pytest.mark.browser
def test_a_visitor_searches_the_files_and_unfolds_an_answer(made: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_page(viewport={"width": 1200, "height": 800})
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", lambda request: complaints.append(request.url))
        page.goto((made / "index.html").as_uri())
        page.get_by_role("searchbox").fill("zebra")
        expect(page.locator("#found")).to_contain_text("Nothing found.")
        page.get_by_role("searchbox").fill("leader COUNT")
        expect(page.locator("#found")).to_contain_text("1 found")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url("**/08_durability.html#*")
        expect(page.locator("h2", has_text="Kill the leader")).to_be_in_viewport()
        answer = page.get_by_text("copies = 3")
        expect(answer).to_be_hidden()
        page.get_by_text("One answer").click()
        expect(answer).to_be_visible()
        browser.close()
    assert not complaints, complaints
