from dataclasses import replace

import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting.families import paint
from kit.engines.painting.land import eruption, volcano
from kit.engines.painting.land.relief import grid
from kit.engines.painting.land.vista import Vista, vista
from kit.engines.prompt.brief import Brief, read


def brief(prompt: str, seed: int = 1, aspect: str = "1:1", size: int = 160) -> Brief:
    return read(prompt, {"aspect_ratio": aspect, "size": size, "detail": "low"}, seed)


def painted(prompt: str, seed: int = 1, aspect: str = "1:1") -> np.ndarray:
    return paint(brief(prompt, seed, aspect), Progress()).astype(int)


def scene_of(prompt: str, seed: int = 1, aspect: str = "1:1") -> Vista:
    return vista(brief(prompt, seed, aspect), horizon=0.46, height=6.5)


def fire(picture: np.ndarray) -> int:
    """Return how many pixels shine as lava does."""
    red, green, blue = (picture[..., number] for number in range(3))
    return int(((red > 190) & (red > green + 50) & (green > blue)).sum())


@pytest.mark.parametrize("aspect", ["1:1", "16:9", "9:16"])
@pytest.mark.parametrize("seed", range(3))
def test_a_volcano_ends_within_the_frame(seed: int, aspect: str) -> None:
    scene = scene_of("a volcano at noon", seed, aspect)
    cone = volcano.cone_of(scene, away=560.0)
    assert cone

    camera = scene.camera
    assert 0.08 * camera.horizon < camera.row(cone.top, cone.z) < 0.75 * camera.horizon
    assert 0 < camera.column(cone.x, cone.z) < camera.columns


def test_smoke_has_room_above_an_erupting_one() -> None:
    tall, low = (
        volcano.cone_of(replace(scene_of("Mount Fuji"), brief=brief(words)), away=560.0)
        for words in ("Mount Fuji", "Mount Fuji erupting")
    )

    assert tall is not None
    assert low is not None
    assert tall.rise > 1.2 * low.rise


def test_the_top_is_a_crater() -> None:
    scene = scene_of("a volcano at noon")
    cone = volcano.cone_of(scene, away=560.0)
    assert cone
    heights = volcano.raised(np.zeros((scene.points,) * 2, np.float32), cone, scene)
    x, z = grid(scene.points)
    away = np.hypot(x - cone.x, z - cone.z)

    ring = heights[np.abs(away - 1.1 * cone.crater) < 3].mean()
    assert heights[away < 0.3 * cone.crater].mean() < ring - 0.15 * cone.rise
    assert ring > 0.8 * cone.rise
    assert heights[np.abs(away - 0.6 * cone.radius) < 3].mean() < 0.45 * ring


def test_no_hill_hides_a_volcano() -> None:
    scene = scene_of("a volcano at noon")
    cone = volcano.cone_of(scene, away=560.0)
    assert cone
    heights = volcano.raised(np.full((scene.points,) * 2, 90, np.float32), cone, scene)
    x, z = grid(scene.points)
    before = (np.abs(x - cone.x * z / cone.z) < 10) & (z > 20) & (z < 250)
    eye = scene.camera.height

    # Seen from the eye, the upper half of the cone stands over what is before it.
    rise = ((heights - eye) / np.maximum(z, 1))[before].max()
    assert rise < (0.5 * cone.top - eye) / cone.z


@pytest.mark.parametrize("place", ["over a lake", "in the sea", "in the desert"])
def test_lava_shines_at_night_wherever_it_erupts(place: str) -> None:
    erupting = painted(f"an erupting volcano {place} on a clear night", 3)
    asleep = painted(f"a dormant volcano {place} on a clear night", 3)

    assert fire(erupting) > 120 > 20 * fire(asleep)


def test_an_eruption_shows_by_day_as_well() -> None:
    assert fire(painted("an erupting volcano at noon, clear")) > 15
    assert fire(painted("a volcano at noon, clear")) == 0


def test_still_water_mirrors_an_eruption() -> None:
    picture = painted("an erupting volcano over a calm lake, mirror, night", 7)

    assert fire(picture[round(0.5 * 160) :]) > 20


def test_snow_lies_on_the_tops_that_are_known_for_it() -> None:
    def white(prompt: str) -> int:
        upper = painted(f"{prompt}, clear cloudless noon", 2)[:70]
        return int(((upper.min(axis=2) > 150) & (np.ptp(upper, axis=2) < 40)).sum())

    assert white("Mount Fuji in summer") > 150 + white("a volcano without smoke in summer")


@pytest.mark.parametrize(
    ("prompt", "does"),
    [
        ("a volcano", "smoking"),
        ("an active volcano", "erupting"),
        ("Krakatoa", "erupting"),
        ("a dormant volcano", "asleep"),
        ("a volcano without smoke", "asleep"),
        ("Mount Fuji", "asleep"),
        ("Mount Fuji in eruption", "erupting"),
    ],
)
def test_words_wake_a_volcano(prompt: str, does: str) -> None:
    assert volcano.activity(brief(prompt)) == does


def test_smoke_rises_over_the_crater_and_nowhere_else() -> None:
    scene = scene_of("an erupting volcano at noon")
    cone = volcano.cone_of(scene, away=560.0)
    assert cone
    planes = np.full((3, 160, 160), 0.5, np.float32)
    eruption.smoke(scene, planes, cone)
    changed = np.abs(planes - 0.5).max(axis=0) > 0.05
    row = round(scene.camera.row(cone.top, cone.z))

    assert changed[: row - 10, round(scene.camera.column(cone.x, cone.z))].mean() > 0.8
    assert not changed[row + 30 :].any()
