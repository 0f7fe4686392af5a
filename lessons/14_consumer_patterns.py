# %% [markdown]
# # 14 Consumer patterns
#
# A shop takes orders. One of them cannot be read, some take long, and the service that charges the
# cards is slow. The loop of the last lessons was made for none of this. How is real work organised?

# %% [markdown]
# You will
# - keep one bad record from stopping a partition, and lose nothing by it,
# - hand partitions over without doing work twice,
# - work longer than a poll may take, and stay a member,
# - choose among three ways to work in parallel, and say what to commit then.
#
# Needs 11, 12 and 13. 25 minutes.

# %% tags=["parameters"]
orders_to_charge = 240
workers = 12

# %%
import json
import zlib
from concurrent.futures import ThreadPoolExecutor

from kafka import AsyncConsumerRebalanceListener as AsyncListener
from kafka import ConsumerRebalanceListener as Listener
from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.errors import KafkaError

from kafkalab import Choice, Cluster, Prediction, charts, clients, members, quick
from kafkalab.lessons import consumer_groups, consumer_patterns
from kafkalab.notebook import exercise

cluster = Cluster.start("single")
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
settings = {"auto_offset_reset": "earliest", "enable_auto_commit": False, **quick.consumer}

# %% [markdown]
# ## One bad record
#
# Orders are JSON. This program packs an order, commits, and takes the next. (A commit names the
# *next* offset, one more than that of the record.) What it cannot read it gives to `on_bad`. If
# that says False, the program goes back to the record, and will try it again: an order must not be
# lost.

# %%
packed = []


def pack(consumer, on_bad):
    for place, records in consumer.poll(timeout_ms=200).items():
        for record in records:
            try:
                packed.append((place, json.loads(record.value)["order"]))
            except ValueError as error:
                if not on_bad(record, error):
                    consumer.seek(place, record.offset)
                    break
            consumer.commit({place: OffsetAndMetadata(record.offset + 1, "", -1)})


# %% [markdown]
# Each day brings ten orders for each of three partitions. The packer works until nothing moves any
# more, and in the evening the lags are noted. On day 2 an old program sends an order to partition 1
# that breaks off in the middle.


# %% tags=["prediction"]
def place_orders(topic, number, bad=None):
    """Customer by customer, partition by partition; the one numbered `bad` breaks off."""
    spread = len(producer.partitions_for(topic))
    for n in range(number):
        value = b'{"order": ' if n == bad else b'{"order": %d}' % n
        producer.send(topic, key=b"customer %d" % (n % 24), value=value, partition=n % spread)
    producer.flush(timeout=10)


my_day = Choice(
    "What becomes of the orders of the next days?",
    "all partitions stand still",
    "partition 1 stands still, the others go on",
    "after some attempts the bad record is skipped",
)
my_day

# %%
orders = consumer_patterns.new_topic(cluster, "orders", partitions=3)
packer = KafkaConsumer(orders, bootstrap_servers=cluster.address, group_id=orders, **settings)
lags = []
stuck = []


def try_again(record, error):
    stuck.append(record.partition)
    return False


for bad in (None, 13, None, None):
    place_orders(orders, 30, bad)
    lags += [consumer_patterns.evening(lambda: pack(packer, try_again), cluster, orders, but=stuck)]
said = f"after {len(stuck)} attempts the lags are {lags[-1]}, by partition."
why = {my_day.answers[0]: said, my_day.answers[2]: said}
my_day.against("partition 1 stands still, the others go on", why)

# %% [markdown]
# Partition 1 stands, and would stand until retention deletes what nobody read. No broker helps: for
# it a record is bytes. A program that ends with the error and is started again fares no better: its
# commit leads it to the same record.
#
# So put it aside: into a topic of its own, a **dead letter topic**, as it came, with headers that
# say where it was and why. The commit has to wait until that record is acknowledged.

# %%
dead = consumer_patterns.new_topic(cluster, "orders-dead", partitions=1)


def set_aside(record, error):
    origin = f"{record.topic} {record.partition} {record.offset}"
    headers = [("from", origin.encode()), ("error", str(error).encode())]
    producer.send(dead, key=record.key, value=record.value, headers=headers).get(timeout=10)
    return True


# %%
evenings = list(lags)
for _ in range(2):
    place_orders(orders, 30)
    evenings += [consumer_patterns.evening(lambda: pack(packer, set_aside), cluster, orders)]
with KafkaConsumer(dead, bootstrap_servers=cluster.address, **settings) as reader:
    letters = list(clients.records_until_end(reader))
print(letters[0].value, *letters[0].headers, sep="\n")
held = lags[-1][1] - 1
title = f"One bad record holds up {held} good ones; put aside, it holds up none"
ax = consumer_patterns.lag_by_day(evenings, changed=5, what="dead letter topic")
ax.set_title(title)
charts.show(ax, f"{title}. Lags by day: {evenings}.")

# %% tags=["proof", "B158"]
assert [lag[1] for lag in evenings] == [0, 6, 16, 26, 0, 0], evenings
assert all(lag[0] == lag[2] == 0 for lag in evenings), evenings
assert set(stuck) == {1}, stuck
assert len(stuck) > 1, stuck
assert len(letters) == 1, letters  # the bad record is counted
assert letters[0].value == b'{"order": ', letters
assert dict(letters[0].headers)["from"] == f"{orders} 1 14".encode(), letters
each = [place for place, _ in packed if place.topic == orders]
assert len(each) == cluster.topic(orders).records - 1, len(each)  # the reader lives

# %% tags=["proof"]
from kafkalab import wait_until


def end(record, error):
    raise error


place = TopicPartition(orders, 1)
earlier = list(packed)
ended_at = []
for _ in range(3):  # started again and again, as a supervisor of programs does it
    group = {"group_id": f"{orders} restarted", **settings}
    with KafkaConsumer(bootstrap_servers=cluster.address, **group) as restarted:
        restarted.assign([place])
        try:
            wait_until(lambda: pack(restarted, end), timeout=20, what="the bad record")
        except ValueError:
            ended_at.append(restarted.committed(place))
packed[:] = earlier
assert ended_at == [14, 14, 14], ended_at

# %% [markdown]
# Somebody has to read dead letters, and may mend them and send them again. By then later orders of
# the same customer have overtaken this one. Put aside what is *bad*. When a service is down, every
# order fails: then wait, and try again.
#
# And decode in the loop, as here. With a `value_deserializer` that raises, kafka-python's `poll`
# raises, and does not say at which record. (Java's does. And without the course's mends the next
# `poll` never returns: see `clients.MENDS`.)

# %% [markdown]
# ## Hand over
#
# A commit for each record costs a request each. Mostly one commits after many. A member has worked
# on 40 orders, ten of each of four partitions, and has committed none. Then a second one joins and
# takes over half of the partitions.


# %% tags=["prediction"]
def hand_over(listener=None):
    topic = consumer_patterns.new_topic(cluster, "handover", partitions=4)
    place_orders(topic, 40)
    group = {"group_id": topic, **settings}
    with KafkaConsumer(bootstrap_servers=cluster.address, **group) as first:
        first.subscribe([topic], listener=listener and listener(first))
        done = consumer_patterns.read_on(first)
        with KafkaConsumer(topic, bootstrap_servers=cluster.address, **group) as second:
            done += consumer_patterns.read_on(first, second)
    return len(done) - len(set(done))


my_repeats = Prediction("orders", "How many orders are worked on twice?")
my_repeats

# %%
careless = hand_over()
my_repeats.against(careless)

# %% [markdown]
# All that moved: the second member begins at the commit, and there is none. But a partition is not
# taken away without a word. A **rebalance listener** is called before that (`revoked`), while the
# member still may commit, and after it got others (`assigned`).


# %%
class CommitBefore(AsyncListener):
    def __init__(self, consumer):
        self.consumer = consumer

    async def on_partitions_revoked(self, revoked):
        await self.consumer.commit_async()

    async def on_partitions_assigned(self, assigned):
        pass


careful = hand_over(CommitBefore)
careful

# %% tags=["proof", "B169"]
assert careless == 20, careless
assert careful == 0, careful

# %% [markdown]
# It commits the positions, all that `poll` has handed out. That is right here: whoever polls again
# has done all of it. It helps who is asked, not who is dead or was put out (lesson 12).
#
# > *This client.* Java's listener runs in the thread that polls, and calls `commitSync()`. Carried
# > over as it stands, that is a plain listener with a blocking call:


# %%
class CommitAsInJava(Listener):
    def __init__(self, consumer):
        self.consumer = consumer

    def on_partitions_revoked(self, revoked):
        self.consumer.commit()

    def on_partitions_assigned(self, assigned):
        pass


try:
    hand_over(CommitAsInJava)
except KafkaError as error:
    blocked = error
print(blocked, blocked.__cause__, sep="\n")

# %% tags=["proof", "B168", "B170"]
assert isinstance(blocked.__cause__, RuntimeError), blocked
assert "IO thread" in str(blocked.__cause__), blocked
with KafkaConsumer(bootstrap_servers=cluster.address, group_id="never", **settings) as never:
    never.subscribe([orders], listener=CommitAsInJava(never))
    refusals = []
    for _ in range(5):
        try:
            never.poll(timeout_ms=200)
        except KafkaError as error:
            refusals.append(error)
    assert len(refusals) == 5, refusals
    assert never.assignment() == set(), never.assignment()


class Told(Listener):
    """Notes the partitions of each call; some calls have none."""

    def __init__(self):
        self.heard = []

    def on_partitions_revoked(self, revoked):
        self.heard += [("revoked", {place.partition for place in revoked})] * bool(revoked)

    def on_partitions_assigned(self, assigned):
        self.heard += [("assigned", {place.partition for place in assigned})] * bool(assigned)


told_topic = consumer_patterns.new_topic(cluster, "told", partitions=4)
both = Told()
his = Told()
with KafkaConsumer(bootstrap_servers=cluster.address, group_id=told_topic, **settings) as second:
    with KafkaConsumer(bootstrap_servers=cluster.address, group_id=told_topic, **settings) as first:
        first.subscribe([told_topic], listener=both)
        consumer_patterns.read_on(first)
        second.subscribe([told_topic], listener=his)
        consumer_patterns.read_on(first, second)
        halves = [{place.partition for place in one.assignment()} for one in (first, second)]
    consumer_groups.settle({"left": [second]}, partitions=4)
everything = {0, 1, 2, 3}
assert halves[0] | halves[1] == everything, halves
whole = [("assigned", everything), ("revoked", everything), ("assigned", halves[0])]
assert both.heard == [*whole, ("revoked", halves[0])], both.heard  # the last one at close
wanted = [("assigned", halves[1]), ("revoked", halves[1]), ("assigned", everything)]
assert his.heard == [*wanted, ("revoked", everything)], his.heard

# %% tags=["proof", "B173"]
import time


class ToBeginning(Listener):
    """Seeks when it gets partitions, until its time is over or it is done."""

    def __init__(self, consumer):
        self.consumer = consumer
        self.until = time.monotonic() + 30
        self.done = False

    def on_partitions_revoked(self, revoked):
        pass

    def on_partitions_assigned(self, assigned):
        self.done = self.done or time.monotonic() > self.until
        if assigned and not self.done:
            self.consumer.seek_to_beginning(*assigned)


def sought(meanwhile):
    """How many records come once more though all were committed, when another member joins."""
    topic = consumer_patterns.new_topic(cluster, "sought", partitions=4)
    place_orders(topic, 40)
    with KafkaConsumer(bootstrap_servers=cluster.address, group_id=topic, **settings) as first:
        seeker = ToBeginning(first)
        first.subscribe([topic], listener=seeker)
        done = consumer_patterns.read_on(first)
        first.commit()
        meanwhile(seeker)
        with KafkaConsumer(
            topic, bootstrap_servers=cluster.address, group_id=topic, **settings
        ) as second:
            done += consumer_patterns.read_on(first, second)
    return len(done) - len(set(done))


trap = sought(lambda seeker: None)
assert trap == 20, trap  # a rebalance within its time, and it goes back again
late = sought(lambda seeker: setattr(seeker, "until", 0))
assert late == 0, late
finished = sought(lambda seeker: setattr(seeker, "done", True))
assert finished == 0, finished

# %% tags=["proof", "B178"]
pattern = told_topic.replace("told", "stock")
known = consumer_patterns.new_topic(cluster, f"{pattern}-ibm", partitions=1)
tellers = Told()
with KafkaConsumer(
    bootstrap_servers=cluster.address, group_id=pattern, metadata_max_age_ms=1_000, **settings
) as watcher:
    watcher.subscribe(pattern=f"^{pattern}-.*", listener=tellers)
    consumer_patterns.read_on(watcher)
    newer = consumer_patterns.new_topic(cluster, f"{pattern}-uber", partitions=1)
    place_orders(newer, 3)
    found = wait_until(
        lambda: watcher.poll(timeout_ms=100).get(TopicPartition(newer, 0)),
        timeout=10,
        what="the new topic",
    )
    assert watcher.subscription() >= {known, newer}, watcher.subscription()
assert found[0].offset == 0, found
assert [what for what, _ in tellers.heard][-1] == "revoked", tellers.heard

# %% [markdown]
# > kafka-python calls listeners in the thread that talks to the brokers, and a call that waits for
# > an answer would wait there for itself. It comes with the *first* join already, before there is
# > anything to commit, so such a program never gets a partition.

# %% [markdown]
# ## Long work
#
# A member that does not poll for `max_poll_interval_ms` is put out, though it lives (lesson 12).
# This one may be silent for two seconds, and five orders take longer. So another thread does the
# work, and the member goes on polling. To get nothing more meanwhile it *pauses* its partitions.

# %%
slow = consumer_patterns.new_topic(cluster, "slow", partitions=1)
place_orders(slow, 20)
group = {"group_id": slow, **settings, "max_poll_interval_ms": 2_000}
member = KafkaConsumer(slow, bootstrap_servers=cluster.address, **group)
batch = consumer_patterns.first_poll(member, max_records=5)
service = consumer_patterns.Service(seconds=0.4)
polled = []
with ThreadPoolExecutor(1) as worker:
    member.pause(*member.assignment())
    work = worker.submit(service.call_all, batch)
    while not work.done():
        polled.append(member.poll(timeout_ms=100))
member.resume(*member.paused())
member.commit()

# %%
seconds = service.calls[-1].ended - service.calls[0].began
got = sum(len(records) for one in polled for records in one.values())
position = member.position(TopicPartition(slow, 0))
print(f"work {seconds:.1f} s, meanwhile {len(polled)} polls and {got} records; then")
print(f"the commit was accepted, and the position is {position}")

# %% tags=["proof", "B194"]
place = TopicPartition(slow, 0)
assert seconds > 2.5, seconds  # more than the member may be silent
assert len(polled) > 10, len(polled)
assert got == 0, polled
assert [record.offset for record in batch] == [0, 1, 2, 3, 4], batch
assert position == 5, position
assert member.committed(place) == 5, member.committed(place)  # who is put out may not commit
member.seek(place, position)
following = consumer_patterns.first_poll(member, max_records=5)
assert [record.offset for record in following] == [5, 6, 7, 8, 9], following

# %% tags=["proof", "A36", "B154"]
shared_topic = consumer_patterns.new_topic(cluster, "shared", partitions=1)
place_orders(shared_topic, 10)
with KafkaConsumer(
    shared_topic, bootstrap_servers=cluster.address, group_id=shared_topic, **settings
) as shared:
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        in_hand = one.submit(consumer_patterns.first_poll, shared, 5).result(timeout=30)
        done = other.submit(consumer_patterns.first_poll, shared, 5).result(timeout=30)
        other.submit(shared.commit).result(timeout=30)  # "I have done mine"
        waiting = one.submit(shared.poll, 1_000)
        place = TopicPartition(shared_topic, 0)
        within = other.submit(shared.position, place).result(timeout=30)
        assert waiting.result(timeout=30) == {}, waiting
    both_have = [[record.offset for record in records] for records in (in_hand, done)]
    assert within == 10, within  # not refused, though another thread was inside a call
    assert both_have == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]], both_have
    covered = shared.committed(TopicPartition(shared_topic, 0))
assert covered == 10, covered  # the five that the first thread has not begun are covered, too

# %% tags=["proof", "B195", "B202"]
import queue


def lead(limit):
    """How far the left side gets ahead of the right, whose records come one by one."""
    sides = consumer_patterns.new_topic(cluster, "sides", partitions=2)
    left = TopicPartition(sides, 0)
    right = TopicPartition(sides, 1)
    for number in range(30):
        producer.send(sides, value=b"%d" % number, partition=0)
    producer.flush(timeout=10)
    furthest = sent = 0
    with KafkaConsumer(bootstrap_servers=cluster.address, max_poll_records=3, **settings) as joiner:
        joiner.assign([left, right])
        while joiner.position(right) < 30:
            if sent == joiner.position(right) and sent < 30:
                producer.send(sides, value=b"%d" % sent, partition=1).get(timeout=10)
                sent += 1
            ahead = joiner.position(left) - joiner.position(right)
            (joiner.pause if ahead >= limit else joiner.resume)(left)
            joiner.poll(timeout_ms=1_000)
            furthest = max(furthest, joiner.position(left) - joiner.position(right))
        assert joiner.position(left) == 30 or limit < 30, joiner.position(left)
    return furthest


assert lead(limit=5) <= 5 + 2, "a poll brings three"
assert lead(limit=100) > 15, "nobody waits"


def fullest(limit):
    """How long the queue of one slow worker gets; all orders are done in the end."""
    topic = consumer_patterns.new_topic(cluster, "pressed", partitions=1)
    place_orders(topic, 200)
    longest = 0
    waiting = queue.Queue()
    shop = consumer_patterns.Service(seconds=0.002)

    def work():
        while (record := waiting.get(timeout=30)) is not None:
            shop.call(record)

    with (
        KafkaConsumer(bootstrap_servers=cluster.address, max_poll_records=10, **settings) as reader,
        ThreadPoolExecutor(1) as worker,
    ):
        place = TopicPartition(topic, 0)
        reader.assign([place])
        working = worker.submit(work)
        while reader.position(place) < 200:
            (reader.pause if waiting.qsize() > limit else reader.resume)(place)
            for records in reader.poll(timeout_ms=5).values():
                for record in records:
                    waiting.put(record)
            longest = max(longest, waiting.qsize())
        waiting.put(None)
        working.result(timeout=30)
    assert [call.offset for call in shop.calls] == list(range(200)), shop.calls
    return longest


bounded = fullest(limit=20)
assert bounded <= 20 + 10, bounded  # the limit and one poll
unbounded = fullest(limit=1_000)
assert unbounded > 100, unbounded

# %% [markdown]
# `pause` tells no broker anything, and the partition stays this member's. The position waits, so
# nothing is skipped, and the commit is accepted.

# %% [markdown]
# ## Side by side
#
# To charge a card is a call to somebody else's service. `Service` stands for one: it answers after
# 10 ms, and every seventh order after 60. So the program waits nearly always, and Python's threads
# can wait together. This loop hands each record to `hand`, until it is told to stop.


# %%
def read(topic, hand, stop):
    with KafkaConsumer(
        topic, bootstrap_servers=cluster.address, group_id=topic, **settings
    ) as consumer:
        while not stop.is_set():
            for records in consumer.poll(timeout_ms=50).values():
                for record in records:
                    hand(record)


def charge_all(hand, service, consumers=1):
    topic = consumer_patterns.new_topic(cluster, "charges", partitions=3)
    with consumer_patterns.threads(consumers, read, topic, hand):
        consumer_groups.owners(cluster, topic, consumers)  # each has partitions
        place_orders(topic, orders_to_charge)
        service.wait_for(orders_to_charge)


# %% [markdown]
# Three ways:
# - *Three consumers*, each in a thread of its own, each calls the service by itself.
# - *One consumer and a pool*: twelve threads, and whoever is free takes the next order.
# - *One consumer and queues*: twelve threads with a queue each, and the key says which.
#
# The key of an order is its customer. An order is *overtaken* when a later order of the same
# customer is charged before it. Before you run the next cell: where are orders overtaken?

# %%
three, pooled, queued = [consumer_patterns.Service() for _ in range(3)]
pool = ThreadPoolExecutor(workers)
queues = [ThreadPoolExecutor(1) for _ in range(workers)]


def by_key(record):
    queues[zlib.crc32(record.key) % workers].submit(queued.call, record)


charge_all(three.call, three, consumers=3)
charge_all(lambda record: pool.submit(pooled.call, record), pooled)
charge_all(by_key, queued)
print(f"the busiest queue had {queued.busiest} of {orders_to_charge} orders")

# %%
faster = pooled.rate / three.rate
fast = queued.rate / three.rate
title = f"A pool: {faster:.1f} times as fast, and {pooled.overtaken} orders overtaken.\n"
title += f"Queues by key: {fast:.1f} times as fast, and {queued.overtaken} overtaken"
services = {"three consumers": three, "one, a pool": pooled, "one, queues by key": queued}
ax = consumer_patterns.models(services)
ax.figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
charts.show(ax, f"{title}. Three consumers make {three.rate:.0f} orders a second.")

# %% tags=["proof", "A37", "B198", "B199", "B203", "B207"]
for way, done in services.items():
    assert len({(call.partition, call.offset) for call in done.calls}) == orders_to_charge, way
assert three.overtaken == queued.overtaken == 0, (three.overtaken, queued.overtaken)
assert pooled.overtaken > 0, pooled.overtaken
assert pooled.rate > 1.5 * three.rate, (pooled.rate, three.rate)  # more workers than partitions
assert queued.rate > three.rate, (queued.rate, three.rate)
assert queued.busiest > orders_to_charge / workers, queued.busiest  # not equally full

# %% tags=["proof", "A36", "B196", "B197", "B207"]
import psutil

port = int(cluster.address.rsplit(":", 1)[1])


def connections():
    """How many this notebook has to the broker."""
    links = psutil.Process().net_connections(kind="tcp")
    return sum(bool(link.raddr) and link.raddr.port == port for link in links)


def crew(number):
    """Threads that read three partitions: of each what it did, and how many connections."""
    topic = consumer_patterns.new_topic(cluster, "crew", partitions=3)
    place_orders(topic, 90)
    diary = []
    before = connections()

    def read_as_one(stop):
        with KafkaConsumer(
            topic, bootstrap_servers=cluster.address, group_id=topic, **settings
        ) as consumer:
            mine = {"has": 0, "got": [], "ended": False}
            diary.append(mine)
            while not stop.is_set():
                for place, records in consumer.poll(timeout_ms=50).items():
                    mine["got"] += [(place.partition, record.offset) for record in records]
                mine["has"] = len(consumer.assignment())
        mine["ended"] = True

    with consumer_patterns.threads(number, read_as_one):
        consumer_groups.owners(cluster, topic, number)
        wait_until(
            lambda: (
                len({at for one in diary for at in one["got"]}) == 90
                and sum(one["has"] for one in diary) == 3
            ),
            timeout=30,
            what="all records",
        )
        open_now = connections() - before
        told_at = time.monotonic()
    seconds = time.monotonic() - told_at
    assert [one["ended"] for one in diary] == [True] * number, diary
    assert seconds < 5, seconds  # a poll, and the good-bye
    wait_until(lambda: connections() <= before, timeout=5, what="closed connections")
    return diary, open_now


five, connections_of_five = crew(5)
having = sorted(one["has"] for one in five)
assert having == [0, 0, 1, 1, 1], having
for one in five:
    for partition in range(3):
        mine = [offset for number, offset in one["got"] if number == partition]
        assert mine == sorted(mine), mine
only, connections_of_one = crew(1)
assert only[0]["has"] == 3, only
assert connections_of_five >= 5 * connections_of_one > 0, (connections_of_five, connections_of_one)

# %% [markdown]
# A partition gives its records in order. What threads then make of it is the program's doing.
# Consumers of their own keep it, but no more of them have work than there are partitions. A pool
# takes any number of threads, and the order is gone. Queues keep what matters, the order of each
# customer, as partitions do with keys; and like partitions they are not equally full.
#
# Only share no *consumer* among threads. When one of them commits, it commits what another still
# has in hand, too. (Java's consumer refuses a call while another thread is inside one, with
# `ConcurrentModificationException`. kafka-python does not.)

# %% [markdown]
# ## When it goes wrong
#
# Records that are not done in order cannot be committed in order either. A clerk charges ten orders
# with a pool of four. The call for order 3 gets no answer. The other nine are done, and the clerk
# commits behind the highest of them. Then it is killed.

# %%
clerk = """
from concurrent.futures import ThreadPoolExecutor
from kafka import OffsetAndMetadata
from kafkalab.lessons.consumer_patterns import Service

service = Service(silent=3)  # does not answer the call for offset 3
pool = ThreadPoolExecutor(4)
consumer = KafkaConsumer(topic, bootstrap_servers=address, group_id=topic, **settings)
while len(service.calls) < 9:
    for place, records in consumer.poll(timeout_ms=50).items():
        for record in records:
            pool.submit(service.call, record)
done = [call.offset for call in service.calls]
note("charged", offsets=sorted(done))
consumer.commit({place: OffsetAndMetadata(max(done) + 1, "", -1)})
os.kill(os.getpid(), signal.SIGKILL)
"""

# %% tags=["prediction"]
my_next = Choice("Which order does the next clerk begin with?", "order 3", "order 9", "none")
my_next

# %%
charges = consumer_patterns.new_topic(cluster, "charges", partitions=1)
place_orders(charges, 10)
first = members.start(clerk, "clerk", address=cluster.address, topic=charges, settings=settings)
first.wait_for_end()
charged = [event.facts["offsets"] for event in first.events if event.what == "charged"][0]
command = f"--bootstrap-server {{bootstrap}} --describe --offsets --group {charges}"
told = cluster.tool("kafka-consumer-groups", *command.split()).stdout
lag = consumer_patterns.lags(cluster, charges)[0]
print("charged:", charged, told)
against = f"the commit is {10 - lag}, and the log ends there."
my_next.against("none", {"order 3": against, "order 9": against})

# %% tags=["proof", "B200"]
assert charged == [0, 1, 2, 4, 5, 6, 7, 8, 9], charged
assert lag == 0, lag


# %% tags=["proof", "A37", "B200", "B201"]
def next_after(rule):
    """What the next clerk gets, when one that commits by this rule was killed."""
    topic = consumer_patterns.new_topic(cluster, "charges", partitions=1)
    place_orders(topic, 10)
    text = clerk.replace("max(done) + 1", rule)
    given = {"address": cluster.address, "topic": topic, "settings": settings}
    members.start(text, "clerk", **given).wait_for_end()
    with KafkaConsumer(bootstrap_servers=cluster.address, group_id=topic, **settings) as following:
        following.assign([TopicPartition(topic, 0)])
        return [record.offset for record in clients.records_until_end(following)]


gap_free = next_after("min(set(range(10)) - set(done))")
assert gap_free == [3, 4, 5, 6, 7, 8, 9], gap_free  # none is lost, what was done is done twice
off_by_one = next_after("max(done)")
assert off_by_one == [9], off_by_one  # the last one again, and order 3 is lost all the same

# %% [markdown]
# Order 3 was never charged, and nobody will come back to it: no error, and a lag of 0. **A lag says
# how far commits are behind, not work.** What may be committed is the end of what is done *without
# a gap*. After a crash the orders behind the gap are charged again, and none is forgotten.

# %% [markdown]
# ## Your turn
#
# Write that rule, `to_commit(received, done)`. `received` is the list of offsets that `poll` gave,
# in order; `done` is the set of those that are done. Return the offset to commit: that of the first
# that is not done, or one more than the last.


# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: to_commit = ...
def to_commit(received, done):
    open_ones = [offset for offset in received if offset not in done]
    return open_ones[0] if open_ones else received[-1] + 1


# END SOLUTION
exercise.check("to commit", to_commit, consumer_patterns.gap_free)

# %% [markdown]
# Urgent orders come in a partition of their own, `rush`, the others in `normal`. One consumer has
# both (by `assign`). Write `before_poll(consumer, rush, normal, waiting)`. It is called before each
# poll; `rush` and `normal` are places, and `waiting` is the number of rush orders that wait. While
# there are any, no normal order shall come.


# %% tags=["exercise"]
# BEGIN SOLUTION
# STUB: before_poll = ...
def before_poll(consumer, rush, normal, waiting):
    hold = consumer.pause if waiting else consumer.resume
    hold(normal)


# END SOLUTION
exercise.check("rush first", before_poll, consumer_patterns.rush_first(cluster))

# %% tags=["proof"]
kinds = consumer_patterns.served(cluster, lambda *_: None)
assert "normal" in kinds[:12], kinds  # without a hand, no rush
problem = consumer_patterns.gap_free(lambda received, done: max(done) + 1)
assert problem, "the wrong rule passes"

# %% tags=["proof", "B204", "B206"]
from statistics import median

from kafka import KafkaAdminClient

stocks = consumer_patterns.new_topic(cluster, "stocks", partitions=3)
for number in range(120):
    important = number % 6 == 5
    producer.send(stocks, value=b"price", partition=2 if important else number % 2)
producer.flush(timeout=10)
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
(described,) = admin.describe_topics([stocks])
by_admin = {one["partition_index"] for one in described["partitions"]}
with KafkaConsumer(bootstrap_servers=cluster.address, **settings) as asker:
    assert asker.partitions_for_topic(stocks) == by_admin == {0, 1, 2}, by_admin


def waited(feed):
    """How many times as long as the important ones the others waited, by the median."""
    shop = consumer_patterns.Service(seconds=0.01)
    feed(shop)
    shop.wait_for(120)
    begun = min(call.began for call in shop.calls)
    ended = {True: [], False: []}
    for call in shop.calls:
        ended[call.partition == 2].append(call.ended - begun)
    return median(ended[False]) / median(ended[True])


def of(numbers, **more):
    consumer = KafkaConsumer(bootstrap_servers=cluster.address, **settings, **more)
    consumer.assign([TopicPartition(stocks, number) for number in numbers])
    return consumer


def as_they_came(shop):
    with of([0, 1, 2]) as consumer, ThreadPoolExecutor(3) as hands:
        for record in sorted(clients.records_until_end(consumer), key=lambda one: one.timestamp):
            hands.submit(shop.call, record)


def with_workers(shop, numbers):
    """A consumer for each partition, each with so many workers."""

    def serve(number, size):
        with of([number]) as consumer, ThreadPoolExecutor(size) as hands:
            for record in clients.records_until_end(consumer):
                hands.submit(shop.call, record)

    with ThreadPoolExecutor(3) as each:
        list(each.map(serve, range(3), numbers))


def paused(shop):
    with of([0, 1, 2], max_poll_records=3) as consumer:
        rush = TopicPartition(stocks, 2)
        normal = [TopicPartition(stocks, number) for number in (0, 1)]
        end = consumer.end_offsets([rush])[rush]
        while len(shop.calls) < 120:
            (consumer.pause if consumer.position(rush) < end else consumer.resume)(*normal)
            for records in consumer.poll(timeout_ms=500).values():
                shop.call_all(records)


equal = waited(as_they_came)
assert 0.5 < equal < 1.6, equal
ways = [
    lambda shop: with_workers(shop, (5, 5, 5)),
    lambda shop: with_workers(shop, (1, 1, 5)),
    paused,
]
sooner = [waited(way) for way in ways]
assert min(sooner) > 1.6, sooner

# %% tags=["proof", "B205"]
place = TopicPartition(stocks, 2)
loner_program = """
consumer = KafkaConsumer(bootstrap_servers=address, group_id=topic, **settings)
consumer.assign([TopicPartition(topic, 2)])
while running():
    if consumer.poll(timeout_ms=100, max_records=5):
        consumer.commit()
        note("committed")
"""
given = {"address": cluster.address, "topic": stocks, "settings": settings}
loner = members.start(loner_program, "loner", **given)
loner.wait_for(lambda events: any(one.what == "committed" for one in events) or None, what="work")
loner.kill()
with of([0, 1], group_id=stocks) as colleague:
    before = colleague.committed(place)
    theirs = [record.partition for record in clients.records_until_end(colleague)]
    assert set(theirs) == {0, 1}, set(theirs)
    assert colleague.assignment() == {TopicPartition(stocks, number) for number in (0, 1)}
    assert colleague.committed(place) == before, "somebody took over"
assert before is not None, "the loner had begun"
assert cluster.group(stocks).members == [], cluster.group(stocks)  # so nobody is put out, either

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- One bad record held up {held} good ones, and would have held up all that came. In a dead letter
  topic, with where it was and why, it holds up none.
- {careless} orders were worked on twice without a commit before the hand-over; {careful} with a
  listener that commits.
- A member that paused and went on polling worked for {seconds:.1f} s, was allowed 2 s, and stayed.
- A pool was {faster:.1f} times as fast as three consumers, and {pooled.overtaken} orders were
  overtaken; queues by key {fast:.1f} times, and {queued.overtaken}.
- Commit behind the highest, and an order is lost with a lag of {lag}. Commit up to the first that
  is not done.
""")

# %%
cluster.close()
