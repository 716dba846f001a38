"""Facets: what falls off below a crest, strip by strip as in one piece."""

import numpy as np

from kit.engines.painting.poster.crests import Crest
from kit.engines.painting.poster.facets import below, blanket

ALL = slice(None)
CREST = Crest(np.linspace(20.0, 44.0, 90).astype(np.float32))


def test_weights_fall_from_the_crest_to_the_least_and_are_nothing_above_it() -> None:
    weights = below(CREST, 10, high=0.9, slope=-0.05, least=0.2, above=1.0)(slice(0, 60), ALL)
    rows = np.arange(10, 70)[:, None] - CREST.y

    assert weights.shape == (60, 90)
    assert not weights[rows < -1.01].any()
    under = rows > -0.99
    expected = np.maximum(0.9 - 0.05 * rows, 0.2)
    assert np.abs(weights - expected)[under].max() < 1e-5


def test_strips_of_snow_fit_together() -> None:
    snow = blanket(CREST, 10, 30.0)

    whole = snow(slice(0, 60), ALL)
    strips = [snow(slice(0, 16), ALL), snow(slice(16, 60), ALL)]

    assert np.array_equal(np.concatenate(strips), whole)
    assert np.array_equal(snow(slice(16, 60), slice(7, 50)), whole[16:60, 7:50])
