"""A process of the course in surroundings of the test's own: another language, home, shell."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafkalab import places

LANGUAGES = (
    *("tr_TR", "az_AZ", "lt_LT", "de_DE", "ar_SA", "hi_IN"),
    *("th_TH", "fa_IR", "ja_JP", "zh_CN", "el_GR", "pl_PL"),
)


def run(
    program: str, folder: Path, within: Sequence[str] = (), **variables: str
) -> dict[str, object]:
    """What a program prints as JSON, in its last line, when it has these variables and no others.

    It has the cache of this machine, and a state of its own. within: the command that runs Python.
    """
    given = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", ""),
        "KAFKALAB_CACHE": str(places.cache()),
        "KAFKALAB_STATE": str(folder / "state"),
        **variables,
    }
    work = folder / "work"
    work.mkdir(exist_ok=True)
    done = subprocess.run(
        [*within, sys.executable, "-P", "-c", program],
        cwd=work,
        env={name: value for name, value in given.items() if value},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=240,
    )
    assert done.returncode == 0, f"{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
    return json.loads(done.stdout.splitlines()[-1])


def home(folder: Path) -> dict[str, str]:
    """The variables of somebody whose home this is. Its cache has the jars of this machine.

    Without the archives of classes, which belong to one path and would be recorded for this one.
    """
    jars = folder / ".cache" / "kafkalab" / "jars"
    jars.parent.mkdir(parents=True)
    jars.symlink_to(places.cache() / "jars")
    return {"HOME": str(folder), "KAFKALAB_CACHE": "", "KAFKALAB_STATE": "", "KAFKALAB_AOT": "off"}


def language(name: str, folder: Path) -> dict[str, str]:
    """The variables of a system in this language. The test makes the locale for itself."""
    if not shutil.which("localedef") and not os.environ.get("CI"):
        pytest.skip("this system has no localedef")
    locales = folder / "locales"
    locales.mkdir()
    for one in {name, "en_US"}:
        made = ["localedef", "-i", one, "-f", "UTF-8", str(locales / f"{one}.UTF-8")]
        # It returns 1 after a warning.
        subprocess.run(made, capture_output=True, check=False)
        assert (locales / f"{one}.UTF-8" / "LC_CTYPE").exists(), one
    return {"LOCPATH": str(locales), "LANG": f"{name}.UTF-8"}
