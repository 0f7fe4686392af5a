"""The kernel that runs a student's cells: a process of its own, in a folder of its own.

It is reached through sockets in that folder and not through ports, gets a short environment
without secrets, and never takes a kernel name from a hand-in. What is between it and the machine
is the command that starts it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner
from jupyter_core.utils import run_sync

from kafkalab.environment import of_docker_engine
from kafkalab.places import cache, state

PASSED_ON = (
    *("PATH", "LANG", "LC_ALL", "TZ", "VIRTUAL_ENV"),
    *("KAFKALAB_ENGINE", "KAFKALAB_JAVA_HOME", "KAFKALAB_SPARK_MASTER", "KAFKALAB_SPARK_POOL"),
)
MARK = "KAFKALAB_ATTEMPT"
"""In the environment of the kernel and all that it starts; tells whose a stray process is."""
START_TIMEOUT = 60
LONGEST_SOCKET_PATH = 90  # of 104 to 108 bytes that systems allow, less the number of a socket


class KernelDidNotStart(Exception):
    """Not the student's fault."""


class Manager(AsyncKernelManager):
    """Starts the interpreter that grades, whatever kernels are installed."""

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(argv=command(), display_name="Python 3", language="python")


def command() -> list[str]:
    """What starts the kernel; a sandbox stands in front of it."""
    return [
        *(sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"),
        "--HistoryManager.enabled=False",
    ]


class StudentKernel:
    """A kernel with its client, ready for cells. Whoever gives the folder removes it."""

    def __init__(self, folder: Path, mark: str) -> None:
        self.folder = folder
        self.work = self.folder / "work"
        self.work.mkdir()
        (self.folder / "tmp").mkdir()
        sockets = self.folder / "socket"
        by_path = hasattr(os, "fork") and len(str(sockets)) <= LONGEST_SOCKET_PATH
        self.manager = Manager(
            connection_file=str(self.folder / "connection.json"),
            **({"transport": "ipc", "ip": str(sockets)} if by_path else {"transport": "tcp"}),
        )
        self.environment = environment(self.folder, mark)

    def start(self) -> None:
        """Start the process and wait until it answers."""
        try:
            run_sync(self.manager.start_kernel)(
                cwd=str(self.work),
                env=self.environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            self.client = self.manager.client()
            self.client.start_channels()
            run_sync(self.client.wait_for_ready)(timeout=START_TIMEOUT)
        except (RuntimeError, OSError) as error:
            raise KernelDidNotStart(str(error)) from error
        self.client.allow_stdin = False

    @property
    def exit_code(self) -> int | None:
        """Of the process; None while it runs. Negative: the signal that ended it."""
        return self._process.poll() if self._process else None

    @property
    def pid(self) -> int | None:
        """Of the process, while there is one."""
        return self._process.pid if self._process else None

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


def environment(folder: Path, mark: str) -> dict[str, str]:
    """Short, and with homes inside the folder: no start-up files of this user, no credentials."""
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    if os.environ.get("KAFKALAB_ENGINE") == "docker":
        passed_on |= of_docker_engine()
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
        "KAFKALAB_STATE": str(state()),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
        MARK: mark,
    }
