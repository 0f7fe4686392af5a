"""Hidden checks of lab 14: what was skipped, and how a member went."""

from grading.judge.checks import Unseen, check
from kafkalab.errors import CourseError

from .checks import members_tell, seen, some_told, team


@check(2, points=4, title="No member read what is older than the group")
def old_ones_are_skipped(x):
    some_told(x, seen(x, "new", x.p.members), "new")
    members_tell(x, "new")
    old = seen(x, "old", x.p.members)
    yield not old, f"members of {x.p.group} have told of {len(old)} records from before their time"


@check(4, points=4, title="The first one went with a good-bye")
def said_good_bye(x):
    three, *later = team(x)
    gone = sorted(three.keys() - later[0].keys()) if later else []
    if not gone:
        raise Unseen(f"nobody has left {x.p.group}")
    said = [line for line in lines_about(x) if "explicit `LeaveGroup` request" in line]
    heard = any(f"({gone[0]}-" in line for line in said)
    yield heard, f"the group has heard no good-bye of {gone[0]}: it was missed after its session"


def lines_about(x) -> list[str]:
    """What the brokers have logged about the group; one that does not run has nothing to add."""
    found = []
    for broker in x.kafka.brokers:
        try:
            found += [line for line in x.kafka.logs(broker) if f"group {x.p.group} " in line]
        except CourseError:
            continue
    return found
