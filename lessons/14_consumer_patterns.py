# %% [markdown]
# # 14 Consumer patterns
#
# A shop takes orders. One of them cannot be read, and the service that charges the cards is slow.
# The loop of the last lessons was made for neither. How is real work organised?

# %% [markdown]
# You will
# - put aside a record that cannot be read, and lose none,
# - hand partitions over without doing work twice,
# - choose among three ways to work in parallel, and say what to commit then.
#
# Needs 11, 12 and 13. 25 minutes.

# %% tags=["parameters"]
orders_to_charge = 240
workers = 12  # threads that charge cards

# %%
import json
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from kafka import AsyncConsumerRebalanceListener, KafkaConsumer, KafkaProducer, OffsetAndMetadata

from kafkalab import Choice, Cluster, charts, clients, quick
from kafkalab.lessons import consumer_patterns
from kafkalab.notebook import exercise

cluster = Cluster.start("single")
producer = KafkaProducer(bootstrap_servers=cluster.address, **quick.producer)
settings = {"auto_offset_reset": "earliest", "enable_auto_commit": False, **quick.consumer}

# %% [markdown]
# ## One bad record
#
# Orders are JSON. This program packs an order, commits, and takes the next. (A commit names the
# *next* offset.) What it cannot read it gives to `on_bad`. If that returns True, it goes on; if
# False, `seek` goes back to the record: an order must not be lost.

# %%
packed = []


def pack(consumer, on_bad):
    for place, records in consumer.poll(timeout_ms=200).items():
        for record in records:
            try:
                packed.append((place, json.loads(record.value)["order"]))
            except (KeyError, TypeError, ValueError) as error:
                if not on_bad(record, error):
                    consumer.seek(place, record.offset)
                    break
            consumer.commit({place: OffsetAndMetadata(record.offset + 1)})


# %% [markdown]
# Each day brings ten orders for each of three partitions. In the evening, when all is packed that
# can be, the lags are noted. On day 2 comes an order for partition 1 that breaks off in the middle.
# `on_bad` is `try_again`, which returns False.

# %% tags=["prediction"]
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


def try_again(record, error):
    return False


lags = []
for bad in (None, 13, None, None):  # on day 2 the order with number 13
    consumer_patterns.place_orders(producer, orders, 30, bad)
    lags.append(consumer_patterns.evening(cluster, pack, packer, try_again))
seen = f"on the third evening the lags by partition are {lags[-1]}."
my_day.against(my_day.answers[1], dict.fromkeys(my_day.answers[::2], seen))

# %% [markdown]
# So partition 1 stands, until retention deletes the bad record, and good orders with it. A program
# that ends with the error fares worse: its colleagues get its partitions, the bad record with them,
# and end one after the other.
#
# So put it aside: into another topic, a **dead letter topic**, as it came, with headers that say
# where it was and why. Commit only when that is acknowledged: `get` waits for it.

# %%
dead = consumer_patterns.new_topic(cluster, "orders-dead", partitions=1)


def set_aside(record, error):
    origin = f"{record.topic} {record.partition} {record.offset}"
    headers = [("from", origin.encode()), ("error", str(error).encode())]
    producer.send(dead, key=record.key, value=record.value, headers=headers).get(timeout=10)
    return True


# %%
better = []
for _ in range(2):
    consumer_patterns.place_orders(producer, orders, 30)
    better.append(consumer_patterns.evening(cluster, pack, packer, set_aside))
with KafkaConsumer(dead, bootstrap_servers=cluster.address, **settings) as reader:
    letters = list(clients.records_until_end(reader))
print(letters[0].value, *letters[0].headers, sep="\n")
held = lags[-1][1] - 1  # the bad one waits, too
title = f"One bad record holds up {held} good ones; put aside, it holds up none"
ax = consumer_patterns.lag_by_day(lags + better, changed=5, what="dead letter topic")
ax.set_title(title)
charts.show(ax, f"{title}. Lags by day: {lags + better}.")

# %% tags=["proof", "B158"]
evenings = lags + better
assert [lag[1] for lag in evenings] == [0, 6, 16, 26, 0, 0], evenings
assert all(lag[0] == lag[2] == 0 for lag in evenings), evenings  # the others go on
assert len(letters) == 1, letters  # the bad record is counted
assert letters[0].value == b'{"order": ', letters
assert dict(letters[0].headers)["from"] == f"{orders} 1 14".encode(), letters
each = [place for place, _ in packed if place.topic == orders]
assert len(each) == cluster.topic(orders).records - 1, len(each)  # the reader lives

# %% tags=["proof"]
from kafka import TopicPartition

from kafkalab import wait_until
from kafkalab.lessons import consumer_groups


def end(record, error):
    raise error


earlier = list(packed)
poison = consumer_patterns.new_topic(cluster, "poison", partitions=2)
place = TopicPartition(poison, 1)
group = {"group_id": poison, **settings}
running = [KafkaConsumer(poison, bootstrap_servers=cluster.address, **group) for _ in range(2)]
consumer_groups.settle({"both": running}, partitions=2)
# The partition of the bad one has 15 of them, and it is at offset 6.
consumer_patterns.place_orders(producer, poison, 30, bad=13)
ended_at = []


def all_ended():
    for one in list(running):
        try:
            pack(one, end)
        except ValueError:
            ended_at.append((len(one.assignment()), one.committed(place)))
            running.remove(one)
            one.close()
    return not running


wait_until(all_ended, timeout=30, what="the end of both", every=0.01)
assert ended_at == [(1, 6), (2, 6)], ended_at  # the second had both partitions
for _ in range(2):  # started again and again, as a supervisor of programs does it
    running.append(KafkaConsumer(poison, bootstrap_servers=cluster.address, **group))
    wait_until(all_ended, timeout=30, what="the bad record", every=0.01)
assert [offset for _, offset in ended_at] == [6, 6, 6, 6], ended_at
packed[:] = earlier

# %% [markdown]
# Put aside only what is *bad*: `pack` catches what reading raises, nothing else. When a service is
# down, every order fails: go back by `seek`, and pause the partition (below) until the service
# answers. And somebody has to read the dead letters.

# %% [markdown]
# ## Hand over
#
# `pack` commits after each record, a request each; mostly one commits after many. A member has
# worked on 40 orders, ten of each of four partitions, and has committed none. Then a second one
# joins and takes over two partitions. Before you run the next cell: how many of the 40 orders come
# to the second member, too?


# %%
def hand_over(listener=None):
    topic = consumer_patterns.new_topic(cluster, "handover", partitions=4)
    consumer_patterns.place_orders(producer, topic, 40)
    group = {"group_id": topic, **settings}
    with KafkaConsumer(bootstrap_servers=cluster.address, **group) as first:
        first.subscribe([topic], listener=listener(first) if listener else None)
        consumer_patterns.read_on(first)  # all 40
        with KafkaConsumer(topic, bootstrap_servers=cluster.address, **group) as second:
            return consumer_patterns.read_on(first, second)  # what comes once more


careless = hand_over()
len(careless)

# %% [markdown]
# All of the partitions that moved: one that is new to a member begins at its commit, and there is
# none: so here at its start. So commit before. A member that gives partitions up calls its
# **rebalance listener** while it still may commit.
#
# > *This client.* kafka-python calls listeners in the thread that talks to the brokers. What blocks
# > it until a broker answers, as `commit()`, raises; hence `async`, `await` and `commit_async`.
# > Java's listeners call `commitSync()`. In a cooperative rebalance (lesson 12) kafka-python calls
# > when the positions are gone already: note offsets yourself, and commit those
# > ([details](../lessons/reference/kafka.md)).


# %%
class CommitBefore(AsyncConsumerRebalanceListener):
    def __init__(self, consumer):
        self.consumer = consumer

    async def on_partitions_revoked(self, revoked):
        await self.consumer.commit_async()

    async def on_partitions_assigned(self, assigned):
        pass  # told after a rebalance


careful = hand_over(CommitBefore)
len(careful)

# %% tags=["proof", "B169"]
assert len(careless) == len(set(careless)) == 20, careless
assert len({partition for partition, _ in careless}) == 2, careless  # the first one reads on
assert careful == [], careful

# %% [markdown]
# It commits the positions: all that `poll` has handed out. That is right where all of it is done
# before the next `poll`, as here. A member that is killed commits nothing.

# %% tags=["proof", "B169"]
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor


class CommitNoted(CommitBefore):
    """All orders of the partitions that go were worked on: the loop has noted it."""

    async def on_partitions_revoked(self, revoked):
        await self.consumer.commit_async({place: OffsetAndMetadata(10) for place in revoked})


eager = dict(settings)
settings["partition_assignment_strategy"] = [CooperativeStickyAssignor]
too_late, noted = len(hand_over(CommitBefore)), len(hand_over(CommitNoted))
settings.clear()
settings.update(eager)
assert (too_late, noted) == (20, 0), (too_late, noted)

# %% tags=["proof", "B168", "B170"]
from kafka import ConsumerRebalanceListener
from kafka.errors import KafkaError


class CommitAsInJava(ConsumerRebalanceListener):
    def __init__(self, consumer):
        self.consumer = consumer

    def on_partitions_revoked(self, revoked):
        self.consumer.commit()

    def on_partitions_assigned(self, assigned):
        pass


blocked = None
try:
    hand_over(CommitAsInJava)
except KafkaError as error:
    blocked = error
assert isinstance(blocked.__cause__, RuntimeError), blocked
assert "IO thread" in str(blocked.__cause__), blocked
with KafkaConsumer(bootstrap_servers=cluster.address, group_id="never", **settings) as never:
    never.subscribe([orders], listener=CommitAsInJava(never))
    refusals = []

    def refused():
        try:
            never.poll(timeout_ms=200)
        except KafkaError as error:
            refusals.append(error.__cause__)
        return len(refusals) == 5

    wait_until(refused, timeout=30, what="a refusal again and again", every=0.01)
    assert {type(cause) for cause in refusals} == {RuntimeError}, refusals
    assert never.assignment() == set(), never.assignment()


class Told(ConsumerRebalanceListener):
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


class ToBeginning(ConsumerRebalanceListener):
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
    consumer_patterns.place_orders(producer, topic, 40)
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
    consumer_patterns.place_orders(producer, newer, 3)
    found = wait_until(
        lambda: watcher.poll(timeout_ms=100).get(TopicPartition(newer, 0)),
        timeout=10,
        what="the new topic",
    )
    assert watcher.subscription() >= {known, newer}, watcher.subscription()
assert found[0].offset == 0, found
assert [what for what, _ in tellers.heard][-1] == "revoked", tellers.heard

# %% [markdown]
# ## Side by side
#
# To charge a card is a call to somebody else's service. `CardService` stands for one: it answers
# after 10 ms, and every seventh order after 60 ms. So the program waits nearly always, and Python's
# threads can wait together. This loop gives each record to `hand`, until it is told to stop. (It
# commits nothing.)


# %%
def read(topic, hand, stop):
    with KafkaConsumer(
        topic, bootstrap_servers=cluster.address, group_id=topic, **settings
    ) as consumer:
        while not stop.is_set():
            for records in consumer.poll(timeout_ms=50).values():
                for record in records:
                    hand(record)


# %% [markdown]
# Three ways:
# - *Three consumers*, one for each partition, each in a thread of its own.
# - *A pool*: one consumer and twelve threads, and whoever is free takes the next order.
# - *Queues*: one consumer and twelve threads with a queue each, and the key says which.
#
# The key of an order is its customer. An order is *overtaken* when a later order of the same
# customer is charged before it.

# %% tags=["prediction"]
my_order = Choice(
    "Where are orders overtaken?",
    "nowhere: a partition keeps its order",
    "in the pool",
    "in the pool and in the queues",
)
my_order

# %%
charge_all = partial(consumer_patterns.charge_all, cluster, producer, orders_to_charge, read)
three, pooled, queued = [consumer_patterns.CardService() for _ in range(3)]
pool = ThreadPoolExecutor(workers)
queues = [ThreadPoolExecutor(1) for _ in range(workers)]


def by_key(record):
    queues[zlib.crc32(record.key) % workers].submit(queued.call, record)  # any hash will do


charge_all(three.call, three, consumers=3)
charge_all(lambda record: pool.submit(pooled.call, record), pooled)
charge_all(by_key, queued)
seen = f"{pooled.overtaken} were in the pool, {queued.overtaken} in the queues."
my_order.against("in the pool", dict.fromkeys(my_order.answers[::2], seen))

# %%
faster = pooled.rate / three.rate
fast = queued.rate / three.rate
title = f"{workers} threads, not 3: {faster:.1f} times as fast in a pool, {fast:.1f} in queues.\n"
title += f"Overtaken: {pooled.overtaken} orders in the pool, {queued.overtaken} in the queues"
names = ["3 consumers, 3 threads", f"a pool, {workers} threads", f"queues, {workers} threads"]
services = dict(zip(names, [three, pooled, queued], strict=True))
ax = consumer_patterns.models(services)
ax.figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
print(f"fullest queue: {queued.busiest} orders, on average {orders_to_charge // workers}")
charts.show(ax, f"{title}. Three consumers make {three.rate:.0f} orders a second.")

# %% tags=["proof", "A37", "B198", "B199", "B203", "B207"]
for way, done in services.items():
    assert len({(call.partition, call.offset) for call in done.calls}) == orders_to_charge, way
assert three.overtaken == queued.overtaken == 0, (three.overtaken, queued.overtaken)
assert pooled.overtaken > 0, pooled.overtaken
assert pooled.rate > 1.5 * three.rate, (pooled.rate, three.rate)  # more workers than partitions
assert queued.rate > three.rate, (queued.rate, three.rate)
assert queued.busiest > orders_to_charge // workers, queued.busiest  # not equally full
twelve = consumer_patterns.CardService()
charge_all(twelve.call, twelve, consumers=12, partitions=12)
assert twelve.rate > 1.5 * three.rate, (twelve.rate, three.rate)  # it is the number of threads
assert twelve.overtaken == 0, twelve.overtaken

# %% tags=["proof", "A36", "B196", "B197", "B207"]
import psutil

port = int(cluster.address.rsplit(":", 1)[1])


def connections():
    """How many this notebook has to the broker."""
    links = psutil.Process().net_connections(kind="tcp")
    return sum(bool(link.raddr) and link.raddr.port == port for link in links)


def crew(shares):
    """Threads that read three partitions: of each what it did, and how many connections.

    shares: so many partitions each is to have in the end, from the least to the most.
    """
    number = len(shares)
    topic = consumer_patterns.new_topic(cluster, "crew", partitions=3)
    consumer_patterns.place_orders(producer, topic, 90)
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
                and sorted(one["has"] for one in diary) == shares
                and connections() - before >= number
            ),
            timeout=30,
            what="all records, each partition with a thread, and connections of all",
            seen=lambda: (diary, connections() - before),
        )
        open_now = connections() - before
        told_at = time.monotonic()
    seconds = time.monotonic() - told_at
    assert [one["ended"] for one in diary] == [True] * number, diary
    assert seconds < 5, seconds  # a poll, and the good-bye
    wait_until(lambda: connections() <= before, timeout=5, what="closed connections")
    return diary, open_now


five, connections_of_five = crew([0, 0, 1, 1, 1])  # two have nothing to do
for one in five:
    for partition in range(3):
        mine = [offset for number, offset in one["got"] if number == partition]
        assert mine == sorted(mine), mine
_, connections_of_one = crew([3])
assert connections_of_five >= 5 > connections_of_one, (connections_of_five, connections_of_one)
_, connections_of_three = crew([1, 1, 1])
counts = (connections_of_three, connections_of_one, connections_of_one)
table = {
    way: (round(done.rate), done.overtaken, count)
    for (way, done), count in zip(services.items(), counts, strict=True)
}
assert connections_of_five > connections_of_three > connections_of_one, table
cheapest = min(table.values(), key=lambda row: (row[1], row[2]))
assert cheapest[0] == round(queued.rate), table  # of those that keep the order
table  # orders a second, overtaken, connections

# %% [markdown]
# A partition gives its records in order; threads may end in another. The pool is faster because it
# has more threads. Twelve consumers of twelve partitions would be, too, and keep the order, but
# consumers have work only up to the number of partitions. Queues keep the order of each customer,
# and are not equally full.
#
# Pool and queues need care.
# - A consumer belongs to one thread. Java's refuses nearly every call while another thread
#   is in one; kafka-python does not, and is no safer.
# - `submit` waits for nobody, so what waits for a thread can grow without end. The brake is
#   `consumer.pause(place)`: `poll` leaves that partition out until `consumer.resume(place)`. Go on
#   polling meanwhile: so the member stays in its group. Pause anew what a rebalance brings.
# - Before a partition goes, let the listener wait for what threads have in hand: it asks no broker,
#   so it may, for less than the session timeout. Else the next owner works on the same customers.
# - A bare `commit()` covers orders that wait for a thread, too. What may be committed?

# %% tags=["proof"]
import threading
from concurrent import futures


def moved_in_hand(wait):
    """How many orders are overtaken, when a partition moves whose orders wait for a thread."""
    topic = consumer_patterns.new_topic(cluster, "moving", partitions=2)
    consumer_patterns.place_orders(producer, topic, 40)
    shop = consumer_patterns.CardService(seconds=0.002)
    gate = threading.Event()  # until it is open, the first one's thread gets nothing done
    in_hand = []

    class Finish(CommitBefore):
        async def on_partitions_revoked(self, revoked):
            if revoked and wait:
                gate.set()
                futures.wait(in_hand, timeout=30)
            await super().on_partitions_revoked(revoked)

    def at_the_gate(record):
        assert gate.wait(30)
        shop.call(record)

    group = {"group_id": topic, **settings}
    with (
        KafkaConsumer(bootstrap_servers=cluster.address, **group) as first,
        KafkaConsumer(topic, bootstrap_servers=cluster.address, **group) as second,
        ThreadPoolExecutor(1) as slow,
        ThreadPoolExecutor(1) as quick_one,
    ):
        first.subscribe([topic], listener=Finish(first))

        def go_on(*members):
            for member in members:
                for records in member.poll(timeout_ms=20).values():
                    for record in records:
                        if member is first:
                            in_hand.append(slow.submit(at_the_gate, record))
                        else:
                            in_hand.append(quick_one.submit(shop.call, record))
            return len(in_hand)

        wait_until(lambda: go_on(first) == 40, timeout=30, what="all orders", every=0.01)
        wait_until(
            lambda: go_on(first, second) and len(first.assignment()) == len(second.assignment()),
            timeout=30,
            what="a partition each",
            every=0.01,
        )
        consumer_patterns.place_orders(producer, topic, 40)  # of the same customers
        wait_until(lambda: go_on(first, second) == 80, timeout=30, what="the rest", every=0.01)
        if not wait:
            shop.wait_for(20)
        gate.set()
        shop.wait_for(80)
    assert len({(call.partition, call.offset) for call in shop.calls}) == 80, shop.calls
    return shop.overtaken


assert moved_in_hand(wait=False) == 20, "the whole partition that moved"
assert moved_in_hand(wait=True) == 0, "all was done before it moved"


# %% tags=["proof", "B194"]
class PauseToo(ConsumerRebalanceListener):
    """What is assigned while orders are in another thread's hands is paused, too."""

    def __init__(self, consumer):
        self.consumer = consumer
        self.busy = False

    def on_partitions_revoked(self, revoked):
        pass

    def on_partitions_assigned(self, assigned):
        if self.busy:
            self.consumer.pause(*assigned)


def work_aside(careful, seconds):
    """Five orders in another thread, while a colleague leaves; how many of 40 are never done.

    And of a member that was careful, how long it worked, and of its last heartbeat how long ago.
    """
    topic = consumer_patterns.new_topic(cluster, "slow", partitions=2)
    consumer_patterns.place_orders(producer, topic, 40)
    group = {"group_id": topic, **settings, "max_poll_interval_ms": 2_000}
    shop = consumer_patterns.CardService(seconds)
    meanwhile = []
    with KafkaConsumer(bootstrap_servers=cluster.address, **group) as member:
        listener = PauseToo(member)
        member.subscribe([topic], listener=listener if careful else None)
        with KafkaConsumer(topic, bootstrap_servers=cluster.address, **group) as colleague:
            consumer_groups.settle({"both": [member, colleague]}, partitions=2)
            (mine,) = member.assignment()
            (other,) = colleague.assignment()
            member.seek(mine, 0)
            batch = consumer_patterns.first_poll(member, max_records=5)
            listener.busy = True
            member.pause(mine)
        with ThreadPoolExecutor(1) as worker:
            work = worker.submit(shop.call_all, batch)

            def done():
                for records in member.poll(timeout_ms=100).values():
                    meanwhile.extend(records)
                all_here = member.assignment() == {mine, other}
                return work.done() and all_here and (careful or meanwhile)

            wait_until(done, timeout=30, what="the work, and the colleague's partition", every=0.01)
        assert {(call.partition, call.offset) for call in shop.calls} == {
            (mine.partition, number) for number in range(5)
        }, shop.calls
        assert member.position(mine) == 5, member.position(mine)
        if careful:
            assert meanwhile == [], meanwhile
            member.commit({mine: OffsetAndMetadata(batch[-1].offset + 1)})
            found = member.committed(mine)
            assert found == 5, found  # who is put out may not commit
            took = shop.calls[-1].ended - shop.calls[0].began
            metrics = member.metrics()["consumer-coordinator-metrics"]
            listener.busy = False
            member.resume(*member.paused())
            following = consumer_patterns.read_on(member)
            assert set(following) == {(mine.partition, number) for number in range(5, 20)} | {
                (other.partition, number) for number in range(20)
            }, following
            return took, metrics["last-heartbeat-seconds-ago"]
        assert {record.partition for record in meanwhile} == {other.partition}, meanwhile
        member.commit()
    with KafkaConsumer(bootstrap_servers=cluster.address, group_id=topic, **settings) as following:
        following.assign([mine, other])
        rest = list(clients.records_until_end(following))
    return 40 - 5 - len(rest)


never_done = work_aside(careful=False, seconds=0.01)
assert never_done == 20, never_done  # what came unasked was committed, and nobody worked on it
took, ago = work_aside(careful=True, seconds=0.3)
assert took > 2.5, took  # more than the member may be silent
assert ago < took - 0.5, (ago, took)  # heartbeats went on

# %% tags=["proof", "A36", "B154"]
shared_topic = consumer_patterns.new_topic(cluster, "shared", partitions=1)
consumer_patterns.place_orders(producer, shared_topic, 10)
with KafkaConsumer(
    shared_topic, bootstrap_servers=cluster.address, group_id=shared_topic, **settings
) as shared:
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        in_hand = one.submit(consumer_patterns.first_poll, shared, 5).result(timeout=30)
        done = other.submit(consumer_patterns.first_poll, shared, 5).result(timeout=30)
        other.submit(shared.commit).result(timeout=30)  # "I have done mine"
        waiting = one.submit(shared.poll, 3_000)
        wait_until(waiting.running, timeout=10, what="the first thread's poll", every=0.01)
        place = TopicPartition(shared_topic, 0)
        within = other.submit(shared.position, place).result(timeout=30)
        beside = other.submit(shared.poll, 10).result(timeout=30)
        assert not waiting.done(), "both were inside"
        assert waiting.result(timeout=30) == beside == {}, (waiting, beside)
    both_have = [[record.offset for record in records] for records in (in_hand, done)]
    assert within == 10, within  # neither was refused, though another thread was inside `poll`
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
    consumer_patterns.place_orders(producer, topic, 200)
    longest = 0
    waiting = queue.Queue()
    shop = consumer_patterns.CardService(seconds=0.002)

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
# ## When it goes wrong
#
# A clerk charges ten orders with a pool of four. The call for the order at offset 3 gets no answer.
# The other nine are done, and the clerk commits one more than the highest of them. Then it is
# killed.

# %% tags=["prediction"]
clerk = """
consumer = KafkaConsumer(topic, bootstrap_servers=address, group_id=topic, **settings)
service = CardService(silent=3)  # does not answer the call for offset 3
pool = ThreadPoolExecutor(4)
for record in first_poll(consumer, max_records=10):
    pool.submit(service.call, record)
done = service.wait_for(9)  # so many answers
consumer.commit({TopicPartition(topic, 0): OffsetAndMetadata(max(done) + 1)})
"""
my_next = Choice("Which order does the next clerk get first?", "order 3", "order 9", "none of them")
my_next

# %%
killed = consumer_patterns.killed(clerk, cluster, producer, settings)
print(killed)
seen = f"the commit is {killed.commit}, one more than the highest that was charged."
my_next.against("none of them", {"order 3": seen, "order 9": seen})

# %% tags=["proof", "B200"]
assert killed.charged == [0, 1, 2, 4, 5, 6, 7, 8, 9], killed
assert killed.next_gets == [], killed
assert killed.lag == 0, killed


# %% tags=["proof", "A37", "B200", "B201"]
def next_after(rule):
    """What the next clerk gets, when one that commits by this rule was killed."""
    text = clerk.replace("max(done) + 1", rule)
    return consumer_patterns.killed(text, cluster, producer, settings).next_gets


gap_free = next_after("min(set(range(10)) - done)")
assert gap_free == [3, 4, 5, 6, 7, 8, 9], gap_free  # none is lost, what was done is done twice
off_by_one = next_after("max(done)")
assert off_by_one == [9], off_by_one  # the last one again, and order 3 is lost all the same

# %% [markdown]
# Was order 3 charged? Nobody knows, and nobody will ask again. There is no error, and the lag is 0.
# **The lag of a group says how far its commits are from the end, not how much is done.** What may
# be committed is the offset after what is done *without a gap*. After a crash the clerk then begins
# at the gap, and what is done behind it is charged again: tell the service the order's number, so
# that it can refuse the second time.

# %% [markdown]
# ## Your turn
#
# Write that rule, `to_commit(received, done)`. `received` is the list of offsets that `poll` gave
# of a partition, in order, at least one; `done` is the set of those done. Return the offset to
# commit: the first that is not done, or one more than the last.


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
# poll; `rush` and `normal` are a `TopicPartition` each, and `waiting` is how many rush orders wait
# (the end offset less the position). While any rush order waits, no normal one shall come.


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
    producer.send(stocks, value=b"%d" % number, partition=2 if important else number % 2)
producer.flush(timeout=10)
admin = KafkaAdminClient(bootstrap_servers=cluster.address, **quick.admin)
(described,) = admin.describe_topics([stocks])
by_admin = {one["partition_index"] for one in described["partitions"]}
with KafkaConsumer(bootstrap_servers=cluster.address, **settings) as asker:
    assert asker.partitions_for_topic(stocks) == by_admin == {0, 1, 2}, by_admin


def waited(feed):
    """How many times as long as the important ones the others waited, by the median."""
    shop = consumer_patterns.CardService(seconds=0.01)
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
        for record in sorted(clients.records_until_end(consumer), key=lambda one: int(one.value)):
            hands.submit(shop.call, record)


def with_workers(shop, numbers):
    """A consumer for each partition, each with so many workers, which begin together."""
    together = threading.Barrier(3, timeout=30)

    def serve(number, size):
        with of([number]) as consumer, ThreadPoolExecutor(size) as hands:
            records = list(clients.records_until_end(consumer))
            together.wait()
            for record in records:
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
from kafkalab import members

place = TopicPartition(stocks, 2)
loner_program = """
consumer = KafkaConsumer(bootstrap_servers=address, group_id=topic, **settings)
consumer.assign([TopicPartition(topic, 2)])
while running() and not consumer.poll(timeout_ms=100, max_records=5):
    pass
consumer.commit()
note("committed")
signal.pause()
"""
given = {"address": cluster.address, "topic": stocks, "settings": settings}
loner = members.start(loner_program, "loner", **given)
loner.wait_for(lambda events: any(one.what == "committed" for one in events) or None, what="work")
loner.kill()


def behind():
    """Of the loner's partition."""
    return consumer_patterns.lags(cluster, stocks)[2]


with of([0, 1], group_id=stocks) as colleague:
    before = colleague.committed(place)
    waits = behind()
    list(clients.records_until_end(colleague))
    colleague.commit()  # accepted from one that is no member, as the loner was none
    assert 0 < waits == behind() < 20, (waits, behind())
assert cluster.group(stocks).members == [], cluster.group(stocks)  # so nobody is put out, either
with KafkaConsumer(bootstrap_servers=cluster.address, group_id=stocks, **settings) as joined:
    joined.subscribe([stocks])  # only who is a member is given what nobody has
    taken = consumer_patterns.read_on(joined)
assert taken == [(2, number) for number in range(before, 20)], (before, taken)

# %% [markdown]
# ## What you saw

# %%
from IPython.display import Markdown

Markdown(f"""
- One bad record held up {held} good ones, and would have held up all that came to its partition. In
  a dead letter topic, with where it was and why, it holds up none.
- {len(careless)} orders came a second time without a commit before the hand-over; {len(careful)}
  with a listener that commits.
- {workers} threads of a pool were {faster:.1f} times as fast as 3 consumers, and
  {pooled.overtaken} orders were overtaken; queues by key were {fast:.1f} times as fast, and
  {queued.overtaken} were overtaken.
- Commit one more than the highest, and what has no answer is forgotten, with a lag of
  {killed.lag}. Commit the end of what is done without a gap.
""")

# %%
for threads in (pool, *queues):
    threads.shutdown()
cluster.close()
