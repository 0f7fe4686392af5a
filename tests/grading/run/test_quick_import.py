"""What a process of the grader does not load, as each attempt has one of its own."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

GRAMMAR = "rfc3987_syntax"
HEAVY = ("pyarrow", "requests", "numpy", "pandas", "rich", "arrow", "pyspark")
ATTEMPT = """
import grading.run.worker, grading.run.kernel, grading.run.engine, grading.run.examiner
import grading.handin.weave, papermill, sys
print(*(name for name in {heavy} if name in sys.modules))
import pyarrow.fs, requests.exceptions
"""


@pytest.mark.parametrize("module", ["grading.run.worker", "grading.practice.own_check"])
def test_no_grammar_of_web_addresses_is_built(module):
    code = f"import {module}, sys; print('nbformat' in sys.modules, sys.modules[{GRAMMAR!r}])"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["True", "None"], done.stderr


def test_the_process_of_an_attempt_loads_nothing_heavy():
    """Half of what an attempt cost was the libraries that it never used."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", ATTEMPT.format(heavy=HEAVY)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"what a check may want is there: {done.stderr}"
    assert done.stdout.split() == []


def test_who_plans_and_tells_loads_no_client_of_kernels():
    """Nobody waits longer for `./course grade` to begin than it needs: kernels are of attempts."""
    code = (
        "import grading.run.plan, grading.run.lanes, grading.keep.report, commands.grading, sys\n"
        "print(*(name for name in ('jupyter_client', 'zmq', 'pandas') if name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
