"""What grading a hand-in costs beyond the seconds of the student's own code.

./course bench grading [--lab lab02] [--students 4] [--trust-students] [--json]

A class of copies of the solution is graded on one shared cluster, one hand-in after the other. The
first one waits for the cluster and for nothing that later ones share, so it is shown apart.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from grading.define import definition, master
from grading.define.seed import course_secret
from grading.handin.submission import Submission
from grading.keep.store import Store
from grading.prove.verify import handed_in
from grading.run.lanes import Lanes, overhead
from grading.run.plan import plan
from grading.run.surroundings import Surroundings

BUDGET = 1.0  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(prog="./course bench grading")
    parser.add_argument("--lab", default="lab02")
    parser.add_argument("--students", type=int, default=4)
    parser.add_argument("--trust-students", action="store_true", help="without a sandbox")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    lab = definition.load(options.lab)
    around = Surroundings(is_sandboxed=not options.trust_students)
    submissions = [
        Submission(f"student {number}", handed_in(master.solved(lab), lab.name))
        for number in range(options.students)
    ]
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        store = Store(Path(folder), lab.name)
        work, _ = plan(lab, submissions, store, course_secret(Path(folder)), rerun=True)
        records = Lanes(lab, store, around=around).run(work, jobs=1)
    beyond = [overhead(record) for record in records]
    own = [record.seconds["cells"] for record in records]
    points = [record.reached for record in records]
    result = {
        "first": beyond[0],
        "median": statistics.median(beyond[1:]),
        "most": max(beyond[1:]),
        "cells": statistics.median(own),
        "points": points,
        "budget": BUDGET,
    }
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        Console(highlight=False).print(
            f"{lab.name}: {result['cells']:.1f} s in the student's cells; beyond them "
            f"{result['median']:.2f} s (at most {result['most']:.2f} s; the first "
            f"{result['first']:.2f} s); budget {BUDGET} s\npoints: {points}"
        )
    if result["median"] > BUDGET:
        sys.exit(1)


if __name__ == "__main__":
    main()
