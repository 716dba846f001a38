import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting.families import paint
from kit.engines.painting.land import sky
from kit.engines.painting.land.vista import vista
from kit.engines.prompt.brief import read


def skies(prompt: str, seed: int, aspect: str = "1:1", size: int = 256) -> np.ndarray:
    """Return the sky above the horizon, planes of light."""
    scene = vista(
        read(prompt, {"aspect_ratio": aspect, "size": size}, seed), horizon=0.5, height=8.0
    )
    planes = sky.painted(scene.look, scene.camera, scene.sun, scene.dice(3), Progress())
    return planes[:, : int(scene.camera.horizon)]


@pytest.mark.parametrize("aspect", ["16:9", "1:1", "9:16"])
def test_northern_lights_shine_with_any_seed(aspect: str) -> None:
    for seed in range(40):
        shining = skies("northern lights over mountains, clear", seed, aspect, 128)
        plain = skies("mountains at night, clear", seed, aspect, 128)
        assert shining[1].mean() > 1.05 * plain[1].mean()


def test_the_milky_way_is_a_bright_band_across_a_sky_without_a_moon() -> None:
    for seed in range(3):
        starry = skies("milky way over the mountains", seed)
        plain = skies("mountains in a starry night, crescent", seed)
        rows = starry[:, 40:100].mean(axis=(0, 1))
        assert rows.max() > 2.0 * np.percentile(rows, 10)
        assert np.percentile(starry, 95) > np.percentile(plain, 95)


def test_no_milky_way_shows_by_day_or_through_clouds() -> None:
    for prompt in ("milky way over a lake at noon", "milky way over a lake in rain"):
        brief = read(prompt, {"aspect_ratio": "1:1", "size": 128}, 3)
        assert not vista(brief, horizon=0.5, height=8.0).look.milky


def test_the_sky_of_mars_is_the_color_of_its_dust() -> None:
    red, _, blue = skies("mars at noon, clear", 3).mean(axis=(1, 2))
    earthly = skies("desert at noon, clear", 3).mean(axis=(1, 2))

    assert red > 1.1 * blue
    assert earthly[2] > 1.1 * earthly[0]


def test_a_fog_by_night_is_lit_by_the_street() -> None:
    foggy, clear = (
        paint(read(f"street at night, {word}", {"aspect_ratio": "1:1", "size": 256}, 3), Progress())
        for word in ("fog", "clear")
    )
    assert foggy[40:120].mean() > 1.5 * clear[40:120].mean()
    assert foggy[40:120].mean() > 60


def test_a_named_color_shows_in_a_lake_at_any_hour() -> None:
    for hour in ("noon", "sunset"):
        tinted, plain = (
            paint(
                read(
                    f"{word} lake at {hour}, calm, clear", {"aspect_ratio": "1:1", "size": 256}, 3
                ),
                Progress(),
            )[150:200]
            .astype(float)
            .mean(axis=(0, 1))
            for word in ("a turquoise", "an alpine")
        )
        assert tinted[1] - tinted[0] > plain[1] - plain[0] + 12


def test_woods_from_above_stand_in_patches() -> None:
    brief = read("aerial pine forest at noon, clear", {"aspect_ratio": "1:1", "size": 256}, 3)
    woods = paint(brief, Progress())[120:].astype(float)

    tiles = woods[:128].reshape(8, 16, 16, 16, 3).mean(axis=(1, 3))
    assert np.ptp(tiles[..., 1]) > 30
