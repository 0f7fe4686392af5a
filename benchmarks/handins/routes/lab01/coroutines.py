import asyncio

# Task 1
async def order():
    await asyncio.to_thread(
        admin.create_topics,
        {
            lab.p.topic: {
                "num_partitions": lab.p.partitions,
                "replication_factor": 3,
                "configs": {"retention.ms": str(lab.p.retention_ms)},
            }
        },
    )


await order()

# Task 2
async def send_one(station, number):
    future = producer.send(lab.p.topic, key=station.encode(), value=str(number).encode())
    return await asyncio.to_thread(future.get, 10)


gone = []
for station, number in readings:
    gone.append(await send_one(station, number))
receipts = [(one.partition, one.offset) for one in gone]

# Task 6
async def clerks(count):
    consumer = await asyncio.to_thread(
        KafkaConsumer,
        lab.p.queue_topic,
        bootstrap_servers=lab.cluster.address,
        group_id=lab.p.group,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_poll_records=5,
    )
    numbers = []
    while len(numbers) < count:
        batch = await asyncio.to_thread(
            consumer.poll, timeout_ms=300, max_records=min(5, count - len(numbers))
        )
        for records in batch.values():
            numbers.extend(int(record.value) for record in records)
        await asyncio.to_thread(consumer.commit)  # after each batch, and so at the end
    await asyncio.to_thread(consumer.close)
    return numbers


first_clerk = await clerks(lab.p.first)
second_clerk = await clerks(lab.p.queue - lab.p.first)
