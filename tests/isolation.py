"""A machine that lacks something, made of this one: no network, a folder that is read-only.

Each answers with the words that stand before a command. Linux alone can do so, and not for
everybody: where it refuses, the test is skipped with the reason, and fails in CI.
"""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

LOOPBACK_UP = "ip link set lo up"


def without_network() -> list[str]:
    """No network at all, not even to the machine itself."""
    return [*_namespaces("--net"), "--"]


def with_loopback_alone() -> list[str]:
    """127.0.0.1 and nothing else."""
    if not shutil.which("ip"):
        _cannot("there is no program `ip` here")
    return [*_namespaces("--net"), "sh", "-c", f'{LOOPBACK_UP} && exec "$@"', "sh"]


def read_only(folder: Path) -> list[str]:
    """This folder can be read and not be written, also by root."""
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"'
    return [*_namespaces("--mount"), "sh", "-c", mount, str(folder)]


def tiny(folder: Path, size: str) -> list[str]:
    """A disk of this size at this folder."""
    return _disk(folder, f"size={size}")


def without_programs(folder: Path) -> list[str]:
    """A disk at this folder from which no program and no library may be run."""
    return _disk(folder, "noexec")


def _disk(folder: Path, options: str) -> list[str]:
    mount = f'mount -t tmpfs -o {options} tmpfs "$0" && exec "$@"'
    return [*_namespaces("--mount"), "sh", "-c", mount, str(folder)]


def bound(*pairs: Path | str) -> list[str]:
    """Other files in the place of the system's: the first in that of the second, and so on."""
    mounts = "".join('mount --bind "$1" "$2" && shift 2 && ' for _ in pairs[::2])
    return [*_namespaces("--mount"), "sh", "-c", f'{mounts}exec "$@"', "sh", *map(str, pairs)]


def under_number(number: int) -> list[str]:
    """As a user of this number, with the rights of who runs the test."""
    command = ["unshare", "--user", f"--map-user={number}"]
    if said := _refusal(*command):
        _cannot(said)
    return command


def without_namespaces() -> list[str]:
    """A system that gives nobody a namespace of their own, as in most containers."""
    none = "echo 0 > /proc/sys/user/max_user_namespaces"
    return [*_namespaces("--user"), "sh", "-c", f'{none} && exec "$@"', "sh"]


def _namespaces(kind: str) -> list[str]:
    if not shutil.which("unshare"):
        _cannot("there is no program `unshare` here")
    # Whoever is not root is root in a namespace of users, where the system allows one.
    is_root = os.geteuid() == 0 and kind != "--user"
    command = ["unshare", kind] if is_root else ["unshare", "--map-root-user", kind]
    if said := _refusal(*command):
        _cannot(said)
    return command


@cache
def _refusal(*command: str) -> str:
    done = subprocess.run([*command, "true"], capture_output=True, text=True, timeout=30)
    return done.stderr.strip() if done.returncode else ""


def _cannot(why: str) -> None:
    reason = f"this machine cannot be taken apart: {why}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
