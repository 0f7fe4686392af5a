"""Limits of a shell and of a container are found, and named where Java fails under them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafkalab.machine import limits
from kafkalab.spark.loan import POOL

GIB = 1024**3
STARTS = {
    "a cluster": ("from kafkalab import Cluster; Cluster.start('single')", 1_500_000),
    "Spark": ("from kafkalab import spark_session; spark_session()", 3_000_000),
}


def under(limit: int, code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python with so many KiB of addresses."""
    shell = f'ulimit -v {limit} && exec "$@"'
    command = ["sh", "-c", shell, "sh", sys.executable, "-P", "-c", code]
    # With a Java of its own, where this process has a pool of them.
    own = {name: value for name, value in os.environ.items() if name != POOL}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder, env=own)


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.parametrize(("start", "limit"), STARTS.values(), ids=STARTS)
def test_java_that_gets_too_few_addresses_names_the_limit(start, limit, tmp_path):
    code = f"from kafkalab import CourseError\ntry: {start}\nexcept CourseError as e: print(e)"

    said = under(limit, code, tmp_path)

    assert f"ulimit -v says {limit}" in said.stdout, said.stderr[-500:]
    assert "ulimit -v unlimited" in said.stdout
    # What a JVM that crashed leaves belongs into a folder of ours.
    assert list(tmp_path.iterdir()) == []


def test_a_limit_that_is_wide_enough_is_not_blamed(tmp_path):
    code = "from kafkalab.machine import limits; print(limits.too_few_addresses())"

    assert under(20_000_000, code, tmp_path).stdout == "None\n"


def group(folder: Path, **values: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in values.items():
        (folder / name.replace("_of_", ".")).write_text(f"{value}\n")


def test_the_least_room_of_the_groups_above_counts(tmp_path):
    own, groups = tmp_path / "cgroup", tmp_path / "groups"
    own.write_text("0::/user/session\n")
    group(groups / "user" / "session", memory_of_max="max", memory_of_current=GIB)
    group(groups / "user", memory_of_max=3 * GIB, memory_of_current=2 * GIB)

    assert limits.of_group(own, groups) == GIB


def test_pages_of_files_are_given_back(tmp_path):
    own, groups = tmp_path / "cgroup", tmp_path / "groups"
    own.write_text("0::/\n")
    group(groups, memory_of_max=2 * GIB, memory_of_current=2 * GIB)
    (groups / "memory.stat").write_text(f"anon 5\ninactive_file {GIB // 2}\n")

    assert limits.of_group(own, groups) == GIB // 2


def test_the_older_kind_of_groups_in_a_container(tmp_path):
    own, groups = tmp_path / "cgroup", tmp_path / "groups"
    # The path is the one outside, which is not in sight here.
    own.write_text("4:memory:/docker/4711\n1:cpu:/docker/4711\n")
    values = {"memory.limit_in_bytes": GIB, "memory.usage_in_bytes": GIB // 4}
    (groups / "memory").mkdir(parents=True)
    for name, value in values.items():
        (groups / "memory" / name).write_text(str(value))

    assert limits.of_group(own, groups) == GIB * 3 // 4


def test_without_groups_there_is_no_limit(tmp_path):
    assert limits.of_group(tmp_path / "nothing", tmp_path) is None
