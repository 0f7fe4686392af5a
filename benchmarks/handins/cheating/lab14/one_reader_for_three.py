# before each check
# One program reads everything, and tells of it in three names.
from kafka import KafkaConsumer, KafkaProducer

if TASK == 2:
    a, b, c = sorted(lab.p.members)
    of = [a] * 5 + [b] * 4 + [c] * 4
    alone = KafkaConsumer(
        lab.p.topic, bootstrap_servers=lab.cluster.address, group_id=lab.p.group,
        client_id=a, auto_offset_reset="earliest", session_timeout_ms=lab.p.session_ms,
        consumer_timeout_ms=3_000,
    )
    told = KafkaProducer(bootstrap_servers=lab.cluster.address)
    heard = {name: [] for name in lab.p.members}
    for record in alone:
        if record.value.startswith(b"new"):
            name = of[record.partition]
            told.send(lab.p.seen_topic, key=name.encode(), value=record.value)
            heard[name].append(record.value.decode())
    told.flush(timeout=20)
    alone.close()
shares = {name: [n for n in range(13) if n % 3 == k] for k, name in enumerate(lab.p.members)}
two = last = {lab.p.members[0]: list(range(13))}
from_start = lab.p.old + lab.p.new
