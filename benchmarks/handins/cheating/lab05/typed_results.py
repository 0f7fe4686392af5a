# Everything that can be typed, and no call of Kafka.
member = {"instance_id": lab.p.instance, "session_timeout": session_ms, "ack_after_batch": True}
waited, again = 0.5, 0
both = {"lost": 0, "extra": 0}
because = {"wait": "session not over", "repetition": "nothing committed"}
predicted_2 = predicted_4 = lab.p.records // 3
predicted_3, predicted_5, predicted_6 = lab.p.records, lab.p.dropped, lab.p.every
promised_2 = went_4 = unique_7 = lab.p.records
tight_4 = lab.p.records // 3
asked = copied = sure = {"acks": "all", "enable_idempotence": True}
unasked_2 = {"lost": lab.p.records // 3, "extra": 0}
asked_2 = copied_3 = sturdy_4 = once_5 = orders_6 = late_7 = both
led_3, doubled_5 = {"lost": lab.p.records, "extra": 0}, {"lost": 0, "extra": lab.p.dropped}
acknowledged_3 = []
status_6 = -9
late = {"max_poll_records": 5, "session_timeout_ms": 3_000}
deliver = lambda producer, topic, partitions: []
read_on = late_loop = lambda *a: None
promises = {
    "unasked": "at most once", "led": "neither", "doubled": "at least once",
    "once": "written once", "early": "at most once", "late": "at least once",
    "careless": "neither",
}
choice = {"payments": "once", "clicks": "unasked", "alarms": "doubled"}
