"""A cluster, a tool and Spark work whatever is around them.

Everything odd at once is among the usual tests; each axis by itself, a process for each case, is of
the tests for a new machine.
"""

import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kafkalab.java.runtime import java
from tests.kafkalab.surroundings import LANGUAGES, home, language, run

WORD = "İstanbul 中😀"
CLUSTER = f"""
import json
from kafka import KafkaConsumer, KafkaProducer
from kafkalab import Cluster, quick
with Cluster.start("single", engine="process") as cluster:
    with KafkaProducer(bootstrap_servers=cluster.address, **quick.producer) as producer:
        make = ["--create", "--topic", "t"]
        cluster.tool("kafka-topics", "--bootstrap-server", "{{bootstrap}}", *make)
        producer.send("t", {WORD!r}.encode()).get(20)
    read = ["--topic", "t", "--from-beginning", "--max-messages", "1", "--timeout-ms", "20000"]
    tool = cluster.tool("kafka-console-consumer", "--bootstrap-server", "{{bootstrap}}", *read)
    with KafkaConsumer("t", bootstrap_servers=cluster.address, auto_offset_reset="earliest",
                       **quick.consumer) as consumer:
        record = next(consumer).value.decode()
    log = (cluster.slot.folder / "broker" / "kafka.log").read_text("utf-8").splitlines()
    print(json.dumps({{"read": record, "shown": tool.stdout, "said": tool.stderr,
                      "logged": log[-1], "folder": str(cluster.slot.folder)}}))
"""
SPARK = f"""
import json
from pathlib import Path
from pyspark.sql import functions as F
from kafkalab import spark_session
spark = spark_session()
frame = spark.createDataFrame([("TITLE", 1), ({WORD!r}, 2)], "word string, number long")
frame.write.saveAsTable("words")
mark = F.udf(lambda word: word + "!", "string")
words = [row[0] for row in spark.table("words").orderBy("number").select(mark("word")).collect()]
moment = spark.createDataFrame([(0,)], "n long").select(F.timestamp_seconds("n")).first()[0]
java = spark._jvm.java.util
own = [java.Locale.getDefault().toString(), java.TimeZone.getDefault().getID()]
print(json.dumps({{"words": words, "own": own, "lower": frame.select(F.lower("word")).first()[0],
                  "moment": moment.timestamp(), "folder": spark.conf.get("spark.local.dir"),
                  "beside": [path.name for path in Path().iterdir()]}}))
"""


def works(told: dict[str, object]) -> None:
    assert told["read"] == WORD
    assert told["shown"] == f"{WORD}\n"
    assert told["said"].strip() == "Processed a total of 1 messages"


def analyses(told: dict[str, object]) -> None:
    assert told["words"] == ["TITLE!", f"{WORD}!"]
    assert told["lower"] == "title"
    assert told["own"] == ["en_US", "UTC"]
    assert told["moment"] == 0
    assert told["beside"] == []


OF_JAVA = (
    "JAVA_TOOL_OPTIONS=-javaagent:/no/such/agent.jar",
    "JDK_JAVA_OPTIONS=-XX:+UseParallelGC",
    "_JAVA_OPTIONS=-Xmx2m",
    "CLASSPATH=/nowhere",
)
OF_KAFKA = ("KAFKA_HEAP_OPTS=-Xmx2m", "KAFKA_OPTS=-Dno", "KAFKA_LOG4J_OPTS=-Dno")
OF_SPARK = (
    "SPARK_REMOTE=sc://127.0.0.1:1",
    "SPARK_CONNECT_MODE_ENABLED=1",
    "SPARK_API_MODE=connect",
    "SPARK_HOME=/nowhere",
    "SPARK_LOCAL_DIRS=/proc/nowhere",
    "PYSPARK_PYTHON=/nowhere/python",
    "PYSPARK_SUBMIT_ARGS=--master yarn pyspark-shell",
    "HADOOP_CONF_DIR=/nowhere",
)


@pytest.mark.spark
@pytest.mark.cluster
@pytest.mark.parametrize(("program", "holds"), [(CLUSTER, works), (SPARK, analyses)])
def test_all_works_where_everything_is_odd(program, holds, tmp_path):
    odd = dict(setting.split("=", 1) for setting in (*OF_JAVA, *OF_KAFKA, *OF_SPARK))
    odd |= {"TZ": "Asia/Kolkata", **language("tr_TR", tmp_path), "KAFKALAB_STATE": ""}
    for name in ("HOME", "TMPDIR"):
        odd[name] = str(tmp_path / f"hömé 中 😀 {name}")
        Path(odd[name]).mkdir()

    holds(run(program, tmp_path, **odd))


@pytest.mark.cluster
@pytest.mark.machine
@pytest.mark.parametrize("name", LANGUAGES)
def test_a_cluster_works_in_every_language(name, tmp_path):
    system = language(name, tmp_path)
    show = [java().executable, "-XshowSettings:properties", "-version"]
    shown = subprocess.run(show, env=system, capture_output=True, text=True).stderr
    assert f"user.language = {name[:2]}\n" in shown, "a bare Java takes this language"

    works(run(CLUSTER, tmp_path, **system))


@pytest.mark.spark
@pytest.mark.machine
@pytest.mark.parametrize("name", ["tr_TR", "az_AZ", "ar_SA", "th_TH"])
def test_spark_works_in_every_language(name, tmp_path):
    analyses(run(SPARK, tmp_path, **language(name, tmp_path)))


ZONES = (
    *("Asia/Kolkata", "America/St_Johns", "Pacific/Kiritimati", "Pacific/Marquesas"),
    *("Europe/Amsterdam", "Antarctica/Troll"),
)


@pytest.mark.cluster
@pytest.mark.machine
@pytest.mark.parametrize("zone", ZONES)
def test_a_cluster_logs_in_utc_in_every_time_zone(zone, tmp_path):
    told = run(CLUSTER, tmp_path, TZ=zone)

    works(told)
    written = datetime.strptime(told["logged"][1:20], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    assert abs(datetime.now(UTC) - written) < timedelta(minutes=10)


@pytest.mark.spark
@pytest.mark.machine
@pytest.mark.parametrize("zone", ZONES[:2])
def test_a_moment_that_spark_hands_out_is_the_same_in_every_time_zone(zone, tmp_path):
    analyses(run(SPARK, tmp_path, TZ=zone))


HOMES = ("hömé", "a b", "ü", "中文", "😀", "quo'te\"s", "200".ljust(200, "x"))


@pytest.mark.cluster
@pytest.mark.machine
@pytest.mark.parametrize("name", HOMES)
def test_a_cluster_works_below_every_home(name, tmp_path):
    # In this locale Java by itself opens no path with other letters than ASCII's.
    told = run(CLUSTER, tmp_path, LC_ALL="C", **home(tmp_path / name))

    works(told)
    assert Path(told["folder"]).is_relative_to(tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {name, "work"}, "nothing lies beside it"


@pytest.mark.cluster
@pytest.mark.machine
def test_a_cluster_works_where_the_home_cannot_be_written(tmp_path):
    temporary = tmp_path / "temporary é"
    jars = home(temporary / f"kafkalab-{Path.home().stat().st_uid}")
    (Path(jars["HOME"]) / ".cache" / "kafkalab").rename(Path(jars["HOME"]) / "cache")
    (temporary / f"kafkalab-{Path.home().stat().st_uid}").chmod(0o700)

    # Not even root can write below a device.
    works(run(CLUSTER, tmp_path, **jars | {"HOME": "/dev/null", "TMPDIR": str(temporary)}))


@pytest.mark.spark
@pytest.mark.machine
@pytest.mark.parametrize("name", [HOMES[0], *HOMES[4:]])
def test_spark_works_with_every_folder_for_temporary_files(name, tmp_path):
    temporary = tmp_path / name
    temporary.mkdir()

    told = run(SPARK, tmp_path, LC_ALL="C", TMPDIR=str(temporary))

    analyses(told)
    assert Path(told["folder"]).is_relative_to(temporary)
    assert {path.name for path in tmp_path.iterdir()} == {name, "work"}, "nothing lies beside it"


@pytest.mark.spark
@pytest.mark.cluster
@pytest.mark.machine
@pytest.mark.parametrize(("program", "holds"), [(CLUSTER, works), (SPARK, analyses)])
def test_all_works_for_a_user_of_whom_the_system_knows_only_the_number(program, holds, tmp_path):
    unnamed = ["unshare", "--user", "--map-user=54321", "--map-group=54321"]
    if not shutil.which("unshare") or subprocess.run([*unnamed, "true"]).returncode:
        pytest.skip("this system lets nobody have another number")

    holds(run(program, tmp_path, within=unnamed))


@pytest.mark.cluster
@pytest.mark.machine
@pytest.mark.parametrize(
    "setting",
    [*OF_JAVA, *OF_KAFKA],
)
def test_a_cluster_takes_up_no_setting_of_the_shell(setting, tmp_path):
    name, _, value = setting.partition("=")

    works(run(CLUSTER, tmp_path, **{name: value}))


@pytest.mark.spark
@pytest.mark.machine
@pytest.mark.parametrize("setting", [*OF_SPARK, *OF_JAVA])
def test_spark_takes_up_no_setting_of_the_shell(setting, tmp_path):
    name, _, value = setting.partition("=")

    analyses(run(SPARK, tmp_path, **{name: value}))
