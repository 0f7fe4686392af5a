"""What the time of one send went for: read from the frames that the gateway saw, and drawn.

Milliseconds count from the call of `send`. Other moments are Unix seconds, as in the frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from kafkalab.draw.drawing import MARK

if TYPE_CHECKING:
    from kafkalab.gateway import Frame

ID, LEADERS, RECORD = "an id for the producer", "who leads", "the record itself"
OWN, WAIT, REQUEST, PAUSE, WHOLE = "#888888", "#0072B2", "#D55E00", "#56B4E9", "#444444"
SMALL: dict[str, Any] = {"color": MARK, "fontsize": 9.5}
ABOVE: dict[str, Any] = {"ha": "center", "va": "bottom", **SMALL}
COLOURS = {"InitProducerId": REQUEST, "Metadata": WAIT, "Produce": "#009E73"}
BEHIND = {ID: REQUEST, LEADERS: WAIT, RECORD: "#009E73"}


@dataclass(frozen=True)
class Span:
    """A part of the time, and the setting that bounds it."""

    setting: str
    begin: float
    end: float
    colour: str
    words: str = ""

    @property
    def ms(self) -> float:
        """How long it took."""
        return self.end - self.begin


def waits(frames: Iterable[Frame], called: float, answered: float) -> dict[str, float]:
    """The milliseconds of a first send, by what it waited for, in the order of the answers.

    Each part reaches from one answer to the next, with all that lies between.
    """
    return {what: (end - begin) * 1000 for what, begin, end in _parts(frames, called, answered)}


def _parts(
    frames: Iterable[Frame], called: float, answered: float
) -> list[tuple[str, float, float]]:
    """What a first send waited for, from when to when."""
    ends = {ID: called, LEADERS: called}
    for frame in frames:
        what = {"InitProducerId": ID, "Metadata": LEADERS}.get(frame.api)
        if what and frame.answered is not None and called < frame.answered <= answered:
            ends[what] = max(ends[what], frame.answered)
    order = [*sorted(ends, key=ends.__getitem__), RECORD]
    moments = [called, *sorted(ends.values()), answered]
    return list(zip(order, moments, moments[1:], strict=False))


def on_the_wire(frames: Iterable[Frame], called: float, answered: float) -> Axes:
    """A row for each request of the time of one send, and behind them what the send waited for.

    A request tells whom it asked and how long it took; the part behind it also has the gaps.
    """
    frames = list(frames)
    shown = [
        frame
        for frame in frames
        if frame.answered is not None and called < frame.answered <= answered + 0.001
    ]
    end = (answered - called) * 1000
    ax = plt.subplots(figsize=(9.5, 1.7 + 0.34 * len(shown)))[1]
    for what, first, last in _parts(frames, called, answered):
        left, right = (first - called) * 1000, (last - called) * 1000
        words = f"{what}: {right - left:,.0f} ms"
        top = (len(shown) + 0.9) / (len(shown) + 1.9)  # below the legend
        ax.axvspan(left, right, ymax=top, color=BEHIND[what], alpha=0.3, lw=0, label=words)
    for row, frame in enumerate(shown):
        begin = (frame.requested - called) * 1000
        colour = COLOURS.get(frame.api, OWN)
        ax.barh(-row, max(frame.ms or 0, end / 250), left=begin, height=0.55, color=colour)
        words = f"{frame.ms:,.0f} ms" + (f": {frame.error}" if frame.error else "")
        pause = _pause(frames, frame, called) if frame.api == "Metadata" else None
        if pause is not None:
            ax.barh(-row, begin - max(pause, 0), left=max(pause, 0), height=0.2, color=PAUSE)
            said = f"a pause: the last answer is {begin - pause:,.0f} ms old"
            if begin > end / 2:
                ax.text((begin + max(pause, 0)) / 2, -row + 0.12, said, **ABOVE)
            else:
                words = f"{words}, after {said}"
        _beside(ax, -row, begin, begin + (frame.ms or 0), end, words, left=pause is None)
    ax.set_yticks(
        [-row for row in range(len(shown))],
        [f"{frame.api}, broker {frame.broker}" for frame in shown],
    )
    low = min([0.0, *((frame.requested - called) * 1000 for frame in shown)])
    ax.set_xlim(low - end / 60, end * 1.03)
    _moment(ax, 0, "send is called")
    _moment(ax, end, "acknowledged")
    ax.legend(loc="upper left", ncols=3, frameon=False, borderpad=0, handlelength=1.4)
    _finish(ax, len(shown))
    ax.set_ylim(top=2.2)
    return ax


def _pause(frames: Iterable[Frame], asked: Frame, called: float) -> float | None:
    """When the metadata came that kept the client from asking again; None where none did."""
    before = [
        frame.answered
        for frame in frames
        if frame.api == "Metadata" and frame.answered and frame.answered < asked.requested
    ]
    if not before or max(before) < called - 0.1 or asked.requested - called < 0.02:
        return None
    return (max(before) - called) * 1000


def spans(
    config: Mapping[str, Any],
    frames: Iterable[Frame],
    called: float,
    returned: float,
    decided: float,
) -> list[Span]:
    """The time of one record that got no answer, cut up by the settings that bound its parts.

    A client that gives up waiting closes the connection and asks others: its next request of any
    kind tells when.
    """
    own = [frame for frame in frames if called <= frame.requested <= decided]
    produced = [frame.requested for frame in own if frame.api == "Produce"]

    def span(setting: str, begin: float, end: float, colour: str, words: str) -> Span:
        name = f"{setting} {config[setting]:,}"
        return Span(name, (begin - called) * 1000, (end - called) * 1000, colour, words)

    found = [span("max_block_ms", called, returned, OWN, "send has not come back")]
    found.append(span("delivery_timeout_ms", returned, decided, WHOLE, "until the future fails"))
    if produced:
        found.append(span("linger_ms", returned, produced[0], WAIT, "waits for company"))
    for number, begin in enumerate(produced, 1):
        later = [frame.requested for frame in own if frame.requested > begin]
        given_up = min([*later, decided])
        words = f"sent, time {number}: no answer"
        found.append(span("request_timeout_ms", begin, given_up, REQUEST, words))
        next_one = produced[number] if number < len(produced) else decided
        if next_one > given_up:
            found.append(span("retry_backoff_ms", given_up, next_one, PAUSE, "a pause"))
    return found


def clock(parts: Sequence[Span]) -> Axes:
    """The spans as steps from left to right, each in the row of its own, with its setting."""
    ax = plt.subplots(figsize=(9.5, 1.1 + 0.32 * len(parts)))[1]
    end = max(part.end for part in parts)
    for row, part in enumerate(parts):
        whole = part.colour == WHOLE
        ax.barh(
            -row,
            max(part.ms, end / 250),
            left=part.begin,
            height=0.3 if whole else 0.6,
            color=part.colour,
        )
        words = f"{part.ms:,.0f} ms" + (f", {part.words}" if part.words else "")
        if part.ms > 0.6 * end:
            middle = part.begin + part.ms / 2
            ax.text(middle, -row + 0.2, words, **ABOVE)
        else:
            _beside(ax, -row, part.begin, part.end, end, words)
    ax.set_yticks([-row for row in range(len(parts))], [part.setting for part in parts])
    ax.set_xlim(-end / 60, end * 1.02)
    return _finish(ax, len(parts))


def _beside(
    ax: Axes, row: float, begin: float, end: float, whole: float, words: str, left: bool = True
) -> None:
    """Words on that side of a bar where there is room; `left` tells whether that side is free."""
    right = not left or begin + (end - begin) / 2 < whole / 2
    place = end + whole / 120 if right else begin - whole / 120
    ax.text(place, row, words, ha="left" if right else "right", va="center", fontsize=9.5)


def _moment(ax: Axes, ms: float, words: str) -> None:
    ax.axvline(ms, color=MARK, linestyle=(0, (3, 2)), linewidth=1, zorder=0.5)
    words = f" {words}" if ms <= 0 else f"{words} "
    ax.text(ms, 0.75, words, ha="left" if ms <= 0 else "right", va="bottom", **SMALL)


def _finish(ax: Axes, rows: int) -> Axes:
    ax.set(xlabel="milliseconds since the call of send", ylim=(-rows + 0.3, 1.3))
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    return ax
