import cv2
import numpy as np
import pytest

from kit.engines.media.backdrops import Backdrop, backdrop
from kit.engines.media.openings import company, opened
from tests.engines.media.test_backdrops import studio


def told(pixels: np.ndarray, found: np.ndarray) -> Backdrop:
    back = backdrop(pixels, found)
    assert back is not None
    return back


def ring() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A red ring before a wall, the disc that it fills, and its hole."""
    wall, found = studio()
    hole = np.zeros_like(found)
    cv2.circle(hole, (120, 90), 20, 1, -1)
    seen = (found > 0) & (hole == 0)
    return np.where(seen[..., None], np.array([190, 50, 40], np.uint8), wall), found, hole


def test_the_wall_is_seen_through_a_ring() -> None:
    pixels, found, hole = ring()

    out = opened(pixels, found, told(pixels, found))

    assert out[(found > 0) & (hole == 0)].mean() > 0.99
    assert out[hole > 0].mean() < 0.1


@pytest.mark.parametrize("shade", [0.94, 1.06, 0.5])
def test_a_label_in_nearly_the_color_of_the_wall_is_no_hole(shade: float) -> None:
    pixels, found, hole = ring()
    label = (pixels * shade).clip(0, 255).astype(np.uint8)
    pixels = np.where(hole[..., None] > 0, label, pixels)

    assert np.array_equal(opened(pixels, found, told(pixels, found)), found)


def test_what_has_no_edge_around_it_is_no_hole() -> None:
    wall, found = studio()
    faint = np.where(found[..., None] > 0, wall - np.uint8(12), wall)
    hole = np.zeros_like(found)
    cv2.circle(hole, (120, 90), 20, 1, -1)
    faint = np.where(hole[..., None] > 0, wall, faint)

    assert np.array_equal(opened(faint, found, told(faint, found)), found)


def test_a_face_is_never_opened() -> None:
    pixels, found, hole = ring()

    out = opened(pixels, found, told(pixels, found), hole > 0)

    assert np.array_equal(out, found)


def pair(color: tuple[int, int, int], soft: float = 0.0) -> tuple[np.ndarray, ...]:
    """A disc before a wall, where it is, and where a second thing at the frame's edge is."""
    wall, found = studio()
    found = np.roll(found, -40, axis=1)
    other = np.zeros_like(found)
    cv2.rectangle(other, (190, 60), (239, 150), 1, -1)
    share = other.astype(np.float32)
    share = cv2.GaussianBlur(share, (0, 0), soft) if soft else share
    pixels = wall + share[..., None] * (np.array(color) - wall.astype(np.float32))
    pixels[found > 0] = (190, 50, 40)
    return pixels.clip(0, 255).astype(np.uint8), found, other


def test_a_second_thing_at_the_edge_of_the_picture_is_company() -> None:
    pixels, found, other = pair((40, 70, 130))

    things = company(pixels, found, told(pixels, found)) > 0

    assert (things & (other > 0)).sum() / (things | (other > 0)).sum() > 0.95


def test_what_is_small_soft_or_only_a_shadow_is_no_company() -> None:
    small = pair((40, 70, 130))
    small[0][60:135] = studio()[0][60:135] * (small[1][60:135, :, None] == 0)
    soft, shadow = pair((40, 70, 130), 9.0), pair((150, 145, 140))

    for pixels, found, _ in (small, soft, shadow):
        things = company(pixels, found, told(pixels, found))
        assert not things[:, 180:].any()


def test_a_shore_from_side_to_side_is_no_company() -> None:
    pixels, found, _ = ring()
    pixels[155:] = (30, 80, 30)

    back = told(pixels, found)

    assert back.away[160:].min() > 30
    assert not company(pixels, found, back).any()
