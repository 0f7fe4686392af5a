"""Leave out what this machine has no program for. In CI it counts as a failure instead."""

import os
import shutil
import subprocess
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

# Each example has as much time as it needs: how long one takes says more about what else runs on
# the machine. In CI, Hypothesis chooses such a profile by itself, and the same examples each time.
if not os.environ.get("CI"):
    settings.register_profile(
        "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("any machine")

CHROMIUM = os.environ.get("KAFKALAB_CHROMIUM", "/usr/bin/chromium")


@cache
def docker_answers() -> bool:
    if not shutil.which("docker"):
        return False
    asked = ["docker", "version", "--format", "{{.Server.Version}}"]
    return subprocess.run(asked, capture_output=True, timeout=30).returncode == 0


def pytest_runtest_setup(item: pytest.Item) -> None:
    if os.environ.get("CI"):
        return
    if item.get_closest_marker("docker") and not docker_answers():
        pytest.skip("no Docker engine answers on this machine")
    if item.get_closest_marker("browser") and not shutil.which(CHROMIUM):
        pytest.skip("no Chromium on this machine; KAFKALAB_CHROMIUM names one elsewhere")
