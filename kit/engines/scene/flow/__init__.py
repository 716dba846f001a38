"""Flow: drawings of lines: currents, threads, ridges and contours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, encode
from kit.engines.scene.brief import Brief
from kit.engines.scene.darkroom import Film, bloom, developed, light
from kit.engines.scene.fields import Plane, symmetric
from kit.engines.scene.flow.contours import chart, cut_paper, terrain
from kit.engines.scene.flow.inks import Inks, inks
from kit.engines.scene.flow.strokes import Course, drawn, laid
from kit.engines.scene.flow.waves import ribbons, ridgelines

Style: TypeAlias = Callable[[np.random.Generator, Brief, Inks, Progress], Plane]

#: Style -> words for it; the first style that a prompt names is drawn.
_WORDS = {
    "chart": ("contour", "topographic", "topography", "map", "isoline", "elevation", "terrain"),
    "paper": ("papercut", "paper", "layer", "layers", "layered", "cut"),
    "ridges": ("ridge", "ridgeline", "pulsar", "signal", "frequency", "sound", "joyplot"),
    "waves": ("wave", "waves", "ribbon", "thread", "threads", "sine", "strand"),
    "strokes": ("flow", "line", "curl", "streamline", "flowfield", "stroke", "current", "wind"),
}
_MOODS = {"calm": 0.6, "pastel": 0.8, "dramatic": 1.35}
_DETAILS = {"low": 0.6, "standard": 1.0, "high": 1.5}
_ZOOMS = {"close": 0.6, "wide": 1.6, "minimal": 0.7}


def paint(brief: Brief, progress: Progress) -> Bytes:
    """Return a drawing of lines, shape (brief.height, brief.width, 3), sRGB.

    Raises
    ------
    CanceledError
        Raised by `progress`.
    """
    rng = np.random.default_rng([brief.seed, 47])
    style = _style(rng, brief)
    colors = inks(rng, brief)
    progress.report(0.02)
    picture = _STYLES[style](rng, brief, colors, progress.part(0.05, 0.8))
    progress.report(0.8)
    if "centered" in brief.composition:
        picture = symmetric(picture)
    if colors.dark:
        neon = brief.says("neon", "glowing", "glow")
        bloom(picture, threshold=0.3 if neon else 0.6, strength=0.6 if neon else 0.22)
    progress.report(0.88)
    film = Film(
        exposure=1.3,
        contrast=1.1 if brief.mood == "dramatic" else 1.0,
        saturation=1.15 if brief.mood == "vivid" else 1.04,
        vignette=0.22 if colors.dark else 0.08,
        grain=1.6,
    )
    pixels = developed(picture, rng, film)
    progress.report(1.0)
    return pixels


def _style(rng: np.random.Generator, brief: Brief) -> str:
    drawn_one = str(rng.choice(list(_WORDS), p=[0.15, 0.15, 0.1, 0.2, 0.4]))
    return next((style for style, words in _WORDS.items() if brief.says(*words)), drawn_one)


def _strokes(rng: np.random.Generator, brief: Brief, colors: Inks, progress: Progress) -> Plane:
    zoom, mood = _zoom(brief), _MOODS.get(brief.mood, 1.0)
    minimal = "minimal" in brief.composition
    course = Course(
        whirls=1.9 * zoom * (0.75 + 0.25 * mood),
        count=round(2600 * _DETAILS[brief.detail] * (0.35 if minimal else 1.0)),
        length=rng.uniform(0.45, 0.9) * (1.5 if mood < 1.0 else 1.0),
        widths=(0.017 / zoom * mood, 0.0016),
        gap=0.0045 if minimal else 0.0022,
    )
    strokes = laid(rng, brief.height, brief.width, course, progress.part(0.0, 0.7))
    scale = 1.0 if brief.detail == "low" else 2.0
    size = (round(brief.height * scale), round(brief.width * scale))
    ground = _encoded(colors.paper)
    canvas = np.broadcast_to(ground, (*size, 3)).copy()
    drawn(canvas, strokes, np.stack([_encoded(shade) for shade in colors.shades]), scale)
    progress.report(0.85)
    small = cv2.resize(canvas, (brief.width, brief.height), interpolation=cv2.INTER_AREA)
    return _decoded(small)


def _waves(rng: np.random.Generator, brief: Brief, colors: Inks, progress: Progress) -> Plane:
    threads = round(64 * _DETAILS[brief.detail])
    calm = _MOODS.get(brief.mood, 1.0) / max(1.0, _zoom(brief))
    return ribbons(rng, (brief.height, brief.width), colors, threads, calm, progress)


def _ridges(rng: np.random.Generator, brief: Brief, colors: Inks, progress: Progress) -> Plane:
    count = round(58 * _zoom(brief))
    progress.report(0.1)
    calm = _MOODS.get(brief.mood, 1.0)
    shape = (brief.height, brief.width)
    return ridgelines(rng, shape, colors, count, calm, progress.part(0.1, 1.0))


def _chart(rng: np.random.Generator, brief: Brief, colors: Inks, progress: Progress) -> Plane:
    growing = progress.part(0.0, 0.4)
    hills = terrain(rng, brief.height, brief.width, 2.6 * _zoom(brief), growing, smooth=False)
    progress.report(0.4)
    levels = 22 if "minimal" in brief.composition else 36
    return chart(hills, colors, levels, progress.part(0.4, 1.0))


def _paper(rng: np.random.Generator, brief: Brief, colors: Inks, progress: Progress) -> Plane:
    growing = progress.part(0.0, 0.4)
    hills = terrain(rng, brief.height, brief.width, 2.2 * _zoom(brief), growing, smooth=True)
    progress.report(0.4)
    levels = 6 if "minimal" in brief.composition else 10
    return cut_paper(hills, colors, levels, progress.part(0.4, 1.0))


_STYLES: dict[str, Style] = {
    "chart": _chart,
    "paper": _paper,
    "ridges": _ridges,
    "waves": _waves,
    "strokes": _strokes,
}


def _zoom(brief: Brief) -> float:
    return next((_ZOOMS[word] for word in brief.composition if word in _ZOOMS), 1.0)


def _encoded(color: tuple[float, float, float]) -> Bytes:
    return np.round(encode(light(color).ravel()) * 255.0).astype(np.uint8)


def _decoded(pixels: Bytes) -> Plane:
    """Return sRGB pixels, shape (height, width, 3), as planes of linear light."""
    value = np.arange(256) / 255.0
    table = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return np.stack([table.astype(np.float32)[pixels[..., channel]] for channel in range(3)])
