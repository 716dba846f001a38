"""Drawing a speaker: one remap applies the motion of head, eyelids and mouth to every pixel.

The motions are chained as maps and the picture is sampled once, so that it stays sharp and, away
from the face, unchanged. Eyelids are skin from below the eye, mirrored: above it brows and lashes
are in the way. Eyes whose lids might look wrong stay open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.editing.lipsync.face import Box, FacePose, crop
from kit.engines.editing.lipsync.mouth import (
    Colors,
    Lips,
    MouthShape,
    colors_of,
    fill_fields,
    paint_inside,
    reach_of,
    step_for,
    warp,
)
from kit.engines.editing.lipsync.voice import Speech
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.faces import Point
from kit.engines.media.noise import smooth_step

#: Slices of rows and columns.
Area: TypeAlias = tuple[slice, slice]

#: The area that a moving head may change, in face units, with a margin for what moves along.
_HEAD_BOX: Box = (-260.0, -250.0, 260.0, 330.0)
_SWAY = 18.0
#: Center and radii of the head, at which its motion has faded out, and those of the face.
_HEAD, _RADII, _FADE_RADII = (0.0, 40.0), (112.0, 160.0), (255.0, 285.0)
_FACE, _FACE_RADII, _NECK = (0.0, 60.0), (98.0, 135.0), 235.0
#: Amplitudes at full motion: tilt in radians; sway, lift, turn and nod in face units.
_PEAKS = (0.030, 4.0, 2.2, 6.0, 5.0)
#: Half width of an eye, its edges above and below the center, with lashes.
_EYE_HALF, _EYE_TOP, _EYE_BOTTOM = 27.0, 11.5, 10.5
#: Width of the fade at a lid's rim, distance from a lid's edge down to the skin used for it, and
#: the darkening at its fold.
_LID_FADE, _SKIN_BELOW, _FOLD_SHADE = 3.0, 3.5, 0.08
#: Conditions for closing eyes: how much darker than the skin an iris is; the dark share of the skin
#: used for the lid, and its variation; the height of the dark area of an eye, and its ratio to the
#: other eye's; the vertical offset between both.
_IRIS, _CONTRAST, _MAX_DARK, _MAX_ROUGH = 4.0, 0.35, 0.12, 0.25
_MAX_HEIGHT, _MAX_RATIO, _MAX_OFFSET = 34, 2.4, 7.5
_CLOSING, _SHUT, _OPENING = 0.08, 0.04, 0.16  # seconds
_FIRST_BLINK, _NEXT_BLINKS = (0.7, 2.4), (2.0, 5.2)


@dataclass(frozen=True, slots=True)
class Speaker:
    """The constant properties of a speaking face, and two eyes for blinks, or none."""

    lips: Lips
    colors: Colors
    eyes: tuple[Point, ...] = ()


def speaker_of(pixels: Bytes, pose: FacePose, lips: Lips, *, distance: float = 0.0) -> Speaker:
    """Return the speaker in a picture; `distance` is that of the eyes, 0 if not detected."""
    eyes = tuple(_find_iris(pixels, pose, side * distance / 2) for side in (-1, 1) if distance)
    closable = bool(eyes) and _can_close(pixels, pose, eyes)
    return Speaker(lips, colors_of(pixels, pose, lips), eyes if closable else ())


class Portrait:
    """A still RGB picture that speaks."""

    def __init__(self, pixels: Bytes, pose: FacePose, speaker: Speaker) -> None:
        self._pixels, self._pose, self._speaker = pixels, pose, speaker
        self._area = _area(pose, _HEAD_BOX, pixels.shape)
        self._x, self._y = _face_units(pose, self._area)

    def frame(self, shape: MouthShape, moves: Sequence[float], lids: float) -> Bytes:
        """Return the picture for a row of `head_moves` and lids from 0 (open) to 1 (shut)."""
        roll, sway, lift, turn, nod = moves

        def fields(x: Floats, y: Floats) -> Sequence[Floats]:
            weight, depth = _head_weights(x, y)
            across, along = sway + roll * (_NECK - y), lift + roll * x
            return -weight * across - depth * turn, -weight * along - depth * nod

        # A head is larger than a mouth and its motion smoother, so its field may be coarser.
        across, along = fill_fields(fields, self._x, self._y, step_for(2 * self._pose.unit))
        places = (self._x + across, self._y + along)
        return _draw(self._pixels, self._pose, self._speaker, self._area, places, shape, lids)


def draw_mouth(pixels: Bytes, pose: FacePose, speaker: Speaker, shape: MouthShape) -> Bytes:
    """Return a picture, such as a video frame, with only its mouth moved."""
    area = _area(pose, reach_of(speaker.lips), pixels.shape)
    return _draw(pixels, pose, speaker, area, _face_units(pose, area), shape, 0.0)


def head_moves(
    speech: Speech, fps: int, motion: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the head pose in each frame, shape (frames, 5): tilt, sway, lift, turn, nod.

    The motion starts smoothly from the pose in the picture.
    """
    seconds = np.arange(len(speech)) / fps
    amount = motion * smooth_step(0, 0.8, seconds)
    lively = amount * (0.55 + 0.45 * np.clip(speech.stress * 1.5, 0, 1))
    waves = []
    for speed in (0.9, 0.7, 1.1, 1.0, 1.3):
        phases = zip((1.0, 1.73, 2.91), (1.0, 0.55, 0.3), rng.uniform(0, 2 * np.pi, 3), strict=True)
        waves.append(sum(w * np.sin(seconds * speed * rate + at) for rate, w, at in phases) / 1.4)
    stress = speech.stress - 0.5 * float(speech.stress.mean())
    waves[4] = 0.45 * waves[4] + 0.9 * stress
    amounts = (lively, lively, amount, lively, amount)
    rows = [most * share * wave for most, share, wave in zip(_PEAKS, amounts, waves, strict=True)]
    return np.stack(rows, axis=1)


def blinks(frames: int, fps: int, rng: np.random.Generator) -> Floats:
    """Return the lid closure in each frame, 0 to 1, with a blink every few seconds."""
    seconds, lids = np.arange(frames) / fps, np.zeros(frames, np.float32)
    moment = rng.uniform(*_FIRST_BLINK)
    while moment < frames / fps:
        since = seconds - moment
        down, up = since / _CLOSING, 1 - (since - _CLOSING - _SHUT) / _OPENING
        lids = np.maximum(lids, smooth_step(0, 1, np.minimum(down, up)))
        moment += rng.uniform(*_NEXT_BLINKS)
    return lids


def _head_weights(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the weight of the head's motion at each place, and the depth of the face there."""
    across, along = x - _HEAD[0], y - _HEAD[1]
    inner = np.hypot(across / _RADII[0], along / _RADII[1])
    outer = np.hypot(across / _FADE_RADII[0], along / _FADE_RADII[1])
    weight = smooth_step(0, 1, (1 - outer) / np.maximum(inner - outer, 1e-6))
    far = ((x - _FACE[0]) / _FACE_RADII[0]) ** 2 + ((y - _FACE[1]) / _FACE_RADII[1]) ** 2
    return np.where(inner <= 1, np.float32(1), weight), np.clip(1 - far, 0, 1) ** 1.5


def _area(pose: FacePose, box: Box, shape: tuple[int, ...]) -> Area:
    """Return the rows and columns of a picture that contain a box; possibly empty."""
    left, top, right, bottom = box
    corners = [pose.to_pixels((x, y)) for x in (left, right) for y in (top, bottom)]
    low, high = np.floor(np.min(corners, axis=0)), np.ceil(np.max(corners, axis=0)) + 1
    first, last = (np.clip(edge, 0, shape[1::-1]).astype(int).tolist() for edge in (low, high))
    return slice(first[1], last[1]), slice(first[0], last[0])


def _face_units(pose: FacePose, area: Area) -> tuple[Floats, Floats]:
    """Return the positions of an area's pixels in face units."""
    rows, columns = area
    back = cv2.invertAffineTransform(pose.matrix()).astype(np.float32)
    across = np.arange(columns.start, columns.stop, dtype=np.float32)
    along = np.arange(rows.start, rows.stop, dtype=np.float32)[:, None]
    x, y = (row[0] * across + (row[1] * along + row[2]) for row in back)
    return x, y


def _draw(
    pixels: Bytes,
    pose: FacePose,
    speaker: Speaker,
    area: Area,
    places: tuple[Floats, Floats],
    shape: MouthShape,
    lids: float,
) -> Bytes:
    out, (x, y), lips = pixels.copy(), places, speaker.lips
    if not x.size:
        return out

    def part_of(box: Box) -> Area:
        left, top, right, bottom = box
        room = (left - _SWAY, top - _SWAY, right + _SWAY, bottom + _SWAY)
        rows, columns = (
            slice(max(own.start - whole.start, 0), max(own.stop - whole.start, 0))
            for own, whole in zip(_area(pose, room, pixels.shape), area, strict=True)
        )
        return rows, columns

    source_x, source_y = x.copy(), y.copy()
    part = part_of(reach_of(lips))
    source_x[part], source_y[part] = warp(x[part], y[part], lips, shape, step_for(pose.unit))
    out[area] = _sample(pixels, pose, source_x, source_y)
    for eye in speaker.eyes if lids > 0 else ():
        low, high = eye[1] - _EYE_TOP - _LID_FADE, eye[1] + _EYE_BOTTOM + _LID_FADE
        part = part_of((eye[0] - _EYE_HALF, low, eye[0] + _EYE_HALF, high))
        at = (x[part], y[part])
        _draw_lid(pixels, pose, out[area][part], at, eye, lids, speaker.colors.dark)
    part = part_of(reach_of(lips, inner=True))
    painted = paint_inside(x[part], y[part], lips, shape, speaker.colors, pose.unit)
    if painted is not None:
        _paint(out[area][part], *painted)
    return out


def _sample(pixels: Bytes, pose: FacePose, x: Floats, y: Floats) -> Bytes:
    columns, rows = (
        cv2.addWeighted(x, float(a), y, float(b), float(c)) for a, b, c in pose.matrix()
    )
    edge = cv2.BORDER_REPLICATE
    return np.asarray(cv2.remap(pixels, columns, rows, cv2.INTER_CUBIC, borderMode=edge))


def _paint(under: Bytes, color: Floats, cover: Floats) -> None:
    mixed = under + (color - under) * cover[:, :, None]
    under[:] = np.clip(mixed + 0.5, 0, 255).astype(np.uint8)


def _draw_lid(
    pixels: Bytes,
    pose: FacePose,
    under: Bytes,
    places: tuple[Floats, Floats],
    eye: Point,
    amount: float,
    dark: Floats,
) -> None:
    """Draw a lid with its lashes on part of a picture, in place."""
    if not under.size:
        return
    x, y = places
    u = (x - eye[0]) / _EYE_HALF
    bow = np.clip(1 - u * u, 0, 1)
    upper, height = eye[1] - _EYE_TOP * bow, amount * (_EYE_TOP + _EYE_BOTTOM) * bow
    edge = upper + height
    # At the corners of the eye and while nearly open, a lid is too thin for a wide fade.
    fade = np.clip(0.5 * height, 0.5, _LID_FADE)
    cover = np.minimum((y - upper) / fade + 1, (edge - y) / np.minimum(fade, 1.2) + 0.5)
    cover = np.clip(cover, 0, 1) * np.clip(height / _LID_FADE, 0, 1)
    above = np.clip(edge - y, 0, None)
    source = np.asarray(eye[1] + _EYE_BOTTOM * bow + _SKIN_BELOW + 0.8 * above, np.float32)
    skin = _sample(pixels, pose, np.ascontiguousarray(x), source)
    light = 1 - _FOLD_SHADE * np.clip(above / np.maximum(height, 1e-3), 0, 1)
    _paint(under, np.asarray(skin * light[:, :, None], np.float32), np.asarray(cover, np.float32))
    thick = max(1.5, 0.9 / pose.unit)
    lashes = np.clip((1 - np.abs(u)) * 5, 0, 1) * min(1.0, amount * 2.5)
    _paint(under, dark, 0.62 * lashes * np.exp(-(((y - edge) / thick) ** 2)))


def _gray(pixels: Bytes, pose: FacePose, box: Box) -> Floats:
    return np.asarray(cv2.cvtColor(crop(pixels, pose, box), cv2.COLOR_RGB2GRAY), np.float32)


def _find_iris(pixels: Bytes, pose: FacePose, side: float) -> Point:
    """Return the center of an eye, moved to the dark of its iris."""
    gray = _gray(pixels, pose, (side - 30, -26, side + 30, 26))
    along, across = np.mgrid[-26:26, -30:30].astype(np.float32)
    # Brows and lashes are dark too, so distance from the detected eye counts against a place.
    far = 16 * ((across / 6) ** 2 + (along / 8) ** 2)
    row, column = divmod(int(np.argmin(cv2.GaussianBlur(gray, (0, 0), _IRIS) + far)), 60)
    return side + column - 30, float(row - 26)


def _can_close(pixels: Bytes, pose: FacePose, eyes: tuple[Point, ...]) -> bool:
    if abs(eyes[0][1] - eyes[1][1]) > _MAX_OFFSET:
        return False
    heights = [_eye_height(pixels, pose, eye) for eye in eyes]
    return 0 < max(heights) <= min(_MAX_HEIGHT, _MAX_RATIO * min(heights))


def _eye_height(pixels: Bytes, pose: FacePose, eye: Point) -> int:
    """Return the height of the dark part of an eye in face units, or 0 if it gets no lid."""
    x, y = eye
    around = _gray(pixels, pose, (x - 20, y - 20, x + 20, y + 20))
    lid = _gray(pixels, pose, (x - 22, y + _EYE_BOTTOM + 2, x + 22, y + _EYE_BOTTOM + 23))
    skin, iris = float(np.percentile(lid, 75)) + 1, cv2.GaussianBlur(around, (0, 0), _IRIS)[20, 20]
    half = (skin + float(iris)) / 2
    clear = (lid < half).mean() <= _MAX_DARK and lid.std() <= _MAX_ROUGH * skin
    if skin - iris < _CONTRAST * skin or not clear:
        return 0
    # Along a column through the iris; bright pixels above and below it end the eye.
    light = np.flatnonzero(around[:, 15:25].mean(axis=1) > half)
    return int(min(light[light > 20], default=40) - max(light[light < 20], default=0))
