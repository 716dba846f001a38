"""Titling: a headline set on a quiet part of a picture, with enough contrast to be legible.

Contrast is measured on the picture behind the text and raised with a scrim, a gradient in the
picture's own colors, so 4.5:1 (WCAG 2.2, level AA) holds for headline and subtitle on any picture.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.edit_thread import keep_reporting
from kit.engines.editing.picture.background import paint_backdrop, paint_landscape
from kit.engines.editing.picture.files import color_of, read_picture, write_result
from kit.engines.editing.title import STYLES, TitleStyle, headline_of, subtitle_of
from kit.engines.editing.title.layout import (
    LUMA,
    Box,
    Layout,
    TitlePiece,
    TitleText,
    lay_out,
    luminance,
    shade_stops,
)
from kit.engines.media.color import Bytes, Floats, encode, lab_of, linear, srgb
from kit.engines.media.fonts.wording import Wording, wording
from kit.engines.media.lettering import Block, Color, extent, mask, sprite, stamp
from kit.engines.media.noise import smooth_step
from kit.engines.media.scaling import blur, resize
from kit.engines.media.subject import crop
from kit.engines.prompt.reading import read
from kit.engines.sizes import longest_side


@keep_reporting
def make_card(job: Job, progress: Progress) -> Asset:
    """Render a job of the title-card model."""
    progress.report(0.0)
    values = job.parameters
    accent = values["accent"].strip().lower()
    title = TitleText(
        headline=job.prompt,
        subtitle=values.get("subtitle") or "",
        face=values["font"],
        style=values["style"],
        position=values["position"],
        accent=None if accent in ("", "auto") else color_of(accent),
    )
    width, height = longest_side(values["aspect_ratio"], values["size"])
    words, painted = (values.get("background") or "").strip(), not job.media.get("image")
    if not painted:
        given = read_picture(job, cover=(width, height)).flatten()
        ground = resize(crop(given, width / height), width, height)
    elif words:
        ground = paint_backdrop(words, width, height, job.seed, progress)
    else:
        brief = read(job.prompt, {}, job.seed, family="poster")
        ground = paint_landscape(brief, width, height, progress)
    progress.report(0.3)
    pixels, facts = set_title(ground, title, painted=painted)
    progress.report(0.8)
    facts["seed"] = job.seed
    return write_result(job, progress, "title-card", pixels, facts=facts, fine=True)


def set_title(
    pixels: Bytes, title: TitleText, *, painted: bool = False
) -> tuple[Bytes, dict[str, Any]]:
    """Return a picture with a title on it, and metadata of its layout.

    A `painted` picture has no faces.
    """
    style = STYLES[title.style]
    headline = wording(*headline_of(title.headline, title.face, title.style))
    small = title.subtitle
    subtitle = wording(*subtitle_of(small, title.style)) if small.strip() else Wording("")
    title = replace(title, headline=headline.text, subtitle=subtitle.text)
    layout = lay_out(pixels, title, people=not painted)
    if style.night:
        # Dark and blue, like the day-for-night of films.
        gain = 1.0 - style.night * (1.0 - srgb((0.36, 0.15, 282.0)))
        tables = 255 * np.linspace(0, 1, 256)[:, None] ** 1.5 * gain
        pixels = np.asarray(cv2.LUT(pixels, np.rint(tables).astype(np.uint8)[None]))
    out, inks = _choose_inks(pixels, layout, title)
    y = layout.top
    for piece in layout.pieces:
        _draw(out, piece, y, layout, style, inks)
        y += piece.height + piece.after
    facts = {
        "position": layout.place,
        "side": layout.side,
        "font": layout.headline.face,
        "lines": list(layout.headline.lines),
        "contrast": round(inks.contrast, 1),
    }
    left_out = list(dict.fromkeys(headline.left_out + subtitle.left_out))
    return out, {**facts, "left_out": left_out} if left_out else facts


#: Minimum contrast of text and background. Source: WCAG 2.2, success criterion 1.4.3.
_MIN_CONTRAST = 4.5
_AIM = 4.75  # margin for rounding and for glints smaller than a letter
_BLOCK_PIXELS = 6  # pixels over which brightness is averaged: smaller glints do not hide letters
_KNEE = 0.6  # share of the limit from which brightness is compressed
_FADE_SHARES = (0.3, 0.2)  # shares of the picture over which a scrim fades out, across and down
_WHITE: Color = (255, 255, 255)
_OUTLINE: Color = (14, 14, 18)
_DARK_ACCENT: Color = (176, 12, 44)  # the accent of dark letters


@dataclass(frozen=True, slots=True)
class _Inks:
    """The colors of a title: its letters, its accented words, and glowing letters."""

    letters: Color
    accent: Color
    headline: Color
    light: bool
    contrast: float


def _choose_inks(pixels: Bytes, layout: Layout, title: TitleText) -> tuple[Bytes, _Inks]:
    style, part = STYLES[title.style], _crop(pixels, layout.box)
    to_light, to_dark = shade_stops(luminance(part[::8, ::8]))
    light = bool(style.night) or to_light <= to_dark
    dark, pale, ink = _tints(pixels, part)
    letters = _WHITE if light else ink
    accent = title.accent or (style.accent if light else _DARK_ACCENT)
    # The color closest to the background determines the shading, within reason.
    nearest, stressed = (float(luminance(np.array(c, np.float32))) for c in (letters, accent))
    if not style.night and (style.picks_word or style.kicker):
        nearest = min(nearest, max(stressed, 0.5)) if light else max(nearest, min(stressed, 0.08))
    least = style.scrim if light else 0.0
    out = _shade(pixels, layout, dark if light else pale, nearest, least, light=light)
    behind = luminance(_average(_crop(out, layout.box)))
    ground = float(np.percentile(behind, 99.0 if light else 1.0))
    headline = letters
    if style.night:
        # The lit gas itself: nearly white with a slight tint of its glow.
        headline = _color(1.0 - 0.16 * (1.0 - np.array(accent) / 255))
    else:
        accent = _accent_on(accent, ground, letters, light=light)
    shown = (letters, headline if style.night else accent)
    contrast = min(_contrast(color, ground) for color in shown)
    return out, _Inks(letters, accent, headline, light, contrast)


def _shade(
    pixels: Bytes, layout: Layout, tint: Floats, ink: float, least: float, *, light: bool
) -> Bytes:
    """Return a picture under the weakest gradient on which letters of a luminance are legible.

    It is a band along the rows, or ends in the middle if the title is at a side. For dark letters
    it is applied to the negative.
    """
    limit = (ink + 0.05) / _AIM - 0.05 if light else min(0.95, (ink + 0.05) * _AIM - 0.05)
    calm = 0.8 * limit if light else limit + 0.25 * (1.0 - limit)
    bound = 255 * float(encode(np.array(max(limit, 0.0))))
    tint, bound = (tint, bound) if light else (1.0 - tint, 255.0 - bound)
    # In a haze all pixels keep their colors; that of the negative would be glaring.
    hue = tint / max(1e-3, float(tint @ LUMA)) if light else np.ones(3)
    # Compressed so that nothing exceeds the limit: a sun becomes a soft light in its sky's color.
    gray = np.maximum(np.arange(256.0), 1e-3)[:, None]
    rest = max(1e-3, (1.0 - _KNEE) * bound)
    above = np.maximum(gray - _KNEE * bound, 0.0)
    kept = (np.minimum(gray, _KNEE * bound) + rest * (1.0 - np.exp(-above / rest))) / gray
    bent = kept * (1.0 + (1.0 - kept) * (hue - 1.0))

    def shade(part: Bytes, share: float, weight: Any = 1.0) -> Bytes:
        part, dim = part if light else cv2.bitwise_not(part), 1.0 + share * (tint - 1.0)
        gray, gains = cv2.transform(part, (LUMA * dim)[None]), (dim * bent - 1.0).astype(np.float32)
        factors = (1.0 + weight * cv2.LUT(gray, gain) for gain in gains.T)
        planes = zip(cv2.split(part), factors, strict=True)
        out = cv2.merge([cv2.multiply(plane, own, dtype=cv2.CV_8U) for plane, own in planes])
        return np.asarray(out if light else cv2.bitwise_not(out))

    behind, strength = np.rint(_average(_crop(pixels, layout.box))).astype(np.uint8), 1.0
    for share in np.linspace(0.0, 1.0, 26):
        found = luminance(shade(behind, share))
        middle, worst = np.percentile(found, (70, 99.5) if light else (30, 0.5))
        contrast = (max(worst, ink) + 0.05) / (min(worst, ink) + 0.05)
        if share >= least and (middle <= calm if light else middle >= calm) and contrast >= _AIM:
            strength = float(share)
            break
    (height, width), (left, top, right, bottom) = pixels.shape[:2], layout.box
    down = _FADE_SHARES[1] * (height + 2 * (bottom - top))
    weight = _gradient(height, top, bottom, down)[:, None]
    if layout.side != "center":
        weight = weight * _gradient(width, left, right, _FADE_SHARES[0] * width)
    out = pixels.copy()
    for first in range(0, height, 48):
        rows = slice(first, first + 48)
        if weight[rows].max() > 1 / 512:
            out[rows] = shade(pixels[rows], strength, weight[rows])
    return out


def _gradient(length: int, first: float, last: float, fade: float) -> Floats:
    at, pad = np.arange(length, dtype=np.float32), 0.1 * fade
    off = np.zeros_like(at)
    if first > 0.35 * fade:
        off = np.maximum(off, first - pad - at)
    if length - last > 0.35 * fade:
        off = np.maximum(off, at - last - pad)
    return smooth_step(1.0, 0.0, off / np.float32(fade))


def _tints(pixels: Bytes, part: Bytes) -> tuple[Floats, Floats, Color]:
    """Return the typical colors of a picture's darks and lights, 0 to 1, and a dark ink."""
    whole, near = (
        lab_of(cv2.resize(p, (48, 48), interpolation=cv2.INTER_AREA).reshape(-1, 3) / 255)
        for p in (pixels, part)
    )
    low, high = np.percentile(whole[:, 0], (45, 60))
    found = []
    for chosen in (whole[:, 0] <= low, whole[:, 0] >= high):
        weights = chosen * (np.hypot(whole[:, 1], whole[:, 2]) + 0.004)
        a, b = (weights[:, None] * whole[:, 1:]).sum(axis=0) / max(1e-9, weights.sum())
        found.append((float(np.hypot(a, b)), float(np.degrees(np.arctan2(b, a)) % 360)))
    (deep, hue), (faint, other) = found
    most = 0.01 + float(np.hypot(near[:, 1], near[:, 2]).mean())
    dark = srgb((0.32, min(0.1, 1.1 * deep, most), hue))
    pale = srgb((0.975, min(0.022, 0.4 * faint), other))
    return dark, pale, _color(srgb((0.21, min(0.05, 0.8 * deep), hue)))


def _accent_on(color: Color, ground: float, ink: Color, *, light: bool) -> Color:
    """Return a color, made lighter or darker in its hue until it has enough contrast."""
    lab, end = lab_of(np.array(color) / 255), 1.0 if light else 0.1
    whole = max(1e-6, abs(end - lab[0]))
    for lightness in np.linspace(lab[0], end, 24):
        kept = min(1.0, abs(end - lightness) / whole + 0.25)
        rgb = _color(encode(linear(np.array([lightness, *(lab[1:] * kept)]))))
        if _contrast(rgb, ground) >= _MIN_CONTRAST:
            return rgb
    return ink


def _contrast(color: Color, ground: float) -> float:
    high, low = sorted((float(luminance(np.array(color, np.float32))), ground))[::-1]
    return (high + 0.05) / (low + 0.05)


def _color(rgb: Any) -> Color:
    red, green, blue = (int(np.clip(np.rint(255 * channel), 0, 255)) for channel in rgb)
    return red, green, blue


def _crop(pixels: Bytes, box: Box) -> Bytes:
    left, top, right, bottom = box
    return pixels[max(0, top) : bottom, max(0, left) : right]


def _average(part: Bytes) -> Floats:
    size = (max(1, part.shape[1] // _BLOCK_PIXELS), max(1, part.shape[0] // _BLOCK_PIXELS))
    return np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_AREA), np.float32)


#: Deviation, in ems, and strength of the layers of a glow.
_GLOW_LAYERS = ((0.035, 0.9), (0.12, 0.75), (0.34, 1.0))


def _draw(
    out: Bytes, piece: TitlePiece, y: int, layout: Layout, style: TitleStyle, inks: _Inks
) -> None:
    wide = extent(piece.block)[0] if piece.block else layout.rule
    rest = layout.width - wide
    left = layout.left + {"left": 0, "center": rest // 2, "right": rest}[layout.align]
    if piece.block is None:
        out[y : y + piece.height, left : left + wide] = inks.accent
        return
    if style.night:
        _add_glow(out, piece.block, (left, y), layout.align, inks.accent)
    how: dict[str, Any] = {"color": inks.accent if style.kicker else inks.letters}
    how["shadow"] = max(0.1, style.shadow) if inks.light else 0.0
    if piece.is_headline:
        lines, carried = piece.block.lines, piece.block.continued
        text = "".join(f"{'' if n in carried else ' '}{line}" for n, line in enumerate(lines))
        words = text.split()
        longest = max(range(len(words)), key=lambda index: (len(words[index]), index))
        how = {
            "color": inks.headline,
            "accent": inks.accent,
            "accented": (longest,) if style.picks_word and len(words) > 1 else (),
            "stroke": style.stroke if inks.light else 0.0,
            "stroke_color": _OUTLINE,
            "shadow": style.shadow if inks.light else 0.0,
        }
    picture = sprite(piece.block, align=layout.align, **how)
    down, across = picture.shape[0] - piece.height, picture.shape[1] - wide
    stamp(out, picture, left - across // 2, y - down // 2)


def _add_glow(out: Bytes, block: Block, at: tuple[int, int], align: str, color: Color) -> None:
    reach = round(1.1 * block.size)
    letters = mask(block, margin=reach, align=align)
    glow = np.zeros(letters.shape, np.float32)
    for share, amount in _GLOW_LAYERS:
        glow += amount / 255 * blur(letters, max(1.0, share * block.size))
    light = np.broadcast_to(np.array(color, np.float32), (*glow.shape, 3))
    picture = np.dstack([light, 255 * np.clip(glow, 0, 1)]).astype(np.uint8)
    stamp(out, picture, at[0] - reach, at[1] - reach)
