"""A name for a user of whom the system knows a number only, as in many containers.

Hadoop's library, through which Spark opens files, looks the name up and gives up without one:
"Invalid UID, could not determine effective user". No option takes its place.
"""

from __future__ import annotations

import os
import pwd

from kafkalab.spark.cleaning import talking
from kafkalab.spark.driver import JavaKey

NAME = "learner"


def has_name() -> bool:
    """Whether the system has a name for the user of this process."""
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return True


def give_name(key: JavaKey) -> None:
    """Let the Java process with this key take the user for one with a name."""
    with talking(key) as gateway:
        users = gateway.jvm.org.apache.hadoop.security.UserGroupInformation
        users.setLoginUser(users.createRemoteUser(NAME))
