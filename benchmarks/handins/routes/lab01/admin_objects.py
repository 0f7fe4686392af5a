from kafka.admin import ConfigResource, NewTopic

# Task 1
order = NewTopic(
    name=lab.p.topic,
    num_partitions=lab.p.partitions,
    replication_factor=3,
    topic_configs={"retention.ms": lab.p.retention_ms},
)
with KafkaAdminClient(bootstrap_servers=lab.cluster.address, client_id="orders") as own_admin:
    if lab.p.topic in own_admin.list_topics():
        own_admin.delete_topics([lab.p.topic])
        wait_until_gone = [t for t in own_admin.list_topics() if t == lab.p.topic]
    own_admin.create_topics([order])
lab.cluster.wait_for_topic(lab.p.topic)

# Task 2
receipts = []
for station, number in readings:
    metadata = producer.send(lab.p.topic, str(number).encode(), station.encode()).get(timeout=10)
    receipts.append((metadata.partition, metadata.offset))

# Task 3
def where_is(topic, partition):
    view = lab.cluster.topic(topic).partitions[partition]
    return dict(leader=view.leader, replicas=list(view.replicas), isr=list(view.isr))


home = where_is(lab.p.topic, lab.p.looked_at)
readings_topic = lab.cluster.topic(lab.p.topic)
mine = dict(brokers=len(lab.cluster.brokers), copies=len(home["replicas"]))
mine["records"] = sorted(p.end_offset - p.start_offset for p in readings_topic.partitions)[-1]
mine["left"] = len(home["isr"]) - 1
proven = {1} | {3}

# Task 6
def work(count):
    reader = KafkaConsumer(
        lab.p.queue_topic,
        bootstrap_servers=lab.cluster.address,
        group_id=lab.p.group,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_poll_records=1,
    )
    numbers = []
    while len(numbers) < count:
        for batch in reader.poll(timeout_ms=1000).values():
            for record in batch:
                numbers.append(int(record.value.decode()))
    reader.commit()
    reader.close()
    return numbers


first_clerk = work(lab.p.first)
second_clerk = work(lab.p.queue - lab.p.first)
