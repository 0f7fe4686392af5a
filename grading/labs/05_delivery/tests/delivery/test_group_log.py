"""What Kafka keeps of a group, read from a real cluster as the checks read it."""

import pytest

from grading.define.definition import module
from grading.define.place import find
from grading.define.seed import Parameters
from grading.judge.view import ClusterView
from grading.judge.visible import Visible
from tests.grading.state import Notebook

pytestmark = pytest.mark.cluster
group_log = module(find("lab05"), "group_log")


@pytest.fixture
def x(cluster):
    view = ClusterView(cluster)
    yield Visible(Notebook(), view, Parameters(), "seed")
    view.close()


@pytest.mark.parametrize("instance", ["desk", None])
def test_who_came_back_and_what_was_committed_before(run, fill, x, instance):
    chosen = {"session_timeout": 1_500, "heartbeat_interval": 300, "instance_id": instance}
    chosen |= {"auto_offset_reset": "earliest", "ack_after_batch": True}
    first = run.consumer(**chosen)
    fill(run.topic, [b"value"] * 12)
    run.wait_until_read()
    first.wait_for("committed")
    first.kill()
    run.consumer(**chosen).wait_for("ready")
    fill(run.topic, [b"value"] * 3)
    run.wait_until_read()

    back = group_log.came_back(x, run.group, run.topic)
    assert back.former.id != back.member.id
    assert (back.former.instance, back.member.instance) == (instance, instance)
    assert (back.member.client, back.member.session_ms) == ("consumer", 1_500)
    assert sum(back.committed.values()) == 12, "and not what the second one has committed"
    # Its first deal may have been empty (seen once, on a busy machine); the next had all six.
    assert [one.id for one in group_log.together(x, run.group)] == [back.member.id]
