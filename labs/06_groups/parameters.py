"""What each student of lab 06 gets: names, counts, and who goes when."""

NAMES = (
    *("Ada", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ivan", "Judy", "Kim", "Lea"),
    *("Max", "Nora", "Omar", "Pia"),
)


def make(rng):
    names = rng.sample(NAMES, 13)
    three, pair, seats = names[:3], names[3:5], names[5:7]
    departments = rng.sample(["billing", "stock", "audit", "mail", "routes"], 3)

    def day(number):
        """What a member is told of a day's work: topics and a group of the student's own."""
        stems = {"topic": "orders", "results": "packed", "group": "packers"}
        return {kind: rng.name(f"{stem}-{number}") for kind, stem in stems.items()}

    return {
        "day_1": day(1),
        "three": three,
        "orders": rng.randrange(25, 60),
        "day_2": {kind: name for kind, name in day(2).items() if kind != "group"},
        "departments": [rng.name(name) for name in departments],
        "shared": rng.name("shared"),
        "pair": pair,
        # not the same for both halves
        "parcels": rng.choice([n for n in range(40, 70) if n % 6]),
        "day_3": day(3),
        "crew": names[7:10],
        "killed": rng.sample(names[7:10], 2),
        "rush": rng.choice([204, 210, 216]),
        "killed_at": rng.randrange(54, 70),
        "repeated": rng.choice([3, 4]),
        "day_4": day(4),
        "counter": names[10],
        "counted": rng.randrange(80, 100),
        "counted_at": rng.randrange(15, 30),
        "surprise": [rng.randrange(1, 9) for _ in range(6)],
        "archive": rng.name("archive"),
        "clerks": rng.name("clerks"),
        "day_5": day(5),
        "careful": names[11],
        "newcomer": names[12],
        "handed": rng.choice([168, 174, 180]),
        "joins_at": rng.randrange(40, 60),
        "every": rng.choice([100, 110, 120]),
        "day_6": day(6),
        "seats": seats,
        "falls": rng.choice(seats),
        "nightly": rng.choice([114, 120, 126]),
        "falls_at": rng.randrange(20, 35),
    }
