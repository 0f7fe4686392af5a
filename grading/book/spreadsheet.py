"""Tables as spreadsheets and learning platforms write them, read and written without a loss."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grading.keep.words import as_number
from kafkalab.errors import CourseError

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
DELIMITERS = ",;\t"
MARK = "\ufeff"


@dataclass
class Table:
    """A header and rows, with the way in which the file separates them."""

    header: list[str]
    rows: list[list[str]]
    delimiter: str = ","
    mark: str = MARK
    """What Excel needs to see UTF-8, where the file begins with it."""
    lines: list[int] = field(default_factory=list)
    """The line of the file on which each row ends."""

    def column(self, *names: str) -> int | None:
        """The place of the first of these columns that is there, however it is capitalised."""
        plain = [" ".join(name.split()).casefold() for name in self.header]
        return next((plain.index(n.casefold()) for n in names if n.casefold() in plain), None)

    def cell(self, row: Sequence[str], *names: str) -> str:
        """What stands in one of these columns; "" where there is none."""
        at = self.column(*names)
        return row[at].strip() if at is not None and at < len(row) else ""

    def text(self) -> str:
        """As a file. A row of the platform's own stays as it was."""
        written = io.StringIO()
        writer = csv.writer(written, delimiter=self.delimiter)
        writer.writerows([self.header, *self.rows])
        return self.mark + written.getvalue()


def read(path: Path) -> Table:
    """A table from a file; a CourseError where there is none."""
    try:
        text = path.read_bytes().decode()
        mark = MARK if text.startswith(MARK) else ""
        text = text.removeprefix(MARK)
        delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        rows = [(reader.line_num, row) for row in reader if any(map(str.strip, row))]
    except OSError as error:
        raise CourseError(
            f"{path} cannot be opened.", f"The system says: {error.strerror}.", "Name the table."
        ) from None
    except UnicodeDecodeError:
        raise CourseError(
            f"{path} is not text in UTF-8.", "", 'Save it as "CSV UTF-8" in your spreadsheet.'
        ) from None
    except csv.Error as error:
        raise CourseError(f"{path} is no table.", f"{error}.", "Save it as CSV.") from None
    if not rows:
        raise CourseError(f"{path} is empty.", "", "It needs a line with the names of columns.")
    (_, header), *others = rows
    return Table(header, [row for _, row in others], delimiter, mark, [n for n, _ in others])


def made(header: Iterable[str], rows: Iterable[Iterable[object]], mark: str = MARK) -> Table:
    """A table of ours; none of its cells can become a formula."""
    cells = [[str(guarded(cell)) for cell in row] for row in rows]
    return Table(list(header), cells, mark=mark)


def guarded(cell: object) -> object:
    """Text that a spreadsheet would take for a formula gets a mark in front."""
    if isinstance(cell, str) and cell.startswith(FORMULA):
        return f"'{cell}"
    if isinstance(cell, float):
        return as_number(cell)
    return "" if cell is None else cell
