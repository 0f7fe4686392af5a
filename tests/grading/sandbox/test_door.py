"""The narrow door: what a lab allows is done and kept, the rest is refused. No cluster."""

import json
import threading

from grading.sandbox.door import Door


class Nodes:
    """An engine that keeps what it was asked to do."""

    def __init__(self, storage):
        self.asked = []
        self._storage = storage

    def kill(self, service):
        self.asked.append(("kill", service))

    def state(self, service):
        return "running"

    def storage(self, service, part, indexes):
        return self._storage


def door(tmp_path, allowed=()):
    nodes = Nodes(tmp_path / "disk")
    return nodes, Door(tmp_path / "orders", tmp_path / "copies", nodes, ["broker-1"], allowed)


def test_what_the_lab_allows_is_done_and_kept_as_evidence(tmp_path):
    nodes, opened = door(tmp_path, {"kill"})
    assert opened.answer(b'{"do": "kill", "service": "broker-1"}') == {"answer": None}
    assert nodes.asked == [("kill", "broker-1")]
    assert [words for _, words in opened.done] == ["kill broker-1"]


def test_everything_else_is_refused(tmp_path):
    nodes, opened = door(tmp_path, {"stop", "down", "__init__"})
    for do in ("kill", "down", "tool", "__init__", "slot"):
        (what, *_) = opened.answer(f'{{"do": "{do}", "service": "broker-1"}}'.encode())["error"]
        assert "does not let you" in what
    for service in ("broker-9", "../..", ""):
        asked = json.dumps({"do": "state", "service": service}).encode()
        assert "no node" in opened.answer(asked)["error"][0]
    for nonsense in (b"", b"{", b"[]", b"1", b'{"do": 1}', b"\xff"):
        assert "error" in opened.answer(nonsense)
    assert nodes.asked == opened.done == []
    assert opened.answer(b'{"do": "state", "service": "broker-1"}') == {"answer": "running"}


def test_a_disk_is_copied_in_part_and_never_through_a_link(tmp_path):
    partition = tmp_path / "disk" / "orders-0"
    partition.mkdir(parents=True)
    (partition / "0.log").write_text("records")
    (tmp_path / "disk" / "others-0").mkdir()
    (tmp_path / "disk" / "others-0" / "0.log").write_text("not asked for")
    gone = tmp_path / "disk" / "former-0.1234-delete"
    gone.mkdir()
    (gone / "0.log").write_text("of the hand-in before")
    (partition / "link").symlink_to("/etc/passwd")
    _, opened = door(tmp_path)
    asked = b'{"do": "storage", "service": "broker-1", "part": "orders-0"}'
    assert opened.answer(asked) == {"answer": str(tmp_path / "copies" / "broker-1")}
    copied = [p for p in (tmp_path / "copies").rglob("*") if not p.is_dir()]
    assert [path.name for path in copied] == ["0.log"]
    whole = b'{"do": "storage", "service": "broker-1", "part": ""}'
    assert "answer" in opened.answer(whole)
    names = {path.parent.name for path in (tmp_path / "copies").rglob("*.log")}
    assert names == {"orders-0", "others-0"}
    for part in ("..", "../..", "--checkpoint=1", "/etc"):
        asked = json.dumps({"do": "storage", "service": "broker-1", "part": part}).encode()
        assert "no name" in opened.answer(asked)["error"][0]


def test_a_disk_is_copied_while_its_broker_deletes_topics(tmp_path):
    """Their folders go between a look into the disk and a look into them."""
    disk = tmp_path / "disk"
    (disk / "orders-0").mkdir(parents=True)
    (disk / "orders-0" / "0.log").write_text("records")
    is_over = threading.Event()

    def delete_topics():
        leaving = [disk / f"former-{number}.1234-delete" for number in range(100)]
        while not is_over.is_set():
            for folder in leaving:
                folder.mkdir()
            for folder in leaving:
                folder.rmdir()

    broker = threading.Thread(target=delete_topics)
    broker.start()
    try:
        _, opened = door(tmp_path)
        asked = b'{"do": "storage", "service": "broker-1", "part": "orders-0"}'
        answers = [opened.answer(asked) for _ in range(100)]
    finally:
        is_over.set()
        broker.join()
    assert answers == [{"answer": str(tmp_path / "copies" / "broker-1")}] * 100
    assert (tmp_path / "copies" / "broker-1" / "orders-0" / "0.log").read_text() == "records"
