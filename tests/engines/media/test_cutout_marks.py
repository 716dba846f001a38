import cv2
import numpy as np
import pytest

from kit.engines.media.cutout_marks import BACK, people

HIGH, WIDE = 352, 270
FACE = (44.0, 62.0, 185.0, 185.0)


def sitter(above: tuple[int, ...], below: tuple[int, ...]) -> np.ndarray:
    """A head and dark shoulders that the frame cuts off, on a wall that grows lighter downward."""
    down = np.clip(np.linspace(0, 1.8, HIGH), 0, 1)[:, None, None]
    wall = (1 - down) * above + down * below
    pixels = np.repeat(wall, WIDE, axis=1).astype(np.uint8)
    cv2.ellipse(pixels, (135, 150), (70, 100), 0, 0, 360, (215, 160, 130), -1)
    shoulders = np.array([(95, 235), (175, 235), (269, 290), (269, 351), (0, 351), (0, 290)])
    return np.asarray(cv2.fillPoly(pixels, [shoulders], (20, 20, 30)))


@pytest.mark.parametrize("below", [(40, 70, 130), (90, 130, 185), (140, 185, 240)])
def test_a_wall_that_grows_lighter_is_wall_all_the_way_down(below: tuple[int, ...]) -> None:
    marks = people(sitter((40, 70, 130), below), [FACE])

    rim = (marks == BACK)[:, [*range(5), *range(-5, 0)]]
    assert rim[20:270].mean() > 0.98
    # The shoulders begin with a step in color, and go on to the frame.
    assert rim[310:345].mean() < 0.02
