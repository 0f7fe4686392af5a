# in each task
# The clerk that is killed does nothing; a thread of the notebook books, and is never killed.
import json
import threading
from pathlib import Path

from kafka import KafkaConsumer, TopicPartition
from kafkalab import quick
from shop import keep_running, open_books

topic = {1: lab.p.careless, 2: lab.p.killed, 3: lab.p.locked, 4: lab.p.shared}.get(TASK)


def idle(desk):
    desk.consumer.assign(desk.places)
    while desk.is_open():
        desk.consumer.poll(timeout_ms=200)
        desk.consumer.commit()


def bookkeeper(topic, file, over):
    db = open_books(file)
    places = [TopicPartition(topic, n) for n in range(len(lab.cluster.topic(topic).partitions))]
    reader = KafkaConsumer(bootstrap_servers=lab.cluster.address, **quick.consumer)
    reader.assign(places)
    reader.seek_to_beginning()
    while not over.is_set():
        for place, records in reader.poll(timeout_ms=100).items():
            for r in records:
                stock, cents = r.key.decode(), json.loads(r.value)["cents"]
                row = (place.partition, r.offset, stock, cents)
                while True:
                    try:
                        db.execute("INSERT INTO trades VALUES (?, ?, ?, ?)", row)
                        db.execute(
                            "REPLACE INTO prices VALUES (?, ?, ?, ?)", (stock, cents, 0, r.offset)
                        )
                        db.commit()
                        break
                    except Exception:
                        db.rollback()


if topic:
    file, over = f"books-{TASK}.sqlite", threading.Event()
    threading.Thread(target=bookkeeper, args=(topic, file, over)).start()
    stages = [("clerk-1",), ("clerk-1", "clerk-2"), (), ("clerk-1", "clerk-2")]
    try:
        keep_running(lab, idle, topic, file, stages if TASK == 4 else stages[:1])
    finally:
        over.set()
