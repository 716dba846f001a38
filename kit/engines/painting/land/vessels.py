"""Vessels and towers: a sailing boat on the water, a lighthouse on the cliff."""

from __future__ import annotations

import math

import cv2
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.painting.land import air
from kit.engines.painting.land.relief import Relief
from kit.engines.painting.land.vista import Vista
from kit.engines.painting.land.voxel import Seen
from kit.engines.painting.noise import Plane
from kit.engines.painting.tone import light

_SHIFT = 4  # positions are drawn to 1/16 pixel
#: Composition -> how much larger a boat or a tower is shown.
_BOATS = {"close": 1.7, "wide": 0.7, "minimal": 2.4, "dramatic": 0.8}
_TOWERS = {"close": 2.0, "wide": 0.75, "minimal": 1.25, "dramatic": 1.5}


def sailboat(scene: Vista, planes: Floats, view: Seen) -> None:
    """Draw a sloop under sail with its mirror image, in place."""
    camera, dice = scene.camera, scene.dice(20)
    z = float(dice.uniform(48, 95)) / _shown(_BOATS, scene)
    unit = camera.focal / z
    x = camera.columns * (0.5 + 0.32 * scene.subject)
    y = camera.row(0.0, z)
    lean = float(dice.uniform(0.03, 0.10)) * np.sign(scene.subject or 1.0)
    lit = light(scene.look.sun, 0.45 * scene.look.sun_power)
    shade = light(scene.look.shade, 0.9 * scene.look.shade_power)
    lost = air.haze(scene.look, np.full((1, 1), z, np.float32), np.full((1, 1), 4.0, np.float32))
    haze = light(scene.look.air) * lost
    for points, tone, glow in _SLOOP:
        color = light(tone) * (shade + lit * glow) * (1 - lost) + haze
        shape = np.array(points, float)
        shape[:, 0] += lean * shape[:, 1]
        place = np.array([x, y + 0.15 * unit]) + shape * unit * (1.0, -1.0)
        _filled(planes, place, color, 1.0)
        mirror = np.array([x, y + 0.15 * unit]) + shape * unit * (1.0, 0.62)
        mirror[:, 0] += 0.10 * unit * np.sin(shape[:, 1] * 5)
        _filled(planes, mirror, color * 0.6, 0.42)


#: Outline in world units (right, up), color, share of sunlight.
_SLOOP = (
    (((-2.0, 0.7), (2.2, 0.8), (1.7, 0.0), (-1.7, 0.0)), (0.32, 0.05, 250), 0.5),
    (((-2.0, 0.85), (2.25, 0.95), (2.2, 0.78), (-2.0, 0.68)), (0.88, 0.02, 80), 0.8),
    (((0.12, 0.9), (0.22, 0.9), (0.20, 7.4), (0.14, 7.4)), (0.45, 0.05, 60), 0.6),
    (
        ((0.05, 1.3), (0.10, 7.2), (-0.55, 4.8), (-1.45, 2.4), (-2.0, 1.35)),
        (0.96, 0.015, 85),
        1.0,
    ),
    (((0.32, 1.2), (0.26, 6.4), (0.9, 4.0), (1.6, 2.2), (2.15, 1.1)), (0.93, 0.02, 80), 0.75),
)


def tower_size(scene: Vista) -> float:
    """Return the factor on the size of a lighthouse that the camera's words ask for."""
    return _shown(_TOWERS, scene)


def _shown(sizes: dict[str, float], scene: Vista) -> float:
    return math.prod(sizes.get(word, 1.0) for word in scene.brief.composition)


def lighthouse(scene: Vista, planes: Floats, land: Relief) -> None:
    """Draw a lighthouse on the highest land on the side of the subject; it shines in the dark."""
    camera = scene.camera
    side, size = scene.subject or 0.4, tower_size(scene)
    z = np.linspace(110.0, 240.0, 40, dtype=np.float32)[:, None]
    x = (np.float32(np.sign(side)) * np.linspace(0.35, 0.8, 40, dtype=np.float32))[None]
    x = x * camera.widest * z
    height = land.height(np.asarray(x), np.broadcast_to(z, x.shape).copy())
    above = (
        (height + np.float32(_TALL * size) - np.float32(camera.height))
        * np.float32(camera.focal)
        / z
    )
    cut = np.maximum(above - np.float32(0.94 * camera.horizon), 0.0)  # rows beyond the frame
    spot = int(np.argmax(height - 0.05 * z - 10.0 * cut))
    place, ground = (float(np.ravel(part)[spot]) for part in (x, height))
    far = float(np.ravel(np.broadcast_to(z, x.shape))[spot])
    unit = camera.focal / far
    foot = np.array([camera.column(place, far), camera.row(ground - 1.0, far)])
    unit *= size
    lit = light(scene.look.sun, 0.4 * scene.look.sun_power)
    shade = light(scene.look.shade, 0.85 * scene.look.shade_power)
    for points, tone in _TOWER:
        shape = foot + np.array(points, float) * unit * (1.0, -1.0)
        _filled(planes, shape, light(tone) * (lit + shade), 1.0)
    if scene.brief.hour != "day":
        _beacon(scene, planes, foot - (0.0, 17.2 * unit), unit)


_TALL = 19.8  # of the tower, in world units
_TOWER = (
    (((-1.7, 0), (1.7, 0), (1.15, 15.5), (-1.15, 15.5)), (0.93, 0.010, 90)),
    (((0.1, 0), (1.7, 0), (1.15, 15.5), (0.1, 15.5)), (0.80, 0.015, 250)),
    (((-1.55, 4), (1.55, 4), (1.42, 7.4), (-1.42, 7.4)), (0.52, 0.16, 27)),
    (((-1.3, 11), (1.3, 11), (1.18, 14.2), (-1.18, 14.2)), (0.52, 0.16, 27)),
    (((-1.6, 15.5), (1.6, 15.5), (1.6, 16.0), (-1.6, 16.0)), (0.30, 0.02, 250)),
    (((-0.85, 16.0), (0.85, 16.0), (0.85, 18.0), (-0.85, 18.0)), (0.80, 0.06, 95)),
    (((-1.2, 18.0), (1.2, 18.0), (0, 19.8)), (0.45, 0.15, 27)),
)


def _beacon(scene: Vista, planes: Floats, lamp: Plane, unit: float) -> None:
    """Let the lamp glow, and send a beam to either side."""
    _, height, width = planes.shape
    beams = np.zeros((height, width), np.float32)
    reach = 0.9 * max(height, width)
    for way in (-1.0, 1.0):
        ends = [(way * reach, -0.02 * reach), (way * reach, 0.09 * reach)]
        shape = np.array([lamp, lamp + ends[0], lamp + ends[1]])
        points = np.round(shape * 2**_SHIFT).astype(np.int32)
        cv2.fillPoly(beams, [points], 1.0, cv2.LINE_AA, _SHIFT)
    x = np.arange(width, dtype=np.float32)[None] - np.float32(lamp[0])
    y = np.arange(height, dtype=np.float32)[:, None] - np.float32(lamp[1])
    away = np.sqrt(x * x + y * y)
    beams = cv2.GaussianBlur(beams, (0, 0), 0.006 * width) * np.exp(-away / (0.30 * reach)) * 0.30
    glow = beams + 1.6 * np.exp(-((away / (1.1 * unit)) ** 2)) + 0.5 * np.exp(-away / (4.5 * unit))
    share = 1.0 if scene.brief.dark else 0.35
    planes += light((0.95, 0.09, 90)) * (glow * np.float32(share))


def _filled(planes: Floats, outline: Plane, color: Plane, share: float) -> None:
    """Fill a polygon with a color, smooth at its edges, in place."""
    _, height, width = planes.shape
    left, top = np.floor(outline.min(axis=0)).astype(int) - 1
    right, bottom = np.ceil(outline.max(axis=0)).astype(int) + 2
    left, top = max(left, 0), max(top, 0)
    right, bottom = min(right, width), min(bottom, height)
    if left >= right or top >= bottom:
        return
    mask = np.zeros((bottom - top, right - left), np.uint8)
    points = np.round((outline - (left, top)) * 2**_SHIFT).astype(np.int32)
    cv2.fillPoly(mask, [points], 255, cv2.LINE_AA, _SHIFT)
    patch = planes[:, top:bottom, left:right]
    patch += (color - patch) * (mask.astype(np.float32) * np.float32(share / 255))
