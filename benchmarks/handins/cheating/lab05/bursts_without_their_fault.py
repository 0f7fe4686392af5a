# before each check
# What a fault leaves behind, written by hand where no fault was; a group's commits by an admin.
from kafka import KafkaAdminClient, KafkaProducer

left = {2: (lab.p.unasked, 2 / 3), 3: (lab.p.led, 0), 4: (lab.p.tight, 1 / 3)}
twice = {5: (lab.p.doubled, lab.p.dropped), 6: (lab.p.done, 0), 7: (lab.p.late_done, 0)}
by_hand = KafkaProducer(bootstrap_servers=lab.cluster.address)
topic, share = left.get(TASK, (None, 0))
for number in range(int(lab.p.records * share)):
    by_hand.send(topic, b"x", key=b"%d" % number)
topic, extra = twice.get(TASK, (None, 0))
for number in [*range(lab.p.records), *range(extra)] if topic else ():
    by_hand.send(topic, b"x", key=b"%d" % number, headers=[("worker", b"%d" % (1 + number % 2))])
by_hand.flush(timeout=60)
third = lab.p.records // 3
predicted_2 = predicted_4 = tight_4 = third
predicted_3 = promised_2 = unique_7 = lab.p.records
predicted_5, predicted_6, status_6 = lab.p.dropped, lab.p.every, -9
nothing = {"lost": 0, "extra": 0}
unasked_2, led_3 = {"lost": third, "extra": 0}, {"lost": lab.p.records, "extra": 0}
doubled_5, orders_6, late_7 = {"lost": 0, "extra": lab.p.dropped}, nothing, nothing
