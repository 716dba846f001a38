import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting.heightfield.air import Air
from kit.engines.painting.heightfield.covers import cover_of, tinted
from kit.engines.painting.heightfield.ground import colored
from kit.engines.painting.heightfield.light import light_of
from kit.engines.painting.heightfield.terrain import GRID, TEXEL, Land
from kit.engines.painting.heightfield.visible import Seen
from kit.engines.painting.land.look import look_for
from kit.engines.prompt.brief import read

LOOK = look_for(read("noon", {"aspect_ratio": "1:1", "size": 512, "palette": "auto"}, 1))
NO_WOODS = np.zeros((GRID, GRID), np.uint8)
NO_TREES = np.zeros((1, 1, 2), np.uint8)


def block(height: float) -> Land:
    """Return a plain at 10, half of it under water at 6, with a block on it."""
    heights = np.full((GRID, GRID), 10.0, np.float32)
    heights[:, : GRID // 2] = 0.0
    heights[900:1100, 1500:1600] += height
    return Land("alps", heights, 6.0, NO_WOODS, NO_TREES)


def painted(
    ground: Land, season: str = "summer", toward: tuple[float, float] = (1.0, 0.0)
) -> np.ndarray:
    light = light_of(LOOK, toward)
    return colored(
        ground, cover_of(ground.kind, season), LOOK, light, np.random.default_rng(1), Progress()
    )


def test_water_is_marked_where_the_bottom_lies_lower() -> None:
    wet = painted(block(0.0))[..., 3]

    assert (wet[:, 20 : GRID // 2 - 20] == 255).all()
    assert (wet[:, GRID // 2 + 20 : -20] == 0).all()


def test_a_block_throws_its_shadow_away_from_the_sun() -> None:
    picture = painted(block(40.0))[..., :3].astype(int)
    reach = round(20 / TEXEL)
    before, behind = (
        picture[980:1020, columns].mean()
        for columns in (slice(1610, 1610 + reach), slice(1490 - reach, 1490))
    )

    assert behind < 0.75 * before


def test_trees_are_light_at_their_tips_and_each_has_a_color_of_its_own() -> None:
    plain = np.full((GRID, GRID), 10.0, np.float32)
    crowns = np.zeros((8, 8, 2), np.uint8)
    crowns[4:, :, 0] = 255
    crowns[:, 4:, 1] = 127
    wooded = Land("forest", plain, 6.0, np.full((GRID, GRID), 255, np.uint8), crowns)
    picture = painted(wooded)[..., :3].astype(int)
    gap, tip = picture[0::8], picture[6::8]
    one, other = tip[:, 1::8].reshape(-1, 3), tip[:, 6::8].reshape(-1, 3)

    assert tip.mean() > 1.5 * gap.mean()
    assert np.abs(one.mean(axis=0) - other.mean(axis=0)).max() > 8


def test_a_wood_is_dark_at_its_rim() -> None:
    plain = np.full((GRID, GRID), 10.0, np.float32)
    crowns = np.full((8, 8, 2), 255, np.uint8)
    woods = NO_WOODS.copy()
    woods[:, 1000:] = 130  # the rim
    woods[:, 1010:] = 255
    picture = painted(Land("hills", plain, 6.0, woods, crowns))[..., :3].astype(int)
    field, rim, wood = (picture[:, columns].mean() for columns in ((990,), (1005,), (1020,)))

    assert rim < 0.75 * wood
    assert rim < 0.6 * field


def test_snow_lies_on_the_tips_of_trees() -> None:
    plain = np.full((GRID, GRID), 10.0, np.float32)
    crowns = np.zeros((8, 8, 2), np.uint8)
    crowns[4:, :, 0] = 255
    wooded = Land("hills", plain, 6.0, np.full((GRID, GRID), 255, np.uint8), crowns)
    picture = painted(wooded, "winter")[..., :3].astype(int)

    assert picture[0::8].mean() < 110 < 140 < picture[6::8].mean()


def test_in_winter_the_land_is_white() -> None:
    summer, winter = (
        painted(block(40.0), season)[..., :3][:, 1700:1900] for season in ("summer", "winter")
    )

    assert winter.mean() > summer.mean() + 30
    assert np.ptp(winter.mean(axis=(0, 1))) < 30


@pytest.mark.parametrize("kind", ["alps", "hills", "forest", "islands", "desert", "canyon"])
def test_autumn_changes_the_woods_only_where_leaves_turn(kind: str) -> None:
    turned = cover_of(kind, "autumn").wood != cover_of(kind, "summer").wood

    assert turned == (kind in ("alps", "hills", "forest"))


def test_a_cover_turns_to_the_colors_that_are_asked_for() -> None:
    plain = cover_of("hills", "summer")
    green = tinted(plain, (148, 0.12), None)
    blue = tinted(plain, None, (198, 0.11))

    assert green.growth[0][1] > plain.growth[0][1]
    assert green.water == plain.water
    assert abs(blue.water[0][2] - 198) < abs(plain.water[0][2] - 198)
    assert blue.growth == plain.growth


def seen(away: np.ndarray, height: float) -> Seen:
    none = np.zeros(0, np.intp)
    far = away.astype(np.float32)[None]
    inverse = 1 / far
    still = np.zeros_like(inverse)
    up = np.full_like(inverse, height)
    return Seen(0, far, inverse, still, still, up, still > 0, (none, none, still[0, :0]))


def test_air_takes_more_with_distance_and_everything_at_the_end_of_the_world() -> None:
    away = np.linspace(20, 1300, 50)
    fog = Air(LOOK, 0.0).fog(seen(away, 5.0), 20.0)[0]

    assert fog[0] == 0.0
    assert (np.diff(fog) >= 0).all()
    assert fog[-1] == pytest.approx(1.0)


def test_summits_stand_clearer_than_valleys() -> None:
    low, high = (Air(LOOK, 0.0).fog(seen(np.array([500.0]), h), 20.0)[0, 0] for h in (0.0, 150.0))

    assert high < 0.8 * low
