"""Who waits off a terminal is told now and then; who does not wait long, nothing."""

import os
import pty
import subprocess
import sys

CODE = """
import threading
from kafkalab import progress
progress.EVERY = progress.LIVE = 0.05
steps = iter(range(1000))
seen = threading.Event()
def text():
    step = next(steps)
    if step == 2:
        seen.set()
    return f"step {step}"
with progress.told(text):
    assert seen.wait(20)
print("after", file=__import__("sys").stderr)
"""


def test_off_a_terminal_each_is_a_line():
    said = subprocess.run(
        [sys.executable, "-P", "-c", CODE], stderr=subprocess.PIPE, text=True, timeout=30
    ).stderr.splitlines()

    assert said[:3] == ["  0 s: step 0", "  0 s: step 1", "  0 s: step 2"]
    assert said[-1] == "after"


def test_what_is_quick_says_nothing():
    code = "from kafkalab.progress import told\nwith told(lambda: 'a line'): pass"

    said = subprocess.run(
        [sys.executable, "-P", "-c", code], stderr=subprocess.PIPE, text=True, timeout=30
    )

    assert (said.returncode, said.stderr) == (0, "")


def test_on_a_terminal_one_line_is_written_over():
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-P", "-c", CODE], stderr=theirs) as program:
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 1000):
                said += part
        except OSError:  # as Linux says that the other end is closed
            pass
        os.close(ours)

    assert program.returncode == 0
    assert b"\r\x1b[K  0 s: step 1" in said
    assert said.endswith(b"\r\x1b[Kafter\r\n")
