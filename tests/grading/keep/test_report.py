"""What a student and a teacher read, from records that were made without a run."""

import csv
import io
import re
from dataclasses import replace

import pytest

from grading.define.definition import Definition
from grading.handin.notebookfile import NotebookFile
from grading.handin.submission import Submission
from grading.handin.weave import HandedIn
from grading.judge.checks import Finding, Result
from grading.judge.outcome import Outcome
from grading.judge.visible import CellState
from grading.keep import record as records
from grading.keep.evidence import Evidence
from grading.keep.record import AttemptRecord
from grading.keep.report_class import MarkShown, class_csv, class_page
from grading.keep.report_student import student_page

EVIL = "<img src=x onerror=alert(1)>"
RAN = CellState(Outcome.RAN)


def results(**said: str) -> list[Result]:
    """Passed, but for the checks that are named with a message or an outcome."""
    found = []
    for name in ("doubled", "words_reversed", "name_said", "any_word_reversed"):
        words = said.get(name)
        if words in set(Outcome):
            detail = "words_reversed" if words == Outcome.NEEDS else ""
            found.append(Result(name, Outcome(words), detail=detail))
        else:
            outcome = Outcome.FAIL if words else Outcome.PASS
            found.append(Result(name, outcome, (Finding(not words, words or ""),)))
    return found


def evidence_of(**fields: object) -> Evidence:
    usual = {
        "cells": dict.fromkeys((1, 2, 3), RAN),
        "answers": {1: "double = 1", 2: "def reverse(text): ...", 3: "said = p.name"},
        "results": results(),
        "is_complete": True,
    }
    return Evidence("lab90_tiny", "anna", "seed", **{**usual, **fields})


def record_of(lab: Definition, evidence: Evidence, student: str = "anna") -> AttemptRecord:
    handed_in = NotebookFile((HandedIn("task-1", "code", "x = 1"),), lab.name)
    begun = records.begun(lab, Submission(student, handed_in), "seed")
    return records.ended(begun, evidence, lab.checks, lab.hidden_checks())


def page_of(lab: Definition, evidence: Evidence) -> str:
    return student_page(lab, record_of(lab, evidence), evidence)


def section(page: str, task: int) -> str:
    """The part of a page that belongs to a task."""
    return page.split(f'<section id="task-{task}">')[1].split("</section>")[0]


def test_the_code_that_was_graded_stands_beside_its_task(tiny):
    page = page_of(tiny, evidence_of())
    assert "def reverse(text): ..." in section(page, 2)
    assert "said = p.name" not in section(page, 2)
    old = evidence_of(answers={})
    assert "The code that was graded" not in page_of(tiny, old)


def test_the_cause_comes_first_and_no_hint_talks_past_it(tiny):
    failed = CellState(Outcome.STUDENT_ERROR, error="NameError: name 'schema' is not defined")
    page = page_of(
        tiny,
        evidence_of(
            cells={1: RAN, 2: failed, 3: RAN},
            results=results(words_reversed="the notebook has no reversed_words yet"),
        ),
    )
    part = section(page, 2)
    cause = part.index("Your cell ended with NameError: name &#39;schema&#39; is not defined")
    assert cause < part.index("the notebook has no reversed_words yet")
    assert "Hint" not in part


def test_a_failed_check_of_a_cell_that_ran_has_its_hint_in_steps(tiny):
    lab = replace(
        tiny, hints=tiny.hints | {1: f"Twice, as in `2 * x`.\n\n{EVIL}\n\n[a](javascript:b)"}
    )
    part = section(page_of(lab, evidence_of(results=results(doubled="double: saw 3"))), 1)
    assert part.count("<details>") == 3, "each step is opened by itself"
    assert "Hint 2 of 3" in part
    assert "<code>2 * x</code>" in part
    assert "<img" not in part
    assert 'href="javascript' not in part
    assert "Hint" not in section(page_of(lab, evidence_of()), 1)


def test_what_has_no_answer_says_so_and_has_a_hint(tiny):
    stub = CellState(Outcome.STUDENT_ERROR, error="NotImplementedError: Task 1: double")
    part = section(
        page_of(
            tiny,
            evidence_of(
                cells={1: stub, 2: RAN, 3: RAN},
                unanswered=[1],
                results=results(doubled="the notebook has no double yet"),
            ),
        ),
        1,
    )
    assert "There is no answer." in part
    assert "NotImplementedError" not in part
    assert "Twice." in part


def test_a_note_stands_at_the_task_that_it_is_about(tiny):
    notes = ["Task 2: cell 7 did not run, it is not Python", "anna (2).ipynb was handed in too"]
    page = page_of(tiny, evidence_of(oddities=notes))
    assert ">Cell 7 did not run, it is not Python<" in section(page, 2), (
        "the heading names the task"
    )
    assert page.index("anna (2).ipynb") < page.index('id="task-1"')
    assert page.count("ell 7 did not run") == 1


def test_no_internal_name_is_shown(tiny):
    page = page_of(
        tiny,
        evidence_of(
            results=results(words_reversed="first word: saw 'ab'", any_word_reversed="needs")
        ),
    )
    part = section(page, 2)
    assert "Not met: Any word is reversed" in part, "the topic of hidden points that were lost"
    assert not re.search("words_reversed|any_word|name_said", page)
    needs = replace(tiny.checks[2], needs="words_reversed")
    lab = replace(tiny, checks=(*tiny.checks[:2], needs))
    page = page_of(lab, evidence_of(results=results(name_said="needs")))
    assert "not run: “Words are reversed” comes first" in section(page, 3)


def test_what_a_hidden_check_saw_stays_hidden(tiny):
    seen = "reverse of gfedcba: expected 'abcdefg', saw 'gfedcba'"
    page = page_of(tiny, evidence_of(results=results(any_word_reversed=seen)))
    assert "gfedcba" not in page
    assert "1 hidden check" in page
    assert "Not met" not in page_of(tiny, evidence_of())


@pytest.mark.parametrize("outcome", [Outcome.CHECK_ERROR, Outcome.INFRA])
def test_a_students_page_has_a_students_words(tiny, outcome):
    evidence = evidence_of(results=results(doubled=outcome))
    record = replace(record_of(tiny, evidence), seconds={"load": 99.0})
    page = student_page(tiny, record, evidence)
    assert "no fault of yours" in page
    assert not re.search("the student|--rerun|grade again|the record", page)
    teachers = class_page(tiny, [record])
    assert "not the student&#39;s fault" in teachers
    assert "no fault of yours" not in teachers


def test_a_run_that_failed_through_us_shows_no_traceback(tiny):
    evidence = evidence_of(refusal=Outcome.INFRA, why="Traceback: in /home/teacher/worker.py")
    page = page_of(tiny, evidence)
    assert "/home/teacher" not in page
    assert "Points will follow" in page


def test_one_cell_with_an_error_is_no_headline(tiny):
    failed = CellState(Outcome.STUDENT_ERROR, error="ZeroDivisionError: division by zero")
    evidence = evidence_of(cells={1: failed, 2: RAN, 3: RAN}, results=results(doubled="saw 1"))
    record = record_of(tiny, evidence)
    assert record.reached == 6
    assert "partly passed; a cell raised an error" in class_page(tiny, [record])
    page = student_page(tiny, record, evidence)
    assert "6 of 8 points" in page
    assert page.index("6 of 8 points") < page.index("raised" if "raised" in page else "ended with")


def test_everything_from_a_hand_in_is_escaped(tiny):
    evidence = evidence_of(
        answers={1: EVIL, 2: EVIL, 3: EVIL},
        cells={1: CellState(Outcome.STUDENT_ERROR, EVIL, EVIL), 2: CellState(Outcome.RAN, EVIL)},
        results=results(doubled=EVIL, name_said=EVIL, words_reversed=EVIL),
        oddities=[EVIL, f"Task 1: {EVIL}"],
        parameters={EVIL: EVIL},
    )
    record = record_of(tiny, evidence, student=EVIL)
    for page in (student_page(tiny, record, evidence), class_page(tiny, [record])):
        assert "onerror" in page
        assert "<img" not in page
        assert "default-src 'none'" in page
        assert "<script" not in page


def class_of(tiny: Definition) -> list[AttemptRecord]:
    good = record_of(tiny, evidence_of(), "anna")
    one = record_of(tiny, evidence_of(results=results(doubled="topic-0a1b2c: saw 3")), "ben")
    two = record_of(
        tiny,
        evidence_of(results=results(doubled="topic-9f8e7d: saw 3", name_said="said: saw 1")),
        "carl",
    )
    note = ["carl (2).ipynb was handed in too"]
    lost = record_of(
        tiny, evidence_of(refusal=Outcome.UNREADABLE, why="because", results=[]), "dora"
    )
    return [good, one, replace(two, notes=note), lost]


def test_a_class_has_its_mean_its_median_and_what_was_difficult(tiny):
    page = " ".join(re.sub("<[^>]+>", " ", class_page(tiny, class_of(tiny))).split())
    assert "4 hand-ins." in page
    assert "6.0 mean of 8" in page, "of 8, 6 and 4: the one that could not be read is left out"
    assert "6.0 median" in page
    assert "1 not in mean and median" in page
    assert "The number is doubled doubled 1 of 3 topic-…: saw 3 (2 times)" in page
    assert "The name is said name_said 2 of 3 said: saw 1" in page
    assert "any_word_reversed, hidden 3 of 3" in page
    assert "1 hand-in." in class_page(tiny, class_of(tiny)[:1])


def test_a_mark_that_a_teacher_set_counts_in_table_and_mean(tiny):
    def mark_of(record: AttemptRecord) -> MarkShown:
        return (
            MarkShown(8, "excused by Ms Berg")
            if record.student == "carl"
            else MarkShown(record.reached)
        )

    page = class_page(tiny, class_of(tiny), mark_of)
    assert "excused by Ms Berg" in page
    assert ">7.3</b>mean" in page
    assert ">8.0</b>median" in page
    rows = table_of(class_csv(tiny, class_of(tiny), mark_of))
    assert rows[2]["points"] == "8"
    assert "excused by Ms Berg" in rows[2]["notes"]


def table_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_notes_stand_in_the_table_for_spreadsheets(tiny):
    rows = table_of(class_csv(tiny, class_of(tiny)))
    assert [row["points"] for row in rows] == ["8", "6", "4", "0"]
    assert rows[2]["notes"] == "carl (2).ipynb was handed in too"
    assert rows[3]["says"] == "no readable notebook: because"
    assert rows[0]["doubled"] == "2", "also where the first of the class has no checks"
