"""City streets: two rows of buildings, signs, wet ground and those who pass, at any hour."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.painting.canvas import Canvas
from kit.engines.painting.city.drawing import Drawing, add_drawing, seen
from kit.engines.painting.city.ground import pave
from kit.engines.painting.city.light import Sunlight, air_of, hour_of, paint_sky
from kit.engines.painting.city.street import buildings_of, view_of
from kit.engines.painting.city.things import SIZES, lamps_of, things_of
from kit.engines.painting.city.walls import Walls
from kit.engines.painting.framing import factor
from kit.engines.painting.noise import Plane, blur
from kit.engines.painting.painting import Painting, paint_in_detail
from kit.engines.painting.tints import drained
from kit.engines.painting.tone import Film
from kit.engines.prompt.brief import Brief

#: Weather -> layers of what falls, from afar to near: how many, length and width in pixels of a
#: picture whose longer side has 1024, strength, blur.
_FALLING = {
    "rain": ((900, 20.0, 0.7, 0.26, 0.5), (420, 46.0, 0.7, 0.38, 0.7), (70, 102.0, 1.5, 0.36, 1.6)),
    "snow": ((1500, 0.0, 1.8, 1.2, 0.5), (420, 0.0, 3.6, 1.2, 0.9), (90, 0.0, 8.4, 1.2, 2.4)),
}
_SIGNS = {"calm": 0.4, "gloomy": 0.45}  # share of the signs that a mood leaves


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted street."""
    return paint_in_detail(brief, progress, _paint)


def _paint(brief: Brief, progress: Progress) -> Painting:
    rng = np.random.default_rng([brief.seed, 53])
    view = view_of(rng, brief)
    hour = hour_of(rng, brief, view)
    buildings = buildings_of(rng, brief, view)
    canvas = Canvas.over(paint_sky(rng, brief, view, hour))
    air, sun = air_of(view, hour), Sunlight(buildings, hour, int(rng.choice([-1, 1])))
    progress.report(0.12)
    crowd = 0.8 * min(1.0, hour.neon + 0.3) * factor(brief, {"minimal": 0.0})
    crowd *= _SIGNS.get(brief.mood, 1.0)
    walls = Walls(rng, canvas, view, hour, air)
    walls.paint(rng, buildings, sun, crowd, progress.part(0.12, 0.6))
    snow = brief.weather == "snow" or (brief.season == "winter" and "lying_snow" in brief.things)
    paving = progress.part(0.6, 0.7)
    pave(rng, canvas, view, hour, sun, air, lamps_of(brief), paving, snow=snow)
    things = things_of(rng, brief, view, hour)
    for number, it in enumerate(progress.part(0.7, 0.95).over(things)):
        own = rng.spawn(1)[0]  # what one draws must not depend on whether another is seen
        if "close" in brief.composition and number == len(things) - 1:  # out of focus behind it
            for plane in canvas.light:
                plane[...] = blur(plane, 0.0065 * max(view.width, view.height))
        if seen(view, it.x, it.z, *SIZES[it.kind]):
            drawing = Drawing(*SIZES[it.kind], view.focal / it.z)
            it.draw(own, drawing)
            add_drawing(canvas, view, hour, air, it.x, it.z, drawing)
    if brief.falling and brief.weather in _FALLING:
        amount = {"low": 0.6, "standard": 1.0, "high": 1.2}[brief.detail]
        _add_falling(rng, canvas.light, brief, amount * factor(brief, {"minimal": 0.35}))
    progress.report(1.0)
    halo = 0.45 if brief.weather == "fog" and brief.dark else 0.0  # lamps shine into fog
    film = Film(
        exposure=hour.exposure,
        contrast=1.03,
        saturation=0.08 if drained(brief) else 1.05,
        vignette=0.34 if brief.dark else 0.2,
        bloom=1.05 * (0.25 + 0.3 * min(1.0, hour.neon) + halo),
        threshold=0.75,
    )
    return Painting(
        light=canvas.light,
        film=film.graded(brief),
        depth=canvas.depth,
        sky=canvas.sky,
        emitters=canvas.emitters,
    )


def _add_falling(rng: np.random.Generator, picture: Plane, brief: Brief, amount: float) -> None:
    """Add rain or snow, lit by the street behind it."""
    _, height, width = picture.shape
    size = max(height, width)
    sheet, wind = np.zeros((height, width), np.float32), rng.uniform(-0.22, 0.22)
    for count, long, wide, strength, soft in _FALLING[brief.weather]:
        number = round(count * amount * height * width / size**2)
        layer = np.zeros((height, width), np.uint8)
        starts = rng.uniform((-0.1, -0.1), (1.1, 1.0), (number, 2)) * (width, height)
        ends = starts + long * size / 1024 * rng.uniform(0.6, 1.4, (number, 1)) * (wind, 1.0)
        thick = (
            np.maximum(1, wide * size / 1024 * rng.uniform(0.6, 1.5, number)).round().astype(int)
        )
        for start, end, pixels, level in zip(
            (starts * 16).astype(int),
            (ends * 16).astype(int),
            thick,
            rng.integers(90, 255, number),
            strict=True,
        ):
            cv2.line(layer, start, end, int(level), int(pixels), cv2.LINE_AA, 4)
        sheet += cv2.GaussianBlur(layer, (0, 0), soft * size / 1024) * np.float32(strength / 255)
    np.minimum(sheet, 1.0, out=sheet)
    for plane in picture:
        around = blur(np.minimum(plane, np.float32(1.6)), 0.035 * size)
        plane += sheet * (around * (1.7 if brief.weather == "snow" else 1.0) + np.float32(0.012))
