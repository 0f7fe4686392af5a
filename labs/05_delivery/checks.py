"""Public checks of lab 05."""

from collections import Counter

from grading.judge.checks import at_least, check, equal, expect

PROMISES = {
    "unasked": "at most once",
    "led": "neither",
    "doubled": "at least once",
    "once": "written once",
    "early": "at most once",
    "late": "at least once",
    "careless": "neither",
}
WORDS = sorted({*PROMISES.values()})
CHOICE = {"payments": "once", "clicks": "unasked", "alarms": "doubled"}
BECAUSE = {"wait": "session not over", "repetition": "nothing committed"}
TAKEOVER = 5_000  # milliseconds


def copies(x, topic, key=lambda record: record.key_text()):
    """Key -> how often it lies in a topic, greetings left out."""
    return Counter(key(record) for record in x.read(topic) if record.key_text() != "hello")


def numbers(x):
    """The keys that a burst has."""
    return {str(number) for number in range(x.p.records)}


def lost_and_extra(x, topic):
    """What the log itself says: numbers that are not there, and copies beyond the first."""
    found = copies(x, topic)
    return len(numbers(x) - set(found)), sum(found.values()) - len(found)


def chosen(x, name, right):
    """Each key, whether the dictionary of this name has the right value for it, and that value."""
    said = x.value(name)
    for key, value in right.items():
        answer = said.get(key) if isinstance(said, dict) else None
        yield key, answer == value, answer


@check(1, points=4, title="Sent once, read once, everything committed")
def plain_is_committed(x):
    yield equal("lost and extra in the topic", lost_and_extra(x, x.p.plain), (0, 0), must=True)
    yield equal("both", x.value("both"), {"lost": 0, "extra": 0})
    ends = sum(p.end_offset for p in x.kafka.topic(x.p.plain).partitions)
    committed = sum(x.kafka.group(x.p.readers).offsets.values())
    yield equal(f"committed by {x.p.readers}", committed, ends)


@check(1, points=3, title="Nothing came a second time")
def nothing_again(x):
    yield equal("records that came again", x.value("again"), 0)


@check(1, points=4, title="No wait after the kill")
def back_at_once(x):
    named = x.value("member.get('instance_id')")
    # The member is gone some time after the next cell has ended it; while it is there, it is asked.
    known = {member.instance for member in x.kafka.group(x.p.readers).members} or {named}
    yield expect(
        named and known == {named},
        "the member gives no name of its own, so the group cannot know it again",
    )
    seconds, session = x.value("waited"), x.value("session_ms") / 1000
    yield expect(
        isinstance(seconds, int | float) and seconds < 0.5 * session,
        f"ready after {seconds!r} s, of a session of {session:g} s",
    )


@check(1, points=3, title="Why the wait, why the repetition")
def reasons_are_known(x):
    for question, is_right, answer in chosen(x, "because", BECAUSE):
        yield is_right, f"{question}: not {answer!r}; who remembers what after the crash?"


@check(2, points=5, title="acks=0: what was promised and what is there")
def unasked_are_lost(x):
    lost, extra = lost_and_extra(x, x.p.unasked)
    yield equal("lost in the topic", lost, x.p.records // 3, must=True)
    yield equal("promised_2", x.value("promised_2"), x.p.records)
    yield equal("unasked_2", x.value("unasked_2"), {"lost": lost, "extra": extra})
    yield equal("predicted_2", x.value("predicted_2"), x.p.records // 3)


@check(2, points=7, title="Your settings: nothing acknowledged is lost")
def asked_are_there(x):
    yield equal("lost and extra in the topic", lost_and_extra(x, x.p.asked), (0, 0), must=True)
    yield equal("asked_2", x.value("asked_2"), {"lost": 0, "extra": 0})


@check(3, points=4, title="acks=1: the burst is gone")
def led_are_lost(x):
    lost, _ = lost_and_extra(x, x.p.led)
    yield equal("lost in the topic", lost, x.p.records, must=True)
    yield equal("led_3", x.value("led_3"), {"lost": lost, "extra": 0})
    yield equal("predicted_3", x.value("predicted_3"), x.p.records)


@check(3, points=6, title="Your program: what it calls acknowledged is there")
def copied_are_there(x):
    said = x.value("[[r.partition, r.key] for r in acknowledged_3]")
    yield equal("acknowledged_3", len(said), x.p.records, must=True)
    there = {(record.partition, record.key_text()) for record in x.read(x.p.copied)}
    gone = [key for partition, key in said if (partition, key) not in there]
    yield not gone, f"{len(gone)} records are called acknowledged and are not there: {gone[:5]}"
    yield equal("copied_3", x.value("copied_3"), {"lost": 0, "extra": 0})


@check(4, points=5, title="Two copies, minimum two: one broker away and most is refused")
def tight_refuses(x):
    a_third = x.p.records // 3
    yield equal("tight_4", x.value("tight_4"), a_third)
    yield equal("predicted_4", x.value("predicted_4"), a_third)


@check(4, points=4, title="Your topic keeps every acknowledged record on two brokers")
def sturdy_has_its_shape(x):
    topic = x.kafka.topic(x.p.sturdy)
    minimum = int(topic.configs["min.insync.replicas"].value)
    yield at_least("min.insync.replicas", minimum, 2)
    fewest = min(len(partition.replicas) for partition in topic.partitions)
    yield at_least("copies of a partition", fewest, minimum + 1)


@check(4, points=5, title="Sending went on while the broker was away")
def sturdy_went_on(x):
    yield equal("lost and extra in the topic", lost_and_extra(x, x.p.sturdy), (0, 0), must=True)
    yield equal("went_4", x.value("went_4"), x.p.records)
    yield equal("sturdy_4", x.value("sturdy_4"), {"lost": 0, "extra": 0})


@check(5, points=4, title="Without idempotence: as many extra as answers were dropped")
def doubled_are_extra(x):
    lost, extra = lost_and_extra(x, x.p.doubled)
    yield equal("lost and extra in the topic", (lost, extra), (0, x.p.dropped), must=True)
    yield equal("doubled_5", x.value("doubled_5"), {"lost": 0, "extra": x.p.dropped})
    yield equal("predicted_5", x.value("predicted_5"), x.p.dropped)


@check(5, points=5, title="Your settings: nothing lost, nothing extra")
def once_is_once(x):
    yield equal("lost and extra in the topic", lost_and_extra(x, x.p.once), (0, 0), must=True)
    yield equal("once_5", x.value("once_5"), {"lost": 0, "extra": 0})


def processed_by(record):
    """The number of the worker in the header of a result."""
    return dict(record.headers).get("worker", b"").decode(errors="replace")


@check(6, points=8, title="A kill loses nothing")
def killed_and_nothing_lost(x):
    found = copies(x, x.p.done)
    missing = sorted(numbers(x) - set(found), key=int)
    yield not missing, f"{len(missing)} records were never processed: {missing[:5]} …"
    workers = {processed_by(record) for record in x.read(x.p.done)}
    yield equal("workers that processed records", sorted(workers), ["1", "2"])
    yield equal("lost in orders_6", x.value("orders_6['lost']"), 0)


@check(6, points=6, title="And little comes again")
def killed_and_little_again(x):
    found = copies(x, x.p.done)
    extra = sum(found.values()) - len(found)
    yield expect(found, f"{x.p.done} is empty", must=True)
    yield extra <= x.p.every, f"{extra} records were processed twice; {x.p.every} are allowed"
    said = x.value("predicted_6")
    yield (
        said in (x.p.every, x.p.every - 1),
        f"predicted_6 is {said!r}: what is not committed when the kill comes?",
    )


@check(7, points=5, title="Nothing was lost, and Spark counts each record once")
def late_and_nothing_lost(x):
    missing = numbers(x) - set(copies(x, x.p.late_done))
    yield not missing, f"{len(missing)} records were never processed"
    yield equal("unique_7", x.value("unique_7"), x.p.records)
    yield equal("lost in late_7", x.value("late_7['lost']"), 0)


@check(7, points=5, title="Few records were processed twice")
def late_and_few_again(x):
    found = copies(x, x.p.late_done)
    yield expect(found, f"{x.p.late_done} is empty", must=True)
    extra = sum(found.values()) - len(found)
    yield (
        extra <= x.p.repeated,
        f"{extra} records were processed twice; {x.p.repeated} are allowed",
    )


@check(7, points=4, title="The other worker took over soon")
def taken_over_soon(x):
    session = x.value("late.get('session_timeout_ms', 6000)")
    yield expect(
        isinstance(session, int) and 500 <= session <= TAKEOVER,
        f"the group waits {session!r} ms for a member that says nothing; {TAKEOVER} are allowed",
    )


@check(8, points=4, title="The promises")
def promises_are_named(x):
    for name, is_right, answer in chosen(x, "promises", PROMISES):
        why = "what can each fault do to it?" if answer in WORDS else f"say one of {WORDS}"
        yield is_right, f"{name}: not {answer!r}; {why}"


@check(8, points=2, title="The choice for three cases")
def choice_fits(x):
    for case, is_right, answer in chosen(x, "choice", CHOICE):
        yield is_right, f"{case}: {answer!r} does not fit what was asked for"
