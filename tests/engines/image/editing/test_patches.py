import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.media.fill.comparing import RADIUS
from kit.engines.media.fill.patches import Search

SHAPE = (48, 64)


def hole() -> np.ndarray:
    gap = np.zeros(SHAPE, np.uint8)
    gap[20:28, 24:36] = 255
    return gap


def begun(barred: np.ndarray | None = None, coarser: Search | None = None) -> Search:
    closed = np.zeros(SHAPE, np.uint8) if barred is None else barred
    search = Search.over(hole(), closed, coarser, np.random.default_rng(1))
    assert search is not None
    return search


def test_finds_are_whole_patches_outside_the_hole() -> None:
    search = begun()

    for down in (-RADIUS, 0, RADIUS):
        for across in (-RADIUS, 0, RADIUS):
            assert not hole()[search.best[0] + down, search.best[1] + across].any()


def test_nothing_is_copied_from_where_it_is_barred() -> None:
    barred = np.zeros(SHAPE, np.uint8)
    barred[:, :20] = 255
    canvas = np.random.default_rng(2).uniform(0, 255, (*SHAPE, 3)).astype(np.float32)
    search = begun(barred)

    search.painted(canvas, np.random.default_rng(3), Progress())

    assert search.best[1].min() >= 20 + RADIUS


@pytest.mark.parametrize("gap", [np.zeros(SHAPE, np.uint8), np.full(SHAPE, 255, np.uint8)])
def test_without_a_hole_or_without_anything_known_there_is_no_search(gap: np.ndarray) -> None:
    assert Search.over(gap, np.zeros(SHAPE, np.uint8), None, np.random.default_rng(1)) is None


def test_a_pattern_is_found_again() -> None:
    rows, columns = np.indices(SHAPE)
    plane = np.where((rows // 4 + columns // 4) % 2, 200.0, 40.0)
    whole = np.repeat(plane[..., None], 3, axis=2).astype(np.float32)
    canvas = whole.copy()
    canvas[hole() > 0] = 120
    search, rng = begun(), np.random.default_rng(4)

    for _ in range(6):
        painted = search.painted(canvas, rng, Progress())
        canvas = np.where(hole()[..., None] > 0, painted, whole)

    assert np.abs(canvas - whole).mean(axis=2)[hole() > 0].mean() < 12


def test_a_canceled_search_stops() -> None:
    progress = Progress()
    progress.cancel()

    with pytest.raises(CanceledError):
        begun().painted(np.zeros((*SHAPE, 3), np.float32), np.random.default_rng(1), progress)
