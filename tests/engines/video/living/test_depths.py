import cv2
import numpy as np
import pytest

from kit.engines.film.living.depths import depth_of, horizon_of, sky_of, small
from kit.engines.painting.families import FAMILIES
from tests.engines.video.showing import textured


def landscape(width: int = 192, height: int = 108) -> np.ndarray:
    """Draw a pale sky with a sun over rough dark land."""
    down = np.linspace(230, 190, height)[:, None, None]
    pixels = np.broadcast_to(down, (height, width, 3)).astype(np.uint8).copy()
    cv2.circle(pixels, (60, 20), 9, (255, 250, 200), -1, cv2.LINE_AA)
    pixels[60:] = textured(width, height)[60:] // 3
    return pixels


def test_the_sky_holds_its_sun_and_ends_at_the_land() -> None:
    sky = sky_of(landscape())

    assert sky[:56].min() > 0.95
    assert sky[64:].max() < 0.05
    assert horizon_of(sky) == pytest.approx(60 / 108, abs=0.03)


def test_land_comes_nearer_downward_and_the_sky_is_farthest() -> None:
    picture = landscape()
    depth = depth_of("lake", picture, sky_of(picture))

    rows = depth.mean(axis=1)
    assert rows[:50].max() < 0.1
    assert rows[64] < rows[85] < rows[107]
    assert rows[107] > 0.8


def test_a_street_is_nearest_at_the_edges_of_the_frame() -> None:
    depth = depth_of("city", landscape(), sky_of(landscape()))

    assert depth[50, 96] < 0.15
    assert min(depth[50, 2], depth[105, 96], depth[50, 189]) > 0.75


def test_bright_bodies_hang_before_the_stars() -> None:
    picture = np.zeros((108, 192, 3), np.uint8)
    cv2.circle(picture, (60, 50), 24, (220, 200, 180), -1)
    picture[20, 150] = 255

    depth = depth_of("space", picture, np.ones((108, 192), np.float32))

    assert depth[50, 60] > depth[20, 150] + 0.3


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_depth_within_bounds(family: str) -> None:
    picture = small(textured(640, 360))
    depth = depth_of(family, picture, sky_of(picture))

    assert depth.shape == picture.shape[:2] == (108, 192)
    assert depth.dtype == np.float32
    assert 0 <= depth.min() <= depth.max() <= 1


def test_a_picture_that_is_all_sky_has_a_horizon_within_the_frame() -> None:
    flat = np.full((108, 192, 3), 200, np.uint8)

    assert 0.15 <= horizon_of(sky_of(flat)) <= 0.75


def test_a_mirrored_sky_is_no_sky() -> None:
    view = np.full((120, 200, 3), (240, 200, 150), np.uint8)
    view[35:60, 40:160] = (90, 80, 70)
    view[60:85, 40:160] = (90, 80, 70)

    sky = sky_of(view, 0.5)

    assert sky[:30].min() > 0.95
    assert sky[40:58, 60:140].max() < 0.05
    assert sky[66:].max() < 0.05
