"""All runs in one table: what Spark and what diff found in their logs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from delivery.comparing import Difference

if TYPE_CHECKING:
    import pandas


def overview(sums: pandas.DataFrame, differences: Mapping[str, Difference]) -> pandas.DataFrame:
    """A row for each run of `differences`, in their order; zeros for one that left no logs.

    `sums` are those of `compare_all` for the same runs: run, sent, lost, extra.
    """
    table = sums.set_index("run").reindex(list(differences), fill_value=0)
    table["lost by diff"] = [len(one.lost) for one in differences.values()]
    table["extra by diff"] = [len(one.extra) for one in differences.values()]
    table["lines of diff"] = [one.lines for one in differences.values()]
    return table
