import numpy as np
import pytest

from kit.engines.film.drift import Flight
from kit.engines.film.filming import Take
from kit.engines.prompt.landscape import read

LAKE = "a lake below mountains at noon"


def filmed(camera: str, frames: int) -> np.ndarray:
    take = Take(width=240, height=160, fps=24, frames=frames, camera=camera, motion=1.0)
    flight = Flight(read(LAKE, seed=3, palette="auto"), take)
    return np.stack([flight.frame(number)[:160] for number in range(frames)]).astype(int)


@pytest.mark.parametrize("camera", ["push", "rise"])
def test_a_shore_that_moves_slowly_takes_its_mirror_along_without_a_jump(camera: str) -> None:
    shown = filmed(camera, 60)

    steps = np.abs(np.diff(shown, axis=0)).mean(axis=(1, 2))[8:-8]
    around = np.median(np.lib.stride_tricks.sliding_window_view(steps, 7), axis=1)
    assert (steps[3:-3] / around).max() < 1.3
