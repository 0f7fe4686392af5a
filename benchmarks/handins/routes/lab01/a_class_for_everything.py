from kafka import TopicPartition


class Kitchen:
    """All that my answers share."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.opened = []

    def reader(self, *topics, **more):
        made = KafkaConsumer(*topics, bootstrap_servers=self.cluster.address, **more)
        self.opened.append(made)
        return made

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self.opened:
            one.close()
        self.opened.clear()

    def read(self, topic):
        reader = self.reader(enable_auto_commit=False, auto_offset_reset="earliest")
        places = [TopicPartition(topic, n) for n in reader.partitions_for_topic(topic) or ()]
        reader.assign(places)
        ends = reader.end_offsets(places)
        open_places = {place for place in places if ends[place] > 0}
        while open_places:
            for place, records in reader.poll(timeout_ms=250).items():
                yield from records
                if reader.position(place) >= ends[place]:
                    open_places.discard(place)


from kafka import KafkaConsumer

# Task 3
class Where:
    def __call__(self, topic, partition):
        (found,) = [
            p for p in admin.describe_topics([topic])[0]["partitions"]
            if p["partition_index"] == partition
        ]
        return {"leader": found["leader_id"], "replicas": found["replica_nodes"],
                "isr": found["isr_nodes"]}


where_is = Where()
home = where_is(lab.p.topic, lab.p.looked_at)
everything_there = KafkaConsumer(bootstrap_servers=lab.cluster.address)
places = [TopicPartition(lab.p.topic, n) for n in range(lab.p.partitions)]
mine = {
    "brokers": 1 + max(lab.cluster.brokers),
    "copies": len(home["replicas"]),
    "records": max(everything_there.end_offsets(places).values()),
    "left": sum(broker != home["leader"] for broker in home["isr"]),
}
proven = set((3, 1))

# Task 4
def read_everything(topic):
    with Kitchen(lab.cluster) as kitchen:
        return [
            (r.partition, r.offset, r.key.decode() if r.key is not None else "", r.value.decode())
            for r in kitchen.read(topic)
        ]


arrived = read_everything(lab.p.topic)
before, steps_back = None, 0
for *_, text in arrived:
    here = int(text)
    steps_back += before is not None and here < before
    before = here

# Task 6
with Kitchen(lab.cluster) as kitchen:
    same = dict(group_id=lab.p.group, auto_offset_reset="earliest", enable_auto_commit=False)
    one = kitchen.reader(lab.p.queue_topic, **same)
    first_clerk = [int(next(one).value) for _ in range(lab.p.first)]
    one.commit()
with Kitchen(lab.cluster) as kitchen:
    two = kitchen.reader(lab.p.queue_topic, **same)
    second_clerk = [int(next(two).value) for _ in range(lab.p.first, lab.p.queue)]
    two.commit()
