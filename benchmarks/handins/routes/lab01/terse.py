P = lab.p

# Task 1
admin.create_topics({P.topic: dict(num_partitions=P.partitions, replication_factor=3, configs={"retention.ms": str(P.retention_ms)})})

# Task 2
receipts = [(m.partition, m.offset) for s, n in readings if (m := producer.send(P.topic, key=s.encode(), value=f"{n}".encode()).get())]

# Task 3
where_is = lambda t, n: next({"leader": v.leader, "replicas": v.replicas, "isr": v.isr} for v in lab.cluster.topic(t).partitions if v.partition == n)
home, proven = where_is(P.topic, P.looked_at), {1, 3}
mine = {"brokers": 3, "copies": len(home["replicas"]), "left": len(home["isr"]) - 1, "records": max(p.records for p in lab.cluster.topic(P.topic).partitions)}

# Task 4
read_everything = lambda t: [(r.partition, r.offset, r.key and r.key.decode(), r.value.decode()) for r in KafkaConsumer(t, bootstrap_servers=lab.cluster.address, auto_offset_reset="earliest", consumer_timeout_ms=3000)]
arrived = read_everything(P.topic)
steps_back = sum(int(b[3]) < int(a[3]) for a, b in zip(arrived, arrived[1:]))

# Task 5
new_topic(P.steps_topic, P.steps_partitions)
[producer.send(P.steps_topic, key=P.steps_key.encode(), value=b"%d" % n) for n in range(1, P.steps + 1)] and producer.flush()
