"""Public checks of lab 14.

They hold at the check cell of their task and at the end of the lab, when one member is left: who
had which partitions is told by Kafka's own topic of groups, deal after deal, and who read what by
`seen_topic`. A record is known by its value, which was made up when it was sent; the first word of
it is its stage. Who told of it is seen by the fault of its stage, and what a client has read by the
network.
"""

import math

from grading.judge.checks import Unseen, check, equal
from grading.judge.groups import deals

PARTITIONS = 13
CAME = {
    "new": (2, "no new record came while the cell of task 2 ran"),
    "leave": (4, "no member was asked to end while the cell of task 4 ran"),
    "crash": (5, "no member was killed while the cell of task 5 ran"),
}
"""Stage -> whose fault sends its records, and what there is to say where that was not reached."""
SHARES = dict[str, list[int]]
SAID = dict[str, list[str]]
COUNTS = dict[str, dict[str, int]]


@check(1, points=10, title="Three members of one group, and thirteen partitions")
def three_share_thirteen(x):
    yield from whole(team(x)[0])


@check(1, points=8, title="Who has which partitions")
def shares_are_told(x):
    yield same_shares("shares", x.value("shares", SHARES), team(x)[0])


@check(1, points=4, title="How long a member may be silent")
def session_is_as_ordered(x):
    found = sorted({one.session_ms for one in deals(x, x.p.group)[-1].members})
    yield equal("session_timeout_ms of the members, in ms", found, [x.p.session_ms])


@check(2, points=8, title="Each new record was read once, by who had its partition")
def new_ones_are_read_once(x):
    new = sent(x, "new")
    told = seen(x, "new", x.p.members)
    some_told(x, told, "new")
    members_tell(x, "new")
    missing = sorted(new.keys() - {value for _, value in told})
    yield not missing, f"{len(missing)} new records are not in {x.p.seen_topic}: {missing[:3]}"
    twice = len(told) - len({value for _, value in told})
    yield not twice, f"{twice} of the new records were read more than once"
    dealt = [shares_of(x, deal.members) for deal in deals(x, x.p.group)]
    had = {(name, n) for one in dealt if is_team(x, one) for name in one for n in one[name]}
    others = [value for name, value in told if (name, new.get(value)) not in had]
    yield not others, f"{len(others)} were told by a member without their partition"


@check(2, points=6, title="What each member has read")
def heard_is_what_was_read(x):
    told = seen(x, "new", x.p.members)
    heard = x.value("heard", SAID)
    some_told(x, told, "new")
    members_tell(x, "new")
    for name in x.p.members:
        read = sorted(value for reader, value in told if reader == name)
        yield (
            sorted(heard.get(name, [])) == read,
            f"heard has {len(heard.get(name, []))} values for {name}, and not those that {name} "
            f"has told of in {x.p.seen_topic}",
        )


@check(3, points=8, title="The other group has read everything from the beginning")
def others_have_all(x):
    before = {**sent(x, "old"), **optional(x, "new")}
    (*_, last) = deals(x, x.p.other_group)
    names = [one.client or "" for one in last.members]
    if names != [x.p.latecomer]:
        raise Unseen(f"{x.p.other_group} had the members {', '.join(names)[:100]} at last")
    offsets = x.kafka.group(x.p.other_group).offsets
    done = sum(offset for (topic, _), offset in offsets.items() if topic == x.p.topic)
    if done < len(before):
        raise Unseen(f"{x.p.other_group} has committed {done} records, and more were there")
    brought = x.kafka.fetched(x.p.topic).get(x.p.latecomer, set())
    unread = sum((one.partition, one.offset) not in brought for one in of_stages(x, "old", "new"))
    if unread:
        raise Unseen(
            f"no client by the name of {x.p.latecomer} has fetched {unread} of the records"
        )
    told = seen(x, "old", names) + seen(x, "new", names)
    missing = before.keys() - {value for _, value in told}
    yield not missing, f"{x.p.latecomer} has not told of {len(missing)} records in {x.p.topic}"


@check(3, points=4, title="How many that were", needs="others_have_all")
def from_start_is_told(x):
    before = {**sent(x, "old"), **optional(x, "new")}
    found = x.value("from_start", int)
    yield found == len(before), f"from_start is {found}, and {x.p.topic} held another number"


@check(4, points=8, title="Two have all partitions")
def two_have_all(x):
    yield same_shares("two", x.value("two", SHARES), after_leave(x))


@check(4, points=4, title="What came after the good-bye was read by the two")
def survivors_read_on(x):
    members_tell(x, "leave")
    yield from read_by(x, "leave", after_leave(x))


@check(5, points=8, title="Who is left has all partitions")
def last_has_all(x):
    yield same_shares("last", x.value("last", SHARES), after_crash(x))


@check(5, points=8, title="What came after the kill was read")
def last_reads_on(x):
    members_tell(x, "crash")
    yield from read_by(x, "crash", after_crash(x))


@check(6, points=8, title="Records by stage and member")
def counted_by_stage(x):
    there: dict[str, dict[str, int]] = {}
    for record in x.read(x.p.seen_topic):
        of_stage = there.setdefault(stage_of(record), {})
        name = record.key_text() or ""
        of_stage[name] = of_stage.get(name, 0) + 1
    after_crash(x)  # without a group that lost two there is nothing to count
    members_tell(x, *there.keys() & CAME.keys() | {"crash"})
    if strange := told_for_others(x):
        raise Unseen(
            f"{x.p.seen_topic} tells {strange} times of a record in the name of a member that had "
            "not been given its partition by then: nobody knows what the members have told of"
        )
    counted = {
        stage: {name: number for name, number in of_stage.items() if number}
        for stage, of_stage in x.value("counted", COUNTS).items()
    }
    for stage in there:
        yield (
            counted.get(stage) == there[stage],
            f"counted says of the stage {stage!r} {counted.get(stage)}, and {x.p.seen_topic} holds "
            "other numbers",
        )


@check(6, points=8, title="The longest waits, from the brokers' clocks")
def waits_are_in_the_logs(x):
    waits = x.value("waits", {"leave": float, "crash": float})
    members_tell(x, "leave", "crash")
    for stage, deal in (("leave", after_leave(x)), ("crash", after_crash(x))):
        if unread(x, stage, deal):
            raise Unseen(f"who was left has not read all records of the stage {stage!r}")
    for stage, wait in waits.items():
        longest = {round(one, 3) for one in longest_waits(x, stage)}
        near = any(abs(wait - one) <= 0.02 for one in longest)
        yield near, f"waits[{stage!r}] is {wait:g} s; by the time stamps of the records it is not"


def team(x) -> list[SHARES]:
    """The last deal to the three members, and those that came after it: name -> partitions."""
    return [shares for _, shares in dated_team(x)]


def dated_team(x, first: bool = False) -> list[tuple[int, SHARES]]:
    """The same, each with its date, in the broker's ms; or from the first such deal on."""
    found = [(deal.at, shares_of(x, deal.members)) for deal in deals(x, x.p.group)]
    whole_team = [n for n, (_, shares) in enumerate(found) if is_team(x, shares)]
    if not whole_team:
        raise Unseen(
            f"the partitions were never dealt to {', '.join(x.p.members)} together: at most "
            f"{max(len(shares) for _, shares in found)} members were in {x.p.group} at one time"
        )
    return found[whole_team[0 if first else -1] :]


def is_team(x, deal: SHARES) -> bool:
    return deal.keys() == {*x.p.members}


def after_leave(x) -> SHARES:
    """The deal after the first of the three had gone."""
    return _smaller(x, team(x)[1:], 2, "nobody has left")


def after_crash(x) -> SHARES:
    """The deal to who is left: one, or two where nobody was asked to leave before."""
    left = 1 if optional(x, "leave") else 2
    return _smaller(x, team(x)[1:], left, "nobody has been missed")


def _smaller(x, found: list[SHARES], members: int, otherwise: str) -> SHARES:
    """The last deal to so many members."""
    fitting = [deal for deal in found if len(deal) == members]
    if not fitting:
        raise Unseen(f"{otherwise}: {x.p.group} was not dealt anew among fewer members")
    sizes = sorted(map(len, fitting[-1].values()))
    if sum(sizes) != PARTITIONS or sizes[-1] - sizes[0] > 1:
        raise Unseen(f"who is left has {sizes} partitions")
    return fitting[-1]


def shares_of(x, members) -> SHARES:
    """Name -> its partitions of the topic. Two of one name are an answer, too: as one with more."""
    found: SHARES = {}
    for one in members:
        found.setdefault(one.client or "", []).extend(one.assignment.get(x.p.topic, []))
    return {name: sorted(held) for name, held in found.items()}


def whole(deal: SHARES):
    """Findings about a deal: everything is dealt, nothing twice, and the shares are even."""
    dealt = sorted(partition for held in deal.values() for partition in held)
    yield equal("partitions that were dealt", dealt, list(range(PARTITIONS)), must=True)
    sizes = sorted(map(len, deal.values()))
    yield sizes[-1] - sizes[0] <= 1, f"the members have {sizes} partitions"


def same_shares(name: str, said: SHARES, deal: SHARES):
    """A finding: these are the partitions that the group has dealt."""
    said = {one: sorted(held) for one, held in said.items()}
    odd = sorted(one for one in {*said, *deal} if said.get(one) != deal.get(one))
    return not odd, f"{name} is not what the group has dealt to {', '.join(odd)[:100]}"


def stage_of(record) -> str:
    return record.text().partition(" ")[0]


def optional(x, stage: str) -> dict[str, int]:
    """Value -> partition, of the records of a stage in the topic; perhaps none."""
    return {one.text(): one.partition for one in of_stages(x, stage)}


def of_stages(x, *stages: str) -> list:
    """The records of these stages in the topic."""
    return [one for one in x.read(x.p.topic) if stage_of(one) in stages]


def sent(x, stage: str) -> dict[str, int]:
    """The same; ends the check where there is none."""
    found = optional(x, stage)
    if not found:
        raise Unseen(f"{x.p.topic} holds no record of the stage {stage!r}")
    return found


def seen(x, stage: str, names) -> list[tuple[str, str]]:
    """Who told, and of what, of the records of a stage: those that were told by one of these."""
    found = [(r.key_text(), r.text()) for r in x.read(x.p.seen_topic) if stage_of(r) == stage]
    return [(name, value) for name, value in found if name in names]


def some_told(x, told, stage: str) -> None:
    """Ends the check where nobody has told of a stage: then nothing says who reads what."""
    known = optional(x, stage)
    if not any(value in known for _, value in told):
        raise Unseen(f"no member has told of a record of the stage {stage!r}")


def members_tell(x, *stages: str) -> None:
    """Ends the check where no fault has seen a member tell of a stage while nothing else ran."""
    for stage in sorted(stages, key=[*CAME].index):
        task, otherwise = CAME[stage]
        try:
            alone = x.kept(task).get("alone", 0)
        except Unseen:
            raise Unseen(f"{otherwise}, so nobody knows who told of the stage {stage!r}") from None
        if not alone:
            raise Unseen(
                f"nobody has seen a member tell of a record of the stage {stage!r} while nothing "
                "but members ran"
            )


def read_by(x, stage: str, deal: SHARES):
    """A finding about the records of a stage: they were all read by those who were there then."""
    missing = unread(x, stage, deal)
    yield (
        not missing,
        f"{len(missing)} of {len(sent(x, stage))} records of the stage {stage!r} were not read by "
        f"who was left and had been given their partition: {missing[:3]}",
    )


def unread(x, stage: str, deal: SHARES) -> list[str]:
    """The records of a stage that nobody of a deal has told of once their partition was theirs.

    What the first of them had before the others came does not count.
    """
    since: dict[tuple[str, int], int] = {}
    for at, shares in dated_team(x):
        for name, held in shares.items():
            for partition in held:
                since.setdefault((name, partition), at)
    expected = sent(x, stage)
    read = {
        telling.text()
        for telling in x.read(x.p.seen_topic)
        if (name := telling.key_text()) in deal
        and telling.timestamp >= since.get((name, expected.get(telling.text(), -1)), math.inf)
    }
    return sorted(expected.keys() - read)


def told_for_others(x) -> int:
    """How many tellings of its records bear the name of a member that was not given them before.

    Such a member was in the group when all three were there for the first time, or later.
    """
    since: dict[tuple[str, int], int] = {}
    for at, shares in dated_team(x, first=True):
        for name, held in shares.items():
            for partition in held:
                since.setdefault((name, partition), at)
    places = {one.text(): one.partition for one in of_stages(x, *CAME)}
    return sum(
        telling.timestamp < since.get((name, places[telling.text()]), math.inf)
        for telling in x.read(x.p.seen_topic)
        if (name := telling.key_text()) in x.p.members and telling.text() in places
    )


def longest_waits(x, stage: str) -> list[float]:
    """Seconds that the slowest record of a stage waited, by the first and by the last telling."""
    logs = {topic: x.read(topic) for topic in (x.p.topic, x.p.seen_topic)}
    for topic, log in logs.items():
        if not all(record.is_dated_by_broker for record in log):
            raise Unseen(f"{topic} is not the topic that the cell in front of task 1 has made")
    began = {r.text(): r.timestamp for r in logs[x.p.topic] if stage_of(r) == stage}
    told: dict[str, list[int]] = {}
    for record in logs[x.p.seen_topic]:
        if record.text() in began:
            told.setdefault(record.text(), []).append(record.timestamp - began[record.text()])
    if began.keys() - told.keys() or not began:
        raise Unseen(f"not all records of the stage {stage!r} were sent and read")
    return [max(map(choose, told.values())) / 1000 for choose in (min, max)]
