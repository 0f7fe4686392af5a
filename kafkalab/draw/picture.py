"""A drawing with words for those who do not see it."""

from __future__ import annotations

import base64
import io
import textwrap
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text


class Picture:
    """What a cell shows: the drawing where there is a screen for it, the text where there is none.

    It is sent as HTML because that is the form in which both JupyterLab and nbconvert keep a
    text alternative; JupyterLab drops the one that goes with a plain PNG.
    """

    def __init__(self, png: bytes, width: int, text: str) -> None:
        self.png = png
        self.width = width
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.png).decode("ascii")
        alternative = escape(" ".join(self.text.split()), quote=True)
        source = f"data:image/png;base64,{data}"
        return f'<img alt="{alternative}" width="{self.width}" src="{source}">'


def show(ax: Axes, text: str) -> None:
    """Show a finished chart below its cell, wherever in the cell this call stands.

    `text` says what the chart shows, for those who cannot see it.
    """
    from IPython.display import display

    display(picture(ax, text))


def picture(ax: Axes, text: str) -> Picture:
    """A finished chart with its words.

    The figure is closed: Jupyter would otherwise draw it a second time, without the text.
    """
    import matplotlib.pyplot as plt

    if not text.strip():
        raise ValueError("A picture needs a text for those who cannot see it.")
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ValueError("The axes have been taken out of their figure.")
    for each in figure.axes:
        _fold_title(figure, each)
    drawing = io.BytesIO()
    # Without the version of the drawing program the same data gives the same bytes.
    figure.savefig(drawing, format="png", metadata={"Software": None})
    plt.close(figure)
    return Picture(drawing.getvalue(), round(figure.get_figwidth() * 100), text)


def _fold_title(figure: Figure, ax: Axes) -> None:
    """Break a title that is wider than the figure, where it would be cut."""
    names = ("_left_title", "title", "_right_title")  # the one that is used, whichever it is
    titles: list[Text] = [getattr(ax, name) for name in names]
    title = next((text for text in titles if text.get_text()), None)
    if title is None:
        return
    figure.draw_without_rendering()
    words, room = title.get_text(), figure.bbox.width - ax.bbox.x0 - 5
    letters = len(words)
    while title.get_window_extent().width > room and letters > 20:
        letters -= 2
        title.set_text(textwrap.fill(words, letters))
