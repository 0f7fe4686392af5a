"""How long a cluster takes from nothing until all brokers are unfenced.

python -m benchmarks.cluster_start [single replicated] [--runs 5] [--engine process|docker|both]
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

from rich.console import Console
from rich.table import Table

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
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_start")
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
    results = []
    for profile in options.profiles:
        # Engines take turns, so that a busy minute of the machine hits both.
        times = {engine: [] for engine in engines}
        for _ in range(options.runs):
            for engine in engines:
                times[engine].append(measure(profile, engine))
        for engine in engines:
            starts, ends = zip(*times[engine], strict=True)
            results.append(
                {
                    "profile": profile,
                    "engine": engine,
                    "runs": options.runs,
                    "least": min(starts),
                    "median": statistics.median(starts),
                    "close": statistics.median(ends),
                }
            )
    if options.json:
        print(json.dumps(results, indent=1))
        return
    table = Table("profile", "engine", "runs", "least s", "median s", "close s")
    for line in results:
        figures = (f"{line[name]:.2f}" for name in ("least", "median", "close"))
        table.add_row(line["profile"], line["engine"], str(line["runs"]), *figures)
    console = Console()
    console.print(table)
    for profile in options.profiles if len(engines) == 2 else []:
        ours, theirs = (line["median"] for line in results if line["profile"] == profile)
        console.print(f"{profile}: processes take {ours / theirs:.2f} of the time of Docker")


if __name__ == "__main__":
    main()
