import numpy as np
import pandas as pd

# Task 2
def send_flowers(pair_topic, lone_topic):
    frame = pd.DataFrame(flowers)
    frame["row"] = np.arange(1, len(frame) + 1)
    told = []
    for entry in frame.itertuples():
        name = getattr(entry, "_5", None) or flowers[entry.Index]["class"]
        pair = [float(entry.sepal_length), float(entry.sepal_width)]
        where = lab.p.partition_of.get(name)
        topic = pair_topic if where is not None else lone_topic
        producer.send(
            topic, json.dumps(pair).encode(), headers=[("row", str(entry.row).encode())],
            partition=where,
        )
        told.append(f"{entry.row:3d} {name:16s} {pair}")
    producer.flush(timeout=30)
    return told


lines = send_flowers(lab.p.pair_topic, lab.p.lone_topic)
print("\n".join(lines))

# Task 4
frame = pd.DataFrame(consumed["all"])
colours = np.where(
    frame.topic == lab.p.lone_topic,
    "green",
    np.where(frame.partition == lab.p.partition_of["Iris-virginica"], "red", "blue"),
)
points = [
    (np.float64(length), np.float64(width), str(colour))
    for (length, width), colour in zip(frame.pair, colours)
]
listing = ["topic;value;partition"]
listing += [f"{t};{p};{n}" for t, p, n in zip(frame.topic, frame.pair, frame.partition)]
drawn = spark.createDataFrame(
    pd.DataFrame(points, columns=["length", "width", "colour"])
)
ax = charts.scatter_by_class(drawn, "length", "width", "colour")
ax.set_title(f"{drawn.distinct().count()} places and colours")
charts.show(ax, text=f"A picture of {len(frame)} records")

# Task 5
def label_differences(records):
    """The frame of the labels by pandas, the join by Spark."""
    names = {number: name for name, number in lab.p.partition_of.items()}
    labels = pd.DataFrame(
        {
            "row": [r["row"] for r in records],
            "label": [
                names[r["partition"]] if r["topic"] == lab.p.pair_topic else "Iris-versicolor"
                for r in records
            ],
        }
    )
    joined = spark.createDataFrame(labels).join(original, on="row", how="inner")
    wrong = joined.filter(joined.label != joined.original).toPandas().sort_values("row")
    return wrong[["row", "original", "label"]].values.tolist()


changed = label_differences(consumed["all"])

# Task 6
rows_of_topics = {}
for end, topic in lab.p.tail_topics.items():
    new_topic(topic, partitions=1)
    run_program(topic, "" if end == "nothing" else f"producer.{end}()")
    rows_of_topics[end] = pd.Series([int(r.value) for r in everything(topic)])
stored = {end: rows.size for end, rows in rows_of_topics.items()}
missing = {
    end: np.setdiff1d(np.arange(1, 151), rows) for end, rows in rows_of_topics.items()
}
