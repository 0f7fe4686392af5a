"""What each student of lab 01 gets: names, counts and settings of one's own."""

PLACES = (
    "Ameland",
    "Bergen",
    "Cadiz",
    "Davos",
    "Evora",
    "Fano",
    "Ghent",
    "Hvar",
    "Inari",
    "Jena",
    "Krakow",
    "Lucca",
    "Malmo",
    "Narvik",
    "Ostrava",
    "Porto",
)
LINES = (
    "the ferry is late",
    "the bridge is open",
    "the market is closed",
    "the tram runs again",
    "the lift is stuck",
    "the bakery has bread",
    "the museum is free today",
    "the library needs light",
)


def make(rng):
    partitions = rng.choice([7, 9, 11, 13])
    records = rng.randrange(130, 200)
    queue = rng.randrange(40, 60)
    return {
        "quickstart_topic": rng.name("quickstart-events"),
        "seven_topic": rng.name("my-topic"),
        "topic": rng.name("readings"),
        "partitions": partitions,
        "retention_ms": rng.randrange(5, 70) * 3_600_000,
        "stations": rng.sample(PLACES, 5),
        "records": records,
        "looked_at": rng.randrange(partitions),
        "quiet_topic": rng.name("quiet"),
        "steps_topic": rng.name("steps"),
        "steps_partitions": rng.choice([4, 5, 6]),
        "steps": rng.randrange(50, 80),
        "steps_key": rng.choice(PLACES),
        "queue_topic": rng.name("queue"),
        "queue": queue,
        "group": rng.name("clerks"),
        "first": rng.randrange(11, 30),
        "notes_topic": rng.name("notes"),
        "lines": rng.sample(LINES, 3),
        "empty": rng.randrange(2, 5),
        "third_line": {case: rng.name(f"third-line-{case}") for case in "abcd"},
    }
