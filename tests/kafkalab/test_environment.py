"""What a child process gets of the shell, asked of real children."""

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kafkalab import environment
from kafkalab.engine import java_command
from kafkalab.errors import CourseError
from kafkalab.places import repository
from kafkalab.wait import wait_until
from tests.kafkalab.surroundings import run

FOREIGN = {
    "JAVA_TOOL_OPTIONS": "-Xint",
    "_JAVA_OPTIONS": "-Xint",
    "JDK_JAVA_OPTIONS": "-Xint",
    "CLASSPATH": "/nowhere",
    "KAFKA_OPTS": "-Dno",
    "SPARK_REMOTE": "sc://127.0.0.1:1",
    "SPARK_HOME": "/nowhere",
    "PYSPARK_PYTHON": "/nowhere",
    "HADOOP_CONF_DIR": "/nowhere",
    "PYTHONSTARTUP": "/nowhere.py",
    "PYTHONWARNINGS": "ignore",
    "COMPOSE_FILE": "/nowhere.yml",
    "DOCKER_DEFAULT_PLATFORM": "linux/s390x",
    "PGOPTIONS": "-c search_path=nowhere",
    "MPLBACKEND": "TkAgg",
}
WANTED = {"DOCKER_HOST": "unix:///somewhere", "HTTPS_PROXY": "http://proxy:3128", "EDITOR": "vi"}
ASK = """
import json, os, subprocess, sys
from kafkalab import environment
show = [sys.executable, "-P", "-c", "import json, os; print(json.dumps(dict(os.environ)))"]
print(subprocess.run(show, env=environment.{call}, capture_output=True, text=True).stdout.strip())
"""
CLEARED = """
import json, os
from kafkalab import environment
environment.{call}
print(json.dumps(dict(os.environ)))
"""


@pytest.mark.process
@pytest.mark.parametrize(
    "call",
    ["for_python()", "for_java()", "for_spark()", "for_docker({'A': 1})", "for_jupyterlab()"],
)
def test_every_child_gets_what_is_ours_and_nothing_for_others(call, tmp_path):
    got = run(ASK.format(call=call), tmp_path, **FOREIGN, **WANTED, KAFKALAB_ENGINE="docker")

    assert not FOREIGN.keys() & got.keys()
    assert WANTED.items() <= got.items()
    assert got["KAFKALAB_ENGINE"] == "docker"
    assert got["PYTHONUTF8"] == "1"


def test_no_child_is_started_without_its_environment():
    starts = {"Popen", "run", "call", "check_call", "check_output"}
    forgotten = []
    for folder in ("kafkalab", "grading/run", "grading/handin", "grading/judge"):
        for file in (repository() / folder).rglob("*.py"):
            text = file.read_text("utf-8")
            for node in ast.walk(ast.parse(text)) if "subprocess" in text else ():
                match node:
                    case ast.Call(ast.Attribute(ast.Name("subprocess"), name)) if name in starts:
                        if "env" not in {given.arg for given in node.keywords}:
                            forgotten.append(f"{file}:{node.lineno}")
    assert forgotten == []


@pytest.mark.process
def test_java_gets_a_locale_with_every_letter(tmp_path):
    got = run(ASK.format(call="for_java()"), tmp_path, LANG="C", LC_NUMERIC="tr_TR", LANGUAGE="tr")

    assert {name: got[name] for name in got if name.startswith(("LC_", "LANG"))} == {
        "LC_ALL": environment.utf8_locale()
    }


@pytest.mark.process
def test_functions_of_a_notebook_find_its_modules_in_spark(tmp_path):
    mine = {"PYTHONPATH": str(tmp_path)}

    assert run(ASK.format(call="for_spark()"), tmp_path, **mine)["PYTHONPATH"] == str(tmp_path)
    assert "PYTHONPATH" not in run(ASK.format(call="for_java()"), tmp_path, **mine)


@pytest.mark.process
def test_a_spark_cluster_of_ones_own_keeps_its_settings(tmp_path):
    theirs = {"KAFKALAB_SPARK_MASTER": "yarn", **FOREIGN}

    got = run(ASK.format(call="for_spark()"), tmp_path, **theirs)

    assert got["HADOOP_CONF_DIR"] == got["PYSPARK_PYTHON"] == "/nowhere"
    assert "SPARK_REMOTE" not in got


@pytest.mark.process
def test_the_course_takes_out_of_its_own_process_what_is_foreign(tmp_path):
    # The switches of Python have had their effect by then.
    got = run(CLEARED.format(call="clear()"), tmp_path, **FOREIGN, **WANTED)

    assert not FOREIGN.keys() & got.keys()
    assert WANTED.items() <= got.items()


@pytest.mark.process
def test_a_notebook_that_takes_a_session_loses_what_is_for_another_spark_only(tmp_path):
    got = run(CLEARED.format(call="clear_of_spark()"), tmp_path, **FOREIGN)

    lost = ("SPARK_REMOTE", "SPARK_HOME", "PYSPARK_PYTHON", "HADOOP_CONF_DIR")
    assert FOREIGN.keys() - got.keys() == set(lost)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "kept"),
    [
        ("ALL_PROXY=socks5h://127.0.0.1:1080", None),
        ("ALL_PROXY=127.0.0.1:3128", "http://127.0.0.1:3128"),
        ("http_proxy=proxy", "http://proxy"),
    ],
)
def test_jupyterlab_can_be_loaded_behind_every_proxy(setting, kept, tmp_path):
    name, _, value = setting.partition("=")
    given = run(ASK.format(call="for_jupyterlab()"), tmp_path, **{name: value})

    assert given.get(name) == kept
    command = [sys.executable, "-P", "-c", "import jupyterlab.labapp"]
    loaded = subprocess.run(command, env=given, cwd=tmp_path, capture_output=True, text=True)
    assert (loaded.returncode, loaded.stderr) == (0, "")


@pytest.mark.slow
def test_a_process_becomes_jupyterlab_behind_a_socks_proxy(tmp_path):
    """`./course lab` does: it loads JupyterLab into its own process."""
    loads = f"{CLEARED.format(call='clear_for_jupyterlab()')}\nimport jupyterlab.labapp"
    proxies = dict.fromkeys(("ALL_PROXY", "https_proxy"), "socks5h://127.0.0.1:1080")

    assert not proxies.keys() & run(loads, tmp_path, **proxies).keys()


@pytest.mark.process
def test_the_docker_engine_of_this_home_is_found_from_another(tmp_path):
    (tmp_path / ".docker").mkdir()
    ask = (
        "import json; from kafkalab import environment; "
        "print(json.dumps(environment.of_docker_engine()))"
    )

    assert run(ask, tmp_path, HOME=str(tmp_path)) == {"DOCKER_CONFIG": str(tmp_path / ".docker")}
    named = {"DOCKER_HOST": "ssh://somewhere", "DOCKER_CONFIG": "/a", "DOCKER_TLS_VERIFY": "1"}
    assert run(ask, tmp_path, HOME=str(tmp_path), **named) == named
    assert run(ask, tmp_path, HOME="/nowhere", DOCKER_CONTEXT="b") == {"DOCKER_CONTEXT": "b"}


def test_every_jvm_has_one_language_and_leaves_its_crash_in_its_own_folder(tmp_path):
    tool = java_command.tool("kafka.Kafka", tmp_path)

    assert "-Duser.language=en" in tool
    assert f"-XX:ErrorFile={tmp_path}/crash-%p.log" in tool


@pytest.mark.parametrize(
    ("name", "why"), [("a,b", "','"), (os.fsdecode(b"caf\xe9"), "no text in UTF-8")]
)
def test_a_folder_that_kafka_cannot_use_is_told(name, why, tmp_path):
    with pytest.raises(CourseError) as told:
        java_command.tool("kafka.Kafka", tmp_path / name)

    assert why in told.value.why
    assert "KAFKALAB_STATE" in told.value.mend


def test_a_system_without_utf_8_is_told_for_letters_that_need_it(monkeypatch):
    monkeypatch.setattr(environment, "utf8_locale", lambda: None)
    monkeypatch.setattr(sys, "platform", "linux")

    assert environment.java_cannot_read(Path("/home/me")) == ""
    assert "no locale with UTF-8" in environment.java_cannot_read(Path("/home/mé"))


@pytest.mark.slow
def test_a_jvm_that_crashes_leaves_its_report_in_the_folder_of_the_cluster(tmp_path):
    folder, work = tmp_path / "slot", tmp_path / "work"
    folder.mkdir()
    work.mkdir()
    command = java_command.tool("org.apache.kafka.tools.ConsoleProducer", folder)
    command += ["--bootstrap-server", "127.0.0.1:1", "--topic", "t"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=work, env=environment.for_java()
    ) as tool:
        log = folder / "tool.log"
        wait_until(lambda: log.exists() and log.stat().st_size, timeout=60, what="it to work")
        tool.send_signal(signal.SIGSEGV)
        tool.communicate(timeout=60)

    assert list(work.iterdir()) == []
    assert (folder / f"crash-{tool.pid}.log").exists()
