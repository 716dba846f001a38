import numpy as np
import pytest

from kit.engines.editing.lipsync.drawing import Portrait, area_of, speaker_of, spoken, units_of
from kit.engines.editing.lipsync.head import Posture
from kit.engines.editing.lipsync.mouth import Shape
from kit.engines.editing.lipsync.placing import Place, Told, place
from kit.engines.editing.lipsync.pose import Pose
from tests.engines.drawn import LINE, face
from tests.engines.drawn import place as spot

AT = {"x": 160.0, "y": 175.0, "size": 115.0}
PIXELS = face(**AT)


@pytest.fixture(scope="module")
def found() -> Place:
    return place(PIXELS, Told())


@pytest.fixture(scope="module")
def portrait(found: Place) -> Portrait:
    return Portrait(PIXELS, found.pose, speaker_of(PIXELS, found.pose, found.lips, found.eyes))


def part(pixels: np.ndarray, across: float, along: float, reach: int = 5) -> np.ndarray:
    x, y = map(round, spot(across, along, **AT))
    return pixels[y - reach : y + reach, x - reach : x + reach].astype(int)


def test_a_portrait_at_rest_is_the_picture(portrait: Portrait) -> None:
    frame = portrait.frame(Shape(), Posture(), 0.0)

    assert np.abs(frame.astype(int) - PIXELS).max() <= 1
    assert frame is not PIXELS


def test_an_open_mouth_is_dark_inside_and_lowers_the_chin(portrait: Portrait) -> None:
    frame = portrait.frame(Shape(opening=25), Posture(), 0.0)

    inside = part(frame, 0, LINE + 0.11, 3).mean()
    assert inside < 0.6 * part(PIXELS, 0, LINE + 0.11, 3).mean()
    chin = [
        np.abs(part(frame, across, 1.0) - part(PIXELS, across, 1.0)).mean() for across in (0, 1.1)
    ]
    assert chin[0] > 3
    assert chin[1] < 1
    assert np.abs(part(frame, 0, -0.5) - part(PIXELS, 0, -0.5)).max() <= 1


def test_eyes_close_with_the_lids(portrait: Portrait) -> None:
    frame = portrait.frame(Shape(), Posture(), 1.0)

    for side in (-1, 1):
        opened, closed = (part(pixels, side * 0.3, -0.15, 3) for pixels in (PIXELS, frame))
        assert opened.min() < 40
        assert closed.mean() > opened.mean() + 25


def test_a_dark_brow_does_not_come_down_with_the_lids(found: Place) -> None:
    assert found.eyes is not None
    pixels = PIXELS.copy()
    for x, y in found.eyes:
        top, bottom = round(y - 20 * found.pose.unit), round(y - 8 * found.pose.unit)
        pixels[top:bottom, round(x) - 18 : round(x) + 18] = (70, 55, 45)
    speaker = speaker_of(pixels, found.pose, found.lips, found.eyes)

    frame = Portrait(pixels, found.pose, speaker).frame(Shape(), Posture(), 1.0)

    for x, y in found.eyes:
        lid = frame[round(y) - 3 : round(y) + 4, round(x) - 6 : round(x) + 7]
        assert lid.mean() > 110


def test_a_swaying_head_leaves_the_corners_of_the_picture(portrait: Portrait) -> None:
    frame = portrait.frame(Shape(), Posture(sway=4, roll=0.03, turn=6), 0.0)

    assert np.abs(part(frame, 0.3, -0.15) - part(PIXELS, 0.3, -0.15)).mean() > 8
    for corner in ((slice(0, 12), slice(0, 12)), (slice(-12, None), slice(-12, None))):
        assert np.abs(frame[corner].astype(int) - PIXELS[corner]).max() <= 1


def test_a_frame_of_a_video_changes_round_the_mouth_only(found: Place) -> None:
    speaker = speaker_of(PIXELS, found.pose, found.lips)

    frame = spoken(PIXELS, found.pose, speaker, Shape(opening=20, width=0.85))

    changed = np.abs(frame.astype(int) - PIXELS).max(axis=2) > 3
    rows = np.flatnonzero(changed.any(axis=1))
    assert changed.sum() > 400
    assert rows[0] > spot(0, 0.1, **AT)[1]


def test_a_lowered_mouth_opens_lower(found: Place) -> None:
    speaker = speaker_of(PIXELS, found.pose, found.lips)
    lowered = speaker.lowered(10)

    assert lowered.lips.y == pytest.approx(speaker.lips.y + 10)
    assert lowered.colors is speaker.colors


@pytest.mark.parametrize(
    "pose", [Pose(-900, -900, 1.0), Pose(0, 0, 1.2), Pose(319, 359, 0.9, 0.5), Pose(160, 60, 9.0)]
)
def test_faces_across_the_border_of_the_picture_do_no_harm(pose: Pose, found: Place) -> None:
    speaker = speaker_of(PIXELS, found.pose, found.lips, found.eyes)
    shape, posture = Shape(opening=30, width=1.1), Posture(roll=0.03, sway=4, nod=5)

    assert Portrait(PIXELS, pose, speaker).frame(shape, posture, 0.7).shape == PIXELS.shape
    assert spoken(PIXELS, pose, speaker, shape).shape == PIXELS.shape


def test_places_of_an_area_are_those_of_its_pixels() -> None:
    pose = Pose(50, 40, 0.8, 0.2)
    area = area_of(pose, (-20, -10, 30, 25), (200, 200, 3))
    x, y = units_of(pose, area)

    rows, columns = area
    assert x.shape == (rows.stop - rows.start, columns.stop - columns.start)
    assert pose.to_pixels((float(x[3, 4]), float(y[3, 4]))) == pytest.approx(
        (columns.start + 4, rows.start + 3), abs=1e-3
    )
