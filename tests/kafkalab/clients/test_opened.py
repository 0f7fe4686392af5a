"""A cell that is run again leaves nothing of its earlier run; within one run nothing is closed."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from kafkalab import Cluster, clients, quick, wait_until
from kafkalab.clients import opened

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster.start("single") as cluster:
        with KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin) as admin:
            admin.create_topics({"rides": {"num_partitions": 3}})
        cluster.wait_for_topic("rides")
        yield cluster


@pytest.fixture
def shell(cluster: Cluster) -> Iterator[InteractiveShell]:
    shell = InteractiveShell.instance()
    opened._look_for_cells()  # as in a notebook, where kafka-python is imported in one
    shell.push({"cluster": cluster, "kept": []})
    run(shell, "from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer")
    run(shell, "from kafkalab import quick")
    yield shell
    clients.close_all()
    InteractiveShell.clear_instance()


def run(shell: InteractiveShell, source: str, cell_id: str | None = None) -> Any:
    result = shell.run_cell(source, store_history=True, cell_id=cell_id)
    result.raise_error()
    return result.result


PRODUCER = "KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)"
CONSUMER = "KafkaConsumer('rides', bootstrap_servers=cluster.address, **quick.consumer)"
ADMIN = "KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)"


@pytest.mark.parametrize("client", [PRODUCER, CONSUMER, ADMIN])
def test_a_second_run_closes_the_clients_of_the_first(shell: InteractiveShell, client: str) -> None:
    first = run(shell, f"[{client} for _ in range(3)]", "a")
    assert [one._closed for one in first] == [False] * 3
    run(shell, "'another cell'", "b")
    assert [one._closed for one in first] == [False] * 3
    second = run(shell, f"[{client} for _ in range(3)]", "a")
    assert [one._closed for one in first] == [True] * 3
    assert [one._closed for one in second] == [False] * 3


def test_a_name_that_is_bound_anew_in_a_loop_closes_nothing(shell: InteractiveShell) -> None:
    source = f"for _ in range(5):\n    producer = {PRODUCER}\n    kept.append(producer._sender)"
    run(shell, source, "loop")
    senders = list(shell.user_ns["kept"])
    assert [sender.is_alive() for sender in senders] == [True] * 5
    run(shell, "pass", "loop")  # a cell that was changed is still the same cell
    assert [sender.is_alive() for sender in senders] == [False] * 5


def test_without_an_id_a_cell_is_its_text(shell: InteractiveShell) -> None:
    first = run(shell, PRODUCER)
    other = run(shell, f"{PRODUCER}  # another")
    assert not first._closed
    run(shell, PRODUCER)
    assert (first._closed, other._closed) == (True, False)


def test_the_cell_that_imports_is_known_too(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its beginning was not heard, because nobody listened."""
    shell.events.unregister("pre_run_cell", opened._begin)
    monkeypatch.setattr(opened, "_shell", None)
    first = run(shell, PRODUCER)
    run(shell, PRODUCER)
    assert first._closed


def test_a_client_that_was_closed_is_no_longer_held(shell: InteractiveShell) -> None:
    run(shell, f"{PRODUCER}.close(); {CONSUMER}.close(); {ADMIN}.close()", "closing")
    assert not opened._OPEN


def test_a_member_is_gone_from_its_group(shell: InteractiveShell, cluster: Cluster) -> None:
    source = (
        "from kafkalab import clients\n"
        "member = KafkaConsumer('rides', bootstrap_servers=cluster.address, group_id='again',"
        " **quick.consumer)\n"
        "list(clients.records_until_end(member))"
    )
    for _ in range(3):
        run(shell, source, "member")
    assert len(cluster.wait_for_group("again", members=1).members) == 1


def test_a_cluster_that_is_gone_holds_no_cell_up(shell: InteractiveShell) -> None:
    with Cluster.start("single", beside=True) as other:
        shell.push({"cluster": other})
        source = f"[{PRODUCER}, {CONSUMER}, {ADMIN}, {PRODUCER}, {PRODUCER}]"
        first = run(shell, source, "lost")
        other.kill(0)
        began = time.monotonic()
        run(shell, "pass", "lost")
        assert time.monotonic() - began < 4
        assert not any(one in [each for each, _ in opened._OPEN.values()] for one in first)


def test_closing_a_cluster_closes_its_clients_and_no_others(cluster: Cluster) -> None:
    with Cluster.start("single", beside=True) as other:
        mine = KafkaAdminClient(bootstrap_servers=other.address, **quick.admin)
        listed = KafkaConsumer(bootstrap_servers=[other.address], **quick.consumer)
        kept = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
    assert (mine._closed, listed._closed, kept._closed) == (True, True, False)
    assert kept.list_topics()
    kept.close()


def test_outside_a_notebook_nothing_is_closed(cluster: Cluster) -> None:
    before = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
    after = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
    assert (before._closed, after._closed) == (False, False)
    clients.close_all()
    assert (before._closed, after._closed) == (True, True)


def test_a_forked_child_closes_nothing(cluster: Cluster) -> None:
    producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
    child = os.fork()
    if not child:
        os._exit(len(opened._OPEN))
    assert os.waitpid(child, 0)[1] == 0
    assert producer.send("rides", b"still here").get(timeout=10).offset >= 0
    producer.close()


def test_clients_of_many_threads_are_all_known(cluster: Cluster) -> None:
    def open_one() -> None:
        KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)

    threads = [threading.Thread(target=open_one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened._OPEN) == 4
    clients.close_all()
    assert not opened._OPEN


MEMBER = """
import kafkalab
from kafka import KafkaConsumer
from kafkalab.clients import records_until_end
member = KafkaConsumer('rides', bootstrap_servers={address!r}, group_id={group!r})
list(records_until_end(member))
"""
NOTEBOOK = """
import sys
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.instance().run_cell(sys.argv[1]).raise_error()
"""


def test_a_notebook_that_ends_leaves_its_groups_and_a_program_does_not(cluster: Cluster) -> None:
    """A program that does not close its consumer shows what Kafka does then."""
    cell, program = (
        MEMBER.format(address=cluster.address, group=group) for group in ("cell", "program")
    )
    for words in ([NOTEBOOK, cell], [program]):
        subprocess.run([sys.executable, "-c", *words], check=True, timeout=60)
    wait_until(lambda: not cluster.group("cell").members, timeout=5, what="an empty group")
    assert len(cluster.group("program").members) == 1
