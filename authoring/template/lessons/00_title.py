# %% [markdown]
# # 00 Title
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

from kafkalab import Cluster, Prediction, charts, quick, read_topic, spark_session
from kafkalab.notebook import exercise

cluster = Cluster.start("single")

# %% [markdown]
# ## Where does a record go?
#
# A topic is a name. What a broker keeps is a **partition**: a log to which records are added at
# the end. The place of a record in it is its **offset**.
#
# Before you run the next cell: which offset does the first record of a new topic get?

# %%
rides = cluster.unused("title-rides")  # a second run of this cell takes another name
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
admin.create_topics({rides: {"num_partitions": 1}})
cluster.wait_for_topic(rides)

producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
receipts = [producer.send(rides, value=b"ride").get(timeout=10) for _ in range(records)]
receipts[0].offset

# %% tags=["proof"]
offsets = [receipt.offset for receipt in receipts]
assert offsets == list(range(records)), offsets

# %% [markdown]
# The first offset is 0, and every further record gets the next one. The number belongs to the
# partition, not to the producer: a second producer would go on where this one stopped.

# %% [markdown]
# ## Who may read it?
#
# Reading takes nothing away. A consumer only remembers how far it has come, its **position**. The
# first reader has read everything. How many records are left for the second?

# %% tags=["prediction"]
my_records = Prediction("records")
my_records

# %%
counts = []
for reader in ("first", "second"):
    consumer = KafkaConsumer(
        rides,
        bootstrap_servers=cluster.address,
        client_id=reader,
        auto_offset_reset="earliest",
        consumer_timeout_ms=2_000,  # the loop ends when nothing new has come for two seconds
    )
    counts.append(sum(1 for _ in consumer))
my_records.against(counts[1])

# %% tags=["proof"]
assert counts == [records, records], counts

# %% [markdown]
# Both have read the same number. The records stay until retention removes them.

# %%
spark = spark_session()
found = read_topic(spark, cluster, rides)
ax = charts.records_per_partition(found)
charts.show(ax, f"{records} records in one partition, read {len(counts)} times")

# %% [markdown]
# ## When it goes wrong
#
# A record can be too large. Which of the two notices, the client or the broker, and when?

# %%
try:
    producer.send(rides, value=bytes(2_000_000)).get(timeout=10)
except Exception as error:
    refusal = error
refusal

# %% tags=["proof"]
assert type(refusal).__name__ == "MessageSizeTooLargeError", refusal

# %% [markdown]
# The client refuses before it sends. The name of the error says what to look for in the settings.

# %% [markdown]
# ## Your turn
#
# Which offset does the next record get? Send one, and keep the offset that its receipt names.

# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: next_offset = ...
next_offset = producer.send(rides, value=b"one more").get(timeout=10).offset
# END SOLUTION
exercise.check("next offset", next_offset, lambda n: "" if n >= records else "that one is taken.")

# %% [markdown]
# ## What you saw
#
# - A record is put at the end of a partition, and its offset tells where.
# - Reading leaves it there for the next reader.

# %%
cluster.close()
spark.stop()
