# %% [markdown]
# # Lab 00 Title
#
# One paragraph that says what is handed in and why it is worth it. Can you put records where you
# want them?

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

admin = KafkaAdminClient(bootstrap_servers=lab.cluster.address, **quick.admin)
# BEGIN SOLUTION
# STUB: create the topic with admin.create_topics
admin.create_topics({lab.p.topic: {"num_partitions": lab.p.partitions}})
lab.cluster.wait_for_topic(lab.p.topic)
# END SOLUTION

# %% tags=["check-1"]
lab.check(1)

# %% [markdown]
# ## Task 2: choose a partition
#
# Write `partition_of` so that the same key always gives the same partition (10 points). The lines
# below it send one record for each rider. Example: `partition_of(b"anna", 3)` twice gives the same
# number, and it is 0, 1 or 2.
#
# Before you run the check: will every partition hold as many records as the others?

# %% tags=["task-2"]
# Task 2
import zlib

from kafka import KafkaProducer


def partition_of(key: bytes, partitions: int) -> int:
    """The partition for `key`: same key, same answer."""
    # BEGIN SOLUTION
    # STUB: choose a partition
    return zlib.crc32(key) % partitions
    # END SOLUTION


with KafkaProducer(bootstrap_servers=lab.cluster.address, **quick.producer) as producer:
    for rider in lab.p.riders:
        place = partition_of(rider.encode(), lab.p.partitions)
        producer.send(lab.p.topic, key=rider.encode(), value=b"ride", partition=place)

# %% tags=["check-2"]
lab.check(2)

# %% [markdown]
# ## What Spark sees
#
# The records of the topic by partition, a row for each partition that holds one.

# %% tags=["demo"]
from kafkalab import read_topic, spark_session

records = read_topic(spark_session(), lab.cluster, lab.p.topic)
records.groupBy("partition").count().toPandas()

# %%
lab.score()
