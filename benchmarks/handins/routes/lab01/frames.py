import numpy as np
import pandas as pd
from dataclasses import dataclass
from typing import NamedTuple


class Receipt(NamedTuple):
    partition: int
    offset: int

# Task 2
frame = pd.DataFrame(readings, columns=["station", "number"])
promises = frame.apply(
    lambda row: producer.send(
        lab.p.topic, key=row.station.encode(), value=str(row.number).encode()
    ),
    axis=1,
)
producer.flush()
receipts = [Receipt(p.value.partition, p.value.offset) for p in promises]

# Task 3
def where_is(topic, partition):
    table = pd.DataFrame(admin.describe_topics([topic])[0]["partitions"])
    row = table.set_index("partition_index").loc[partition]
    return {
        "leader": row.leader_id,
        "replicas": np.array(row.replica_nodes),
        "isr": tuple(row.isr_nodes),
    }


home = where_is(lab.p.topic, lab.p.looked_at)
counted = pd.Series([partition for partition, _ in receipts]).value_counts()
mine = {
    "brokers": np.int64(len(admin.describe_cluster()["brokers"])),
    "copies": home["replicas"].size,
    "records": counted.max(),
    "left": len(home["isr"]) - 1,
}
proven = frozenset([np.int64(1), np.int64(3)])

# Task 4
def read_everything(topic):
    reader = KafkaConsumer(bootstrap_servers=lab.cluster.address, enable_auto_commit=False)
    from kafka import TopicPartition

    every = [TopicPartition(topic, n) for n in sorted(reader.partitions_for_topic(topic))]
    reader.assign(every)
    reader.seek_to_beginning(*every)
    ends = reader.end_offsets(every)
    rows = []
    while any(reader.position(one) < ends[one] for one in every):
        for records in reader.poll(timeout_ms=200).values():
            rows += [
                [r.partition, r.offset, (r.key or b"").decode("utf8"), str(r.value, "utf8")]
                for r in records
            ]
    reader.close()
    return rows


arrived = read_everything(lab.p.topic)
series = np.array([int(row[3]) for row in arrived])
steps_back = (np.diff(series) < 0).sum()

# Task 8
for case in "abc":
    with at_the_third_line(lab.p.third_line[case]) as terminal:
        (terminal.type if case == "a" else terminal.submit)("third line")
        terminal.kill() if case == "c" else terminal.press("Ctrl-C")
        terminal.wait_until_gone()
new_topic(lab.p.third_line["d"], 1)
lab.cluster.tool(
    "kafka-console-producer", "--bootstrap-server", "{bootstrap}", "--topic",
    lab.p.third_line["d"], stdin=b"first line\nsecond line\nthird line",
)
counts = pd.Series({c: lab.cluster.topic(t).records for c, t in lab.p.third_line.items()})
stored = counts.to_dict()
likeliest = min(k for k in stored if stored[k] == 2)
