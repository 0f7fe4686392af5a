"""Plans of systems that no lesson runs as a whole: they say what stands where, and nothing more."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from kafkalab.diagrams.canvas import ADDED, GIVEN
from kafkalab.diagrams.plan import plan
from kafkalab.errors import CourseError

HUB = "event hub: topics"

ARCHITECTURES: dict[str, dict[str, Any]] = {
    "batch": {
        "columns": [
            ["web shop", "sensors"],
            ["nightly import"],
            ["data lake"],
            ["reports, a day old"],
        ],
        "arrows": [
            ("web shop", "nightly import"),
            ("sensors", "nightly import"),
            ("nightly import", "data lake"),
            ("data lake", "reports, a day old"),
        ],
        "colours": {"nightly import": ADDED},
    },
    "hub": {
        "columns": [["web shop", "sensors"], [HUB], ["stream consumer", "data lake"], ["reports"]],
        "arrows": [
            ("web shop", HUB, "events"),
            ("sensors", HUB, "events"),
            (HUB, "stream consumer"),
            (HUB, "data lake"),
            ("data lake", "reports"),
        ],
        "colours": {HUB: GIVEN},
    },
    "velocity": {
        "columns": [
            ["web shop", "sensors"],
            [HUB],
            ["stream analytics", "data lake"],
            ["dashboard, seconds old", "alerting service", "reports, a day old"],
        ],
        "arrows": [
            ("web shop", HUB, "events"),
            ("sensors", HUB, "events"),
            (HUB, "stream analytics"),
            (HUB, "data lake"),
            ("stream analytics", "dashboard, seconds old"),
            ("stream analytics", "alerting service"),
            ("data lake", "reports, a day old"),
        ],
        "colours": {HUB: GIVEN, "stream analytics": ADDED},
    },
    "microservices": {
        "columns": [
            ["order store", "payment store", "stock store"],
            ["order service", "payment service", "stock service"],
            [HUB],
        ],
        "arrows": [
            *((f"{name} service", f"{name} store") for name in ("order", "payment", "stock")),
            *((f"{name} service", HUB, "events") for name in ("order", "payment", "stock")),
            *((HUB, f"{name} service") for name in ("order", "payment", "stock")),
        ],
        "colours": {HUB: GIVEN},
        "between": 1.0,
    },
}

STAGES: dict[str, dict[str, Any]] = {
    "direct": {
        "columns": [["truck 11", "truck 12"], ["Kafka topic truck_position"], ["consumer"]],
        "arrows": [
            ("truck 11", "Kafka topic truck_position", "produce"),
            ("truck 12", "Kafka topic truck_position", "produce"),
            ("Kafka topic truck_position", "consumer"),
        ],
        "colours": {"Kafka topic truck_position": GIVEN},
    },
    "mqtt": {
        "columns": [
            ["truck 11", "truck 12"],
            ["MQTT broker"],
            ["Kafka topic truck_position, empty"],
        ],
        "arrows": [
            ("truck 11", "MQTT broker", "publish"),
            ("truck 12", "MQTT broker", "publish"),
        ],
        "colours": {"Kafka topic truck_position, empty": ADDED},
    },
    "connect": {
        "columns": [
            ["truck 11", "truck 12"],
            ["MQTT broker"],
            ["Connect: source task"],
            ["Kafka topic truck_position"],
        ],
        "arrows": [
            ("truck 11", "MQTT broker", "publish"),
            ("truck 12", "MQTT broker", "publish"),
            ("MQTT broker", "Connect: source task", "subscribe"),
            ("Connect: source task", "Kafka topic truck_position", "produce"),
        ],
        "colours": {"Connect: source task": ADDED, "Kafka topic truck_position": GIVEN},
    },
}

CORE = "brokers and controllers"
CLIENTS = "clients and command-line tools"


def architecture(name: str) -> Axes:
    """`batch`, `hub`, `velocity` or `microservices`: where the events of a company go."""
    return _chosen(ARCHITECTURES, name, "architecture")


def truck_stage(name: str) -> Axes:
    """`direct`, `mqtt` or `connect`: how the positions of trucks come into Kafka, or do not."""
    return _chosen(STAGES, name, "stage of the trucks' way", between=1.05)


def ecosystem() -> Axes:
    """Kafka's core, and what stands around it."""
    beside = ["schema registry", "REST proxy"]
    return plan(
        [
            ["database", "files", "devices"],
            ["Connect, source side"],
            [*beside[:1], CORE, CLIENTS, *beside[1:]],
            ["Connect, sink side", "Streams, Spark, Flink", "MirrorMaker"],
            ["search index, data lake", "derived topics", "another cluster"],
        ],
        [
            *((name, "Connect, source side") for name in ("database", "files", "devices")),
            ("Connect, source side", CORE),
            ("schema registry", CORE),
            (CLIENTS, CORE),
            (CORE, "Connect, sink side"),
            (CORE, "Streams, Spark, Flink"),
            (CORE, "MirrorMaker"),
            ("REST proxy", CLIENTS),
            ("Connect, sink side", "search index, data lake"),
            ("Streams, Spark, Flink", "derived topics"),
            ("MirrorMaker", "another cluster"),
        ],
        colours={CORE: GIVEN, CLIENTS: GIVEN},
        frames={"core": [CORE, CLIENTS]},
        between=0.5,
        gap=0.45,
    )


def _chosen(known: dict[str, dict[str, Any]], name: str, what: str, **room: float) -> Axes:
    if name not in known:
        raise CourseError(f"There is no {what} called {name!r}.", f"There are {', '.join(known)}.")
    return plan(**room | known[name])
