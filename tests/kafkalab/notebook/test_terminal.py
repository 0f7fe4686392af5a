"""A terminal behaves as one that a person sits at."""

import signal
import sys

import pytest

from kafkalab.errors import CourseError
from kafkalab.notebook.terminal import Terminal
from kafkalab.wait import WaitTimeout

ECHO = """
import sys
while line := sys.stdin.readline():
    print("got", repr(line), flush=True)
print("end of input", flush=True)
"""
ASK = """
while True:
    print("got", repr(input("> ")), flush=True)
"""


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


@pytest.mark.process
def test_a_submitted_line_reaches_the_program():
    with Terminal(python(ASK), prompt="> ") as terminal:
        terminal.submit("hello")
        assert terminal.screen == "> hello\ngot 'hello'\n> "


@pytest.mark.process
def test_a_typed_line_stays_with_the_terminal_until_ctrl_c():
    with Terminal(python(ASK), prompt="> ") as terminal:
        terminal.type("never sent")
        terminal.press("Ctrl-C")
        assert terminal.wait_until_gone() == -signal.SIGINT
        assert "> never sent^C" in terminal.screen
        assert "got" not in terminal.screen


def test_ctrl_d_ends_the_input():
    with Terminal(python(ECHO)) as terminal:
        terminal.type("last")
        terminal.press("Enter")
        terminal.wait_for(lambda: "got" in terminal.screen, "the line")
        terminal.press("Ctrl-D")
        assert terminal.wait_until_gone() == 0
        assert terminal.screen.endswith("end of input\n")


def test_kill_leaves_no_program_behind():
    with Terminal(python(ASK), prompt="> ") as terminal:
        terminal.kill()
        assert not terminal.running
        assert terminal.wait_until_gone() == -signal.SIGKILL


def test_the_program_goes_with_the_block():
    with Terminal(python(ASK), prompt="> ") as terminal:
        assert terminal.running
    assert not terminal.running


@pytest.mark.process
def test_an_empty_line_is_submitted_too():
    with Terminal(python(ASK), prompt="> ") as terminal:
        terminal.submit("")
        terminal.submit("")
        assert terminal.screen == "> \ngot ''\n> \ngot ''\n> "


@pytest.mark.process
def test_a_missing_prompt_is_named_with_the_screen():
    program = python("print('no prompt here', flush=True); input()")
    with Terminal(program) as terminal:
        terminal.wait_for(lambda: "no prompt" in terminal.screen, "the first words")
        with pytest.raises(WaitTimeout, match="no prompt here"):
            terminal.wait_for(lambda: "> " in terminal.screen, "a prompt", timeout=0.2)


def test_a_program_that_ends_at_once_is_not_waited_for():
    with pytest.raises(CourseError, match="ended before the prompt"):
        Terminal(python("print('wrong option')"), prompt="> ")
