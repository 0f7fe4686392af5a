from functools import partial

opened = partial(
    KafkaConsumer if "KafkaConsumer" in globals() else __import__("kafka").KafkaConsumer,
    bootstrap_servers=lab.cluster.address,
    auto_offset_reset="earliest",
)

# Task 1
def ensure(topic):
    if topic in admin.list_topics():
        admin.delete_topics([topic])
        wait_until = __import__("kafkalab").wait_until
        wait_until(lambda: topic not in admin.list_topics(), timeout=15, what="the old one to go")
    admin.create_topics(
        {topic: {"num_partitions": lab.p.partitions, "replication_factor": 3}},
        wait_for_metadata=True,
    )


ensure(lab.p.topic)
lab.cluster.tool(
    "kafka-configs", "--bootstrap-server", "{bootstrap}", "--alter", "--entity-type", "topics",
    "--entity-name", lab.p.topic, "--add-config", f"retention.ms={lab.p.retention_ms}",
)

# Task 4
def read_everything(topic):
    consumer = opened(topic, consumer_timeout_ms=idle_seconds * 1000, max_poll_records=7)
    try:
        return [
            (m.partition, m.offset, (m.key or b"").decode(), (m.value or b"").decode())
            for m in consumer
        ]
    finally:
        consumer.close()


arrived = read_everything(lab.p.topic)
steps_back = len([1 for a, b in zip(arrived[:-1], arrived[1:]) if int(b[-1]) < int(a[-1])])

# Task 6
from itertools import islice

consumer = opened(lab.p.queue_topic, group_id=lab.p.group, enable_auto_commit=True)
first_clerk = [int(record.value) for record in islice(consumer, lab.p.first)]
consumer.close()  # commits the position
consumer = opened(lab.p.queue_topic, group_id=lab.p.group, enable_auto_commit=True)
second_clerk = [int(record.value) for record in islice(consumer, lab.p.queue - lab.p.first)]
consumer.close()
