"""The drawings of a producer: its buffers, the departures of its batches, what settings cost."""

from types import SimpleNamespace as Namespace

import pandas as pd
import pytest

from kafkalab.lessons import batches
from kafkalab.lessons.batches.buffers import Buffer, HeldBatch
from tests.kafkalab.drawn import words

pytestmark = pytest.mark.usefixtures("no_figure_stays")


def test_each_buffer_stands_in_a_row_with_what_waits_and_what_is_under_way():
    full, open_one = HeldBatch(17, 1_980), HeldBatch(4, 500)
    held = [
        Buffer(0, 2, waiting=[full, open_one], in_flight=[HeldBatch(18, 2_000)]),
        Buffer(1, None, waiting=[], in_flight=[]),
    ]
    shown = words(batches.inside(held, batch_size=2_000))
    assert [text for text in shown if text.isdigit()] == ["17", "4", "18"]
    assert [text for text in shown if text in ("broker 2", "none")] == ["broker 2", "none"]
    assert "partition 1" in shown


def test_what_has_no_room_is_counted():
    batch = HeldBatch(1, 100)
    held = [Buffer(0, 1, waiting=[batch] * 9, in_flight=[batch] * 3)]
    shown = words(batches.inside(held, batch_size=100))
    assert [text for text in shown if "+" in text] == ["5 +", "+ 2"]
    assert (held[0].records_waiting, held[0].records_in_flight) == (9, 3)


def test_a_departure_says_why():
    stored = [
        Namespace(base_offset=0, records=2, bytes=190),
        Namespace(base_offset=2, records=1, bytes=90),
    ]
    sent = {0: 10.0, 1: 10.001, 2: 10.002}
    ax = batches.departures(sent, stored, left=[10.002, 10.502], batch_size=200)
    assert words(ax) == [
        "2 records, full, left after 2 ms",
        "1 record, time was up, left after 500 ms",
    ]


def frame(partition, records, ms, requested=0.0):
    batches = (Namespace(partition=partition, records=records),)
    return Namespace(batches=batches, ms=ms, requested=requested)


def test_what_settings_cost_is_counted_from_the_wire():
    waits = {"linger 5 ms": [4.0, 6.0, 9.0], "no batches": [1.0]}
    frames = [frame(0, 2, 3.0), frame(0, 1, 5.0, 0.25), frame(1, 1, 2.0), frame(2, 1, 80.0)]
    table = batches.costs(waits, frames)
    assert list(table.loc["linger 5 ms"]) == [2, 1.5, 4.0, 4.0 / 1.5, 250.0, 6.0]
    (apart,) = table.loc["no batches"][table.loc["no batches"].isna()].index
    assert apart == "apart_ms"  # one request is apart from none


def test_each_setting_has_its_cost_on_every_scale():
    table = pd.DataFrame(
        {"requests": [400, 2], "each_ms": [3.0, 0.0262], "record_ms": [1_234.0, 7.44]},
        index=["no batches", "linger"],
    )
    first = batches.side_by_side(table, 400)
    scales = first.figure.axes
    assert first.get_title(loc="left") == "requests for 400 records"
    assert words(first) == ["400", "2"]
    assert words(scales[1]) == ["3", "0.026"]
    assert words(scales[2]) == ["1,234", "7.4"]
    assert [label.get_text() for label in first.get_yticklabels()] == ["no batches", "linger"]


def test_what_a_codec_leaves_is_counted_against_none():
    stored = {0: [60, 40], 1: [50], 2: [25], 3: [10]}
    cluster = Namespace(batches=lambda topic, n: [Namespace(bytes=size) for size in stored[n]])
    choices = [(None, 1_024), (None, 65_536), ("zstd", 1_024), ("zstd", 65_536)]
    kept = batches.left_of_100(cluster, "packed", choices)
    assert kept.to_dict("index") == {"zstd": {1_024: 25.0, 65_536: 20.0}}


def test_what_codecs_leave_stands_on_the_bars():
    kept = pd.DataFrame({1_024: [33.1, 47.2], 65_536: [15.7, 30.5]}, index=["gzip", "snappy"])
    ax = batches.codecs(kept)
    assert words(ax) == ["33", "47", "16", "30"]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["batch_size 1,024", "batch_size 65,536"]
