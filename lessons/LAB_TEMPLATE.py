# %% [markdown]
# # Lab 00 The title, two or three words
#
# One paragraph that says what is handed in and why it is worth it. Can you put records where
# you want them?

# %% [markdown]
# You will
# - create a topic with a given number of partitions
# - choose a partition for each key
#
# Needs 00. 20 minutes.

# %% tags=["parameters"]
student = ""

# %%
from grading.lab import Lab

lab = Lab.open("lab00_title", student=student)

# %% [markdown]
# ## Task 1: create the topic
#
# Create a topic with the name in `lab.p.topic` and as many partitions as `lab.p.partitions` says
# (10 points). Example: with the name `rides` and the number 3, `kafka-topics --list` shows `rides`.

# %% tags=["task-1"]
# Task 1
from kafka import KafkaAdminClient

from kafkalab import quick

# BEGIN SOLUTION
# STUB: create the topic with a KafkaAdminClient
admin = KafkaAdminClient(bootstrap_servers=lab.cluster.address, **quick.admin)
admin.create_topics({lab.p.topic: {"num_partitions": lab.p.partitions}})
# END SOLUTION

# %% tags=["check-1"]
lab.check(1)

# %% [markdown]
# ## Task 2: choose a partition
#
# Write `partition_of` so that the same key always gives the same partition (10 points).
# Example: `partition_of(b"a", 3)` twice gives the same number, and it is 0, 1 or 2.
#
# Before you run the check: how many of 30 different keys will share a partition with another?

# %% tags=["task-2"]
# Task 2
import zlib


def partition_of(key: bytes, partitions: int) -> int:
    """The partition for `key`: same key, same answer."""
    # BEGIN SOLUTION
    return zlib.crc32(key) % partitions
    # END SOLUTION


# %% tags=["check-2"]
lab.check(2)

# %% [markdown]
# ## What Spark sees
#
# The records of the topic by partition. If task 1 is done, the table has a row for each partition
# that holds a record.

# %%
from kafkalab import read_topic, spark_session

records = read_topic(spark_session(), lab.cluster, lab.p.topic)
records.groupBy("partition").count().toPandas()

# %%
lab.score()
