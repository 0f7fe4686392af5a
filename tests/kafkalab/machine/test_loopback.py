"""Where 127.0.0.1 is down, nothing is waited for, and a sentence says what is down."""

import subprocess
import sys

import pytest

from kafkalab import Cluster, WaitTimeout
from kafkalab.machine import loopback
from tests.isolation import with_loopback_alone, without_network

STARTS = {
    "a cluster": "from kafkalab import Cluster; Cluster.start('single')",
    "Spark": "from kafkalab import spark_session; spark_session()",
}


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_without_loopback_whatever_starts_says_so_at_once(start):
    code = f"from kafkalab import CourseError\ntry: {start}\nexcept CourseError as e: print(e)"
    command = [*without_network(), sys.executable, "-P", "-c", code]

    said = subprocess.run(command, capture_output=True, text=True, timeout=40)

    what, why, mend = said.stdout.splitlines()
    assert what == "This machine does not reach itself at 127.0.0.1."
    assert "unreachable" in why
    assert "ip link set lo up" in mend


def test_with_loopback_there_is_nothing_to_say():
    loopback.require()


def test_loopback_is_enough():
    code = "from kafkalab.machine import loopback; loopback.require()"
    command = [*with_loopback_alone(), sys.executable, "-P", "-c", code]

    assert subprocess.run(command, timeout=40).returncode == 0


@pytest.mark.cluster
def test_a_start_that_takes_too_long_tells_the_whole_time_that_it_had():
    with pytest.raises(WaitTimeout, match=r"^Waited 0\.2 s for the brokers 0 to start\.") as late:
        Cluster.start("single", engine="process", timeout=0.2)

    assert "./course doctor" in late.value.mend
