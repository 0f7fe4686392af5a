"""How much memory a learner's machine gives to a lesson with everything in it.

./course bench memory [--json]

A real JupyterLab starts a kernel; the kernel starts `replicated`, sends and reads records, has
Spark count them, and draws a chart. Then every process is asked for its memory:

- RSS, what it has in memory, counts what processes share (libraries, the archives of Java classes)
  once for each of them;
- PSS divides what is shared among those who share it: its sum is what the machine really gives;
- USS is what would be free again if the process ended.

PSS needs Linux. Elsewhere RSS is compared with the budget, which is then the stricter test. A
browser is not in the sum.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
from jupyter_client import BlockingKernelClient
from rich.console import Console
from rich.table import Table

from kafkalab.java import aot
from kafkalab.wait import wait_until

BUDGET = 2_000  # MB of a million bytes

LESSON = """
import os
os.environ.pop("KAFKALAB_CLUSTER", None)
from kafka import KafkaAdminClient, KafkaProducer
from kafkalab import Cluster, Ledger, charts, quick, read_topic, spark_session
cluster = Cluster.start("replicated")
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
admin.create_topics(
    {"rides": {"num_partitions": 6, "replication_factor": 3}}
)
cluster.wait_for_topic("rides")
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
ledger = Ledger()
for number in range(20_000):
    ledger.sent(number, producer.send("rides", b"%0100d" % number))
ledger.settle()
ledger.read_back(cluster, "rides", identity=lambda record: int(record.value))
assert len(ledger.verdict().found) == 20_000
spark = spark_session()
rides = read_topic(spark, cluster, "rides")
assert rides.count() == 20_000
ledger.frame(spark).groupBy("partition", "state").count().toPandas()
charts.show(charts.records_per_second(rides), "Records per second.")
"""


@contextlib.contextmanager
def jupyterlab(folder: Path) -> Iterator[tuple[psutil.Process, str, str]]:
    """A JupyterLab with settings of its own; its process, address and token."""
    token = secrets.token_hex(16)
    environment = {
        **os.environ,
        "JUPYTER_RUNTIME_DIR": str(folder),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_TOKEN": token,
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ServerApp.port=0"]
    command += ["--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={folder}"]
    if os.geteuid() == 0:
        command.append("--allow-root")
    with (folder / "lab.log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        (info,) = wait_until(
            lambda: list(folder.glob("jpserver-*.json")) or None, timeout=60, what="JupyterLab"
        )
        wait_until(lambda: info.read_text("utf-8") != "", timeout=5, what="its address")
        yield psutil.Process(server.pid), json.loads(info.read_text("utf-8"))["url"], token
    finally:
        server.terminate()
        server.wait(timeout=60)


def ask(url: str, token: str, method: str = "GET") -> dict:
    request = urllib.request.Request(
        url, method=method, headers={"Authorization": f"token {token}"}, data=b"{}"
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        body = answer.read()
    return json.loads(body) if body else {}


def run_lesson(connection_file: Path) -> None:
    """Run the cell in the kernel; an error in it ends the measurement."""
    client = BlockingKernelClient(connection_file=str(connection_file))
    client.load_connection_file()
    client.start_channels()
    try:
        wait_until(
            lambda: client.kernel_info(reply=True, timeout=5),
            timeout=60,
            what="the kernel",
            not_yet=(TimeoutError,),
        )
        reply = client.execute_interactive(LESSON, timeout=240)["content"]
    finally:
        client.stop_channels()
    if reply["status"] != "ok":
        sys.exit(f"The lesson failed: {reply['ename']}: {reply['evalue']}")


def part_of(process: psutil.Process, server: int) -> str:
    command = " ".join(process.cmdline())
    if process.pid == server:
        return "JupyterLab"
    if "org.apache.spark" in command:
        return "Spark"
    if process.name().startswith("java"):
        return "Kafka: controller and three brokers"
    return "kernel" if "ipykernel" in command else "other"


def megabytes(process: psutil.Process) -> dict[str, float]:
    memory = process.memory_full_info()
    names = [name for name in ("rss", "pss", "uss") if hasattr(memory, name)]
    return {name: getattr(memory, name) / 1e6 for name in names}


def main() -> None:
    parser = argparse.ArgumentParser(prog="./course bench memory")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for name in aot.ARCHIVES:
        aot.record(name)
    with (
        tempfile.TemporaryDirectory() as folder,
        jupyterlab(Path(folder)) as (server, url, token),
    ):
        kernel = ask(f"{url}api/kernels", token, "POST")["id"]
        run_lesson(Path(folder) / f"kernel-{kernel}.json")
        parts: dict[str, dict[str, float]] = {}
        for process in [server, *server.children(recursive=True)]:
            line = parts.setdefault(part_of(process, server.pid), {"processes": 0})
            line["processes"] += 1
            for name, size in megabytes(process).items():
                line[name] = line.get(name, 0) + size
        ask(f"{url}api/kernels/{kernel}", token, "DELETE")
    names = list(next(iter(parts.values())))
    total = {name: sum(line[name] for line in parts.values()) for name in names}
    measure = "pss" if "pss" in names else "rss"
    if options.json:
        print(json.dumps({"budget": BUDGET, "measure": measure, "total": total, **parts}, indent=1))
        return
    table = Table("", "processes", *(f"{name.upper()} MB" for name in names[1:]))
    for part, line in {**parts, "together": total}.items():
        table.add_row(part, *(f"{line[name]:,.0f}" for name in names))
    console = Console()
    console.print(table)
    share = total[measure] / BUDGET
    console.print(f"{measure.upper()} {total[measure]:,.0f} of {BUDGET:,} MB: {share:.0%}")


if __name__ == "__main__":
    main()
