"""Archives of prepared classes are recorded once, used where they fit, and never in the way."""

import os
import subprocess
import sys

import pytest

from kafkalab.errors import CourseError
from kafkalab.java import aot, jars
from kafkalab.java.runtime import java


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, except that the Java packages are those of this machine."""
    packages = jars.folder_of("kafka").parent
    jars.jars("kafka")
    (tmp_path / "jars").symlink_to(packages)
    monkeypatch.setenv("KAFKALAB_CACHE", str(tmp_path))
    monkeypatch.delenv("KAFKALAB_AOT", raising=False)
    return tmp_path


def test_it_can_be_switched_off(cache, monkeypatch):
    monkeypatch.setenv("KAFKALAB_AOT", "off")

    assert aot.cache_flags("broker") == []
    assert not (cache / "aot").exists()


def test_a_recording_that_failed_is_not_tried_at_every_start(cache):
    failed = aot.path_of("kafka").with_suffix(".failed")
    failed.parent.mkdir()
    failed.touch()

    assert aot.cache_flags("controller") == []
    assert list(failed.parent.iterdir()) == [failed]


def test_a_training_run_lists_its_classes_and_only_those_of_its_archive(cache, monkeypatch):
    monkeypatch.setenv(aot.TRAINING, f"kafka={cache}")

    (first,), (second,) = aot.cache_flags("broker"), aot.cache_flags("tool")

    assert first.startswith(f"-XX:DumpLoadedClassList={cache}/")
    assert first != second
    archive = aot.path_of("spark")
    archive.parent.mkdir()
    archive.touch()
    assert aot.cache_flags("spark")[0] == f"-XX:SharedArchiveFile={archive}"


def test_lists_are_merged_without_what_only_fits_within_one():
    lists = [
        "# a comment\njava/lang/Object id: 0\n@lambda-proxy A run\nmine id: 9 source: x.jar\n",
        "java/lang/Object id: 3\njava/lang/String id: 4\n",
    ]

    assert aot.merge(lists) == ["java/lang/Object", "@lambda-proxy A run", "java/lang/String"]


def test_a_run_that_does_not_end_is_ended(monkeypatch, tmp_path):
    monkeypatch.setattr(aot, "DEADLINE", 0.2)

    with pytest.raises(CourseError, match="The test run failed") as caught:
        aot.run(["sleep", "60"], "The test run failed.", tmp_path)

    assert caught.value.why == "It was not done after 0.2 seconds."


def test_only_the_archives_used_last_are_kept(tmp_path):
    for number in range(7):
        path = tmp_path / f"kafka-{number}.jsa"
        path.touch()
        os.utime(path, (number, number))
    (tmp_path / "spark-0.jsa").touch()

    aot.forget("kafka", tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *(f"kafka-{number}.jsa" for number in (3, 4, 5, 6)),
        "spark-0.jsa",
    ]


def test_archives_in_use_are_kept_however_many(tmp_path):
    for number in range(7):
        (tmp_path / f"kafka-{number}.jsa").touch()

    aot.forget("kafka", tmp_path)

    assert len(list(tmp_path.iterdir())) == 7


@pytest.mark.cluster
@pytest.mark.machine
def test_two_that_record_at_once_record_once_and_java_uses_it(cache):
    command = [sys.executable, "-P", "-m", "kafkalab.java.aot", "kafka"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = {process.communicate(timeout=280)[0].strip() for process in both}

    archive = aot.path_of("kafka")
    assert said == {str(archive)}
    assert sorted(path.name for path in archive.parent.iterdir()) == [
        archive.name,
        "recording.lock",
    ]

    class_path = os.pathsep.join(map(str, jars.jars("kafka")))
    flags = [*aot.cache_flags("broker"), "-XX:+UseSerialGC"]
    loads = subprocess.run(
        [java().executable, *flags, "-Xlog:class+load", "-cp", class_path, "kafka.Kafka"],
        capture_output=True,
        text=True,
    ).stdout
    (line,) = (line for line in loads.splitlines() if " kafka.Kafka$ " in line)
    assert "shared objects file" in line
    assert archive.stat().st_size > 20e6

    # A Java or a class path that the archive does not fit: nothing is said, all works.
    other = subprocess.run(
        [
            java().executable,
            *flags,
            "-cp",
            class_path.replace(":", ":/nowhere.jar:", 1),
            "kafka.Kafka",
        ],
        capture_output=True,
        text=True,
    )
    assert "USAGE" in other.stdout + other.stderr
    assert "shared" not in other.stdout + other.stderr
