"""lessons/reference/kafka.md: the lists that no lesson has room for."""

import re

from authoring.build import REPOSITORY

# For each claim that is judged, the row of the outline whose proof shows it.
SHOWN_BY = ["A77", "C99", "A10", "A8", "A87", "R20", "A114", "R21", "B65"]
SHOWN_BY += ["B163", "B84", "A30", "B82", "Q32", "R21"]
PAGE = (REPOSITORY / "lessons" / "reference" / "kafka.md").read_text("utf-8")


def part(heading: str) -> str:
    return PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    lines = re.findall(r"^\| (.*) \|$", text, re.MULTILINE)
    return [[cell.strip() for cell in line.split(" | ")] for line in lines][1:]


def test_kafka_has_its_four_properties() -> None:
    found = re.findall(r"^- \*\*(.+?)\*\*", part("What it is"), re.MULTILINE)
    assert found == ["publish and subscribe", "durable", "fault tolerant", "scalable"]


def test_nine_uses_are_named_and_the_figures_are_marked_as_history() -> None:
    uses = part("What it is used for")
    named = [row[0] for row in rows(uses)]
    assert len(named) >= 9
    assert any("CQRS" in name and "replay" in name for name in named)
    assert "as history" in uses
    assert "1,000,000,000,000" in uses


def test_it_stands_beside_others_in_three_ways_and_says_four_reasons_for_speed() -> None:
    beside = part("Beside others")
    assert {"throughput", "reliability", "replication"} <= {row[0] for row in rows(beside)}
    for word in ("JMS", "RabbitMQ", "AMQP", "partitions", "in order", "batches", "zero copy"):
        assert word in beside


def test_streams_and_connect_belong_to_it_and_the_registry_does_not() -> None:
    around = part("What belongs to it, and what stands around it")
    owner = {row[0]: row[2] for row in rows(around)}
    assert len(owner) == 5
    for own in ("MirrorMaker", "Connect", "Streams"):
        assert owner[own].startswith("Apache Kafka")
    assert owner["schema registry"] == owner["REST proxy"] == "others"
    for place in ("machines of your own", "containers", "Kubernetes", "cloud", "Spark", "Flink"):
        assert place in around


def test_four_duties_have_somebody_today() -> None:
    assert len(rows(part("Who coordinates"))) == 4


def test_each_question_of_a_review_is_answered() -> None:
    groups = re.findall(r"<summary>(.+?)</summary>\n(.+?)</details>", part("Questions"), re.DOTALL)
    asked = {name: re.findall(r"^\d\. \*(.+?)\*(.*)$", text, re.MULTILINE) for name, text in groups}
    assert [len(questions) for questions in asked.values()] == [6, 9, 7, 7, 5, 4, 5]
    for questions in asked.values():
        assert all(question.endswith("?") and answer.strip() for question, answer in questions)


def test_each_claim_is_judged_and_shown_where_the_page_says() -> None:
    outline = (REPOSITORY / "lessons" / "outline.md").read_text("utf-8")
    proved = {row[0]: (row[2], row[3]) for row in rows(outline) if len(row) == 4}
    judged = rows(part("Claims, judged"))
    assert len({claim for claim, _, _ in judged}) == len(SHOWN_BY) == 15
    for (claim, verdict, place), row in zip(judged, SHOWN_BY, strict=True):
        plan, proof = proved[row]
        assert verdict
        assert place in (plan if proof == "planned" else proof), claim
