"""One attempt, in a process of its own, so that it can be ended at its time limit.

    python -m kafkalab.setup.doctor.trial broker|spark|jupyterlab

The last line of its output is what came of it. Whatever it starts ends with it, however it ends:
a cluster by its watcher, Spark's Java and JupyterLab by a pipe.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import asdict

from kafkalab.errors import CourseError
from kafkalab.machine import lifeline
from kafkalab.setup.doctor import jupyterlab
from kafkalab.setup.doctor.diagnosis import AGAIN, Diagnosis

TOPIC = "doctor"
RECORD = b"one record"


def broker() -> str:
    """Start one broker, send a record, read it."""
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

    from kafkalab import Cluster, quick

    with Cluster.start("single", engine="process") as cluster:
        address = cluster.address
        admin = KafkaAdminClient(bootstrap_servers=address, **quick.admin)
        admin.create_topics({TOPIC: {"num_partitions": 1, "replication_factor": 1}})
        admin.close()
        cluster.wait_for_topic(TOPIC)
        producer = KafkaProducer(bootstrap_servers=address, **quick.producer)
        producer.send(TOPIC, RECORD).get(timeout=20)
        producer.close()
        consumer = KafkaConsumer(
            TOPIC,
            bootstrap_servers=address,
            auto_offset_reset="earliest",
            consumer_timeout_ms=20_000,
            **quick.consumer,
        )
        read = next((record.value for record in consumer), None)
        consumer.close()
        if read != RECORD:
            raise CourseError(
                "A record was sent and did not come back.",
                f"Read was {read!r}.",
                "See what the broker wrote: ./course up single, then ./course logs broker",
            )
        return f"ready in {cluster.started_in:.1f} s; a record was sent and read at {address}"


def spark() -> str:
    """Start Spark and let it count."""
    from kafkalab import spark_session

    began = time.monotonic()
    session = spark_session("doctor")
    total = int(session.range(100).toPandas()["id"].sum())
    session.stop()
    if total != 4950:
        raise CourseError("Spark counts wrongly.", f"0 to 99 add up to {total}.", "./course setup")
    return f"an answer after {time.monotonic() - began:.0f} s"


TRIALS = {"broker": broker, "spark": spark, "jupyterlab": jupyterlab.open_a_page}


def outcome(name: str) -> Diagnosis:
    """Make one attempt; what a person needs to know of it."""
    try:
        return Diagnosis(name, "good", TRIALS[name]())
    except CourseError as error:
        return Diagnosis(name, "bad", error.what, error.why, error.mend)
    except Exception as error:
        return Diagnosis(
            name, "bad", f"failed with {type(error).__name__}", root(str(error)), AGAIN
        )


def root(text: str) -> str:
    """The line that tells most: Java names the cause of a cause last, and shows a page of calls."""
    lines = text.strip().splitlines() or ["It says nothing."]
    causes = [line.strip() for line in lines if line.strip().startswith("Caused by: ")]
    return (causes or lines)[-1 if causes else 0][:400]


if __name__ == "__main__":
    # What was started is ended on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    lifeline.hold(lifeline.end)
    print(json.dumps(asdict(outcome(sys.argv[1]))), flush=True)
