"""Options that make every JVM of the course behave the same on every machine.

Without them Java takes up the language of the system: in Turkish, `classic` in capitals is no word
that Kafka knows. And it writes the report of a crash into the folder where it was started, which
may be the learner's.
"""

from __future__ import annotations

from pathlib import Path

OPTIONS = (
    *("-Duser.language=en", "-Duser.country=US", "-Duser.timezone=UTC"),
    # Texts in files, then on the three streams; paths follow the locale (kafkalab.environment).
    *("-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8"),
    "-Dstdin.encoding=UTF-8",
    # Nothing in a folder for all users of the machine, and no image of the memory after a crash.
    *("-XX:-UsePerfData", "-XX:-CreateCoredumpOnCrash"),
)


def options(folder: Path) -> list[str]:
    """For a JVM that keeps its temporary files, and what it leaves when it crashes, in `folder`."""
    return [
        *OPTIONS,
        f"-Djava.io.tmpdir={folder}",
        f"-XX:ErrorFile={folder}/crash-%p.log",
        f"-XX:ReplayDataFile={folder}/replay-%p.log",
        f"-XX:HeapDumpPath={folder}",
    ]
