"""Records are whole or not there, and a batch that was cut off goes on where it stopped."""

import csv
import io
import json
from dataclasses import asdict, replace

import pytest

from grading.define.definition import Definition
from grading.handin.notebookfile import NotebookFile
from grading.handin.submission import Submission
from grading.handin.weave import HandedIn
from grading.judge.checks import Finding, Result
from grading.judge.outcome import Outcome
from grading.keep import record as records
from grading.keep.evidence import Evidence
from grading.keep.record import AttemptRecord, Key
from grading.keep.report_class import class_csv
from grading.keep.report_student import student_page
from grading.keep.store import Store, slug
from grading.run.attempt import Attempted
from grading.run.plan import plan
from grading.run.plan import reason as records_reason


def submission(student="anna", text="x = 1"):
    return Submission(student, NotebookFile((HandedIn("task-1", "code", text),), "lab90_tiny"))


def finished(tiny: Definition, outcome: Outcome = Outcome.PASS, student="anna") -> AttemptRecord:
    """A record as if an attempt had come to this outcome."""
    evidence = Evidence(tiny.name, student, "seed", is_complete=True)
    if outcome in {Outcome.INFRA, Outcome.UNREADABLE}:
        evidence.refusal, evidence.why = outcome, "because"
    hidden = tiny.hidden_checks()
    evidence.results = [Result(check.id, outcome) for check in (*tiny.checks, *hidden)]
    begun = records.begun(tiny, submission(student), "seed")
    return records.ended(begun, evidence, tiny.checks, hidden)


def test_started_is_run_again_and_finished_is_not(tiny, tmp_path):
    store = Store(tmp_path, tiny.name)
    one = submission()
    (work,), done = plan(tiny, [one], store, b"s", rerun=False)
    assert done == []
    store.start(work.record)
    assert len(plan(tiny, [one], store, b"s", rerun=False)[0]) == 1
    record = replace(finished(tiny), key=work.record.key)
    store.finish(record, Attempted(Evidence(tiny.name, "anna", "seed")))
    assert plan(tiny, [one], store, b"s", rerun=False)[1] == [record]
    assert len(plan(tiny, [one], store, b"s", rerun=True)[0]) == 1
    assert len(plan(tiny, [submission(text="x = 2")], store, b"s", rerun=False)[0]) == 1


def test_an_earlier_attempt_is_kept(tiny, tmp_path):
    store = Store(tmp_path, tiny.name)
    record = finished(tiny)
    for count in (1, 2):
        store.finish(record, Attempted(Evidence(tiny.name, "anna", "seed")))
        store.start(replace(record, status=records.STARTED))
        assert store.find(f"{record.key}.{count}") == record
        assert store.find(record.key).status == records.STARTED
        assert store.evidence(record.key) is None


def test_a_fault_of_ours_has_no_number_and_is_not_final(tiny):
    record = finished(tiny, Outcome.INFRA)
    assert record.reached is None
    assert not record.is_final
    broken = finished(tiny, Outcome.CHECK_ERROR)
    assert broken.reached is None
    assert broken.outcome is Outcome.CHECK_ERROR
    refused = finished(tiny, Outcome.UNREADABLE)
    assert refused.reached == 0
    assert refused.is_final


@pytest.mark.slow
def test_evidence_and_records_survive_the_disk(tiny, tmp_path, hand_in):
    attempted = hand_in(t1="print('hello')\n1 / 0")
    assert Evidence.from_json(json.loads(json.dumps(attempted.evidence.to_json()))) == (
        attempted.evidence
    )
    store = Store(tmp_path, tiny.name)
    begun = records.begun(tiny, submission(), "seed")
    record = records.ended(begun, attempted.evidence, tiny.checks, tiny.hidden_checks())
    store.finish(record, attempted)
    assert store.find(record.key) == record
    assert store.evidence(record.key) == attempted.evidence
    assert record.reached == 6
    assert record.outcome is Outcome.STUDENT_ERROR
    page = student_page(tiny, record, store.evidence(record.key))
    assert "ZeroDivisionError" in page
    assert "1 hidden check" in page


def test_what_is_cut_off_in_writing_is_not_there(tiny, tmp_path):
    store = Store(tmp_path, tiny.name)
    file = store.attempt("key") / "record.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"key": "ke')
    assert store.find("key") is None


def test_every_part_of_the_key_makes_another_attempt():
    key = Key("hand-in", "lab", "grader", "seed")
    others = [replace(key, **{name: "x"}) for name in asdict(key)]
    assert len({str(one) for one in [key, *others]}) == 5


def test_no_cell_of_the_table_is_a_formula(tiny):
    evil = ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", '=HYPERLINK("http://x")']
    table = class_csv(tiny, [finished(tiny, student=name) for name in evil])
    rows = list(csv.reader(io.StringIO(table, newline="")))[1:]
    assert [row[0] for row in rows] == [f"'{name}" for name in evil]


def test_the_file_of_a_student_is_safe_and_their_own():
    names = ["Jörg Müller", "Jorg Muller", "../../etc", "", "日本", "a" * 500]
    slugs = [slug(name) for name in names]
    assert len(set(slugs)) == len(names)
    assert all(one.isascii() and "/" not in one and len(one) < 60 for one in slugs)


def moodle(number: str, text="x = 1", plain="Ada Lee", shown="") -> Submission:
    return replace(
        submission(shown or plain, text), number=number, plain=plain, login="", notes=("a note",)
    )


def settle(store, tiny, work, outcome=Outcome.PASS) -> AttemptRecord:
    """What a lane does with a hand-in, without the run."""
    store.start(replace(work.record, started=records.now()))
    evidence = Evidence(tiny.name, work.submission.student, work.seed, is_complete=True)
    if outcome is Outcome.INFRA:
        evidence.refusal = outcome
    checks, hidden = tiny.checks, tiny.hidden_checks()
    evidence.results = [Result(c.id, outcome, (Finding(outcome is Outcome.PASS, "saw 3"),))
                        for c in (*checks, *hidden)]  # fmt: skip
    record = records.ended(store.find(work.record.key), evidence, checks, hidden)
    store.finish(record, Attempted(evidence, {"cells": []}))
    store.count(record)
    return record


def graded(store, tiny, submissions, rerun=False, outcome=Outcome.PASS):
    work, done = plan(tiny, submissions, store, b"s", rerun)
    return [settle(store, tiny, one, outcome) for one in work], done


def test_two_people_of_one_name_are_two_and_keep_their_parameters(tiny, tmp_path):
    store = Store(tmp_path, tiny.name)
    two = [moodle("11", shown="Ada Lee (11)"), moodle("12", shown="Ada Lee (12)")]
    first, _ = graded(store, tiny, two)
    assert [r.student for r in store.class_records()] == ["Ada Lee (11)", "Ada Lee (12)"]
    assert len({r.key for r in first}) == 2
    ran, done = graded(store, tiny, [moodle("11")])
    assert (ran, [r.id for r in done]) == ([], ["11"]), "alone in an upload she is the same"
    assert len(store.class_records()) == 2


def test_a_class_that_knew_names_alone_knows_them_still(tiny, tmp_path):
    store = Store(tmp_path, tiny.name)
    (old,), _ = graded(store, tiny, [submission("Ada Lee")])
    table = json.loads((store.attempt(old.key) / "record.json").read_text())
    for name in ("person", "number", "plain", "login", "handed_in"):
        del table[name]
    (store.attempt(old.key) / "record.json").write_text(json.dumps(table))
    ran, done = graded(store, tiny, [moodle("11")])
    assert (ran, [r.key for r in done]) == ([], [old.key]), "same parameters, so nothing to run"
    ran, _ = graded(store, tiny, [moodle("11", "x = 2")])
    assert [r.id for r in ran] == ["Ada Lee"]
    graded(store, tiny, [moodle("11", shown="Ada Lee (11)"), moodle("12", shown="Ada Lee (12)")])
    assert [r.id for r in store.class_records()] == ["11", "12"], "the shared row is gone"


def test_a_table_is_never_emptied_by_what_has_not_finished(tiny, tmp_path):
    store = Store(tmp_path, tiny.name)
    graded(store, tiny, [submission("anna"), submission("ben")])
    before = store.class_records()
    changed = replace(tiny, limits=replace(tiny.limits, run=99))
    for submissions, rerun in (([submission("anna", "x = 2"), submission("ben")], False),
                               ([submission("anna"), submission("ben")], True)):  # fmt: skip
        work, _ = plan(changed, submissions, store, b"s", rerun)
        assert store.class_records() == before
        store.start(work[0].record)  # and then it is killed
        assert [r.reached for r in store.class_records()] == [8, 8]
        assert all(store.evidence(r.key) is not None for r in store.class_records())
        assert work


def test_a_fault_of_ours_takes_no_mark_away(tiny, tmp_path):
    store = Store(tmp_path, tiny.name)
    graded(store, tiny, [submission()])
    graded(store, tiny, [submission()], rerun=True, outcome=Outcome.INFRA)
    assert [r.reached for r in store.class_records()] == [8]
    ran, _ = graded(store, tiny, [submission()])
    assert len(ran) == 1, "it is tried again"
    graded(store, tiny, [submission(text="x = 2")], outcome=Outcome.INFRA)
    assert [r.reached for r in store.class_records()] == [None], "another hand-in has no mark yet"


def test_why_a_hand_in_runs_is_told(tiny, tmp_path):
    store = Store(tmp_path, tiny.name)

    def why(submission, rerun=False):
        return [one.why for one in plan(tiny, [submission], store, b"s", rerun)[0]]

    assert why(submission()) == ["new"]
    work, _ = plan(tiny, [submission()], store, b"s", rerun=False)
    store.start(work[0].record)
    assert why(submission()) == ["cut off before"]
    (record,), _ = graded(store, tiny, [submission()])
    assert why(submission()) == []
    assert why(submission(), rerun=True) == ["asked for"]
    assert why(submission(text="x = 2")) == ["another hand-in"]
    for name, words in (("lab_digest", "the lab changed"), ("grader", "the grader changed")):
        older = replace(record, **{name: "before"}, key="older")
        store.finish(older, Attempted(Evidence(tiny.name, "anna", "seed")))
        assert records_reason(record, older) == words
