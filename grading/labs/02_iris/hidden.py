"""Hidden checks of lab 02: what a copied or typed-in answer does not have."""

from grading.judge.checks import at_least, check, equal, expect, same

from .checks import READ
from .flowers import as_read, flowers, of_flowers, row, rows_of, were_read


@check(2, points=3, title="The order of the file, and a line printed for each flower")
def order_and_print(x):
    records = of_flowers(x)
    for partition in {(topic, record.partition) for topic, record in records}:
        rows = [row(r) or 0 for topic, r in records if (topic, r.partition) == partition]
        yield rows == sorted(rows), f"partition {partition}: the rows lie in the order {rows[:6]} …"
    used = {record.partition for topic, record in records if topic == x.p.lone_topic}
    yield at_least(f"partitions of {x.p.lone_topic} that Kafka has used", len(used), 2)
    printed = x.cells[2].output
    unseen = [name for name in sorted({n for n, _ in flowers().values()}) if name not in printed]
    yield not unseen, f"no line was printed for {', '.join(unseen)}"


@check(3, points=3, title="read_flowers reads other partitions too")
def reader_reads_elsewhere(x):
    topic = x.p.lone_topic
    records = x.read(topic)
    # Where another task left a partition empty, reading nothing from it would prove nothing.
    partition = x.rng.choice(sorted({record.partition for record in records}) or [0])
    expected = [as_read(topic, record) for record in records if record.partition == partition]
    of_flowers(x)
    seen = x.value(f"read_flowers([({topic!r}, {partition})], 3, 'grading')", READ)
    yield same(f"records of partition {partition} of {topic}", seen, expected)


@check(4, points=3, title="The picture is told in words")
def picture_was_drawn(x):
    drawn = len(x.value("points", list[tuple[float, float, str]]))
    were_read(x, x.value("consumed['all']", READ))
    yield (
        str(drawn) in x.cells[4].output,
        f"the cell showed no picture whose text speaks of {drawn} records",
    )


@check(5, points=6, title="label_differences works for other records")
def differences_elsewhere(x):
    left_out = x.rng.sample([84, 85, 86, 130], 2)
    others = f"[r for r in consumed['all'] if r['row'] not in {left_out}]"
    form = list[tuple[int, str, str]]
    were_read(x, x.value("consumed['all']", READ))
    found = x.value(f"label_differences({others})", form, called="label_differences of others")
    rows = [row for row, _, _ in found]
    yield expect(
        rows == sorted({84, 85, 86, 130} - set(left_out)),
        f"without two of them label_differences names the rows {rows}",
        must=True,
    )
    few = rows_of("Iris-setosa")[:5]
    none = x.value(
        f"label_differences([r for r in consumed['all'] if r['row'] in {few}])",
        form,
        called="label_differences of five setosas",
        may_be_empty=True,
    )
    yield equal("differences among five setosas", none, [])
