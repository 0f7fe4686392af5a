"""Why a client cannot reach a cluster: the steps it takes, one after the other.

A client connects twice. It asks the address it was given (bootstrap) who the brokers are, and then
talks to the addresses that these brokers advertise. The second step fails where the first works
when brokers advertise a name or a port that means nothing where the client runs; see `listeners`
and `advertised.listeners` in Kafka's documentation of broker settings.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkalab.cluster import wire
from kafkalab.engine import slot
from kafkalab.errors import CourseError
from kafkalab.setup.doctor.diagnosis import Diagnosis


def trace(address: str) -> Iterator[Diagnosis]:
    """One finding for each step of a client that bootstraps from `HOST:PORT`.

    Ends at the first step that fails; the advertised addresses are all tried.
    """
    try:
        wire.answering(address)
    except CourseError as error:
        yield Diagnosis(f"bootstrap {address}", "bad", error.what, error.why, _mend(address, error))
        return
    yield Diagnosis(
        f"bootstrap {address}", "good", "a broker answers and tells who is in the cluster"
    )
    for node, advertised in sorted(wire.brokers(wire.metadata(address)).items()):
        subject = f"broker {node} at {advertised}"
        try:
            wire.answering(advertised)
        except CourseError as error:
            yield Diagnosis(
                subject,
                "bad",
                error.what,
                f"Bootstrap worked, but broker {node} advertises {advertised}, and a client here "
                f"cannot use that. {error.why}",
                "Let advertised.listeners of that broker name an address that holds where the "
                "client runs.",
            )
        else:
            yield Diagnosis(subject, "good", "answers at the address that it advertises")


def _mend(address: str, error: CourseError) -> str:
    if port := address.rpartition(":")[2]:
        known = [text for text in _known() if f":{port}" in text]
        if not known and (running := _known()):
            return "Clusters of this course are at " + "; ".join(running)
    return error.mend or "Start a cluster: ./course up replicated"


def _known() -> list[str]:
    return [
        ",".join(record["addresses"].values())
        for record in slot.records()
        if record["held"] and record.get("addresses")
    ]
