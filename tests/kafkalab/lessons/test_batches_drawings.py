"""The drawings of a producer: its buffers, the departures of its batches, what settings do."""

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


def test_every_pair_of_settings_has_its_measure_in_every_grid():
    rows = [(0, 16, 1.0, 2.5), (0, 32, 1.0, 2.0), (50, 16, 4.0, 30.0), (50, 32, 8.0, 1_234.0)]
    frame = pd.DataFrame(rows, columns=["linger_ms", "batch_size", "records", "wait_ms"])
    measures = {"records": "records in a batch", "wait_ms": "milliseconds"}
    first = batches.settings_grids(frame, "linger_ms", "batch_size", measures)
    grids = first.figure.axes
    assert [ax.get_title(loc="left") for ax in grids] == ["records in a batch", "milliseconds"]
    assert words(first) == ["1", "4", "1", "8"]  # from the smaller size on
    assert words(grids[1]) == ["2.5", "30", "2", "1,234"]
    assert [label.get_text() for label in first.get_xticklabels()] == ["0", "50"]
    assert first.get_ylabel() == "batch size"


def test_settings_without_rows_say_so():
    frame = pd.DataFrame(columns=["linger_ms", "batch_size", "records"])
    ax = batches.settings_grids(frame, "linger_ms", "batch_size", {"records": "records"})
    assert words(ax)
