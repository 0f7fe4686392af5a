# Task 1
packer = '''
from kafka import OffsetAndMetadata

def main():
    with KafkaConsumer(
        topic, bootstrap_servers=address, group_id=group, client_id=name,
        **(settings | {"auto_offset_reset": "earliest", "enable_auto_commit": False}),
    ) as reader:
        while running():
            for place, batch in reader.poll(200).items():
                for one in batch:
                    pack(one)
                    reader.commit({place: OffsetAndMetadata(one.offset + 1)})

main()
'''
predicted_1 = {}
for number, who in enumerate(sorted(lab.p.three)):
    predicted_1[who] = 13 // 3 + (number < 13 % 3)
people = {}
for who in lab.p.three:
    people[who] = hire(packer, who, lab.p.day_1)
wait_for_team(lab.p.day_1, people)
owners_1 = {}
for one in lab.cluster.group(lab.p.day_1["group"]).members:
    for partition in one.assignment[lab.p.day_1["topic"]]:
        owners_1[partition] = one.client
shop.send_orders(lab.cluster, lab.p.day_1["topic"], lab.p.orders)
close_shop(lab.p.day_1, people)

# Task 2
low, high = sorted(lab.p.pair)
in_turns = [n % 6 for n in range(lab.p.parcels)]
counts = {low: sum(n < 3 for n in in_turns), high: sum(n >= 3 for n in in_turns)}
predicted_2 = counts[lab.p.pair[0]]
staff = {}
for who in lab.p.pair:
    staff[who] = hire(packer, who, {**lab.p.day_2, "group": lab.p.shared})
for department in lab.p.departments:
    staff[department] = hire(packer, department, {**lab.p.day_2, "group": department})
both = [staff[who] for who in lab.p.pair]
shop.wait_for_team(lab.cluster, {**lab.p.day_2, "group": lab.p.shared}, both)
for department in lab.p.departments:
    shop.wait_for_team(lab.cluster, {**lab.p.day_2, "group": department}, ["one"])
shop.send_orders(lab.cluster, lab.p.day_2["topic"], lab.p.parcels)
for department in lab.p.departments:
    close_shop(lab.p.day_2 | {"group": department}, {"it": staff[department]})
close_shop(lab.p.day_2 | {"group": lab.p.shared}, {who: staff[who] for who in lab.p.pair})
from kafkalab import read_topic

frame = read_topic(spark, lab.cluster, lab.p.day_2["results"]).toPandas()
frame["who"] = [bytes(key).decode().split() for key in frame["key"]]
frame["text"] = [bytes(value) for value in frame["value"]]
by_group, by_member = {}, {}
for department in [*lab.p.departments, lab.p.shared]:
    mine = frame[[who[0] == department for who in frame["who"]]]
    by_group[department] = int(mine["text"].nunique())
for person in lab.p.pair:
    by_member[person] = int(sum(who[1] == person for who in frame["who"]))

# Task 3
people = {who: hire(packer, who, lab.p.day_3, seconds) for who in lab.p.crew}
wait_for_team(lab.p.day_3, people)
shop.send_orders(lab.cluster, lab.p.day_3["topic"], lab.p.rush)
close_shop(lab.p.day_3, people)

# Task 4
from kafka.admin import OffsetSpec

def lag_of(group, topic):
    (committed,) = admin.list_group_offsets(group).values()
    (described,) = admin.describe_topics([topic])
    places = [TopicPartition(topic, one["partition_index"]) for one in described["partitions"]]
    first = admin.list_partition_offsets({p: OffsetSpec.EARLIEST for p in places})
    last = admin.list_partition_offsets({p: OffsetSpec.LATEST for p in places})
    result = {}
    for place in places:
        begin = committed[place].offset if place in committed else first[place].offset
        result[place.partition] = last[place].offset - begin
    return result


one = hire(packer, lab.p.counter, lab.p.day_4, seconds)
one.wait_for_end(timeout=60)
lag_4 = lag_of(lab.p.day_4["group"], lab.p.day_4["topic"])

# Task 5
careful = f'''
EVERY = {lab.p.every}
from kafka import AsyncConsumerRebalanceListener, OffsetAndMetadata, TopicPartition


class Member(AsyncConsumerRebalanceListener):
    def __init__(self):
        self.after = dict()
        self.count = 0
        self.consumer = KafkaConsumer(
            bootstrap_servers=address, group_id=group, client_id=name,
            **(settings | dict(auto_offset_reset="earliest", enable_auto_commit=False)),
        )
        self.consumer.subscribe([topic], listener=self)

    async def on_partitions_assigned(self, assigned):
        if assigned:
            note("told", word="assigned", numbers=sorted(p.partition for p in assigned))

    async def on_partitions_revoked(self, revoked):
        if not revoked:
            return
        note("told", word="revoked", numbers=sorted(p.partition for p in revoked))
        going = dict((p, OffsetAndMetadata(self.after[p], name)) for p in self.after)
        self.after.clear()
        if going:
            await self.consumer.commit_async(going)

    def work(self):
        for records in self.consumer.poll(timeout_ms=100).values():
            for record in records:
                pack(record)
                self.after[TopicPartition(record.topic, record.partition)] = record.offset + 1
                self.count = self.count + 1
                if self.count == EVERY:
                    self.count = 0
                    self.consumer.commit(
                        dict((p, OffsetAndMetadata(o, name)) for p, o in self.after.items())
                    )


member = Member()
while running():
    member.work()
member.consumer.close()
'''
one = hire(careful, lab.p.careful, lab.p.day_5, pace=seconds, max_poll_records=10)
close_shop(lab.p.day_5, {"one": one})
told_5 = [[e.facts["word"], e.facts["numbers"]] for e in one.events if e.what == "told"]

# Task 6
seats = {
    who: hire(
        packer, who, lab.p.day_6, seconds, group_instance_id=who, session_timeout_ms=30_000
    )
    for who in lab.p.seats
}
wait_for_team(lab.p.day_6, seats)
shop.send_orders(lab.cluster, lab.p.day_6["topic"], lab.p.nightly)
fallen = wait_until(
    lambda: [who for who, member in seats.items() if member.state == "ended"] or None,
    timeout=90, what="somebody to fall",
)
for who in fallen:
    seats[who] = hire(
        packer, who, lab.p.day_6, seconds, group_instance_id=who, session_timeout_ms=30_000
    )
close_shop(lab.p.day_6, seats)
