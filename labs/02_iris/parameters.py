"""What each student of lab 02 gets: names of topics, and which class has which partition."""


def make(rng):
    first, second = rng.sample(["Iris-virginica", "Iris-setosa"], 2)
    return {
        "pair_topic": rng.name("virginicasetosa"),
        "lone_topic": rng.name("versicolor"),
        "partition_of": {first: 0, second: 1},
        "tail_topics": {end: rng.name(f"tail-{end}") for end in ("nothing", "flush", "close")},
        "scratch_pair": rng.name("again-virginicasetosa"),
        "scratch_lone": rng.name("again-versicolor"),
        "probe_topic": rng.name("probe"),
    }
