"""The closed set of ways in which a check, a cell or a hand-in can end."""

from enum import StrEnum


class Outcome(StrEnum):
    """Every word that a record may hold. A fault of ours is never turned into a number."""

    PASS = "pass"
    PART = "part"
    FAIL = "fail"
    # a cell: what its execute reply said, or why there was none
    RAN = "ran"
    STUDENT_ERROR = "student_error"
    STUDENT_EXIT = "student_exit"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    OUTPUT_LIMIT = "output_limit"
    PROCESS_LIMIT = "process_limit"
    DISK_LIMIT = "disk_limit"
    KERNEL_DIED = "kernel_died"
    NOT_REACHED = "not_reached"
    # a check that another one stands in the way of
    NEEDS = "needs"
    # a hand-in that could not be run
    UNREADABLE = "unreadable"
    WRONG_LAB = "wrong_lab"
    NOTHING_HANDED_IN = "nothing_handed_in"
    UNCLEAR = "unclear"
    # ours: no number
    CHECK_ERROR = "check_error"
    INFRA = "infra"


OURS = frozenset({Outcome.CHECK_ERROR, Outcome.INFRA})
REFUSED = frozenset(
    {Outcome.UNREADABLE, Outcome.WRONG_LAB, Outcome.NOTHING_HANDED_IN, Outcome.UNCLEAR}
)
STOPPED = (
    *(Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY, Outcome.OUTPUT_LIMIT, Outcome.PROCESS_LIMIT),
    *(Outcome.DISK_LIMIT, Outcome.KERNEL_DIED),
)

IN_WORDS = {
    Outcome.PASS: "passed",
    Outcome.PART: "partly passed",
    Outcome.FAIL: "failed",
    Outcome.RAN: "ran",
    Outcome.STUDENT_ERROR: "raised an error",
    Outcome.STUDENT_EXIT: "left the program (exit)",
    Outcome.TIMEOUT: "took too long",
    Outcome.OUT_OF_MEMORY: "ran out of memory",
    Outcome.OUTPUT_LIMIT: "printed too much",
    Outcome.PROCESS_LIMIT: "started too many processes or threads",
    Outcome.DISK_LIMIT: "wrote more than its disk holds",
    Outcome.KERNEL_DIED: "ended the kernel",
    Outcome.NOT_REACHED: "not reached",
    Outcome.NEEDS: "not run: another check comes first",
    Outcome.UNREADABLE: "no readable notebook",
    Outcome.WRONG_LAB: "belongs to another lab",
    Outcome.NOTHING_HANDED_IN: "nothing handed in",
    Outcome.UNCLEAR: "cannot be graded as it is",
    Outcome.CHECK_ERROR: "the check itself broke (not the student's fault)",
    Outcome.INFRA: "the grader could not run it (not the student's fault)",
}
