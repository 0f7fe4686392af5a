"""A process is ended with all that it started."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

# One of the two ends after it was found and before it is looked at.
FAMILY = """
import os, psutil, subprocess
from grading.run.processes import end_below

first, second = [subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL) for _ in range(2)]
find = psutil.Process.children

def found(process, recursive=False):
    children = find(process, recursive)
    first.kill()
    first.wait()
    return children

psutil.Process.children = found
end_below(os.getpid())
print(psutil.pid_exists(first.pid), psutil.pid_exists(second.pid))
second.kill()
"""


def test_one_that_goes_meanwhile_does_not_save_the_others():
    done = subprocess.run(
        [sys.executable, "-c", FAMILY], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "False False\n", done.stderr
