"""What the values of the records say: sayings of nobody in particular, with all that makes a text
awkward for a file format: commas, quotation marks, apostrophes, and very different lengths.
"""

from __future__ import annotations

from collections.abc import Sequence

from delivery.payload import Entry

SAYINGS = [
    ("Measure twice, cut once.", "a workshop wall"),
    ("A log, once written, has no opinion.", "the archive"),
    ("Who asks, waits; who doesn't, guesses.", "a ticket office"),
    ('"Later" is a place where nothing is stored.', "a harbour office"),
    ("Bread, salt, and patience keep longest.", "a kitchen"),
    ("The map isn't the road, but it's lighter.", "a hikers' hut"),
    ("Two clocks disagree; one clock lies in peace.", "a railway station"),
    ("What was said once, loudly, was heard by half.", "a market hall"),
    ('A door marked "push" is pulled by every second visitor.', "a town library"),
    ("Rain falls on the roof, and the roof tells nobody.", "a weather station"),
    ("If it's worth keeping, keep it in three places.", "a seed bank"),
    ("A rope of one strand, however thick, breaks all at once.", "a shipyard"),
    ("The last page of the book, torn out, is the one that's quoted.", "a reading room"),
    ("First come, first served; last come, best informed.", "a bakery"),
    ('When the bridge says "wait", the river doesn\'t.', "a ferry landing"),
    ("Nothing is as quiet, or as suspicious, as a bell that should ring.", "a fire brigade"),
    ("A letter that came twice was sent once, and one that never came was sent twice.", "the post"),
    ("Count the sheep in the evening, not the holes in the fence.", "a mountain pasture"),
    ("Salt dissolves, sugar dissolves, sand waits.", "a chemistry room"),
    ('The shortest answer is "no", the shortest mistake is "yes".', "a building site"),
    ("Whoever carries water in a sieve, quickly, still arrives with a wet sieve.", "a well"),
    ("A lamp doesn't argue with the dark, it's merely on.", "a lighthouse"),
    (
        "Three neighbours kept the same diary, and when the house of one burned down, the other "
        'two said: "Nothing has happened", which was true for the diary.',
        "a village chronicle",
    ),
    (
        "The night train leaves on time, every night, with whoever is on it; those who run along "
        "the platform learn, one after the other, that a timetable is a promise to nobody.",
        "a waiting room",
    ),
    (
        "There was a clerk who ticked off each parcel before he carried it to the shelf, because "
        "ticking was quick and carrying was slow; on the day he fell ill, half of his list was "
        "true, and nobody, not even he, could say which half.",
        "a warehouse",
    ),
    (
        "There was another clerk, in the next warehouse, who carried the parcel first, rested, "
        "ate, and ticked it off in the evening; when he fell ill, his successor carried the same "
        'parcels again, swore a little, and wrote under the list: "Better twice than never, but '
        'once would have been my choice."',
        "the warehouse across the street",
    ),
    (
        "A gardener planted a tree, a hedge, and a row of beans. He asked the beans in the "
        "morning how they were, and they said: growing. He asked the hedge in the autumn, and it "
        'said: "Growing, don\'t ask so often." The tree he never asked; it was there when he came '
        "with the ladder, and it was there, taller, when his children came with theirs, and it "
        "has not, so far, said a word about it.",
        "an orchard",
    ),
    ("Small, dry, and labelled: so lives a spice.", "a pantry"),
]


def saying(number: int) -> str:
    """The text of record `number`: drawn from the list, the same in every run.

    With another text each time, a record that is sent again would not count as the same one.
    """
    # A multiplier without a common factor mixes the order; no generator has to be carried along.
    sentence, source = SAYINGS[(number * 2_654_435_761 >> 7) % len(SAYINGS)]
    return f'"{sentence}" -- {source}'


def record_of(topic: str, partitions: Sequence[int], number: int) -> Entry:
    """Record `number` of a burst that goes to these partitions in turns."""
    return Entry(topic, partitions[number % len(partitions)], str(number), saying(number))
