"""Copies of lessons that the course no longer has under their name, put aside whole.

work/notebooks/03_producers.ipynb    work/older/03_producers-1/03_producers.ipynb
"""

import contextlib
from collections.abc import Collection
from pathlib import Path

from kafkalab.files import new_folder

FOLLOWED_BY = {
    "03_producers": ("04_producers", "05_batches"),
    "04_replication": ("06_replication", "07_failover"),
    "05_durability": ("08_durability",),
    "06_idempotence_and_transactions": ("09_idempotence", "10_transactions"),
}


def put_aside(
    target: Path, older: Path, offered: Collection[Path], notes: dict[str, str]
) -> list[tuple[Path, Path]]:
    """Move lessons that were given out once and are not offered now into folders of `older`.

    Paths below `target`: where a page was, and where it is. One that cannot be moved stays, and is
    tried again; `notes`, what was given out last, forget those that moved or are gone.
    """
    done = []
    for noted in sorted(notes):
        page = Path(noted)
        if page in offered or page.parts[0] != "notebooks" or page.suffix != ".ipynb":
            continue
        with contextlib.suppress(OSError):
            if (target / page).exists():
                aside = new_folder(older, page.stem)
                newer = list((target / page.parent).glob(f"{page.stem}.new*{page.suffix}"))
                for one in [target / page, *newer]:
                    one.rename(aside / one.name)
                done.append((page, (aside / page.name).relative_to(target)))
            del notes[noted]
    return done


def followers(page: Path, offered: Collection[Path]) -> list[str]:
    """The lessons that teach now what a page of before taught."""
    stems = {path.stem for path in offered}
    return [name for name in FOLLOWED_BY.get(page.stem, ()) if name in stems]
