# Task 1
lab.cluster.tool(
    "kafka-topics", "--bootstrap-server", "{bootstrap}", "--create", "--topic", lab.p.topic,
    "--partitions", str(lab.p.partitions), "--replication-factor", "3",
    "--config", "min.insync.replicas=2", "--config", f"max.message.bytes={lab.p.max_bytes}",
)
lab.cluster.wait_for_topic(lab.p.topic)

# Task 2
import json
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class StockPrice:
    dollars: int
    cents: int
    name: str


def to_json(price):
    return bytes(
        json.dumps({"dollars": price.dollars, "cents": price.cents, "name": price.name}), "utf-8"
    )


def random_price(stock, generator):
    low, high = stock[1], stock[2]
    dollars = generator.randrange(low[0], high[0] + 1)
    cents = generator.randrange(low[1], high[1] + 1)
    return StockPrice(dollars=dollars, cents=cents, name=stock[0])

# Task 3
from kafka.partitioner import Partitioner, murmur2


def partition_of(key, partitions, important):
    if not key:
        raise ValueError("no key")
    last = partitions - 1
    if last == 0:
        return 0
    if key in {name.encode() for name in important}:
        return last
    return (murmur2(key) % 2**31) % last


class StockPartitioner(Partitioner):
    def __init__(self, important):
        super().__init__()
        self.important = frozenset(important)

    def partition(self, topic, key, serialized_key, value, serialized_value, cluster):
        return partition_of(
            serialized_key, max(cluster.partitions_for_topic(topic)) + 1, self.important
        )

# Task 4
import threading as _threading


class CountingProducer:
    """Counts under a lock, and tells its numbers as properties."""

    def __init__(self, producer):
        self.producer = producer
        self._lock = _threading.Lock()
        self._counts = {"sent": 0, "acknowledged": 0, "failed": 0}

    def _add(self, what):
        with self._lock:
            self._counts[what] += 1

    sent = property(lambda self: self._counts["sent"])
    acknowledged = property(lambda self: self._counts["acknowledged"])
    failed = property(lambda self: self._counts["failed"])

    def send(self, topic, **parts):
        self._add("sent")
        try:
            future = self.producer.send(topic, **parts)
        except BaseException:
            self._add("failed")
            raise
        future.add_callback(lambda _: self._add("acknowledged"))
        future.add_errback(lambda _: self._add("failed"))
        return future

# Task 5
def settings(important):
    return dict(
        acks=-1, enable_idempotence=True, compression_type="snappy", batch_size=2**16,
        linger_ms=20, key_serializer=lambda name: name.encode(), value_serializer=to_json,
        partitioner=StockPartitioner(important),
    )

# Task 6
import threading


def trade(producer, topic, stock, stop, say):
    name = stock[0]
    generator = random.Random(name)
    tried = 0
    while True:
        if stop.is_set():
            return tried
        tried = tried + 1
        price = random_price(stock, generator)
        told = "%s %d.%02d" % (name, price.dollars, price.cents)
        try:
            future = producer.send(
                topic, key=name, value=price, headers=[("number", b"%d" % tried)]
            )
            if tried % 100 == 0:
                got = future.get(timeout=20)
                say("%s -> %s, partition %d, offset %d" % (told, topic, got.partition, got.offset))
        except Exception as error:
            say(told + " failed, because " + str(error))
        stop.wait(generator.randint(1, 10) / 1000)
