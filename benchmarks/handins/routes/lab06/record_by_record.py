# Task 1
packer = """
with KafkaConsumer(
    bootstrap_servers=address, group_id=group, client_id=name, enable_auto_commit=False,
    auto_offset_reset="earliest", consumer_timeout_ms=200, **settings,
) as consumer:
    consumer.subscribe([topic], listener=told)
    while running():
        for record in consumer:  # it ends when nothing has come for a moment
            pack(record)
            consumer.commit()
            if not running():
                break
"""
size = [5, 4, 4]
predicted_1 = dict(zip(sorted(lab.p.three), size, strict=True))
team = {name: hire(packer, name, lab.p.day_1) for name in reversed(lab.p.three)}
wait_for_team(lab.p.day_1, team)
owners_1 = {
    partition: member.client
    for member in lab.cluster.group(lab.p.day_1["group"]).members
    for partition in member.assignment[lab.p.day_1["topic"]]
}
shop.send_orders(lab.cluster, lab.p.day_1["topic"], lab.p.orders)
close_shop(lab.p.day_1, team)

# Task 4
def lag_of(group, topic):
    offsets = lab.cluster.group(group).offsets
    return {
        p.partition: p.end_offset - offsets.get((topic, p.partition), p.start_offset)
        for p in lab.cluster.topic(topic).partitions
    }


dead = hire(packer, lab.p.counter, lab.p.day_4, pace=seconds)
wait_until(lambda: dead.state == "ended", timeout=60, what="the death")
lag_4 = lag_of(lab.p.day_4["group"], lab.p.day_4["topic"])

# Task 5
careful = f"every = {lab.p.every}" + """
from kafka import ConsumerRebalanceListener, OffsetAndMetadata
from kafka import AsyncConsumerRebalanceListener

packed_until = {}

class Both(AsyncConsumerRebalanceListener):
    async def on_partitions_assigned(self, assigned):
        told.on_partitions_assigned(assigned)

    async def on_partitions_revoked(self, revoked):
        told.on_partitions_revoked(revoked)
        for place in revoked:
            if place in packed_until:
                end = OffsetAndMetadata(packed_until[place], name, -1)
                await consumer.commit_async({place: end})
                del packed_until[place]

consumer = KafkaConsumer(
    bootstrap_servers=address, group_id=group, client_id=name, enable_auto_commit=False,
    auto_offset_reset="earliest", **settings,
)
consumer.subscribe([topic], listener=Both())
since = 0
while running():
    for place, records in consumer.poll(timeout_ms=50).items():
        for record in records:
            pack(record)
            packed_until[place] = record.offset + 1
            since += 1
    if since >= every:
        since = 0
        consumer.commit()
consumer.close()
"""
one = hire(careful, lab.p.careful, lab.p.day_5, pace=seconds, max_poll_records=10)
close_shop(lab.p.day_5, {lab.p.careful: one})
told_5 = [
    (e.what, [number for _, number in e.facts["partitions"]])
    for e in one.events
    if e.what in ("assigned", "revoked")
]
