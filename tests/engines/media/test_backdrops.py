import cv2
import numpy as np
import pytest

from kit.engines.media.backdrops import backdrop, in_lab


def studio(grain: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """A wall that grows darker, a disc before it, and the wall alone."""
    rows = np.linspace(0.0, 1.0, 180)[:, None, None]
    wall = np.array([225, 215, 205]) * (1 - rows) + np.array([160, 155, 150]) * rows
    wall = np.repeat(wall, 240, axis=1) + np.random.default_rng(2).normal(0, grain, (180, 240, 3))
    wall = wall.clip(0, 255).astype(np.uint8)
    found = np.zeros((180, 240), np.uint8)
    cv2.circle(found, (120, 90), 45, 1, -1)
    return wall, found


def test_a_wall_is_known_behind_what_hides_it() -> None:
    wall, found = studio()
    pixels = np.where(found[..., None] > 0, np.uint8(30), wall)

    back = backdrop(pixels, found)

    assert back is not None
    apart = np.linalg.norm(back.colors - in_lab(wall), axis=2)
    assert float(np.median(apart[found > 0])) < 2.5
    assert back.away[found > 0].min() > 30
    assert back.rough < 4
    assert back.even > 0.98


def test_another_thing_does_not_change_the_wall() -> None:
    wall, found = studio()
    pixels = np.where(found[..., None] > 0, np.uint8(30), wall)
    pixels[60:170, 200:] = (200, 30, 30)

    back = backdrop(pixels, found)

    assert back is not None
    assert back.away[60:170, 205:].min() > 30
    assert float(np.median(back.away[:, 5:40])) < 3


@pytest.mark.parametrize("kind", ["busy", "hidden"])
def test_nothing_is_claimed_where_the_background_is_busy_or_hardly_seen(kind: str) -> None:
    wall, found = studio()
    if kind == "busy":
        wall = np.random.default_rng(1).integers(0, 256, wall.shape, np.uint8)
    else:
        found[:] = 1

    assert backdrop(wall, found) is None
