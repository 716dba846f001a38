import numpy as np
import pytest

from kit.engines.painting.heightfield.grain import grains
from kit.engines.painting.heightfield.patches import Atlas, box_of, patch, repeated
from kit.engines.painting.heightfield.terrain import GRID, TEXEL, Station
from kit.engines.painting.heightfield.visible import Seen
from kit.engines.painting.heightfield.walls import Walls, rock
from kit.engines.painting.heightfield.woods import crowns

AT = Station(x=-30.0, y=1010.0, heading=0.4, height=20.0, horizon=0.4, bank=0.0)
NO_WOODS = np.zeros((GRID, GRID), np.uint8)
BOX = box_of([AT], 0.6)
#: Rises to the right and downward, by a step at the seam.
SLOPE = (np.arange(GRID)[None] + 2 * np.arange(GRID)[:, None]).astype(np.float32) * TEXEL


def tiles_of(kind: str, crowns_: np.ndarray | None = None, heading: float = 0.4) -> dict:
    rng = np.random.default_rng(1)
    if crowns_ is None:
        crowns_ = crowns(rng, 6, 5.0, pointed=0.8)[1][..., 0]
    return grains(kind, (0.8, 0.4, 0.45), rng, crowns_, heading)


def colors() -> np.ndarray:
    plane = np.zeros((GRID, GRID, 4), np.uint8)
    plane[..., 0] = (np.arange(GRID) // 16 % 2) * 200
    plane[..., 3] = 77
    return plane


@pytest.mark.parametrize("fineness", [8.0, 2.0, 1.0, 0.5])
def test_a_patch_tells_the_land_at_places_of_the_world(fineness: float) -> None:
    part = patch(SLOPE, (10.0, 20.0, 60.0, 70.0), fineness)
    x, y = np.meshgrid(np.linspace(12, 58, 9), np.linspace(22, 68, 9))
    out = np.empty(x.shape, np.float32)
    part.into(out, x.astype(np.float32), y.astype(np.float32))

    assert out == pytest.approx(x + 2 * y, abs=0.6)


def test_a_box_holds_everything_that_is_seen_up_to_a_distance() -> None:
    left, upper, right, lower = BOX(100.0)
    for turn in (-0.6, 0.0, 0.6):
        forward = np.array([np.sin(0.4), np.cos(0.4)])
        point = np.array([AT.x, AT.y]) + 100 * (
            forward + turn * np.array([forward[1], -forward[0]])
        )
        assert left - 1e-3 <= point[0] <= right + 1e-3
        assert upper - 1e-3 <= point[1] <= lower + 1e-3


@pytest.mark.parametrize("away", [20.0, 60.0, 100.0, 200.0])
def test_an_atlas_shows_the_same_colors_from_every_distance(away: float) -> None:
    atlas = Atlas(colors(), BOX, 300.0, NO_WOODS, {})
    # The middles of stripes, where no filter reaches over a border.
    middle = AT.x + 0.2 * away
    x = (np.arange(-5, 6, dtype=np.float32) * 8 + 4 + middle - middle % 8)[None]
    x = x[:, np.abs(x[0] - middle) < 0.2 * away]
    y = np.full_like(x, AT.y + 0.46 * away)
    shown = atlas.seen(x, y, np.full_like(x, 1 / away))

    expected = (np.floor(x / 8).astype(int) % 2) * 200
    assert np.abs(shown[..., 0].astype(int) - expected).max() < 40
    assert (shown[..., 3] == 77).all()


@pytest.mark.parametrize("wooded", [0, 255])
def test_grain_changes_near_ground_but_not_how_bright_it_is(wooded: int) -> None:
    plain = np.full((GRID, GRID, 4), 120, np.uint8)
    woods = np.full((GRID, GRID), wooded, np.uint8)
    tiles = tiles_of("alps")
    atlas = Atlas(plain, BOX, 300.0, woods, tiles)
    grid = np.linspace(-3, 3, 24, dtype=np.float32)
    x, y = np.meshgrid(AT.x + 3 + grid, AT.y + 7 + grid)
    near, far = (atlas.seen(x, y, np.full_like(x, 1 / away)) for away in (15.0, 200.0))

    assert near[..., 0].std() > 5 > far[..., 0].std()
    assert near[..., 0].mean() == pytest.approx(120, abs=6)
    assert (near[..., 3] == 120).all()


@pytest.mark.parametrize("kind", ["alps", "hills", "forest", "islands", "desert", "canyon"])
def test_tiles_are_about_middle_gray(kind: str) -> None:
    tiles = tiles_of(kind).values()

    for tile in (part for both in tiles for part in (both.ground, both.leaves)):
        assert tile.mean() == pytest.approx(128, abs=4)
        assert 2 < tile.std() < 40


@pytest.mark.parametrize("kind", ["alps", "islands", "canyon"])
def test_rock_is_about_middle_gray(kind: str) -> None:
    tile = rock(kind, np.random.default_rng(1))

    assert tile.mean() == pytest.approx(128, abs=6)
    assert 2 < tile.std() < 40


def test_rock_shows_on_dry_walls_only() -> None:
    at = np.linspace(0, 40, 80, dtype=np.float32)
    height, x = (np.ascontiguousarray(plane) for plane in np.meshgrid(at, at, indexing="ij"))
    none = np.zeros(0, np.intp)
    flat = np.full_like(x, 100.0)
    edges = none, none, np.zeros(0, np.float32)
    seen = Seen(0, flat, 1 / flat, x, flat, height, x < 0, edges)
    wet = np.zeros(x.shape, np.uint8)
    wet[40:] = 255
    luma = np.full(x.shape, 120, np.uint8)
    Walls("canyon", np.random.default_rng(1)).lay(luma, wet, seen)

    assert luma[:38].std() > 5
    assert (luma[42:] == 120).all()


def test_branches_follow_the_crowns_that_stand_there() -> None:
    # Between crowns it is dark, wherever on the map they stand.
    crowns_ = np.zeros((64, 64), np.uint8)
    crowns_[16:48, 16:48] = 200
    tile = tiles_of("hills", crowns_)[8.0].leaves.astype(int)

    assert tile.shape == (256, 256)
    assert tile[80:176, 80:176].mean() > tile[:48].mean() + 20


def test_ground_is_as_smooth_along_a_flight_as_it_looks_across() -> None:
    tile = tiles_of("hills", heading=0.0)[8.0].ground.astype(float)
    along, across = (np.abs(np.diff(tile, axis=axis)).mean() for axis in (0, 1))

    assert along < 0.6 * across


def test_grain_is_faint_under_water() -> None:
    grid = np.linspace(-3, 3, 24, dtype=np.float32)
    x, y = np.meshgrid(AT.x + 3 + grid, AT.y + 7 + grid)

    def grained(wet: int) -> float:
        plain = np.full((GRID, GRID, 4), 120, np.uint8)
        plain[..., 3] = wet
        atlas = Atlas(plain, BOX, 300.0, NO_WOODS, tiles_of("alps"))
        return float(atlas.seen(x, y, np.full_like(x, 1 / 15.0))[..., 0].std())

    assert 0.2 * grained(120) < grained(255) < 0.5 * grained(120)


def test_a_turned_atlas_shows_the_same() -> None:
    one, other = (Atlas(colors(), BOX, 300.0, NO_WOODS, {}, turned=turn) for turn in (False, True))
    grid = np.linspace(0, 60, 48, dtype=np.float32)
    x, y = np.meshgrid(AT.x + 0.4 * grid, AT.y + grid)
    away = (1 / np.maximum(grid, 6.0))[:, None].repeat(48, axis=1)

    assert np.abs(one.seen(x, y, away).astype(int) - other.seen(x, y, away)).max() <= 2


@pytest.mark.parametrize("kind", ["alps", "hills", "forest", "islands", "canyon"])
def test_grain_fades_with_distance_and_does_not_end_at_once(kind: str) -> None:
    tiles = tiles_of(kind)
    far, middle, near = (tiles[level].ground.astype(int).std() for level in (2.0, 4.0, 8.0))

    assert 0.15 * middle < far < 0.6 * middle
    assert middle < near


def test_a_tile_repeats_without_end_or_seam() -> None:
    tile = np.pad(np.arange(64, dtype=np.float32).reshape(8, 8), 1, mode="wrap")
    x, y = (
        np.array([[2.0, 10.0, -6.0, 7.5]], np.float32),
        np.array([[1.0, 9.0, -7.0, 1.0]], np.float32),
    )

    assert repeated(tile, x, y).tolist() == [[10.0, 10.0, 10.0, 11.5]]
