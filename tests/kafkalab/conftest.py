from collections.abc import Iterator

import pytest


@pytest.fixture
def no_figure_stays() -> Iterator[None]:
    """Draw without a screen. Matplotlib keeps each figure, and warns when they are many."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")
