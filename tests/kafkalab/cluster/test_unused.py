from types import SimpleNamespace

import pytest

from kafkalab.cluster.observed import Observed


@pytest.mark.parametrize(
    ("taken", "free"),
    [([], "trips"), (["trips"], "trips-2"), (["trips", "trips-2", "other"], "trips-3")],
)
def test_a_name_that_is_free(taken, free):
    view = SimpleNamespace(topics=lambda internal: taken)
    assert Observed.unused(view, "trips") == free
