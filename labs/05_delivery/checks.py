"""Public checks of lab 05.

What is typed in counts beside what the student's own run has left on the brokers: the records of
its topics (bursts.py), and what Kafka keeps of its groups (group_log.py).
"""

from grading.judge.checks import check, expect
from grading.judge.sealed import sealed

from .bursts import (
    NOTHING,
    SHOWN_BY,
    VERDICT,
    against,
    apart,
    both_worked,
    chosen,
    copies,
    ended_by_the_kill,
    foretold,
    is_measured,
    is_whole,
    lacks_nothing,
    lost_and_extra,
    not_shown,
    numbers,
)
from .group_log import came_back, together

PROMISES = sealed(
    "lab05 promises",
    {
        "unasked": "305d40587f56dcf6",
        "led": "ca67f9bbdb1b16af",
        "alone": "dd1779bcd0cd4480",
        "doubled": "72e8bae7bbfb7195",
        "once": "c965baaf67c3ff4e",
        "tight": "47fefc9d8572b4e8",
        "early": "71027e9f3b7cc16d",
        "late": "2bd07794b3ec56b4",
        "known": "59a49d89a4950fc6",
        "careless": "188a0dea90618f09",
    },
)
WORDS = ["at least once", "at most once", "effectively once", "neither", "written once"]
CHOICE = sealed(
    "lab05 choice",
    {
        "payments": "ac36d85d030abd9a",
        "clicks": "8c03f9fece1f9db9",
        "alarms": "69bbadcfef191155",
    },
)
PRODUCERS = ("unasked", "led", "alone", "doubled", "once", "tight")
"""The lines of task 8 that a choice may name."""
BECAUSE = sealed(
    "lab05 because",
    {
        "wait": "c4251f99423c74cd",
        "repetition": "0a298f5ea4b7f710",
    },
)
TAKEOVER = 5_000  # milliseconds


@check(1, points=4, title="Sent once, read once, everything committed")
def plain_is_committed(x):
    yield is_whole(x, x.p.plain)
    log = x.read(x.p.plain)
    ends = {number: some[-1].offset + 1 for number, some in log.partitions.items()}
    offsets = x.kafka.group(x.p.readers).offsets
    behind = sorted(n for n, end in ends.items() if offsets.get((x.p.plain, n)) != end)
    yield (
        not behind,
        f"{x.p.readers} has not committed the end of partition {', '.join(map(str, behind))}",
    )
    both = x.value("both", VERDICT)
    yield not behind and both == NOTHING, f"both is {both}: what was sent is to be read once"


@check(1, points=3, title="Nothing came a second time")
def nothing_again(x):
    before = came_back(x, x.p.readers, x.p.plain).committed
    log = x.read(x.p.plain)
    left = sum(record.offset >= before.get(record.partition, 0) for record in log)
    yield expect(
        not left,
        f"when the second consumer came, {left} records were not committed: it got them again",
        must=True,
    )
    again = x.value("again", int)
    yield again == left, f"again is {again}, and the group's commits say something else"


@check(1, points=4, title="No wait after the kill")
def back_at_once(x):
    back = came_back(x, x.p.readers, x.p.plain)
    yield expect(
        back.member.instance and back.member.instance == back.former.instance,
        "the second consumer gives no name, or another one than the first, so the group cannot "
        "know it again",
        must=True,
    )
    waited, session = x.value("waited", float), back.member.session_ms / 1000
    yield (
        0 < waited < 0.5 * session,
        f"ready after {waited:g} s, of a session of {session:g} s",
    )


@check(1, points=3, title="Why the wait, why the repetition")
def reasons_are_known(x):
    came_back(x, x.p.readers, x.p.plain)
    for question, is_right, answer in chosen(x, "because", BECAUSE):
        yield is_right, f"{question}: not {answer!r}; who remembers what after the crash?"


@check(2, points=5, title="acks=0: what was promised and what is there")
def unasked_are_lost(x):
    lost = lost_and_extra(x, x.p.unasked)["lost"]
    yield expect(
        lost == x.p.records // 3,
        f"{x.p.unasked} lacks {lost} records, and with acks=0 this fault takes another number: "
        "first run the cell in front of the task again",
        must=True,
    )
    promised = x.value("promised_2", int)
    yield (
        promised == x.p.records,
        f"promised_2 is {promised}: how many does send call acknowledged with acks=0?",
    )
    yield is_measured(x, "unasked_2", x.p.unasked)
    yield foretold(x, "predicted_2", lost)


@check(2, points=7, title="Your settings: nothing acknowledged is lost")
def asked_are_there(x):
    yield lacks_nothing(x, x.p.asked)
    yield is_measured(x, "asked_2", x.p.asked)


@check(3, points=4, title="acks=1: what is left of the burst")
def led_are_lost(x):
    lost = lost_and_extra(x, x.p.led)["lost"]
    yield expect(
        lost == x.p.records,
        f"{x.p.led} lacks {lost} records, and with acks=1 this fault takes another number: first "
        "run the cell in front of the task again",
        must=True,
    )
    yield is_measured(x, "led_3", x.p.led)
    yield foretold(x, "predicted_3", lost)


@check(3, points=5, title="Your program: what it calls acknowledged is there")
def copied_are_there(x):
    said = x.value(
        "[[r.partition, str(r.key)] for r in acknowledged_3]",
        list[tuple[int, str]],
        called="acknowledged_3",
    )
    named = {key for _, key in said} & numbers(x)
    yield expect(
        len(said) == len(named) == x.p.records,
        f"acknowledged_3 has {len(said)} entries for {len(named)} of {x.p.records} records",
        must=True,
    )
    there = {(record.partition, record.key_text()) for record in x.read(x.p.copied)}
    gone = [key for partition, key in said if (partition, key) not in there]
    yield not gone, f"{len(gone)} records are called acknowledged and are not there: {gone[:5]}"
    yield is_measured(x, "copied_3", x.p.copied)


@check(4, points=5, title="Two copies, a minimum of two, and one broker away")
def tight_refuses(x):
    kept = apart(x, x.p.tight)
    yield expect(
        len(kept) == x.p.records // 3,
        f"the partitions of {x.p.tight} without a copy on broker {x.p.away} hold {len(kept)} of "
        "your records; one burst of send leaves another number there",
        must=True,
    )
    accepted = x.value("tight_4", int)
    yield (
        accepted == len(kept),
        f"tight_4 is {accepted}, and while the broker was away {x.p.tight} took another number",
    )
    yield foretold(x, "predicted_4", len(kept))


@check(4, points=4, title="Your topic keeps every acknowledged record on two brokers")
def sturdy_has_its_shape(x):
    topic = x.kafka.topic(x.p.sturdy)
    minimum = int(topic.configs["min.insync.replicas"].value)
    yield (
        minimum >= 2,
        f"min.insync.replicas is {minimum}: an acknowledged record may be on one broker only",
    )
    fewest = min(len(partition.replicas) for partition in topic.partitions)
    yield (
        fewest > minimum,
        f"a partition has {fewest} copies, of which {minimum} must be in sync: no broker may be "
        "away",
    )


@check(4, points=5, title="Sending went on while the broker was away")
def sturdy_went_on(x):
    yield lacks_nothing(x, x.p.sturdy)
    went = x.value("went_4", int)
    yield (
        went == len(copies(x, x.p.sturdy)),
        f"went_4 is {went}, and {x.p.sturdy} holds another number of your records",
    )
    yield is_measured(x, "sturdy_4", x.p.sturdy)


@check(5, points=4, title="Without idempotence: what lost answers do")
def doubled_are_extra(x):
    there = lost_and_extra(x, x.p.doubled)
    yield expect(
        there == {"lost": 0, "extra": x.p.dropped},
        f"{x.p.doubled} lacks {there['lost']} records and has {there['extra']} once more; one run "
        "of send without idempotence leaves another number: first run the cell in front of the "
        "task again",
        must=True,
    )
    yield is_measured(x, "doubled_5", x.p.doubled)
    yield foretold(x, "predicted_5", there["extra"])


@check(5, points=5, title="Your settings: nothing lost, nothing extra")
def once_is_once(x):
    yield is_whole(x, x.p.once)
    yield is_measured(x, "once_5", x.p.once)


@check(6, points=8, title="A kill loses nothing")
def killed_and_nothing_lost(x):
    missing = sorted(numbers(x) - set(copies(x, x.p.done)), key=int)
    yield not missing, f"{len(missing)} records were never processed: {missing[:5]} …"
    yield both_worked(x, x.p.done)
    lost = x.value("orders_6", VERDICT)["lost"]
    yield lost == 0, f"orders_6 says that {lost} were lost"
    yield ended_by_the_kill(x.value("status_6", int))


@check(6, points=6, title="And little comes again")
def killed_and_little_again(x):
    yield both_worked(x, x.p.done)
    extra = lost_and_extra(x, x.p.done)["extra"]
    yield (
        extra <= x.p.every,
        f"{extra} records were processed twice: a loop that commits as asked repeats fewer",
    )
    why = "what is not committed when the kill comes?"
    yield foretold(x, "predicted_6", x.p.every, x.p.every - 1, why=why)


@check(7, points=5, title="Nothing was lost, and Spark counts each record once")
def late_and_nothing_lost(x):
    found = copies(x, x.p.late_done)
    missing = numbers(x) - set(found)
    yield not missing, f"{len(missing)} records were never processed"
    unique = x.value("unique_7", int)
    yield (
        unique == len(found),
        f"unique_7 is {unique}, and {x.p.late_done} has another number of different keys",
    )
    lost = x.value("late_7", VERDICT)["lost"]
    yield lost == len(missing) == 0, f"late_7 says that {lost} were lost"


@check(7, points=5, title="Few records were processed twice")
def late_and_few_again(x):
    yield both_worked(x, x.p.late_done)
    extra = lost_and_extra(x, x.p.late_done)["extra"]
    yield (
        extra <= x.p.repeated,
        f"{extra} records were processed twice; {x.p.repeated} are allowed",
    )


@check(7, points=4, title="The other worker took over soon")
def taken_over_soon(x):
    members = together(x, x.p.late_workers)
    yield expect(
        len(members) >= 2, f"{x.p.late_workers} never had two members at one time", must=True
    )
    session = max(member.session_ms for member in members)
    yield (
        session <= TAKEOVER,
        f"the group waits {session} ms for a member that says nothing; {TAKEOVER} are allowed",
    )


@check(8, points=4, title="The promises")
def promises_are_named(x):
    unseen = {}  # two lines may be shown by one run
    for line, is_right, answer in chosen(x, "promises", PROMISES):
        run = SHOWN_BY[line]
        if run not in unseen:
            unseen[run] = not_shown(x, line)
        if unseen[run]:
            yield False, f"{line}: {unseen[run]}"
        elif is_right:
            yield True, ""
        else:
            why = against(x, line, answer) if answer in WORDS else f"say one of {WORDS}"
            yield False, f"{line}: not {answer!r}; {why}"


@check(8, points=2, title="The choice for three cases")
def choice_fits(x):
    for case, is_right, answer in chosen(x, "choice", CHOICE):
        unseen = not_shown(x, answer) if answer in PRODUCERS else ""
        yield is_right and not unseen, f"{case}: {unseen or f'{answer!r} does not fit'}"
