"""Make .venv and install the course into it. Run by `course` with a bare Python.

So it imports nothing of ours. An installation that was interrupted leaves its mark, and the next
call makes .venv anew; pip's own cache makes that quick. A lock lets a second call wait for the
first.
"""

import contextlib
import fcntl
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
VENV = HERE / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "installed"
UNFINISHED = VENV / "installing"
LOG = HERE / ".venv.log"
SIGNS = {
    "No space left": (
        "The disk is full.",
        "Make room (the packages take 1.5 GB), then call ./course again.",
    ),
    "externally-managed": (
        "This Python refuses to install packages.",
        "Use another Python, or conda: conda env create -f environment.yml",
    ),
    "NewConnectionError": ("The package registry cannot be reached.", ""),
    "Temporary failure in name resolution": ("The package registry cannot be reached.", ""),
    "Read timed out": ("The package registry did not answer in time.", ""),
    "CERTIFICATE_VERIFY_FAILED": (
        "The package registry's certificate is not trusted here.",
        "Let PIP_CERT name a file with the authority of your network, then call ./course again.",
    ),
    "No matching distribution": (
        "A package has no version for this Python or this machine.",
        "Use Python 3.11 or 3.12, or conda: conda env create -f environment.yml",
    ),
}


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
            _say("Installing the packages of the course (once; some 450 MB to fetch).")
        _pip("install", "--editable", f"{HERE}[dev]")
        STAMP.write_text(stamp, "utf-8")
        UNFINISHED.unlink()
        LOG.unlink()


def _make() -> None:
    _say(f"Making the Python environment {VENV} with Python {sys.version.split()[0]}.")
    try:
        shutil.rmtree(VENV, ignore_errors=True)
        VENV.mkdir(exist_ok=True)
        UNFINISHED.touch()
        done = subprocess.run(
            [sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True
        )
    except OSError as error:
        raise Failed(
            f"{VENV} cannot be made.", f"The system says: {error}", "Call ./course again."
        ) from error
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        if "ensurepip" in said:
            raise Failed(
                f"{sys.executable} lacks the module that makes environments.",
                "Some systems pack it separately.",
                "On Debian and Ubuntu: sudo apt install python3-venv. Then call ./course again.",
            )
        raise Failed(f"{VENV} cannot be made.", said[-500:], "Mend that and call ./course again.")


def _runs() -> bool:
    try:
        done = subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True)
    except OSError:
        return False
    return done.returncode == 0


def _pip(*arguments: str) -> None:
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", *arguments]
    with (
        LOG.open("w", encoding="utf-8") as log,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            errors="replace",
        ) as pip,
    ):
        for line in pip.stdout or ():
            log.write(line)
            _show(line)
    _show("")
    if pip.returncode:
        text = LOG.read_text("utf-8")
        what, mend = next((told for sign, told in SIGNS.items() if sign in text), ("", ""))
        raise Failed(
            what or "The packages of the course were not installed.",
            f"What pip wrote is in {LOG}.",
            mend or "Connect to the internet and call ./course again.",
        )


def _show(line: str) -> None:
    """The step that pip is at, on one line that is written over."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write("\r\x1b[K" + " ".join(line.split())[:width])
        sys.stderr.flush()


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
    except KeyboardInterrupt:
        _say("\nInterrupted. The next call starts the installation anew.")
        sys.exit(130)
