"""How long a cluster takes from nothing until all brokers are unfenced.

./course bench cluster_start [single replicated] [--runs 5] [--engine process|docker|both]
                                   [--plain] [--json]

`--plain` goes without the archive of prepared classes. `--engine both` starts the same file through
Docker too, turn and turn about, and prints the ratio of the medians.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks._progress import Progress
from kafkalab import Cluster
from kafkalab.java import aot


def measure(profile: str, engine: str) -> tuple[float, float]:
    """Seconds until the cluster is there, and seconds until nothing of it is left."""
    began = time.perf_counter()
    cluster = Cluster.start(profile, engine=engine)
    ready = time.perf_counter()
    cluster.close()
    return ready - began, time.perf_counter() - ready


def main() -> None:
    parser = argparse.ArgumentParser(prog="./course bench cluster_start")
    parser.add_argument("profiles", nargs="*", default=["single", "replicated"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--engine", choices=["process", "docker", "both"], default="process")
    parser.add_argument("--plain", action="store_true", help="without prepared classes")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ.pop("KAFKALAB_CLUSTER", None)
    if options.plain:
        os.environ["KAFKALAB_AOT"] = "off"
    else:
        aot.record("kafka")
    engines = ["process", "docker"] if options.engine == "both" else [options.engine]
    times: dict[tuple[str, str], list[tuple[float, float]]] = {}
    plan = dict.fromkeys(options.profiles, options.runs)
    with Progress(plan, lambda: show(times, options.json)) as progress:
        for profile, _ in progress.goes():
            # Engines take turns, so that a busy minute of the machine hits both.
            for engine in engines:
                times.setdefault((profile, engine), []).append(measure(profile, engine))


def show(times: dict[tuple[str, str], list[tuple[float, float]]], as_json: bool) -> None:
    results: list[dict[str, Any]] = []
    for (profile, engine), found in times.items():
        starts, ends = zip(*found, strict=True)
        figures = {"least": min(starts), "median": statistics.median(starts)}
        figures["close"] = statistics.median(ends)
        results.append({"profile": profile, "engine": engine, "runs": len(found), **figures})
    if as_json:
        print(json.dumps(results, indent=1))
        return
    table = Table("profile", "engine", "runs", "least s", "median s", "close s")
    for line in results:
        seconds = (f"{line[name]:.2f}" for name in ("least", "median", "close"))
        table.add_row(line["profile"], line["engine"], str(line["runs"]), *seconds)
    console = Console()
    console.print(table)
    for profile in dict.fromkeys(profile for profile, _ in times):
        medians = [line["median"] for line in results if line["profile"] == profile]
        if len(medians) == 2:
            ratio = medians[0] / medians[1]
            console.print(f"{profile}: processes take {ratio:.2f} of the time of Docker")


if __name__ == "__main__":
    main()
