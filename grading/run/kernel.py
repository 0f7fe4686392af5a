"""The kernel that runs a student's cells: a process of its own, in a folder of its own.

It is reached through sockets in that folder and not through ports, gets a short environment
without secrets, and never takes a kernel name from a hand-in. What is between it and the machine
is the command that starts it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any, cast

import zmq
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner
from jupyter_core.utils import run_sync

from grading.define.definition import Limits
from grading.define.place import Place
from grading.judge.outcome import Outcome
from grading.run import packages
from grading.run.processes import MARK
from grading.sandbox import room
from grading.sandbox.limits import LimitWatch
from kafkalab.environment import of_docker_engine
from kafkalab.errors import CourseError
from kafkalab.java import aot
from kafkalab.places import cache, state

PASSED_ON = (
    *("PATH", "LANG", "LC_ALL", "TZ", "VIRTUAL_ENV"),
    "KAFKALAB_JAVA_HOME",
)
OF_THE_MACHINE = ("KAFKALAB_ENGINE", "KAFKALAB_SPARK_MASTER", "KAFKALAB_SPARK_POOL")
"""Lead to what runs outside of the kernel, where a sandbox does not let it go."""
START_TIMEOUT = 60
LOOK_AGAIN = 1.0  # seconds until a kernel that starts is looked at
CONNECT_AGAIN = 10  # milliseconds between attempts to reach one
LONGEST_SOCKET_PATH = 90  # of 104 to 108 bytes that systems allow, less the number of a socket


class KernelDidNotStart(Exception):
    """Not the student's fault."""


class Manager(AsyncKernelManager):
    """Starts the interpreter that grades, whatever kernels are installed."""

    command: list[str]
    is_sandboxed: bool

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(
            argv=self.command,
            display_name="Python 3",
            language="python",
            # A signal would only reach the program that stands before the sandbox.
            interrupt_mode="message" if self.is_sandboxed else "signal",
        )


@dataclass(frozen=True)
class Sandbox:
    """Whose files a kernel may see, and what it may take."""

    place: Place
    limits: Limits


class StudentKernel:
    """A kernel with its client, ready for cells. Whoever gives the folder removes it."""

    def __init__(
        self, folder: Path, mark: str, sandbox: Sandbox | None = None, wheels: Path | None = None
    ) -> None:
        self.folder = folder
        self.sandbox = sandbox
        self.wheels = wheels
        self.work = self.folder / "work"
        self.work.mkdir()
        (self.folder / "tmp").mkdir()
        if sandbox is None:
            packages.installed(folder).mkdir(parents=True)
        else:
            room.prepare(folder)
        sockets = self.folder / room.SOCKETS / "k" if sandbox else self.folder / "socket"
        by_path = hasattr(os, "fork") and len(str(sockets)) <= LONGEST_SOCKET_PATH
        self.manager = Manager(
            connection_file=str(self.folder / "connection.json"),
            **({"transport": "ipc", "ip": str(sockets)} if by_path else {"transport": "tcp"}),
        )
        self.manager.is_sandboxed = sandbox is not None
        # Its sockets are there a moment after the process is.
        self.manager.context.setsockopt(zmq.RECONNECT_IVL, CONNECT_AGAIN)
        self.environment = environment(self.folder, mark, sandbox is not None, wheels)
        self._watch: LimitWatch | None = None

    def start(self) -> None:
        """Start the process and wait until it answers."""
        if self.sandbox is not None and self.manager.transport != "ipc":
            raise KernelDidNotStart(
                f"the path {self.folder} is too long for sockets; let TMPDIR name a shorter one"
            )
        try:
            self.manager.command = command(self.folder, self.sandbox, self.wheels)
            run_sync(self.manager.start_kernel)(
                cwd=str(self.work),
                env=self.environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            if self.sandbox is not None and self.pid is not None:
                shared = self.folder / room.SOCKETS
                self._watch = LimitWatch(self.pid, shared, self.sandbox.limits)
            self.client = self.manager.client()
            # A heartbeat tells nothing that the process does not.
            self.client.start_channels(hb=False)
            run_sync(self._wait_for_answer)()
        except (RuntimeError, OSError, CourseError) as error:
            raise KernelDidNotStart(str(error)) from error
        self.client.allow_stdin = False

    async def _wait_for_answer(self) -> None:
        """Until it answers and all that it has said so far is taken.

        jupyter_client waits for silence, which costs 0.2 s each time. A kernel greets who listens
        to its outputs, and what it says of a request ends with the word that it is idle.
        """
        deadline = time.monotonic() + START_TIMEOUT
        await self._next(self.client.iopub_channel, deadline)
        request = self.client.kernel_info()
        for channel, last in (
            (self.client.shell_channel, "kernel_info_reply"),
            (self.client.iopub_channel, "idle"),
        ):
            while True:
                message = await self._next(channel, deadline)
                state = message["content"].get("execution_state", message["msg_type"])
                if message["parent_header"].get("msg_id") == request and state == last:
                    break

    async def _next(self, channel: Any, deadline: float) -> dict[str, Any]:
        """A message of the kernel while it starts."""
        while time.monotonic() < deadline:
            with contextlib.suppress(Empty):
                return cast(dict[str, Any], await channel.get_msg(timeout=LOOK_AGAIN))
            if self.exit_code is not None:
                raise RuntimeError(f"the kernel ended with {self.exit_code} before it answered")
        raise RuntimeError(f"the kernel did not answer within {START_TIMEOUT} s")

    @property
    def exit_code(self) -> int | None:
        """Of the process; None while it runs. Negative: the signal that ended it."""
        code = self._process.poll() if self._process else None
        if code is not None and self.sandbox is not None and code > 128:
            return 128 - code  # as shells do it, the sandbox adds them
        return code

    @property
    def pid(self) -> int | None:
        """Of the process, while there is one."""
        return self._process.pid if self._process else None

    @property
    def stopped(self) -> tuple[Outcome, str] | None:
        """The limit of the sandbox that it was ended for, and what went beyond it."""
        if self._watch is None or self.exit_code is None:
            return None
        return self._watch.verdict

    def kill(self) -> None:
        """End the process at once. What it started is swept by whoever started the attempt."""
        process = self._process
        if process and process.poll() is None:
            process.kill()
            process.wait()

    @property
    def _process(self) -> subprocess.Popen[bytes] | None:
        provisioner = self.manager.provisioner
        return provisioner.process if isinstance(provisioner, LocalProvisioner) else None


def find_starters() -> None:
    """Let jupyter_client look through all packages for what starts kernels: once in a process."""
    KernelProvisionerFactory.instance()


def command(folder: Path, sandbox: Sandbox | None, wheels: Path | None) -> list[str]:
    """What starts the kernel, with the sandbox in front of it where there is one."""
    options = ("-f", "{connection_file}", "--HistoryManager.enabled=False")
    if sandbox is None:
        return [sys.executable, "-m", "ipykernel_launcher", *options]
    limits = sandbox.limits
    # More than the watch allows: it ends a sandbox that goes beyond the limit, for root as well.
    bounds = map(str, (limits.memory, 2 * limits.processes, limits.disk))
    inside = [sys.executable, "-m", "grading.sandbox.inside", *bounds, *options]
    shown = () if wheels is None else (wheels,)
    written = (packages.installed(folder),)
    return room.command(folder, sandbox.place, limits, inside, shown=shown, written=written)


def environment(
    folder: Path, mark: str, is_sandboxed: bool = False, wheels: Path | None = None
) -> dict[str, str]:
    """Short, and with homes inside the folder: no start-up files of this user, no credentials."""
    wanted = PASSED_ON if is_sandboxed else (*PASSED_ON, *OF_THE_MACHINE)
    passed_on = {name: os.environ[name] for name in wanted if name in os.environ}
    if not is_sandboxed and os.environ.get("KAFKALAB_ENGINE") == "docker":
        passed_on |= of_docker_engine()
    if is_sandboxed and not _has_quick_start():
        passed_on["KAFKALAB_AOT"] = "off"  # nothing can be recorded from in there
    # `!pip` and `!python` are those of the interpreter that grades.
    passed_on["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{passed_on.get('PATH', '')}"
    return passed_on | {
        "HOME": str(folder),
        "IPYTHONDIR": str(folder / "ipython"),
        # what a killed process leaves goes with the folder
        "TMPDIR": str(folder / "tmp"),
        "JUPYTER_CONFIG_DIR": str(folder / "jupyter"),
        "JUPYTER_DATA_DIR": str(folder / "jupyter"),
        "JUPYTER_RUNTIME_DIR": str(folder / "jupyter"),
        # fonts are looked for once on a machine, not once for every hand-in
        "MPLCONFIGDIR": str(cache() / "matplotlib"),
        "KAFKALAB_CACHE": str(cache()),
        "KAFKALAB_STATE": str(folder / "state" if is_sandboxed else state()),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
        **packages.variables(folder, wheels),
        MARK: mark,
    }


def _has_quick_start() -> bool:
    """Whether Java has all its archives of prepared classes; not where it has no classes."""
    try:
        return all(aot.path_of(name).exists() for name in aot.ARCHIVES)
    except CourseError:
        return False
