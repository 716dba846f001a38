import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.painting.families import paint
from kit.engines.painting.land import coast, grove, oasis, palmery
from kit.engines.painting.land.palms import palms
from kit.engines.painting.land.relief import Relief, relief
from kit.engines.painting.land.vista import Vista, vista
from kit.engines.prompt.brief import Brief, read


def brief(prompt: str, seed: int = 1, aspect: str = "1:1", size: int = 192) -> Brief:
    return read(prompt, {"aspect_ratio": aspect, "size": size, "detail": "low"}, seed)


def painted(prompt: str, seed: int = 1, aspect: str = "1:1") -> np.ndarray:
    return paint(brief(prompt, seed, aspect), Progress()).astype(int)


def beach(prompt: str, seed: int = 1, aspect: str = "1:1") -> tuple[Vista, Relief]:
    scene = vista(brief(prompt, seed, aspect), horizon=0.47, height=4.6, raised=6.0)
    shore = coast.coast_of(scene.brief)
    assert shore.land == "beach"
    return scene, relief(coast.laid_out(scene, shore, None), scene.toward)


def test_trunks_and_crowns_belong_together() -> None:
    for trunk, crown in zip(palms().trunks, palms().crowns, strict=True):
        low, high = trunk.levels[0][0], crown.levels[0][0]
        top = int(np.flatnonzero(low.max(axis=1) > 0.5)[0])
        column = int(np.argmax(low[top]))

        assert low.shape == high.shape
        assert high[top - 20 : top + 20, column - 20 : column + 20].max() == 1.0
        assert high[round(0.8 * len(high)) :].max() == 0.0
        assert low[-1].max() > 0.5


@pytest.mark.parametrize("aspect", ["1:1", "16:9", "9:16"])
@pytest.mark.parametrize("seed", range(4))
def test_palms_of_a_beach_stand_on_dry_sand_and_end_within_the_frame(
    seed: int, aspect: str
) -> None:
    scene, land = beach("palms on a beach", seed, aspect)
    palms_ = grove.on_beach(scene, land, grove.hand_of(scene))
    foot = grove.ground_at(land, palms_.x, palms_.z)
    near = palms_.z < 80

    assert near.sum() >= 2
    assert len(palms_.z) > 20
    assert foot.min() > 0.5
    tops = [
        scene.camera.row(float(low + tall), float(z))
        for low, tall, z in zip(foot, palms_.tall, palms_.z, strict=True)
    ]
    assert min(tops) > 0


def test_minimal_beaches_have_few_palms_and_no_shrubs() -> None:
    scene, land = beach("palms on a beach, minimal")
    palms_ = grove.on_beach(scene, land, grove.hand_of(scene))

    assert 1 <= len(palms_.z) <= 2
    assert not len(palms_.shrubs[0])


@pytest.mark.parametrize(
    ("asked", "denied"),
    [
        ("beach with palms at noon, clear", "beach with no palms at noon, clear"),
        ("desert oasis at noon, clear", "desert oasis at noon, clear, no palms"),
    ],
)
def test_palms_are_green_and_denied_ones_are_not_there(asked: str, denied: str) -> None:
    def green(prompt: str) -> int:
        red, other, blue = np.moveaxis(painted(prompt, 4), 2, 0)
        return int(((other > red + 12) & (other > blue + 25)).sum())

    assert green(asked) > 150 > 10 * green(denied)


def test_palms_before_the_low_sun_are_dark() -> None:
    def darkest(prompt: str) -> float:
        picture = painted(prompt, 3, "16:9")[: round(0.45 * 108)]
        return float(np.percentile(picture.mean(axis=2), 2))

    assert darkest("beach with palms at sunset, clear") < 60
    assert darkest("beach without palms at sunset, clear") > 90


def test_palms_lay_shadows_on_the_ground() -> None:
    scene, land = beach("palms on a beach at noon")
    before = land.traits.copy()
    palms_ = grove.on_beach(scene, land, grove.hand_of(scene))
    palmery.shaded(land, palms_, scene.toward)

    assert (land.traits[..., :3] == before[..., :3]).all()
    assert (land.traits[..., 3] < 0.7 * before[..., 3]).sum() > 20
    assert (land.traits[..., 3] <= before[..., 3]).all()


@pytest.mark.parametrize("seed", range(3))
def test_an_oasis_is_a_pool_that_can_be_seen(seed: int) -> None:
    scene = vista(brief("a desert oasis", seed), horizon=0.40, height=17.0)
    pool = oasis.pool_of(scene)
    assert pool
    heights = oasis.sunk(np.full((scene.points,) * 2, 30, np.float32), pool, scene)
    land = Relief(heights, heights)
    way = np.linspace(0.1, 0.97, 40) * pool.z
    before = grove.ground_at(land, pool.x * way / pool.z, way)
    eye = scene.camera.height
    middle = grove.ground_at(land, np.array([pool.x]), np.array([pool.z]))[0]

    assert middle < pool.level
    assert (before < eye + (pool.level - eye) * way / pool.z + 0.5).all()


def test_a_lake_with_palms_has_them_on_its_bank() -> None:
    with_palms, without = (painted(f"lake {words}, clear noon", 2) for words in ("palms", "rocks"))

    assert with_palms.shape == without.shape
    assert np.abs(with_palms - without).mean() > 8


def test_planting_can_be_canceled() -> None:
    progress = Progress()
    progress.cancel()

    with pytest.raises(CanceledError):
        paint(brief("palms on a beach"), progress)
