import numpy as np
import pytest

from kit.engines.painting.poster.crests import KINDS, Crest, Rise
from kit.engines.painting.poster.plane import Stage

STAGE = Stage(400, 300)


def crest(kind: str, hero: float | None = None, seed: int = 1) -> Crest:
    rise = Rise(base=200.0, height=100.0, spacing=90.0, hero=hero)
    return KINDS[kind](np.random.default_rng(seed), STAGE, rise)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_a_crest_spans_the_stage_and_keeps_near_its_height(kind: str, seed: int) -> None:
    y = crest(kind, seed=seed).y

    assert y.shape == (400,)
    assert np.isfinite(y).all()
    assert 60 < y.min() < y.max() < 240
    assert np.ptp(y) > 5


@pytest.mark.parametrize("seed", range(8))
def test_the_hero_is_the_highest_mountain(seed: int) -> None:
    y = crest("mountains", hero=140.0, seed=seed).y

    assert abs(int(np.argmin(y)) - 140) < 20


@pytest.mark.parametrize("kind", ["mountains", "dunes"])
def test_peaks_lie_between_their_feet_and_above_them(kind: str) -> None:
    found = crest(kind)

    assert found.peaks
    for left, peak, right in found.peaks:
        assert 0 <= left <= peak <= right < 400
        assert found.y[peak] <= min(found.y[left], found.y[right]) + 3
