import numpy as np
import pytest

from kit.engines.editing.video.looks import LOOKS, Grade
from kit.engines.media.clip import rgb_frame, rgb_of
from kit.engines.models.video_edit import Edit

SIZE = (96, 54)
RAMP = np.linspace(0, 255, 96).astype(np.uint8)[None, :, None].repeat(54, 0).repeat(3, 2)


def test_every_look_that_is_offered_exists() -> None:
    offered = next(p.enum for p in Edit.definition.settings if p.name == "look")

    assert offered == ["none", *LOOKS]


def test_no_look_changes_nothing() -> None:
    grade, frame = Grade("none", SIZE), rgb_frame(RAMP)

    assert grade.colored(RAMP) is RAMP
    assert grade.shaded(frame) is frame


@pytest.mark.parametrize("look", LOOKS)
def test_every_look_makes_a_difference(look: str) -> None:
    colors = np.dstack([RAMP[..., 0], RAMP[::-1, ::-1, 0], np.full_like(RAMP[..., 0], 90)])

    assert np.abs(Grade(look, SIZE).colored(colors).astype(int) - colors).mean() > 2


def test_dark_corners_are_those_of_the_finished_frame() -> None:
    frame = rgb_frame(np.full((54, 96, 3), (160, 120, 90), np.uint8))
    before = frame.copy()

    shown = rgb_of(Grade("noir", SIZE).shaded(frame)).astype(int)

    assert np.array_equal(frame, before)
    assert np.abs(shown[27, 48] - (160, 120, 90)).max() < 6
    corner = shown[1, 1]
    assert corner.max() < 110
    assert corner[0] / corner[2] == pytest.approx(160 / 90, rel=0.2), "darker, not grayer"
