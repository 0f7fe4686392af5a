# %% [markdown]
# # 00 The title, two or three words
#
# One paragraph that ends in a doubt, in words a newcomer has. You sent a record and the cluster
# said yes. Where is that record now, and who else can read it?

# %% [markdown]
# You will
# - send a record and say where it was put
# - read it twice and say why it is still there
#
# Needs 00. 20 minutes.

# %% tags=["parameters"]
records = 20

# %%
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from kafkalab import Cluster, Prediction, charts, clients, quick, read_topic, spark_session

cluster = Cluster.start("single")

# %% [markdown]
# ## Where does a record go?
#
# A topic is a name. What a broker keeps is a **partition**: a log to which records are added at
# the end. The place of a record in it is its offset.

# %% [markdown]
# Before you run the next cell: which offset does the first record of a new topic get?

# %%
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
admin.create_topics({"template-rides": {"num_partitions": 1}})
cluster.wait_for_topic("template-rides")
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
receipts = [
    producer.send("template-rides", value=f"ride {number}".encode()).get(timeout=10)
    for number in range(records)
]
receipts[0].offset

# %% [markdown]
# The first offset is 0, and every further record gets the next one. The number belongs to the
# partition, not to the producer: a second producer would go on where this one stopped.

# %%
assert [receipt.offset for receipt in receipts] == list(range(records))

# %% [markdown]
# ## Who may read it?
#
# **Reading** takes nothing away. A consumer only remembers how far it has come.

# %% [markdown]
# The first reader has read everything. How many records are left for the second?

# %% tags=["prediction"]
my_records = Prediction(None, "records")  # your number in the place of None
my_records

# %%
counts = []
for reader in ("first", "second"):
    consumer = KafkaConsumer(
        "template-rides",
        bootstrap_servers=cluster.address,
        client_id=reader,
        auto_offset_reset="earliest",
        **quick.consumer,
    )
    counts.append(sum(1 for _ in clients.records_until_end(consumer)))
my_records.against(counts[1])

# %% [markdown]
# Both have read the same number. The records stay until retention removes them.

# %%
assert counts == [records, records]

# %%
rides = read_topic(spark_session(), cluster, "template-rides")
ax = charts.records_per_partition(rides)
charts.show(ax, f"{records} records in one partition, read {len(counts)} times")

# %% [markdown]
# ## When it goes wrong
#
# A record can be too large for the broker. Which of the two notices, and when?

# %%
try:
    producer.send("template-rides", value=bytes(2_000_000)).get(timeout=10)
except Exception as error:
    refusal = type(error).__name__
assert refusal == "MessageSizeTooLargeError"

# %% [markdown]
# The client refuses before it sends. The name of the error says what to look for in the settings.

# %% [markdown]
# ## Try it
#
# - Send the records from two producers. What do the offsets look like?
# - Give the topic three partitions. How many records get the offset 0?

# %% [markdown]
# ## What you saw
#
# - A record is put at the end of a partition, and its offset tells where.
# - Reading leaves it there for the next reader.

# %%
cluster.close()
