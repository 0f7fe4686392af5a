"""What a cell showed, as it is kept: whole where it is looked at, and never beyond its bounds."""

import os

import matplotlib.pyplot as plt
import pytest
from nbformat.v4 import new_output

from grading.run.outputs import MOST_PICTURE, MOST_TEXT, capped, shown
from kafkalab.draw.picture import picture


def test_a_picture_of_the_course_is_kept_whole():
    _, ax = plt.subplots()
    ax.imshow([[*os.urandom(200)] for _ in range(200)])
    output = shown(picture(ax, "Noise."))
    assert MOST_TEXT < len(output.data["text/html"]) < MOST_PICTURE
    (kept,) = capped([output])
    assert kept.data == output.data


@pytest.mark.parametrize("page", ["<b>" * MOST_PICTURE, 7, None, ["<b>"]])
def test_of_what_is_no_page_or_too_long_the_words_stay(page):
    output = new_output("display_data", {"text/plain": "150 records"})
    output.data["text/html"] = page  # nobody asks a student's kernel for good form
    (kept,) = capped([output])
    assert kept.data == {"text/plain": "150 records"}


def test_a_long_text_keeps_its_ends():
    (kept,) = capped([new_output("stream", text=f"first{'.' * 10 * MOST_TEXT}last")])
    assert len(kept.text) < MOST_TEXT + 100
    assert kept.text.startswith("first")
    assert kept.text.endswith("last")
