"""What each student of lab 04 gets: names, replica lists, and which brokers go."""

from itertools import permutations


def make(rng):
    orders = [list(order) for order in permutations(range(3))]
    lost, second = rng.sample(range(3), 2)
    queue = rng.randrange(40, 60)
    return {
        "events_topic": rng.name("replicated-events"),
        "greetings_topic": rng.name("greetings"),
        "topic": rng.name("my-failsafe-topic"),
        # All six orders twice and one more: every broker leads four or five of the thirteen.
        "replicas": rng.sample(2 * orders + [rng.choice(orders)], 13),
        "lost": lost,
        "second": second,
        "records": rng.randrange(130, 200),
        "queue_topic": rng.name("forms"),
        "queue": queue,
        "first": rng.randrange(11, 30),
        "group": rng.name("clerks"),
        "lone_topic": rng.name("one-copy"),
        "lone": rng.randrange(20, 40),
        "delay_topics": {fault: rng.name(f"delay-{fault}") for fault in ("stop", "kill")},
    }
