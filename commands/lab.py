"""`./course lab`: JupyterLab on the learner's own copies of the lessons."""

import os
import socket
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from commands import jupyterlab_server, told
from kafkalab import environment
from kafkalab.errors import CourseError
from kafkalab.java import aot, jars
from kafkalab.places import repository
from kafkalab.setup import contents, copies, kernel, way

FIRST = Path("notebooks", "00_start.ipynb")
PORT = 8888
SETTINGS = Path(__file__).with_name("jupyterlab")


def lab(
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser, or print the address.")
    ] = True,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="The port; else the first free from 8888.")
    ] = None,
) -> None:
    """Open JupyterLab on the first lesson, later on your contents.

    Your copies of the lessons and labs lie in work/. Those you changed are never overwritten.
    """
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for name in jars.names():
        jars.jars(name)
    aot.record_in_background(*(name for name in aot.ARCHIVES if not aot.path_of(name).exists()))
    work = repository() / "work"
    for sentence in told.sentences(copies.refresh(repository(), work), work):
        console.print(sentence, markup=False)
    try:
        contents.write(repository(), work)
    except CourseError as error:  # what was answered so far cannot be read; pages open without
        console.print(str(error), markup=False)
    environment.clear_for_jupyterlab()
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    # Its kernel is the installed one, and helps with cells that are run out of order.
    paths = [str(SETTINGS), os.environ.get("JUPYTER_PATH")]
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, paths))
    check_kernel()
    arguments = options(work, port)
    os.chdir(work)
    jupyterlab_server.run(arguments, work, browser)


def options(work: Path, port: int | None) -> list[str]:
    """How JupyterLab is started: on this machine only, with its token, on a page."""
    page = Path(contents.FILE) if is_past_the_start(work) else FIRST
    first = f"/tree/{page.as_posix()}" if (work / page).exists() else ""
    if port and not _free(port):
        raise CourseError(
            f"Port {port} is in use by another program.",
            "It may be a JupyterLab that was started before.",
            "Let the course find a free one: ./course lab",
        )
    return [
        f"--ServerApp.root_dir={work}",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port or next(p for p in range(PORT, 65536) if _free(p))}",
        f"--LabApp.default_url=/lab{first}",
        # Defaults of the page: no question about news, no request to the outside.
        f"--LabApp.app_settings_dir={SETTINGS}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        # In a container the only user is often root; the page is for this machine alone anyway.
        f"--ServerApp.allow_root={os.geteuid() == 0}",
    ]


def is_past_the_start(work: Path) -> bool:
    """Whether the first lesson was run to its end."""
    try:
        return any(step.is_done for step in way.steps(repository(), work)[:1])
    except CourseError:
        return False


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def check_kernel() -> None:
    """A notebook must run in this Python, and not in one that another project registered."""
    found = kernel.kernel()
    if not found.is_ours:
        raise CourseError(
            f"Notebooks would run in {found.program}, which is not the Python of the course.",
            f"The kernel description in {found.described_in} says so.",
            f"Write the course's own: {sys.executable} -m ipykernel install --sys-prefix",
        )
