"""`./course rescore`: points anew from what was seen, without running anything."""

from rich.console import Console
from rich.markup import escape

from commands.grading import COURSE, LabName, Out, expect_records
from grading.define import definition
from grading.keep.words import as_number


def rescore(lab: LabName, out: Out = COURSE) -> None:
    """Make points anew from the stored evidence, after a change of points or titles.

    Nothing is run. What a check looked at is as it was then: a check that looks at something else
    now, or that is new, needs ./course grade.
    """
    from grading.keep import report
    from grading.keep.rescore import rescore as score_again
    from grading.keep.store import Store

    graded = definition.load(lab)
    expect_records(out, graded.name, lab)
    store = Store(out, graded.name)
    done = score_again(graded, store)
    console = Console(soft_wrap=True, highlight=False)
    for before, after in done.changed:
        points = f"{as_number(before.reached)} of {before.full:g} -> {as_number(after.reached)} of"
        console.print(f"{escape(after.student)}: {points} {after.full:g}")
    for student, why in done.left.items():
        console.print(f"[yellow]left as it was[/] {escape(student)}: {escape(why)}")
    if done.older:
        what = "ran with another version of the lab; what its checks look at is as it was then"
        console.print(f"[yellow]note[/] {len(done.older)} of {done.count} {what}")
    if done.left or done.older:
        console.print(f"To run them again: ./course grade {lab} PATH")
    console.print(f"{len(done.changed)} of {done.count} have other points now.")
    console.print(f"The class table is {report.write(graded, store)}")
