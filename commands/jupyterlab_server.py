"""JupyterLab in this process: its log goes to a file, and the screen has what a learner needs."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import threading
import traceback
import webbrowser
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, TextIO
from urllib.parse import urlencode

from rich.console import Console

from commands import unattended
from kafkalab import places
from kafkalab.errors import CourseError
from kafkalab.java import aot
from kafkalab.wait import WaitTimeout, wait_until

START_TIMEOUT = 90
# In its log: critical, or an error.
COMPLAINT = re.compile(r"^\[[CE] [^]]*\] (.+)$", re.MULTILINE)
LOOK_EVERY = 15.0  # seconds; a page that is loaded again is away for two or three


def run(arguments: list[str], work: Path, browser: bool) -> None:
    """Start JupyterLab, say when it is ready, and return when Ctrl+C or a signal has ended it."""
    folder = places.state() / "jupyterlab"
    folder.mkdir(exist_ok=True, mode=0o700)
    log = folder / f"{os.getpid()}.log"
    _forget_old_logs(folder)
    others = sys.stderr
    screen = _take_the_screen(log)
    console = Console(file=screen, highlight=False, soft_wrap=True)
    try:
        with contextlib.redirect_stderr(others):
            # Only here: it takes a second, and what it says while it is imported is for the log.
            from jupyterlab.labapp import LabApp

            # The browser is ours to open: JupyterLab says nothing when there is none.
            server = LabApp.initialize_server(argv=[*arguments, "--no-browser"])
            ended = threading.Event()
            _end_on_signals(server, ended, screen.fileno())
            attending = (server, work, browser, ended, console, log)
            threading.Thread(target=_attend, args=attending, daemon=True).start()
            server.start()
    except (Exception, SystemExit) as error:
        if isinstance(error, SystemExit) and not error.code:
            return
        traceback.print_exc(file=others)
        others.flush()
        raise _not_started(error, log) from error
    last = ["JupyterLab has ended, and all that its pages had started."]
    if not all(aot.path_of(name).exists() for name in aot.ARCHIVES):
        last.append("Java's quick start is still being prepared; that ends by itself.")
    _say(console, last)


def _take_the_screen(log: Path) -> TextIO:
    """The screen, for us alone: what else writes to it from now on is in the log.

    That also holds for kernels, and for threads of JupyterLab that outlive it by a moment. What we
    print as an error reaches the screen.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    screen = os.fdopen(os.dup(2), "w", encoding="utf-8", buffering=1)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.stderr = screen
    return screen


def _end_on_signals(server: Any, ended: threading.Event, screen: int) -> None:
    """End at once, without JupyterLab's question; a second Ctrl+C does not wait for kernels."""

    def end(_: int, __: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        ended.set()
        with contextlib.suppress(OSError):  # the window may be closed
            os.write(screen, b"\nEnding JupyterLab and what its pages have started.\n")
        server.stop(from_signal=True)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)


def _attend(
    server: Any, work: Path, browser: bool, ended: threading.Event, console: Console, log: Path
) -> None:
    """Say when JupyterLab answers and what to do with it, then what runs without an open tab."""
    try:
        wait_until(
            lambda: ended.is_set() or unattended.answers(f"{server.connection_url}api"),
            timeout=START_TIMEOUT,
            what="JupyterLab to answer",
            not_yet=(OSError,),
        )
    except WaitTimeout:
        console.print(f"JupyterLab does not answer. Its log: {log}", markup=False)
        return
    if ended.is_set():
        return
    _say(console, [f"JupyterLab is ready at {_address(server)}", *_what_to_do(server, browser)])
    news = unattended.News(work)
    while True:
        _say(console, news.look())
        if ended.wait(LOOK_EVERY):
            return


def _say(console: Console, sentences: list[str]) -> None:
    with contextlib.suppress(OSError):  # the window may be closed
        for sentence in sentences:
            console.print(sentence, markup=False)


def _address(server: Any) -> str:
    page = server.default_url.removeprefix(server.base_url)
    token = server.identity_provider.token
    return f"{server.connection_url}{page}{'?' + urlencode({'token': token}) if token else ''}"


def _what_to_do(server: Any, browser: bool) -> list[str]:
    opened = browser and _opens(lambda: webbrowser.get(server.browser or None), server)
    if opened:
        first = "It opens in your browser; if nothing comes, open this address yourself."
    elif browser:
        first = "No browser was found here. Open this address in one."
    else:
        first = "Open this address in your browser."
    return [
        f"  {first}",
        "  A page that you close goes on running. End it: File > Close and Shut Down Notebook",
        "  To end JupyterLab and all its pages, press Ctrl+C here.",
    ]


def _opens(find: Callable[[], webbrowser.BaseBrowser], server: Any) -> bool:
    """Open the page through JupyterLab's file for that, which keeps the token off command lines."""
    try:
        return find().open(Path(server.browser_open_file).as_uri())
    except webbrowser.Error:
        return False


def _not_started(error: BaseException, log: Path) -> CourseError:
    said = COMPLAINT.findall(log.read_text("utf-8", "replace"))
    failed = "" if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
    return CourseError(
        "JupyterLab did not start.",
        f"It says: {failed or next(reversed(said), 'nothing')}",
        f"Its whole log: {log}. Look for the cause: ./course doctor",
    )


def _forget_old_logs(folder: Path) -> None:
    """Keep the newest few: each start leaves one."""
    for old in sorted(folder.glob("*.log"), key=lambda file: file.stat().st_mtime)[:-5]:
        old.unlink(missing_ok=True)
