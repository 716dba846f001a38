from dataclasses import replace

import cv2
import numpy as np
import pytest

from kit.engines.film.filming import Take
from kit.engines.film.living.fire import Fountain, Lava
from kit.engines.film.living.stage import Stage
from kit.engines.painting.land import motion as stirring
from kit.engines.painting.land.voxel import FAR

LOOP = Take(width=320, height=240, fps=24, frames=120, loop=True)
COLUMN, RIM, UNIT = 160.0, 120.0, 18.0


def stage(take: Take = LOOP, away: np.ndarray | None = None) -> Stage:
    return Stage(320, 240, (240, 320), away, take)


def night() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return planes of a dark place with a red shine around a crater."""
    y, x = np.indices((120, 160), np.float32)
    shine = 70 * np.exp(-np.hypot(x - COLUMN / 2, y - RIM / 2) / 25)
    blue, red = 128 - 0.3 * shine, 128 + shine
    return np.full((240, 320), 90, np.uint8), blue.astype(np.uint8), red.astype(np.uint8)


def lava(take: Take = LOOP, heat: float = 1.0) -> Lava:
    window = slice(int(RIM), 220), slice(100, 220)
    down, aside = (np.asarray(p, np.float32) for p in np.mgrid[0.0:1.0:100j, -1.0:1.0:120j])
    stream = np.asarray(heat * (np.abs(aside) < 0.12), np.float32)
    told = stirring.Lava(
        window=window,
        heat=stream,
        glow=cv2.GaussianBlur(stream, (0, 0), 6.0) * 0.5,
        along=down,
        around=np.asarray(-0.25 + 0.05 * aside, np.float32),
        crater=(COLUMN, RIM),
        unit=UNIT,
    )
    made = Lava(told, stage(take), np.random.default_rng(5))
    made.light_up(night())
    return made


def drawn(fire: Lava | Fountain, moment: float) -> tuple[np.ndarray, ...]:
    planes = night()
    fire.draw(planes, moment)
    return planes


def changed(fire: Lava | Fountain, moment: float) -> np.ndarray:
    return drawn(fire, moment)[0].astype(int) - night()[0]


def crept(before: np.ndarray, after: np.ndarray) -> float:
    """Return by how many rows lumps of the stream went down."""
    parts = [np.asarray(part[126:214, 156:164], np.float32) for part in (before, after)]
    shifts = range(-9, 10)
    fits = [np.abs(np.roll(parts[0], step, 0)[12:-12] - parts[1][12:-12]).mean() for step in shifts]
    return float(shifts[int(np.argmin(fits))])


@pytest.mark.parametrize("loop", [True, False])
def test_lava_creeps_down(loop: bool) -> None:
    fire = lava(replace(LOOP, loop=loop))

    # 2.8 rows a second.
    assert 1 <= crept(drawn(fire, 0.0)[0], drawn(fire, 0.15)[0]) <= 4


def test_streams_are_lumpy_and_their_light_wavers_gently() -> None:
    fire = lava()
    stream = slice(126, 214), slice(156, 164)
    beside = slice(130, 150), slice(174, 190)

    assert np.abs(changed(fire, 0.2)[stream]).mean() > 8
    light = [changed(fire, moment)[beside].mean() for moment in np.linspace(0, 1, 60)]
    assert 2 < np.ptp(light) < 0.35 * 90
    assert changed(fire, 0.0)[beside].max() == 0  # as it is painted


def test_what_no_lava_lights_keeps_still() -> None:
    fire = lava()

    assert max(np.abs(changed(fire, at)[:, :10]).max() for at in np.linspace(0, 1, 12)) == 0


def test_a_crater_without_streams_only_glows() -> None:
    fire = lava(heat=0.0)
    light = [changed(fire, moment)[100:120, 150:170].mean() for moment in np.linspace(0, 1, 60)]

    assert np.ptp(light) > 2


def fountain(take: Take = LOOP, away: np.ndarray | None = None, power: float = 3.2) -> Fountain:
    dice = np.random.default_rng(9)
    stones = np.column_stack(
        [
            dice.standard_normal(80),
            0.2 * dice.standard_normal(80),
            dice.uniform(1.0, 4.0, 80),
            dice.uniform(0.0, 0.8, 80),
            dice.uniform(0.05, 0.15, 80),
            dice.uniform(0.4, 1.0, 80),
            dice.random(80),
        ]
    )
    told = stirring.Fountain(crater=(COLUMN, RIM), unit=UNIT, stones=stones, power=power)
    return Fountain(told, stage(take, away), np.random.default_rng(6), 0.0)


def test_stones_fly_over_the_crater_and_land_hides_them() -> None:
    away = np.full((240, 320), FAR, np.float32)
    away[int(RIM) :] = 500
    fire = fountain(away=away)

    for moment in (0.0, 0.3, 0.6):
        assert changed(fire, moment)[40:115, 130:190].max() > 120
        assert changed(fire, moment)[int(RIM) + 2 :].max() == 0
        assert changed(fire, moment)[:, :50].max() == 0


def test_fire_is_yellow_and_red() -> None:
    _, blue, red = drawn(fountain(), 0.2)

    assert blue[20:58, 65:95].min() < 90
    assert red[20:58, 65:95].max() > 170


def test_never_do_all_stones_lie_down_at_once() -> None:
    light = [
        changed(fountain(), moment)[20:118, 100:220].mean() for moment in np.linspace(0, 1, 40)
    ]

    assert min(light) > 0.4 * max(light)


def test_it_throws_less_light_by_day() -> None:
    dark, bright = (changed(fountain(power=power), 0.2).sum() for power in (3.2, 1.6))

    assert bright < 0.85 * dark


@pytest.mark.parametrize("make", [fountain, lava])
def test_a_loop_closes_and_a_seed_gives_the_same_fire(make: type[Fountain] | type[Lava]) -> None:
    fire = make()

    for one, other in zip(drawn(fire, 0.0), drawn(fire, 1.0), strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(drawn(fire, 0.4)[0], drawn(make(), 0.4)[0])
    assert not np.array_equal(drawn(fire, 0.4)[0], drawn(fire, 0.5)[0])
