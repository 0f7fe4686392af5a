import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# `drawn` is shared by the tests of this folder only.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def no_figure_stays() -> Iterator[None]:
    """Draw without a screen. Matplotlib keeps each figure, and warns when they are many."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")
