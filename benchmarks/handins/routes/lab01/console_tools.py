broker = ("--bootstrap-server", "{bootstrap}")

# Task 1
lab.cluster.tool(
    "kafka-topics.sh", *broker, "--create", "--topic", lab.p.topic,
    "--partitions", str(lab.p.partitions), "--replication-factor", "3",
    "--config", f"retention.ms={lab.p.retention_ms}",
)
print(lab.cluster.tool("kafka-topics.sh", *broker, "--describe", "--topic", lab.p.topic).stdout)

# Task 5
new_topic(lab.p.steps_topic, lab.p.steps_partitions)
typed_steps = "".join(f"{lab.p.steps_key}:{step}\n" for step in range(1, lab.p.steps + 1))
lab.cluster.tool(
    "kafka-console-producer", *broker, "--topic", lab.p.steps_topic,
    "--property", "parse.key=true", "--property", "key.separator=:", stdin=typed_steps.encode(),
)

# Task 6
def by_tool(count):
    done = lab.cluster.tool(
        "kafka-console-consumer", *broker, "--topic", lab.p.queue_topic,
        "--group", lab.p.group, "--from-beginning", "--max-messages", str(count),
    )
    return [int(line) for line in done.stdout.split() if line.isdigit()]


def plain_clerk(count):
    mine = KafkaConsumer(
        bootstrap_servers=[lab.cluster.address.split(",")[0]],
        group_id=lab.p.group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    mine.subscribe([lab.p.queue_topic])
    got = []
    for form in mine:
        got.append(int(form.value))
        if len(got) == count:
            break
    mine.commit()
    mine.close(autocommit=False)
    return got


first_clerk = plain_clerk(lab.p.first)
second_clerk = by_tool(lab.p.queue - lab.p.first)

# Task 7
text_of_lines = "\n".join([*lab.p.lines, *[""] * lab.p.empty]) + "\n"
lab.cluster.tool(
    "kafka-console-producer.sh", *broker, "--topic", lab.p.notes_topic, stdin=text_of_lines.encode()
)
out = lab.cluster.tool(
    "kafka-console-consumer.sh", *broker, "--topic", lab.p.notes_topic, "--from-beginning",
    "--max-messages", str(len(lab.p.lines) + lab.p.empty),
)
words = (out.stdout + out.stderr).split()
counted = int(words[words.index("of") + 1])
