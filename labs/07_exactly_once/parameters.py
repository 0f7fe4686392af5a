"""What each student of lab 07 gets: stocks, sizes, and names of topics and groups."""

NAMES = ("IBM", "SUN", "GOOG", "INEL", "UBER", "ABC", "XYZ", "DEF", "KLM", "OPQ", "RST", "VWX")


def make(rng):
    return {
        "stocks": rng.sample(NAMES, 6),
        "batch": rng.choice([7, 9, 11]),
        "burst": rng.choice([40, 50, 60]),
        **{name: rng.name(name) for name in ("careless", "killed", "locked", "shared")},
        "bell": rng.name("bell"),
    }
