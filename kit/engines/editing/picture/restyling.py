"""Restyling: grading, redrawing, blending with the original, and titling."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.edit_thread import keep_reporting
from kit.engines.editing.picture.files import read_picture, row_bands, write_result
from kit.engines.editing.picture.looks import NO_CHANGE, Look, is_idle, look_of, manner_of
from kit.engines.editing.picture.retouching import sharpen
from kit.engines.editing.title.layout import TitleText
from kit.engines.editing.title.titling import set_title
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import field, smooth_step
from kit.engines.media.scaling import blur, fit_size, resize
from kit.engines.media.stills import Still
from kit.engines.prompt.styles import read_style
from kit.engines.sizes import MAX_BAND_SIDE, MAX_SIDE
from kit.errors import EngineError

_LUMA = np.array([0.299, 0.587, 0.114], np.float32)
_BAND_ROWS = 64  # of a band
_GLOW_SIDE = 320  # pixels a side of the blurred copy for a glow
_DRAWN_SIDE = 1600  # pixels a side for redrawing: strokes keep their size relative to the picture


@keep_reporting
def restyle(job: Job, progress: Progress) -> Asset:
    """Render a job of the restyle model."""
    progress.report(0.0)
    values, style = job.parameters, read_style(job.prompt)
    name, look = look_of(values["look"], style)
    manner = manner_of(values["stylize"], style)
    text = (values.get("text") or "").strip()
    if is_idle(job.prompt, values):
        raise EngineError(NO_CHANGE, code="nothing_to_do")
    # A grade keeps the size; redrawing and titles need the whole picture.
    plain = manner == "none" and not text
    still = read_picture(job, side=MAX_BAND_SIDE if plain else MAX_SIDE, clear=MAX_SIDE)
    progress.report(0.1)
    pixels, alpha = still.pixels, still.alpha
    if manner != "none":
        pixels = redraw(pixels, manner)
    progress.report(0.6)
    # Blending dirties flat inks, so less of the original is kept.
    share = 1.0 - (1.0 - values["strength"]) ** (2.5 if manner == "poster" else 1.0)
    _grade(still.pixels, pixels, look, share)
    progress.report(0.75)
    words = {"used": list(style.used), "unused": list(style.unused)}
    facts = {"look": name, "stylize": manner, "words": words}
    if text:
        # Transparency would cut off parts of letters.
        pixels, alpha = Still(pixels, alpha).flatten(), None
        title = TitleText(headline=text, face=values["font"], position=values["position"])
        pixels, placed = set_title(pixels, title)
        facts = {**facts, **placed}
    progress.report(0.85)
    return write_result(job, progress, "restyle", pixels, alpha=alpha, facts=facts, fine=bool(text))


def _grade(old: Bytes, new: Bytes, look: Look, share: float) -> None:
    """Grade the new picture and blend it with the old one, in place; both may be the same.

    A look without colors must not regain them from the original: from half strength on it has
    none.
    """
    kept = 1.0 if look.saturation else max(0.0, 1.0 - 2 * share)
    if look != Look():
        _apply_look(new, look, share if new is old else 1.0, kept)
    for rows, _, _ in row_bands(len(new), _BAND_ROWS) if new is not old else ():
        rest = old[rows] if kept == 1 else cv2.transform(old[rows], color_matrix(kept))
        cv2.addWeighted(new[rows], share, rest, 1.0 - share, 0.0, dst=new[rows])


def _apply_look(pixels: Bytes, look: Look, share: float, kept: float) -> None:
    """Apply a share of a look to a picture, in place, keeping `kept` of its colors."""
    table, few = curves_of(look), fit_size(pixels.shape, _GLOW_SIDE)
    size, light = pixels.shape[1::-1], None
    shade: Any = vignette(few, share * look.vignette)
    if look.glow:
        small = cv2.transform(resize(pixels, *few), color_matrix(look.saturation))
        light = cv2.split(cv2.bitwise_not(glow_of(cv2.LUT(small, table), share * look.glow, few)))
        light = [cv2.resize(cv2.multiply(p, shade, scale=1 / 255), size) for p in light]
    shade = cv2.resize(shade, size) if look.glow or look.vignette else None
    # The tables blend in the original; its colors are scaled by their slope.
    steep = share * float(np.ptp(table[0, 96:161], axis=0).mean()) / 64
    saturation = (steep * look.saturation + (1 - share) * kept) / (steep + 1 - share)
    table = cv2.addWeighted(table, share, curves_of(Look()), 1 - share, 0.0)
    ways = cv2.split(table if light is None else cv2.bitwise_not(table))
    mix = color_matrix(saturation)
    for rows, _, _ in row_bands(len(pixels), _BAND_ROWS):
        part = pixels[rows]
        # Colors first, so that a monochrome look is toned. By planes it takes half the time.
        colors = cv2.transform(part, mix) if saturation else cv2.cvtColor(part, cv2.COLOR_RGB2GRAY)
        planes = cv2.split(colors) if saturation else [colors] * 3
        planes = [cv2.LUT(plane, way) for plane, way in zip(planes, ways, strict=True)]
        for number, plane in enumerate(planes if shade is not None else ()):
            less = shade if light is None else light[number]
            cv2.multiply(plane, less[rows], dst=plane, scale=1 / 255)
            if light is not None:  # they are inverted, so that light never clips
                cv2.subtract(shade[rows], plane, dst=plane)
        cv2.merge(planes, dst=part)


def vignette(size: tuple[int, int], amount: float) -> Bytes:
    """Return the brightness of a vignette at each place of a picture, 255 without effect."""
    rows, columns = np.ogrid[-1:1:64j, -1:1:64j]
    shade = 255 * (1.0 - amount * smooth_step(0.5, 2.0, rows**2 + columns**2))
    shade = cv2.resize(shade, [max(64, side // 8) for side in size], interpolation=cv2.INTER_CUBIC)
    return np.asarray(cv2.resize(cv2.convertScaleAbs(shade), size))


def color_matrix(saturation: float) -> Floats:
    """Return a saturation matrix for red, green and blue: 1 is neutral, 0 gives gray."""
    return np.asarray(saturation * np.eye(3) + (1 - saturation) * _LUMA, np.float32)


def curves_of(look: Look) -> Bytes:
    """Return the tone curves of red, green and blue, shape (1, 256, 3)."""
    tone = np.linspace(0.0, 1.0, 256)
    shifts = (look.warmth + look.tint / 2, -look.tint, -look.warmth + look.tint / 2)
    channels = []
    for shift, dark, light in zip(shifts, look.shadows, look.highlights, strict=True):
        value = tone + (shift + look.light) * 4.0 * tone * (1.0 - tone) - 0.5
        if look.contrast > 1.0:
            # With rounded ends, so that lights and darks keep their detail.
            steep = 3.2 * (look.contrast - 1.0)
            value = 0.5 * np.tanh(2.0 * steep * value) / np.tanh(steep)
        else:
            value = look.contrast * value
        channels.append(0.5 + value + dark * (1.0 - tone) ** 2 + light * tone**2)
    return np.asarray(np.rint(np.stack(channels, axis=1) * 255).clip(0, 255), np.uint8)[None]


def glow_of(pixels: Bytes, amount: float, size: tuple[int, int]) -> Bytes:
    """Return the glow of the brightest places of a picture, in a size."""
    small = resize(pixels, *fit_size(pixels.shape, _GLOW_SIDE)).astype(np.float32) / 255
    light = small * smooth_step(0.35, 0.95, small @ _LUMA)[..., None]
    soft = blur(light, 0.012 * _GLOW_SIDE) + blur(light, 0.045 * _GLOW_SIDE)
    return np.asarray(cv2.resize(cv2.convertScaleAbs(soft, alpha=255 * amount), size))


def screen(pixels: Bytes, light: Bytes) -> None:
    """Add light to a picture or a plane, in place, without clipping."""
    cv2.add(pixels, cv2.multiply(light, cv2.bitwise_not(pixels), scale=1 / 255), dst=pixels)


def redraw(pixels: Bytes, manner: str) -> Bytes:
    """Return a picture redrawn in a manner, ``painting``, ``sketch`` or ``poster``."""
    small = resize(pixels, *fit_size(pixels.shape, _DRAWN_SIDE, least=8))
    drawn = _MANNERS[manner](small)
    return np.asarray(cv2.resize(drawn, pixels.shape[1::-1], interpolation=cv2.INTER_CUBIC))


def _paint(pixels: Bytes) -> Bytes:
    unit = max(pixels.shape) / 1024
    out = pixels
    for size in (7, 4, 3):
        out = _kuwahara(out, max(2, round(size * unit)))
    hsv = cv2.cvtColor(sharpen(out, 1.6 * unit, 0.9), cv2.COLOR_RGB2HSV)
    hsv[..., 1] = cv2.convertScaleAbs(hsv[..., 1], alpha=1.18)
    out = cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)
    # Light from above: brush ridges along the shapes and the weave of a canvas.
    height, width = out.shape[:2]
    cells = (round(90 * height / width), 24)
    bristles = field(np.random.default_rng(11), height, width, cells=cells, octaves=3)
    gray = cv2.cvtColor(out, cv2.COLOR_RGB2GRAY).astype(np.float32)
    bumps = cv2.GaussianBlur(gray, (0, 0), 1.2 * unit) + 5.0 * bristles
    slope = sum(cv2.Sobel(bumps, cv2.CV_32F, across, 1 - across, ksize=3) for across in (0, 1))
    light = np.clip(0.16 * slope, -14.0, 14.0)[..., None]
    return np.asarray(np.rint(out + light).clip(0, 255), np.uint8)


def _kuwahara(pixels: Bytes, radius: int) -> Bytes:
    """Return each pixel as the mean of the quarter around it with the least variance.

    Source: Kuwahara et al. (1976); soft weights after Papari et al. (IEEE TIP 2007).
    """
    wide = cv2.copyMakeBorder(pixels, radius, radius, radius, radius, cv2.BORDER_REFLECT)
    # All quarters are the same squares, relative to another corner. Plane by plane, as NumPy takes
    # several times as long over interleaved colors.
    (height, width), side, corner = pixels.shape[:2], (radius + 1, radius + 1), (0, 0)
    gray = cv2.cvtColor(wide, cv2.COLOR_RGB2GRAY)
    first = cv2.boxFilter(gray, cv2.CV_32F, side, anchor=corner)
    second = cv2.sqrBoxFilter(gray, cv2.CV_32F, side, anchor=corner)
    rough = 1.0 + np.maximum(second - first * first, 0.0)
    rough *= rough
    weight = 1.0 / (rough * rough)

    def total(plane: Floats) -> Floats:
        places = [(0, 0), (0, radius), (radius, 0), (radius, radius)]
        parts = (plane[down : down + height, right : right + width] for down, right in places)
        return np.asarray(reduce(cv2.add, parts))

    means = (cv2.boxFilter(plane, cv2.CV_32F, side, anchor=corner) for plane in cv2.split(wide))
    below = np.maximum(total(weight), 1e-30)
    mixed = [cv2.convertScaleAbs(total(weight * mean) / below) for mean in means]
    return np.asarray(cv2.merge(mixed))


def _sketch(pixels: Bytes) -> Bytes:
    unit = max(pixels.shape) / 1024
    gray = cv2.createCLAHE(2.0, (4, 4)).apply(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY))
    calm = cv2.bilateralFilter(gray, 7, 40, 5)
    # Dividing by the surroundings leaves lines at changes of tone, as a pencil draws them.
    soft = calm.astype(np.float32)
    lines, fine = (
        cv2.divide(soft, blur(soft, wide * unit), scale=255, dtype=cv2.CV_8U) for wide in (9, 2.2)
    )
    share = np.arange(256, dtype=np.float32) / 255
    page = cv2.multiply(cv2.LUT(lines, (1.06 * share) ** 1.6), cv2.LUT(fine, share**4))
    paper = field(np.random.default_rng(12), *gray.shape, cells=(160, 160), octaves=3)
    page = cv2.multiply(cv2.min(page, 1.0, dst=page), 1.0 + 0.018 * paper, dst=page)
    page = cv2.multiply(page, _hatch(calm, unit), dtype=cv2.CV_8U)
    graphite, white = np.array([[52, 50, 54], [249, 246, 238]], np.float32)
    inks = cv2.convertScaleAbs(graphite + share[:, None] * (white - graphite))
    return np.asarray(cv2.merge([cv2.LUT(page, ink) for ink in inks.T]))


def _hatch(calm: Bytes, unit: float) -> Bytes:
    """Shade dark places with strokes that lean to the right, cross-hatched in the darkest."""
    height, width = calm.shape
    reach, shade = int(np.hypot(height, width)) + 2, np.full_like(calm, 255)
    tone, across = np.arange(256) / 255, max(2, reach // 26)
    for number, (angle, dark) in enumerate(((55.0, 0.62), (40.0, 0.40), (-50.0, 0.24))):
        rng = np.random.default_rng(20 + number)
        grain = rng.standard_normal((reach, across), np.float32)
        grain = cv2.GaussianBlur(grain, (1, 0), sigmaX=0.1, sigmaY=max(0.6, 0.9 * unit))
        turn = cv2.getRotationMatrix2D((reach / 2, reach / 2), angle, 1.0)
        turn[:, 2] -= ((reach - width) / 2, (reach - height) / 2)
        # Its columns are strokes long; pixel centers are at halves.
        turn[:, 2] += 0.5 * turn[:, 0] * (reach / across - 1)
        turn[:, 0] *= reach / across
        size, grain = (width, height), 255 * (0.55 + 0.6 * grain)
        strokes = np.maximum(cv2.warpAffine(grain, turn, size, borderMode=cv2.BORDER_REFLECT), 0)
        amount = cv2.LUT(calm, 0.55 * ((dark - tone) / dark).clip(0, 1).astype(np.float32))
        dimmed = cv2.multiply(cv2.min(strokes, 255), amount, dtype=cv2.CV_8U)
        shade = cv2.multiply(shade, cv2.bitwise_not(dimmed), scale=1 / 255)
    return np.asarray(shade)


_PRINT_SIDE = 720  # pixels a side of the copy in which areas are found
_INK_COUNT = 11
_COLOR_CELL = 10  # steps of 8-bit Lab that count as one color in the search for inks
_SCALE = np.array([0.72, 1.25, 1.25], np.float32)  # hue separates areas better than light
_MAX_STEP, _MAX_SPREAD = 4, 20.0  # between neighbors, and in all, of an area of one ink
_MIN_AREA = 0.012  # share of the picture: smaller areas are not evened
_LINE_STEP, _MIN_LINE = 13.0, 60  # steps darker than around, and length in pixels, of a drawn line


def _print(pixels: Bytes) -> Bytes:
    size = fit_size(pixels.shape, _PRINT_SIDE, least=8)
    calm = cv2.medianBlur(resize(pixels, *size), 5)
    for reach in (7, 5):
        calm = cv2.bilateralFilter(calm, reach, 32, 4)
    lab = cv2.cvtColor(calm, cv2.COLOR_RGB2LAB).astype(np.float32) * _SCALE
    inks, l2 = _find_inks(lab), cv2.NORM_L2SQR
    _, which = cv2.batchDistance(lab.reshape(-1, 3), inks, cv2.CV_32F, normType=l2, K=1)
    which = which.reshape(calm.shape[:2])
    _even_out(which, calm, lab, inks)
    # Inks are ordered by lightness: a median of the surroundings removes small specks.
    which = cv2.medianBlur(cv2.medianBlur(which.astype(np.uint8), 9), 9)
    which[_find_lines(calm)] = len(inks)
    return _fill_areas(which, _mix_inks(inks), pixels.shape[1::-1])


def _find_inks(lab: Floats) -> Floats:
    """Return cluster centers of the colors, with larger weights of rare and vivid ones."""
    colors = lab[::2, ::2].reshape(-1, 3)
    keys = np.floor(colors / _COLOR_CELL).astype(np.int64) @ np.array([4096, 64, 1])
    counts = np.bincount(keys)
    sums = np.stack([np.bincount(keys, channel) for channel in colors.T], axis=1)
    means, counts = sums[counts > 0] / counts[counts > 0, None], counts[counts > 0]
    vivid = np.hypot(*(means[:, 1:] - 128 * _SCALE[1:]).T)
    weights = np.sqrt(counts) * (1.0 + vivid / 60.0) * (counts > 0.0002 * len(colors))
    found = np.repeat(means, np.rint(weights).astype(int), axis=0).astype(np.float32)
    cv2.setRNGSeed(3)
    most, until = min(_INK_COUNT, len(np.unique(found, axis=0))), (cv2.TERM_CRITERIA_COUNT, 12, 0)
    inks = cv2.kmeans(found, most, None, until, 4, cv2.KMEANS_PP_CENTERS)[2]
    return np.asarray(inks[np.argsort(inks[:, 0])])


def _even_out(which: NDArray[Any], calm: Bytes, lab: Floats, inks: Floats) -> None:
    """Give large smooth areas one ink; otherwise a gradient would become stripes."""
    slope = cv2.morphologyEx(calm, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8))
    even = cv2.compare(reduce(cv2.max, cv2.split(slope)), _MAX_STEP, cv2.CMP_LE)
    count, areas, facts, _ = cv2.connectedComponentsWithStats(even)
    for number in range(1, count):
        if facts[number, cv2.CC_STAT_AREA] > _MIN_AREA * which.size:
            mask = (areas == number).astype(np.uint8)
            mean, spread = cv2.meanStdDev(lab, mask=mask)
            if np.linalg.norm(spread) < _MAX_SPREAD:
                which[mask > 0] = int(((inks - mean.T) ** 2).sum(axis=1).argmin())


def _find_lines(calm: Bytes) -> NDArray[np.bool_]:
    """Return where a fine dark line is that is too thin for an area: a mouth, a branch, a rope."""
    gray = cv2.cvtColor(calm, cv2.COLOR_RGB2GRAY).astype(np.float32)
    dark = cv2.GaussianBlur(gray, (0, 0), 3.2) - cv2.GaussianBlur(gray, (0, 0), 1.1)
    _, parts, facts, _ = cv2.connectedComponentsWithStats((dark > _LINE_STEP).astype(np.uint8))
    return np.asarray((facts[parts, cv2.CC_STAT_AREA] >= _MIN_LINE) & (parts > 0))


def _mix_inks(inks: Floats) -> Floats:
    """Return inks as colors of a print, RGB, 0 to 255, and last the key, the ink of lines.

    They are clearer and further apart than the picture's colors.
    """
    lab = inks / _SCALE
    chroma, light = np.hypot(lab[:, 1] - 128, lab[:, 2] - 128)[:, None], lab[:, 0].copy()
    low, high = float(light.min()), float(light.max())
    lab[:, 0] = 0.45 * light + 0.55 * np.interp(light, [low, max(high, low + 1)], [30, 242])
    lab[:, 1:] = 128 + (1.3 + 0.45 * np.exp(-chroma / 14)) * (lab[:, 1:] - 128)
    key = lab[np.argmin(lab[:, 0])]
    lab = np.concatenate([lab, [[min(26.0, key[0]), *(128 + 0.3 * (key[1:] - 128))]]])
    exact = np.rint(lab).clip(0, 255).astype(np.uint8)
    return np.asarray(cv2.cvtColor(exact[None], cv2.COLOR_LAB2RGB)[0], np.float32)


def _fill_areas(which: Bytes, colors: Floats, size: Sequence[int]) -> Bytes:
    used = np.flatnonzero(np.bincount(which.ravel()))
    shares = np.empty((size[1], len(used), size[0]), np.uint8)
    for place, number in enumerate(used):
        share = cv2.GaussianBlur(cv2.compare(which, int(number), cv2.CMP_EQ), (0, 0), 1.4)
        cv2.resize(share, size, shares[:, place])
    # Steep at outlines: two inks mix over about one pixel.
    near = 255 / (9.0 * min(1.0, which.shape[0] / size[1]))
    mix = np.column_stack([colors[used], np.ones(len(used))]).T.astype(np.float32)
    out = np.empty((size[1], size[0], 3), np.uint8)
    for rows, _, _ in row_bands(size[1], _BAND_ROWS):
        part = shares[rows]
        least = cv2.subtract(part.max(axis=1), near)[:, None]
        total = mix @ (np.maximum(part, least) - least).astype(np.float32)
        planes = [cv2.divide(total[:, n], total[:, 3], dtype=cv2.CV_8U) for n in range(3)]
        cv2.merge(planes, dst=out[rows])
    return out


_MANNERS = {"painting": _paint, "sketch": _sketch, "poster": _print}
