import numpy as np

from kit.engines.base import Progress
from kit.engines.painting.land.look import look_for
from kit.engines.painting.land.sky import Sun
from kit.engines.painting.land.voxel import FAR, Camera
from kit.engines.painting.land.water import flooded, sky_over
from kit.engines.prompt.brief import read

SIDE = 96
CAMERA = Camera(SIDE, SIDE, 88.0, 28.0, 13.0)
PEAK = slice(40, 56)


def _water() -> np.ndarray:
    """Return light, rows by columns, of a lake under a bright sky with one dark peak before it."""
    planes = np.ones((3, SIDE, SIDE), np.float32)
    above = sky_over(planes)
    depth = np.full((SIDE, SIDE), FAR, np.float32)
    planes[:, 2:30, PEAK], depth[2:30, PEAK] = 0.05, 600.0
    wet = np.zeros((SIDE, SIDE), bool)
    wet[34:] = True
    depth[34:] = (CAMERA.height * CAMERA.focal / (np.arange(34, SIDE) - 28.0))[:, None]
    look = look_for(read("clear lake at noon", {"aspect_ratio": "1:1", "size": SIDE}, 1))
    sun = Sun(20.0, 5.0, moon=False, shown=False)
    rng = np.random.default_rng(1)
    deep = (0.4, 0.06, 215.0)
    water = {"deep": deep, "wind": 0.0, "overhead": above}
    flooded(planes, depth, wet, CAMERA, look, sun, rng, Progress(), **water)
    return planes.mean(axis=0)


def _contrast(rows: np.ndarray) -> float:
    return float(rows[:, :30].mean() - rows[:, PEAK].mean())


def test_a_peak_is_mirrored_once() -> None:
    light = _water()

    assert _contrast(light[38:46]) > 0.2
    assert abs(_contrast(light[80:])) < 0.005
