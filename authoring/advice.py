"""What the build remarks and nobody is held to: how a page is written, its words, its tone.

A remark is a question to the author. Numbers that an author writes towards stop to measure
anything, so no test looks at these.
"""

import ast
import re
from collections.abc import Iterator

from authoring import rules, sizes, style, words
from authoring.percent import Cell, Problem, Script
from authoring.proofs import can_fail

LONGEST_OPENING = 60  # words
LONGEST_PROSE = 100  # words; 20 to 80 is the aim
LONGEST_TASK = 180  # a task says what, why, for how many points, and gives an example


def remarks(script: Script, listed: list[words.Word]) -> list[Problem]:
    """Everything that there is to say about a script that the builder accepts."""
    found = {*words.wrong_words(script.page(), listed), *words.wrong_tone(script.page())}
    found |= {*prose(script), *frame(script), *proofs(script)}
    if not rules.is_lab(script):
        found |= {*idea_sections(script), *closing_sections(script)}
    return sorted(found)


def prose(script: Script) -> Iterator[Problem]:
    """A short opening, few objectives, little prose at a time."""
    first, second = script.cells[0], script.cells[1]
    if len(" ".join(first.lines[1:]).split()) > LONGEST_OPENING:
        yield script.problem(
            first.line, f"an opening of over {LONGEST_OPENING} words", "shorten it"
        )
    objectives = sum(line.startswith("- ") for line in second.lines)
    most = 6 if rules.is_lab(script) else 4
    if not 2 <= objectives <= most:
        yield script.problem(
            second.line, f"{objectives} objectives", f"name 2 to {most}, each on a line with '- '"
        )
    longest = LONGEST_TASK if rules.is_lab(script) else LONGEST_PROSE
    for cell in script.prose():
        if len(cell.text.split()) > longest:
            yield script.problem(
                cell.line,
                f"{len(cell.text.split())} words without a cell to run",
                "say one thing, show it, then the next",
            )


def frame(script: Script) -> Iterator[Problem]:
    """The first two cells of code and the last one are short."""
    code = list(script.page().code())
    for cell, what, most in (
        (code[0], "parameters", 5),
        (code[min(1, len(code) - 1)], "set-up", 5),
        (code[-1], "tear-down", 3),
    ):
        if sizes.lines(cell) > most:
            yield script.problem(
                cell.line, f"over {most} lines of {what}", "leave chores to the package"
            )


def proofs(script: Script) -> Iterator[Problem]:
    """A proof that fails says what was seen."""
    for cell in script.code():
        if not cell.is_proof:
            continue
        silent = [n for n in ast.walk(cell.tree) if isinstance(n, ast.Assert) and not n.msg]
        if silent:
            yield script.problem(
                cell.line + silent[0].lineno - 1,
                f"{len(silent)} assert{'s' * (len(silent) > 1)} of a proof without a message",
                "say what was seen: assert lag == 0, lag",
            )


def idea_sections(script: Script) -> Iterator[Problem]:
    """The first defines a term; all but one ask before they measure; each is proved."""
    found = style.ideas(script)
    if len(found) < 2:
        yield script.problem(
            script.cells[0].line, f"{len(found)} sections with an idea", "write 2 or more"
        )
    if found and not sizes.TERM.search(found[0].prose()):
        yield script.problem(
            found[0].line,
            f"'{found[0].heading}' defines no term",
            "set the term in **bold** where it is explained",
        )
    unasked = []
    for section in found:
        asserting = [number for number, cell in enumerate(section.cells) if _can_fail(cell)]
        if not asserting:
            yield script.problem(
                section.line, f"'{section.heading}' proves nothing", "end it with a proof cell"
            )
        predicting = [number for number, cell in enumerate(section.cells) if style.predicts(cell)]
        if not predicting or (asserting and predicting[0] >= asserting[0]):
            unasked.append(section)
    for section in unasked[1:]:  # one may go without: a first look has nothing to go by
        yield script.problem(
            section.line,
            f"'{section.heading}' measures before the reader has said what to expect",
            "ask 'Before you run the next cell: …?' or tag a cell as prediction",
        )
    if not any("charts." in cell.text for cell in script.code()):
        yield script.problem(1, "no chart", "draw one from this run with kafkalab.charts")


def closing_sections(script: Script) -> Iterator[Problem]:
    """A failure that happens, a few things to do, and facts."""
    closing = style.sections(script)[-3:]
    if len(closing) < 3 or any(style.closing_sections(script)):  # half-written, or not as others
        return
    failure, attempts, facts = closing
    if not any(map(_can_fail, failure.code())):
        yield script.problem(
            failure.line, "no failure is proved", "cause it in a cell and assert what happened"
        )
    bullets = re.findall(r"^- ", attempts.prose(), re.MULTILINE)
    if not (2 <= len(bullets) <= 3 or attempts.code()):
        yield script.problem(
            attempts.line, f"{len(bullets)} things to do", "give 2 or 3, each on a line with '- '"
        )
    if not re.search(r"^- ", facts.prose(), re.MULTILINE) and len(facts.code()) < 2:
        yield script.problem(
            facts.line, "no facts", "say the objectives again as facts, in a list or from a cell"
        )


def _can_fail(cell: Cell) -> bool:
    return cell.kind == "code" and can_fail(cell)
