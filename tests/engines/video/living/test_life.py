import numpy as np
import pytest

from kit.engines.film.animate.relief import Relief
from kit.engines.film.filming import Take
from kit.engines.film.living.life import Clouds, Hours, Ripples, open_water, still_water
from tests.engines.video.showing import textured

TAKE = Take(width=160, height=90, fps=24, frames=96, motion=0.5, loop=True)
ONCE = Take(width=160, height=90, fps=24, frames=96, motion=0.5)


def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def planes(luma: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    half = np.full((45, 80), 128, np.uint8)
    return np.full((90, 160), luma, np.uint8), half, half.copy()


def test_hours_pass_from_the_first_painting_to_the_last() -> None:
    hours = Hours([planes(200), planes(120), planes(20)], loop=False)

    lights = [int(hours.at(moment)[0][0, 0]) for moment in (0.0, 0.25, 0.5, 0.75, 1.0)]

    assert lights == [200, 160, 120, 70, 20]


def test_an_hour_stays_a_while_before_the_next_comes() -> None:
    hours = Hours([planes(200), planes(120), planes(20)], loop=False)

    assert [int(hours.at(moment)[0][0, 0]) for moment in (0.07, 0.43, 0.57)] == [200, 120, 120]


def test_in_a_loop_the_first_hour_comes_back() -> None:
    hours = Hours([planes(200), planes(20)], loop=True)

    assert hours.at(0.5)[0][0, 0] == 20
    assert hours.at(1.0)[0][0, 0] == 200


def test_hours_say_how_much_of_each_painting_is_seen() -> None:
    hours = Hours([planes(200), planes(120), planes(20)], loop=False)

    seen = [[hours.share(number, moment) for number in range(3)] for moment in (0.0, 0.75, 1.0)]
    assert seen == [[1, 0, 0], [0, 0.5, 0.5], [0, 0, 1]]
    assert Hours([planes(90)], loop=False).share(0, 0.3) == 1


def test_only_several_hours_pass() -> None:
    assert not Hours([planes(90)], loop=False).pass_by
    assert Hours([planes(90), planes(20)], loop=False).pass_by


@pytest.mark.parametrize("take", [TAKE, ONCE])
def test_clouds_drift_over_the_sky_alone(take: Take) -> None:
    sky = np.zeros((90, 160), np.float32)
    sky[:50] = 1
    clouds = Clouds((160, 90), sky, 0.55, take, rng())

    def drawn(moment: float) -> np.ndarray:
        found = planes(120)[0]
        clouds.light_up(found)
        clouds.draw(found, moment)
        return found.astype(int)

    assert np.abs(drawn(0.0) - drawn(0.25)).max() > 2
    assert (drawn(0.3)[56:] == 120).all()
    assert (drawn(0.3) >= 120).all()
    if take.loop:
        assert np.abs(drawn(0.0) - drawn(1.0)).max() <= 1


def test_clouds_may_be_thinner() -> None:
    def drawn(dense: float) -> np.ndarray:
        sky = np.ones((90, 160), np.float32)
        clouds = Clouds((160, 90), sky, 0.55, ONCE, rng(), dense)
        found = planes(120)[0]
        clouds.light_up(found)
        clouds.draw(found, 0.3)
        return found.astype(int) - 120

    assert 0.4 < drawn(0.5).sum() / drawn(1.0).sum() < 0.6


def test_ripples_lie_where_their_mask_says_margins_and_all() -> None:
    take = Take(width=160, height=90, fps=24, frames=96, motion=1.0)
    relief = Relief(np.zeros((90, 160), np.float32), take)
    mask = np.zeros((relief.height, relief.width), np.float32)
    mask[:, : relief.width // 4] = 0.02
    ripples = Ripples(mask, (12, 6), take, relief, rng())
    maps = (np.zeros((45, 80), np.float32), np.zeros((45, 80), np.float32))
    ripples.turn_to(0.1)
    ripples(maps)

    end = (relief.width // 4 - (relief.width - 160) // 2) / 2
    assert np.flatnonzero(np.abs(maps[0]).max(axis=0))[-1] == pytest.approx(end, abs=1)


def test_ripples_come_around_and_stay_within_their_mask() -> None:
    mask = np.zeros((45, 80), np.float32)
    mask[30:] = 0.02
    relief = Relief(np.zeros((90, 160), np.float32), TAKE)
    ripples = Ripples(mask, (12, 6), TAKE, relief, rng())

    def moved(moment: float) -> np.ndarray:
        maps = (np.zeros((45, 80), np.float32), np.zeros((45, 80), np.float32))
        ripples.turn_to(moment)
        ripples(maps)
        return np.stack(maps)

    assert np.abs(moved(0.1)[:, 32:]).mean() > 0.3
    assert np.abs(moved(0.1)[:, :25]).max() == 0
    assert np.allclose(moved(0.0), moved(1.0), atol=1e-4)


def test_clouds_are_bright_by_day_and_barely_seen_by_night() -> None:
    clouds = Clouds((160, 90), np.ones((90, 160), np.float32), 0.55, ONCE, rng())

    def added(light: int) -> float:
        found = planes(light)[0]
        clouds.light_up(found)
        clouds.draw(found, 0.3)
        return float((found.astype(int) - light).mean())

    assert added(180) > 3 * added(12)


def test_water_is_what_lies_smooth_below_the_horizon() -> None:
    picture = np.full((108, 192, 3), 120, np.uint8)
    picture[:, 96:] = textured(192, 108)[:, 96:] * 2

    mask = still_water(picture, 0.5)

    assert mask[:50].max() == 0
    assert mask[90, :80].min() > 0.0015
    assert mask[90, 110:].mean() < 0.2 * mask[90, :80].mean()


def test_waves_heave_the_more_the_nearer_they_are() -> None:
    mask = open_water(np.ones((100, 160), np.float32), 0.4)

    assert mask[:42].max() == 0
    assert (np.diff(mask[:, 0]) >= 0).all()
    assert mask[-1, 0] > 0.01
