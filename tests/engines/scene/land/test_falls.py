import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting.families import paint
from kit.engines.painting.land import falls
from kit.engines.painting.land.relief import Relief
from kit.engines.painting.land.vista import Vista, vista
from kit.engines.prompt.brief import Brief, read


def brief(prompt: str, seed: int = 1, aspect: str = "1:1", size: int = 192) -> Brief:
    return read(prompt, {"aspect_ratio": aspect, "size": size, "detail": "low"}, seed)


def scene_of(prompt: str, seed: int = 1, aspect: str = "1:1") -> Vista:
    return vista(brief(prompt, seed, aspect), horizon=0.46, height=6.5)


def test_no_cliff_stands_where_none_is_asked_for() -> None:
    assert falls.falls_of(scene_of("a mountain lake")) is None
    assert falls.falls_of(scene_of("a mountain lake, no waterfalls")) is None


@pytest.mark.parametrize("aspect", ["1:1", "16:9", "9:16"])
@pytest.mark.parametrize("seed", range(3))
def test_water_drops_from_a_cliff_into_a_pool(seed: int, aspect: str) -> None:
    scene = scene_of("a waterfall", seed, aspect)
    drop = falls.falls_of(scene)
    assert drop
    heights = falls.carved(np.full((scene.points,) * 2, 2, np.float32), drop, scene)
    land = Relief(heights, heights)

    def height(z: float) -> float:
        spot = np.full((1, 1), drop.x, np.float32), np.full((1, 1), z, np.float32)
        return float(land.height(*spot)[0, 0])

    assert height(drop.z + 12) > 0.6 * drop.tall
    assert height(drop.z - 14) < 1.0
    camera = scene.camera
    assert 0 < camera.row(drop.tall, drop.z) < camera.horizon
    assert 0 < camera.column(drop.x, drop.z) < camera.columns


def test_falling_water_is_the_brightest_thing_before_its_cliff() -> None:
    scene = scene_of("a waterfall at noon, clear", 1)
    drop = falls.falls_of(scene)
    assert drop
    picture = paint(scene.brief, Progress()).mean(axis=2)
    camera = scene.camera
    column = round(camera.column(drop.x, drop.z))
    rows = slice(round(camera.row(0.5 * drop.tall, drop.z)), round(camera.row(4.0, drop.z)))
    wide = round(drop.streams[0][1] * camera.focal / drop.z)
    # The brightest streak of the fall, against the rock well beside all of its streams.
    aside = round(6 * wide + 6)

    fall = picture[rows, column - wide : column + wide + 1].mean(axis=0).max()
    rock = picture[rows, max(0, column - aside - 8) : max(1, column - aside)].mean()
    assert fall > rock + 15


def test_the_same_falls_come_again() -> None:
    one, again = (paint(brief("a waterfall at dusk", 5), Progress()) for _ in range(2))

    assert (one == again).all()
