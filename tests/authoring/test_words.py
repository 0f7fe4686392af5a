import pytest

from authoring import percent, words
from authoring.build import REPOSITORY

GLOSSARY = (REPOSITORY / "lessons" / "glossary.md").read_text("utf-8")
LIST = words.word_list(GLOSSARY)


def problems(line: str, mark: str = " [markdown]") -> list[str]:
    script = percent.read(f"# %%{mark}\n{line}\n", "x.py")
    assert not script.problems
    found = [*words.wrong_words(script, LIST), *words.wrong_tone(script)]
    assert all(str(problem).startswith("x.py:2: ") for problem in found)
    return [problem.what for problem in found]


def test_the_list_has_one_right_word_for_each_wrong_one() -> None:
    wrong = [word.wrong for word in LIST]
    assert len(wrong) == len(set(wrong))
    assert not set(wrong) & {word.say for word in LIST}
    assert {"message", "event", "server"} <= set(wrong)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("# The message is kept.", "message"),
        ("# Messages are kept.", "message"),
        ("# An event arrives.", "event"),
        ("# The servers agree.", "server"),
        ("# **Node** 1 leads.", "node"),
        ("# The topic-name is short.", "topic-name"),
        ("# It was sent to kafka.", "kafka"),
        ("# The in sync replicas agree.", "in sync replicas"),
        ("# The master answers.", "master"),
        ("# An ack came back.", "ack"),
        ("# The event's key.", "event"),
    ],
)
def test_a_wrong_word_is_found(line: str, wrong: str) -> None:
    assert problems(line) == [f"the word '{wrong}'"]


@pytest.mark.parametrize(
    "line",
    [
        "# The setting `message.max.bytes` and a `node`.",
        '# Older texts say "message".',
        "# Others call it an *event*.",
        "# The error message names the topic.",
        "# Event time is when it happened.",
        "# One bootstrap server is enough.",
        "# Each node of the quorum has a vote.",
        "# [The message](00_message.ipynb) is a title.",
        "# Read https://kafka.apache.org/message today.",
        "# Eventually it is back; a messenger came.",
        "# Kafka keeps kafkalab.toml.",
        "# ```\n# kafka message event\n# ```",
    ],
)
def test_a_word_that_is_shown_is_fine(line: str) -> None:
    assert problems(line) == []


@pytest.mark.parametrize(
    "line",
    [
        "# This is simply a log.",
        "# Just run it.",
        "# Of course it is lost.",
        "# That is easy.",
        "# Obviously.",
    ],
)
def test_a_belittling_word_is_found(line: str) -> None:
    assert len(problems(line)) == 1


def test_an_exclamation_mark_is_found_and_code_is_not() -> None:
    assert problems("# All lost!") == ["an exclamation mark"]
    assert problems("# Where `a != b`.") == []
    assert problems("# ![a picture](x.png)") == []


def test_comments_are_prose() -> None:
    assert problems("a = 1  # just a message", mark="") == ["the word 'message'", "the word 'just'"]


def test_sentences_in_strings_are_prose_and_values_are_not() -> None:
    assert problems("title = f'{n} messages were lost today'", mark="") == ["the word 'message'"]
    assert problems("a = 'All of them are gone!'", mark="") == ["an exclamation mark"]
    assert problems("a = 'message'\nb = b'one message more, and one'", mark="") == []
    assert problems('a = """one message\nand one message more than that\n"""', mark="") == []
    assert problems("assert 'a total of 3 messages' in printed", mark="") == []
    assert problems("re.search('a total of 3 messages', printed)", mark="") == []
