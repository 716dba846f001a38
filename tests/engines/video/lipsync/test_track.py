import math
from dataclasses import replace

import cv2
import numpy as np
import pytest

from kit.engines.editing.lipsync import track
from kit.engines.editing.lipsync.features import closer
from kit.engines.editing.lipsync.placing import Told
from kit.engines.editing.lipsync.track import tracked
from kit.engines.media.faces import Face, find
from tests.engines.drawn import LINE, face, place

AT = {"x": 160.0, "y": 120.0, "size": 80.0}
STILL = face(320, 240, **AT)
GRAY = np.full_like(STILL, 128)
FPS = 20


def moved(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a frame of a head that sways, leans and comes closer, and the matrix of its move."""
    time = number / FPS
    matrix = cv2.getRotationMatrix2D(
        (160, 120), 6 * np.sin(2 * time), 1 + 0.06 * np.sin(1.3 * time)
    )
    matrix[:, 2] += (16 * np.sin(2.2 * time), 8 * np.sin(3 * time))
    return cv2.warpAffine(STILL, matrix, (320, 240), borderMode=cv2.BORDER_REPLICATE), matrix


def test_the_mouth_is_followed_to_the_pixel() -> None:
    frames, matrices = zip(*map(moved, range(40)), strict=True)

    track = tracked(frames, FPS, Told())

    assert track is not None
    start = np.array([*place(0, LINE, **AT), 1.0])
    off = []
    for pose, matrix, level in zip(track.poses, matrices, track.levels, strict=True):
        assert pose is not None
        found = pose.to_pixels((track.lips.x, track.lips.y + float(level)))
        off.append(math.dist(found, matrix @ start))
    assert max(off) < 4
    # What the eye would see is not a constant distance but a tremble.
    assert np.abs(np.diff(off)).max() < 1


def test_nothing_is_tracked_where_there_is_no_face() -> None:
    assert tracked([GRAY] * 8, FPS, Told()) is None


def test_a_face_that_comes_goes_and_comes_back_is_tracked_while_it_is_there() -> None:
    frames = [GRAY] * 6 + [STILL] * 10 + [GRAY] * 24 + [STILL] * 10

    track = tracked(frames, FPS, Told())

    assert track is not None
    seen = [pose is not None for pose in track.poses]
    assert not any(seen[:5])
    assert all(seen[11:16])
    assert not any(seen[20:40])
    assert all(seen[45:])


def test_a_face_that_turns_to_the_side_is_let_go_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turned = STILL.copy()
    turned[0, 0] = (255, 0, 255)

    def looked(pixels: np.ndarray, face: Face) -> Face:
        found = closer(pixels, face)
        (x, y), _ = found.sight()
        side = pixels[0, 0].tolist() == [255, 0, 255]
        return replace(found, nose=(x - 9, y + 12)) if side else found

    monkeypatch.setattr(track, "closer", looked)

    followed = tracked([STILL] * 10 + [turned] * 8 + [STILL] * 10, FPS, Told())

    assert followed is not None
    seen = [pose is not None for pose in followed.poses]
    assert all(seen[:10])
    assert not any(seen[15:18])
    assert all(seen[23:])


def test_a_told_mouth_is_carried_along_without_a_face() -> None:
    rng = np.random.default_rng(2)
    big = cv2.GaussianBlur(rng.integers(0, 255, (300, 400, 3)).astype(np.uint8), (0, 0), 2)
    frames = [big[20:220, 30 + 2 * n : 290 + 2 * n] for n in range(20)]
    assert find(frames[0]) == []

    track = tracked([np.ascontiguousarray(frame) for frame in frames], FPS, Told(0.5, 0.6, 0.2))

    assert track is not None
    first, last = track.poses[0], track.poses[-1]
    assert first is not None
    assert last is not None
    assert last.x - first.x == pytest.approx(-38, abs=3)
    assert last.y - first.y == pytest.approx(0, abs=2)


def test_the_same_frames_give_the_same_track() -> None:
    frames = [moved(number)[0] for number in range(10)]

    one, other = tracked(frames, FPS, Told()), tracked(frames, FPS, Told())

    assert one is not None
    assert other is not None
    assert one.poses == other.poses
    assert one.lips == other.lips
