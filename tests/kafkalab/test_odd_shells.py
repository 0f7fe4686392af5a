"""A cluster, a tool and Spark work below shells, limits and paths that somebody really has.

Each is what a report of a tool like ours was about, or what a scheduler, a container or a class
room's image does: the program runs as below it, and has to work as if nothing were.
"""

import pytest

from tests.isolation import bound, without_programs
from tests.kafkalab.surroundings import home, run
from tests.kafkalab.test_surroundings import CLUSTER, SPARK, analyses, works

pytestmark = pytest.mark.machine
BOTH = pytest.mark.parametrize(("program", "holds"), [(CLUSTER, works), (SPARK, analyses)])

REFUSED = """
import json
from kafkalab import Cluster, CourseError, spark_session
try:
    {start}
except CourseError as error:
    print(json.dumps({{"said": str(error)}}))
"""

OPTIMIZED = """
import json
from kafkalab.errors import CourseError
try:
    import kafka
except CourseError as error:
    print(json.dumps({"said": str(error)}))
"""


def shell(before: str) -> list[str]:
    """Run a program from a shell that did this first."""
    return ["sh", "-c", f'{before}; exec "$@"', "sh"]


@pytest.mark.cluster
@pytest.mark.spark
@BOTH
@pytest.mark.parametrize(
    "before",
    [
        # A parent that does not want to hear of its children: the system forgets how they ended.
        "trap '' CHLD",
        # What nohup, and some batch systems, leave to their children.
        "trap '' HUP TERM INT",
        "exec <&-",
        "umask 0",
        "umask 077",
        # As a service gets it, and as `docker run` without --ulimit may have it.
        "ulimit -S -n 256",
        "ulimit -n 1048576",
        "ulimit -c unlimited",
    ],
)
def test_all_works_below_this_shell(program, holds, before, tmp_path):
    holds(run(program, tmp_path, within=shell(before)))


@pytest.mark.cluster
@pytest.mark.spark
@BOTH
@pytest.mark.parametrize(
    "setting",
    [
        "PATH=/usr/bin:/bin",
        "HOME=",
        "TMPDIR=/nowhere",
        "LC_ALL=xx_XX.UTF-8",
        "MALLOC_ARENA_MAX=1",
        "GIT_DIR=/nowhere",
        "VIRTUAL_ENV=/nowhere",
        "TERM=dumb",
    ],
)
def test_all_works_with_this_setting(program, holds, setting, tmp_path):
    name, _, value = setting.partition("=")
    holds(run(program, tmp_path, **{name: value}))


@pytest.mark.cluster
@pytest.mark.parametrize("name", ["100%", "#1", "$HOME", "a*b", "a;b", "a=b", "a&b"])
def test_a_cluster_works_below_a_home_with_letters_that_mean_something_elsewhere(name, tmp_path):
    """Class paths are cut at colons, properties at `=`, addresses at `#`."""
    works(run(CLUSTER, tmp_path, **home(tmp_path / name)))


@pytest.mark.cluster
@pytest.mark.parametrize(("name", "variable"), [("a:b", "CACHE"), ("a,b", "STATE")])
def test_a_separator_in_a_path_is_told_with_the_way_round(name, variable, tmp_path):
    told = run(REFUSED.format(start="Cluster.start('single')"), tmp_path, **home(tmp_path / name))
    assert "which stands between two paths" in told["said"]
    assert f"export KAFKALAB_{variable}=FOLDER" in told["said"]


@pytest.mark.spark
def test_too_few_open_files_are_told(tmp_path):
    few = shell("ulimit -n 256")
    told = run(REFUSED.format(start="spark_session()"), tmp_path, within=few)
    assert "A process may have 256 files open here" in told["said"]
    assert "ulimit -n 1024" in told["said"]


def test_a_python_that_leaves_out_asserts_is_told(tmp_path):
    told = run(OPTIMIZED, tmp_path, PYTHONOPTIMIZE="1")
    assert "This Python leaves out every assert" in told["said"]


@pytest.mark.spark
@pytest.mark.parametrize("name", ["100%", "#1", "$HOME", "a;b", "a=b", "a&b"])
def test_spark_works_with_letters_that_mean_something_elsewhere(name, tmp_path):
    (tmp_path / name).mkdir()
    analyses(run(SPARK, tmp_path, TMPDIR=str(tmp_path / name)))


@pytest.mark.cluster
@pytest.mark.spark
@BOTH
def test_all_works_where_the_system_does_not_know_its_own_name(program, holds, tmp_path):
    """Java asks the system for the address of its own name, and many a laptop has none."""
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost\n")
    resolver = tmp_path / "resolv.conf"
    resolver.write_text("nameserver 127.0.0.1\n")
    within = bound(hosts, "/etc/hosts", resolver, "/etc/resolv.conf")
    holds(run(program, tmp_path, within=within))


@pytest.mark.cluster
def test_a_cluster_works_where_localhost_is_an_address_of_the_new_kind_first(tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("::1 localhost\n127.0.0.1 localhost\n")
    works(run(CLUSTER, tmp_path, within=bound(hosts, "/etc/hosts")))


@pytest.mark.cluster
@pytest.mark.spark
@BOTH
def test_all_works_where_nothing_in_the_folder_for_temporary_files_may_run(
    program, holds, tmp_path
):
    """Java's libraries for zstd and snappy unpack a part of themselves there and load it."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    holds(run(program, tmp_path, within=without_programs(temporary), TMPDIR=str(temporary)))
