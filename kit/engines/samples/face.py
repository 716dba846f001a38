"""A portrait of an invented person: a head modeled as a relief and lit like one.

All shapes are functions of two coordinates, so that any size is drawn alike: `u` to the right and
`v` downward from the middle of the face, in half heights of the face.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import ArrayLike

from kit.engines.media.color import Bytes, Floats

#: Colors as they are painted before the light falls on them, sRGB.
_SKIN, _HAIR, _COAT, _LIPS, *_WALL = np.array(
    [(233, 184, 156), (74, 46, 36), (46, 92, 104), (192, 92, 88), (196, 206, 204), (122, 146, 152)],
    np.float32,
)
#: Where the key light and the fill come from: right, down, toward the viewer; and how strong.
_LIGHTS, _AMBIENT = (((-0.5, -0.55, 0.72), 0.66), ((0.75, -0.1, 0.55), 0.22)), 0.36
_EYE, _MOUTH = (0.285, -0.12), 0.49
#: Hills and hollows of the face: height, place, half sizes; those that are not in the middle are on
#: both sides.
_RELIEF = (
    (-0.085, _EYE[0], _EYE[1] - 0.01, 0.19, 0.11),
    (0.05, 0.36, 0.16, 0.2, 0.17),
    (0.045, _EYE[0], -0.3, 0.22, 0.08),
    (0.05, 0.075, 0.225, 0.055, 0.045),
    (0.085, 0.0, 0.1, 0.085, 0.2),
    (0.06, 0.0, 0.2, 0.085, 0.07),
    (0.05, 0.0, 0.74, 0.18, 0.1),
    (0.035, 0.0, _MOUTH - 0.035, 0.2, 0.035),
    (0.045, 0.0, _MOUTH + 0.055, 0.16, 0.045),
    (-0.03, 0.0, _MOUTH, 0.14, 0.02),
)
#: Places of another color: which, how much of it, place, half sizes.
_SPOTS = (
    ((226, 140, 124), 0.42, 0.4, 0.2, 0.22, 0.16),
    ((176, 118, 100), 0.5, *_EYE, 0.2, 0.11),
    ((96, 48, 44), 0.75, 0.078, 0.262, 0.035, 0.02),
    ((222, 136, 122), 0.3, 0.0, 0.22, 0.12, 0.08),
    ((170, 118, 100), 0.4, 0.0, 0.6, 0.16, 0.025),
    ((188, 134, 112), 0.5, 0.0, 0.275, 0.14, 0.02),
)


class _Sheet(NamedTuple):
    """Coordinates of every pixel, and how wide an edge is that looks smooth."""

    u: Floats
    v: Floats
    edge: float

    def oval(self, x: float, y: float, wide: float, high: float) -> Floats:
        """Return the cover of an ellipse, 0 to 1."""
        far = np.hypot((self.u - x) / wide, (self.v - y) / high)
        return np.asarray(np.clip((1 - far) / (self.edge / min(wide, high)) + 0.5, 0, 1))

    def glow(self, x: float, y: float, wide: float, high: float) -> Floats:
        """Return a soft hill, 1 in its middle, and its mirror image unless it is in the middle."""
        sides = (x, -x) if x else (0.0,)
        fall = ((self.v - y) / high) ** 2
        return np.asarray(sum(np.exp(-(((self.u - at) / wide) ** 2) - fall) for at in sides))

    def light(self, relief: Floats) -> Floats:
        """Return how much light falls on a relief whose height is in half heights of the face."""
        down, right = np.gradient(relief * (1.5 / self.edge))
        length = np.sqrt(right**2 + down**2 + 1)
        return np.asarray(
            _AMBIENT
            + sum(
                strength * np.clip((-right * x - down * y + z) / length, 0, None)
                for (x, y, z), strength in _LIGHTS
            )
        )[..., None]


def draw_portrait(width: int = 576, height: int = 720, *, seed: int = 5) -> Bytes:
    """Return the portrait of an invented person who looks at the camera.

    `kit.engines.media.faces` finds the face and both eyes.
    """
    scale = min(width / 2.0, height / 2.95)
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    sheet = _Sheet((columns - width / 2) / scale, (rows - height * 0.47) / scale, 1.5 / scale)
    rng = np.random.default_rng(seed)
    share = np.clip(np.hypot(sheet.u + 0.5, sheet.v + 0.7) / 2.4, 0, 1)[..., None]
    canvas = np.asarray(_WALL[0] + (_WALL[1] - _WALL[0]) * share, np.float32)
    _body(canvas, sheet)
    _hair(canvas, sheet, rng, behind=True)
    _head(canvas, sheet)
    _eye(canvas, sheet, -_EYE[0])
    _eye(canvas, sheet, _EYE[0])
    _brows(canvas, sheet, rng)
    _hair(canvas, sheet, rng, behind=False)
    canvas += rng.normal(0, 1.6, (height, width, 1)).astype(np.float32)
    return np.asarray(np.clip(canvas, 0, 255), np.uint8)


def _lay(canvas: Floats, color: ArrayLike, cover: Any) -> None:
    canvas += (np.asarray(color, np.float32) - canvas) * cover[..., None]


def _ramp(value: Any) -> Floats:
    return np.asarray(np.clip(value, 0, 1))


def _body(canvas: Floats, sheet: _Sheet) -> None:
    u, v = sheet.u, sheet.v
    shoulders = sheet.oval(0, 1.95, 1.28, 0.82)
    chest = np.sqrt(np.clip(1.05 - (u / 1.3) ** 2 - ((v - 2.0) / 0.95) ** 2, 0, None))
    _lay(canvas, _COAT * sheet.light(chest * 0.5), shoulders)
    tube = sheet.light(np.sqrt(np.clip(1 - (u / 0.36) ** 2, 0, None)) * 0.3)
    shade = 1 - 0.42 * sheet.glow(0, 0.92, 0.5, 0.26)
    _lay(canvas, _SKIN * tube * shade[..., None], sheet.oval(0, 0.9, 0.34, 0.56))
    collar = (238, 234, 224) * (1 - 0.25 * sheet.glow(0, 0.9, 0.4, 0.3))[..., None]
    opening = sheet.oval(0, 1.12, 0.46, 0.36) * (1 - sheet.oval(0, 1.04, 0.37, 0.34))
    _lay(canvas, collar, opening * shoulders)


def _head(canvas: Floats, sheet: _Sheet) -> None:
    u, v = sheet.u, sheet.v
    across = u / (0.70 - 0.13 * np.clip(v, 0, None) ** 2)
    inside = 1 - across**2 - ((v + 0.02) / 0.94) ** 2
    relief = np.sqrt(np.clip(inside, 0.0, None)) * 0.62
    relief += sum(height * sheet.glow(*place) for height, *place in _RELIEF)
    skin = np.broadcast_to(_SKIN, (*u.shape, 3)).copy()
    for color, share, *place in _SPOTS:
        _lay(skin, color, share * sheet.glow(*place))
    _lips(skin, sheet)
    shade = (1 - 0.3 * sheet.glow(0, -0.78, 0.9, 0.26)) * (_ramp(inside / 0.32) ** 0.5 * 0.2 + 0.8)
    skin *= sheet.light(np.asarray(cv2.GaussianBlur(relief, (0, 0), 1.2))) * shade[..., None]
    # Light on the nose and the brow.
    skin += 26 * np.exp(-(((u + 0.03) / 0.035) ** 2) - ((v - 0.13) / 0.1) ** 2)[..., None]
    skin += 16 * np.exp(-(((u + 0.16) / 0.22) ** 2) - ((v + 0.5) / 0.1) ** 2)[..., None]
    for side, light in ((-1, 0.86), (1, 0.7)):
        _lay(canvas, _SKIN * light, sheet.oval(side * 0.685, 0.02, 0.085, 0.2))
    _lay(canvas, np.clip(skin, 0, 255), _ramp(inside / (2.4 * sheet.edge) + 0.5))


def _lips(skin: Floats, sheet: _Sheet) -> None:
    # The corners are higher: a calm smile.
    u, v = sheet.u, sheet.v - _MOUTH + 0.95 * sheet.u**2
    half = np.sqrt(np.clip(1 - (u / 0.255) ** 2, 0, None))
    bow = 0.066 - 0.02 * np.exp(-((u / 0.035) ** 2)) - 0.0125 * np.abs(u)
    inside = half > 0
    _lay(skin, _LIPS * 0.88, 0.85 * _ramp((v + bow * half) / 0.016) * (v < 0.004) * inside)
    _lay(skin, _LIPS, 0.8 * _ramp((0.094 * half - v) / 0.02) * (v >= 0.004) * inside)
    line = np.exp(-(((v - 0.002) / 0.0115) ** 2)) * _ramp((0.265 - np.abs(u)) / 0.03)
    _lay(skin, (92, 34, 36), 0.95 * line)
    shine = np.exp(-(((u + 0.03) / 0.07) ** 2) - ((sheet.v - _MOUTH - 0.045) / 0.014) ** 2)
    _lay(skin, (244, 176, 166), 0.55 * shine)


def _eye(canvas: Floats, sheet: _Sheet, x: float) -> None:
    u, v, edge = sheet.u - x, sheet.v - _EYE[1], sheet.edge
    arch = np.clip(1 - (u / 0.135) ** 2, 0, None)
    top, bottom = -0.070 * arch**0.62, 0.046 * arch**0.7
    opening = _ramp((v - top) / edge) * _ramp((bottom - v) / edge)
    _lay(canvas, (240, 236, 230) * (0.80 + 0.2 * _ramp((v - top) / 0.05))[..., None], opening)
    far = np.hypot(u, v + 0.008)
    rays = 0.75 + 0.35 * _ramp(far / 0.05) * (0.6 + 0.4 * _ramp(v / 0.04))
    rays *= np.where(far > 0.050, 0.5, 1.0)
    _lay(canvas, (84, 96, 70) * rays[..., None], _ramp((0.060 - far) / edge) * opening)
    _lay(canvas, (14, 11, 12), _ramp((0.027 - far) / edge) * opening)
    _lay(canvas, (255, 255, 255), sheet.oval(x - 0.022, _EYE[1] - 0.03, 0.013, 0.013))
    lash = np.exp(-(((v - top) / 0.012) ** 2)) * (np.abs(u) < 0.137)
    _lay(canvas, (40, 24, 22), 0.92 * lash)
    under = np.exp(-(((v - bottom) / 0.008) ** 2)) * (np.abs(u) < 0.12)
    _lay(canvas, (132, 84, 74), 0.55 * under)
    crease = np.exp(-(((v + 0.075 * arch**0.5 + 0.028) / 0.010) ** 2)) * (arch > 0)
    _lay(canvas, (128, 80, 66), 0.5 * crease)


def _brows(canvas: Floats, sheet: _Sheet, rng: np.random.Generator) -> None:
    noise = cv2.GaussianBlur(rng.normal(0, 1, sheet.u.shape).astype(np.float32), (0, 0), 0.9)
    along = (np.abs(sheet.u) - 0.13) / 0.33  # 0 at the nose, 1 at the temple
    middle = -0.285 - 0.055 * np.sin(_ramp(along) * np.pi * 0.72)
    thick = 0.042 * _ramp(along * 6 + 0.35) * _ramp((1 - along) * 1.6)
    far = np.abs(sheet.v - middle) / np.maximum(thick, 1e-4)
    cover = _ramp((1 - far) / 0.55) * ((along > -0.06) & (along < 1)) * _ramp(0.85 + 0.25 * noise)
    _lay(canvas, (70, 44, 36), 0.9 * cover)


def _hair(canvas: Floats, sheet: _Sheet, rng: np.random.Generator, *, behind: bool) -> None:
    u, v = sheet.u, sheet.v
    crown = sheet.oval(0, -0.2, 0.80, 0.98)
    # A bob: two locks that end in a curve beside the neck.
    cover = np.maximum(crown, np.maximum(*(sheet.oval(x, 0.32, 0.36, 0.72) for x in (-0.5, 0.5))))
    if not behind:
        part = u - 0.2
        fringe = -0.66 + 0.55 * np.where(part < 0, 0.75, 1.6) * part**2
        above = _ramp((fringe - v) / (3 * sheet.edge))
        beside = _ramp((np.abs(u) - 0.60 - 0.02 * np.sin(v * 7)) / (3 * sheet.edge))
        cover = cover * np.maximum(above * crown, beside * _ramp((1.0 - v) / 0.5))
    around = np.arctan2(u - 0.12, 1.5 - v) * 1.6 + 0.05 * np.sin(v * 3 + 2 * np.abs(u))
    waves = sum(
        np.sin(around * wave + rng.uniform(0, 6.3)) / count
        for count, wave in enumerate((23, 41, 67, 97, 139), start=1)
    )
    shine = sum(
        light * np.exp(-(((u - x) / wide) ** 2) - ((v + 0.85) / 0.12) ** 2)
        for light, x, wide in ((0.75, -0.3, 0.42), (0.3, 0.42, 0.2))
    )
    tone = (0.52 if behind else 0.9) + 0.16 * waves + shine * (0.75 + 0.25 * waves)
    _lay(canvas, _HAIR * np.clip(tone, 0.2, 2.2)[..., None], cover)
