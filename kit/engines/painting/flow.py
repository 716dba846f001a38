"""Flow: line drawings of currents, threads, ridges, contours and cut paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Oklch, encode
from kit.engines.media.noise import line, smooth_step
from kit.engines.painting.framing import factor, falloff, focus, mirror_halves, spotlight
from kit.engines.painting.noise import Plane, blobs, blur, rescale, slopes, warp
from kit.engines.painting.painting import Painting
from kit.engines.painting.tints import strength, tints_of
from kit.engines.painting.tone import Film, blend, decode, gradient, light
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.vocabulary import Tint

#: Points of a line, shape (..., 2).
Outline: TypeAlias = NDArray[np.float64]
_MOODS = {"calm": 0.6, "pastel": 0.8, "dramatic": 1.5}
_DETAILS = {"low": 0.6, "standard": 1.0, "high": 1.5}
_ZOOMS = {"close": 0.42, "wide": 2.2, "high": 1.7, "minimal": 0.55, "dramatic": 0.85}
#: Word -> radius of the main whirl or hill of a drawing, in shorter sides, and the relative height
#: of all others.
_SUBJECTS = {"minimal": (0.42, 0.10), "thirds": (0.46, 0.8), "dramatic": (0.85, 0.5)}
#: Matching sets of tints, that of the paper first.
_TINT_SETS: list[tuple[Tint, ...]] = [
    ((270, 0.03), (60, 0.14), (25, 0.18), (355, 0.19), (90, 0.09), (250, 0.12)),
    ((240, 0.03), (200, 0.11), (165, 0.10), (95, 0.12), (230, 0.12), (40, 0.15)),
    ((300, 0.03), (330, 0.18), (295, 0.16), (260, 0.15), (20, 0.14), (205, 0.10)),
    ((85, 0.02), (30, 0.16), (70, 0.13), (195, 0.08), (235, 0.09), (15, 0.12)),
    ((150, 0.02), (155, 0.11), (120, 0.11), (85, 0.12), (190, 0.09), (45, 0.14)),
]
_CELLS = 320  # cells of the longer side of the grid of currents and free space
#: Cells around the frame: noise is flat at its own edge, where all lines would be perpendicular.
_MARGIN = 28
_STEP = 1.2  # cells between points of a stroke
_BITS = 4  # fractional bits of coordinates in OpenCV's drawing


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    """The parameters and canvas of a drawing."""

    brief: Brief
    rng: np.random.Generator
    paper: Oklch
    shades: tuple[Oklch, ...]
    dark: bool
    zoom: float  # factor on the scale
    bold: float  # factor on the width of lines
    mood: float  # factor on the height of waves
    #: Position and radius of the main whirl, as shares of width, height and the shorter side; a
    #: radius of 0 is none. Relative height of all others.
    subject: tuple[float, float, float, float]
    minimal: bool
    unit: float  # pixels, 1/1024 of the longer side

    def empty(self) -> Plane:
        shape = (3, self.brief.height, self.brief.width)
        return np.broadcast_to(light(self.paper), shape).astype(np.float32)

    def color(self, along: Plane, first: int = 0) -> Plane:
        """Return a gradient of three adjacent shades."""
        shades = (self.shades[(first + step) % len(self.shades)] for step in range(3))
        return gradient(list(zip((0.0, 0.5, 1.0), shades, strict=True)), along)


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a line drawing, which is flat."""
    rng = np.random.default_rng([brief.seed, 47])
    drawn = str(rng.choice([*_STYLES], p=[chance for _, chance in _STYLES.values()]))
    style = next((name for name in _STYLES if f"lines_{name}" in brief.things), drawn)
    sheet = _choose_sheet(brief, rng)
    progress.report(0.02)
    picture = _STYLES[style][0](sheet, progress.part(0.05, 0.8))
    if "centered" in brief.composition:
        picture = mirror_halves(picture)
    if "dramatic" in brief.composition:
        spotlight(picture, sheet.subject[:2], 0.95, 0.14, most=1.3 if sheet.dark else 1.0)
    neon = "shining_lines" in brief.things
    film = Film(
        # On lighter paper, thin lines would fade.
        exposure=0.95 if "bright" in brief.tones else 1.3,
        saturation=1.04,
        vignette=0.22 if sheet.dark else 0.08,
        bloom=(0.6 if neon else 0.22) * sheet.dark,
        threshold=0.3 if neon else 0.6,
        grain=1.6,
    )
    progress.report(1.0)
    return Painting(light=np.asarray(picture, np.float32), film=film.grade(brief))


def _choose_sheet(brief: Brief, rng: np.random.Generator) -> _Sheet:
    (hue, chroma), *tints = _TINT_SETS[int(rng.integers(len(_TINT_SETS)))]
    said, pale = {"bright", "dark"}.intersection(brief.tones), "light_paper" in brief.things
    dark = "dark" in said if said else brief.dark or rng.random() < 0.5
    dark = (dark and not pale) or "dark_paper" in brief.things
    if given := tints_of(brief):
        hue, chroma = given[0][0], 0.025
        turned = enumerate((0.0, 14.0, -16.0, 8.0, -9.0))
        own = ((given[number % len(given)], shift) for number, shift in turned)
        tints = [((near + shift) % 360.0, strong) for (near, strong), shift in own]
    levels = (0.80, 0.70, 0.62, 0.86, 0.56) if dark else (0.56, 0.66, 0.47, 0.74, 0.38)
    tones, level = zip(levels, tints, strict=True), 0.78 if brief.mood == "gloomy" else 0.955
    found = next((_SUBJECTS[word] for word in brief.composition if word in _SUBJECTS), (0.0, 1.0))
    return _Sheet(
        brief=brief,
        rng=rng,
        paper=(0.15, chroma, hue) if dark else (level, 0.6 * chroma, hue),
        shades=tuple((level, strong * strength(brief), near) for level, (near, strong) in tones),
        dark=dark,
        zoom=factor(brief, _ZOOMS),
        bold=1.0 / factor(brief, {"close": 0.42, "wide": 1.9, "high": 1.5}),
        mood=_MOODS.get(brief.mood, 1.0),
        subject=(*focus(brief, (0.5, 0.5)), *found),
        minimal="minimal" in brief.composition,
        unit=max(brief.height, brief.width) / 1024,
    )


def _draw_chart(sheet: _Sheet, progress: Progress) -> Plane:
    """Draw a map: tinted heights, shading, thin contours and a thick one every fifth."""
    hills = _raise_hills(sheet, 2.6, smooth=sheet.minimal or sheet.brief.mood == "calm")
    progress.report(0.4)
    levels = round(36 * factor(sheet.brief, {"minimal": 0.25, "close": 0.6}))
    right, down = slopes(hills * np.float32(levels), 1.0)
    steep = np.sqrt(right * right + down * down) + np.float32(1e-5)

    def lines(every: int, wide: float) -> Plane:
        level = hills * np.float32(levels / every)
        off = np.abs(level - np.round(level)) / (steep / every)
        return np.asarray(np.clip(wide * sheet.bold * sheet.unit + 0.5 - off, 0.0, 1.0), np.float32)

    # Lines closer than pixels would merge: they fade out instead.
    share = np.maximum(0.7 * lines(1, 0.75) * smooth_step(0.55, 0.25, steep), lines(5, 1.5))
    progress.report(0.6)
    lit = np.clip(1.0 - (right + down) * np.float32(17.6 * sheet.unit / levels), 0.7, 1.3)
    _, chroma, hue = sheet.shades[0]
    ink = light((0.92 if sheet.dark else 0.30, 0.7 * chroma, hue))
    return blend(_color_heights(sheet, hills) * lit, ink, share)


def _draw_paper(sheet: _Sheet, progress: Progress) -> Plane:
    """Draw layers of colored paper, each with a bright edge and a shadow below."""
    hills, size = _raise_hills(sheet, 2.2, smooth=True), 1024 * sheet.unit
    progress.report(0.4)
    levels = round(10 * factor(sheet.brief, {"minimal": 0.4, "dramatic": 1.4}))
    level = hills * np.float32(levels)
    layer = np.floor(level)
    right, down = slopes(level, 1.0)
    steep = np.sqrt(right * right + down * down) + np.float32(1e-5)
    over = np.clip((level - layer) / steep, 0.0, 1.0)
    ground = layer - 1.0 + over  # smooth across an edge, like the colors
    shade = np.zeros_like(level)
    for reach, weight in ((0.006, 0.30), (0.018, 0.38)):
        shift = np.array([[1, 0, reach * size], [0, 1, 1.25 * reach * size]], np.float32)
        cast = cv2.warpAffine(layer, shift, layer.shape[::-1], borderMode=cv2.BORDER_REPLICATE)
        shade += np.float32(weight) * np.clip(blur(cast, 0.7 * reach * size) - ground, 0.0, 1.0)
    progress.report(0.8)
    edge = np.exp(-(level - layer) / steep / (1.4 * sheet.unit))
    edge *= np.clip((right + down) / steep, 0.0, 1.0)
    below, top = (_color_heights(sheet, part / (levels - 1.0)) for part in (layer - 1.0, layer))
    return np.asarray(blend(below, top, over) * (1.0 - shade) + 0.10 * edge, np.float32)


def _raise_hills(sheet: _Sheet, cells: float, *, smooth: bool) -> Plane:
    """Return hills from 0 to 1, with the highest or only peak at the words' place."""
    height, width = sheet.brief.height, sheet.brief.width
    octaves = ((3, 0.3) if smooth else (6, 0.42), (3, 0.4), (3, 0.4))
    hills, across, down = (
        blobs(sheet.rng, (height, width), cells, octaves=count, gain=gain, zoom=sheet.zoom)
        for count, gain in octaves
    )
    # Remapping rounds positions to fractions of a pixel, which gives jagged edges on flat ground.
    far = 51.2 * sheet.unit / min(1.0, sheet.zoom)
    hills = blur(warp(hills, across, down, far), 1.6 * sheet.unit)
    x, y, reach, rest = sheet.subject
    if reach:
        peak = falloff(height, width, (x, y), reach)
        hills = np.asarray(rest * rescale(hills) + peak, np.float32)
    return rescale(hills)


def _color_heights(sheet: _Sheet, heights: Plane) -> Plane:
    """Return the colors of heights: from the paper up if it is dark, else toward the paper."""
    shades = sorted(sheet.shades)
    dark = (0.35, 0, 0.30, 0.75), (0.6, 1, 0.48, 0.9), (0.8, 3, 0.68, 0.9), (1.0, 4, 0.88, 0.7)
    pale = (0.0, 1, 0.50, 0.9), (0.3, 2, 0.66, 0.75), (0.55, 3, 0.80, 0.6), (0.8, 4, 0.90, 0.4)
    steps = dark if sheet.dark else pale
    stops = [(at, (level, share * shades[n][1], shades[n][2])) for at, n, level, share in steps]
    return gradient(sorted([*stops, (0.0 if sheet.dark else 1.0, sheet.paper)]), heights)


def _draw_ridges(sheet: _Sheet, progress: Progress) -> Plane:
    """Draw stacked ridges with hidden lines removed, like the pulses of one signal."""
    brief, rng = sheet.brief, sheet.rng
    height, width = brief.height, brief.width
    count = round(58 * factor(brief, {**_ZOOMS, "minimal": 0.2}))
    canvas = np.zeros((2 * height, 2 * width), np.uint8)
    share = np.linspace(0.0, 1.0, 360)
    wide = 0.17 * factor(brief, {"close": 2.0, "wide": 0.5, "high": 0.6, "minimal": 0.6})
    swell = np.exp(-(((share - sheet.subject[0]) / wide) ** 2))
    step = 0.76 * height / (count - 1)
    # Fewer ridges are farther apart and would be higher.
    rise = 1.9 * step * factor(brief, {"dramatic": 1.1, "minimal": 0.42, "close": 0.62})
    for number in progress.part(0.0, 0.6).over(range(count)):
        rough = line(rng, share, 0.07, octaves=4, gain=0.55)
        broad = line(rng, share, 0.18, octaves=2)
        peaks = np.maximum(0.0, swell * (2.6 + 1.8 * broad) + (0.10 + swell) * rough)
        y = 0.16 * height + number * step - rise * sheet.mood * peaks
        points = np.stack([width * (0.06 + 0.88 * share), y], axis=1)
        foot = points[[-1, 0]] + (0.0, 3 * step)
        cv2.fillPoly(canvas, [_to_bits(np.concatenate([points, foot]), 2)], 0, cv2.LINE_8, _BITS)
        thick = max(1, round(3.9 * sheet.unit))
        cv2.polylines(canvas, [_to_bits(points, 2)], False, 255, thick, cv2.LINE_AA, _BITS)
    cover = cv2.resize(canvas, (width, height), interpolation=cv2.INTER_AREA) / np.float32(255)
    down = np.linspace(0.0, 1.0, height, dtype=np.float32)[:, None]
    return blend(sheet.empty(), sheet.color(down), cover)


def _draw_waves(sheet: _Sheet, progress: Progress) -> Plane:
    brief, rng = sheet.brief, sheet.rng
    height, width, size = brief.height, brief.width, 1024 * sheet.unit
    threads = round(64 * _DETAILS[brief.detail] * factor(brief, {"minimal": 0.5}))
    scale = factor(brief, {"close": 2.3, "wide": 0.45, "high": 0.6})
    swing = 0.23 * height * sheet.mood * factor(brief, {"dramatic": 1.35}) * min(1.4, scale)
    count, along = 1 if sheet.minimal else 3, np.arange(-8, width + 9, 4, dtype=np.float64)
    picture = sheet.empty()
    for number in progress.over(range(count)):
        at = sheet.subject[1] + 0.18 * (number - count // 2)
        one, other = (
            height * (at + rng.uniform(-0.07, 0.07))
            + swing * line(rng, along, 0.62 * size * scale, octaves=2, gain=0.42)
            for _ in range(2)
        )
        cover, thick = np.zeros((height, width), np.float32), max(1, round(sheet.unit * scale))
        for share in np.linspace(0.0, 1.0, threads):
            bulge = np.sin(np.pi * share)
            curve = one + (share + 0.10 * bulge) * (other - one)
            top, bottom = max(0, int(curve.min()) - 3), min(height, int(curve.max()) + 4)
            part = np.zeros((max(0, bottom - top), width), np.uint8)
            points = _to_bits(np.stack([along, curve - top], axis=1), 1)
            cv2.polylines(part, [points], False, 255, thick, cv2.LINE_AA, _BITS)
            cover[top : top + len(part)] += part * np.float32((0.55 + 0.45 * bulge) / 255)
        color = sheet.color(np.linspace(0.0, 1.0, width, dtype=np.float32)[None], number)
        if sheet.dark:
            picture += color * (cover * np.float32(0.62))
        else:
            picture += (color - picture) * (1.0 - np.exp(-cover * 1.1))
    return picture


def _draw_strokes(sheet: _Sheet, progress: Progress) -> Plane:
    """Draw non-crossing lines along a current, thick ones first."""
    brief, rng, calm = sheet.brief, sheet.rng, sheet.brief.mood == "calm"
    count = round(2600 * _DETAILS[brief.detail] * (0.05 if sheet.minimal else 0.35 if calm else 1))
    length = rng.uniform(0.45, 0.9) * (1.5 if sheet.mood < 1.0 else 1.0)
    cell = max(brief.height, brief.width) / _CELLS
    rows, columns = int(np.ceil(brief.height / cell)), int(np.ceil(brief.width / cell))
    paths = _trace_current(sheet, (rows, columns), count, int(length * _CELLS / 2 / _STEP))
    tones = blobs(rng, (rows, columns), 2.5, octaves=3)
    slim, wide = 0.0016 * sheet.bold, 0.017 * sheet.bold * sheet.mood
    widths = (slim + (wide - slim) * np.linspace(1.0, 0.0, count) ** 2.6) * _CELLS
    gap = _CELLS * (0.011 if sheet.minimal else 0.0022 * sheet.bold * (2.2 if calm else 1.0))
    scale = 1.0 if brief.detail == "low" else 2.0
    paper, *shades = (
        np.round(encode(light(it).ravel()) * 255.0).tolist() for it in (sheet.paper, *sheet.shades)
    )
    canvas = np.empty((round(brief.height * scale), round(brief.width * scale), 3), np.uint8)
    canvas[:] = paper
    taken = np.zeros((rows, columns), np.uint8)
    for number in progress.part(0.1, 0.9).over(range(count)):
        path, half = paths[:, number], len(paths) // 2
        x, y = path.astype(np.int32).T
        blocked = taken[np.clip(y, 0, rows - 1), np.clip(x, 0, columns - 1)].astype(bool)
        blocked |= (x < -4) | (x >= columns + 4) | (y < -4) | (y >= rows + 4)
        ends = np.array([-1, *np.flatnonzero(blocked), len(path)])
        place = int(np.searchsorted(ends, half))
        free = path[ends[place - 1] + 1 : ends[place]]  # around its start
        if blocked[half] or len(free) < 7 + 2.2 * widths[number]:
            continue
        around = max(1, round(widths[number] + 2 * gap))
        cv2.polylines(taken, [np.round(free).astype(np.int32)], False, 1, around)
        x, y = free[len(free) // 2].astype(int)
        tone = tones[min(y, rows - 1), min(x, columns - 1)] + 0.5 * rng.standard_normal()
        shade = shades[int(np.clip(0.5 + 0.27 * tone, 0.0, 0.999) * len(shades))]
        outline = _to_bits(_outline(free * cell, widths[number] * cell), scale)
        cv2.fillPoly(canvas, [outline], shade, cv2.LINE_AA, _BITS)
    size = (brief.width, brief.height)
    return decode(np.asarray(cv2.resize(canvas, size, interpolation=cv2.INTER_AREA)))


def _trace_current(sheet: _Sheet, shape: tuple[int, int], count: int, steps: int) -> Outline:
    """Return streamlines in both directions, shape (2 * steps + 1, n, 2)."""
    rng, inner = sheet.rng, np.array(shape[::-1])
    rows, columns = (length + 2 * _MARGIN for length in shape)
    cells = 1.9 * (0.75 + 0.25 * sheet.mood)
    height = blobs(rng, (rows, columns), cells, octaves=3, zoom=sheet.zoom)
    starts = rng.random((count, 2)) * inner
    x, y, reach, _ = sheet.subject
    if reach:
        at = (_MARGIN + x * inner[0]) / columns, (_MARGIN + y * inner[1]) / rows
        whirl = falloff(rows, columns, at, reach * min(shape) / min(rows, columns))
        height = height * np.float32(0.55) + np.float32(3.2) * whirl
        if sheet.minimal or count < 400:
            starts = (starts / inner - 0.5) * 0.9 * reach * min(shape) + (x, y) * inner
    right, down = slopes(height, 1.0)
    flow = np.stack([down, -right], axis=-1) * (_STEP / (np.hypot(right, down) + 1e-6))[..., None]
    paths, most = np.empty((2 * steps + 1, count, 2)), np.array((columns, rows)) - 1
    paths[steps] = starts + _MARGIN
    for way in (-1, 1):
        for number in range(steps, steps + way * steps, way):
            x, y = np.clip(paths[number], 0, most).astype(np.int32).T
            paths[number + way] = paths[number] + way * flow[y, x]
    return paths - _MARGIN


def _outline(points: Outline, width: float) -> Outline:
    points = cv2.blur(points, (1, 5), borderType=cv2.BORDER_REPLICATE)
    ahead = np.gradient(points, axis=0)
    ahead /= np.maximum(np.hypot(*ahead.T), 1e-6)[:, None]
    share = np.linspace(0.0, 1.0, len(points))
    half = 0.5 * width * np.minimum(4.2 * share * (1.0 - share), 1.0) ** 0.55
    side = ahead[:, ::-1] * (-1.0, 1.0) * half[:, None]
    return np.concatenate([points + side, (points - side)[::-1]])


def _to_bits(points: Outline, scale: float) -> NDArray[np.int32]:
    return np.asarray(np.round(points * scale * 2**_BITS), np.int32)


#: Style -> its function, and its random frequency if no word names one.
_STYLES: dict[str, tuple[Callable[[_Sheet, Progress], Plane], float]] = {
    "chart": (_draw_chart, 0.15),
    "paper": (_draw_paper, 0.15),
    "ridges": (_draw_ridges, 0.1),
    "waves": (_draw_waves, 0.2),
    "strokes": (_draw_strokes, 0.4),
}
