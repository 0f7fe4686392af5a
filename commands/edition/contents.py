"""What a student edition holds, as path -> content.

A list of what goes in, not of what stays out: what is added to the course reaches students when it
is named here, or when a command of theirs or a lab imports it.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from authoring import contents
from authoring.build import Course
from authoring.percent import BadScript
from commands.verbs import CARE, LEARN, VERBS
from grading.define import definition, edition
from grading.define.place import Place, places
from grading.keep.digest import START, Closure, settings
from kafkalab.errors import CourseError

AS_THEY_ARE = (
    *(".devcontainer", ".gitattributes", ".gitignore", "binder", "course", "docker-compose.yml"),
    *("LICENSE", "commands/jupyterlab", "kafkalab", "notebooks"),
    *("lessons/glossary.md", "lessons/pictures", "lessons/reference"),
)
PROGRAMS = ("commands.app", "commands.install", "commands.unprepared")
"""Called by the script `course`, the latter two by their paths."""
OURS = re.compile(r"(kafkalab|grading|authoring|commands)(\.\w+)*")
NOT_OURS = re.compile(r"\..*|__pycache__|run")
"""What others leave in folders: hidden files, compiled ones, logs of a lab that ran there."""
OF_AN_EDITION = PurePosixPath("edition.json")
TABLES = ("build-system", "project", "tool.setuptools")
"""Of pyproject.toml what an installation needs."""
TABLE = re.compile(r"^\[(?P<name>[\w.-]+)\]$", re.MULTILINE)
README = Path(__file__).with_name("README.md")


@dataclass(frozen=True)
class Edition:
    """The files of an edition, its version, and the version of each lab in it."""

    version: str
    labs: dict[str, int]
    files: dict[PurePosixPath, bytes]


def edition_of(root: Path) -> Edition:
    """The student edition of the course at `root`; CourseError where its notebooks are not built.

    Every file is as it is in the course, but for the notebooks, which say what they belong to.
    """
    course = Course(root)
    _expect_built(course)
    labs = {place.name: definition.load(place.name, root) for place in places(root)}
    files = {path: (root / path).read_bytes() for path in sorted(_paths(root))}
    project = (root / "pyproject.toml").read_text("utf-8")
    files[PurePosixPath("pyproject.toml")] = installed(project).encode()
    conda = (root / "environment.yml").read_text("utf-8")
    files[PurePosixPath("environment.yml")] = conda.replace("-e .[dev]", "-e .").encode()
    version = f"{tomllib.loads(project)['project']['version']}+{_digest(files)}"
    pages = [contents.page(script) for script in course.scripts()]
    readme = README.read_text("utf-8").replace("VERSION", version)
    files[PurePosixPath("README.md")] = contents.put_table(readme, pages).encode()
    versions = {name: lab.version for name, lab in labs.items()}
    told = {"edition": version, "labs": versions}
    files[OF_AN_EDITION] = f"{json.dumps(told, indent=1)}\n".encode()
    for path in files:
        if path.suffix == ".ipynb":
            lab = labs.get(path.stem)
            stamp = edition.stamp_of(lab, version) if lab else None
            files[path] = edition.stamped(files[path], stamp)
    return Edition(version, versions, dict(sorted(files.items())))


def _expect_built(course: Course) -> None:
    """What somebody solved or ran in the course's own folder must not be given out."""
    try:
        differing = course.differences()
    except BadScript as error:
        differing = error.problems
    if differing:
        raise CourseError(
            f"The course is not as its sources say: {differing[0]}.",
            f"{len(differing)} files differ from what a build makes." if differing[1:] else "",
            "Build it, and look at what that changes: ./course build",
        )


def _paths(root: Path) -> Iterator[PurePosixPath]:
    for name in AS_THEY_ARE:
        yield from _below(root, root / name)
    of_labs = [path for place in places(root) for path in _of_lab(place)]
    yield from of_labs
    verbs = (verb for verb in VERBS.values() if verb.panel in (LEARN, CARE))
    modules = Closure(root, ours=OURS, left_out=())
    for module in (*PROGRAMS, *START, *(f"commands.{verb.module}" for verb in verbs)):
        modules.add(module)
    for path in of_labs:
        if path.suffix == ".py":
            modules.add_imports_of(root / path)
    for file in {*modules.files, *settings(modules.files)}:
        yield PurePosixPath(file.relative_to(root).as_posix())


def _of_lab(place: Place) -> Iterator[PurePosixPath]:
    """The student's half, with the one notebook that was built."""
    for path in _below(place.root, place.student):
        if path.suffix != ".ipynb" or place.root / path == place.notebook:
            yield path


def _below(root: Path, named: Path) -> Iterator[PurePosixPath]:
    """A file, or all files of a folder; a name that is given may be a hidden one."""
    for file in [named] if named.is_file() else named.rglob("*"):
        inner = file.relative_to(named).parts
        if file.is_file() and not any(NOT_OURS.fullmatch(part) for part in inner):
            yield PurePosixPath(file.relative_to(root).as_posix())


def installed(project: str) -> str:
    """pyproject.toml without what only tests and authors need."""
    marks = [*TABLE.finditer(project)]
    ends = [*(mark.start() for mark in marks[1:]), len(project)]
    kept = [
        # A comment above a table belongs to that.
        re.sub(r"(?:^#.*\n|^\n)+\Z", "", project[mark.start() : end], flags=re.MULTILINE)
        for mark, end in zip(marks, ends, strict=True)
        if mark["name"] in TABLES
    ]
    return "\n".join(kept)


def _digest(files: Mapping[PurePosixPath, bytes]) -> str:
    digest = hashlib.sha256()
    for path, content in files.items():
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:8]
