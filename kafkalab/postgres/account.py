"""Whose processes a server's are. PostgreSQL refuses to run as root.

Where the course runs as root, as in many containers, its servers run as `nobody`: every system has
that user, so none is made. It may not enter the home of root. Whatever it has to read must lie
where all may go.
"""

from __future__ import annotations

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from kafkalab.errors import CourseError

NOBODY = "nobody"


class Switch(TypedDict, total=False):
    """What `subprocess` is told of the user of a process."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True)
class Account:
    """The user and the group of a server's processes; None for those of this process."""

    ids: tuple[int, int] | None = None

    @classmethod
    def chosen(cls) -> Account:
        """That of this process, unless it is root's."""
        if os.geteuid() != 0:
            return cls()
        try:
            found = pwd.getpwnam(NOBODY)
        except KeyError:
            raise CourseError(
                "PostgreSQL does not run as root.",
                f"This system has no user {NOBODY}, as whom it could run.",
                "Run the course as a user of your own.",
            ) from None
        return cls((found.pw_uid, found.pw_gid))

    @property
    def switch(self) -> Switch:
        """What makes a process one of this account."""
        if self.ids is None:
            return {}
        user, group = self.ids
        return {"user": user, "group": group, "extra_groups": []}

    def own(self, folder: Path) -> None:
        """Let the folder belong to it."""
        if self.ids is not None:
            os.chown(folder, *self.ids)

    def may_enter(self, folder: Path) -> bool:
        """Whether it can reach what lies in the folder and is open to all."""
        places = [folder.resolve(), *folder.resolve().parents]
        return self.ids is None or all(place.stat().st_mode & stat.S_IXOTH for place in places)
