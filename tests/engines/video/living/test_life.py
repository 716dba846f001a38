import numpy as np
import pytest

from kit.engines.video.filming import Take
from kit.engines.video.living.life import Clouds, Flicker, Hours, Ripples, open_water, still_water
from tests.engines.video.showing import textured

TAKE = Take(width=160, height=90, fps=24, frames=96, motion=0.5, loop=True)
ONCE = Take(width=160, height=90, fps=24, frames=96, motion=0.5)


def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def planes(luma: int) -> tuple[np.ndarray, np.ndarray]:
    return np.full((90, 160), luma, np.uint8), np.full((45, 80, 2), 128, np.uint8)


def test_hours_pass_from_the_first_painting_to_the_last() -> None:
    hours = Hours([planes(200), planes(120), planes(20)], loop=False)

    lights = [int(hours.at(moment)[0][0, 0]) for moment in (0.0, 0.25, 0.5, 0.75, 1.0)]

    assert lights == [200, 160, 120, 70, 20]


def test_in_a_loop_the_first_hour_comes_back() -> None:
    hours = Hours([planes(200), planes(20)], loop=True)

    assert hours.at(0.5)[0][0, 0] == 20
    assert hours.at(1.0)[0][0, 0] == 200


def test_a_painting_is_not_changed_by_what_is_drawn_on_it() -> None:
    painting = planes(90)
    Hours([painting], loop=False).at(0.3)[0][:] = 0

    assert painting[0].min() == 90


@pytest.mark.parametrize("take", [TAKE, ONCE])
def test_clouds_drift_over_the_sky_alone(take: Take) -> None:
    sky = np.zeros((90, 160), np.float32)
    sky[:50] = 1
    clouds = Clouds((160, 90), sky, 0.55, take, rng())

    def drawn(moment: float) -> np.ndarray:
        found = planes(120)
        clouds.draw(found, moment)
        return found[0].astype(int)

    assert np.abs(drawn(0.0) - drawn(0.25)).max() > 2
    assert (drawn(0.3)[56:] == 120).all()
    if take.loop:
        assert np.abs(drawn(0.0) - drawn(1.0)).max() <= 1


def test_only_small_lights_flicker() -> None:
    luma = np.full((90, 160), 30, np.uint8)
    luma[::10, ::10] = 240
    luma[60:, :] = 200
    flicker = Flicker(luma, TAKE, rng())

    def drawn(moment: float) -> np.ndarray:
        found = (luma.copy(), planes(0)[1])
        flicker.draw(found, moment)
        return found[0].astype(int)

    changed = np.abs(drawn(0.2) - drawn(0.45))
    assert changed[:50:10, ::10].max() > 20
    assert changed[70:].max() == 0
    assert np.array_equal(drawn(0.0), drawn(1.0))


def test_ripples_come_around_and_stay_within_their_mask() -> None:
    mask = np.zeros((45, 80), np.float32)
    mask[30:] = 0.02
    ripples = Ripples(mask, (12, 6), TAKE, rng())

    def moved(moment: float, share: float) -> np.ndarray:
        shape = (int(90 * share), int(160 * share))
        maps = (np.zeros(shape, np.float32), np.zeros(shape, np.float32))
        ripples.turn_to(moment)
        ripples(maps, share)
        return np.stack(maps)

    assert np.abs(moved(0.1, 1.0)[:, 64:]).mean() > 0.3
    assert np.abs(moved(0.1, 1.0)[:, :50]).max() == 0
    assert np.allclose(moved(0.0, 1.0), moved(1.0, 1.0), atol=1e-4)
    halves = moved(0.1, 1.0)[:, 64::2, ::2] / 2
    assert np.abs(moved(0.1, 0.5)[:, 32:] - halves).mean() < 0.1


def test_water_is_what_lies_smooth_below_the_horizon() -> None:
    picture = np.full((108, 192, 3), 120, np.uint8)
    picture[:, 96:] = textured(192, 108)[:, 96:] * 2

    mask = still_water(picture, 0.5)

    assert mask[:50].max() == 0
    assert mask[90, :80].min() > 0.0015
    assert mask[90, 110:].mean() < 0.2 * mask[90, :80].mean()


def test_waves_heave_the_more_the_nearer_they_are() -> None:
    mask = open_water(np.zeros((100, 160, 3), np.uint8), 0.4)

    assert mask[:42].max() == 0
    assert (np.diff(mask[:, 0]) >= 0).all()
    assert mask[-1, 0] > 0.01
