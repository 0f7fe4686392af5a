"""Make .venv and install the course into it. Run by `course` with a bare Python.

So it imports nothing that has to be installed. An installation that was interrupted leaves its
mark, and the next call makes .venv anew; pip's own cache makes that quick. A lock lets a second
call wait for the first.
"""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))

from commands.pip_words import CONNECT, understood  # noqa: E402
from kafkalab.machine import room  # noqa: E402
from kafkalab.progress import told  # noqa: E402

VENV = HERE / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "installed"
UNFINISHED = VENV / "installing"
LOG = HERE / ".venv.log"
FETCH_TIMEOUT = 90  # seconds for one small package
# Where pip keeps what it has fetched until all of it is there: its size tells how far pip is.
FETCHED = VENV / "fetched"


class Failed(Exception):
    """Three lines for the person in front of the terminal."""


def main(stamp: str) -> None:
    with _lock():
        before = STAMP.read_text("utf-8") if STAMP.exists() else ""
        if before == stamp and not UNFINISHED.exists():
            return
        moved = before and not before.endswith(f" {HERE}")
        if moved or UNFINISHED.exists() or not _runs():
            _make()
        UNFINISHED.touch()
        if before and not moved:
            _say("The list of packages changed; installing what is new.")
        else:
            _say("Installing the packages of the course (once: 2 to 5 minutes, 470 MB to fetch).")
        _pip("install", "--progress-bar=off", "--editable", f"{HERE}{_for_authors()}")
        STAMP.write_text(stamp, "utf-8")
        UNFINISHED.unlink()
        LOG.unlink()


def _for_authors() -> str:
    """What tests need as well; the student edition lists no such packages."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]
    return "[dev]" if "dev" in project.get("optional-dependencies", {}) else ""


def _make() -> None:
    _say(f"Making the Python environment {VENV} with Python {sys.version.split()[0]}.")
    try:
        shutil.rmtree(VENV, ignore_errors=True)
        VENV.mkdir(exist_ok=True)
        UNFINISHED.touch()
    except OSError as error:
        raise Failed(
            f"{VENV} cannot be made.", f"The system says: {error}", "Call ./course again."
        ) from error
    environment(VENV)


def environment(folder: Path) -> None:
    """Make a Python environment with pip alone in it; Failed where this Python cannot."""
    try:
        with told(lambda: f"making {folder}"):
            done = subprocess.run(
                [sys.executable, "-m", "venv", str(folder)], capture_output=True, text=True
            )
    except OSError as error:
        raise Failed(
            f"{folder} cannot be made.", f"The system says: {error}", "Call ./course again."
        ) from error
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        if room.is_full(folder.parent):
            said = f"No space left on the disk of {folder.parent}. {said}"
        elif "ensurepip is not available" in said or "No module named ensurepip" in said:
            raise Failed(
                f"{sys.executable} lacks the module that makes environments.",
                "Some systems pack it separately.",
                "On Debian and Ubuntu: sudo apt install python3-venv. Then call ./course again.",
            )
        what, mend = understood(said) or (f"{folder} cannot be made.", "Mend that, then ./course.")
        raise Failed(what, said[-500:], mend)


def _runs() -> bool:
    try:
        done = subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True)
    except OSError:
        return False
    return done.returncode == 0


def _pip(*arguments: str) -> None:
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", *arguments]
    shutil.rmtree(FETCHED, ignore_errors=True)
    FETCHED.mkdir()
    seen: list[str] = ["pip begins"]
    with (
        LOG.open("w", encoding="utf-8") as log,
        told(lambda: _how_far(seen)),
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "TMPDIR": str(FETCHED)},
        ) as pip,
    ):
        for line in pip.stdout or ():
            log.write(line)
            seen.append(line)
    shutil.rmtree(FETCHED, ignore_errors=True)
    if pip.returncode:
        what, mend = understood("".join(seen)) or ("", "")
        raise Failed(
            what or "The packages of the course were not installed.",
            f"Wanted were the Python packages of the course. What pip wrote is in {LOG}.",
            mend or CONNECT,
        )


def fetch_one(folder: Path, package: str) -> None:
    """Fetch one package with the environment in this folder; Failed where pip does not get it."""
    command = [str(folder / "environment" / "bin" / "python"), "-m", "pip", "download"]
    command += ["--disable-pip-version-check", "--no-cache-dir", "--no-deps", "--retries=1"]
    command += ["--timeout=15", "--dest", str(folder), package]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_TIMEOUT)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"pip fetched nothing within {FETCH_TIMEOUT} s.", "", CONNECT) from late
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        what, mend = understood(said) or ("pip cannot fetch a package.", CONNECT)
        raise Failed(what, f"Its last words: {said.splitlines()[-1]}" if said else "", mend)


def _how_far(seen: list[str]) -> str:
    """Such as `Downloading pyspark-4.2.0.tar.gz (455.4 MB); 41 packages, 120 MB so far`."""
    if "Installing collected packages: " in seen[-1]:
        all_of_them = seen[-1].count(",") + 1
        there = sum(1 for _ in VENV.glob("lib/python*/site-packages/*.dist-info"))  # pip's own too
        return f"installing: {min(there, all_of_them)} of {all_of_them} packages are there"
    if seen[-1].startswith("Successfully installed"):
        return "installed; pip ends"
    size = 0
    for folder, _, files in os.walk(FETCHED):
        if "pip-unpack" in folder:
            for file in files:
                with contextlib.suppress(OSError):  # it is moved at this moment
                    size += (Path(folder) / file).stat().st_size
    packages = sum(line.startswith("Collecting ") for line in list(seen))
    # Where a package comes from is nobody's question, and long.
    step = re.sub(r" from \S+", "", seen[-1]).strip()[:70]
    return f"{step}; {packages} packages, {size / 1e6:.0f} MB so far"


def _say(line: str) -> None:
    print(line, file=sys.stderr)


@contextlib.contextmanager
def _lock() -> Iterator[None]:
    try:
        file = (HERE / ".venv.lock").open("w")
    except OSError as error:
        raise Failed(
            f"The course's folder {HERE} cannot be written.",
            f"The system says: {error.strerror}.",
            "Copy the course to a folder of your own and call ./course there.",
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("Another call is installing the course; waiting for it.")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Failed as failed:
        sys.exit("\n".join(part for part in failed.args if part))
    except OSError as error:
        what, mend = understood(str(error)) or ("The course cannot be installed.", "")
        sys.exit(
            "\n".join([what, f"The system says: {error}", mend or "Mend that, then ./course."])
        )
    except KeyboardInterrupt:
        _say("\nInterrupted. The next call starts the installation anew.")
        sys.exit(130)
