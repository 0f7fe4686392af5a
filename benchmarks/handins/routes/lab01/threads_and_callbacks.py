import threading
from collections import defaultdict
from queue import Queue

# Task 2
found, lock = {}, threading.Lock()


def keep(number):
    def note(metadata):
        with lock:
            found[number] = metadata.partition, metadata.offset

    return note


for station, number in readings:
    sending = producer.send(lab.p.topic, key=bytes(station, "utf-8"), value=b"%d" % number)
    sending.add_callback(keep(number)).add_errback(print)
producer.flush(timeout=30)
receipts = [found[number] for _, number in readings]

# Task 4
def read_everything(topic):
    """One thread per partition would lose the order of arrival, so one thread and a queue."""
    arrived_here = Queue()

    def read():
        with KafkaConsumer(
            bootstrap_servers=lab.cluster.address,
            auto_offset_reset="earliest",
            consumer_timeout_ms=1000 * idle_seconds,
            enable_auto_commit=False,
        ) as reader:
            reader.subscribe([topic])
            for record in reader:
                key = record.key.decode() if record.key else None
                arrived_here.put((record.partition, record.offset, key, record.value.decode()))

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    return [arrived_here.get() for _ in range(arrived_here.qsize())]


arrived = read_everything(lab.p.topic)
values = [int(value) for *_, value in arrived]
steps_back = 0
for at in range(1, len(values)):
    if values[at] < values[at - 1]:
        steps_back += 1

# Task 6
lists = defaultdict(list)


def one_clerk(name, wanted):
    consumer = KafkaConsumer(
        lab.p.queue_topic, bootstrap_servers=lab.cluster.address, group_id=lab.p.group,
        auto_offset_reset="earliest", enable_auto_commit=False, max_poll_records=wanted,
    )
    while len(lists[name]) < wanted:
        polled = consumer.poll(500, max_records=wanted - len(lists[name]))
        lists[name] += [int(r.value) for records in polled.values() for r in records]
    consumer.commit()
    consumer.close()


for clerk_name, share in (("first", lab.p.first), ("second", lab.p.queue - lab.p.first)):
    job = threading.Thread(target=one_clerk, args=(clerk_name, share))
    job.start()
    job.join()
first_clerk, second_clerk = lists["first"], lists["second"]
