# Task 2
from kafka.errors import KafkaError

predicted_2 = round(lab.p.records * 2 / 6)
asked = dict(acks="all", retries=50)
careless = greeted(lab.p.unasked, acks=0, enable_idempotence=False)
careful = greeted(lab.p.asked, **asked)
promised = send(lab.p.unasked, careless)
promised_2 = len(promised)
kept = send(lab.p.asked, careful)
for topic in (lab.p.unasked, lab.p.asked):
    print(topic, read_all(topic))
unasked_2 = verdict(lab.p.unasked)
asked_2 = verdict(lab.p.asked)

# Task 3
def deliver(producer, topic, partitions):
    """All are sent, and then each is waited for."""
    waiting = []
    for number in range(lab.p.records):
        entry = record_of(topic, partitions, number)
        waiting.append(
            (entry, producer.send(topic, key=entry.key.encode(), value=entry.value.encode(),
                                  partition=entry.partition))
        )
    acknowledged = []
    for entry, future in waiting:
        try:
            future.get(timeout=70)
        except KafkaError as error:
            print(entry, error)
        else:
            acknowledged.append(entry)
    return acknowledged


predicted_3 = lab.p.records
copied = {"acks": -1, "enable_idempotence": True, "delivery_timeout_ms": 65_000}
first = greeted(lab.p.led, acks=1, enable_idempotence=False)
second = greeted(lab.p.copied, **copied)
send(lab.p.led, first, mine)
acknowledged_3 = deliver(second, lab.p.copied, mine)
write(path_of(logs(lab.p.copied), "producer"), acknowledged_3)
for topic in (lab.p.led, lab.p.copied):
    read_all(topic)
led_3 = verdict(lab.p.led)
copied_3 = verdict(lab.p.copied)

# Task 7
def late_loop(consumer, process, goes_on):
    from kafka.errors import CommitFailedError, KafkaError

    while goes_on():
        batch = consumer.poll(timeout_ms=100, max_records=5)
        for place in batch:
            for record in batch[place]:
                process(record)
        if batch:
            try:
                consumer.commit()
            except CommitFailedError:
                pass
            except KafkaError:
                pass


late = dict(max_poll_records=5, session_timeout_ms=2_500)
for number in (1, 2):
    workers.start(run_7, late_loop, number, lab.p.late_done, pause_ms=20, **late)
lab.cluster.wait_for_group(lab.p.late_workers, members=2)
send(lab.p.late, acks="all")
read_to_the_end(run_7)
late_7 = verdict(lab.p.late)
frame = read_topic(spark, lab.cluster, lab.p.late_done)
unique_7 = frame.dropDuplicates(["key"]).count()
