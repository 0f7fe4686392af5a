# before each check
# Orders and results written by hand, commits by an admin; no member has ever worked.
import shop
from kafka import KafkaProducer, TopicPartition

number = [0, lab.p.orders, lab.p.parcels, lab.p.rush, lab.p.counted, lab.p.handed, lab.p.nightly]
group = {2: lab.p.shared}.get(TASK, f"packers-{TASK}-{lab.p.archive[-6:]}")
who = {
    1: lab.p.three, 2: lab.p.pair, 3: lab.p.crew, 4: [lab.p.counter], 5: [lab.p.careful],
    6: lab.p.seats,
}[TASK]
here = lab.p[f"day_{TASK}"]
by_hand = KafkaProducer(bootstrap_servers=lab.cluster.address)
ends = {}
if not lab.cluster.topic(here["results"]).records:
    partitions = len(lab.cluster.topic(here["topic"]).partitions)
    for n in range(number[TASK]):
        place = b"%d %d" % (n % partitions, n // partitions)
        told = [("member", who[n % len(who)].encode()), ("group", group.encode())]
        told.append(("place", place))
        by_hand.send(here["topic"], b"x", partition=n % partitions)
        by_hand.send(here["results"], b"x", headers=told)
        ends[TopicPartition(here["topic"], n % partitions)] = n // partitions + 1
    by_hand.flush(timeout=60)
    shop.commit(admin, group, ends)
first, *others = sorted(lab.p.three)
predicted_1 = {first: 5} | dict.fromkeys(others, 4)
owners_1 = {n: first if n < 5 else others[n // 9] for n in range(13)}
predicted_2 = lab.p.parcels - lab.p.parcels // 2
by_group = {lab.p.shared: lab.p.parcels} | dict.fromkeys(lab.p.departments, 0)
by_member = {lab.p.pair[0]: predicted_2, lab.p.pair[1]: lab.p.parcels // 2}
lag_of = lambda group, topic: dict.fromkeys(range(6), 0)
lag_4 = lag_of("", "")
