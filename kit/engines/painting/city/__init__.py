"""City streets: two rows of buildings, signs, wet ground, cars and walkers, at any hour."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.noise import smooth_step
from kit.engines.painting.city.street import ROAD, Street, cover, lamps_of, pulse, street_of
from kit.engines.painting.city.things import things_of
from kit.engines.painting.city.walls import Walls, add_signs
from kit.engines.painting.noise import Plane, blur, sample, tile
from kit.engines.painting.painting import Painting, paint_in_detail
from kit.engines.painting.sky import draw_falling
from kit.engines.painting.tints import is_gray
from kit.engines.painting.tone import Film, blend, light
from kit.engines.prompt.brief import Brief


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted street."""
    return paint_in_detail(brief, progress, _paint)


def _paint(brief: Brief, progress: Progress) -> Painting:
    rng = np.random.default_rng([brief.seed, 53])
    street = street_of(rng, brief)
    progress.report(0.1)
    Walls(rng, street).paint(progress.part(0.1, 0.5))
    hour, canvas, minimal = street.hour, street.canvas, "minimal" in brief.composition
    crowd = 0.8 * min(1.0, hour.neon + 0.3) * (not minimal)
    add_signs(rng, street, crowd * {"calm": 0.4, "gloomy": 0.45}.get(brief.mood, 1.0))
    _pave(rng, street, progress.part(0.55, 0.7))
    things = things_of(rng, street)
    for number, it in enumerate(progress.part(0.7, 0.95).over(things)):
        own = rng.spawn(1)[0]  # the random numbers of one must not depend on another's visibility
        if "close" in brief.composition and number == len(things) - 1:  # out of focus behind it
            for plane in canvas.light:
                plane[...] = blur(plane, 0.0065 * max(plane.shape))
        it.add(own, street)
    if brief.falling and brief.weather in ("rain", "snow"):  # lit by the street behind it
        size = max(canvas.depth.shape)
        around = np.stack([blur(np.minimum(it, 1.6), 0.035 * size) for it in canvas.light])
        bright = around * np.float32(2.25) + np.float32(0.03)
        draw_falling(canvas.light, brief, bright, rng, 0.3 if minimal else 0.8)
    progress.report(1.0)
    halo = 0.45 if brief.weather == "fog" and brief.dark else 0.0  # halos of lamps in fog
    film = Film(
        exposure=hour.exposure,
        contrast=1.03,
        saturation=0.08 if is_gray(brief) else 1.05,
        vignette=0.34 if brief.dark else 0.2,
        bloom=1.05 * (0.25 + 0.3 * min(1.0, hour.neon) + halo),
        threshold=0.75,
    )
    return canvas.painting(film.grade(brief))


def _pave(rng: np.random.Generator, street: Street, progress: Progress) -> None:
    brief, hour, canvas = street.brief, street.hour, street.canvas
    top = max(0, int(np.ceil(street.y)) + 1)
    if top >= brief.height:
        return
    at = slice(top, brief.height), slice(0, brief.width)
    z = np.float32(street.eye) / -street.up[top:]
    x, step = street.right * z, z / np.float32(street.focal)
    deep, out = step * z / np.float32(street.eye), np.abs(x)  # meters per pixel along z
    noise = tile(rng, cells=8, octaves=7, gain=0.62)
    coarse = sample(noise, *np.broadcast_arrays(x * 22.0, z * 16.0))
    fine = sample(noise, *np.broadcast_arrays(x * 190.0, z * 120.0)) * np.exp(-step * 7.0)
    progress.report(0.3)
    sunlit: Plane | float = 1.0
    if street.sunny:
        sunlit = smooth_step(-0.8, 0.8, (x * street.sunny + 9.0) * 1.9 - street.shadow(z))
    lit = 0.9 * hour.ambient + hour.glow * (0.14 * hour.neon)
    lit = lit + hour.sun * (0.16 if hour.sun_ahead else 0.22 + 0.42 * sunlit)
    side = cover(out - ROAD, step)
    slabs = np.minimum(pulse(x / 1.2, 0.0, 0.04, step) + pulse(z / 1.2, 0.0, 0.04, deep), 1.0)
    road = light((0.47, 0.006, 260)) * (1.0 + 0.07 * fine + 0.045 * coarse)
    walk = light((0.60, 0.012, 80)) * (1.0 + 0.09 * fine + 0.06 * coarse - 0.28 * slabs)
    color = blend(road, walk, side)
    curb = 0.7 * cover(0.17 - np.abs(out - ROAD - 0.05), step)
    color += (light((0.68, 0.01, 80)) - color) * curb
    # A dashed line in the middle, lines along the curbs, a crossing.
    dashes = cover(0.075 - out, step) * pulse(z / 6.0, 0.25, 0.5, deep / 6.0)
    marks = np.maximum(dashes, 0.8 * cover(0.06 - np.abs(out - ROAD + 0.45), step))
    zebra = pulse(x / 1.2, 0.5, 0.5, step / 1.2) * cover(ROAD - 0.6 - out, step)
    crossing = np.abs(z - 14.75)
    marks = np.maximum(
        marks * (1.0 - cover(2.95 - crossing, deep)), zebra * cover(1.75 - crossing, deep)
    )
    worn = np.clip(0.72 + 0.3 * coarse, 0.15, 1.0) * (1.0 - 0.62 * hour.wetness)
    color += (light((0.90, 0.02, 95)) - color) * (0.8 * marks * worn * (1.0 - side))
    color *= lit * (0.65 + 0.35 * smooth_step(9.5, ROAD - 0.5, out))
    progress.report(0.6)
    covered: Plane | float = 0.0
    if brief.weather == "snow" or (brief.season == "winter" and "lying_snow" in brief.things):
        tracks = np.exp(-(((np.abs(out - 2.6) - 0.8) / 0.42) ** 2))  # of cars, and trodden
        covered = smooth_step(-0.25, 0.55, 0.75 + 0.35 * coarse + 0.12 * fine - 1.15 * tracks)
        shine = hour.ambient * (1.0 + 0.12 / hour.sky_power) + 0.35 * hour.sun
        shine = (shine + hour.glow * (0.25 * hour.neon)) * (1.0 + 0.05 * fine + 0.05 * coarse)
        color = blend(color, light((0.95, 0.01, 245)) * shine, covered)
    if hour.neon > 0.2:
        pools = np.zeros(coarse.shape, np.float32)
        for aside, ahead in lamps_of(brief):
            if ahead < 60.0:
                pools += (1.0 + ((x - 0.72 * aside) / 2.6) ** 2 + ((z - ahead) / 3.2) ** 2) ** -2
        color += light((0.86, 0.10, 75), 0.22 * min(1.0, hour.neon)) * pools
    if hour.wetness:
        puddle = smooth_step(-0.9, 0.9, coarse + 0.15 * fine)
        share = hour.wetness * (0.42 + 0.58 * puddle) * (1.0 - 0.8 * covered)
        color *= 1.0 - 0.45 * hour.wetness * (1.0 - covered)
        _mirror(canvas.light, color, street, top, fine, puddle, share)
    progress.report(0.9)
    color += (street.air[:, *at] - color) * (1.0 - np.exp(-z * np.float32(hour.density)))
    canvas.blend(at, color, canvas.sky[at].copy(), np.broadcast_to(z, coarse.shape))


def _mirror(
    picture: Plane, color: Plane, street: Street, top: int, fine: Plane, puddle: Plane, share: Plane
) -> None:
    steep, size = -street.up[top:], max(street.brief.height, street.brief.width) / 1024
    rows = np.arange(top, street.brief.height, dtype=np.float32)[:, None]
    y = np.clip(
        2.0 * np.float32(street.y) - rows + fine * (2.5 + 20.0 * steep) * size, 0, max(1, top - 2)
    )
    x = np.arange(street.brief.width, dtype=np.float32)[None] + fine * (1.2 + 9.0 * steep) * size
    # Water reflects more at a grazing angle.
    share = share * (0.20 + 0.72 * np.exp(-steep * 2.6))
    for plane, out in zip(picture, color, strict=True):
        above = np.minimum(plane[:top], np.float32(4.0))
        short = cv2.blur(above, (3, 2 * int(12 * size) + 1))
        long = cv2.blur(above, (2 * int(2 * size) + 1, 2 * int(60 * size) + 1))
        sharp, soft, drawn = (
            cv2.remap(it, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            for it in (above, short, long)
        )
        rough = 0.55 * (soft + drawn)
        out *= 1.0 - 0.6 * share
        out += (rough + (0.8 * sharp + 0.2 * soft - rough) * puddle) * share
