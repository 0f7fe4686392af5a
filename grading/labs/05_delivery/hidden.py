"""Hidden checks of lab 05: what stays true when the broken broker is back."""

from grading.judge.checks import check, equal, expect


@check(3, points=4, title="Every in-sync replica has the records, the old leader too")
def copied_everywhere(x):
    for number in (x.p.leader, x.p.leader + 3):
        view = x.kafka.topic(x.p.copied).partitions[number]
        lengths = {}
        for broker in view.isr:
            batches = x.kafka.batches(x.p.copied, number, broker)
            lengths[broker] = batches[-1].last_offset + 1 if batches else 0
        yield equal(
            f"log ends of partition {number}",
            lengths,
            dict.fromkeys(view.isr, x.p.records // 2 + 1),
        )


@check(5, points=3, title="The batches carry a producer id and sequence numbers")
def batches_are_numbered(x):
    batches = [b for number in range(6) for b in x.kafka.batches(x.p.once, number)]
    yield expect(batches, f"{x.p.once} is empty", must=True)
    bare = sum(batch.producer_id < 0 or batch.base_sequence < 0 for batch in batches)
    yield not bare, f"{bare} of {len(batches)} batches come from a producer that is not idempotent"
