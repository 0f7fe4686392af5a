"""Calls of the docker command: each has a deadline, and each failure is put into plain words."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from python_on_whales import DockerClient
from python_on_whales.client_config import ClientNotFoundError

from kafkalab import environment
from kafkalab.engine import ToolResult
from kafkalab.engine.docker_failures import RESTART, WITHOUT_DOCKER, explain
from kafkalab.errors import CourseError
from kafkalab.wait import WaitTimeout


class NoAnswer(WaitTimeout):
    """A call of docker did not end."""


class Docker:
    """The docker command for one project, with the variables of docker-compose.yml."""

    def __init__(self, client: DockerClient, variables: Mapping[str, object]) -> None:
        self._client = client
        self._environment = environment.for_docker(variables)

    def command(self, *arguments: object) -> list[str]:
        """The command line of a call, for who handles its streams."""
        try:
            return [str(part) for part in [*self._client.client_config.docker_cmd, *arguments]]
        except ClientNotFoundError:
            raise CourseError(
                "Docker is not installed: there is no program called docker.",
                "",
                f"Install Docker Desktop or Docker Engine. {WITHOUT_DOCKER}",
            ) from None

    def run(self, *arguments: object, timeout: float = 30, stdin: bytes = b"") -> str:
        """What the call wrote; a CourseError where it failed."""
        return self._checked(self.command(*arguments), timeout, stdin)

    def compose(self, *arguments: object, timeout: float) -> str:
        """The same for a call of Docker Compose on the project."""
        self.command()
        compose = self._client.client_config.docker_compose_cmd
        return self._checked([str(part) for part in [*compose, *arguments]], timeout, b"")

    def machine(self) -> str:
        """What Docker runs on, as in `linux/amd64`; a CourseError where it or Compose is absent."""
        machine = self.run("version", "--format", "{{.Server.Os}}/{{.Server.Arch}}").strip()
        self.run("compose", "version", "--short")
        return machine

    def answers(self) -> bool:
        """Whether Docker is installed and running."""
        try:
            asked = self.command("version", "--format", "{{.Server.Version}}")
            return self.attempt(asked, timeout=10).returncode == 0
        except CourseError:
            return False

    def attempt(
        self, command: Sequence[str], timeout: float, stdin: bytes = b"", what: str = ""
    ) -> ToolResult:
        """Run a command line to its end, whatever it returns. NoAnswer at the deadline."""
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment,
            # docker hands over to a plug-in, a process of its own. As one group they end together.
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(stdin, timeout)
        except subprocess.TimeoutExpired:
            stdout, stderr = _end(process)
            written = (stdout + stderr).decode(errors="replace")
            raise NoAnswer(
                f"Waited {timeout:g} s for {what or ' '.join(['docker', *command[1:3]])} to end.",
                f"It wrote: {written[-500:] or 'nothing'}",
                "" if what else RESTART,
            ) from None
        except BaseException:
            _end(process)
            raise
        return ToolResult(
            process.returncode,
            stdout.decode(errors="replace"),
            stderr.decode(errors="replace"),
        )

    def _checked(self, command: Sequence[str], timeout: float, stdin: bytes) -> str:
        done = self.attempt(command, timeout, stdin)
        if done.returncode:
            raise explain(done.stderr or done.stdout)
        return done.stdout


def _end(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Kill a call and what it started; returns what they wrote so far."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return process.communicate()
