"""What a student's run has left of the bursts of lab 05, and what is said of it beside that."""

import signal
from collections import Counter

from grading.judge.checks import Unseen, expect

VERDICT = {"lost": int, "extra": int}
NOTHING = {"lost": 0, "extra": 0}
# The line of task 8 -> what shows it in a run of one's own, and the topic of that run. What
# an unclean election takes lesson 08 has shown.
SHOWN_BY = {
    "unasked": ("unasked_2", "unasked"),
    "led": ("led_3", "led"),
    "alone": ("doubled_5", "doubled"),
    "doubled": ("doubled_5", "doubled"),
    "once": ("once_5", "once"),
    "tight": ("tight_4", "tight"),
    "early": ("orders_6", "done"),
    "late": ("late_7", "late_done"),
    "known": ("unique_7", "late_done"),
    "careless": ("orders_6", "done"),
}
OF_WORKERS = ("done", "late_done")
COUNTS = ("tight_4", "unique_7")
RUN_BY_ITSELF = ("unasked", "led", "doubled", "once", "late")
"""The lines whose topic holds what they did, and nobody else's work."""
LOSES_NONE = ("at least once", "written once", "effectively once")
DOUBLES_NONE = ("at most once", "written once", "effectively once")


def copies(x, topic):
    """Key -> how often it lies in a topic, greetings left out."""
    return Counter(r.key_text() for r in x.read(topic) if r.key_text() != "hello")


def numbers(x):
    """The keys that a burst has."""
    return {str(number) for number in range(x.p.records)}


def lost_and_extra(x, topic):
    """What the log itself says: numbers that are not there, and copies beyond the first."""
    found = copies(x, topic)
    if found.keys() - numbers(x):
        raise Unseen(f"{topic} holds records that are none of the burst")
    return {
        "lost": len(numbers(x) - set(found)),
        "extra": sum(found.values()) - len(found),
    }


def apart(x, topic):
    """The keys of a burst in the partitions that have no copy on the broker that was away.

    The others get what the client tries again when the broker is back.
    """
    partitions = x.kafka.topic(topic).partitions
    places = {one.partition for one in partitions if x.p.away not in one.replicas}
    return {r.key_text() for r in x.read(topic) if r.partition in places} & numbers(x)


def is_whole(x, topic):
    """The burst lies in a topic, each record once; else the check ends."""
    there = lost_and_extra(x, topic)
    return expect(
        there == NOTHING,
        f"of the {x.p.records} records {topic} lacks {there['lost']}, and {there['extra']} are "
        "there once more",
        must=True,
    )


def lacks_nothing(x, topic):
    """The burst lies in a topic, however often; else the check ends."""
    lost = lost_and_extra(x, topic)["lost"]
    return expect(not lost, f"{topic} lacks {lost} of {x.p.records} records", must=True)


def is_measured(x, name, topic):
    """The verdict of this name is what the topic holds."""
    said, there = x.value(name, VERDICT), lost_and_extra(x, topic)
    return expect(said == there, f"{name} is {said}, and the records of {topic} say something else")


def foretold(x, name, *right, why="your own run came to another number"):
    """The prediction of this name, which was mended after the run; none costs its share alone."""
    try:
        said = x.value(name, float)
    except Unseen as nothing:
        return expect(False, str(nothing))
    return expect(said in right, f"{name} is {said:g}: {why}")


def chosen(x, name, right):
    """Each key, whether the dictionary of this name has the right value for it, and that value."""
    said = x.value(name, dict[str, object])
    for key, value in right.items():
        yield key, said.get(key) == value, said.get(key)


def workers(x, results):
    """The numbers of the workers that processed records."""
    return sorted({record.header("worker") for record in x.read(results)})


def both_worked(x, results):
    """Two workers had their part in it; else the check ends."""
    found = workers(x, results)
    return expect(
        found == ["1", "2"],
        f"the records of {results} are the work of worker {' and '.join(found)}; two are to share "
        "it",
        must=True,
    )


def ended_by_the_kill(status):
    """A worker's exit status tells who ended it: a signal stands there with a minus."""
    how = "in good order" if status == 0 else "by itself, with an error"
    return expect(
        status == -signal.SIGKILL,
        f"status_6 is {status}: so ends a program "
        f"{f'after signal {-status}' if status < 0 else how}, and worker 1 was killed",
    )


def against(x, line, answer):
    """What the run of one's own has against an answer, or else a question."""
    there = lost_and_extra(x, x.p[SHOWN_BY[line][1]]) if line in RUN_BY_ITSELF else NOTHING
    if there["lost"] and answer in LOSES_NONE:
        return "your own run of it has lost some"
    if there["extra"] and answer in DOUBLES_NONE:
        return "your own run of it has some twice"
    return "what can each fault do to it?"


def not_shown(x, line):
    """Why a run of one's own does not show what is claimed of a line; nothing where it does."""
    name, kind = SHOWN_BY[line]
    topic = x.p[kind]
    try:
        shown = x.value(name, int if name in COUNTS else VERDICT)
        if kind in OF_WORKERS and not both_worked(x, topic).ok:
            return f"two workers of yours are to fill {topic}"
        if kind in OF_WORKERS and name not in COUNTS:
            return ""  # its verdict is of what lies in the logs of the workers
        if name in COUNTS:
            there = len(copies(x, topic) if kind in OF_WORKERS else apart(x, topic))
        else:
            there = lost_and_extra(x, topic)
        return "" if shown == there else f"{name} is not what {topic} holds"
    except Unseen as why:
        return f"no run of yours shows it: {why}"
