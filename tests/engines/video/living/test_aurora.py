import numpy as np
import pytest

from kit.engines.film.filming import Take
from kit.engines.film.living.aurora import Aurora
from kit.engines.film.living.stage import Stage
from kit.engines.painting.land.motion import Curtains

TAKE = Take(width=320, height=180, fps=24, frames=120, loop=True)


def night() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    luma = np.full((180, 320), 40, np.uint8)
    luma[20:70, 60:260] = 110
    luma[30:50, 150:170] = 235  # the moon before them
    blue, red = np.full((90, 160), 140, np.uint8), np.full((90, 160), 118, np.uint8)
    red[10:35, 30:130] = 90
    return luma, blue, red


def aurora(loop: bool = True) -> Aurora:
    light = np.zeros((90, 320), np.float32)
    light[20:70, 60:260] = 0.4
    sky = np.zeros((180, 320), np.float32)
    sky[:, :200] = 1
    take = Take(width=320, height=180, fps=24, frames=120, loop=loop)
    stage = Stage(320, 180, (180, 320), None, take)
    made = Aurora(Curtains(light), stage, sky, np.random.default_rng(3))
    made.light_up(night())
    return made


def drawn(lights: Aurora, moment: float) -> tuple[np.ndarray, ...]:
    planes = night()
    lights.draw(planes, moment)
    return planes


def test_rays_run_along_the_curtains_alone() -> None:
    lights = aurora()
    luma = drawn(lights, 0.3)[0].astype(int) - night()[0]

    assert np.abs(luma[25:65, 70:140]).mean() > 6
    assert np.abs(luma[:14]).max() == 0
    assert np.abs(luma[:, :50]).max() == 0
    assert np.abs(luma[:, 210:]).max() == 0  # behind the land
    assert np.abs(luma[34:46, 154:166]).max() <= 2  # the moon


def test_rays_stand_and_are_as_green_as_they_are_bright() -> None:
    luma, _, red = (
        shown.astype(int) - still
        for shown, still in zip(drawn(aurora(), 0.3), night(), strict=True)
    )

    across, down = luma[25:65, 70:140].std(axis=1).mean(), luma[25:65, 70:140].std(axis=0).mean()
    assert across > 2 * down
    assert np.corrcoef(luma[26:64:2, 70:140:2].ravel(), red[13:32, 35:70].ravel())[0, 1] < -0.8


@pytest.mark.parametrize("loop", [True, False])
def test_a_loop_comes_around_and_a_clip_goes_on(loop: bool) -> None:
    lights = aurora(loop)

    assert np.array_equal(drawn(lights, 0.0)[0], drawn(lights, 1.0)[0]) == loop
    assert not np.array_equal(drawn(lights, 0.2)[0], drawn(lights, 0.25)[0])


def test_no_ray_goes_out() -> None:
    lights = aurora()
    darkest = min(drawn(lights, moment)[0][25:65, 70:140].min() for moment in np.arange(0, 1, 0.02))

    assert darkest > 110 * (1 - 0.8 * 0.6)  # curtains are four fifths of that light
