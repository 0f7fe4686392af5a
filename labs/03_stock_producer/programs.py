"""Texts of two programs that the notebook runs outside of itself."""

# Stands below the cells in the program of task 7.
END = """
if __name__ == "__main__":
    import json
    import sys
    from kafka import KafkaProducer
    from kafkalab import quick
    address, topic, stocks, important = json.loads(sys.argv[1])
    own = {**settings(important), "linger_ms": 500}  # so that the buffer is never empty
    asked = []  # of the producer, since the last price

    class Noting(KafkaProducer):
        def send(self, *given, **named):
            asked.clear()
            return super().send(*given, **named)

        def flush(self, timeout=None):
            asked.append("flush")
            return super().flush(timeout)

        def close(self, timeout=None):
            asked.append("close")
            return super().close(timeout)

    producer = CountingProducer(Noting(bootstrap_servers=address, **quick.producer | own))
    status = run(producer, topic, stocks)
    counts = {name: getattr(producer, name) for name in ("sent", "acknowledged", "failed")}
    print(json.dumps({**counts, "asked": asked}))
    sys.exit(status)
"""

# Copies a file of a thousand lines; here a line is its number, so that none can be mixed up.
COPY = """
import os, sys
from pathlib import Path
from kafka import KafkaProducer
from kafkalab import quick
address, topic, crash_at = sys.argv[1], sys.argv[2], int(sys.argv[3])
checkpoint = Path("checkpoint")
done = int(checkpoint.read_text()) if checkpoint.exists() else 0
print(done, flush=True)
producer = KafkaProducer(bootstrap_servers=address, linger_ms=5_000, **quick.producer)
for number in range(done + 1, 1001):
    producer.send(topic, value=b"%d" % number)
    if number == crash_at:
        os._exit(1)  # no flush, no close
    if number % 100 == 0:
        producer.flush(timeout=10)
        checkpoint.write_text(str(number))
"""
