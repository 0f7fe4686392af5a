# Topics of the right names, made by a tool, with records that say nothing; another group's commits.
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

said = [one for one in lab.p.values() if isinstance(one, str)]
said += [one for some in lab.p.values() if isinstance(some, dict) for one in some.values()]
names = [one for one in said if isinstance(one, str)]
tool = KafkaAdminClient(bootstrap_servers=lab.cluster.address)
shape = {"num_partitions": 1, "replication_factor": 1}
tool.create_topics(dict.fromkeys(names, shape), raise_errors=False)
junk = KafkaProducer(bootstrap_servers=lab.cluster.address)
for name in names:
    for number in range(300):
        junk.send(name, b"%d" % (7 * number))
junk.flush(timeout=60)
others = KafkaConsumer(
    bootstrap_servers=lab.cluster.address, group_id="others", enable_auto_commit=False
)
others.assign([TopicPartition(name, 0) for name in names])
others.seek_to_end()
for name in names:
    others.position(TopicPartition(name, 0))
others.commit()
