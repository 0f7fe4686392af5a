"""What the code of a hand-in sees of the machine: the command that puts a kernel into its room.

Read only: the system's programs, Python, Java, the course's two packages without the teacher's
half of the labs, and the student's half of its own lab. To write: a disk in memory of bounded
size, gone with the attempt. Of the folder of the attempt two things are shared with the grader: the
sockets of the kernel, and the doors.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from grading.define.definition import Limits
from grading.define.place import Place
from grading.sandbox import bubblewrap
from kafkalab import places

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
OF_ETC = ("alternatives", "fonts", "ld.so.cache", "localtime", "nsswitch.conf", "services")
PACKAGES = {"site-packages", "dist-packages"}
HOST = "sandbox"
"""What the machine is called in there: not the teacher's name, and one that Java can look up."""
NAMES = {
    "passwd": "student:x:1000:1000::/:/bin/sh\n",
    "group": "student:x:1000:\n",
    "hosts": f"127.0.0.1 localhost {HOST}\n",
}
SOCKETS, DOORS = "socket", "doors"
SMALL = 100_000_000
SHARED_MEMORY = 250_000_000


def prepare(folder: Path) -> None:
    """What has to lie in the folder of the attempt before its sandbox begins."""
    for name in (SOCKETS, DOORS, "etc"):
        (folder / name).mkdir()
    for name, text in NAMES.items():
        (folder / "etc" / name).write_text(text)


def command(
    folder: Path,
    place: Place,
    limits: Limits,
    inside: list[str],
    shown: Iterable[Path] = (),
    written: Iterable[Path] = (),
) -> list[str]:
    """The command that runs `inside` in the room of an attempt.

    shown: more folders to read. written: more folders that it begins with, in its own.
    """
    return [
        str(bubblewrap.require()),
        *(*bubblewrap.APART, "--hostname", HOST),
        *_system(folder),
        *_disk("/tmp", limits.disk),
        *_without_the_clone(),
        *_python(),
        *_course(place),
        *_cache(places.cache()),
        *_own(folder, limits.disk),
        *(part for path in shown for part in _shown(path)),
        *(part for path in written for part in ("--dir", str(path))),
        *("--remount-ro", "/"),
        *("--chdir", str(folder / "work")),
        # Its parent in there is nobody that could end, and ipykernel would take it for one.
        *("--unsetenv", "JPY_PARENT_PID"),
        "--",
        *inside,
    ]


def _system(folder: Path) -> Iterator[str]:
    for name in SYSTEM:
        if Path(name).is_symlink():
            yield from ("--symlink", str(Path(name).readlink()), name)
        elif Path(name).is_dir():
            yield from _shown(Path(name))
    for name in OF_ETC:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    for name in NAMES:
        yield from ("--ro-bind", str(folder / "etc" / name), f"/etc/{name}")
    yield from ("--proc", "/proc", "--dev", "/dev")
    yield from (*_disk("/dev/shm", SHARED_MEMORY), "--remount-ro", "/dev")


def _without_the_clone() -> Iterator[str]:
    """Where the clone of the course lies among what is the system's, as in images of containers."""
    if _is_of_the_system(places.repository()):
        yield from _disk(places.repository(), SMALL)


def _is_of_the_system(path: Path) -> bool:
    return any(path.is_relative_to(name) for name in SYSTEM)


def _python() -> Iterator[str]:
    wanted = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
    wanted += filter(None, [os.environ.get("KAFKALAB_JAVA_HOME")])
    # Packages elsewhere, and nothing else that a path of modules may name, such as a whole clone.
    wanted += [entry for entry in sys.path if Path(entry).name in PACKAGES]
    found = [Path(one) for one in wanted] + [Path(one).resolve() for one in wanted]
    for path in dict.fromkeys(found):
        is_there = _is_of_the_system(path) and not path.is_relative_to(places.repository())
        if path.is_dir() and not is_there:
            yield from _shown(path)


def _course(place: Place) -> Iterator[str]:
    root = places.repository()
    for name in ("kafkalab", "grading", "docker-compose.yml"):
        yield from _shown(root / name)
    yield from _shown(place.student)
    for hidden in {root / "grading" / "labs", place.teacher.parent}:
        if hidden.is_dir() and hidden.is_relative_to(root / "grading"):
            yield from (*_disk(hidden, SMALL), "--remount-ro", str(hidden))


def _cache(cache: Path) -> Iterator[str]:
    """Can be written into, as programs expect; what is there already cannot."""
    yield from _disk(cache, SMALL)
    for path in sorted(cache.iterdir()):
        if path.name == "matplotlib":
            yield from ("--dir", str(path))
            for file in sorted(path.iterdir()):
                yield from _shown_if_there(file)
        elif path.name != "logs":
            yield from _shown_if_there(path)


def _own(folder: Path, size: int) -> Iterator[str]:
    yield from _disk(folder, size)
    for name in ("work", "tmp", "state"):
        yield from ("--dir", str(folder / name))
    yield from ("--bind", str(folder / SOCKETS), str(folder / SOCKETS))
    for name in (DOORS, "connection.json"):
        yield from _shown(folder / name)


def _shown(path: Path) -> tuple[str, str, str]:
    return ("--ro-bind", str(path), str(path))


def _shown_if_there(path: Path) -> tuple[str, str, str]:
    """For what another process may take away at this moment."""
    return ("--ro-bind-try", str(path), str(path))


def _disk(path: str | Path, size: int) -> tuple[str, str, str, str]:
    return ("--size", str(size), "--tmpfs", str(path))
