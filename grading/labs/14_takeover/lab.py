# %% [markdown]
# # Lab 14 Takeover
#
# Three members of a group share thirteen partitions. Then one says good-bye, and another one is
# killed. Who reads what was theirs, and for how long does nobody?

# %% [markdown]
# **You will**
#
# - write a member as a program of its own, and run three of them in one group;
# - show that each new record is read once, and what another group sees of the old ones;
# - let members go, the polite way and the other, and see who takes over;
# - measure what a record waits for, with Spark.
#
# **Needs** lessons 03, 11 and 12. **Time** about 75 minutes. **Points** 100.

# %% tags=["parameters"]
student = ""  # your name or number in the course; the grader puts it in

# %%
from grading.lab import Lab

lab = Lab.open("lab14_takeover", student)
lab

# %% [markdown]
# Above stand *your* names and numbers. Besides the records that you find in the topic, others come
# while your cells run, and somebody takes members away. It is **the same here and in grading**: it
# begins with a cell whose first line is `# Task 2`, `# Task 3` and so on, and waits for
# something that your group does. So this *one* cell must hold on until all of it is done. Then a
# list says what was done, or what was never seen. Nobody knows beforehand which values come, nor
# which member goes.
#
# Points are for what *members* read and tell. To see that it is they, grading lets the notebook
# stand still for moments in tasks 2, 4 and 5. Nothing is lost by it.
#
# To try a task again, begin at the next cell: it stops all members and empties the topics.

# %% [markdown]
# ## Before task 1: two topics
#
# `lab.p.topic` has thirteen partitions. It holds `lab.p.old` records from before your time. In
# `lab.p.seen_topic` your members will tell what they read. Both topics let the *brokers* date their
# records, so that one clock tells when a record was sent and when it was read.

# %%
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition

from kafkalab import clients, members, quick, wait_until

members.stop_all()  # those of an earlier try
admin = KafkaAdminClient(bootstrap_servers=lab.cluster.address, **quick.admin)
both = [lab.p.topic, lab.p.seen_topic]
admin.delete_topics(both, raise_errors=False)
wait_until(lambda: not {*both} & {*lab.cluster.topics()}, timeout=15, what="the topics to go")
dated = {"replication_factor": 3, "configs": {"message.timestamp.type": "LogAppendTime"}}
shapes = zip(both, [13, 1], strict=True)
admin.create_topics({name: {"num_partitions": count, **dated} for name, count in shapes})
for name in both:
    lab.cluster.wait_for_topic(name)

# %%
with KafkaProducer(bootstrap_servers=lab.cluster.address, **quick.producer) as producer:
    for number in range(1, lab.p.old + 1):
        producer.send(lab.p.topic, value=b"old %d" % number, partition=number % 13)
reader_of_all = KafkaConsumer(
    bootstrap_servers=lab.cluster.address, enable_auto_commit=False, **quick.consumer
)


def everything(topic):
    """All records of a topic, whoever has read them."""
    places = [TopicPartition(topic, n) for n in reader_of_all.partitions_for_topic(topic)]
    reader_of_all.assign(places)
    reader_of_all.seek_to_beginning()
    return list(clients.records_until_end(reader_of_all))


def told_of(stage):
    """What the members told, of the records whose value begins with this word."""
    return [r for r in everything(lab.p.seen_topic) if r.value.split()[0] == stage.encode()]


everything(lab.p.topic)[0]

# %% [markdown]
# The first word of a value is its *stage*: `old`, later `new`, `leave` and `crash`.

# %% [markdown]
# ## Task 1: a member that tells what it reads
#
# Write the text of a program and keep it as `reader`. It is the program of one member, as in
# lessons 11 and 12. Its consumer
#
# - has the name of the member as its `client_id`, and reads `lab.p.topic` as a member of a group;
# - begins where its group has committed, and else where it is told to, at the end or at the
#   beginning;
# - is missed after `lab.p.session_ms` milliseconds without a heartbeat, and sends one each 500;
# - commits its positions at least each 500 ms, also where it has read nothing yet;
# - polls while `running()`, and at the end closes.
#
# For each record that it reads it sends one to `lab.p.seen_topic` and waits for the
# acknowledgement. The key is the name of the member, the value is that of the record.
#
# Write `join(name, group, reset)`. It starts such a member with `members.start` under this name, in
# this group, with `"earliest"` or `"latest"`, and returns it. What the program needs it is given by
# name; with `address=lab.cluster.address` it ends with the cluster.
#
# Then let `lab.p.members` join `lab.p.group` with `"latest"`, and keep them as `team`, a dictionary
# of name and member. When the group is stable with three members, keep as `shares` which partitions
# each of them has, as the brokers tell it. How many will the one with the most have? **22 points**
#
# *Example.* Two members of a topic with three partitions: `shares` is
# `{"kim": [0, 1], "lea": [2]}`.

# %% tags=["prediction"]
from kafkalab import Prediction

my_share = Prediction("partitions")
my_share

# %% tags=["task-1"]
# Task 1
# BEGIN SOLUTION
# STUB: write reader and join, start the team, keep its shares
reader = """
from kafka import KafkaProducer

consumer = KafkaConsumer(topic, bootstrap_servers=address, client_id=name, **settings)
producer = KafkaProducer(bootstrap_servers=address)
while running():
    for records in consumer.poll(timeout_ms=100).values():
        for record in records:
            producer.send(seen, key=name.encode(), value=record.value).get(timeout=10)
consumer.close()
"""


def join(name, group, reset):
    """A member that runs beside the notebook."""
    settings = {
        "group_id": group,
        "auto_offset_reset": reset,
        "session_timeout_ms": lab.p.session_ms,
        "heartbeat_interval_ms": 500,
        "auto_commit_interval_ms": 500,
    }
    given = {"topic": lab.p.topic, "seen": lab.p.seen_topic, "settings": settings}
    return members.start(reader, name, address=lab.cluster.address, **given)


team = {name: join(name, lab.p.group, "latest") for name in lab.p.members}
group = lab.cluster.wait_for_group(lab.p.group, members=3)
shares = {one.client: one.assignment[lab.p.topic] for one in group.members}
# END SOLUTION
my_share.against(max(len(held) for held in shares.values()))

# %% tags=["check-1", "A75"]
lab.check(1)

# %% [markdown]
# ## Task 2: each new record once
#
# Why shall a member commit before it has read anything? A group without a commit has no place of
# its own: with `latest` it begins at the end, wherever that is by then. What comes after the first
# commit is for this group, whoever of it is there.
#
# Once your group has committed an offset in each partition, `lab.p.new` records of the stage `new`
# come. Wait until all of them are told of. Then keep as `heard` which values each member has read,
# as text: a dictionary of name and list. Is one of the old ones among them? **18 points**
#
# *Example.* `{"kim": ["new 1 7c0f", "new 3 52aa"], "lea": ["new 2 e9b1"]}`

# %% tags=["task-2"]
# Task 2
# BEGIN SOLUTION
# STUB: wait for the new records, then keep what each member has heard
wait_until(lambda: len(told_of("new")) >= lab.p.new, timeout=60, what="the new records")
heard = {name: [] for name in lab.p.members}
for record in everything(lab.p.seen_topic):
    heard[record.key.decode()].append(record.value.decode())
# END SOLUTION
{name: len(values) for name, values in heard.items()}

# %% tags=["check-2", "A76"]
lab.check(2)

# %% [markdown]
# ## Task 3: another group, from the beginning
#
# Let `lab.p.latecomer` join `lab.p.other_group` in this cell, with `"earliest"`. Before you run
# it: how many records will it read? Keep as `from_start` how many it told of, when it has read all
# there are. Then stop it. **12 points**
#
# *Example.* In a topic with 5 old and 3 new records `from_start` would be one of 0, 3, 5 and 8.

# %% tags=["task-3"]
# Task 3
# BEGIN SOLUTION
# STUB: start the latecomer in the other group, count what it told of, stop it
late = join(lab.p.latecomer, lab.p.other_group, "earliest")


def told_by(name):
    """How many records this member told of."""
    return sum(record.key == name.encode() for record in everything(lab.p.seen_topic))


there = lab.cluster.topic(lab.p.topic).records
wait_until(lambda: told_by(lab.p.latecomer) >= there, timeout=60, what="all records")
from_start = told_by(lab.p.latecomer)
late.stop()
# END SOLUTION
from_start

# %% tags=["check-3", "A77"]
lab.check(3)

# %% [markdown]
# ## Task 4: one says good-bye
#
# As soon as your group has nothing left to read, one of the three is asked to end, as by
# `member.stop()`. When it has ended, thirteen records of the stage `leave` come, one in each
# partition.
#
# Wait until two members have dealt out everything anew, and until all thirteen are told of. Keep as
# `two` which partitions each of the two has, in the form of `shares`. **16 points**
#
# *Example.* When `kim` has gone: `{"lea": [0, 1, 2]}`.

# %% tags=["task-4"]
# Task 4
# BEGIN SOLUTION
# STUB: wait for the two and for the records, keep who has what
group = lab.cluster.wait_for_group(lab.p.group, members=2, timeout=60)
two = {one.client: one.assignment[lab.p.topic] for one in group.members}
wait_until(lambda: len(told_of("leave")) >= 13, timeout=60, what="the records after the leave")
# END SOLUTION
two

# %% tags=["check-4", "A78", "A79"]
lab.check(4)

# %% [markdown]
# ## Task 5: one is killed
#
# Now one of those that are left is killed, in the middle of nothing: it can tell nobody. At the
# same moment thirteen records of the stage `crash` come. How many seconds will the slowest of them
# wait for its reader?
#
# Wait until all thirteen are told of. Keep as `last` who has which partitions then. **16 points**
#
# *Example.* When `lea` alone is left: `{"lea": [0, 1, 2]}`.

# %% tags=["prediction"]
my_wait = Prediction("seconds")
my_wait

# %% tags=["task-5"]
# Task 5
# BEGIN SOLUTION
# STUB: wait for the records, keep who has what
wait_until(lambda: len(told_of("crash")) >= 13, timeout=60, what="the records after the kill")
group = lab.cluster.wait_for_group(lab.p.group)
last = {one.client: one.assignment[lab.p.topic] for one in group.members}
# END SOLUTION
last

# %% tags=["check-5", "A78", "A79"]
lab.check(5)

# %% [markdown]
# Nothing was lost either time: the records lay in the log, and the group knew from its commits
# where to go on.

# %% [markdown]
# ## Task 6: what a record waits for
#
# Ask Spark. `read_topic` reads a topic as a table with the columns `key`, `value`, `partition` and
# `timestamp`, which is the brokers' date.
#
# - `counted` says how many records of each stage each member has told of: a dictionary of stage and
#   a dictionary of member and number.
# - `waits` has the keys `"leave"` and `"crash"`. Its values are seconds: how long the slowest
#   record of this stage lay in `lab.p.topic` until its telling lay in `lab.p.seen_topic`.
#
# **16 points**
#
# *Example.* `{"new": {"kim": 2, "lea": 1}, "leave": {"lea": 3}}` and
# `{"leave": 0.25, "crash": 0.5}`

# %% tags=["task-6"]
# Task 6
from pyspark.sql import functions as F

from kafkalab import read_topic, spark_session

spark = spark_session("lab14")
# BEGIN SOLUTION
# STUB: count by stage and member, find the longest waits
text = F.col("value").cast("string")
at = F.col("timestamp").cast("double")
member = F.col("key").cast("string").alias("member")
told = read_topic(spark, lab.cluster, lab.p.seen_topic)
told = told.select(F.split(text, " ")[0].alias("stage"), member, "value", at.alias("read"))
counted = {}
for row in told.groupBy("stage", "member").agg(F.count("value").alias("records")).collect():
    counted.setdefault(row.stage, {})[row.member] = row.records

sent = read_topic(spark, lab.cluster, lab.p.topic).select("value", at.alias("sent"))
longest = told.join(sent, "value").groupBy("stage").agg(F.max(F.expr("read - sent")).alias("wait"))
found = {row.stage: row.wait for row in longest.collect()}
waits = {stage: found[stage] for stage in ("leave", "crash")}
# END SOLUTION
counted, waits

# %% tags=["check-6", "A78", "A91"]
lab.check(6)

# %% tags=["demo"]
my_wait.against(waits["crash"])

# %% [markdown]
# A good-bye is heard by the group, and the others hear of it with their next heartbeat. A kill is
# heard by nobody: the dead member keeps its partitions until its session is over.
#
# Before you run the next cell: in which stages does each member have records?

# %% tags=["demo", "A91"]
from kafkalab import charts

stages = ["old", "new", "leave", "crash"]
rows = [(f"{n} {s}", *one) for n, s in enumerate(stages, 1) for one in counted[s].items()]
table = spark.createDataFrame(rows, "stage string, member string, records long")
readers = [len({*counted[stage]} & {*lab.p.members}) for stage in stages]
assert waits["crash"] > waits["leave"]
ax = charts.records_per_partition(table, partition="stage", by="member", records="records")
ax.set(xlabel="stage", ylabel="records that were told of")
title = "Members of the group that read: " + ", ".join(map("{} {}".format, stages, readers))
ax.set_title(title)
charts.show(ax, f"{title}; {lab.p.latecomer} is of another group. {counted}")
print(f"The slowest waited {waits['leave']:.1f} s after the good-bye, {waits['crash']:.1f} s after")
print(f"the kill, of a session of {lab.p.session_ms / 1000:.0f} s.")

# %%
lab.score()

# %%
lab.close()
