"""The tree as a whole: linter, formatter, types, names, and nothing that does not belong here."""

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict

import pytest

from kafkalab import places

ROOT = places.repository()
LARGEST = 1_000_000
# Secrets are made for each run; a private key in the tree would be one.
SECRET = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")
CLASS = re.compile(r"\bclass\s+(\w+)")


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


def test_mypy_has_nothing_to_say():
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_the_name_of_a_class_has_one_meaning():
    packages = {"authoring", "commands", "grading", "kafkalab", "labs"}
    texts = {}
    for name in committed():
        parts = name.split("/")
        # A master is what a student writes, and a test needs no name that nobody else has.
        if parts[0] not in packages or parts[-1] == "lab.py" or "tests" in parts:
            continue
        if name.endswith(".py"):
            texts[name] = (ROOT / name).read_text("utf-8")
    written = Counter(one for text in texts.values() for one in CLASS.findall(text))
    places_of = defaultdict(list)
    for name, text in texts.items():
        # Parsed only where the words tell of a twin: they may stand in a text.
        if any(written[one] > 1 for one in CLASS.findall(text)):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ClassDef):
                    places_of[node.name].append(name)
    assert {name: found for name, found in places_of.items() if len(found) > 1} == {}


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
