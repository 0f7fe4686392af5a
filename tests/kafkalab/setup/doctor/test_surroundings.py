"""Variables, folders, users, limits and names that keep the course from running are named."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kafkalab.setup.doctor import folders, system
from kafkalab.setup.doctor.variables import variables
from tests.isolation import bound, read_only, tiny, under_number


def seen(before: list[str], check: str) -> dict[str, str]:
    """What one check says where `before` has changed the machine; `check` is module.function."""
    module, _, function = check.partition(".")
    code = (
        "import json; from dataclasses import asdict;"
        f"from kafkalab.setup.doctor import {module}, diagnosis;"
        f"print(json.dumps(asdict(next(diagnosis.ask([{module}.{function}])))))"
    )
    done = subprocess.run(
        [*before, sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("JAVA_TOOL_OPTIONS", "-XX:+UseG1GC", "of Java"),
        ("SPARK_REMOTE", "sc://localhost:15002", "of Spark"),
        ("DOCKER_DEFAULT_PLATFORM", "linux/arm64", "of Docker"),
        ("ALL_PROXY", "socks5h://127.0.0.1:1080", "SOCKS"),
        ("all_proxy", "socks4://127.0.0.1:1080", "SOCKS"),
        ("https_proxy", "proxy.example:3128", "without http://"),
        ("HTTP_PROXY", "ftp://proxy.example", "unknown kind ftp"),
    ],
)
def test_a_variable_of_another_program_is_named_with_how_to_unset_it(name, value, what):
    found = variables({name: value})

    assert found.level == "note"
    assert f"{name}={value}" in found.seen
    assert what in found.seen
    assert found.mend.endswith(f"unset {name}")


def test_a_proxy_of_a_company_is_nothing_odd_and_its_password_is_not_told():
    assert variables({"HTTPS_PROXY": "http://proxy.example:3128"}).level == "good"
    told = variables({"ALL_PROXY": "socks5://me:secret@proxy.example:1080"})
    assert "secret" not in str(told)
    assert "socks5://…@proxy.example:1080" in told.seen


def test_a_read_only_course_is_bad():
    found = seen(read_only(system.repository()), "folders.course")

    assert found["level"] == "bad"
    assert "Read-only file system" in found["seen"]
    assert "cp -r" in found["mend"]


def test_a_folder_for_temporary_files_that_is_full_is_named(tmp_path):
    command = [*tiny(tmp_path, "100k"), "env", f"TMPDIR={tmp_path}"]

    found = seen(command, "folders.temporary")

    assert found["level"] == "bad"
    assert str(tmp_path) in found["seen"]
    assert "No space left on device" in found["seen"]
    assert "export TMPDIR=" in found["mend"]


def test_a_folder_for_temporary_files_with_little_room_is_named(tmp_path):
    command = [*tiny(tmp_path, "50m"), "env", f"TMPDIR={tmp_path}"]

    assert "0.05 GiB free" in seen(command, "folders.temporary")["seen"]


def test_a_state_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()

    found = folders.named_folders({"KAFKALAB_STATE": str(tmp_path / "file" / "state")})

    assert found.level == "bad"
    assert found.mend.startswith("Let KAFKALAB_STATE name a folder of yours")


def test_letters_that_java_may_not_read_are_a_note(tmp_path):
    strange = tmp_path / "höme"
    strange.mkdir()

    found = seen(["env", f"HOME={strange}"], "folders.home")

    assert found["level"] == "note"
    assert "beyond ASCII" in found["seen"]


def test_a_disk_without_room_is_named(tmp_path):
    found = folders.room({tmp_path: 10**18, Path("/"): 1})

    assert found.level == "bad"
    assert str(tmp_path) in found.seen


def test_a_user_number_without_a_name_is_named():
    found = seen(under_number(54321), "system.user")

    assert found["level"] == "bad"
    assert "54321" in found["seen"]
    assert "/etc/passwd" in found["mend"]


def test_a_limit_of_addresses_is_named():
    found = seen(["sh", "-c", 'ulimit -v 3000000 && exec "$@"', "sh"], "system.addresses")

    assert found["level"] == "bad"
    assert "ulimit -v 3000000" in found["seen"]
    assert "ulimit -v unlimited" in found["mend"]


def test_a_limit_of_open_files_is_named():
    found = seen(["sh", "-c", 'ulimit -n 256 && exec "$@"', "sh"], "system.files")

    assert found["level"] == "bad"
    assert "256 files" in found["why"]
    assert "ulimit -n 1024" in found["mend"]


def test_a_localhost_that_is_another_address_is_a_note(tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("::1 localhost\n")

    found = seen(bound(hosts, "/etc/hosts"), "network.names")

    assert found["level"] == "note"
    assert "not 127.0.0.1" in found["seen"]
    assert "/etc/hosts" in found["mend"]


@pytest.mark.slow
def test_a_name_service_that_does_not_answer_is_a_note(tmp_path):
    """The name of this machine is in no file, and who is asked for it keeps silent."""
    hosts, servers = tmp_path / "hosts", tmp_path / "resolv.conf"
    hosts.write_text("127.0.0.1 localhost\n")
    servers.write_text("nameserver 127.0.0.1\noptions timeout:30\n")
    switch = tmp_path / "nsswitch.conf"
    switch.write_text("hosts: files dns\n")
    silent = (
        "import socket, subprocess, sys;"
        "silent = socket.socket(type=socket.SOCK_DGRAM); silent.bind(('127.0.0.1', 53));"
        "sys.exit(subprocess.run(sys.argv[1:]).returncode)"
    )
    command = [
        *bound(hosts, "/etc/hosts", servers, "/etc/resolv.conf", switch, "/etc/nsswitch.conf"),
        *("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"),
        *(sys.executable, "-c", silent),
    ]

    found = seen(command, "network.names")

    assert found["level"] == "note"
    assert "no answer within" in found["seen"]


def test_the_readme_names_the_same_systems_as_tried_and_untried():
    text = (system.repository() / "README.md").read_text("utf-8")

    assert f"The course was tried on {system.TRIED}" in text
    for named in system.UNTRIED.split("; "):
        assert f"- {named}\n" in text
