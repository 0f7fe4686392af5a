"""The minimal Debian with Java that the stand-in stands on."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from python_on_whales import DockerClient

from kafkalab.errors import CourseError

SUITE = "trixie"
# The official image runs on Java 21 too.
PACKAGES = ("openjdk-21-jre-headless",)
# What no container needs: package lists, documentation, other languages, what the kernel mounts.
LEFT_OUT = (
    "dev",
    "proc",
    "sys",
    "usr/share/doc",
    "usr/share/info",
    "usr/share/locale",
    "usr/share/man",
    "var/cache/apt",
    "var/cache/debconf",
    "var/lib/apt/lists",
    "var/log",
)
MIRROR = Path(__file__).parents[1] / "debian_mirror.sh"


def tag() -> str:
    """The name of the base image; it changes with what the base is made of."""
    made_of = hashlib.sha256(repr((SUITE, PACKAGES, LEFT_OUT)).encode()).hexdigest()[:12]
    return f"kafkalab-base:{SUITE}-{made_of}"


def image(docker: DockerClient) -> str:
    """The tag of the base image, made first where it is missing."""
    if not docker.image.exists(tag()):
        if os.geteuid() != 0 or not shutil.which("debootstrap"):
            raise CourseError(
                "The stand-in image cannot be built here.",
                "Only root can, and with the package debootstrap.",
                "Where a registry is reached, Docker pulls the official image by itself.",
            )
        with tempfile.TemporaryDirectory(prefix="kafkalab-base-") as scratch:
            archive = Path(scratch) / "base.tar"
            _pack(_bootstrap(Path(scratch)), archive)
            docker.image.import_(archive, tag())
    return tag()


def _bootstrap(scratch: Path) -> Path:
    root = scratch / "root"
    mirror = subprocess.run([MIRROR], check=True, capture_output=True, text=True).stdout.strip()
    options = ["--variant=minbase", f"--include={','.join(PACKAGES)}"]
    try:
        done = subprocess.run(
            ["debootstrap", *options, SUITE, root, mirror],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    finally:
        # An interrupted debootstrap leaves file systems of the kernel mounted.
        _unmount_below(root)
    if done.returncode:
        raise CourseError("debootstrap failed.", done.stdout.strip()[-1000:])
    return root


def _unmount_below(root: Path) -> None:
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for place in sorted(mounts, reverse=True):
        if Path(place).is_relative_to(root.resolve()):
            subprocess.run(["umount", place], check=True)


def _pack(root: Path, archive: Path) -> None:
    def wanted(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        # The folders themselves stay: they are mount points, or programs expect them.
        return None if str(Path(entry.name).parent) in LEFT_OUT else entry

    with tarfile.open(archive, "w") as tar:
        tar.add(root, arcname=".", filter=wanted)
