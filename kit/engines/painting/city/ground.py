"""The ground of a street: asphalt, curbs and marks, dry, wet or under snow."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.noise import smooth_step
from kit.engines.painting.city.directing import Hour
from kit.engines.painting.city.facades import laid
from kit.engines.painting.city.stencil import Spot
from kit.engines.painting.city.sunlight import Sunlight
from kit.engines.painting.city.view import ROAD, View
from kit.engines.painting.noise import Plane, field
from kit.engines.painting.tone import light
from kit.engines.prompt.brief import Brief

_SHEET = 512


def pave(
    rng: np.random.Generator,
    brief: Brief,
    view: View,
    hour: Hour,
    sun: Sunlight,
    lamps: list[Spot],
    sheets: tuple[Plane, Plane, Plane],
    progress: Progress,
) -> None:
    """Paint the ground below the horizon, where no building stands before it.

    Parameters
    ----------
    lamps : list of Spot
        Where lamps throw their light, when it is dark enough for them.
    sheets : tuple
        The picture, what buildings cover of it, and the color that distance fades to.
    """
    picture, cover, haze = sheets
    top = max(0, int(np.ceil(view.y)) + 1)
    if top >= view.height:
        return
    z = np.float32(view.eye) / -view.up()[top:]
    x = view.across() * z
    step = z / np.float32(view.focal)
    sheet = field(rng, _SHEET, _SHEET, cells=(8, 8), octaves=7, gain=0.62)
    coarse = laid(sheet, x * 22.0, z * 16.0)
    progress.report(0.2)
    fine = laid(sheet, x * 190.0, z * 120.0) * np.exp(-step * 7.0)
    progress.report(0.3)
    lit = sun.ground(x, z)
    progress.report(0.35)
    color = _dry(view, hour, lit, (x, z, step), (coarse, fine), progress.part(0.35, 0.55))
    progress.report(0.55)
    snowy: Plane | float = 0.0
    if brief.weather == "snow" or (brief.season == "winter" and "lying_snow" in brief.things):
        color, snowy = _snowed(color, hour, (x, z), (coarse, fine))
    if hour.neon > 0.2:
        color = color + _pools(x, z, lamps) * light((0.86, 0.10, 75)) * np.float32(
            0.22 * min(1.0, hour.neon)
        )
    progress.report(0.65)
    if hour.wet:
        mirroring = progress.part(0.65, 0.9)
        puddle = smooth_step(-0.9, 0.9, coarse + 0.15 * fine)
        color = _wetted(color, picture, view, hour, (puddle, fine), top, snowy, mirroring)
    progress.report(0.9)
    fade = 1.0 - np.exp(-z * np.float32(hour.thick))
    color += (haze[:, top:] - color) * fade
    below = picture[:, top:]
    below += (color - below) * (1.0 - cover[top:])


def _dry(
    view: View,
    hour: Hour,
    sunlit: Plane,
    place: tuple[Plane, Plane, Plane],
    grain: tuple[Plane, Plane],
    progress: Progress,
) -> Plane:
    x, z, step = place
    coarse, fine = grain
    out = np.abs(x)
    lit = light(hour.ambient) * np.float32(hour.fill * 0.9)
    reach = 0.16 if hour.ahead else 0.22 + 0.42 * sunlit
    lit = lit + light(hour.sun) * (np.float32(hour.power) * reach)
    lit = lit + light(hour.haze[0]) * np.float32(0.14 * hour.neon)
    road = light((0.47, 0.006, 260)) * (1.0 + 0.07 * fine + 0.045 * coarse)
    slab = _lines(x, 1.2, 0.02, step) + _lines(z, 1.2, 0.02, step * z / view.eye)
    walk = light((0.60, 0.012, 80)) * (
        1.0 + 0.09 * fine + 0.06 * coarse - 0.28 * np.clip(slab, 0, 1)
    )
    progress.report(0.4)
    side = _edge(out - ROAD, step)
    color = road + (walk - road) * side
    curb = _edge(out - ROAD + 0.12, step) * _edge(ROAD + 0.22 - out, step)
    color = color + (light((0.68, 0.01, 80)) - color) * curb * 0.7
    progress.report(0.7)
    worn = np.clip(0.72 + 0.3 * coarse, 0.15, 1.0)
    paint = _marks(x, z, step, view) * worn * (1.0 - side) * np.float32(1.0 - 0.62 * hour.wet)
    color = color + (light((0.90, 0.02, 95)) - color) * paint * 0.8
    shade = smooth_step(9.5, ROAD - 0.5, out) * 0.35 + 0.65
    return np.asarray(color * lit * shade, np.float32)


def _pools(x: Plane, z: Plane, lamps: list[Spot]) -> Plane:
    """Return the light of the lamps on the ground, 1 right below one."""
    total = np.zeros(np.broadcast_shapes(x.shape, z.shape), np.float32)
    for lamp in lamps:
        if lamp.z < 60.0:
            over = lamp.x * 0.72
            total += 1.0 / (1.0 + ((x - over) / 2.6) ** 2 + ((z - lamp.z) / 3.2) ** 2) ** 2
    return total


def _marks(x: Plane, z: Plane, step: Plane, view: View) -> Plane:
    """Return painted marks: a dashed line in the middle, lines along the curbs, a crossing."""
    deep = step * z / np.float32(view.eye)
    dash = _edge(0.075 - np.abs(x), step) * _dashes(z, 6.0, 3.0, deep)
    sides = _edge(0.06 - np.abs(np.abs(x) - (ROAD - 0.45)), step)
    zebra = _dashes(x + 0.3, 1.2, 0.6, step) * _edge(ROAD - 0.6 - np.abs(x), step)
    zebra = zebra * _edge(z - 13.0, deep) * _edge(16.5 - z, deep)
    off = 1.0 - _edge(z - 11.8, deep) * _edge(17.7 - z, deep)
    return np.asarray(np.maximum(zebra, np.maximum(dash, sides * 0.8) * off), np.float32)


def _snowed(
    color: Plane, hour: Hour, place: tuple[Plane, Plane], grain: tuple[Plane, Plane]
) -> tuple[Plane, Plane]:
    """Return the ground under trodden snow, and how much of it is snow."""
    x, _ = place
    coarse, fine = grain
    tracks = np.exp(-(((np.abs(np.abs(x) - 2.6) - 0.8) / 0.42) ** 2))
    share = smooth_step(-0.25, 0.55, 0.75 + 0.35 * coarse + 0.12 * fine - 1.15 * tracks)
    lit = light(hour.ambient) * np.float32(hour.fill + 0.12)
    lit = lit + light(hour.sun) * np.float32(0.35 * hour.power)
    lit = lit + light(hour.haze[0]) * np.float32(0.25 * hour.neon)
    snow = light((0.95, 0.01, 245)) * lit * (1.0 + 0.05 * fine + 0.05 * coarse)
    return np.asarray(color + (snow - color) * share, np.float32), share


def _wetted(
    color: Plane, picture: Plane, view: View, hour: Hour, grain: tuple[Plane, Plane],
    top: int, snowy: Plane | float, progress: Progress,
) -> Plane:  # fmt: skip
    """Return the ground with the street mirrored in it: sharp in puddles, drawn out elsewhere."""
    puddle, fine = grain
    steep = -view.up()[top:]
    height, width = view.height, view.width
    size = max(height, width) / 1024
    rows = np.arange(top, height, dtype=np.float32)[:, None]
    y = 2.0 * np.float32(view.y) - rows + fine * (2.5 + 20.0 * steep) * size
    x = np.arange(width, dtype=np.float32)[None] + fine * (1.2 + 9.0 * steep) * size
    y, x = np.asarray(np.clip(y, 0, max(1, top - 2)), np.float32), np.asarray(x, np.float32)
    # Water mirrors more the flatter one looks at it.
    strength = 0.20 + 0.72 * np.exp(-steep * 2.6)
    share = np.float32(hour.wet) * strength * (0.42 + 0.58 * puddle) * (1.0 - 0.8 * snowy)
    dark = color * (1.0 - 0.45 * hour.wet * (1.0 - snowy))
    out = np.empty_like(color)
    for number, plane in enumerate(picture):
        progress.report((number + 1) / 4)
        above = np.minimum(plane[:top], np.float32(4.0))
        short = cv2.blur(above, (3, 2 * int(12 * size) + 1))
        long = cv2.blur(above, (2 * int(2 * size) + 1, 2 * int(60 * size) + 1))
        sharp, soft, drawn = (_mirrored(sheet, x, y) for sheet in (above, short, long))
        near = 0.8 * sharp + 0.2 * soft
        rough = 0.55 * soft + 0.55 * drawn
        out[number] = dark[number] * (1.0 - 0.6 * share) + (rough + (near - rough) * puddle) * share
    return out


def _mirrored(plane: Plane, x: Plane, y: Plane) -> Plane:
    found = cv2.remap(plane, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(found)


def _lines(at: Plane, pitch: float, half: float, step: Plane) -> Plane:
    off = np.abs(at - np.round(at / pitch) * pitch)
    wide = np.maximum(step, 1e-4)
    return np.asarray(np.clip((half - off) / wide + 0.5, 0.0, 1.0) * np.clip(0.6 / wide, 0.0, 1.0))


def _dashes(at: Plane, pitch: float, long: float, step: Plane) -> Plane:
    off = np.abs(np.mod(at, pitch) - pitch / 2)
    sharp = np.clip((long / 2 - off) / np.maximum(step, 1e-4) + 0.5, 0.0, 1.0)
    far = np.clip(step / pitch * 2.0 - 0.5, 0.0, 1.0)
    return np.asarray(sharp + (long / pitch - sharp) * far, np.float32)


def _edge(inside: Plane, step: Plane) -> Plane:
    return np.asarray(np.clip(inside / np.maximum(step, 1e-4) + 0.5, 0.0, 1.0), np.float32)
