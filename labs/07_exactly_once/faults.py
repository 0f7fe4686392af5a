"""What happens to the programs of lab 07 while they run.

Records are drawn when a program reads already. It is killed where it stands still because we hold a
lock of its books (grading/faults/left.py), or an answer of the broker. What the books hold is read
from outside, beside what the wire has brought to whom.
"""

import json
import random
import time
from contextlib import suppress

import psutil

from grading.faults.breaker import NotReached
from grading.faults.fault import fault
from grading.judge.checks import Unseen
from grading.run import pace
from kafkalab.errors import CourseError

TABLES = {
    "trades": ("part", "offset", "stock", "cents"),
    "prices": ("stock", "cents", "part", "offset"),
}
FIRST, SECOND = "clerk-1", "clerk-2"
PATIENCE = 30  # seconds for what a program does by itself
A_MOMENT = 0.3  # seconds without a commit when all is there
QUIET = 6  # seconds without a commit, after which no more is awaited
STRAY = 1.0  # seconds after a kill in which the network may still hand over something
chance = random.SystemRandom()


class Scene:
    """A topic, its books, and the clerks who book it. Leaving it rings the bell a last time."""

    def __init__(self, f, topic, file):
        from kafka import KafkaProducer

        from kafkalab import quick

        self.f, self.topic, self.file = f, topic, file
        view = f.kafka.topic(topic)
        if view.records:
            raise NotReached(f"{topic} without records: first run the cell in front of the task")
        self.id, self.partitions = view.id, len(view.partitions)
        self.ends = [0] * self.partitions
        self.books = None
        self.producer = KafkaProducer(
            bootstrap_servers=f.cluster.address, client_id="market", linger_ms=50, **quick.producer
        )
        self.former = []  # when a clerk was killed, and the connections that records came through
        f.keep(kills=0, unfetched=0, others=0)
        f.gateway.clear()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for _ in range(4 if kind else 0):  # nothing more will come, in no stage
            self.ring()
        self.producer.close(timeout=5)
        if self.books is not None:
            self.books.close()

    # --- Waiting ---

    def until(self, condition, what, every=0.02, told=True):
        """Wait for what a program does; not for ever, so that a cell without it ends, too."""
        deadline = time.monotonic() + PATIENCE * pace.now()
        while not self.f.is_over.wait(every):
            with suppress(Unseen, CourseError):
                if condition():
                    if told:
                        self.f.note(what)
                    return
            if time.monotonic() > deadline:
                break
        raise NotReached(what)

    def reading(self):
        """A clerk reads, and has opened its books."""
        self.until(lambda: self.f.gateway.frames("Fetch"), "your program reads")
        self.until(self.opened, f"the tables of {self.file}")

    def opened(self):
        if self.books is None:
            self.books = self.f.left(self.file)
        return self.books.commits > 0

    def booked(self):
        """All records are in the books and nothing changes there, or nothing for a while.

        Each commit meanwhile passes one by one, so that who writes is seen.
        """
        seen = [None, 0.0, None]

        def is_done():
            self.let_pass()
            commits = self.books.commits
            if commits != seen[0]:
                seen[:] = commits, time.monotonic(), None
            still = time.monotonic() - seen[1]
            if seen[2] is None and still > A_MOMENT:
                rows = self.books.rows({"trades": TABLES["trades"][:2]})["trades"]
                seen[2] = len({tuple(row) for row in rows}) >= sum(self.ends)
            return seen[2] or still > QUIET * pace.now()

        try:
            self.until(is_done, "nothing more to book", every=0.002)
        finally:
            self.books.release()

    def let_pass(self):
        """Keep commits back; if one waits, note whose it is, and let it pass."""
        if not self.books.holds:
            self.books.hold()
        elif self.books.waiting:
            self.note_writer()
            before = self.books.commits
            self.books.release()
            deadline = time.monotonic() + A_MOMENT
            while self.books.commits == before and self.books.waiting:
                if time.monotonic() > deadline:
                    break
            self.books.hold()

    def note_writer(self):
        """Count a writer that is no clerk. One that has just ended is nobody."""
        pid = self.books.waiting
        if pid and self.writer() is None and self.books.waiting == pid:
            self.f.keep(others=self.f.kept["others"] + 1)

    def stuck(self, commits=0):
        """The commit that a burst brings waits, and so does the one after so many that may pass.

        It is let pass while its program sleeps, which then is to be slower than we are.
        """
        self.books.hold()
        self.send()
        self.until(lambda: self.books.waiting, f"a commit to {self.file}, which we keep back")
        self.note_writer()
        for _ in range(commits):
            with suppress(psutil.Error, OSError, TypeError):
                psutil.Process(self.books.waiting).nice(19)
            before = self.books.commits
            self.books.release()
            self.until(lambda: self.books.commits != before, "it may pass", every=0)  # noqa: B023
            self.books.hold()
            self.until(lambda: self.books.waiting, "the next one, which we keep back")

    def writer(self):
        """The clerk whose commit waits; None where it is somebody else's."""
        with suppress(psutil.Error, TypeError, ValueError):
            words = psutil.Process(self.books.waiting).cmdline()
            return next((name for name in (FIRST, SECOND) if name in words), None)
        return None

    # --- Acting ---

    def send(self):
        """A burst of trades; how many, and at which prices, nobody knows before."""
        number = self.f.p.burst + chance.randrange(20)
        for _ in range(number):
            stock = chance.choice(self.f.p.stocks)
            part = self.f.p.stocks.index(stock) % self.partitions
            value = json.dumps({"cents": chance.randrange(100, 1_000_000)}).encode()
            self.producer.send(self.topic, value, key=stock.encode(), partition=part)
            self.ends[part] += 1
        self.producer.flush(timeout=10)
        self.f.note(f"{number} trades")

    def kill(self, name=FIRST):
        """SIGKILL, and the end of what kept it."""
        self.look()
        alone = not any(self.f.process(other) for other in {FIRST, SECOND} - {name})
        connections = {
            frame.connection for frame, _ in self.fetched() if alone or frame.client_id == name
        }
        began = time.time()
        self.until(lambda: self.f.process(name), f"{name} is there", told=False)
        while (process := self.f.process(name)) and born(process) < began:
            with suppress(NotReached):
                self.f.kill_process(name)
            self.f.wait(lambda: not is_alive(process), f"the end of {name}")
        self.former.append((time.time(), connections))
        self.f.keep(kills=self.f.kept["kills"] + 1)
        if self.books.holds:
            self.books.release()

    def ring(self):
        """The next stage, for who keeps the clerks running."""
        self.producer.send(self.f.p.bell, b"ring", partition=0).get(timeout=10)

    # --- Looking ---

    def fetched(self):
        """What the wire has brought of this topic: the frame, and what was in it."""
        for frame in self.f.gateway.frames("Fetch"):
            for some in frame.fetched:
                if self.topic == some.topic or self.id == some.topic_id:
                    yield frame, some

    def look(self):
        """The books, and which of their rows nobody can know yet."""
        rows = self.books.rows(TABLES)
        known = set()
        for _, some in self.fetched():
            known.update((some.partition, offset) for offset in range(some.first, some.last + 1))
        strange = sum((row[0], row[1]) not in known for row in rows["trades"])
        self.f.keep(**rows, ends=list(self.ends), unfetched=self.f.kept["unfetched"] + strange)

    def last_look(self):
        """The books before anybody can put them right, and who has read. Then it is over."""
        self.look()
        readers, strays = {}, 0
        for frame, some in self.fetched():
            readers.setdefault(str(frame.client_id), set()).add(some.partition)
            strays += any(
                frame.connection in connections and frame.requested > killed + STRAY
                for killed, connections in self.former
            )
        self.f.keep(strays=strays, readers={name: sorted(parts) for name, parts in readers.items()})
        self.ring()


def is_alive(process):
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def born(process):
    with suppress(psutil.Error):
        return process.create_time()
    return 0


def committed(f, group):
    """Records that a group has committed in Kafka."""
    with suppress(CourseError):
        return sum(f.cluster.group(group).offsets.values())
    return 0


@fault(task=1)
def dies_between_two_commits(f):
    """The broker does not get the commit of the first batch, which is in the books."""
    scene = Scene(f, f.p.careless, "books-1.sqlite")
    f.gateway.hold_requests("OffsetCommit")
    yield
    with scene:
        scene.reading()
        scene.send()
        scene.until(
            lambda: [one for one in f.gateway.frames("OffsetCommit") if one.outcome == "held"],
            "a commit on its way to the broker",
        )
        scene.kill()
        f.gateway.heal()
        scene.booked()
        scene.last_look()


@fault(task=2)
def dies_at_four_points(f):
    scene = Scene(f, f.p.killed, "books-2.sqlite")
    yield
    with scene:
        scene.reading()
        scene.stuck()
        f.keep(told=committed(f, f.p.killed), booked=len(scene.books.rows(TABLES)["trades"]))
        scene.kill()
        scene.booked()
        # From here on a second commit of a batch is one too many: then it is the one that waits.
        scene.stuck(commits=1)
        scene.kill()
        before = {frame.connection for frame in f.gateway.frames("Fetch")}
        f.gateway.delay(2_000, api="Fetch")
        scene.until(
            lambda: {frame.connection for frame in f.gateway.frames("Fetch")} - before,
            "a fetch after the start, which is held back",
        )
        scene.kill()
        f.gateway.heal()
        scene.booked()
        scene.stuck(commits=2)
        scene.kill()
        scene.booked()
        f.keep(commits=scene.books.commits)
        scene.last_look()


@fault(task=3)
def books_are_locked(f):
    scene = Scene(f, f.p.locked, "books-3.sqlite")
    yield
    with scene:
        scene.reading()
        scene.send()
        scene.booked()
        before = f.process(FIRST)
        for _ in range(2):
            scene.stuck()
            scene.until(
                lambda: not scene.books.waiting, "your program gives this commit up", every=0.0005
            )
            scene.books.release()
            scene.booked()
        after = f.process(FIRST)
        f.keep(same=None not in (before, after) and before == after)
        scene.last_look()


@fault(task=4)
def nobody_can_trust_kafka(f):
    from kafka import KafkaAdminClient, OffsetAndMetadata, TopicPartition

    from kafkalab import quick

    group = f.p.shared
    scene = Scene(f, group, "books-4.sqlite")
    yield
    with scene, KafkaAdminClient(bootstrap_servers=f.cluster.address, **quick.admin) as admin:
        scene.reading()
        scene.send()
        scene.booked()
        scene.ring()
        scene.until(lambda: members(f, group) == 2, "two members")
        scene.send()
        scene.booked()
        scene.stuck()
        scene.kill(scene.writer() or SECOND)
        scene.booked()
        f.keep(moved=scene.books.rows(TABLES)["trades"], until=list(scene.ends))
        scene.ring()
        scene.until(lambda: f.cluster.group(group).state == "EMPTY", "no member")
        zero, one, two = (TopicPartition(group, number) for number in range(3))
        scene.send()
        admin.delete_group_offsets(group, [zero])
        wrong = {one: OffsetAndMetadata(0, "", -1), two: OffsetAndMetadata(scene.ends[2], "", -1)}
        admin.alter_group_offsets(group, wrong)
        f.note("the offsets of the group in Kafka: one gone, one at the start, one at the end")
        scene.ring()
        scene.until(lambda: members(f, group) == 2, "two members again")
        scene.booked()
        scene.last_look()


def members(f, group):
    view = f.cluster.group(group)
    return len(view.members) if view.state == "STABLE" else 0
