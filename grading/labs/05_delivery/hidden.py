"""Hidden checks of lab 05: what stays true when the broken broker is back, and in other cases."""

from grading.judge.checks import check, expect

REFUSED = "len(deliver(opened({topic!r}, acks='all'), {topic!r}, [0]))"


@check(3, points=3, title="Every in-sync replica has the records, the old leader too")
def copied_everywhere(x):
    for number in (x.p.leader, x.p.leader + 3):
        view = x.kafka.partition(x.p.copied, number)
        yield expect(view.isr, f"partition {number} of {x.p.copied} has no replica in sync")
        for broker in view.isr:
            batches = x.kafka.batches(x.p.copied, number, broker)
            end = batches[-1].last_offset + 1 if batches else 0
            yield (
                end > x.p.records // 2,
                f"the log of partition {number} ends at {end} on broker {broker}: it lacks records "
                "of the burst",
            )


# A program that never acknowledges anything would do for this alone.
@check(3, points=2, title="deliver with a topic that refuses", needs="copied_are_there")
def refused_are_left_out(x):
    said = x.value(
        REFUSED.format(topic=x.p.refused), int, called="what deliver returns where all is refused"
    )
    yield said == 0, f"deliver calls {said} records acknowledged that were refused"


@check(5, points=3, title="The batches carry a producer id and sequence numbers")
def batches_are_numbered(x):
    places = [one.partition for one in x.kafka.topic(x.p.once).partitions]
    batches = [batch for number in places for batch in x.kafka.batches(x.p.once, number)]
    yield expect(batches, f"{x.p.once} is empty", must=True)
    bare = sum(batch.producer_id < 0 or batch.base_sequence < 0 for batch in batches)
    yield not bare, f"{bare} of {len(batches)} batches come from a producer that is not idempotent"
