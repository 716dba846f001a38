from dataclasses import replace

import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting.families import paint
from kit.engines.painting.space.cast import cast
from kit.engines.painting.space.holes import Hole, add_disk, lensed
from kit.engines.prompt.brief import read

SIZE = 200
HOLE = Hole(
    x=100.0, y=100.0, mass=4.4, tilt=0.0, above=np.radians(82), hues=(62.0, 42.0), chroma=1.0
)


def sky(bright: float) -> np.ndarray:
    return np.full((3, SIZE, SIZE), bright, np.float32)


def away() -> np.ndarray:
    down, right = np.indices((SIZE, SIZE))
    return np.hypot(right - HOLE.x, down - HOLE.y) / HOLE.mass


def disk(hole: Hole = HOLE) -> np.ndarray:
    picture = sky(0.0)
    add_disk(np.random.default_rng(1), picture, hole, Progress())
    return picture.mean(axis=0)


def test_no_light_comes_out_of_a_hole() -> None:
    seen = lensed(sky(1.0), HOLE)

    assert seen[:, away() < 5.1].max() == 0.0
    assert seen[:, away() > 5.7].min() > 0.99


def test_a_star_behind_a_hole_becomes_a_ring() -> None:
    stars = sky(0.0)
    stars[:, 97:104, 97:104] = 1.0
    seen = lensed(stars, HOLE).max(axis=0)

    assert seen[(away() > 9.2) & (away() < 9.8)].min() > 0.5
    assert seen[(away() < 8.0) | (away() > 11.5)].max() < 0.01


def test_stars_far_from_a_hole_stay_near_their_places() -> None:
    stars = sky(0.0)
    stars[:, 100, 30] = 1.0
    row, column = np.unravel_index(np.argmax(lensed(stars, HOLE)[0]), (SIZE, SIZE))

    assert row == 100
    assert 10 <= 30 - column <= 25


def test_the_far_side_of_the_disk_is_seen_over_and_under_the_hole() -> None:
    shine = disk()
    over = shine[round(HOLE.y - 8.2 * HOLE.mass), 92:109]
    under = shine[round(HOLE.y + 6.4 * HOLE.mass), 92:109]
    before = shine[round(HOLE.y + 1.0 * HOLE.mass) - 3 : round(HOLE.y + 1.0 * HOLE.mass) + 4, 100]
    dark = shine[round(HOLE.y - 3.0 * HOLE.mass), 95:106]

    assert min(over.max(), under.max(), before.max()) > 0.1
    assert dark.max() < 0.02


def test_the_side_that_comes_toward_the_eye_is_brighter() -> None:
    shine = disk()
    rows = slice(round(HOLE.y) - 12, round(HOLE.y) + 13)
    left, right = shine[rows, 30:72].mean(), shine[rows, 128:170].mean()

    assert left > 2.0 * right


def test_a_disk_seen_from_above_is_rounder() -> None:
    def tall(hole: Hole) -> float:
        rows = np.flatnonzero(disk(hole)[:, 60] > 0.02)
        return float(np.ptp(rows))

    assert tall(replace(HOLE, above=np.radians(45))) > 1.5 * tall(HOLE)


def test_another_sky_is_seen_in_a_wormhole() -> None:
    picture = sky(0.0)
    picture[2] = 0.6  # a blue sky on this side
    seen = lensed(picture, replace(HOLE, open=True))[:, away() < 4.0].mean(axis=1)

    assert seen.max() > 0.3
    assert seen[2] < seen.max()


@pytest.mark.parametrize(
    ("prompt", "open_"), [("a black hole", False), ("a wormhole", True), ("Gargantua", False)]
)
def test_words_open_a_hole(prompt: str, open_: bool) -> None:
    for seed in range(3):
        brief = read(prompt, {"aspect_ratio": "16:9", "size": 320}, seed)
        seen = cast(np.random.default_rng(1), brief)
        assert seen.hole is not None
        assert seen.hole.open == open_
        assert not seen.planets


def test_other_skies_have_no_hole() -> None:
    for prompt in ("a nebula", "space, no black holes", "saturn"):
        brief = read(prompt, {"aspect_ratio": "1:1", "size": 320}, 1)
        assert cast(np.random.default_rng(1), brief).hole is None


def test_a_hole_takes_the_color_that_is_asked_for() -> None:
    def tint(prompt: str) -> float:
        picture = paint(
            read(prompt, {"aspect_ratio": "1:1", "size": 160, "detail": "low"}, 2), Progress()
        ).astype(float)
        return float((picture[..., 2] - picture[..., 0]).mean())

    assert tint("a purple black hole") > tint("an orange black hole") + 10


@pytest.mark.parametrize("aspect", ["1:1", "16:9", "9:16"])
def test_the_middle_of_a_painted_hole_is_dark(aspect: str) -> None:
    brief = read("a black hole, centered", {"aspect_ratio": aspect, "size": 256}, 4)
    picture = paint(brief, Progress())
    seen = cast(np.random.default_rng([brief.seed, 41]), brief).hole
    assert seen
    above = int(seen.y - 2.5 * seen.mass)

    assert picture[above - 2 : above + 3, int(seen.x) - 2 : int(seen.x) + 3].max() < 40
