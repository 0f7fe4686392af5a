"""`./course release`: what students get, and what they never get."""

import ast
import io
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import nbformat
import pytest

from authoring.build import Course
from authoring.marked import marks
from commands import app, release
from commands.edition import release as writing
from commands.edition.contents import edition_of
from commands.edition.withheld import leaks
from grading.define.place import places
from grading.judge.sealed import seal
from kafkalab.errors import CourseError
from kafkalab.places import repository

TABLE = "\n".join(marks("lessons"))

TEMPLATE = repository() / "authoring" / "template"
HIDDEN = (TEMPLATE / "grading" / "labs" / "00_title" / "hidden.py").read_text("utf-8")
SOLUTION = "return zlib.crc32(key) % partitions"
WRAPPED = "It is:\n\n>     return zlib.crc32(\n>         key\n>     ) % partitions\n"
LAB = "labs/00_title/lab00_title.ipynb"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The lesson and the lab of the template, built."""
    root = tmp_path / "course"
    shutil.copytree(TEMPLATE, root, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "environment.yml", "course"):
        shutil.copy(repository() / name, root)
    for path, text in {
        "lessons/outline.md": "| A7 | parts | title | planned |\n",
        "lessons/glossary.md": "| say | not | right in |\n|---|---|---|\n| record | message | |\n",
        "README.md": f"# Course\n\n{TABLE}\n",
        "CHANGELOG.md": SOLUTION,
        "labs/00_title/data/rides.csv": "ride,1\n",
        "labs/00_title/data/mine.ipynb": SOLUTION,
        "labs/00_title/run/log.txt": SOLUTION,
        "notebooks/.ipynb_checkpoints/00_title.ipynb": SOLUTION,
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    Course(root).write()
    monkeypatch.setattr(release, "repository", lambda: root)
    return root


def paths(folder: Path) -> set[str]:
    return {f.relative_to(folder).as_posix() for f in folder.rglob("*") if f.is_file()}


def test_students_get_their_half_and_nothing_of_the_other(course, tmp_path, capsys):
    target = tmp_path / "für alle" / "kurs"
    assert app.main(["release", str(target)]) == 0
    assert re.search(
        r"edition \d+\.\d+\.\d+\+[0-9a-f]{8}, \d+ files, lab 00", capsys.readouterr().out
    )
    assert paths(target) == {
        "course", "edition.json", "environment.yml", "pyproject.toml", "README.md",
        *("lessons/glossary.md", "lessons/reference/kafkalab.md"),
        *("notebooks/00_title.ipynb", "notebooks/README.md", LAB),
        *(f"labs/00_title/{name}" for name in ("checks.py", "parameters.py", "lab.toml")),
        *("labs/00_title/hints.md", "labs/00_title/data/rides.csv"),
    }  # fmt: skip
    assert "NotImplementedError" in (target / LAB).read_text("utf-8")
    here, there = (
        tomllib.loads((root / "pyproject.toml").read_text("utf-8")) for root in (course, target)
    )
    assert there["project"] == {
        key: value for key, value in here["project"].items() if key != "optional-dependencies"
    }
    assert set(there) == {"build-system", "project", "tool"}
    assert set(there["tool"]) == {"setuptools"}
    assert "dev" not in (target / "environment.yml").read_text("utf-8")
    assert (target / "course").stat().st_mode & 0o111
    assert "| 00 | [Title](notebooks/00_title.ipynb)" in (target / "README.md").read_text("utf-8")
    assert [p.name for p in target.parent.iterdir()] == ["kurs"], "nothing is left beside it"


def zipped(text: str) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("deep/notes.ipynb", json.dumps({"cells": [{"source": [text]}]}))
    return written.getvalue()


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        ("labs/00_title/data/help.md", SOLUTION, "grading/labs/00_title/lab.py:"),
        ("labs/00_title/data/help.md", WRAPPED, "grading/labs/00_title/lab.py:"),
        ("labs/00_title/data/help.json", json.dumps([{"a": WRAPPED}]), "title/lab.py:"),
        ("labs/00_title/data/help.zip", zipped(SOLUTION.replace(" ", "\n")), "title/lab.py:"),
        ("labs/00_title/hints.md", "\n\nsame_key_same_partition\n", "title/hidden.py:"),
        ("kafkalab/own.py", "# yield equal(in 20 calls, places)", ""),
        ("kafkalab/own.py", HIDDEN.partition("Finding]:")[2], "title/hidden.py:"),
        ("notebooks/tables.txt", "random.randrange(partitions) * 1", "wrong/2_by_chance.toml"),
        ("notebooks/tables.txt", "offsets = [receipt.offset for receipt in receipts]\n"
         "assert offsets == list(range(records)), offsets", "lessons/00_title.py:"),
    ],
)  # fmt: skip
def test_what_students_must_not_have_is_found_wherever_it_lies(
    course, tmp_path, capsys, path, content, said
):
    file = course / path
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_bytes() if file.exists() else b""
    file.write_bytes(before + (content if isinstance(content, bytes) else content.encode()))
    target = tmp_path / "edition.zip"
    assert app.main(["release", str(target)]) == (1 if said else 0)
    assert target.exists() is not bool(said)
    told = capsys.readouterr().err
    assert not said or re.search(f"{path} (holds a part of|names) .*{said}", told), told


def test_a_check_that_spells_an_answer_out_is_found_and_its_seal_is_not(course, tmp_path, capsys):
    master = course / "grading" / "labs" / "00_title" / "lab.py"
    known = 'known = {"early": 1, "late": 2}'
    text = master.read_text("utf-8").replace(SOLUTION, f"{known}\n    {SOLUTION}")
    master.write_text(text, "utf-8")
    Course(course).write()
    elsewhere = course / "kafkalab" / "own.py"
    elsewhere.parent.mkdir()
    elsewhere.write_text('THESE = {"late": 2, "early": 1}\n')
    assert app.main(["release", str(tmp_path / "edition")]) == 0
    checks = course / "labs" / "00_title" / "checks.py"
    text = checks.read_text("utf-8")
    checks.write_text(f"{text}\nRIGHT = {{\n    'late': 2,\n    'early': 1,\n}}\n")
    assert app.main(["release", str(tmp_path / "another")]) == 1
    assert re.search(r"checks\.py:\d+ tells an answer in .*/lab\.py:", capsys.readouterr().err)
    right = seal("known", {"late": 2, "early": 1})
    imported = "from grading.judge.sealed import Sealed"
    checks.write_text(f"{text}\n{imported}\n\nRIGHT = Sealed('known', '{right}')\n")
    assert app.main(["release", str(tmp_path / "another")]) == 0


def test_an_expression_of_anybody_may_stand_also_in_a_wrong_answer(course, tmp_path):
    wrong = course / "grading" / "labs" / "00_title" / "wrong" / "2_by_chance.toml"
    text = wrong.read_text("utf-8")
    (course / "kafkalab").mkdir()
    (course / "kafkalab" / "own.py").write_text("next = records[-1].offset + 1\n")
    wrong.write_text(f'{text}"return " = "records[-1].offset + 1"\n', "utf-8")
    assert app.main(["release", str(tmp_path / "edition")]) == 0


def test_words_of_the_page_that_a_solution_looks_for_are_no_answer(course, tmp_path):
    master = course / "grading" / "labs" / "00_title" / "lab.py"
    text = master.read_text("utf-8")
    asks = f'told = [one for one in "ab" if one in ("early", "late")]\n    {SOLUTION}'
    checks = course / "labs" / "00_title" / "checks.py"
    checks.write_text(f'{checks.read_text("utf-8")}\nWORDS = ("late", "early")\n')
    says = '# %% [markdown]\n# Each is `"early"` or `"late"`.\n\n'
    for number, page in enumerate(("", says)):
        whole = text.replace(SOLUTION, asks)
        at = whole.index('# %% tags=["task-1"]')
        master.write_text(whole[:at] + page + whole[at:], "utf-8")
        Course(course).write()
        assert app.main(["release", str(tmp_path / f"edition {number}")]) == (0 if page else 1)


def test_a_notebook_that_was_solved_in_its_place_is_not_given_out(course, tmp_path, capsys):
    notebook = nbformat.read(course / LAB, 4)
    notebook.cells[-1].source = SOLUTION
    nbformat.write(notebook, course / LAB)
    assert app.main(["release", str(tmp_path / "edition")]) == 1
    assert f"{LAB}:1: differs from grading/labs/00_title/lab.py" in capsys.readouterr().err
    assert not (tmp_path / "edition").exists()


def test_an_archive_has_one_folder_and_replaces_only_an_edition(course, tmp_path, capsys):
    archive, other = tmp_path / "edition.zip", tmp_path / "hand-ins.zip"
    other.write_bytes(zipped("of a class"))
    kept = other.read_bytes()
    assert app.main(["release", str(other)]) == 1
    assert other.read_bytes() == kept
    assert app.main(["release", str(archive)]) == 0
    first = archive.read_bytes()
    assert app.main(["release", str(archive)]) == 0
    assert archive.read_bytes() == first, "the same course makes the same archive"
    with zipfile.ZipFile(archive) as opened:
        assert {name.split("/")[0] for name in opened.namelist()} == {"kafka-course"}
        assert opened.getinfo("kafka-course/course").external_attr >> 16 == 0o755
    assert {p.name for p in tmp_path.iterdir()} == {"course", "edition.zip", "hand-ins.zip"}


def test_a_folder_is_written_whole_or_not_at_all(course, tmp_path, capsys):
    target = tmp_path / "edition"
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    assert app.main(["release", str(target)]) == 1
    assert "is there already" in capsys.readouterr().err
    assert paths(target) == {"mine.txt"}
    (target / "mine.txt").unlink()
    breaks = {PurePosixPath("a"): b"1", PurePosixPath("a/b"): b"no folder"}
    with pytest.raises(OSError, match="a"):
        writing.write(breaks, target)
    assert list(target.iterdir()) == []
    assert {p.name for p in tmp_path.iterdir()} == {"course", "edition"}
    assert app.main(["release", str(target)]) == 0, "an empty folder is filled"
    assert LAB in paths(target)


def test_the_notebook_of_a_lab_says_what_it_is_of(course):
    made = edition_of(course)
    for path, content in made.files.items():
        if path.suffix == ".ipynb":
            own = json.loads(content)["metadata"]["kafka_course"]
            assert "generated" not in own
            is_lab = path.parts[0] == "labs"
            assert ("edition" in own, "version" in own, "text" in own) == (is_lab,) * 3
    told = json.loads(made.files[PurePosixPath("edition.json")])
    assert told == {"edition": made.version, "labs": {"lab00_title": 1}}
    lab = json.loads(made.files[PurePosixPath(LAB)])["metadata"]["kafka_course"]
    assert (lab["edition"], lab["version"]) == (made.version, 1)
    assert made.version in made.files[PurePosixPath("README.md")].decode()


def test_a_course_that_is_not_built_is_told(course):
    (course / LAB).unlink()
    with pytest.raises(CourseError, match=r"is missing; it is made from .*\./course build"):
        edition_of(course)


FOLDED = re.compile(r"\s+")


@pytest.fixture(scope="module")
def edition(tmp_path_factory) -> Path:
    """The edition of this course, in a folder with a space and a letter of another alphabet."""
    target = tmp_path_factory.mktemp("für alle") / "kurs é"
    writing.write(edition_of(repository()).files, target)
    return target


@pytest.mark.slow
def test_the_edition_of_this_course_can_be_written(edition):
    files = {PurePosixPath(path): (edition / path).read_bytes() for path in paths(edition)}
    assert list(leaks(repository(), files)) == []


@pytest.mark.slow
def test_no_file_of_the_other_half_is_there(edition):
    found = paths(edition)
    assert not [p for p in found if re.match(r"(tests|benchmarks|grading/labs|\.git)/", p)]
    assert not [p for p in found if re.search(r"^lessons/.*\.py|hidden|wrong|/lab\.py$|\.toml$", p)
                and not re.fullmatch(r"pyproject\.toml|labs/\w+/lab\.toml|grading/lab\.py|"
                                     r"commands/lab\.py|grading/prove/wrong\.py", p)]  # fmt: skip
    assert {"course", "labs/02_iris/lab02_iris.ipynb", "labs/02_iris/checks.py"} <= found


def said_by(file: Path) -> str:
    """Its text, with that of the cells of a notebook as a reader has it, on one line."""
    text = file.read_bytes().decode("utf-8", "replace")
    if file.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text += "\n".join("".join(cell["source"]) for cell in cells)
        assert not any(cell.get("outputs") for cell in cells), "a notebook that was run"
    return FOLDED.sub(" ", text)


@pytest.mark.slow
def test_no_answer_check_or_proof_is_in_it(edition):
    """By other means than those of the command: lines as they stand in the sources."""
    files = {path: said_by(edition / path) for path in paths(edition)}
    everything = "\n".join(files.values())
    names, texts = set(), []
    for folder in sorted((repository() / "grading" / "labs").iterdir()):
        hidden = (folder / "hidden.py").read_text("utf-8")
        names |= set(re.findall(r"^@check\((?:.|\n)*?^def (\w+)", hidden, re.MULTILINE))
        texts += re.findall(r"^@check\((?:.|\n)*?(?=^@check|\Z)", hidden, re.MULTILINE)
        master = (folder / "lab.py").read_text("utf-8")
        texts += re.findall(r"# BEGIN SOLUTION\n((?:.|\n)*?)[ ]*# END SOLUTION", master)
        for wrong in (folder / "wrong").glob("*.toml"):
            table = tomllib.loads(wrong.read_text("utf-8"))
            texts += [table["why"], table.get("answer", ""), wrong.stem.partition("_")[2]]
    for lesson in (repository() / "lessons").glob("*.py"):
        cells = re.split(r"^# %%", lesson.read_text("utf-8"), flags=re.MULTILINE)
        texts += [c.partition("\n")[2] for c in cells if '"proof"' in c.partition("\n")[0]]
    assert len(names) > 15
    assert len(texts) > 250
    assert [name for name in names if re.search(rf"\b{name}\b", everything)] == []
    whole = [FOLDED.sub(" ", re.sub(r"^\s*# STUB.*\n", "", text)).strip() for text in texts]
    assert [text for text in whole if len(text) > 30 and text in everything] == []


@pytest.mark.slow
def test_every_module_that_is_imported_and_every_page_that_is_linked_is_there(edition):
    missing = set()
    for file in [*edition.rglob("*.py"), *edition.glob("labs/*/*.ipynb")]:
        for node in without_types(ast.parse(code_of(file))):
            if isinstance(node, ast.ImportFrom) and not node.level:
                for name in node.names:
                    missing |= lacking(edition, node.module or "", name.name)
            elif isinstance(node, ast.Import):
                missing |= set().union(*(lacking(edition, name.name) for name in node.names))
    assert missing == set()
    for page in [*edition.glob("*.md"), *edition.glob("notebooks/*"), *edition.glob("labs/*/*")]:
        if page.suffix in {".md", ".ipynb"}:
            for link in re.findall(r"\]\((?!\w+:|#)([^)\s#]+)", page.read_text("utf-8")):
                assert (page.parent / link).exists(), f"{page.name} leads to {link}"


@pytest.fixture(scope="module")
def installed(edition, tmp_path_factory) -> Path:
    """A copy of it with an environment of its own, which borrows the packages of this one.

    Not the course: that is found in the edition alone.
    """
    edition = shutil.copytree(edition, tmp_path_factory.mktemp("daheim ü") / "kurs é")
    environment = edition / ".venv"
    venv.create(environment, symlinks=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    borrowed = sysconfig.get_path("purelib")
    (packages / "edition.pth").write_text(f"{edition}\n{borrowed}\n", "utf-8")
    with (edition / "pyproject.toml").open() as listed:
        total = subprocess.run("cksum", stdin=listed, capture_output=True, text=True).stdout
    (environment / "installed").write_text(f"{total.strip()} {edition}")
    return edition


def call(edition: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(edition / "course"), *arguments]
    # What belongs to packages and is no Python lies with those of this run.
    environment = os.environ | {"JUPYTER_PATH": str(Path(sys.prefix, "share", "jupyter"))}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=200, cwd=edition.parent, env=environment
    )


@pytest.mark.slow
def test_its_commands_are_those_of_learners(installed):
    unprepared = [sys.executable, "-P", installed / "commands" / "unprepared.py", "--help"]
    for said in (
        call(installed, "--help").stdout,
        subprocess.run(unprepared, capture_output=True, text=True).stdout,
    ):
        offered = set(re.findall(r"^[│ ]+(\w+)  ", said, re.MULTILINE))
        assert offered >= {"lab", "check", "run", "reset", "status", "setup", "doctor", "down"}
        assert not offered & {"grade", "report", "rescore", "verify", "release", "new", "build"}
        assert not offered & {"test", "bench"}
    for verb in ("lab", "check", "run", "reset", "setup", "doctor", "up", "down", "logs"):
        assert call(installed, verb, "--help").returncode == 0
    refused = call(installed, "grade", "lab01", ".")
    assert refused.returncode == 2
    assert "No such command 'grade'" in refused.stderr
    assert call(installed, "status").returncode == 0
    said = call(installed, "reset", "lab01")
    assert said.returncode == 0, said.stderr
    mine = installed / "work" / "labs" / "01_first_topics" / "lab01_first_topics.ipynb"
    assert "NotImplementedError" in mine.read_text("utf-8")


LOADS = """
from grading.define import asked, definition, master, place
import grading.practice.own_check, grading.run.worker

for lab in map(definition.load, (one.name for one in place.places())):
    assert not lab.place.master.exists(), "loaded from somewhere else"
    assert len(master.blank(lab).cells) > len(lab.tasks)
    assert asked.asked(lab)
    print(lab.name)
"""


@pytest.mark.slow
def test_labs_are_loaded_there_without_their_masters(installed):
    python = installed / ".venv" / "bin" / "python"
    said = subprocess.run([python, "-P", "-c", LOADS], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert said.stdout.split() == [one.name for one in places()]


@pytest.mark.slow
def test_jupyterlab_opens_there(installed):
    command = [installed / "course", "lab", "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as opened:
        said = list(itertools.takewhile(lambda line: "ready at" not in line, opened.stderr))
        opened.send_signal(signal.SIGINT)
        said.append(opened.communicate()[1])
    assert opened.returncode == 0, said
    assert "JupyterLab has ended" in said[-1]
    pages = sorted((installed / "work" / "notebooks").glob("*.ipynb"))
    assert pages[0].name == "00_start.ipynb"


@pytest.mark.cluster
@pytest.mark.spark
@pytest.mark.timeout(300)
def test_lessons_run_there_and_labs_are_checked(installed):
    ran = call(installed, "run", "--page", "00", "--json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (lesson,) = json.loads(ran.stdout)
    assert (lesson["lesson"], lesson["problem"]) == ("00_start", ""), ran.stderr
    notebook = installed / "labs" / "01_first_topics" / "lab01_first_topics.ipynb"
    checked = call(installed, "check", str(notebook))
    assert checked.returncode == 0, checked.stderr
    assert re.search(r"^✗ 1 .*\(0 of \d+\)$", checked.stdout, re.MULTILINE)
    assert "Hint for task 1" in checked.stdout
    assert "made from" not in checked.stdout


def code_of(file: Path) -> str:
    """A module, or the cells of a notebook that are no magics."""
    if file.suffix == ".py":
        return file.read_text("utf-8")
    cells = nbformat.read(file, 4).cells
    texts = [cell.source for cell in cells if cell.cell_type == "code"]
    return "\n".join(re.sub(r"^[%!].*$", "", text, flags=re.MULTILINE) for text in texts)


def without_types(node: ast.AST) -> Iterator[ast.AST]:
    """What runs: without what only a checker of types reads."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield from without_types(child)


def lacking(edition: Path, module: str, name: str = "") -> set[str]:
    """The module, where it is ours and neither it nor its package is there."""
    first, *rest = module.split(".")
    if first not in {"authoring", "commands", "grading", "kafkalab"}:
        return set()
    path = edition.joinpath(first, *rest)
    if path.with_suffix(".py").exists():
        return set()
    own = path / "__init__.py"
    if own.exists() and (not name or f"{name}" in own.read_text("utf-8")):
        return set()
    is_there = (path / f"{name}.py").exists() or (path / name / "__init__.py").exists()
    return set() if name and is_there else {f"{module}.{name}"}
