# Task 1
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from kafkalab import clients, quick

admin = KafkaAdminClient(bootstrap_servers=lab.cluster.address, **quick.admin)
order = {}
for partition in range(13):
    order[partition] = lab.p.replicas[partition]
admin.create_topics(
    {lab.p.topic: {"assignments": order, "configs": {"min.insync.replicas": 2}}},
    wait_for_metadata=True,
)
before = describe(lab.p.topic)
led = {0: 0, 1: 0, 2: 0}
for row in before.values():
    led[row["leader"]] += 1

# Task 2
def predict(replicas, dead):
    result = {}
    for number in range(len(replicas)):
        left = []
        for broker in replicas[number]:
            if broker not in dead:
                left.append(broker)
        result[number] = dict(leader=left[0], isr=sorted(left))
    return result


forecast = predict(lab.p.replicas, dead={lab.p.lost})

# Task 3
from kafkalab import wait_until

lab.cluster.kill(lab.p.lost)
wait_until(
    lambda: all(len(row["isr"]) == 2 for row in describe(lab.p.topic).values()),
    timeout=60, what="two in sync",
)
after = describe(lab.p.topic)
moved = []
for partition, row in after.items():
    if row["leader"] != before[partition]["leader"]:
        moved.append(partition)
moved.sort()

# Task 4
receipts = []
with KafkaProducer(bootstrap_servers=lab.cluster.address, acks=-1) as sender:
    for number in range(1, lab.p.records + 1):
        got = sender.send(
            lab.p.topic, value=str(number).encode(), partition=number % 13
        ).get(timeout=30)
        receipts.append([got.partition, got.offset])
second_half = []
clerk = KafkaConsumer(
    lab.p.queue_topic, bootstrap_servers=lab.cluster.address, group_id=lab.p.group,
    enable_auto_commit=False, auto_offset_reset="earliest", max_poll_records=1,
)
while len(second_half) < lab.p.queue - lab.p.first:
    for records in clerk.poll(timeout_ms=1000).values():
        for record in records:
            second_half.append(int(record.value))
            clerk.commit()
clerk.close()
