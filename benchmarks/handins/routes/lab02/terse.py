P = lab.p

# Task 1
[new_topic(t) for t in (P.pair_topic, P.lone_topic)]

# Task 2
def send_flowers(a, b):
    r = [(n, f["class"], [float(f["sepal_length"]), float(f["sepal_width"])]) for n, f in enumerate(flowers, 1)]
    fs = [producer.send(a if c in P.partition_of else b, value=json.dumps(p).encode(), headers=[("row", str(n).encode())], **({"partition": P.partition_of[c]} if c in P.partition_of else {})) for n, c, p in r]
    [f.get(timeout=10) for f in fs]
    return [f"{n} {c} {p}" for n, c, p in r]
print("\n".join(lines := send_flowers(P.pair_topic, P.lone_topic)))

# Task 4
listing = ["topic value partition"] + [f"{r['topic']} {r['pair']} {r['partition']}" for r in consumed["all"]]
points = [(*r["pair"], "green" if r["topic"] == P.lone_topic else {P.partition_of["Iris-setosa"]: "blue"}.get(r["partition"], "red")) for r in consumed["all"]]
charts.show(charts.scatter_by_class(spark.createDataFrame(points, ["length", "width", "colour"]), "length", "width", "colour"), f"{len(points)} points")

# Task 5
def label_differences(rs, L={n: c for c, n in P.partition_of.items()}):
    d = spark.createDataFrame([(r["row"], L[r["partition"]] if r["topic"] == P.pair_topic else "Iris-versicolor") for r in rs], "row int, label string")
    return [tuple(x) for x in original.join(d, "row").select("row", "original", "label").filter("label != original").sort("row").collect()]
changed = label_differences(consumed["all"])

# Task 8
observed = {"brokers": lab.cluster.brokers, "quorum_leader": lab.cluster.quorum().leader, "topic_ids": {t: lab.cluster.topic(t).id for t in [P.pair_topic, P.lone_topic]}, "offsets_topic": "__consumer_offsets"}
