"""Lesson 00 as a learner takes it: in JupyterLab, in a real browser."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.cluster, pytest.mark.spark, pytest.mark.timeout(360)]


def test_lesson_00_runs_in_the_browser_and_shows_its_chart(reader):
    reader.run_all("00_start.ipynb", "00 Start")
    content = reader.finished()
    pictures = [
        data["text/html"]
        for cell in content["cells"]
        for output in cell.get("outputs", [])
        if "alt=" in "".join((data := output.get("data", {})).get("text/html", ""))
    ]
    assert pictures, "no chart with a text alternative was saved"
    page = reader.page
    chart = page.locator(".jp-OutputArea-output img[alt*='as six boxes']")
    # Scroll through the notebook as a reader does until the chart comes into view; once more up
    # and down where the page was slower than the wheel.
    notebook_panel = page.locator(".jp-WindowedPanel-outer")
    for step in range(240):
        if chart.count() and chart.first.is_visible():
            break
        notebook_panel.hover()
        page.mouse.wheel(0, 400 if step // 60 % 2 == 0 else -400)
        page.wait_for_timeout(50)
    expect(chart.first).to_be_visible()
    assert chart.first.evaluate("picture => picture.naturalWidth") > 300
    assert not reader.complaints, reader.complaints
