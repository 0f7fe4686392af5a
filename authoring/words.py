"""The word list of lessons/glossary.md, applied to prose, comments and sentences in strings."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from authoring.percent import Cell, Problem, Script

TONE = re.compile(
    r"\b(simply|just|easy|easily|obviously|trivial|trivially|of course|clearly|basically)\b",
    re.IGNORECASE,
)
# Parts of a line in which a word is shown and not used. Order matters: code may hold quotes.
SHOWN = re.compile(
    r"`+[^`]*`+"  # code
    r"|!?\[[^\]]*\]\([^)]*\)"  # links: titles of other pages, file names
    r"|<[^>]*>"
    r"|https?://\S+"
    r'|"[^"]*"|“[^”]*”'
    r"|(?<![*\w])\*(?!\*)[^*\n]+\*(?!\*)"  # emphasis, not bold
)
SENTENCE = 4  # words
TABLE_ROW = re.compile(r"\|(?P<say>[^|]*)\|(?P<wrong>[^|]*)\|(?P<right_in>[^|]*)\|\s*$")


@dataclass(frozen=True)
class Word:
    """A wrong word, the right one, and the phrases in which it is right after all.

    A phrase in brackets stands for the lines that hold it: there the word is right anywhere.
    """

    wrong: str
    say: str
    phrases: tuple[str, ...]

    def uses(self, line: str) -> bool:
        for phrase in self.phrases:
            if phrase.startswith("(") and phrase.strip("()").lower() in line.lower():
                return False
            line = re.sub(rf"\b{re.escape(phrase)}s?\b", " ", line, flags=re.IGNORECASE)
        # a name that differs from the right one in its capitals is compared with capitals
        names = self.wrong.lower() in map(str.lower, re.split(r",\s*", self.say))
        pattern = rf"(?<![\w.-]){re.escape(self.wrong)}(s|es|'s)?(?![\w-]|\.\w)"
        return bool(re.search(pattern, line, 0 if names else re.IGNORECASE))


def word_list(glossary: str) -> list[Word]:
    """The first table of the glossary."""
    found = []
    table = glossary.partition("\n## ")[0]
    for line in table.splitlines():
        match = TABLE_ROW.match(line)
        if not match or match["say"].strip() == "say" or set(match["say"].strip()) == {"-"}:
            continue
        phrases = tuple(part.strip() for part in match["right_in"].split(",") if part.strip())
        found += [
            Word(wrong.strip(), match["say"].strip(), phrases)
            for wrong in match["wrong"].split(",")
        ]
    return found


def lines_of_prose(cell: Cell) -> Iterator[tuple[int, str]]:
    """(line of the file, text) of what a reader reads as language."""
    if cell.kind == "code":
        yield from _comments(cell)
        yield from _sentences(cell)
        return
    fenced = False
    for number, line in enumerate(cell.lines, start=cell.line):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def _comments(cell: Cell) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(cell.text + "\n").readline):
        if token.type == tokenize.COMMENT:
            yield cell.line + token.start[0] - 1, token.string.lstrip("# ")


def _sentences(cell: Cell) -> Iterator[tuple[int, str]]:
    """Strings of four words or more: titles of charts, what is waited for, text alternatives.

    Not what is compared or searched, and no text of several lines: those are data and programs.
    """
    searched = {
        inner
        for node in ast.walk(cell.tree)
        if isinstance(node, ast.Compare)
        or (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."))
        for inner in ast.walk(node)
    }
    for node in ast.walk(cell.tree):
        if node in searched or not isinstance(node, ast.Constant):
            continue
        text = node.value
        if isinstance(text, str) and "\n" not in text and len(text.split()) >= SENTENCE:
            yield cell.line + node.lineno - 1, text


def wrong_words(script: Script, words: list[Word]) -> Iterator[Problem]:
    """One word for one thing."""
    for cell in script.cells:
        for number, line in lines_of_prose(cell):
            used = SHOWN.sub(" ", line)
            for word in words:
                if word.uses(used):
                    yield script.problem(
                        number,
                        f"the word '{word.wrong}'",
                        f"say '{word.say}', or mark it as `code` (lessons/glossary.md)",
                    )


def wrong_tone(script: Script) -> Iterator[Problem]:
    """Nothing that belittles a reader who is stuck, and no exclamation marks."""
    for cell in script.cells:
        for number, line in lines_of_prose(cell):
            used = SHOWN.sub(" ", line)
            for match in TONE.finditer(used):
                yield script.problem(
                    number, f"the word '{match[0]}'", "leave it out: it helps no reader"
                )
            if "!" in used.replace("!=", ""):
                yield script.problem(number, "an exclamation mark", "end with a full stop")
