import json

from kafkalab.spark.session import read_topic, spark_session

# Task 3
def where_is(topic, partition):
    """By the tool of the console."""
    told = lab.cluster.tool(
        "kafka-topics", "--bootstrap-server", "{bootstrap}", "--describe", "--topic", topic
    ).stdout
    for line in told.splitlines():
        fields = dict(p.split(": ", 1) for p in line.strip().split("\t") if ": " in p)
        if fields.get("Partition") == str(partition):
            return {
                "leader": int(fields["Leader"]),
                "replicas": [int(n) for n in fields["Replicas"].split(",")],
                "isr": [int(n) for n in fields["Isr"].split(",")],
            }
    raise LookupError(partition)


home = json.loads(json.dumps(where_is(lab.p.topic, lab.p.looked_at)))
from collections import Counter

mine = {
    "brokers": 3,
    "copies": len(home["replicas"]),
    "records": max(Counter(place[0] for place in receipts).values()),
    "left": len(home["isr"][1:]),
}
proven = {n for n, is_shown in {1: True, 2: False, 3: True, 4: False}.items() if is_shown}

# Task 7
import re

to_notes = ["--bootstrap-server", "{bootstrap}", "--topic", lab.p.notes_topic]
for line in lab.p.lines:
    lab.cluster.tool("kafka-console-producer", *to_notes, stdin=line.encode() + b"\n")
lab.cluster.tool("kafka-console-producer", *to_notes, stdin=b"\n" * lab.p.empty)
seen = lab.cluster.tool(
    "kafka-console-consumer", *to_notes, "--from-beginning", "--timeout-ms", "5000"
)
(counted,) = map(int, re.findall(r"total of (\d+) messages", seen.stderr + seen.stdout))

# Task 8
def play(case):
    topic = lab.p.third_line[case]
    match case:
        case "d":
            new_topic(topic, partitions=1)
            lab.cluster.tool(
                "kafka-console-producer", "--bootstrap-server", "{bootstrap}", "--topic", topic,
                stdin=b"\n".join([b"first line", b"second line", b"third line"]),
            )
        case "a" | "b" | "c":
            terminal = at_the_third_line(topic)
            terminal.type("third line") if case == "a" else terminal.submit("third line")
            terminal.kill() if case == "c" else terminal.press("Ctrl-C")
            terminal.wait_until_gone(timeout=60)
    return read_topic(spark_session("mine"), lab.cluster, topic).count()


stored = {case: play(case) for case in sorted(lab.p.third_line)}
likeliest = next(case for case, count in stored.items() if count == 2)
