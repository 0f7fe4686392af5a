"""A real lab, solved by somebody who keeps house in a way of their own: full marks."""

import re
from pathlib import Path

import pytest

from grading.define import definition, master
from grading.handin.weave import HandedIn, as_handed_in
from grading.judge.outcome import Outcome
from grading.judge.score import total
from grading.run.attempt import Attempt
from grading.run.job import Job
from grading.run.lease import Lease

LAB = "lab01_first_topics"


def as_left(cells):
    """Ids lost, helpers in cells of their own, an import in the set-up, a task in two cells, names
    of Python taken, a look here and there, a blank cell beside an answer, a check that is gone.
    """
    for cell in cells:
        text = cell.text
        if text.startswith("from kafka import KafkaAdminClient"):
            text = text.replace("\n", "\nfrom itertools import islice, pairwise\n", 1)
        if cell.id == "task-2":
            first, _, second = text.partition("producer.flush()")
            yield HandedIn("", "code", first)
            yield HandedIn("", "code", "len(futures)")
            text = f"producer.flush(){second}"
        if cell.id == "task-4":
            text = text.replace("from itertools import pairwise\n", "")
            helper = re.search(r"def read_everything.*?\n\n\n", text, re.DOTALL)[0]
            yield HandedIn("", "code", helper)
            text = text.replace(helper, "") + "\nlist = arrived\nlen = sorted = None"
        if cell.id == "task-5":
            yield HandedIn("", "code", "%matplotlib qt\ntyped_before = typed('true')")
            text = "\n".join(text.splitlines()[1:])
        if cell.id == "task-6":
            yield HandedIn("", "code", "# Task 6\nraise NotImplementedError('later')")
        if cell.id != "check-7":
            yield HandedIn("", cell.kind, text.replace("# Task", "#task"))


@pytest.mark.cluster
def test_a_hand_in_as_it_was_left_has_full_marks(tmp_path: Path) -> None:
    lab = definition.load(LAB)
    cells = list(as_left(as_handed_in(master.solved(lab))))
    attempt, lease = Attempt(lab), Lease(lab)
    try:
        job = Job("anna", "seed of anna", cells, lease.take())
        evidence = attempt.run(job).evidence
    finally:
        attempt.close()
        lease.close()
    assert evidence.fault is None, evidence.why
    checks = (*lab.checks, *lab.hidden_checks())
    results = {result.check: result for result in evidence.results}
    lost = [r for r in results.values() if r.outcome is not Outcome.PASS]
    assert total(checks, results).reached == lab.points, (lost, evidence.trouble)
    assert any(words.startswith("Task 5: ") and "inline" in words for words in evidence.oddities)
