"""A connector as Connect runs it: worker, tasks, the chain of transforms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes

from kafkalab.diagrams.canvas import ADDED, GIVEN
from kafkalab.diagrams.plan import plan


def connector(
    status: Mapping[str, Any], config: Mapping[str, str], outside: str, topic: str
) -> Axes:
    """From the outside through tasks and transforms to the topic; for a sink the other way.

    `status` and `config` are what Connect's REST interface answers to GET
    `/connectors/NAME/status` and `/connectors/NAME/config`. `outside` names the system at the
    other end, which Connect does not know by a name. Each task has the whole chain.
    """
    tasks = [
        f"task {task['id']}\n{task['state']}\non {task['worker_id']}" for task in status["tasks"]
    ]
    named = [name.strip() for name in config.get("transforms", "").split(",") if name.strip()]
    chain = [f"{name}\n{config[f'transforms.{name}.type'].rpartition('.')[2]}" for name in named]
    topic_box = f"topic {topic}"
    source = status["type"] == "source"
    first, *rest = [*chain, topic_box] if source else [*chain[::-1], topic_box]
    colours = {topic_box: GIVEN} | {
        task: ADDED for task in tasks if task.partition("\n")[2].startswith("FAILED")
    }
    columns = [[outside], tasks, [first], *([one] for one in rest)]
    arrows = [
        *((outside, task) for task in tasks),
        *((task, first) for task in tasks),
        *zip([first, *rest], rest, strict=False),
    ]
    if not source:
        arrows = [(end, start) for start, end in arrows]
        columns.reverse()
    return plan(
        columns,
        arrows,
        colours=colours,
        frames={f"Connect: {status['name']}": [*tasks, *chain]} if tasks or chain else {},
        width=1.65,
        between=0.5,
    )
