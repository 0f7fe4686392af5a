# Task 1
reader = '''
from kafka import KafkaProducer
from kafka.errors import KafkaError
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor

with KafkaProducer(bootstrap_servers=where, acks="all", linger_ms=5) as producer:
    consumer = KafkaConsumer(
        bootstrap_servers=where, client_id=name, group_id=which, auto_offset_reset=begin,
        session_timeout_ms=silent, heartbeat_interval_ms=500, enable_auto_commit=False,
        partition_assignment_strategy=[RoundRobinPartitionAssignor],
    )
    consumer.subscribe(["%s"])
    while running():
        batch = consumer.poll(timeout_ms=200, max_records=5)
        futures = [
            producer.send("%s", value=record.value, key=bytes(name, "utf-8"))
            for place in batch for record in batch[place]
        ]
        for future in futures:
            future.get(timeout=10)
        if consumer.assignment():
            try:
                consumer.commit()
            except KafkaError as refused:  # the group is dealt anew
                print(refused)
    consumer.close()
''' % (lab.p.topic, lab.p.seen_topic)


class Team(dict):
    def add(self, name, group, reset):
        self[name] = members.start(
            reader, name, where=lab.cluster.address.split(","), which=group, begin=reset,
            silent=lab.p.session_ms,
        )
        return self[name]


def join(name, group, reset):
    return Team().add(name, group, reset)


team = Team()
for name in lab.p.members:
    team.add(name, lab.p.group, "latest")


lab.cluster.wait_for_group(lab.p.group, "stable", 3)
shares = {one.client: tuple(*one.assignment.values()) for one in lab.cluster.group(lab.p.group).members}

# Task 2
import pandas

for _ in range(300):
    if len(told_of("new")) >= lab.p.new:
        break
rows = pandas.DataFrame([(r.key.decode(), r.value.decode()) for r in told_of("new")])
heard = rows.groupby(0)[1].agg(list).to_dict()

# Task 3
with_all = join(lab.p.latecomer, lab.p.other_group, "earliest")
wait_until(
    lambda: list(lab.cluster.group(lab.p.other_group).lag.values()) == [0] * 13,
    timeout=60, what="the latecomer at the end",
)
with_all.stop()
from_start = len([1 for r in everything(lab.p.seen_topic) if r.key == lab.p.latecomer.encode()])

# Task 4
wait_until(
    lambda: [one.state for one in team.values()].count("ended") == 1 and len(told_of("leave")) > 12,
    timeout=90, what="one to go, and what came then",
)
two = {one.client: one.assignment[lab.p.topic] for one in lab.cluster.wait_for_group(lab.p.group).members}

# Task 5
wait_until(
    lambda: len({r.value for r in told_of("crash")}) == 13, timeout=90, what="what came after the kill"
)
left = [name for name in two if team[name].state != "ended"]
last = dict.fromkeys(left, list(range(13)))

# Task 6
from kafkalab import read_topic, spark_session

spark = spark_session("lab14")
seen = read_topic(spark, lab.cluster, lab.p.seen_topic).toPandas()
sent = read_topic(spark, lab.cluster, lab.p.topic).toPandas()
for frame in (seen, sent):
    frame["value"] = frame["value"].map(lambda value: bytes(value).decode())
    frame["stage"] = frame["value"].str.split().str[0]
seen["key"] = seen["key"].map(lambda key: bytes(key).decode())
counted = {
    stage: some["key"].value_counts().to_dict() for stage, some in seen.groupby("stage")
}
both_logs = seen.merge(sent, on="value", suffixes=("_seen", "_sent"))
both_logs["wait"] = (both_logs["timestamp_seen"] - both_logs["timestamp_sent"]).dt.total_seconds()
waits = {
    stage: float(both_logs.loc[both_logs["stage_seen"] == stage, "wait"].max())
    for stage in ("leave", "crash")
}
