"""Sixteen settings of a producer that has none of its own: Java's, of version 4.3, and yours.

`python java_defaults.py` prints those in which the two differ.

- Java's number of retries is large and this client's has no end. In both it is the time that ends
  a send, `delivery_timeout_ms`.
- Since version 4 Java waits 5 ms for company, and this client not at all.
- A record without a key goes to a random partition here. In Java such records stay with one
  partition for as long as a batch lasts.
- Two settings are missing here: the buffer has no bound, and there are no interceptors.
"""

from kafka import KafkaProducer

JAVA = {
    "acks": -1,  # all
    "enable_idempotence": True,
    "retries": 2_147_483_647,
    "delivery_timeout_ms": 120_000,
    "request_timeout_ms": 30_000,
    "retry_backoff_ms": 100,
    "max_in_flight_requests_per_connection": 5,
    "batch_size": 16_384,
    "linger_ms": 5,
    "max_block_ms": 60_000,
    "max_request_size": 1_048_576,
    "compression_type": None,
    "client_id": None,
    "partitioner": None,
    "buffer_memory": 33_554_432,
    "interceptor_classes": [],
}


def differing():
    """Name of a setting -> Java's default and this client's, where they are not the same."""
    here = KafkaProducer.DEFAULT_CONFIG
    both = {name: (value, here.get(name, "not there")) for name, value in JAVA.items()}
    return {name: pair for name, pair in both.items() if pair[0] != pair[1]}


if __name__ == "__main__":
    for name, (java, here) in differing().items():
        print(f"{name:22}{java!s:15}{here}")
