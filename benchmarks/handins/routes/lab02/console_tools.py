tool = lab.cluster.tool
brokers_at = ("--bootstrap-server", "{bootstrap}")

# Task 1
for topic in (lab.p.pair_topic, lab.p.lone_topic):
    if topic in lab.cluster.topics():
        tool("kafka-topics", *brokers_at, "--delete", "--topic", topic)
    tool("kafka-topics", *brokers_at, "--create", "--if-not-exists", "--topic", topic,
         "--partitions", "2", "--replication-factor", "1")
    lab.cluster.wait_for_topic(topic)

# Task 6
import re

stored, missing = {}, {}
for end in lab.p.tail_topics:
    topic = lab.p.tail_topics[end]
    new_topic(topic, partitions=1)
    run_program(topic, {"nothing": "", "flush": "producer.flush()", "close": "producer.close()"}[end])
    told = tool("kafka-console-consumer", *brokers_at, "--topic", topic, "--from-beginning",
                "--timeout-ms", "3000")
    rows = set(map(int, re.findall(r"^\d+$", told.stdout, re.MULTILINE)))
    stored[end] = len(rows)
    missing[end] = set(range(1, 151)) - rows

# Task 8
described = tool("kafka-topics", *brokers_at, "--describe").stdout
ids = dict(re.findall(r"Topic: (\S+)\s+TopicId: (\S+)", described))
status = tool("kafka-metadata-quorum", *brokers_at, "describe", "--status").stdout
versions = tool("kafka-broker-api-versions", *brokers_at).stdout
observed = {
    "brokers": [int(n) for n in re.findall(r"id: (\d+)", versions)],
    "quorum_leader": int(re.search(r"LeaderId:\s+(\d+)", status)[1]),
    "topic_ids": {topic: ids[topic] for topic in (lab.p.pair_topic, lab.p.lone_topic)},
    "offsets_topic": re.search(r"__consumer\w+", described)[0],
}
