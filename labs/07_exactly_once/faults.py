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
from grading.faults.processes import program_of
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
TRIES = 5  # seconds in which a commit that was refused may be tried again, before it is rolled back
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
            raise Unseen(
                f"{topic} has records of an earlier run: run the cell in front of the task first"
            )
        self.id, self.partitions = view.id, len(view.partitions)
        self.ends = [0] * self.partitions
        self.books = None
        self.producer = KafkaProducer(
            bootstrap_servers=f.cluster.address, client_id="market", linger_ms=50, **quick.producer
        )
        self.clerks = [FIRST]  # who may write now
        self.former = []  # when a clerk was killed, and the connections that records came through
        f.keep(kills=0, unfetched=0, others=0, torn=0, starts=[], stayed=0)
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

    def until(self, condition, what, every=0.02, told=True, patience=PATIENCE):
        """Wait for what a program does; not for ever, so that a cell without it ends, too."""
        deadline = time.monotonic() + patience * pace.now()
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

    def booked(self, watch=None, slower=False):
        """All records are in the books and nothing changes there, or nothing for a while.

        Each commit meanwhile passes one by one, so that who writes is seen. `watch` is called with
        the number of commits when it has changed; with `slower` no program outruns it.
        """
        seen = [None, 0.0, None]

        def is_done():
            self.let_pass(slower)
            commits = self.books.commits
            if commits != seen[0]:
                if watch is not None:
                    watch(commits)
                seen[:] = commits, time.monotonic(), None
            still = time.monotonic() - seen[1]
            if seen[2] is None and still > A_MOMENT:
                rows = self.books.rows({"trades": TABLES["trades"][:2]})["trades"]
                seen[2] = len({tuple(row) for row in rows}) >= sum(self.ends)
            return seen[2] or still > QUIET * pace.now()

        try:
            self.until(is_done, "your books at rest, and nothing more to book", every=0.002)
        finally:
            self.books.release()

    def let_pass(self, slower=False):
        """Keep commits back; if one waits, note whose it is, and let it pass."""
        if not self.books.holds:
            self.books.hold()
        elif self.books.waiting:
            self.note_writer()
            if slower:
                self.slow_down()
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
        with suppress(psutil.Error):
            is_somebody = pid and self.clerk(pid) is None and is_alive(psutil.Process(pid))
            if is_somebody and self.books.waiting == pid:
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
            self.slow_down()
            before = self.books.commits
            self.books.release()
            self.until(lambda: self.books.commits != before, "it may pass", every=0)  # noqa: B023
            self.books.hold()
            self.until(lambda: self.books.waiting, "the next one, which we keep back")

    def given_up(self):
        """The commit that waits fails, and its transaction is rolled back.

        Some may try the same transaction again first, and tell Kafka before each time. Who rolls
        back to a savepoint leaves it open, and has the same records brought again.
        """
        told = len(self.f.gateway.frames("OffsetCommit"))
        known, since = {}, time.time()
        for _, some in self.fetched():
            known[some.partition] = max(known.get(some.partition, -1), some.last)
        with self.books.transaction() as is_over:
            self.until(
                lambda: is_over() or len(self.f.gateway.frames("OffsetCommit")) > told,
                "your program gives this commit up",
                every=0.0005,
            )
            try:
                patience = 0 if self.f.kept["stayed"] else TRIES
                self.until(is_over, "it rolls back", every=0.0005, patience=patience)
            except NotReached:
                come_again = any(
                    frame.requested > since and some.first <= known.get(some.partition, -1)
                    for frame, some in self.fetched()
                )
                self.f.keep(stayed=self.f.kept["stayed"] + (not come_again))

    def one_by_one(self):
        """A burst without a kill, commit by commit."""
        before, count = list(self.ends), Count(self.books)
        self.books.hold()
        self.send()
        self.until(lambda: self.books.waiting, "the commit of a burst")
        self.slow_down()
        self.booked(count.look)
        torn = self.f.kept["torn"] + count.torn
        self.f.keep(**count.found(), torn=torn, most=self.batches_since(before))

    def booked_after_a_start(self):
        """What a start brings, commit by commit; not what it commits before the first trade."""
        before, count = [0] * self.partitions, Count(self.books, is_start=True)
        for part, offset in self.books.rows({"trades": TABLES["trades"][:2]})["trades"]:
            if part in range(self.partitions) and isinstance(offset, int):
                before[part] = max(before[part], offset + 1)
        self.booked(count.look, slower=True)
        start = {**count.found(), "most": self.batches_since(before)}
        self.f.keep(torn=self.f.kept["torn"] + count.torn, starts=[*self.f.kept["starts"], start])

    def batches_since(self, before):
        """The most batches that the living clerk can have made of what the network has brought it.

        before: the offset of each partition where they begin.
        """
        dead = set().union(*(connections for _, connections in self.former))
        most = 0
        for frame, some in self.fetched():
            number = some.last + 1 - max(some.first, before[some.partition])
            if number > 0 and frame.client_id == FIRST and frame.connection not in dead:
                # The first piece may be what was left of a poll, in the worst case one record.
                most += 1 + -(-(number - 1) // self.f.p.batch)
        return most

    def slow_down(self):
        """Let who waits to commit be slower from here on than we are."""
        with suppress(psutil.Error, OSError, TypeError):
            psutil.Process(self.books.waiting).nice(19)

    def writer(self):
        """The clerk whose commit waits; None where it is somebody else's."""
        return self.clerk(self.books.waiting)

    def clerk(self, pid):
        """The name of a clerk; None for others.

        It is the only process of its name, as the shop starts it again only when it is dead. At a
        second look, as a process that is about to start another is there twice.
        """
        for name in 2 * self.clerks:
            if [one.pid for one in self.f.processes(name)] == [pid]:
                return name
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
        """SIGKILL, and a look at what is left. Commits are kept back until `let_pass`.

        By name alone, and not as `f.kill_process` does: the first commit of a program may make its
        tables, or look at them, before it is connected to a broker, and it waits for our lock then.
        """
        if not self.books.holds:
            self.books.hold()
        self.look()
        alone = not any(self.f.process(other) for other in {FIRST, SECOND} - {name})
        connections = {
            frame.connection for frame, _ in self.fetched() if alone or frame.client_id == name
        }
        births, killed = [0], []
        self.until(lambda: self.was_born(name, births), f"{name} is there", told=False)
        self.until(lambda: self.is_gone(name, births[-1], killed), f"the end of {name}", told=False)
        self.f.wait(lambda: not any(map(is_alive, killed)), f"the end of {name}")
        self.f.note(f"process {name} killed")
        self.former.append((time.time(), connections))
        torn = self.f.kept["torn"] + torn_in(self.books.rows(TABLES))
        self.f.keep(kills=self.f.kept["kills"] + 1, torn=torn)
        self.note_writer()

    def was_born(self, name, births):
        """Note when the youngest of this name was born; false where there is none."""
        process = self.f.process(name)
        births.append(born(process) if process else 0)
        return births[-1]

    def is_gone(self, name, youngest, killed):
        """Whether nobody of this name is there but who was born after the youngest; kills the rest.

        Births are held against births: the clock of processes is not that of `time.time`.
        """
        process = self.f.process(name)
        if process is None:
            return True
        at = born(process)
        if 0 < at <= youngest:
            with suppress(psutil.Error):
                process.kill()
                killed.append(process)
        return at > youngest

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


class Count:
    """Commits of the books, those of them that bring no trade, and prices that come too late."""

    def __init__(self, books, is_start=False):
        self.books, self.counts = books, not is_start
        self.commits, self.trades = books.commits, len(books.rows(TABLES)["trades"])
        self.all = self.hollow = self.torn = 0

    def look(self, commits):
        """The number of commits has changed to this."""
        rows = self.books.rows(TABLES)
        trades, more = len(rows["trades"]), commits - self.commits
        is_hollow = trades <= self.trades
        self.counts = self.counts or not is_hollow
        self.torn += torn_in(rows)
        self.all += more * self.counts
        self.hollow += more * (self.counts and is_hollow)
        self.commits, self.trades = commits, trades

    def found(self):
        return {"commits": self.all, "hollow": self.hollow}


def is_alive(process):
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def born(process):
    with suppress(psutil.Error):
        return process.create_time()
    return 0


def torn_in(rows):
    """Stocks whose price is not that of their newest trade in these rows."""
    newest = {}
    for _, offset, stock, cents in rows["trades"]:
        if isinstance(offset, int) and offset > newest.get(stock, (-1, None))[0]:
            newest[stock] = offset, cents
    prices = {row[0]: row[1] for row in rows["prices"]}
    return sum(prices.get(stock) != cents for stock, (_, cents) in newest.items())


def running(f):
    """The process of the first clerk, and which program it runs; None where there is none."""
    process = f.process(FIRST)
    return process and (process, program_of(process))


def foretold(f):
    """What the notebook had predicted when it started the clerk; None where nothing."""
    with suppress(psutil.Error, ValueError, AttributeError, IndexError, TypeError):
        said = json.loads(f.process(FIRST).cmdline()[-1])["foretold"]
        return said if type(said) is int else None
    return None


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
        f.keep(foretold=foretold(f))
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
        scene.booked_after_a_start()
        # From here on a second commit of a batch is one too many: then it is the one that waits.
        scene.stuck(commits=1)
        scene.kill()
        before = {frame.connection for frame in f.gateway.frames("Fetch")}
        f.gateway.delay(2_000, api="Fetch")
        scene.until(
            lambda: (
                scene.let_pass() or {one.connection for one in f.gateway.frames("Fetch")} - before
            ),
            "a fetch after the start, which is held back",
        )
        scene.kill()
        f.gateway.heal()
        scene.booked_after_a_start()
        scene.stuck(commits=2)
        scene.kill()
        scene.booked_after_a_start()
        scene.one_by_one()
        scene.last_look()


@fault(task=3)
def books_are_locked(f):
    scene = Scene(f, f.p.locked, "books-3.sqlite")
    yield
    with scene:
        scene.reading()
        scene.send()
        scene.booked()
        before = running(f)
        for _ in range(2):
            scene.stuck()
            scene.given_up()
            scene.books.release()
            scene.booked()
        f.keep(same=None not in (before, running(f)) and before == running(f))
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
        scene.clerks = [FIRST, SECOND]
        scene.ring()
        scene.until(lambda: scene.let_pass() or members(f, group) == 2, "two members")
        scene.books.release()
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
        scene.until(lambda: scene.let_pass() or members(f, group) == 2, "two members again")
        scene.booked()
        scene.last_look()


def members(f, group):
    view = f.cluster.group(group)
    return len(view.members) if view.state == "STABLE" else 0
