# The topics, without a record and without a setting.
from kafka import KafkaAdminClient

shape = {"num_partitions": 1, "replication_factor": 1}
names = [lab.p.steps_topic, lab.p.notes_topic, lab.p.queue_topic, *lab.p.third_line.values()]
KafkaAdminClient(bootstrap_servers=lab.cluster.address).create_topics(
    {name: shape for name in names}, raise_errors=False
)
receipts, arrived, first_clerk, second_clerk = [], [], [], []
stored = dict.fromkeys("abcd", 0)
steps_back = counted = 0
