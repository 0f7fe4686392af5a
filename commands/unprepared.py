"""What `./course` answers before anything is installed: its help, and `doctor`.

Run by `course` with a bare Python, so it imports nothing that has to be installed.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))

from commands import install  # noqa: E402
from commands.verbs import ABOUT, VERBS  # noqa: E402
from kafkalab.progress import told  # noqa: E402
from kafkalab.setup.doctor import folders, network, system, variables  # noqa: E402
from kafkalab.setup.doctor.diagnosis import Check, Diagnosis, as_json, ask  # noqa: E402

MARKS = {"good": "ok  ", "note": "note", "bad": "bad ", "untried": "-   "}
# Small and free of others: it stands for all that pip has to fetch.
SMALL = "platformdirs"
SET_UP = "./course setup"


def main(arguments: list[str]) -> int:
    """The exit code: 0 answered, 1 something keeps the course from being set up, 2 wrong usage."""
    words = [word for word in arguments if not word.startswith("-")]
    verb = words[0] if words else ""
    if verb and verb not in VERBS:
        print(f"There is no verb {verb!r}. All of them: ./course --help", file=sys.stderr)
        return 2
    if not words or {"-h", "--help"} & set(arguments):
        print("\n".join(_help(verb)))
        return 0 if arguments else 2
    if wrong := [word for word in arguments[1:] if word != "--json"]:
        print(
            f"Not before the course is set up: {' '.join(wrong)}. First: {SET_UP}", file=sys.stderr
        )
        return 2
    return _doctor("--json" in arguments)


def _help(verb: str) -> Iterator[str]:
    if verb:
        yield f"./course {verb}: {VERBS[verb].help}"
        yield f"Its options are told once the course is set up: {SET_UP}"
        return
    yield f"Usage: ./course VERB [OPTIONS]\n\n{ABOUT}"
    for panel in dict.fromkeys(found.panel for found in VERBS.values()):
        yield f"\n{panel}"
        for name, found in VERBS.items():
            if found.panel == panel:
                yield f"  {name:<8} {found.help}"
    yield f"\nNot set up yet. ./course lab does so on first use, {SET_UP} does nothing else."


def _doctor(as_data: bool) -> int:
    found = []
    for diagnosis in ask(CHECKS):
        found.append(diagnosis)
        if not as_data:
            print(f"{MARKS[diagnosis.level]} {diagnosis.subject}  {diagnosis.seen}")
            for line in filter(None, (diagnosis.why, diagnosis.mend)):
                print(f"       {line}")
            sys.stdout.flush()
    if as_data:
        print(as_json(found))
    return int(any(diagnosis.level == "bad" for diagnosis in found))


def disk() -> Diagnosis:
    """Whether there is room for the environment here, and for the Java packages at home."""
    return folders.room({HERE: 2 * folders.GIB, Path.home(): folders.GIB})


def python_packages() -> Diagnosis:
    """Whether an environment can be made and pip fetches something into it."""
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="kafkalab-doctor-") as folder:
            install.environment(Path(folder, "environment"))
            with told(lambda: f"fetching {SMALL}, to see whether pip gets through"):
                install.fetch_one(Path(folder), SMALL)
    except install.Failed as failed:
        return Diagnosis("python packages", "bad", *failed.args)
    return Diagnosis(
        "python packages",
        "good",
        f"pip made an environment and fetched {SMALL} in {time.monotonic() - began:.0f} s",
    )


def set_up() -> Diagnosis:
    """Whoever is told so asked `course`, which has found no environment that fits."""
    return Diagnosis(
        "set-up",
        "note",
        f"not set up: {SET_UP}",
        "A broker, Spark and JupyterLab can be tried after that: ./course doctor",
    )


CHECKS: list[Check] = [
    system.system, system.python, system.user, system.cores, system.addresses, system.files,
    folders.home, folders.named_folders, folders.temporary, folders.course, disk,
    variables.variables, network.loopback, network.names, python_packages,
    system.not_tried, set_up,
]  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
