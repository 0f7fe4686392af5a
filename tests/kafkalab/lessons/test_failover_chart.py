import matplotlib.pyplot as plt
import pandas as pd
import pytest

from kafkalab.lessons import replication

pytestmark = pytest.mark.usefixtures("no_figure_stays")


def looks(during: str, *rows: tuple[float, int | None, int]) -> pd.DataFrame:
    """One partition: seconds, leader, in-sync replicas."""
    table = pd.DataFrame(rows, columns=["seconds", "leader", "in_sync"])
    return table.assign(during=during, partition=0)


def test_a_strip_changes_its_shade_with_the_leader_and_is_white_without_one():
    seen = pd.concat(
        [
            looks("stop", (0, 0, 3), (1, 1, 2), (2, 1, 2)),
            looks("kill", (0, 0, 3), (1, None, 2), (3, 1, 2), (4, 1, 2)),
        ]
    )
    waits = pd.DataFrame({"during": ["stop", "kill"], "sent": [0, 0], "acknowledged": [0.5, 3]})
    replication.failover(seen, waits)
    stop, in_sync, kill, _ = plt.gcf().axes
    strips = [
        [
            (path.get_extents().x0, path.get_extents().width)
            for path in ax.collections[0].get_paths()
        ]
        for ax in (stop, kill)
    ]
    assert strips == [[(0, 1), (1, 1)], [(0, 1), (3, 1)]]
    shades = [ax.collections[0].get_facecolor().tolist() for ax in (stop, kill)]
    assert shades[0] == shades[1]
    assert shades[0][0] != shades[0][1]
    assert [ax.texts[0].get_text() for ax in (stop, kill)] == [
        "longest wait 0.5 s",
        "longest wait 3.0 s",
    ]
    assert list(in_sync.lines[0].get_ydata()) == [3, 2, 2]
    assert plt.gcf().legends[0].get_texts()[1].get_text() == "broker 1 is named leader"


def test_without_a_fault_there_is_nothing_to_draw():
    nobody = pd.DataFrame(columns=["during", "sent", "acknowledged"])
    ax = replication.failover(looks("stop", (0, 0, 3)), nobody)
    assert ax.texts[0].get_text() == "nothing to draw"
