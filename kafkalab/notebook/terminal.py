"""A program on a terminal of its own, operated by a notebook instead of a person.

Kafka's console tools behave differently on a terminal than on a pipe: they show a prompt, a line
that was typed but not submitted stays with the terminal, and Ctrl-C reaches them as a signal.
Lessons about these differences need a real terminal and a program that types.
"""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import subprocess
import termios
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kafkalab import environment
from kafkalab.engine import java_command, tools
from kafkalab.errors import CourseError
from kafkalab.wait import wait_until

if TYPE_CHECKING:
    from kafkalab.cluster.cluster import Cluster

KEYS = {"Enter": b"\n", "Ctrl-C": b"\x03", "Ctrl-D": b"\x04"}
PROMPTS = {"kafka-console-producer": ">"}


def console(cluster: Cluster, script: str, *arguments: str) -> Terminal:
    """A tool of Kafka's bin folder on a terminal of its own, ready for the first line.

    It runs on this machine with either engine; `{bootstrap}` in an argument becomes the address of
    the cluster.
    """
    folder = cluster.slot.folder
    command = [
        *java_command.tool(tools.main_class(script), folder),
        *(argument.replace("{bootstrap}", cluster.address) for argument in arguments),
    ]
    return Terminal(command, PROMPTS.get(script, ""), folder, environment.for_java())


class Terminal:
    """Starts `command` with this terminal as its keyboard and its screen.

    With a `prompt` it waits for that where the program is to be ready for a line. A context
    manager: leaving the block kills a program that still runs.
    """

    def __init__(
        self,
        command: Sequence[str],
        prompt: str = "",
        folder: Path | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._prompt = prompt
        self._keyboard, screen = pty.openpty()
        self._seen = bytearray()
        self._process = subprocess.Popen(
            command,
            stdin=screen,
            stdout=screen,
            stderr=screen,
            cwd=folder,
            env=variables,
            start_new_session=True,
            # Ctrl-C is sent to the programs in front of the terminal that controls the session.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(screen)
        self._reader = threading.Thread(target=self._watch, daemon=True)
        self._reader.start()
        try:
            self._wait_for_prompt(0, "\n")
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        os.close(self._keyboard)

    @property
    def screen(self) -> str:
        """Everything shown so far: what the program wrote and what was typed."""
        return self._seen.decode("utf-8", "replace").replace("\r\n", "\n")

    @property
    def running(self) -> bool:
        """Whether the program has not ended yet."""
        return self._process.poll() is None

    def type(self, text: str) -> None:
        """Type the text without pressing Enter. Returns when it stands on the screen."""
        before = self.screen
        os.write(self._keyboard, text.encode())
        self.wait_for(lambda: text in self.screen[len(before) :], f"{text!r} on the screen")

    def submit(self, line: str) -> None:
        """Type a line and press Enter. Returns when the program asks for the next one."""
        shown = len(self.screen)
        self.type(line)
        self.press("Enter")
        self._wait_for_prompt(shown)

    def press(self, key: str) -> None:
        """Press `Enter`, `Ctrl-C` or `Ctrl-D`."""
        os.write(self._keyboard, KEYS[key])

    def kill(self) -> None:
        """SIGKILL: the program can do nothing about it. Returns when it is gone."""
        self._process.kill()
        self.wait_until_gone()

    def wait_for(self, condition: Callable[[], object], what: str, timeout: float = 30) -> None:
        """Wait for something that the program does; a program that has ended is not waited for."""

        def settled() -> bool:
            gone = not self.running
            if gone:
                self._reader.join()
            return bool(condition()) or gone

        wait_until(settled, timeout=timeout, what=what, seen=lambda: repr(self.screen))
        if not condition():
            raise CourseError(f"The program ended before {what}.", f"It wrote: {self.screen!r}")

    def wait_until_gone(self, timeout: float = 30) -> int:
        """The exit code, once the program has ended; minus the signal where one ended it."""
        self.wait_for(lambda: not self.running, "its end", timeout)
        return self._process.returncode

    def _wait_for_prompt(self, shown: int, before: str = "") -> None:
        """Wait for the prompt on a line of its own, behind what was shown before."""
        if self._prompt:
            self.wait_for(
                lambda: f"{before}{self.screen[shown:]}".endswith(f"\n{self._prompt}"),
                f"the prompt {self._prompt}",
            )

    def _watch(self) -> None:
        """Copy the screen until the program has gone, which Linux reports as an error."""
        try:
            while shown := os.read(self._keyboard, 4096):
                self._seen += shown
        except OSError as error:
            if error.errno != errno.EIO:
                raise
