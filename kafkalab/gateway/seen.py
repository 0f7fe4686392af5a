"""What the gateway saw: one record for each request, with the answer that it got."""

from __future__ import annotations

import datetime
from collections import Counter
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from kafkalab import tables
from kafkalab.gateway import apis
from kafkalab.gateway.fetched import Fetched
from kafkalab.gateway.produced import SentBatch

if TYPE_CHECKING:
    import pandas

SHOWN = 20
CARRIED = ("batches", "fetched")
COLUMNS = ("time", "client_id", "broker", "api", "request_bytes", "response_bytes", "ms", "outcome")


@dataclass(frozen=True, slots=True)
class Frame:
    """A request and its answer; sizes with the four bytes of length, times in Unix seconds.

    `outcome` is `answered`; `unasked` (a produce request with acks=0 wants no answer); `open` (no
    answer yet); `lost` (its connection ended before); `dropped` (the answer was withheld on order);
    `refused` (the request itself was not handed on); `held` (it waits at the gateway) and then
    `late` (the broker has it, its client did not wait for it).

    `batches` are the heads of what a produce request carries, `fetched` the records that a client
    gets for a fetch request (empty for what nodes fetch from each other). `error_code` is known of
    answers to the question for a producer id alone; 0 stands for none.

    `source` is the node that sent it, for what nodes send to each other.
    """

    connection: int
    broker: int
    between: str
    source: int | None
    api_key: int
    api: str
    version: int
    correlation_id: int
    client_id: str | None
    request_bytes: int
    response_bytes: int | None
    requested: float
    answered: float | None
    outcome: str
    acks: int | None
    transactional_id: str | None
    group: str | None
    error_code: int | None
    batches: tuple[SentBatch, ...] = ()
    fetched: tuple[Fetched, ...] = ()

    @classmethod
    def of(cls, line: list[Any]) -> Frame:
        """From a line of the gateway's process."""
        *fields, batches, fetched = line
        fields.insert(5, apis.names().get(fields[4], f"API {fields[4]}"))
        fields.append(tuple(SentBatch(*batch) for batch in batches))
        fields.append(tuple(Fetched(*some) for some in fetched))
        return cls(*fields)

    @property
    def error(self) -> str | None:
        """What the answer refused, by Kafka's name of it."""
        return apis.error(self.error_code) if self.error_code else None

    @property
    def ms(self) -> float | None:
        """From the whole request at the gateway to the whole answer on its way to the client."""
        return None if self.answered is None else (self.answered - self.requested) * 1000


class Frames(list[Frame]):
    """Frames in the order of their requests."""

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each frame, times as timestamps in UTC."""
        import pandas

        names = [name for name in Frame.__dataclass_fields__ if name not in CARRIED]
        rows = [[getattr(frame, name) for name in names] for frame in self]
        table = pandas.DataFrame(rows, columns=names)
        table["ms"] = [frame.ms for frame in self]
        for name in ("requested", "answered"):
            table[name] = pandas.to_datetime(table[name].astype(float), unit="s", utc=True)
        return table

    def batches(self) -> pandas.DataFrame:
        """One row for each batch that a producer sent, the same one again where it sent it again.

        `outcome` and `broker` are those of its request.
        """
        import pandas

        names = list(SentBatch.__dataclass_fields__)
        rows = [
            (frame.client_id, frame.broker, *astuple(batch), frame.outcome)
            for frame in self
            for batch in frame.batches
        ]
        return pandas.DataFrame(rows, columns=["client_id", "broker", *names, "outcome"])

    def __repr__(self) -> str:
        counts = Counter(frame.api for frame in self).most_common()
        return f"{len(self)} frames" + "".join(f", {count} {api}" for api, count in counts)

    def _repr_html_(self) -> str:
        rows = [
            (
                datetime.datetime.fromtimestamp(frame.requested).strftime("%H:%M:%S.%f")[:-3],
                frame.client_id,
                frame.broker,
                f"{frame.api} {frame.version}",
                frame.request_bytes,
                frame.response_bytes,
                None if frame.ms is None else f"{frame.ms:.1f}",
                frame.error or frame.outcome,
            )
            for frame in self[:SHOWN]
        ]
        more = f"; the first {SHOWN}" if len(self) > SHOWN else ""
        return tables.html(repr(self) + more, COLUMNS, rows)
