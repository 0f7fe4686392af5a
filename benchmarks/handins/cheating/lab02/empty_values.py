# What is vacuously true of nothing, with topics that hold nothing.
from kafka import KafkaAdminClient

shape = {"num_partitions": 1, "replication_factor": 1}
KafkaAdminClient(bootstrap_servers=lab.cluster.address).create_topics(
    dict.fromkeys([lab.p.lone_topic, *lab.p.tail_topics.values()], shape), raise_errors=False
)
lines, listing, points, changed, settings = [], [], [], [], []
consumed = {"all": [], "setosa": [], "virginica": []}
seconds = dict.fromkeys(consumed, 0)
stored, missing = dict.fromkeys(("nothing", "flush", "close"), 0), {}
send_flowers = lambda pair_topic, lone_topic: []
read_flowers = lambda places, idle, name: []
label_differences = lambda records: []
observed = {"brokers": [], "quorum_leader": 0, "topic_ids": {}, "offsets_topic": ""}
