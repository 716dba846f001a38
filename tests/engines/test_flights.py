"""Flights are tested by what a frame knows of the land that it shows."""

import numpy as np

from kit.engines.base import Progress
from kit.engines.film.filming import Take
from kit.engines.film.flight import Flight
from kit.engines.prompt.reading import read


def test_a_still_is_the_first_frame_of_a_flight_with_depth_sky_and_water() -> None:
    take = Take(width=192, height=128, fps=24, frames=24, camera="glide", motion=0.6)
    brief = read("an alpine lake at noon", {}, 3, painter="flight")
    painting = Flight(brief, "alps", take, Progress()).paint()
    assert painting.pixels().shape == (128, 192, 3)
    assert painting.depth is not None
    assert painting.sky is not None
    assert painting.water is not None
    assert painting.depth.shape == painting.sky.shape == painting.water.shape == (128, 192)
    assert np.isinf(painting.depth[painting.sky == 1]).all()
    assert np.isfinite(painting.depth[painting.sky == 0]).all()
    assert painting.water[painting.sky == 1].max(initial=0.0) == 0.0
    lowest, middle = painting.depth[-1], painting.depth[len(painting.depth) * 3 // 4]
    assert np.median(lowest) < np.median(middle)
