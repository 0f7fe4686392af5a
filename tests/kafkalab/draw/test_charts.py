"""The charts: what is drawn, that nothing is cut or hidden, and that the words come along."""

import itertools
import time
from datetime import UTC, datetime

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbconvert import HTMLExporter

from kafkalab import charts
from kafkalab.cluster.segments import Batch
from kafkalab.draw import drawing
from kafkalab.draw.picture import Picture, picture
from kafkalab.lessons import single_broker, transactions
from tests.kafkalab.drawn import words

START = pd.Timestamp("2026-01-01", tz="UTC")

pytestmark = pytest.mark.usefixtures("no_figure_stays")


def at(*seconds):
    return START + pd.to_timedelta(seconds, unit="s")


def heights(ax):
    return [patch.get_height() for patch in ax.patches]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_records_per_second_counts_each_record_once():
    moments = np.concatenate([np.arange(0, 1.5, 1 / 200), 1.5 + np.arange(0, 1.5, 1 / 1_000)])
    ax = charts.records_per_second(pd.DataFrame({"timestamp": at(*moments)}))
    (steps,) = ax.patches
    rates, edges, _ = steps.get_data()
    assert sum(rates * np.diff(edges)) == pytest.approx(len(moments))
    assert edges[0] == 0
    assert edges[-1] == pytest.approx(moments[-1])
    assert rates[2] == pytest.approx(200, rel=0.2)
    assert rates[-1] == pytest.approx(1_000, rel=0.05)  # no drop at the end
    assert (ax.get_xlabel(), ax.get_ylabel()) == (
        "seconds since the first record",
        "records per second",
    )


def test_records_of_one_moment_can_be_drawn():
    ax = charts.records_per_second(pd.DataFrame({"timestamp": at(7, 7, 7)}))
    rates, edges, _ = ax.patches[0].get_data()
    assert sum(rates * np.diff(edges)) == 3


def test_records_per_second_by_reader():
    frame = pd.DataFrame({"timestamp": at(0, 1, 2, 3), "reader": ["b", "a", "b", "a"]})
    ax = charts.records_per_second(frame, by="reader")
    assert legend(ax) == ["a", "b"]
    assert [sum(p.get_data().values * p.get_data().edges[1]) for p in ax.patches] == [2, 2]


def test_records_per_partition_counts_rows():
    frame = pd.DataFrame({"partition": [2, 0, 2, 2]})
    ax = charts.records_per_partition(frame)
    assert heights(ax) == [1, 3]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "2"]
    assert words(ax) == ["1", "3"]


def test_records_per_partition_takes_counts_too():
    frame = pd.DataFrame(
        {"partition": [0, 0, 1], "state": ["lost", "found", "found"], "count": [5, 1_000, 7]}
    )
    ax = charts.records_per_partition(frame, by="state", records="count")
    assert legend(ax) == ["found", "lost"]
    assert heights(ax) == [1_000, 7, 5, 0]
    assert "1,000" in words(ax)


def test_many_partitions_have_numbers_that_can_be_read():
    ax = charts.records_per_partition(pd.DataFrame({"partition": range(60)}))
    labels = ax.get_xticklabels()
    ax.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in labels]
    assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))


def test_files_lie_one_upon_the_other_and_are_named():
    looks = [(0, 0, 100), (1, 0, 900), (1, 500, 50), (2, 0, 900), (2, 500, 800), (3, 500, 800)]
    ax = single_broker.files_over_time(pd.DataFrame(looks, columns=["seconds", "segment", "bytes"]))
    assert ax.dataLim.y1 == 1_700
    assert sorted(words(ax)) == ["0", "500"]
    assert ax.get_ylabel() == "bytes in the log, by segment"


def test_a_class_has_a_colour_a_shape_and_its_number():
    frame = pd.DataFrame(
        {"length": [1.0, 2, 3], "width": [1.0, 2, 3], "colour": ["red", "blue", "red"]}
    )
    ax = charts.scatter_by_class(frame, "length", "width", "colour", unit="cm")
    assert legend(ax) == ["blue (1)", "red (2)"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length (cm)", "width (cm)")
    blue, red = (mpl.colors.to_hex(c.get_facecolor()[0]).upper() for c in ax.collections)
    assert (blue, red) == (charts.COLOURS["blue"], charts.COLOURS["red"])
    shapes = [c.get_paths()[0].vertices.shape for c in ax.collections]
    assert shapes[0] != shapes[1]


def test_a_colour_can_be_given_to_a_class():
    frame = pd.DataFrame({"x": [1, 2], "y": [1, 2], "name": ["setosa", "virginica"]})
    ax = charts.scatter_by_class(frame, "x", "y", "name", colours={"virginica": "red"})
    assert mpl.colors.to_hex(ax.collections[1].get_facecolor()[0]).upper() == "#D55E00"


def test_latencies_tell_their_median_and_leave_failed_sends_out():
    frame = pd.DataFrame({"latency_ms": [1, 2, 3, np.nan, 10, 20, 30], "acks": [*"111", *"aaaa"]})
    ax = charts.latency_distribution(frame, by="acks")
    assert legend(ax) == ["1: half within 2 ms", "a: half within 20 ms"]
    assert ax.get_xscale() == "log"


def test_a_timeline_holds_its_last_value_to_the_end():
    frame = pd.DataFrame({"seconds": [5, 0, 3], "value": [1, 3, 2], "partition": [0, 0, 1]})
    ax = charts.timeline(frame, by="partition", ylabel="in-sync replicas")
    first, second = ax.lines
    assert list(first.get_xdata()) == [0, 5, 5]
    assert list(second.get_xdata()) == [3, 5]
    assert list(second.get_ydata()) == [2, 2]


@pytest.mark.parametrize(
    "killed", [START.timestamp() + 1, at(1)[0], datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)]
)
def test_marks_stand_where_it_happened(killed):
    frame = pd.DataFrame({"time": at(0, 2), "value": [1, 2]})
    ax = charts.timeline(frame, time="time", marks={"broker 1 killed": killed})
    assert ax.lines[-1].get_xdata()[0] == pytest.approx(1)
    assert words(ax) == ["broker 1 killed"]


def test_dates_without_a_zone_are_in_utc_as_spark_hands_them_out():
    frame = pd.DataFrame({"time": at(0, 2).tz_localize(None), "value": [1, 2]})
    ax = charts.timeline(frame, time="time", marks={"now": START.timestamp() + 1})
    assert ax.lines[-1].get_xdata()[0] == pytest.approx(1)


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "America/St_Johns", "UTC"])
def test_marks_without_a_zone_are_in_that_of_the_machine_as_first_hands_them_out(monkeypatch, zone):
    frame = pd.DataFrame({"time": at(0, 2), "value": [1, 2]})
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        killed = datetime.fromtimestamp(START.timestamp() + 1)  # as PySpark makes it
        ax = charts.timeline(frame, time="time", marks={"killed": killed})
    finally:
        monkeypatch.undo()
        time.tzset()
    assert ax.lines[-1].get_xdata()[0] == pytest.approx(1)


def test_marks_close_together_do_not_cover_one_another_or_leave_the_picture():
    frame = pd.DataFrame({"seconds": [0, 10], "value": [1, 2]})
    marks = {f"broker {n} was killed": 4 + n * 0.1 for n in range(3)}
    marks |= {f"broker {n} was started": 9.7 + n * 0.1 for n in range(3)}
    ax = charts.timeline(frame, marks=marks)
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert all(ax.figure.bbox.x0 <= box.x0 and box.x1 <= ax.figure.bbox.x1 for box in boxes)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rows: charts.records_per_second(rows),
        lambda rows: charts.records_per_second(rows, by="partition"),
        lambda rows: charts.records_per_partition(rows),
        lambda rows: single_broker.files_over_time(rows),
        lambda rows: charts.scatter_by_class(rows, "bytes", "value", "partition"),
        lambda rows: charts.latency_distribution(rows),
        lambda rows: charts.timeline(rows),
    ],
)
def test_no_rows_are_drawn_as_nothing(draw):
    columns = ["timestamp", "partition", "seconds", "segment", "bytes", "latency_ms", "value"]
    assert "nothing to draw" in words(draw(pd.DataFrame(columns=columns, dtype=float)))


def test_charts_draw_into_axes_that_are_given():
    _, (left, right) = plt.subplots(1, 2)
    frame = pd.DataFrame({"partition": [0], "seconds": [0], "value": [1]})
    assert charts.records_per_partition(frame, left) is left
    assert charts.timeline(frame, right) is right
    assert len(plt.get_fignums()) == 1


def drawn(title="One record in one partition", text="One bar, of height 1."):
    ax = charts.records_per_partition(pd.DataFrame({"partition": [0]}))
    ax.set_title(title)
    return picture(ax, text)


def test_showing_closes_the_figure_so_that_jupyter_draws_it_once():
    shown = drawn()
    assert plt.get_fignums() == []
    assert shown.png.startswith(b"\x89PNG")
    assert len(shown.png) < 100_000


def test_a_chart_is_shown_also_where_more_follows_in_its_cell():
    cell = """
import pandas as pd
from kafkalab import charts
charts.show(charts.records_per_partition(pd.DataFrame({"partition": [0]})), "One bar.")
after = 1
"""
    shell = InteractiveShell.instance()  # what shows asks for the one there is
    try:
        with capture_output() as captured:
            shell.run_cell(cell).raise_error()
    finally:
        InteractiveShell.clear_instance()
    (output,) = captured.outputs
    assert output.data["text/plain"] == "One bar."
    assert output.data["text/html"].startswith('<img alt="One bar."')


def test_a_picture_needs_words():
    with pytest.raises(ValueError, match="cannot see"):
        drawn(text=" ")


def test_the_same_data_gives_the_same_bytes():
    assert drawn().png == drawn().png


def test_a_long_title_is_folded_and_not_cut():
    ax = charts.records_per_partition(pd.DataFrame({"partition": [0]}))
    ax.set_title("A finding that needs a good many more words than one line has room for, alas")
    picture(ax, "One bar.")
    assert "\n" in ax.get_title(loc="left")
    ax.figure.draw_without_rendering()
    assert ax._left_title.get_window_extent().x1 <= ax.figure.bbox.x1


def test_the_words_survive_in_html_and_in_plain_text():
    text = 'Found 3 of "100" records,\n97 < 100 & lost.'
    shown = drawn(text=text)
    assert repr(shown) == text
    output = nbformat.v4.new_output(
        "execute_result", {"text/html": shown._repr_html_(), "text/plain": repr(shown)}
    )
    cell = nbformat.v4.new_code_cell("charts.show(ax, text)", outputs=[output])
    page, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    (image,) = BeautifulSoup(page, "html.parser").select("main img")
    assert image["alt"] == " ".join(text.split())


def test_ipython_sends_html_and_text_and_no_second_picture():
    from IPython.core.formatters import DisplayFormatter

    data, _ = DisplayFormatter().format(drawn())
    assert set(data) == {"text/html", "text/plain"}
    assert isinstance(drawn(), Picture)


def brightness(colour):
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in mpl.colors.to_rgb(colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_words_on_files_can_be_read():
    from kafkalab.lessons.single_broker.files import FILES

    for shade in FILES:
        assert (brightness(shade) + 0.05) / 0.05 > 7  # WCAG AAA, black on the shade


def test_series_differ_in_more_than_colour():
    cycle = list(plt.rcParams["axes.prop_cycle"])
    assert len({(one["color"], one["linestyle"]) for one in cycle}) == len(cycle)
    assert all(a["linestyle"] != b["linestyle"] for a, b in itertools.pairwise(cycle))


@pytest.mark.parametrize("whole", [0.01, 0.9, 3, 47, 3_600, 86_400])
def test_spans_are_equal_and_few(whole):
    end, edges = drawing._spans(whole)
    assert end == whole
    assert 2 <= edges <= 45


@pytest.mark.spark
def test_spark_and_pandas_give_the_same_drawing():
    from kafkalab.spark.session import spark_session

    seconds = [0, 0.5, 0.5, 2, 3.999, 4]
    frame = pd.DataFrame(
        {"timestamp": at(*seconds), "partition": [0, 1, 1, 0, 2, 2], "latency_ms": seconds}
    )
    rows = spark_session().createDataFrame(frame)
    marks = {"killed": START.timestamp() + 1}
    for draw in (
        lambda data: charts.records_per_second(data, marks=marks),
        lambda data: charts.records_per_second(data, by="partition"),
        lambda data: charts.records_per_partition(data),
        lambda data: charts.timeline(data, time="timestamp", value="partition", marks=marks),
        lambda data: charts.latency_distribution(data, by="partition"),
    ):
        assert picture(draw(rows), "Spark").png == picture(draw(frame), "pandas").png
    assert "nothing to draw" in words(charts.records_per_second(rows.where("partition > 9")))


def transacted(offset: int, producer: int, records: int = 1, marker: str | None = None) -> Batch:
    return Batch(
        base_offset=offset,
        last_offset=offset + records - 1,
        records=records,
        codec="none",
        bytes=70,
        position=0,
        leader_epoch=0,
        producer_id=producer,
        producer_epoch=0,
        base_sequence=0,
        first_timestamp=0,
        last_timestamp=0,
        transactional=producer >= 0,
        control=marker is not None,
        marker=marker,
    )


def test_the_log_of_transactions_shows_each_fate() -> None:
    log = [
        transacted(0, 1, records=2),
        transacted(2, 2),
        transacted(3, 1, marker="commit"),
        transacted(4, 2, marker="abort"),
        transacted(5, -1),
        transacted(6, 1),
    ]
    ax = transactions.transaction_logs({"log": log}, {"log": 6})
    assert len(ax.patches) == 7
    assert [text.get_text() for text in ax.texts] == ["C", "A", "last stable offset: 6"]
    fates = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert fates == ["no transaction", "committed", "aborted", "open", "marker"]
    faces = [patch.get_facecolor() for patch in ax.patches]
    assert faces[0] == faces[1] != faces[2]  # committed, committed, aborted


def test_the_log_of_transactions_may_be_empty() -> None:
    assert "nothing to draw" in transactions.transaction_logs({"log": []}).texts[0].get_text()


def test_several_logs_of_transactions_share_their_offsets_and_one_key() -> None:
    log = [transacted(0, 1), transacted(1, 1, marker="commit"), transacted(2, 2)]
    first = transactions.transaction_logs({"open": log, "half": log[:2], "none": []}, {"open": 2})
    open_, half, none = first.figure.axes
    assert first is open_
    assert [ax.get_ylabel() for ax in (open_, half, none)] == ["open", "half", "none"]
    assert [len(ax.patches) for ax in (open_, half, none)] == [3, 2, 0]
    assert open_.get_xlim() == half.get_xlim() == none.get_xlim()
    assert [text.get_text() for text in open_.texts] == ["C", "last stable offset: 2"]
    (key,) = first.figure.legends
    assert [text.get_text() for text in key.get_texts()] == ["committed", "open", "marker"]
    empty = transactions.transaction_logs({"none": []})
    assert "nothing to draw" in empty.texts[0].get_text()
