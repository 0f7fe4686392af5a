"""What each student of lab 05 gets: names, counts, and what breaks when."""

TOPICS = (
    *("plain", "unasked", "asked", "mark", "led", "copied", "tight", "sturdy", "doubled", "once"),
    *("orders", "done", "late", "late-done", "refused"),
)


def make(rng):
    every = rng.choice([20, 25, 30])
    return {
        "records": rng.choice([240, 300, 360]),
        "readers": rng.name("readers"),
        "instance": rng.name("desk"),
        "frozen": rng.randrange(3),
        "leader": rng.randrange(3),
        "away": rng.randrange(3),
        "goes": rng.choice(["stop", "kill"]),
        "answered": rng.randrange(20, 90),
        "dropped": rng.choice([3, 4, 5]),
        "every": every,
        # between two commits, and long before the end of a batch of two partitions
        "killed_at": every + rng.randrange(5, 15),
        "workers": rng.name("workers"),
        "careless": rng.name("careless"),
        "late_workers": rng.name("late-workers"),
        "repeated": rng.choice([8, 10, 12]),
        "hit": rng.choice(["kill", "freeze"]),
        **{stem.replace("-", "_"): rng.name(stem) for stem in TOPICS},
        "forgetful": rng.name("forgetful"),
        "lazy": rng.name("lazy"),
    }
