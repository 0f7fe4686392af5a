"""What `./course build` writes: notebooks/, labs/ and the tables that are made from the scripts.

Always everything, never by file times: they mean nothing after a checkout.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from nbformat import NotebookNode

from authoring import advice, contents, notebooks, outline, reference, rules
from authoring.percent import BadScript, Problem, Script
from authoring.sizes import Sizes, measure
from authoring.words import word_list
from grading.define.definition import hints
from grading.define.place import Place, find
from kafkalab.files import write_whole

REPOSITORY = Path(__file__).resolve().parent.parent
COMMAND = "./course build"


@dataclass(frozen=True)
class Course:
    """The sources and the products of one working tree (the tests build others)."""

    root: Path = REPOSITORY

    def sources(self) -> list[Path]:
        """All scripts, lessons first, each in the order of its number."""
        return [*self.lessons(), *self.masters()]

    def lessons(self) -> list[Path]:
        return sorted((self.root / "lessons").glob("*.py"))

    def masters(self) -> list[Path]:
        """The scripts of labs, each with its solutions."""
        return sorted((self.root / "grading" / "labs").glob("*/lab.py"))

    def scripts(self) -> list[Script]:
        """All scripts, accepted; or BadScript with the problems of all of them."""
        found, problems = [], self._names()
        for source in self.sources():
            try:
                found.append(self.script(source))
            except BadScript as error:
                problems += error.problems
        if problems:
            raise BadScript(problems)
        return found

    def _names(self) -> list[Problem]:
        """Numbers give the order and the links, so each stands in one name."""
        found: list[Problem] = []
        seen: dict[tuple[bool, str], str] = {}
        for source in self.sources():
            path = source.relative_to(self.root).as_posix()
            lab = rules.is_lab_path(path)
            match = re.match(r"(\d\d)_\w+$", source.parent.name if lab else source.stem)
            if not match:
                form = "NN_name" if lab else "NN_name.py"
                kind = "folder" if lab else "file"
                found.append(
                    Problem(path, 1, f"a {kind} name without its number", f"call it {form}")
                )
            elif (other := seen.setdefault((lab, match[1]), path)) != path:
                mend = f"{other} has it already: take the next one"
                found.append(Problem(path, 1, f"the number {match[1]} a second time", mend))
        return found

    def script(self, source: Path) -> Script:
        path = source.relative_to(self.root).as_posix()
        known = (
            set(hints(Place(self.root, source.parent.name))) if rules.is_lab_path(path) else None
        )
        rows = {row.id for row in outline.rows(self.outline)}
        return notebooks.checked(source.read_text("utf-8"), path, known, rows)

    @property
    def outline(self) -> str:
        """The list of the requirements."""
        return (self.root / "lessons" / "outline.md").read_text("utf-8")

    def products(self) -> dict[PurePosixPath, str]:
        """Every generated file, relative to the root, with its text."""
        scripts = self.scripts()
        pages = [contents.page(script) for script in scripts]
        made = {}
        for script, page in zip(scripts, pages, strict=True):
            text = (self.root / script.path).read_text("utf-8")
            navigation = contents.navigation(page, pages)
            notebook = notebooks.student_notebook(text, script.path, navigation)
            made[page.notebook] = notebooks.to_text(notebook)
        made[contents.CONTENTS] = contents.contents(pages)
        readme = (self.root / "README.md").read_text("utf-8")
        made[PurePosixPath("README.md")] = contents.put_table(readme, pages)
        made[PurePosixPath("lessons/outline.md")] = outline.fill(self.outline, scripts)
        texts = [source.read_text("utf-8") for source in self.sources()]
        made[reference.PAGE] = reference.page(texts)
        return made

    def navigation(self, script: Script) -> str:
        """The last cell of the built notebook."""
        pages = [contents.page(other) for other in self.scripts()]
        return contents.navigation(contents.page(script), pages)

    def sizes(self) -> list[Sizes]:
        """How large each page is."""
        return [measure(script) for script in self.scripts()]

    def remarks(self) -> dict[str, list[Problem]]:
        """What could be said better, for each page."""
        glossary = (self.root / "lessons" / "glossary.md").read_text("utf-8")
        listed = word_list(glossary)
        return {rules.name(script): advice.remarks(script, listed) for script in self.scripts()}

    def strangers(self, products: dict[PurePosixPath, str]) -> list[PurePosixPath]:
        """Files in the folders of the products that no source makes."""
        found = [
            path.relative_to(self.root)
            for folder in ("notebooks/*.ipynb", "labs/*/*.ipynb", "labs/*.ipynb")
            for path in sorted(self.root.glob(folder))
        ]
        return [PurePosixPath(path.as_posix()) for path in found if path not in map(Path, products)]

    def differences(self, products: dict[PurePosixPath, str] | None = None) -> list[Problem]:
        """What a build would change. products: where they are made already."""
        products = products or self.products()
        found = []
        for path, text in products.items():
            file = self.root / path
            if not file.exists() or file.read_bytes() != text.encode():
                state = "differs from" if file.exists() else "is missing; it is made from"
                found.append(Problem(str(path), 1, f"{state} {_origin(path)}", f"run {COMMAND}"))
        for path in self.strangers(products):
            mend = f"run {COMMAND}" if self.is_left_over(path) else "move it to work/"
            found.append(Problem(str(path), 1, "is made from no script in lessons/", mend))
        return found

    def is_left_over(self, path: PurePosixPath) -> bool:
        """Whether it was built from a source that is gone. Other notebooks are not ours."""
        try:
            metadata = json.loads((self.root / path).read_text("utf-8"))["metadata"]
            source = metadata["kafka_course"]["source"]
        except (ValueError, KeyError, TypeError):
            return False
        return not (self.root / source).exists()

    def write(self) -> list[PurePosixPath]:
        """Write what differs, remove what is left over; returns both."""
        products = self.products()
        changed = []
        for path, text in products.items():
            file = self.root / path
            if file.exists() and file.read_bytes() == text.encode():
                continue
            write_whole(file, text)
            changed.append(path)
        for path in self.strangers(products):
            if self.is_left_over(path):
                (self.root / path).unlink()
                changed.append(path)
        return changed


def solution_notebook(lab: str, root: Path = REPOSITORY) -> NotebookNode:
    """The solved notebook of a lab, by its name (lab02_iris) or its number (lab02)."""
    return notebooks.solution_notebook(*_master(lab, root))


def student_notebook(lab: str, root: Path = REPOSITORY) -> NotebookNode:
    """The blank notebook of a lab, by its name (lab02_iris) or its number (lab02)."""
    return notebooks.student_notebook(*_master(lab, root))


def _master(lab: str, root: Path) -> tuple[str, str]:
    """The text of a master, and where it lies in the course."""
    master = find(lab, root).master
    return master.read_text("utf-8"), master.relative_to(root).as_posix()


def _origin(path: PurePosixPath) -> str:
    if path.parts[0] == "labs":
        return str(PurePosixPath("grading", "labs", path.parts[1], "lab.py"))
    if path.suffix == ".ipynb":
        return f"lessons/{path.stem}.py"
    return "the scripts in lessons/"
