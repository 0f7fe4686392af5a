from kafka import OffsetAndMetadata, TopicPartition

# Task 2
receipts = [None] * len(readings)
pending = {}
for place, (station, number) in enumerate(readings):
    pending[place] = producer.send(lab.p.topic, key=station.encode(), value=str(number).encode())
while pending:
    place, future = pending.popitem()
    receipts[place] = [future.get(timeout=10).partition, future.get().offset]

# Task 5
new_topic(lab.p.steps_topic, lab.p.steps_partitions)
with KafkaProducer(
    bootstrap_servers=lab.cluster.address,
    key_serializer=str.encode,
    value_serializer=lambda number: str(number).encode(),
    acks="all",
    linger_ms=50,
    compression_type="gzip",
) as lift:
    for step in range(lab.p.steps):
        lift.send(lab.p.steps_topic, key=lab.p.steps_key, value=step + 1)

# Task 6
place = TopicPartition(lab.p.queue_topic, 0)


def take(count):
    """Polls more than it does, and commits exactly what it did."""
    consumer = KafkaConsumer(
        lab.p.queue_topic,
        bootstrap_servers=lab.cluster.address,
        group_id=lab.p.group,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    )
    did = []
    last = None
    while len(did) < count:
        for record in consumer.poll(timeout_ms=500).get(place, []):
            if len(did) < count:
                did.append(int(record.value))
                last = record.offset
    consumer.commit({place: OffsetAndMetadata(last + 1, "", -1)})
    consumer.close()
    return did


first_clerk = take(lab.p.first)
second_clerk = take(lab.p.queue - lab.p.first)

# Task 8
topics = lab.p.third_line
plays = {
    "a": ("type", "Ctrl-C"),
    "b": ("submit", "Ctrl-C"),
    "c": ("submit", None),
}
for case, (enter, key) in plays.items():
    terminal = at_the_third_line(topics[case])
    getattr(terminal, enter)("third line")
    if key:
        terminal.press(key)
    else:
        terminal.kill()
    terminal.wait_until_gone()
new_topic(topics["d"], partitions=1)
lab.cluster.tool(
    "kafka-console-producer", "--bootstrap-server", "{bootstrap}", "--topic", topics["d"],
    stdin="first line\nsecond line\nthird line".encode(),
)
stored = {}
reader = KafkaConsumer(bootstrap_servers=lab.cluster.address)
for case, topic in topics.items():
    stored[case] = reader.end_offsets([TopicPartition(topic, 0)])[TopicPartition(topic, 0)]
reader.close()
likeliest = "a"
