"""Printing: a picture as a screen print, in a few flat inks with smooth outlines.

Areas are found in a small copy: inks by clusters, areas by what hangs together in one ink. A false
outline, across which the picture hardly changes, joins the areas on its sides, so that a gradient
does not become stripes. Outlines are drawn in full size from blurred areas, which rounds them off.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.editing.picture.repairs import sharpened
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import field

_SIDE = 720  # pixels a side of the copy in which areas are found
_INKS = 11
_ROUNDS = 12  # of looking for inks
_CELL = 10  # steps of 8-bit Lab that count as one color when inks are looked for
_SCALE = np.array([0.72, 1.25, 1.25], np.float32)  # hue tells areas apart better than light
_CRUMB = 0.0006  # share of the picture below which an area without contrast is given up
#: Width in pixels, share of pixels further inside, and contrast, of slivers that are given up too:
#: the blur of an outline has a color between those on its sides.
_THIN, _CORE, _STRIKING = 7, 0.1, 30.0
_ACROSS = 3  # pixels on either side of an outline between which its contrast is measured
_FALSE = 5.2  # contrast of an outline, in scaled Lab, below which it is a false one
_ALIKE = 46.0  # difference of colors up to which areas are joined
_LINE, _SHORTEST = 13.0, 60  # steps darker than around, and pixels, of a line that is drawn
_PATCH = 0.04  # share of the picture below which an area may be joined to any other
_BAND = 256  # rows that are drawn at a time; bounds the memory

Numbers = NDArray[np.int32]


def printed(pixels: Bytes, progress: Progress) -> Bytes:
    """Return a picture in a few flat inks that are taken from it."""
    height, width = pixels.shape[:2]
    scale = min(1.0, _SIDE / max(height, width))
    size = (max(8, round(width * scale)), max(8, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA) if scale < 1 else pixels
    calm = _calmed(small)
    progress.report(0.3)
    lab = cv2.cvtColor(calm, cv2.COLOR_RGB2LAB).astype(np.float32) * _SCALE
    inks = _inks(lab)
    which = _smooth(_nearest(lab, inks), len(inks))
    progress.report(0.5)
    areas = _joined(_without_crumbs(_areas(which, len(inks)), lab), lab)
    progress.report(0.6)
    which, inks = _inked(areas, lab, inks)
    which[_lines(calm)] = len(inks)
    return _drawn(which, _mixed(inks), (width, height), progress.part(0.65, 1.0))


def _calmed(pixels: Bytes) -> Bytes:
    """Smooth within shapes and keep their outlines."""
    out = cv2.medianBlur(pixels, 5)
    for _ in range(2):
        out = cv2.bilateralFilter(out, 7, 32, 4)
    return np.asarray(out)


def _inks(lab: Floats) -> Floats:
    """Return the inks: centers of clusters of colors, rare and vivid colors counting for more."""
    lab = lab[::2, ::2]  # colors are common to neighbors
    cells = np.floor(lab / _CELL).astype(np.int64)
    keys = (cells[..., 0] * 64 + cells[..., 1]) * 64 + cells[..., 2]
    _, number, counts = np.unique(keys, return_inverse=True, return_counts=True)
    flat = lab.reshape(-1, 3)
    number = number.ravel()
    colors = np.stack([np.bincount(number, flat[:, c]) for c in range(3)], axis=1) / counts[:, None]
    vivid = np.hypot(*(colors[:, 1:] - 128 * _SCALE[1:]).T)
    common = counts > 0.0002 * len(flat)
    weights = np.sqrt(counts) * (1.0 + vivid / 60.0) * common
    return _clusters(colors, weights)


def _clusters(colors: NDArray[np.float64], weights: NDArray[np.float64]) -> Floats:
    """Return centers of weighted clusters; each starts where most is far from the others."""
    centers = colors[[int(np.argmax(weights))]]
    while len(centers) < min(_INKS, len(colors)):
        off = ((colors[:, None] - centers) ** 2).sum(axis=2).min(axis=1)
        centers = np.concatenate([centers, colors[[int(np.argmax(weights * off))]]])
    for _ in range(_ROUNDS):
        nearest = ((colors[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        for number in range(len(centers)):
            part = weights * (nearest == number)
            if part.sum() > 0:
                centers[number] = (part[:, None] * colors).sum(axis=0) / part.sum()
    return centers.astype(np.float32)


def _nearest(lab: Floats, inks: Floats) -> Bytes:
    best = np.full(lab.shape[:2], np.inf, np.float32)
    which = np.zeros(lab.shape[:2], np.uint8)
    for number, ink in enumerate(inks):
        # The square of the distance, less that of the color itself, which all inks share.
        off = cv2.transform(lab, np.array([[*(-2 * ink), ink @ ink]], np.float32))
        which[off < best] = number
        best = cv2.min(best, off)
    return which


def _smooth(which: Bytes, count: int) -> Bytes:
    """Give each pixel the ink that most of its surroundings have."""
    best = np.zeros(which.shape, np.float32)
    out = which.copy()
    for number in range(count):
        share = cv2.GaussianBlur(np.float32(which == number), (0, 0), 1.6)
        out[share > best] = number
        best = np.maximum(best, share)
    return out


def _areas(which: Bytes, count: int) -> Numbers:
    """Give numbers to what hangs together in one ink, from 0."""
    areas = np.zeros(which.shape, np.int32)
    total = 0
    for number in range(count):
        found, parts = cv2.connectedComponents((which == number).astype(np.uint8), connectivity=4)
        areas += np.where(parts > 0, parts + (total - 1), 0).astype(np.int32)
        total += found - 1
    return areas


def _without_crumbs(areas: Numbers, lab: Floats) -> Numbers:
    """Give small areas to what is around them, the sooner the less they stand out."""
    sizes = np.bincount(areas.ravel())
    around = cv2.blur(lab, (25, 25))
    off = cv2.transform((lab - around) ** 2, np.ones((1, 3), np.float32))
    contrast = np.bincount(areas.ravel(), np.sqrt(off).ravel()) / np.maximum(sizes, 1)
    least = _CRUMB * areas.size / (1.0 + (contrast / 11.0) ** 2)
    thin = np.bincount(areas.ravel(), _inside(areas).ravel()) < _CORE * sizes
    crumbs = (
        (sizes < least) | (thin & (contrast < _STRIKING) & (sizes > 2 * _CRUMB * areas.size))
    )[areas]
    if crumbs.all() or not crumbs.any():
        return areas
    _, nearest = cv2.distanceTransformWithLabels(
        crumbs.astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    owners = np.zeros(int(nearest.max()) + 1, np.int32)
    owners[nearest[~crumbs]] = areas[~crumbs]
    return np.asarray(owners[nearest], np.int32)


def _inside(areas: Numbers) -> NDArray[np.bool_]:
    """Tell which pixels have none of another area within a few pixels."""
    number, reach = areas.astype(np.float32), np.ones((_THIN, _THIN), np.uint8)
    return np.asarray(cv2.erode(number, reach) == cv2.dilate(number, reach))


def _joined(areas: Numbers, lab: Floats) -> Numbers:
    """Join areas across false outlines, the weakest first."""
    count = int(areas.max()) + 1
    pairs, contrasts = _outlines(areas, lab, count)
    sizes = np.bincount(areas.ravel(), minlength=count).astype(np.float64)
    sums = _summed(areas, lab, count)
    heads = list(range(count))
    for pair in np.argsort(contrasts, kind="stable"):
        if contrasts[pair] > _FALSE:
            break
        one, other = (_head(heads, int(area)) for area in divmod(int(pairs[pair]), count))
        means = sums[[one, other]] / np.maximum(sizes[[one, other]], 1)[:, None]
        alike = np.linalg.norm(means[0] - means[1]) < _ALIKE
        if one != other and (alike or sizes[[one, other]].min() < _PATCH * areas.size):
            heads[other] = one
            sums[one] += sums[other]
            sizes[one] += sizes[other]
    heads = [_head(heads, area) for area in range(count)]
    return np.asarray(np.array(heads, np.int32)[areas])


def _outlines(
    areas: Numbers, lab: Floats, count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the pairs of areas that meet, as one number each, and the contrast where they do."""
    keys, contrasts = [], []
    for turned, colors in ((areas, lab), (areas.T, lab.transpose(1, 0, 2))):
        rows, columns = np.nonzero(turned[:, 1:] != turned[:, :-1])
        one, other = turned[rows, columns].astype(np.int64), turned[rows, columns + 1]
        last = turned.shape[1] - 1
        left = colors[rows, np.maximum(columns - _ACROSS + 1, 0)]
        right = colors[rows, np.minimum(columns + _ACROSS, last)]
        keys.append(np.minimum(one, other) * count + np.maximum(one, other))
        contrasts.append(np.linalg.norm(left - right, axis=1))
    pairs, number = np.unique(np.concatenate(keys), return_inverse=True)
    number = number.ravel()
    means = np.bincount(number, np.concatenate(contrasts)) / np.maximum(np.bincount(number), 1)
    return pairs, means


def _head(heads: list[int], area: int) -> int:
    while heads[area] != area:
        heads[area] = heads[heads[area]]
        area = heads[area]
    return area


def _inked(areas: Numbers, lab: Floats, inks: Floats) -> tuple[Bytes, Floats]:
    """Give each area the ink next to its mean; return which, and the inks moved to their areas."""
    sizes = np.maximum(np.bincount(areas.ravel()), 1)
    sums = _summed(areas, lab, len(sizes))
    nearest = ((sums[:, None] / sizes[:, None, None] - inks) ** 2).sum(axis=2).argmin(axis=1)
    moved = inks.copy()
    for number in np.unique(nearest):
        mine = nearest == number
        moved[number] = sums[mine].sum(axis=0) / sizes[mine].sum()
    used, nearest = np.unique(nearest, return_inverse=True)
    return nearest.ravel().astype(np.uint8)[areas], moved[used]


def _summed(areas: Numbers, lab: Floats, count: int) -> NDArray[np.float64]:
    flat, number = lab.reshape(-1, 3), areas.ravel()
    sums = [np.bincount(number, flat[:, c], minlength=count) for c in range(3)]
    return np.stack(sums, axis=1)


def _lines(calm: Bytes) -> NDArray[np.bool_]:
    """Tell where a fine dark line runs that no area could hold: a mouth, a branch, a rope."""
    gray = cv2.cvtColor(calm, cv2.COLOR_RGB2GRAY).astype(np.float32)
    dark = cv2.GaussianBlur(gray, (0, 0), 3.2) - cv2.GaussianBlur(gray, (0, 0), 1.1)
    found = (dark > _LINE).astype(np.uint8)
    _, parts, facts, _ = cv2.connectedComponentsWithStats(found, connectivity=8)
    long = facts[:, cv2.CC_STAT_AREA] >= _SHORTEST
    long[0] = False
    return np.asarray(long[parts])


def _mixed(inks: Floats) -> Floats:
    """Return inks as colors of a print, RGB, 0 to 255, and last the key, the ink of lines.

    They are clearer and further apart than they were in the picture.
    """
    lab = inks / _SCALE
    chroma = np.hypot(lab[:, 1] - 128, lab[:, 2] - 128)[:, None]
    light = lab[:, 0]
    low, high = float(light.min()), float(light.max())
    wide = np.interp(light, [low, max(high, low + 1)], [30, 242])
    lab[:, 0] = 0.45 * light + 0.55 * wide
    lab[:, 1:] = 128 + (1.3 + 0.45 * np.exp(-chroma / 14)) * (lab[:, 1:] - 128)
    key = lab[np.argmin(lab[:, 0])]
    lab = np.concatenate([lab, [[min(26.0, key[0]), *(128 + 0.3 * (key[1:] - 128))]]])
    exact = np.rint(lab).clip(0, 255).astype(np.uint8)
    return np.asarray(cv2.cvtColor(exact[None], cv2.COLOR_LAB2RGB)[0], np.float32)


def _drawn(which: Bytes, colors: Floats, size: tuple[int, int], progress: Progress) -> Bytes:
    """Draw areas in full size with crisp, rounded outlines."""
    width, height = size
    used = [int(number) for number in np.unique(which)]
    # Steep around the outline: two inks mix over about one pixel.
    steep = 9.0 * min(1.0, which.shape[0] / height)
    shares = [cv2.GaussianBlur(np.float32(which == number), (0, 0), 1.5) for number in used]
    large = [cv2.resize(share, size, interpolation=cv2.INTER_CUBIC) for share in shares]
    out = np.empty((height, width, 3), np.uint8)
    for top in progress.over(range(0, height, _BAND)):
        part = [share[top : top + _BAND] for share in large]
        best = reduce(cv2.max, part)
        weights = np.zeros_like(best)
        totals = [np.zeros_like(best) for _ in range(3)]
        for number, share in zip(used, part, strict=True):
            # Not OpenCV's: it takes a column of up to four pixels for a number.
            weight = np.maximum(1.0 + steep * (share - best), 0.0)
            weights += weight
            totals = [
                cv2.scaleAdd(weight, float(color), total)
                for color, total in zip(colors[number], totals, strict=True)
            ]
        out[top : top + _BAND] = cv2.merge(
            [cv2.divide(t, weights, dtype=cv2.CV_8U) for t in totals]
        )
    return out


_REDRAWING_SIDE = 1600  # pixels a side at which is drawn: strokes keep their size in the picture
_QUARTERS = ((0, 0), (0, 1), (1, 0), (1, 1))


def redrawn(pixels: Bytes, manner: str, progress: Progress) -> Bytes:
    """Return a picture drawn in a manner, ``painting``, ``sketch`` or ``poster``."""
    height, width = pixels.shape[:2]
    scale = min(1.0, _REDRAWING_SIDE / max(height, width))
    size = (max(8, round(width * scale)), max(8, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA) if scale < 1 else pixels
    drawn = _MANNERS[manner](small, progress)
    if drawn.shape != pixels.shape:
        drawn = cv2.resize(drawn, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.asarray(drawn)


def _painting(pixels: Bytes, progress: Progress) -> Bytes:
    """Smear within shapes and keep their outlines, coarse then fine, on a little canvas."""
    unit = max(pixels.shape) / 1024
    out = pixels
    radii = [max(2, round(radius * unit)) for radius in (7, 4, 3)]
    for radius in progress.over(radii):
        out = _smeared(out, radius, progress)
    hsv = cv2.cvtColor(sharpened(out, 1.6 * unit, 0.9), cv2.COLOR_RGB2HSV)
    hsv[..., 1] = cv2.convertScaleAbs(hsv[..., 1], alpha=1.18)
    out = cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)
    return _relief(out, unit)


def _smeared(pixels: Bytes, radius: int, progress: Progress) -> Bytes:
    """Return each pixel as the mean of that quarter around it which varies least.

    Source: Kuwahara et al. (1976); soft weights after Papari et al. (IEEE TIP 2007).
    """
    value = pixels.astype(np.float32)
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    total = np.zeros_like(value)
    weights = np.zeros((*gray.shape, 1), np.float32)
    side = radius + 1
    for down, across in _QUARTERS:
        progress.check()
        anchor = (across * radius, down * radius)
        mean = cv2.blur(value, (side, side), anchor=anchor)
        first = cv2.blur(gray, (side, side), anchor=anchor)
        spread = cv2.blur(gray * gray, (side, side), anchor=anchor) - first * first
        weight = (1.0 / (1.0 + np.maximum(spread, 0.0)) ** 4)[..., None]
        total += weight * mean
        weights += weight
    return np.asarray(np.rint(total / np.maximum(weights, 1e-30)), np.uint8)


def _relief(pixels: Bytes, unit: float) -> Bytes:
    """Light the paint from above: brush ridges along the shapes and the weave of a canvas."""
    height, width = pixels.shape[:2]
    rng = np.random.default_rng(11)
    bristles = field(rng, height, width, cells=(round(90 * height / width), 24), octaves=3)
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    bumps = cv2.GaussianBlur(gray, (0, 0), 1.2 * unit) + 5.0 * bristles
    slope = cv2.Sobel(bumps, cv2.CV_32F, 0, 1, ksize=3) + cv2.Sobel(
        bumps, cv2.CV_32F, 1, 0, ksize=3
    )
    light = np.clip(0.16 * slope, -14.0, 14.0)
    return np.asarray(np.rint(pixels + light[..., None]).clip(0, 255), np.uint8)


def _sketch(pixels: Bytes, progress: Progress) -> Bytes:
    """Draw tones and outlines in graphite on paper."""
    unit = max(pixels.shape) / 1024
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    gray = cv2.createCLAHE(2.0, (4, 4)).apply(gray)
    progress.report(0.3)
    calm = cv2.bilateralFilter(gray, 7, 40, 5).astype(np.float32)
    # Dividing by the surroundings leaves lines where the tone changes, as a pencil draws them.
    lines = calm / np.maximum(cv2.GaussianBlur(calm, (0, 0), 9 * unit), 1.0)
    fine = calm / np.maximum(cv2.GaussianBlur(calm, (0, 0), 2.2 * unit), 1.0)
    progress.report(0.6)
    ink = np.clip(1.06 * np.minimum(lines, 1.0) * np.minimum(fine, 1.0) ** 2.5, 0.0, 1.0)
    tone = _hatched(calm / 255.0, unit)
    paper = 1.0 + 0.018 * field(np.random.default_rng(12), *gray.shape, cells=(160, 160), octaves=3)
    page = np.clip(ink**1.6 * tone * paper, 0.0, 1.0)[..., None]
    graphite, white = np.array([52, 50, 54.0]), np.array([249, 246, 238.0])
    return np.asarray(np.rint(graphite + page * (white - graphite)).clip(0, 255), np.uint8)


def _hatched(tone: Floats, unit: float) -> Floats:
    """Shade dark places with strokes that lean to the right, crossed where it is darkest."""
    height, width = tone.shape
    shade = np.ones_like(tone)
    for number, (angle, dark) in enumerate(((55.0, 0.62), (40.0, 0.40), (-50.0, 0.24))):
        rng = np.random.default_rng(20 + number)
        reach = int(np.hypot(height, width)) + 2
        grain = rng.standard_normal((reach, max(2, reach // 26)), np.float32)
        grain = cv2.resize(grain, (reach, reach), interpolation=cv2.INTER_LINEAR)
        grain = cv2.GaussianBlur(grain, (1, 0), sigmaX=0.1, sigmaY=max(0.6, 0.9 * unit))
        turn = cv2.getRotationMatrix2D((reach / 2, reach / 2), angle, 1.0)
        turn[:, 2] -= ((reach - width) / 2, (reach - height) / 2)
        strokes = cv2.warpAffine(grain, turn, (width, height), borderMode=cv2.BORDER_REFLECT)
        amount = np.clip((dark - tone) / dark, 0.0, 1.0)
        shade *= 1.0 - 0.55 * amount * np.clip(0.55 + 0.6 * strokes, 0.0, 1.0)
    return np.asarray(shade, np.float32)


_MANNERS: dict[str, Callable[[Bytes, Progress], Bytes]] = {
    "painting": _painting,
    "sketch": _sketch,
    "poster": printed,
}
