"""The panel as a learner uses it: press kill in a real browser and see the leader move."""

import os
import re
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from commands import unattended
from kafkalab.cluster import inventory
from kafkalab.wait import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.cluster, pytest.mark.timeout(300)]

CELLS = [
    """
from kafka import KafkaAdminClient
from kafkalab import Cluster, members, panel, quick, wait_until
cluster = Cluster.start("replicated")
topic = {"num_partitions": 1, "replication_factor": 3}
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
admin.create_topics({"rides": topic})
leader = cluster.wait_for_leader("rides", 0)
""",
    "view = panel.show(cluster)\nview",
    """
lines = "consumer = KafkaConsumer('rides', **own)\\nwhile running(): consumer.poll(timeout_ms=100)"
own = {"bootstrap_servers": cluster.address, "group_id": "readers", **quick.consumer}
hired = {"address": cluster.address, "own": own}
team = {name: members.start(lines, name, **hired) for name in ("Ada", "Bob")}
group = panel.show_group(cluster, "readers", team)
group
""",
    # It ends when buttons were pressed three times, so they have to work while a cell runs.
    """
def pressed():
    return (view.text + group.text).count(": done in") == 3
wait_until(pressed, timeout=100, what="three presses")
""",
    "cluster.close()",
]


@pytest.fixture
def notebook(work: Path) -> str:
    cells = [nbformat.v4.new_markdown_cell("# Play")]
    cells += [nbformat.v4.new_code_cell(source.strip()) for source in CELLS]
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    content = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(content, work / "notebooks" / "play.ipynb")
    return "play.ipynb"


def test_kill_moves_the_leader_and_restart_undoes_it_while_a_cell_runs(
    reader, notebook, work, monkeypatch
):
    reader.run_all(notebook, "Play")
    page = reader.page
    cell = page.locator(".jp-Cell").nth(2)
    of_group = page.locator(".jp-Cell").nth(3)
    row = cell.get_by_role("row", name="rides")
    expect(row).to_be_visible(timeout=100_000)
    leader = row.get_by_role("cell").nth(2).inner_text()
    (slot,) = (one.slot for one in inventory.clusters() if one.by == notebook)
    expect(cell).to_contain_text(f"broker {leader} running")
    page.get_by_role("button", name=f"kill {leader}", exact=True).click()
    expect(cell).to_contain_text(f"broker {leader} stopped", timeout=30_000)
    expect(cell).to_contain_text(
        re.compile(rf"rides 0: the leader was broker {leader} and is broker [012]"), timeout=60_000
    )
    expect(cell.get_by_role("log")).to_contain_text(f"kill broker {leader}: done")
    if picture := os.environ.get("KAFKALAB_PICTURE"):  # for the README
        cell.locator(".jp-Cell-outputWrapper").screenshot(path=picture)
    # The group's, with the keyboard alone: from member to member, past freeze to kill.
    of_group.get_by_role("radio", name="Ada").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    chosen = of_group.get_by_role("button", name="freeze Bob", exact=True)
    expect(chosen).to_be_enabled(timeout=30_000)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(of_group.get_by_role("row", name="Bob")).to_contain_text("ended", timeout=30_000)
    expect(of_group.get_by_role("row", name="Ada")).to_contain_text("running", timeout=30_000)
    page.get_by_role("button", name=f"restart {leader}", exact=True).click()
    expect(cell.get_by_role("log")).to_contain_text(
        f"restart broker {leader}: done", timeout=30_000
    )
    reader.finished()
    expect(cell).to_contain_text("This cluster is closed", timeout=10_000)
    expect(page.get_by_role("button", name=f"kill {leader}", exact=True)).to_be_disabled()
    assert not reader.complaints, reader.complaints

    # Now its tab: while it is open there is nothing to tell, and then there is.
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(work.parent / "runtime"))
    news = unattended.News(work)
    assert not [line for line in news.look() if notebook in line]
    page.close()
    told = wait_until(
        lambda: [line for line in news.look() if notebook in line] or None,
        timeout=30,
        what="the news of the closed tab",
    )
    assert "play.ipynb runs without an open tab" in told[0]
    assert slot not in [one.slot for one in inventory.clusters() if one.by == notebook]
