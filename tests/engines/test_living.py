"""Living scenes: only the parts that their painting marks move."""

from dataclasses import replace

import numpy as np
import pytest

from kit.engines.film.filming import Take
from kit.engines.film.living import Living
from kit.engines.film.parallax import padded_size
from kit.engines.painting.painting import Motion, Painting
from kit.engines.prompt.reading import read

TAKE = Take(width=192, height=128, fps=24, frames=24, motion=0.0)
COLUMNS, ROWS = padded_size(TAKE)
UPPER = slice(8, ROWS // 2 - 8), slice(8, COLUMNS - 8)
BRIEF = read("a mountain lake at night", {}, 3)


def mask(window: tuple[slice, slice] = UPPER) -> np.ndarray:
    plane = np.zeros((ROWS, COLUMNS), np.float32)
    plane[window] = 1.0
    return plane


def lamps() -> np.ndarray:
    return np.asarray(mask() * (np.arange(COLUMNS) % 24 < 8), np.float32)


def painting(**parts: object) -> Painting:
    """Return a gray painting with rough ground everywhere, at 20 meters."""
    noise = np.random.default_rng(1).uniform(0.1, 0.4, (1, ROWS, COLUMNS)).astype(np.float32)
    depth = np.full((ROWS, COLUMNS), 20.0, np.float32)
    return replace(Painting(light=np.repeat(noise, 3, axis=0), depth=depth), **parts)  # type: ignore[arg-type]


def motion(kind: str, away: float | None = None) -> Motion:
    """Return a motion in a part of the upper half."""
    along, across = np.mgrid[0:1:40j, -1:1:60j].astype(np.float32)
    part, waves = (slice(10, 50), slice(60, 120)), ((26.0, 22.0, 22.0, 0.14),)
    plane = np.ones_like(along)
    return Motion(kind, part, plane, across, along, waves, away)


def changes(scene: Living) -> np.ndarray:
    """Return the largest change of each pixel from the first frame."""
    frames = [scene.frame(number)[: TAKE.height].astype(int) for number in range(0, 24, 3)]
    return np.asarray(np.abs(np.stack(frames) - frames[0]).max(axis=0))


@pytest.mark.parametrize(
    "parts",
    [
        {"sky": mask()},
        {"emitters": lamps()},
        {"emitters": lamps(), "sky": mask()},
        {"motions": (motion("fall", 20.0),)},
        {"motions": (motion("smoke"),)},
    ],
    ids=["clouds", "lamps", "stars", "fall", "smoke"],
)
def test_only_the_marked_parts_of_a_painting_move(parts: dict[str, object]) -> None:
    moved = changes(Living(BRIEF, [painting(**parts)], TAKE))

    half = TAKE.height // 2
    assert moved[: half - 8].max() > 3
    assert moved[half + 2 :].max() == 0


def test_only_water_moves_in_a_scene_with_water() -> None:
    water = mask((slice(ROWS // 2, ROWS), slice(0, COLUMNS)))

    moved = changes(Living(BRIEF, [painting(water=water)], TAKE))

    assert moved[: TAKE.height // 2 - 2].max() == 0
    assert moved[-20:].max() > 3


def test_nearer_ground_hides_a_waterfall() -> None:
    near = painting(
        depth=np.full((ROWS, COLUMNS), 5.0, np.float32), motions=(motion("fall", 20.0),)
    )

    assert changes(Living(BRIEF, [near], TAKE)).max() == 0


def test_a_scene_of_two_hours_changes_from_one_to_the_other() -> None:
    dark = painting()
    bright = replace(dark, light=dark.light + np.float32(0.5))

    scene = Living(BRIEF, [bright, dark], TAKE, hours=("day", "night"))

    light = [scene.frame(number)[: TAKE.height].mean() for number in (0, 8, 15, 23)]
    assert light == sorted(light, reverse=True)
    assert light[0] > light[1] > light[2] > light[3]


def test_a_loop_returns_to_its_first_frame() -> None:
    take = replace(TAKE, loop=True, motion=0.5)
    size = padded_size(take)
    light = np.random.default_rng(1).uniform(0.1, 0.4, (3, size[1], size[0])).astype(np.float32)
    sky = np.ones((size[1], size[0]), np.float32)
    scene = Living(BRIEF, [Painting(light=light, sky=sky)], take)

    assert np.array_equal(scene.frame(0), scene.frame(24))
