"""What a learner is told of the copies in work/: what came, what moved, what will fail."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from kafkalab.setup.copies import Refreshed, short_name
from kafkalab.setup.gone_names import gone_names
from kafkalab.setup.older_copies import Carried

MOST_NAMED = 4


def sentences(done: Refreshed, work: Path) -> Iterator[str]:
    """A line for each that changed; nothing where all is as it was."""
    if done.replaced:
        yield f"Renewed, as you had not changed them: {_listed(done.replaced)}."
    yield from moves(done.carried)
    for old, new, followers in done.aside:
        now = f"; what it taught is in {' and '.join(followers)}" if followers else ""
        yield f"The course has no {old.stem} any more{now}. Your copy is work/{new}."
    for path in done.beside:
        own = path.with_name(path.name.partition(".new")[0] + path.suffix)
        yield f"You changed work/{own}, so it stays. The new version is work/{path}."
    gone = {path: names for path in done.outdated if (names := gone_names(work / path))}
    if gone:
        pages = list(dict.fromkeys(map(short_name, gone)))
        names = list(dict.fromkeys(name for names in gone.values() for name in names))
        yield (
            f"What you have of {', '.join(pages)} will fail, as the course no longer has "
            f"{_listed(names)}; ./course reset {pages[0]} gives a fresh page and keeps yours aside."
        )


def moves(carried: Carried) -> Iterator[str]:
    """A line for each copy that lay where labs had no folders."""
    for old, new in carried.moved:
        yield f"Labs have folders of their own now: your work/{old} is work/{new}."
    for old, new in carried.twice:
        yield f"You have work/{old} and work/{new}; the course looks at the second."
    for path, why in carried.refused:
        yield f"work/{path} could not be moved to the folder of its lab: {why}."


def _listed(names: Sequence[object]) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(map(str, names[:MOST_NAMED])) + more
