"""What each student of lab 14 gets: names of topics, groups and members, counts, a session."""

NAMES = ("ada", "bob", "cleo", "dan", "eve", "finn", "gus", "hana")


def make(rng):
    *members, latecomer = rng.sample(NAMES, 4)
    return {
        "topic": rng.name("my-failsafe-topic"),
        "seen_topic": rng.name("seen"),
        "group": rng.name("mygroup"),
        "other_group": rng.name("another-group"),
        "members": members,
        "latecomer": latecomer,
        "old": rng.randrange(20, 40),
        "new": rng.randrange(18, 30),
        "session_ms": rng.choice([5_000, 6_000, 7_000]),
    }
