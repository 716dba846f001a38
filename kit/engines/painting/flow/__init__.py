"""Flow: drawings of lines: currents, threads, ridges and contours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, encode
from kit.engines.painting.flow.contours import chart, cut_paper, terrain
from kit.engines.painting.flow.inks import Inks, inks
from kit.engines.painting.flow.strokes import Course, drawn, laid
from kit.engines.painting.flow.waves import Rows, Weave, ribbons, ridgelines
from kit.engines.painting.framing import factor, focus, laid_down, pool, spotlit, symmetric
from kit.engines.painting.noise import Plane, enlarge_middle
from kit.engines.painting.painting import Painting
from kit.engines.painting.tone import Film, decoded, light
from kit.engines.prompt.brief import Brief

Style: TypeAlias = Callable[[np.random.Generator, Brief, Inks, Progress], Plane]

#: The first style that a brief names is drawn.
_NAMES = ("chart", "paper", "ridges", "waves", "strokes")
_MOODS = {"calm": 0.6, "pastel": 0.8, "dramatic": 1.5}
_FEW = 0.05  # share of the strokes that a minimal drawing tries
#: Word -> how far the one whirl reaches that a drawing turns about, in shorter sides.
_WHIRLS = {"minimal": 0.42, "thirds": 0.46, "dramatic": 0.85}
#: Word -> how high all other hills are against that one.
_FLAT = {"minimal": 0.10, "thirds": 0.8, "dramatic": 0.5}
_DETAILS = {"low": 0.6, "standard": 1.0, "high": 1.5}
_ZOOMS = {"close": 0.42, "wide": 2.2, "high": 1.7, "minimal": 0.55, "dramatic": 0.85}
#: Word -> how much thinner lines are drawn; what is near has thick ones.
_FINE = {"close": 0.42, "wide": 1.9, "high": 1.5}


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a drawing of lines.

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
    picture = _directed(brief, picture, dark=colors.dark)
    neon = "shining_lines" in brief.things
    film = Film(
        # Thin lines would fade from paper that is lighter still.
        exposure=0.95 if "bright" in brief.tones else 1.3,
        saturation=1.04,
        vignette=0.22 if colors.dark else 0.08,
        grain=1.6,
        bloom=(0.64 if neon else 0.23) if colors.dark else 0.0,
        threshold=0.3 if neon else 0.6,
    )
    progress.report(1.0)
    return Painting(light=np.asarray(picture, np.float32), film=film.graded(brief))


def _directed(brief: Brief, picture: Plane, *, dark: bool) -> Plane:
    """Return a drawing as a brief's words of composition show it."""
    said = brief.composition
    if "centered" in said:
        picture = symmetric(picture)
    if "low" in said:
        picture = laid_down(picture)
    if "dramatic" in said:
        spotlit(picture, focus(brief, (0.5, 0.5)), 0.95, 0.14, most=1.3 if dark else 1.0)
    return picture


def _style(rng: np.random.Generator, brief: Brief) -> str:
    drawn_one = str(rng.choice(_NAMES, p=[0.15, 0.15, 0.1, 0.2, 0.4]))
    return next((style for style in _NAMES if f"lines_{style}" in brief.things), drawn_one)


def _strokes(rng: np.random.Generator, brief: Brief, colors: Inks, progress: Progress) -> Plane:
    zoom, mood = factor(brief, _ZOOMS), _MOODS.get(brief.mood, 1.0)
    minimal = "minimal" in brief.composition
    fine = factor(brief, _FINE)
    course = Course(
        whirls=1.9 * zoom * (0.75 + 0.25 * mood),
        count=round(2600 * _DETAILS[brief.detail] * _share(brief)),
        length=rng.uniform(0.45, 0.9) * (1.5 if mood < 1.0 else 1.0),
        widths=(0.017 / fine * mood, 0.0016 / fine),
        gap=0.011 if minimal else 0.0022 / fine * (2.2 if brief.mood == "calm" else 1.0),
        zoom=1.0 / zoom,
        around=_around(brief),
    )
    strokes = laid(rng, brief.height, brief.width, course, progress.part(0.0, 0.7))
    scale = 1.0 if brief.detail == "low" else 2.0
    size = (round(brief.height * scale), round(brief.width * scale))
    ground = _encoded(colors.paper)
    canvas = np.broadcast_to(ground, (*size, 3)).copy()
    drawn(canvas, strokes, np.stack([_encoded(shade) for shade in colors.shades]), scale)
    progress.report(0.85)
    small = cv2.resize(canvas, (brief.width, brief.height), interpolation=cv2.INTER_AREA)
    return decoded(small)


def _share(brief: Brief) -> float:
    """Return the share of the strokes that a drawing tries."""
    return _FEW if "minimal" in brief.composition else 0.35 if brief.mood == "calm" else 1.0


def _around(brief: Brief) -> tuple[float, float, float] | None:
    """Return the whirl that a drawing turns about: its place and how far it reaches."""
    reach = next((_WHIRLS[word] for word in brief.composition if word in _WHIRLS), None)
    return (*focus(brief, (0.5, 0.5)), reach) if reach else None


def _waves(rng: np.random.Generator, brief: Brief, colors: Inks, progress: Progress) -> Plane:
    cast = Weave(
        threads=round(64 * _DETAILS[brief.detail] * factor(brief, {"minimal": 0.5})),
        swing=_MOODS.get(brief.mood, 1.0) * factor(brief, {"dramatic": 1.35}),
        count=1 if "minimal" in brief.composition else 3,
        middle=focus(brief, (0.5, 0.5))[1] if _placed(brief) else None,
        scale=factor(brief, {"close": 2.3, "wide": 0.45, "high": 0.6}),
    )
    return ribbons(rng, (brief.height, brief.width), colors, cast, progress)


def _ridges(rng: np.random.Generator, brief: Brief, colors: Inks, progress: Progress) -> Plane:
    count = round(58 * factor(brief, {**_ZOOMS, "minimal": 0.2}))
    at = focus(brief, (0.5, 0.5))[0] if _placed(brief) else None
    wide = factor(brief, {"close": 2.0, "wide": 0.5, "high": 0.6, "minimal": 0.6})
    progress.report(0.1)
    calm = _MOODS.get(brief.mood, 1.0)
    shape, rising = (brief.height, brief.width), progress.part(0.1, 1.0)
    # The fewer ridges there are, the wider they stand apart, and the higher they would rise.
    calm *= factor(brief, {"dramatic": 1.1, "minimal": 0.42, "close": 0.62})
    return ridgelines(rng, shape, colors, Rows(count=count, calm=calm, at=at, wide=wide), rising)


def _chart(rng: np.random.Generator, brief: Brief, colors: Inks, progress: Progress) -> Plane:
    growing = progress.part(0.0, 0.4)
    smooth = "minimal" in brief.composition or brief.mood == "calm"
    hills = _hills(rng, brief, 2.6, growing, smooth=smooth)
    progress.report(0.4)
    levels = round(36 * factor(brief, {"minimal": 0.25, "close": 0.6}))
    return chart(hills, colors, levels, progress.part(0.4, 1.0), bold=1.0 / factor(brief, _FINE))


def _paper(rng: np.random.Generator, brief: Brief, colors: Inks, progress: Progress) -> Plane:
    growing = progress.part(0.0, 0.4)
    hills = _hills(rng, brief, 2.2, growing, smooth=True)
    progress.report(0.4)
    levels = round(10 * factor(brief, {"minimal": 0.4, "dramatic": 1.4}))
    return cut_paper(hills, colors, levels, progress.part(0.4, 1.0))


def _hills(
    rng: np.random.Generator, brief: Brief, cells: float, progress: Progress, *, smooth: bool
) -> Plane:
    """Return hills whose highest or only peak is where words put it."""
    height, width, zoom = brief.height, brief.width, factor(brief, _ZOOMS)
    hills = terrain(rng, height, width, cells * max(1.0, zoom), progress, smooth=smooth)
    if zoom < 1.0:
        hills = enlarge_middle(hills, 1.0 / zoom)
    around = _around(brief)
    if around:
        peak = pool(height, width, around[:2], around[2])
        hills = hills * np.float32(factor(brief, _FLAT)) + peak
    return _whole(hills) if zoom < 1.0 or around else hills


def _whole(hills: Plane) -> Plane:
    """Return hills that reach from 0 to 1."""
    low, high = float(hills.min()), float(hills.max())
    return np.asarray((hills - low) / (high - low), np.float32)


def _placed(brief: Brief) -> bool:
    return not {"centered", "thirds", "minimal"}.isdisjoint(brief.composition)


_STYLES: dict[str, Style] = {
    "chart": _chart,
    "paper": _paper,
    "ridges": _ridges,
    "waves": _waves,
    "strokes": _strokes,
}


def _encoded(color: tuple[float, float, float]) -> Bytes:
    return np.round(encode(light(color).ravel()) * 255.0).astype(np.uint8)
