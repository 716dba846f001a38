import numpy as np
import pytest

from kit.engines.media.clip import rgb_of
from kit.engines.video.animate.relief import Relief
from kit.engines.video.camera import View
from kit.engines.video.filming import Take
from kit.engines.video.sheets import views
from tests.engines.video.showing import distance, textured

TAKE = Take(width=192, height=108, fps=24, frames=10, motion=1.0)


def seen(depth: np.ndarray, view: View, pixels: np.ndarray | None = None) -> np.ndarray:
    relief = Relief(depth.astype(np.float32), TAKE)
    frame = np.empty((162, 192), np.uint8)
    picture = textured(384, 216) if pixels is None else pixels
    relief.draw(views(frame, 192, 108), relief.planes(picture), view)
    return rgb_of(frame)


def shift_of(one: np.ndarray, other: np.ndarray) -> int:
    """Return by how many columns the middle of a picture has moved to the right."""
    middle = one[:, 60:130].astype(int)
    costs = [np.abs(other[:, 60 + s : 130 + s].astype(int) - middle).mean() for s in range(-20, 21)]
    return int(np.argmin(costs)) - 20


def test_near_parts_move_farther_than_far_ones_and_all_the_same_way() -> None:
    depth = np.linspace(0, 1, 108)[:, None] * np.ones((1, 192))
    still, moved = seen(depth, View()), seen(depth, View(x=0.15))

    shifts = [shift_of(still[rows], moved[rows]) for rows in (slice(0, 20), slice(88, 108))]

    assert 0 <= shifts[0] < 4
    assert shifts[1] > shifts[0] + 5


def test_a_zoom_enlarges_what_is_near() -> None:
    pixels = np.full((216, 384, 3), 20, np.uint8)
    pixels[90:126, 170:214] = 220

    def bright(zoom: float) -> int:
        return int((seen(np.ones((108, 192)), View(zoom=zoom), pixels)[..., 0] > 120).sum())

    assert bright(0.34) > 1.3 * bright(0.0)


@pytest.mark.parametrize("view", [View(x=0.15), View(x=-0.15), View(y=0.1), View(zoom=0.34)])
def test_no_edge_of_the_picture_comes_into_view(view: View) -> None:
    pixels = np.full((216, 384, 3), 120, np.uint8)
    pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1] = (255, 0, 0), (255, 0, 0), 0, 0

    assert np.abs(seen(np.ones((108, 192)), view, pixels).astype(int) - 120).max() < 30


def test_luma_and_color_go_the_same_way() -> None:
    pixels = np.full((216, 384, 3), (30, 40, 50), np.uint8)
    pixels[:, 192:] = (210, 60, 50)
    frame = seen(np.ones((108, 192)), View(x=0.12), pixels).astype(int)

    bright = np.flatnonzero(frame[54].sum(axis=1) > 220)[0]
    red = np.flatnonzero(frame[54, :, 0] - frame[54, :, 2] > 80)[0]
    assert abs(bright - red) <= 2


def test_a_swell_is_added_to_both_sizes() -> None:
    relief = Relief(np.full((108, 192), 0.5, np.float32), TAKE)
    shares = []

    def swell(maps: tuple[np.ndarray, np.ndarray], share: float) -> None:
        shares.append((maps[0].shape, share))
        maps[0][:] += 6 * share

    frame, bent = (np.empty((162, 192), np.uint8) for _ in range(2))
    planes = relief.planes(textured(384, 216))
    relief.draw(views(frame, 192, 108), planes, View())
    relief.draw(views(bent, 192, 108), planes, View(), swell)

    assert shares == [((108, 192), 1.0), ((54, 96), 0.5)]
    assert distance(rgb_of(bent)[:, :180], rgb_of(frame)[:, 6:186]) < 3
