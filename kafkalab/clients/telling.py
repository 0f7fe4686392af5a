"""What kafka-python says while its connections are lost."""

from __future__ import annotations

import logging


def quiet() -> None:
    """Keep the lines of kafka-python's logger `kafka` back.

    It reports each lost connection as an error, and in a lesson connections are lost on purpose.
    To see the lines: `logging.getLogger("kafka").setLevel(logging.ERROR)`. A level that somebody
    has chosen is left as it is.
    """
    logger = logging.getLogger("kafka")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)
