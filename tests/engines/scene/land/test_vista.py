import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting.families import paint
from kit.engines.painting.land.vista import level_of, vista
from kit.engines.prompt.brief import Brief, read

SIZE = 128


def brief(prompt: str, seed: int = 1, aspect: str = "1:1", size: int = SIZE) -> Brief:
    return read(prompt, {"aspect_ratio": aspect, "size": size, "detail": "low"}, seed)


def painted(prompt: str, seed: int = 1, aspect: str = "1:1", size: int = SIZE) -> np.ndarray:
    return paint(brief(prompt, seed, aspect, size), Progress())


@pytest.mark.parametrize(
    "word", ["wide", "close", "low", "aerial", "centered", "minimal", "cinematic", "rule of thirds"]
)
def test_every_composition_word_moves_the_camera_or_the_light(word: str) -> None:
    def stands(prompt: str) -> tuple[float, ...]:
        scene = vista(brief(prompt), horizon=0.46, height=6.5)
        camera = scene.camera
        return camera.focal, camera.horizon, camera.height, scene.subject

    plain, directed = stands("clear lake at noon"), stands(f"clear {word} lake at noon")
    # The middle of the frame is no matter of luck; the other measures are no matter of the seed.
    apart = [abs(one - other) > 0.05 * abs(one) for one, other in zip(plain, directed, strict=True)]

    assert any(apart[:3]) or directed[3] == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_thirds_hold_the_horizon_the_subject_and_the_sun(seed: int) -> None:
    scene = vista(brief("rule of thirds lake at dawn", seed), horizon=0.46, height=6.5)

    assert scene.camera.horizon == pytest.approx(SIZE * 2 / 3)
    assert abs(scene.subject) == pytest.approx(1 / 3)
    assert scene.sun.x == pytest.approx(SIZE * (0.5 - 0.5 * scene.subject))


def test_a_horizon_stays_in_the_frame() -> None:
    assert level_of(0.6, ("low", "minimal", "dramatic")) <= 0.8
    assert level_of(0.4, ("thirds", "high")) == pytest.approx(1 / 3)


def test_a_forest_from_above_shows_sky_over_crowns() -> None:
    above, within = (
        painted(f"clear {words} forest at noon", 3).astype(int) for words in ("aerial pine", "pine")
    )
    blue = [(one[:14, :, 2] - one[:14, :, 0]).mean() for one in (above, within)]

    assert blue[0] > blue[1] + 20  # sky, where there would be boughs
    assert (above[90:, :, 1] >= above[90:, :, 2]).mean() > 0.8  # trees, down to the lower edge


@pytest.mark.parametrize("season", ["winter", "autumn", "spring"])
def test_a_forest_from_above_has_its_season(season: str) -> None:
    picture = painted(f"clear aerial oak forest at noon, {season}", 2)[70:].astype(int)
    red, green, blue = picture.reshape(-1, 3).mean(axis=0)

    assert {
        "winter": abs(red - blue) < 30,
        "autumn": red > green + 5 > blue,
        "spring": green > red and green > blue + 15,
    }[season]


@pytest.mark.parametrize("aspect", ["2:3", "4:5", "1:1"])
def test_no_wall_of_grass_stands_before_a_lake(aspect: str) -> None:
    picture = painted("lake at dawn", 2, aspect, size=192).astype(float)
    rows = picture.mean(axis=(1, 2))
    lower = rows[round(0.72 * len(rows)) :]

    # The edge at which a wall ends is a step between rows; grass is alike down to the frame.
    assert np.abs(lower[4:] - lower[:-4]).max() < 14


def test_a_low_meadow_has_grass() -> None:
    picture = painted("meadow at noon", 6, "9:16", size=384).astype(float)
    green = picture[-110:, :, 1]
    rough = green - (np.roll(green, 3, 1) + np.roll(green, -3, 1)) / 2

    assert (np.abs(rough) > 16).mean() > 0.01
