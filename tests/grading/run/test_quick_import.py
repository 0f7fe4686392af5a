"""What a process of the grader does not load, as each attempt has one of its own."""

import subprocess
import sys

import pytest

GRAMMAR = "rfc3987_syntax"


@pytest.mark.parametrize("module", ["grading.run.worker", "grading.practice.own_check"])
def test_no_grammar_of_web_addresses_is_built(module):
    code = f"import {module}, sys; print('nbformat' in sys.modules, sys.modules[{GRAMMAR!r}])"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["True", "None"], done.stderr
