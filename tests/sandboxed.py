"""Where the code of hand-ins runs in tests: in the sandbox, or without one where none works."""

from functools import cache

from grading.run.surroundings import Surroundings
from grading.sandbox import bubblewrap


@cache
def why_not() -> str:
    """What keeps this machine from having a sandbox; nothing where it has one."""
    try:
        bubblewrap.require()
    except bubblewrap.NoSandbox as none:
        return none.why
    return ""


def around() -> Surroundings:
    """As `./course grade` would have it, and without a sandbox where it would refuse."""
    return Surroundings(is_sandboxed=not why_not())


def options() -> list[str]:
    """For `./course grade` and `verify`."""
    return ["--trust-students"] if why_not() else []
