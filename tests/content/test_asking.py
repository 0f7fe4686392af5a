"""Predictions, choices and exercises as a learner meets them: with the keyboard, in a browser."""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import nbformat
import psutil
import pytest
from playwright.sync_api import expect

from kafkalab.notebook import kept
from kafkalab.places import repository
from kafkalab.setup import contents
from kafkalab.wait import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

CELLS = [
    "from kafkalab import Choice, Prediction\nfrom kafkalab.notebook import exercise",
    "my_records = Prediction('records')\nmy_records",
    "my_records.against(11)",
    "my_leader = Choice('Who leads then?', 'broker 0', 'nobody')\nmy_leader",
    "my_leader.against('nobody', {'broker 0': 'it is dead.'})",
    "newest = ...\nexercise.check('newest', newest, lambda n: '' if n == 9 else 'look again.')",
]


@pytest.fixture
def notebook(work: Path) -> str:
    cells = [nbformat.v4.new_markdown_cell("# Ask")]
    cells += [nbformat.v4.new_code_cell(source) for source in CELLS]
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    content = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(content, work / "notebooks" / "00_start.ipynb")
    return "00_start.ipynb"


@pytest.fixture(autouse=True)
def patience():
    """Another test may have the processor."""
    expect.set_options(timeout=60_000)
    yield
    expect.set_options(timeout=5_000)


@contextlib.contextmanager
def slow_kernel() -> Iterator[None]:
    """The kernel hears of nothing until the reader is through, as on a machine that is busy."""
    [kernel] = [
        process
        for process in psutil.Process(os.getpid()).children(recursive=True)
        if "ipykernel_launcher" in process.cmdline()
    ]
    kernel.suspend()
    try:
        yield
    finally:
        kernel.resume()


def test_an_answer_is_kept_with_the_keyboard_alone_and_is_there_after_a_restart(
    reader, notebook, work, monkeypatch
):
    reader.run_all(notebook, "Ask")
    page = reader.page
    cells = page.locator(".jp-Cell")
    expect(cells.nth(3)).to_contain_text("You did not predict it. Measured: 11 records.")
    expect(cells.nth(5)).to_contain_text("Not “broker 0”: it is dead.")
    expect(cells.nth(6)).to_contain_text("Not tried yet")

    field = cells.nth(2).get_by_role("textbox", name="records")
    field.focus()
    page.keyboard.type("many")
    page.keyboard.press("Enter")
    expect(cells.nth(2).get_by_role("status")).to_contain_text("is not a number")
    with slow_kernel():
        for typed in ("many", "1", "12"):
            field.fill(typed)
            page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(cells.nth(2).get_by_role("button", name="Keep")).to_be_focused()
        page.keyboard.press("Enter")
    expect(cells.nth(2).get_by_role("status")).to_contain_text("Kept: you expect 12 records.")

    with slow_kernel():
        for answer in ("nobody", "broker 0"):
            cells.nth(4).get_by_role("radio", name=answer).focus()
            page.keyboard.press("Space")
        page.keyboard.press("Tab")  # to the next answer: each is a stop of its own
        page.keyboard.press("Tab")
        expect(cells.nth(4).get_by_role("button", name="Keep")).to_be_focused()
        page.keyboard.press("Enter")
    expect(cells.nth(4).get_by_role("status")).to_contain_text("Kept: broker 0.")
    assert not reader.complaints, reader.complaints

    # After a restart, what was answered stands in its place, and the next outputs answer it.
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.get_by_role("menuitem", name="Restart Kernel and Run All Cells…").click()
    page.get_by_role("button", name="Confirm Kernel Restart").click()
    expect(cells.nth(3)).to_contain_text(
        "You said 12. Measured: 11 records. Close.", timeout=60_000
    )
    expect(cells.nth(5)).to_contain_text(
        "You chose “broker 0”: it is dead. The answer of this run: nobody."
    )
    expect(cells.nth(2).get_by_role("textbox", name="records")).to_have_value("12")

    found = wait_until(
        lambda: kept.read(work)["00_start"].get("choices"),
        timeout=20,
        what="the choice",
        not_yet=(KeyError,),
    )
    assert found["Who leads then?"]["verdict"] == "off"
    assert json.loads((work / kept.FILE).read_text())["pages"]["00_start"]["predictions"] == {
        "records": {"measured": 11.0, "said": 12, "verdict": "close"}
    }

    # The contents know of it: as they were written when JupyterLab was started, and run anew.
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(work.parent / "runtime"))
    contents.write(repository(), work)
    reader.open_contents()
    row = page.get_by_role("row", name="00 Start")
    expect(row).to_contain_text("done")
    expect(row).to_contain_text("1 close, 1 off")
    expect(page.locator(".jp-Notebook:visible")).to_contain_text("Still running")
