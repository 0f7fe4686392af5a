"""A hand-in that was made from another version of the lab is told, and costs nothing by itself."""

import json
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from grading.define import edition
from grading.handin import versions
from grading.handin.intake import collect


def hand_in(folder: Path, solved: NotebookNode, student: str, **words: object) -> None:
    """Put a notebook there that carries these words of the course."""
    solved.metadata["kafka_course"] = {"source": "grading/labs/90_tiny/lab.py", **words}
    nbformat.write(solved, folder / f"{student}.ipynb")


def test_each_other_version_is_told_once_with_those_who_have_it(tiny, blank, solved, tmp_path):
    now = edition.text_of(blank)
    hand_in(tmp_path, solved, "anna", edition="0.1.0+ab", version=1, text=now)
    hand_in(tmp_path, solved, "ben", edition="0.0.9+cd", version=3, text="")
    hand_in(tmp_path, solved, "carl", edition="0.0.9+cd", version=3, text="")
    hand_in(tmp_path, solved, "dora", edition="0.1.0+ef", version=1, text="another")
    hand_in(tmp_path, solved, "emma")
    noted, told = versions.noted(tiny, collect(tmp_path, tiny.name).submissions)
    cost = "that alone costs nothing"
    other = "The notebook was made from version 3 of the lab, and this is version 1"
    text = "The notebook was made from another text of version 1 of the lab than this one"
    assert told == [
        f"ben, carl: {other} (edition 0.0.9+cd); {cost}",
        f"dora: {text} (edition 0.1.0+ef); {cost}",
    ]
    notes = {one.student: one.notes for one in noted}
    assert notes["anna"] == notes["emma"] == ()
    assert notes["ben"] == (f"{other} (edition 0.0.9+cd); {cost}",)
    assert {one.refusal for one in noted} == {None}


@pytest.mark.parametrize(
    "words",
    [
        {"edition": 1, "version": 1, "text": "x"},
        {"edition": "e", "version": "2", "text": "x"},
        {"edition": "e", "version": True, "text": "x"},
        {"edition": "e", "version": 2},
        {"edition": ["e"], "version": 2, "text": {}},
    ],
)
def test_words_of_another_form_are_no_stamp(tiny, solved, tmp_path, words):
    hand_in(tmp_path, solved, "anna", **words)
    assert versions.noted(tiny, collect(tmp_path, tiny.name).submissions)[1] == []


def test_an_edition_knows_its_version_without_its_masters(tiny, blank, course, tmp_path):
    """As `check` there compares it: the built notebook carries what it was given out with."""
    root = tmp_path / "edition"
    place = replace(tiny.place, root=root)
    place.student.mkdir(parents=True)
    stamp = edition.stamp_of(tiny, "0.1.0+ab")
    with_navigation = nbformat.from_dict({**blank, "cells": [*blank.cells, blank.cells[0]]})
    text = nbformat.writes(with_navigation).encode()
    place.notebook.write_bytes(edition.stamped(text, stamp))
    lab = replace(tiny, place=place)
    given_out = edition.Stamp.read(json.loads(Path(place.notebook).read_text("utf-8")))
    assert edition.told(lab, [given_out, replace(stamp, version=2), None])[::2] == ["", ""]
    assert "version 2 of the lab" in edition.told(lab, [replace(stamp, version=2)])[0]
