import pytest

from authoring import chores, percent


def problems(code: str) -> list[str]:
    script = percent.read(f"# %%\n{code}\n", "x.py")
    assert not script.problems
    return [str(problem) for problem in chores.chores(script)]


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("KafkaConsumer('a')", "a KafkaConsumer for any cluster; say bootstrap_servers="),
        ("kafka.KafkaProducer()", "a KafkaProducer for any cluster; say bootstrap_servers="),
        ("KafkaAdminClient(**quick.admin)", "a KafkaAdminClient for any cluster; say"),
        ("import time\n\ntime.sleep(1)", "a wait for a time; wait for a condition"),
        ("from kafka.admin import NewTopic", "NewTopic"),
        ("admin.create_topics([NewTopic('a', 1, 1)])", "NewTopic"),
        (
            "KafkaConsumer(bootstrap_servers=cluster.address, value_deserializer=int)",
            "value_deserializer",
        ),
        ("from kafkalab import *", "an import of everything"),
        ("while True:\n    poll()", "a loop without an end"),
        ("spark.config('spark.jars.packages', 'x')", "'spark.jars.packages' in a cell"),
        ("address = 'localhost:2181'", "'2181' in a cell"),
        ("import sys\n\nsys.path.append('..')", "'sys.path' in a cell"),
    ],
)
def test_a_chore_is_refused_with_its_line(code: str, what: str) -> None:
    found = problems(f"before = 1\n{code}")
    lines = range(3, 3 + len(code.split("\n")))
    assert any(what in problem for problem in found), found
    assert all(any(problem.startswith(f"x.py:{line}: ") for line in lines) for problem in found)


@pytest.mark.parametrize(
    "code",
    [
        "KafkaConsumer('a', bootstrap_servers=cluster.address, **quick.consumer)",
        "while True:\n    break",
        "while more():\n    poll()",
        "def until():\n    while True:\n        return 1",
        "cluster.wait_for_topic('a')",
        "records = 12181",
    ],
)
def test_what_a_lesson_needs_is_fine(code: str) -> None:
    assert not problems(code)
