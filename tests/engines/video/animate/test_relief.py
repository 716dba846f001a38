import cv2
import numpy as np
import pytest

from kit.engines.film.animate.relief import GROWTH, STRENGTH, Relief, blocks_of
from kit.engines.film.camera import View
from kit.engines.film.filming import Take
from kit.engines.media.clip import rgb_of, views
from tests.engines.video.showing import distance, textured

TAKE = Take(width=192, height=108, fps=24, frames=10, motion=1.0)


def seen(depth: np.ndarray, view: View, pixels: np.ndarray | None = None) -> np.ndarray:
    relief = Relief(depth.astype(np.float32), TAKE)
    frame = np.empty((162, 192), np.uint8)
    picture = textured(384, 216) if pixels is None else pixels
    relief.look(blocks_of(relief.planes(picture)), view).spread(views(frame, 192, 108))
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


def test_a_swell_is_added_to_luma_and_color() -> None:
    relief = Relief(np.full((108, 192), 0.5, np.float32), TAKE)

    def swell(maps: tuple[np.ndarray, np.ndarray]) -> None:
        maps[0][:] += 6

    frame, bent = (np.empty((162, 192), np.uint8) for _ in range(2))
    blocks = blocks_of(relief.planes(textured(384, 216)))
    relief.look(blocks, View()).spread(views(frame, 192, 108))
    relief.look(blocks, View(), swell).spread(views(bent, 192, 108))

    assert relief.shape == (54, 96)
    assert distance(rgb_of(bent)[:, :180], rgb_of(frame)[:, 6:186]) < 3


@pytest.mark.parametrize("size", [(192, 108), (190, 106), (194, 110)])
def test_a_camera_that_stands_still_shows_every_pixel_as_it_is(size: tuple[int, int]) -> None:
    width, height = size
    take = Take(width=width, height=height, fps=24, frames=10, motion=1.0)
    relief = Relief(np.full((height, width), 0.5, np.float32), take)
    planes = relief.planes(textured(384, 216))
    left, top = (relief.width - width) // 4 * 2, (relief.height - height) // 4 * 2

    frame = np.empty((height * 3 // 2, width), np.uint8)
    shown = views(frame, width, height)
    relief.look(blocks_of(planes), View()).spread(shown)

    edge = ((relief.width - width) // 2, (relief.height - height) // 2)
    luma = planes[0][edge[1] : edge[1] + height, edge[0] : edge[0] + width]
    assert np.array_equal(shown[0], luma)
    if edge == (left, top):
        chroma = planes[2][top // 2 : (top + height) // 2, left // 2 : (left + width) // 2]
        assert np.array_equal(shown[2], chroma)


@pytest.mark.parametrize("view", [View(x=0.08), View(zoom=0.2), View(x=-0.05, y=0.03, zoom=0.1)])
def test_blocks_show_what_a_look_at_every_pixel_shows(view: View) -> None:
    take = Take(width=320, height=180, fps=24, frames=10, motion=1.0)
    depth = np.linspace(0, 1, 180, dtype=np.float32)[:, None] * np.ones((1, 320), np.float32)
    relief = Relief(depth, take)
    luma, _, _ = planes = relief.planes(textured(640, 360))
    frame = np.empty((270, 320), np.uint8)
    relief.look(blocks_of(planes), view).spread(views(frame, 320, 180))

    rows, columns = np.mgrid[0:180, 0:320].astype(np.float32)
    near = cv2.GaussianBlur(cv2.resize(depth, (relief.width, relief.height)), (0, 0), 1.28)
    edge = ((relief.width - 320) // 2, (relief.height - 180) // 2)
    near = near[edge[1] : edge[1] + 180, edge[0] : edge[0] + 320]
    grow = view.zoom * GROWTH * (0.3 + 0.7 * near)
    x = columns + edge[0] - view.x * STRENGTH * 320 * near - (columns + 0.5 - 160) * grow
    y = rows + edge[1] - view.y * STRENGTH * 180 * near - (rows + 0.5 - 93.6) * grow
    exact = cv2.remap(luma, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    assert np.abs(frame[:180].astype(int) - exact)[4:-4, 4:-4].mean() < 0.6
