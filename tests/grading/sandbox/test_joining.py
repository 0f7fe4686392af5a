"""The first cell in a sandbox: it takes the addresses of the brokers, and may run again."""

import json
import os
import socket
import threading

from grading.sandbox.joining import join


def test_a_cell_that_runs_again_finds_the_ways_open(tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKALAB_CLUSTER", "")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    taken = []
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "brokers"))
        door.listen()

        def take():
            line, _ = door.accept()
            with line:
                said, descriptors, _, _ = socket.recv_fds(line, 1000, 1)
                taken.append((json.loads(said), socket.socket(fileno=descriptors[0])))
                line.sendall(b"1")

        grader = threading.Thread(target=take)
        grader.start()
        facts = {"addresses": {"0": f"127.0.0.1:{port}"}, "folder": str(tmp_path / "slot")}
        join(str(tmp_path / "brokers"), facts, [])
        grader.join()
        record = os.environ.pop("KAFKALAB_CLUSTER")
        join(str(tmp_path / "brokers"), facts, [])
    assert os.environ["KAFKALAB_CLUSTER"] == record
    assert json.loads((tmp_path / "slot" / "cluster.json").read_text()) == facts
    ((said, listening),) = taken
    with listening:
        assert said == [port]
        assert listening.getsockname() == ("127.0.0.1", port)
