# Task 7
import time

from kafka.errors import KafkaError


def large(limit):
    with KafkaProducer(bootstrap_servers=lab.cluster.address, max_request_size=limit) as one:
        try:
            return one.send(lab.p.probe_topic, b"x" * 5000, partition=0).get(timeout=10).offset
        except KafkaError as error:
            return type(error).__name__


class Keyed(KafkaProducer):
    def __init__(self, compression):
        super().__init__(
            bootstrap_servers=lab.cluster.address, compression_type=compression, linger_ms=50
        )


def packed(compression):
    one = Keyed(compression)
    for _ in range(20):
        one.send(lab.p.probe_topic, b"x" * 500, partition=0)
    one.flush()
    size = one.metrics()["producer-metrics"]["batch-size-avg"]
    one.close()
    return size


def silence(ms):
    one = KafkaConsumer(bootstrap_servers=lab.cluster.address, consumer_timeout_ms=ms)
    one.assign([TopicPartition(lab.p.pair_topic, 0)])
    began = time.monotonic()
    list(one)
    one.close()
    return time.monotonic() - began


def first(reset):
    one = KafkaConsumer(bootstrap_servers=lab.cluster.address, auto_offset_reset=reset)
    one.assign([TopicPartition(lab.p.pair_topic, 0)])
    position = one.position(TopicPartition(lab.p.pair_topic, 0))
    one.close()
    return "at the beginning" if position == 0 else "at the end"


settings = [
    {
        "client": "producer",
        "name": "max_request_size",
        "default": KafkaProducer.DEFAULT_CONFIG["max_request_size"],
        "values": (1000, 9000),
        "experiment": large,
    },
    {
        "client": "producer",
        "name": "compression_type",
        "default": None,
        "effect": "How a batch is packed.",
        "values": (None, "gzip"),
        "experiment": packed,
    },
    {
        "client": "consumer",
        "name": "consumer_timeout_ms",
        "default": float("inf"),
        "effect": "How long iterating waits for the next record before it ends.",
        "values": [200, 1500],
        "experiment": silence,
    },
    {
        "client": "consumer",
        "name": "auto_offset_reset",
        "default": "latest",
        "effect": "Where to begin when the group has no committed offset",
        "values": ["earliest", "latest"],
        "experiment": first,
    },
]
