"""What lesson 02 counts and draws."""

from types import SimpleNamespace as Namespace

from kafka.partitioner import murmur2

from kafkalab.lessons import partitions
from tests.kafkalab.drawn import words


def records(*numbers: tuple[int, int], key: bytes | None = b"lift") -> list[Namespace]:
    """Each a number and its partition, in the order of reading."""
    return [
        Namespace(value=b"%d" % number, partition=partition, key=key)
        for number, partition in numbers
    ]


def test_a_step_back_is_a_smaller_number_than_the_one_before():
    read = records((2, 0), (4, 0), (1, 1), (3, 1))
    assert partitions.steps_back(read) == 1
    assert partitions.steps_back_inside(read) == 0
    assert partitions.steps_back_inside(records((2, 0), (1, 0))) == 1


def test_arrivals_keep_the_order_of_reading():
    frame = partitions.arrivals(records((2, 0), (1, 1)))
    assert frame.to_dict("list") == {"read": [1, 2], "sent": [2, 1], "partition": [0, 1]}


def test_the_lift_needs_a_key_and_one_order():
    assert partitions.out_of_order(records((1, 0), (2, 0))) == ""
    assert partitions.out_of_order(records((1, 0), key=None)) == "a record has no key."
    assert partitions.out_of_order(records((2, 0), (1, 1))) == "1 steps back, over 2 partitions."


def test_the_mask_moves_about_half_of_the_keys():
    keys = [b"%d" % number for number in range(100)]
    home = {key: (murmur2(key) & 0x7FFFFFFF) % 6 for key in keys}
    moved = sum(murmur2(key) >= 2**31 for key in keys)  # 2**31 is no multiple of six
    assert partitions.unmasked(moved, home) == ""
    assert "count those" in partitions.unmasked(moved + 1, home)


def test_the_fullest_partition_is_named():
    assert words(partitions.shares({"6": [10, 60, 30], "2": [50, 50]})) == ["60%", "50%"]


def test_the_title_says_what_the_fullest_has(capsys):
    share = partitions.show_shares({"6": [10, 60, 30], "2 with salt": [50, 50]})
    assert share == {"6": 60, "2 with salt": 50}
    title = "The fullest partition has 60 % (6), 50 % (2 with salt)."
    assert capsys.readouterr().out.startswith(title)


def test_each_topic_has_the_records_of_its_partitions():
    views = {"orders-2": [3, 1], "orders-3": [4, 0, 0]}

    def topic(name: str) -> Namespace:
        return Namespace(partitions=[Namespace(end_offset=end) for end in views[name]])

    filled = partitions.filled(Namespace(topic=topic), {"2": "orders-2", "3": "orders-3"})
    assert filled == {"2": [3, 1], "3": [4, 0, 0]}
