"""What cells name of Kafka is in the Kafka that they run, which is asked itself."""

from collections.abc import Iterator

import pytest
from pyspark.errors.exceptions import captured

from authoring import chores, named, percent
from authoring.distribution import Distribution, opened
from authoring.percent import Script
from kafkalab.engine import tools

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Distribution]:
    captured.install_exception_handler()  # as each use of PySpark in this process does
    with opened(tmp_path_factory.mktemp("java")) as distribution:
        yield distribution


def test_nothing_that_kafka_does_not_have_is_named_in_a_cell(
    scripts: list[Script], kafka: Distribution
) -> None:
    found = {problem for script in scripts for problem in named.missing(script, kafka)}
    assert not found, "\n" + "\n".join(map(str, sorted(found)))


def test_each_tool_that_the_course_knows_is_one_of_kafka(kafka: Distribution) -> None:
    assert set(tools.CLASSES.values()) <= kafka.classes


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("cluster.tool('kafka-topics', '--zookeeper', 'z')", "kafka-topics has no option --zoo"),
        ("cluster.tool('kafka-topics', '--bootstrap-server', 'localhost:2181')", "'2181' in a"),
        (
            "options = '--topic a'\noptions += ' --broker-list b'\n"
            "cluster.tool('kafka-console-producer', *options.split())",
            "kafka-console-producer has no option --broker-list",
        ),
        (
            # one tool has it, and another is called
            "cluster.tool('kafka-replica-verification', '--broker-list', 'b')\n"
            "console(cluster, 'kafka-console-producer', '--broker-list', 'b')",
            "kafka-console-producer has no option --broker-list",
        ),
        ("given = ['--alter']\ncluster.tool('kafka-groups', '--list')", "has the option --alter"),
        ("run('kafka-run-class.sh kafka.tools.MirrorMaker')", "no class kafka.tools.MirrorMaker"),
        ("run('kafka-topics.sh --list --zookeeper z')", "topics.sh has no option --zookeeper"),
        ("run('bin/kafka-preferred-replica-election.sh')", "no tool 'bin/kafka-preferred-replica"),
        ("cluster.tool('kafka-preferred-replica-election')", "no tool 'kafka-preferred-replica"),
        ("settings = {'log.message.format.version': '2.8'}", "'log.message.format.version'"),
        ("settings = {'zookeeper.connect': 'z'}", "no setting 'zookeeper.connect'"),
        ("tool('kafka-groups', '--list', 'message.format.version=2')", "'message.format.version'"),
        ("program = '''own = {\"auto.purge.interval.ms\": 1}'''", "'auto.purge.interval.ms'"),
    ],
)
def test_what_kafka_does_not_have_is_found(kafka: Distribution, code: str, what: str) -> None:
    script = percent.read(f"# %%\n{code}\n", "x.py")
    found = [str(one) for one in (*named.missing(script, kafka), *chores.chores(script))]
    assert any(what in one for one in found), found


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess\nsubprocess.run(['sh', '-c', 'bin/kafka-topics.sh --list'])",
        "more = ['--group', group]\nshown = lab.cluster.tool('kafka-consumer-groups.sh', *more)",
        "read = '--formatter-property print.key=true'\ntool('kafka-console-consumer', read)",
        "tool('kafka-console-consumer', '--formatter-property=print.key=true')",
        "settings = {'min.insync.replicas': '2', 'log.initial.task.delay.ms': '1'}",
        "own = {'enable.auto.offset.store': False}  # of librdkafka",
        "path, logger = 'iris.csv', getLogger('kafka.coordinator')",
        "price = F.col('p.dollars')",
        "told = 'org.apache.kafka.tools.consumer.OffsetsMessageFormatter'",
    ],
)
def test_what_there_is_may_be_named(kafka: Distribution, code: str) -> None:
    script = percent.read(f"# %%\n{code}\n", "x.py")
    assert list(map(str, named.missing(script, kafka))) == []
