from concurrent.futures import ThreadPoolExecutor

# Task 3
def read_flowers(places, idle, name):
    with KafkaConsumer(
        bootstrap_servers=lab.cluster.address,
        client_id=name,
        consumer_timeout_ms=1000 * idle,
        value_deserializer=json.loads,
    ) as reader:
        wanted = [TopicPartition(topic=t, partition=p) for t, p in places]
        reader.assign(wanted)
        reader.seek_to_beginning(*wanted)
        return [
            dict(row=int(dict(m.headers)["row"]), topic=m.topic, partition=m.partition,
                 offset=m.offset, pair=m.value)
            for m in reader
        ]


pair_topic, lone_topic = lab.p.pair_topic, lab.p.lone_topic
wanted = {
    "all": [(t, n) for t in (pair_topic, lone_topic) for n in range(2)],
    **{
        short: [(pair_topic, lab.p.partition_of["Iris-" + short])]
        for short in ("setosa", "virginica")
    },
}


def timed_read(name):
    start = time.monotonic()
    found = read_flowers(wanted[name], idle_seconds, name)
    return found, time.monotonic() - start


with ThreadPoolExecutor(3) as pool:
    both = dict(zip(wanted, pool.map(timed_read, wanted)))
consumed = {name: found for name, (found, _) in both.items()}
seconds = {name: took for name, (_, took) in both.items()}

# Task 4
def colour_of(record):
    if record["topic"] == lab.p.lone_topic:
        return "green"
    return "red" if record["partition"] == lab.p.partition_of["Iris-virginica"] else "blue"


points = [(*r["pair"], colour_of(r)) for r in consumed["all"]]
listing = ["TOPIC, VALUE, PARTITION"] + [
    f'{r["topic"]}, {r["pair"]}, {r["partition"]}' for r in consumed["all"]
]
print(*listing, sep="\n")
table = spark.createDataFrame(points, schema="length double, width double, colour string")
axes = charts.scatter_by_class(table, "length", "width", "colour")
axes.set_title(f"{len(set(points))} different points")
charts.show(axes, f"{len(points)} flowers, by sepal length and width")

# Task 8
found = admin.describe_topics([lab.p.pair_topic, lab.p.lone_topic])
observed = dict(
    brokers=list(lab.cluster.brokers),
    quorum_leader=admin.describe_metadata_quorum()["topics"][0]["partitions"][0]["leader_id"],
    topic_ids={topic["name"]: str(topic["topic_id"]) for topic in found},
    offsets_topic=next(t for t in lab.cluster.topics(internal=True) if "offsets" in t),
)
