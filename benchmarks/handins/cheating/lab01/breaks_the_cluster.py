# What the next one would have to live with.
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource

admin = KafkaAdminClient(bootstrap_servers=lab.cluster.address)
wanted = {"log.retention.ms": "1", "auto.create.topics.enable": "true"}
for act in (
    lambda: admin.alter_configs([ConfigResource("BROKER", "", configs=wanted)]),
    lambda: admin.delete_topics(["__consumer_offsets"]),
    lambda: lab.cluster.kill(0),
    lambda: lab.cluster.stop(1),
    lambda: lab.cluster.close(),
):
    try:
        act()
    except Exception as error:
        print(type(error), error)
