from kafka.producer.future import RecordMetadata

# Task 2
def send_flowers(pair_topic, lone_topic):
    """Keeps the promises, and returns when the last of them is kept."""
    promises, told = [], []
    for row, flower in enumerate(flowers, start=1):
        pair = [float(flower["sepal_length"]), float(flower["sepal_width"])]
        goal = {"topic": lone_topic}
        if flower["class"] != "Iris-versicolor":
            goal = {"topic": pair_topic, "partition": lab.p.partition_of[flower["class"]]}
        promise = producer.send(
            **goal, value=json.dumps(pair).encode(), headers=[("row", f"{row}".encode())]
        )
        promises.append(promise)
        told.append(" ".join([str(row), flower["class"], str(pair)]))
    metadata = [promise.get(timeout=20) for promise in promises]
    assert all(isinstance(one, RecordMetadata) for one in metadata)
    return told


lines = send_flowers(lab.p.pair_topic, lab.p.lone_topic)
print(f"{len(lines)} lines:", *lines, sep="\n  ")

# Task 3
def read_flowers(places, idle, name):
    consumer = KafkaConsumer(client_id=name, bootstrap_servers=[lab.cluster.address])
    partitions = [TopicPartition(t, p) for t, p in places]
    consumer.assign(partitions)
    for partition, start in consumer.beginning_offsets(partitions).items():
        consumer.seek(partition, start)
    found, quiet_since = [], time.monotonic()
    while (left := idle - (time.monotonic() - quiet_since)) > 0:
        for records in consumer.poll(timeout_ms=int(1000 * left) + 1, max_records=40).values():
            quiet_since = time.monotonic()
            found.extend(
                {
                    "offset": record.offset,
                    "partition": record.partition,
                    "topic": record.topic,
                    "pair": json.loads(record.value),
                    "row": int(record.headers[0][1]),
                }
                for record in records
            )
    consumer.close()
    return found


jobs = {"all": [(t, n) for n in (1, 0) for t in (lab.p.lone_topic, lab.p.pair_topic)]}
for label, number in lab.p.partition_of.items():
    jobs[label.split("-")[1]] = [(lab.p.pair_topic, number)]
consumed, seconds = {}, {}
for name in ("setosa", "virginica", "all"):
    clock = time.monotonic()
    consumed[name] = read_flowers(jobs[name], idle_seconds, name)
    seconds[name] = round(time.monotonic() - clock, 2)

# Task 4
header = "Topic | Partition | Value"
listing = [header, *(f"{r['topic']} | {r['partition']} | {tuple(r['pair'])}" for r in consumed["all"])]
palette = {("pair", n): c for n, c in zip(
    (lab.p.partition_of["Iris-virginica"], lab.p.partition_of["Iris-setosa"]), ("red", "blue")
)}
points = []
for r in consumed["all"]:
    kind = "pair" if r["topic"] == lab.p.pair_topic else "lone"
    points.append([r["pair"][0], r["pair"][1], palette.get((kind, r["partition"]), "green")])
from pyspark.sql import Row

frame = spark.createDataFrame([Row(length=a, width=b, colour=c) for a, b, c in points])
ax = charts.scatter_by_class(frame, "length", "width", "colour")
greens = frame.where("colour = 'green'").count()
ax.set_title(f"{greens} of {frame.count()} are green")
charts.show(ax, f"Lengths and widths of {frame.count()} records")
