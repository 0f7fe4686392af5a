"""Hidden checks: the teacher's, which no notebook of a student imports."""

from collections.abc import Iterator

from grading.judge.checks import Finding, check, equal
from grading.judge.visible import Visible


@check(2, points=4, title="The same key, the same partition")
def same_key_same_partition(x: Visible) -> Iterator[Finding]:
    key = "".join(x.rng.choices("abcdefgh", k=9)).encode()
    places = x.value(f"[partition_of({key!r}, 6) for _ in range(20)]", list[int])
    yield equal(f"partitions of {key!r} in 20 calls", places, places[:1] * 20)
