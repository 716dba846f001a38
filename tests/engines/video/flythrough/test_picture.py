import cv2
import numpy as np
import pytest

from kit.engines.media.clip import rgb_of
from kit.engines.painting.heightfield.canvas import bands, empty, picture_of, striped, toned

RED, GREEN, BLUE = (220, 30, 30), (30, 200, 40), (20, 40, 230)


def plain(color: tuple[int, int, int], rows: int = 8, columns: int = 12) -> np.ndarray:
    return np.full((rows, columns, 3), color, np.uint8)


@pytest.mark.parametrize("color", [RED, GREEN, BLUE, (0, 0, 0), (255, 255, 255), (90, 90, 90)])
def test_a_frame_has_the_colors_of_the_picture(color: tuple[int, int, int]) -> None:
    picture, rest = picture_of(toned(plain(color)))
    frame = picture.frame(24, 16)

    assert frame.shape == (24, 24)
    assert rgb_of(frame).reshape(-1, 3).mean(axis=0) == pytest.approx(color, abs=4)
    assert (rest == 0).all()


def test_the_fourth_channel_stays() -> None:
    colors = np.dstack([plain(RED), np.full((8, 12), 77, np.uint8)])

    assert (picture_of(toned(colors))[1] == 77).all()


def test_blending_mixes_colors_as_light_by_light() -> None:
    picture, other = (picture_of(toned(plain(color)))[0] for color in (RED, BLUE))
    share = np.full((8, 12), 0.25, np.float32)
    picture.blend(other, (share, share[::2, ::2].copy()))
    mixed = rgb_of(picture.frame(12, 8)).reshape(-1, 3).mean(axis=0)

    assert mixed == pytest.approx(0.75 * np.array(RED) + 0.25 * np.array(BLUE), abs=4)


def test_what_is_lost_in_the_air_has_the_color_of_its_column() -> None:
    columns = np.array([RED] * 6 + [GREEN] * 6, np.uint8)[None]
    air = cv2.cvtColor(columns, cv2.COLOR_RGB2YCrCb)[0]
    picture, _ = picture_of(toned(plain(BLUE)))
    fog = np.zeros((8, 12), np.float32)
    fog[4:] = 1.0
    picture.blend(striped(air, 8), (fog, fog[::2, ::2].copy()))
    shown = rgb_of(picture.frame(12, 8)).astype(float)

    assert shown[0, 6] == pytest.approx(BLUE, abs=5)
    assert shown[-1, 1] == pytest.approx(RED, abs=5)
    assert shown[-1, -2] == pytest.approx(GREEN, abs=5)


def test_parts_are_views_of_the_whole() -> None:
    picture = empty(8, 12)
    picture.copy(picture_of(toned(plain(RED)))[0])
    picture.below(4).copy(picture_of(toned(plain(BLUE, rows=4)))[0])
    shown = rgb_of(picture.frame(12, 8)).astype(float)

    assert shown[0, 5] == pytest.approx(RED, abs=5)
    assert shown[-1, 5] == pytest.approx(BLUE, abs=5)
    assert picture.above(4).luma.shape == (4, 12)


@pytest.mark.parametrize("rows", [0, 1, 64, 65, 476])
def test_bands_hold_every_row_once(rows: int) -> None:
    assert [row for band in bands(rows) for row in range(band.start, band.stop)] == list(
        range(rows)
    )
