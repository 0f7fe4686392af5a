"""The options are a contract: names, defaults, and what follows from them. No cluster here."""

import json
import re
import shlex
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from delivery import settings
from delivery.__main__ import app
from delivery.options import ConsumerOptions, ProducerOptions, arguments, for_client
from kafkalab.errors import CourseError
from kafkalab.places import repository

BOTH = {
    "topic": "test-topic",
    "bootstrap": None,
    "directory": "run",
    "local-id": -1,
    "payload-trunc": False,
    "quiet": False,
}
PRODUCER = BOTH | {
    "num-rolls": 1,
    "num-records-per-roll": 100,
    "wait-after-roll": 5000,
    "wait-after-send": 0,
    "partitioning": "key",
    "acks": "all",
    "max-inflight": 5,
    "idempotent": None,
    "batch": 16384,
    "linger": 0,
    "retries": 2147483647,
    "delivery-timeout": 120000,
    "request-timeout": 30000,
    "retry-backoff": 100,
    "retry-max": 1000,
}
CONSUMER = BOTH | {
    "poll-period": 1000,
    "wait-after-recv": 0,
    "wait-after-batch": 0,
    "wait-after-record": 0,
    "ack-every-x-msgs": None,
    "ack-after-batch": False,
    "commit-offsets": "position",
    "crash-after-commits": None,
    "wait-cmd-period": 5000,
    "group-id": "test-app",
    "instance-id": None,
    "auto-commit": True,
    "ac-interval": 5000,
    "fetch-min-bytes": 1,
    "max-poll-recs": 500,
    "assignment-strategy": "coop",
    "heartbeat-interval": 3000,
    "session-timeout": 45000,
    "auto-offset-reset": "latest",
    "max-poll-interval": 300000,
}


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "delivery", *words]
    folder = repository() / "labs" / "05_delivery"  # as a learner does
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


def printed_defaults(role: str) -> dict[str, object]:
    return json.loads(run(role, "--print-defaults").stdout)


@pytest.mark.process
def test_the_producer_has_these_options_and_defaults():
    assert printed_defaults("producer") == PRODUCER


@pytest.mark.process
def test_the_consumer_has_these_options_and_defaults():
    assert printed_defaults("consumer") == CONSUMER


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["producer", "--acks", "2"], "'2' is not one of"),
        (["producer", "--acknowledgements", "1"], "No such option"),
        (["consumer", "--auto-commit", "perhaps"], "say true or false"),
        (["consumer", "--max-poll-recs", "many"], "a valid integer"),
    ],
)
def test_wrong_usage_is_status_2_with_a_reason(words, complaint):
    done = CliRunner().invoke(app, words, prog_name="delivery")

    assert done.exit_code == 2
    assert complaint in said(done.stderr)


@pytest.mark.process
def test_wrong_usage_ends_the_process_with_status_2():
    done = run("producer", "--acks", "2")

    assert done.returncode == 2
    assert "'2' is not one of" in said(done.stderr)


def said(stderr: str) -> str:
    """The sentences within the frame that a complaint has."""
    return " ".join(stderr.replace("│", " ").split())


def test_an_unknown_option_in_python_is_an_error_too():
    with pytest.raises(CourseError, match="no option 'aks'"):
        list(arguments(ProducerOptions, {"aks": 1}))
    with pytest.raises(CourseError, match="one of 0, 1, all"):
        ProducerOptions(acks="2")


def test_options_of_python_become_a_command_line():
    chosen = {"acks": 0, "payload_trunc": False, "quiet": True, "idempotent": None}
    assert list(arguments(ProducerOptions, chosen)) == [
        "--acks",
        "0",
        "--payload-trunc",
        "false",
        "--quiet",
        "true",
    ]


@pytest.mark.parametrize(
    ("chosen", "on", "reason"),
    [
        ({}, True, "acks is all and max-inflight at most 5"),
        ({"acks": "0"}, False, "acks is 0 and not all"),
        ({"acks": "1"}, False, "acks is 1 and not all"),
        ({"max_inflight": 6}, False, "max-inflight is 6"),
        ({"max_inflight": 1}, True, "at most 5"),
        ({"idempotent": False}, False, "--idempotent says so"),
        ({"idempotent": True, "acks": "1"}, True, "--idempotent says so"),
    ],
)
def test_idempotence_follows_from_the_other_options(chosen, on, reason):
    options = ProducerOptions(**chosen)
    derived, why = settings.idempotence(options)

    assert (derived, settings.for_producer(options)["enable_idempotence"]) == (on, on)
    assert reason in why


@pytest.mark.parametrize(
    ("chosen", "kind", "switched_off"),
    [
        ({}, "auto", 0),
        ({"auto_commit": False}, "never", 0),
        ({"ack_every_x_msgs": 50}, "every", 1),
        ({"ack_after_batch": True}, "batch", 1),
        ({"ack_after_batch": True, "ack_every_x_msgs": 50}, "batch", 2),
        ({"ack_after_batch": True, "auto_commit": False}, "batch", 0),
    ],
)
def test_one_kind_of_commit_acts(chosen, kind, switched_off):
    options = ConsumerOptions(**chosen)
    acting, told = settings.committing(options)

    assert (acting, len(told)) == (kind, switched_off)
    assert settings.for_consumer(options)["enable_auto_commit"] == (kind == "auto")


def test_values_go_to_the_client_under_its_own_names():
    options = ProducerOptions(acks="0", linger=7, batch=99, retry_max=300)
    assert for_client(options)["linger_ms"] == 7
    assert settings.for_producer(options) | {"acks": 0, "batch_size": 99} == (
        settings.for_producer(options)
    )
    # kafka-python repeats after a constant pause: only the pause before a connection has a limit
    assert settings.for_producer(options)["reconnect_backoff_max_ms"] == 300
    assert settings.for_consumer(ConsumerOptions(instance_id="7"))["group_instance_id"] == "7"


def test_the_commands_that_the_lab_shows_are_understood():
    """They stand in the text for a terminal, where no run of the notebook would find a mistake."""
    page = (repository() / "labs" / "05_delivery" / "README.md").read_text("utf-8")
    text = "\n".join(line.strip() for line in page.splitlines())
    shown = re.findall(r"^delivery ((?:[^\\\n]|\\\n)*)$", text, re.MULTILINE)
    commands = [
        shlex.split(command.replace("\\\n", " ")) for command in shown if "`" not in command
    ]
    assert {command[0] for command in commands} == {"producer", "consumer", "control"}
    known = {
        "producer": set(PRODUCER),
        "consumer": set(CONSUMER),
        "control": {"topic", "bootstrap"},
    }
    for command in commands:
        given = {word[2:] for word in command if word.startswith("--")}
        assert given <= known[command[0]], command
