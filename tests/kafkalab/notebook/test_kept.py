"""What a reader answered, beside the pages."""

import threading

import pytest

from kafkalab.errors import CourseError
from kafkalab.notebook import kept


def test_outside_the_copies_it_is_kept_as_long_as_the_kernel(tmp_path, monkeypatch):
    monkeypatch.setattr(kept.page, "file", lambda: tmp_path / "elsewhere.ipynb")
    kept.keep("predictions", "a name of this test", said=3)
    assert kept.answer("predictions", "a name of this test") == {"said": 3}
    assert not list(tmp_path.iterdir())


def test_two_pages_that_answer_at_a_time_lose_nothing(on_page, work):
    on_page("03_reading")

    def answer(number):
        for turn in range(20):
            kept.keep("predictions", f"{number} {turn}", said=turn)

    threads = [threading.Thread(target=answer, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(kept.read(work)["03_reading"]["predictions"]) == 80


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pages": {"03": []}}', '{"pages": 3}'])
def test_a_damaged_file_is_told_and_left(on_page, work, text):
    on_page("03_reading")
    (work / kept.FILE).write_text(text)
    with pytest.raises(CourseError, match="cannot be read"):
        kept.keep("predictions", "records", said=3)
    assert (work / kept.FILE).read_text() == text


def test_a_fresh_page_has_no_answers(on_page, work):
    for name in ("03_reading", "04_producers"):
        on_page(name)
        kept.keep("predictions", "records", said=3)
    kept.forget(work, "03_reading")
    kept.forget(work, "05_batches")
    assert set(kept.read(work)) == {"04_producers"}
