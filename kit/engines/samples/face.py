"""A portrait that shows nobody: a head modeled as a relief and lit like one.

All shapes are functions of two coordinates, so that any size is drawn alike: `u` to the right and
`v` downward from the middle of the face, in half heights of the face.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats

#: Colors as they are painted before the light falls on them, sRGB.
_SKIN = (233, 184, 156)
_HAIR = (74, 46, 36)
_LIPS = (192, 92, 88)
_COAT = (46, 92, 104)
_WALL = ((196, 206, 204), (122, 146, 152))
#: Where the key light and the fill come from: right, down, toward the viewer; and how strong.
_LIGHTS = (((-0.5, -0.55, 0.72), 0.66), ((0.75, -0.1, 0.55), 0.22))
_AMBIENT = 0.36
#: Places of the face.
_EYE = (0.285, -0.12)
_MOUTH = 0.49


@dataclass(frozen=True, slots=True)
class _Sheet:
    """Coordinates of every pixel, and how wide an edge is that looks smooth."""

    u: Floats
    v: Floats
    edge: float

    def oval(self, x: float, y: float, wide: float, high: float, soft: float = 0.0) -> Floats:
        """Return the cover of an ellipse, 0 to 1; `soft` is the share of it that fades."""
        far = np.hypot((self.u - x) / wide, (self.v - y) / high)
        fade = max(soft, self.edge / min(wide, high))
        return np.asarray(np.clip((1 - far) / fade + 0.5 * (soft == 0.0), 0, 1), np.float32)

    def glow(self, x: float, y: float, wide: float, high: float) -> Floats:
        """Return a soft hill, 1 in its middle."""
        far = ((self.u - x) / wide) ** 2 + ((self.v - y) / high) ** 2
        return np.asarray(np.exp(-far), np.float32)


def portrait(width: int = 576, height: int = 720, *, seed: int = 5) -> Bytes:
    """Return the portrait of an invented person who looks at the camera.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)
        RGB; `kit.engines.media.faces` finds the face and both eyes.
    """
    scale = min(width / 2.0, height / 2.95)
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    sheet = _Sheet((columns - width / 2) / scale, (rows - height * 0.47) / scale, 1.5 / scale)
    rng = np.random.default_rng(seed)
    canvas = _wall(sheet)
    _body(canvas, sheet)
    _hair(canvas, sheet, rng, behind=True)
    _head(canvas, sheet)
    _eyes(canvas, sheet)
    _brows(canvas, sheet, rng)
    _hair(canvas, sheet, rng, behind=False)
    canvas += rng.normal(0, 1.6, (height, width, 1)).astype(np.float32)
    return np.asarray(np.clip(canvas, 0, 255), np.uint8)


def _laid(canvas: Floats, color: Floats | tuple[int, int, int], cover: Floats) -> None:
    canvas += (np.asarray(color, np.float32) - canvas) * cover[..., None]


def _lit(relief: Floats, scale: float) -> Floats:
    """Return how much light falls on a relief whose height is in half heights of the face."""
    down, right = np.gradient(relief * scale)
    length = np.sqrt(right**2 + down**2 + 1)
    light = np.full(relief.shape, _AMBIENT, np.float32)
    for (x, y, z), strength in _LIGHTS:
        light += strength * np.clip((-right * x - down * y + z) / length, 0, None)
    return light


def _wall(sheet: _Sheet) -> Floats:
    share = np.clip(np.hypot(sheet.u + 0.5, sheet.v + 0.7) / 2.4, 0, 1)[..., None]
    near, far = (np.array(color, np.float32) for color in _WALL)
    return np.asarray(near + (far - near) * share, np.float32)


def _body(canvas: Floats, sheet: _Sheet) -> None:
    shoulders = sheet.oval(0, 1.95, 1.28, 0.82)
    round_ = np.sqrt(np.clip(1.05 - (sheet.u / 1.3) ** 2 - ((sheet.v - 2.0) / 0.95) ** 2, 0, None))
    light = _lit(round_ * 0.5, 1 / sheet.edge * 1.5)
    _laid(canvas, np.array(_COAT, np.float32) * light[..., None], shoulders)
    tube = np.sqrt(np.clip(1 - (sheet.u / 0.36) ** 2, 0, None)) * 0.3
    shade = 1 - 0.42 * sheet.glow(0, 0.92, 0.5, 0.26)
    neck = np.array(_SKIN, np.float32) * (_lit(tube, 1 / sheet.edge * 1.5) * shade)[..., None]
    _laid(canvas, neck, sheet.oval(0, 0.9, 0.34, 0.56))
    shade = 1 - 0.25 * sheet.glow(0, 0.9, 0.4, 0.3)
    collar = np.array((238, 234, 224), np.float32) * shade[..., None]
    opening = sheet.oval(0, 1.12, 0.46, 0.36) * (1 - sheet.oval(0, 1.04, 0.37, 0.34))
    _laid(canvas, collar, opening * shoulders)


def _head(canvas: Floats, sheet: _Sheet) -> None:
    u, v = sheet.u, sheet.v
    jaw = np.clip(v, 0, None)
    across = u / (0.70 - 0.13 * jaw**2.0)
    inside = 1 - across**2 - ((v + 0.02) / 0.94) ** 2
    relief = np.sqrt(np.clip(inside, 0.0, None)) * 0.62
    for side in (-1, 1):
        x = side * _EYE[0]
        relief -= 0.085 * sheet.glow(x, _EYE[1] - 0.01, 0.19, 0.11)
        relief += 0.05 * sheet.glow(side * 0.36, 0.16, 0.2, 0.17)
        relief += 0.045 * sheet.glow(x, -0.3, 0.22, 0.08)
        relief += 0.05 * sheet.glow(side * 0.075, 0.225, 0.055, 0.045)
    relief += 0.085 * sheet.glow(0, 0.1, 0.085, 0.2) + 0.06 * sheet.glow(0, 0.2, 0.085, 0.07)
    relief += 0.05 * sheet.glow(0, 0.74, 0.18, 0.1)
    relief += 0.035 * sheet.glow(0, _MOUTH - 0.035, 0.2, 0.035)
    relief += 0.045 * sheet.glow(0, _MOUTH + 0.055, 0.16, 0.045)
    relief -= 0.03 * sheet.glow(0, _MOUTH, 0.14, 0.02)
    soft = np.asarray(cv2.GaussianBlur(relief, (0, 0), 1.2))
    light = _lit(soft, 1 / sheet.edge * 1.5)
    skin = np.empty((*u.shape, 3), np.float32)
    skin[:] = _SKIN
    for side in (-1, 1):
        _laid(skin, (226, 140, 124), 0.42 * sheet.glow(side * 0.4, 0.2, 0.22, 0.16))
        _laid(skin, (176, 118, 100), 0.5 * sheet.glow(side * _EYE[0], _EYE[1], 0.2, 0.11))
        _laid(skin, (96, 48, 44), 0.75 * sheet.glow(side * 0.078, 0.262, 0.035, 0.02))
    _laid(skin, (222, 136, 122), 0.3 * sheet.glow(0, 0.22, 0.12, 0.08))
    _laid(skin, (170, 118, 100), 0.4 * sheet.glow(0, 0.6, 0.16, 0.025))
    _laid(skin, (188, 134, 112), 0.5 * sheet.glow(0, 0.275, 0.14, 0.02))
    _lips(skin, sheet)
    shadow = 1 - 0.3 * sheet.glow(0, -0.78, 0.9, 0.26)
    rim = np.clip(inside / 0.32, 0, 1) ** 0.5 * 0.2 + 0.8
    shaded = skin * (light * shadow * rim)[..., None]
    shaded += 26 * sheet.glow(-0.03, 0.13, 0.035, 0.1)[..., None]
    shaded += 16 * sheet.glow(-0.16, -0.5, 0.22, 0.1)[..., None]
    for side in (-1, 1):
        ear = sheet.oval(side * 0.685, 0.02, 0.085, 0.2)
        _laid(canvas, np.array(_SKIN, np.float32) * (0.86 if side < 0 else 0.7), ear)
    cover = np.clip(inside / (2.4 * sheet.edge) + 0.5, 0, 1)
    _laid(canvas, np.clip(shaded, 0, 255), cover)


def _lips(skin: Floats, sheet: _Sheet) -> None:
    u, v = sheet.u, sheet.v - _MOUTH
    bend = 0.95 * u**2  # the corners are higher: a calm smile
    half = np.sqrt(np.clip(1 - (u / 0.255) ** 2, 0, None))
    bow = 0.066 - 0.02 * np.exp(-((u / 0.035) ** 2)) - 0.25 * np.abs(u) * 0.05
    upper = np.clip((v + bend + bow * half) / 0.016, 0, 1) * (v + bend < 0.004)
    lower = np.clip((0.094 * half - v - bend) / 0.02, 0, 1) * (v + bend >= 0.004)
    inside = (half > 0).astype(np.float32)
    _laid(skin, tuple(int(c * 0.88) for c in _LIPS), upper * inside * 0.85)  # type: ignore[arg-type]
    _laid(skin, _LIPS, lower * inside * 0.8)
    line = np.exp(-(((v + bend - 0.002) / 0.0115) ** 2)) * np.clip((0.265 - np.abs(u)) / 0.03, 0, 1)
    _laid(skin, (92, 34, 36), np.asarray(line * 0.95, np.float32))
    _laid(skin, (244, 176, 166), 0.55 * sheet.glow(-0.03, _MOUTH + 0.045, 0.07, 0.014))


def _eyes(canvas: Floats, sheet: _Sheet) -> None:
    for side in (-1, 1):
        x, y = side * _EYE[0], _EYE[1]
        u, v = sheet.u - x, sheet.v - y
        arch = np.clip(1 - (u / 0.135) ** 2, 0, None)
        top, bottom = -0.070 * arch**0.62, 0.046 * arch**0.7
        opening = np.clip((v - top) / sheet.edge, 0, 1) * np.clip((bottom - v) / sheet.edge, 0, 1)
        white = (
            np.array((240, 236, 230), np.float32)
            * (0.80 + 0.2 * np.clip((v - top) / 0.05, 0, 1))[..., None]
        )
        _laid(canvas, white, np.asarray(opening, np.float32))
        far = np.hypot(u, v + 0.008)
        iris = np.clip((0.060 - far) / sheet.edge, 0, 1) * opening
        rays = 0.75 + 0.35 * np.clip(far / 0.05, 0, 1) * (0.6 + 0.4 * np.clip(v / 0.04, 0, 1))
        color = np.array((84, 96, 70), np.float32) * rays[..., None]
        color *= np.where(far > 0.050, 0.5, 1.0)[..., None]
        _laid(canvas, color, np.asarray(iris, np.float32))
        _laid(canvas, (14, 11, 12), np.clip((0.027 - far) / sheet.edge, 0, 1) * opening)
        _laid(canvas, (255, 255, 255), sheet.oval(x - 0.022, y - 0.03, 0.013, 0.013))
        lash = np.exp(-(((v - top) / 0.012) ** 2)) * (np.abs(u) < 0.137)
        _laid(canvas, (40, 24, 22), np.asarray(lash * 0.92, np.float32))
        under = np.exp(-(((v - bottom) / 0.008) ** 2)) * (np.abs(u) < 0.12)
        _laid(canvas, (132, 84, 74), np.asarray(under * 0.55, np.float32))
        crease = np.exp(-(((v + 0.075 * arch**0.5 + 0.028) / 0.010) ** 2)) * (arch > 0)
        _laid(canvas, (128, 80, 66), np.asarray(crease * 0.5, np.float32))


def _brows(canvas: Floats, sheet: _Sheet, rng: np.random.Generator) -> None:
    noise = cv2.GaussianBlur(rng.normal(0, 1, sheet.u.shape).astype(np.float32), (0, 0), 0.9)
    for side in (-1, 1):
        along = (sheet.u * side - 0.13) / 0.33  # 0 at the nose, 1 at the temple
        middle = -0.285 - 0.055 * np.sin(np.clip(along, 0, 1) * np.pi * 0.72)
        thick = 0.042 * np.clip(along * 6 + 0.35, 0, 1) * np.clip((1 - along) * 1.6, 0, 1)
        far = np.abs(sheet.v - middle) / np.maximum(thick, 1e-4)
        cover = np.clip((1 - far) / 0.55, 0, 1) * ((along > -0.06) & (along < 1))
        cover = cover * np.clip(0.85 + 0.25 * noise, 0, 1)
        _laid(canvas, (70, 44, 36), np.asarray(cover * 0.9, np.float32))


def _hair(canvas: Floats, sheet: _Sheet, rng: np.random.Generator, *, behind: bool) -> None:
    u, v = sheet.u, sheet.v
    crown = sheet.oval(0, -0.2, 0.80, 0.98)
    # A bob: two locks that end in a curve beside the neck.
    locks = np.maximum(*(sheet.oval(side * 0.5, 0.32, 0.36, 0.72) for side in (-1, 1)))
    cover = np.maximum(crown, locks)
    if not behind:
        part = u - 0.2
        fringe = -0.66 + 0.55 * np.where(part < 0, 0.75, 1.6) * part**2
        above = np.clip((fringe - v) / (3 * sheet.edge), 0, 1)
        beside = np.clip((np.abs(u) - 0.60 - 0.02 * np.sin(v * 7)) / (3 * sheet.edge), 0, 1)
        cover = cover * np.maximum(above * crown, beside * np.clip((1.0 - v) / 0.5, 0, 1))
    around = np.arctan2(u - 0.12, 1.5 - v) * 1.6 + 0.05 * np.sin(v * 3 + 2 * np.abs(u))
    waves = sum(
        np.sin(around * wave + rng.uniform(0, 6.3)) / count
        for count, wave in enumerate((23, 41, 67, 97, 139), start=1)
    )
    shine = sheet.glow(-0.3, -0.86, 0.42, 0.12) * 0.75 + sheet.glow(0.42, -0.84, 0.2, 0.12) * 0.3
    depth = 0.52 if behind else 0.9
    tone = np.clip(depth + 0.16 * waves + shine * (0.75 + 0.25 * waves), 0.2, 2.2)
    _laid(canvas, np.array(_HAIR, np.float32) * np.asarray(tone)[..., None], cover)
