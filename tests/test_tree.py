"""The tree as a whole: one linter, one formatter, nothing that does not belong in a repository."""

import re
import subprocess
import sys

import pytest

from kafkalab import places

ROOT = places.repository()
LARGEST = 1_000_000
# Secrets are made for each run; a private key in the tree would be one.
SECRET = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_has_nothing_to_say(arguments):
    command = [sys.executable, "-m", "ruff", *arguments, "--no-cache", "."]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout[-2000:]


def committed() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, timeout=30, check=True
    )
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_is_large_and_none_holds_a_secret():
    for name in committed():
        content = (ROOT / name).read_bytes()
        assert len(content) <= LARGEST, f"{name} has {len(content):,} bytes"
        assert not SECRET.search(content), f"{name} holds a private key"


def test_every_package_has_one_pinned_version():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    wanted = re.findall(r'^    "([\w.-]+)(==[\w.]+)?"', text, re.MULTILINE)
    assert len(wanted) > 20
    assert [name for name, pin in wanted if not pin] == []
    # environment.yml refers to the list and has none of its own
    assert "kafka-python" not in (ROOT / "environment.yml").read_text("utf-8")
