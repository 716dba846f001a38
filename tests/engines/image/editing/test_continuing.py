import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.media.fill.continuing import continued

SHAPE = (40, 64)


def layers() -> np.ndarray:
    """Three layers with a little noise."""
    tones = np.repeat([200.0, 110.0, 40.0], [14, 12, 14])
    noise = np.random.default_rng(1).normal(0, 3, (*SHAPE, 3))
    return (tones[:, None, None] + noise).astype(np.float32)


def moved(gap: np.ndarray, free: np.ndarray, progress: Progress | None = None) -> np.ndarray:
    usable = np.zeros(SHAPE, bool)
    usable[3:-3, 3:-3] = free[3:-3, 3:-3]
    canvas = layers()
    canvas[gap > 0] = 128
    return continued(canvas, gap, free, usable, progress or Progress())


def hole() -> np.ndarray:
    gap = np.zeros(SHAPE, np.uint8)
    gap[8:32, 26:38] = 255
    return gap


def test_layers_go_on_through_the_hole() -> None:
    moves = moved(hole(), hole() == 0)

    rows, columns = np.indices(SHAPE) + moves
    off = np.abs(layers()[rows, columns] - layers()).max(axis=2)
    assert (off[hole() > 0] < 25).mean() > 0.95


def test_nothing_outside_the_hole_moves_and_nothing_comes_from_inside() -> None:
    moves = moved(hole(), hole() == 0)

    rows, columns = np.indices(SHAPE) + moves
    assert not moves[:, hole() == 0].any()
    assert not hole()[rows, columns].any()


def test_what_may_not_be_taken_is_not_taken() -> None:
    free = hole() == 0
    free[:, :26] = False

    _, columns = np.indices(SHAPE) + moved(hole(), free)

    assert columns[hole() > 0].min() >= 26


def test_a_canceled_guess_stops() -> None:
    progress = Progress()
    progress.cancel()

    with pytest.raises(CanceledError):
        moved(hole(), hole() == 0, progress)
