# Task 7
import time

from kafka import OffsetAndMetadata
from kafka.errors import KafkaError


def with_producer(key, value, **setting):
    with KafkaProducer(bootstrap_servers=lab.cluster.address, **setting) as one:
        try:
            sent = one.send(lab.p.probe_topic, value, key=key.encode(), partition=0)
            return f"offset {sent.get(timeout=10).offset}"
        except KafkaError as error:
            return type(error).__name__


def waited(**setting):
    ((name, value),) = setting.items()
    one = KafkaConsumer(lab.p.pair_topic, bootstrap_servers=lab.cluster.address,
                        group_id=f"{name}={value}", auto_offset_reset="latest", **setting)
    one.poll(timeout_ms=100)
    while not one.assignment():
        one.poll(timeout_ms=100)
    began = time.monotonic()
    list(one)
    took = time.monotonic() - began
    one.commit({p: OffsetAndMetadata(one.position(p), "", -1) for p in one.assignment()})
    one.close()
    return f"{took:.1f} s"


def first_position(**setting):
    group = "auto_offset_reset=" + setting["auto_offset_reset"]
    one = KafkaConsumer(bootstrap_servers=lab.cluster.address, group_id=group, **setting)
    one.assign([TopicPartition(lab.p.pair_topic, 0)])
    found = len(one.poll(timeout_ms=2000).get(TopicPartition(lab.p.pair_topic, 0), []))
    one.commit()
    one.close()
    return found


settings = [
    {
        "client": "producer",
        "name": "max_request_size",
        "default": KafkaProducer.DEFAULT_CONFIG["max_request_size"],
        "tried": [
            (size, with_producer(f"max_request_size={size}", b"x" * 5000, max_request_size=size))
            for size in (1000, 9000)
        ],
    },
    {
        "client": "producer",
        "name": "acks",
        "default": "all",
        "effect": "Who must have a record before the broker answers.",
        "tried": [
            (acks, with_producer(f"acks={acks}", b"leaf", acks=acks, enable_idempotence=False))
            for acks in (0, 1)
        ],
    },
    {
        "client": "consumer",
        "name": "consumer_timeout_ms",
        "default": float("inf"),
        "effect": "How long iterating waits for the next record before it ends.",
        "tried": [[ms, waited(consumer_timeout_ms=ms)] for ms in (200, 1500)],
    },
    {
        "client": "consumer",
        "name": "auto_offset_reset",
        "default": "latest",
        "effect": "Where to begin when the group has no committed offset",
        "tried": [[v, first_position(auto_offset_reset=v)] for v in ("earliest", "latest")],
    },
]
