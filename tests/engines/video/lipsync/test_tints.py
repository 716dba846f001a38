import numpy as np
import pytest

from kit.engines.editing.lipsync.lips import Lips
from kit.engines.editing.lipsync.pose import Pose
from kit.engines.editing.lipsync.tints import Colors, colors_of

POSE = Pose(100, 60, 0.8)
CLOSED = Lips(2.0, 40.0, (108.0, 1.0, 2.0), (108.0, 1.0, 2.0))


def tinted(*skin: int) -> Colors:
    return colors_of(np.full((200, 200, 3), skin, np.uint8), POSE, CLOSED)


def test_colors_follow_the_light_on_the_face() -> None:
    day, night = tinted(230, 180, 160), tinted(57, 45, 40)

    assert day.tooth.mean() > 2 * night.tooth.mean()
    assert day.dark.mean() < day.tongue.mean() < day.tooth.mean()


@pytest.mark.parametrize("skin", [(252, 244, 236), (230, 180, 160), (90, 60, 45)])
def test_teeth_in_warm_skin_are_never_blue(skin: tuple[int, int, int]) -> None:
    red, _, blue = tinted(*skin).tooth

    assert blue <= red


def test_a_gray_picture_has_a_gray_mouth() -> None:
    colors = tinted(150, 150, 150)

    for color in (colors.dark, colors.tooth, colors.tongue):
        assert np.ptp(color) < 10


def test_pale_skin_in_a_colored_picture_has_a_red_tongue() -> None:
    pixels = np.full((200, 200, 3), (252, 244, 236), np.uint8)
    faded = colors_of(pixels, POSE, CLOSED).tongue
    pixels[:, 60:90] = (225, 170, 140)

    vivid = colors_of(pixels, POSE, CLOSED).tongue

    assert vivid[0] - vivid[2] > 1.5 * (faded[0] - faded[2])
