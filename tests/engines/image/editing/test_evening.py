import numpy as np

from kit.engines.media.fill.evening import evened

SHAPE = (40, 60)


def hole() -> np.ndarray:
    gap = np.zeros(SHAPE, np.uint8)
    gap[10:30, 20:40] = 255
    return gap


def off_by(tones: float) -> np.ndarray:
    """A flat picture whose hole was filled with another tone."""
    canvas = np.full((*SHAPE, 3), 100, np.float32)
    canvas[hole() > 0] += tones
    return canvas


def flat() -> np.ndarray:
    return np.zeros((*SHAPE, 6), np.float32)


def test_a_slightly_wrong_tone_is_joined_to_what_surrounds_it() -> None:
    assert np.abs(evened(off_by(5), hole(), flat()) - 100).max() < 2


def test_a_hard_edge_stays_one() -> None:
    out = evened(off_by(80), hole(), flat())

    assert np.abs(out[hole() > 0] - 180).max() < 10


def test_nothing_outside_the_hole_changes() -> None:
    assert np.array_equal(evened(off_by(5), hole(), flat())[hole() == 0], off_by(5)[hole() == 0])


def test_a_hole_at_the_edge_of_the_picture_is_evened_too() -> None:
    gap = np.zeros(SHAPE, np.uint8)
    gap[:12, :15] = 255
    canvas = np.full((*SHAPE, 3), 100, np.float32)
    canvas[gap > 0] -= 4

    assert np.abs(evened(canvas, gap, flat()) - 100).max() < 2
