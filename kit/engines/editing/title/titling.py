"""Titling: a headline set on a picture where it is quiet, with enough contrast to be read.

Contrast is measured on the picture behind the text and made up for with a scrim, so 4.5:1 (WCAG
2.2, level AA) holds for headline and subtitle on any picture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.picture.framing import scaled
from kit.engines.editing.picture.grading import color_of, finished, flat, source
from kit.engines.editing.picture.painted import behind, landscape
from kit.engines.editing.title.places import Layout, laid_out
from kit.engines.editing.title.scrims import Box, Need, scrimmed
from kit.engines.editing.title.setting import (
    DARK,
    LIGHT,
    Piece,
    Tints,
    Title,
    Tone,
    accent_for,
    accent_on,
    contrast_on,
    luminance,
    tints_of,
)
from kit.engines.editing.title.styles import STYLES, TitleStyle, headline_of, subtitle_of
from kit.engines.media.color import Bytes, paint
from kit.engines.media.lettering import Block, Color, mask, softened, sprite, stamp
from kit.engines.media.subject import crop
from kit.engines.media.typesetting import extent
from kit.engines.prompt.backgrounds import asks_for_place
from kit.engines.prompt.reading import read
from kit.engines.sizes import longest_side

__all__ = ["Title", "titled"]

#: Deviation, in ems, and strength of the halos that make up a glow.
_GLOWS = ((0.035, 0.9), (0.12, 0.75), (0.34, 1.0))
_NIGHT = (0.36, 0.15, 282.0)  # the light of night, OKLCH
_PLACED, _SHADED = 0.2, 0.65  # shares of the work done by then
_OUTLINE: Color = (14, 14, 18)


@dataclass(frozen=True, slots=True)
class _Pen:
    style: TitleStyle
    tone: Tone
    accent: Color
    layout: Layout


def titled(
    pixels: Bytes,
    title: Title,
    *,
    spare: int = 0,
    painted: bool = False,
    report: Callable[[float], None] = lambda share: None,
) -> tuple[Bytes, dict[str, Any]]:
    """Return a picture with a title on it, and the facts of its setting.

    Parameters
    ----------
    spare : int
        Columns by which the picture is wider than the result; it is cut, and perhaps mirrored, so
        that the title hides little of it.
    painted : bool
        Whether it was painted by rule: then it has no faces, and its lights are flat shapes.
    report : callable
        Is told after each step which share of the work is done, 0 to 1; it may raise to stop it.

    Raises
    ------
    EngineError
        The text has letters that no font has, or is too long.
    """
    style = STYLES[title.style]
    title, left_out = _worded(title)
    layout = laid_out(pixels, title, spare=spare, people=not painted)
    report(_PLACED)
    pixels = layout.view.of(pixels, pixels.shape[1] - spare)
    if style.night:
        pixels = _by_night(pixels, style.night)
    tints = tints_of(pixels, _part(pixels, layout.box))
    tone = _tone(pixels, layout.box, style, tints)
    accent = title.accent or (style.accent if tone.light else _deep(pixels, layout.box))
    least = style.scrim if tone.light else 0.0
    out, ground = scrimmed(
        pixels,
        layout.box,
        Need(tone, tints, _nearest(accent, tone, style), least, sparing=painted),
    )
    report(_SHADED)
    if not style.glow:
        # A glow only lights what is around the letters; they are read by their own brightness.
        accent = accent_on(accent, ground, tone)
    pen = _Pen(style, tone, accent, layout)
    y = layout.top
    pieces = layout.stack.pieces
    for number, piece in enumerate(pieces, start=1):
        _draw(out, piece, y, pen)
        y += piece.height + piece.after
        report(_SHADED + (1.0 - _SHADED) * number / len(pieces))
    inks = (tone.ink, _tube(accent) if style.glow else accent)
    headline = layout.stack.headline
    facts = {
        "position": layout.place,
        "side": layout.side,
        "font": headline.face,
        "lines": list(headline.lines),
        "contrast": round(min(contrast_on(color, ground) for color in inks), 1),
    }
    return out, {**facts, "left_out": left_out} if left_out else facts


def _worded(title: Title) -> tuple[Title, list[str]]:
    """Return a title as it is written, and the symbols that no font has."""
    headline = headline_of(title.headline, title.face, title.style)
    subtitle = subtitle_of(title.subtitle, title.style)
    left_out = list(dict.fromkeys(headline.left_out + subtitle.left_out))
    return replace(title, headline=headline.text, subtitle=subtitle.text), left_out


def _tone(pixels: Bytes, box: Box, style: TitleStyle, tints: Tints) -> Tone:
    """Return the tone that changes the picture behind the text less."""
    if style.glow:
        return LIGHT
    behind = luminance(_part(pixels, box)[::8, ::8])
    if float(np.median(behind)) <= style.bright:
        return LIGHT
    return replace(DARK, ink=tints.ink)


def _deep(pixels: Bytes, box: Box) -> Color:
    return accent_for(_part(pixels, box).mean(axis=(0, 1)).tolist())


def _part(pixels: Bytes, box: Box) -> Bytes:
    left, top, right, bottom = box
    return pixels[max(0, top) : bottom, max(0, left) : right]


def _nearest(accent: Color, tone: Tone, style: TitleStyle) -> float:
    """Return the luminance of that ink which is nearest to the ground, in reason."""
    ink = float(luminance(np.array(tone.ink, np.float32)))
    if style.glow or not (style.picks_word or style.kicker):
        return ink
    stressed = float(luminance(np.array(accent, np.float32)))
    return min(ink, max(stressed, 0.5)) if tone.light else max(ink, min(stressed, 0.08))


def _by_night(pixels: Bytes, amount: float) -> Bytes:
    """Return a picture as it would look by night: dark and blue, as films shoot it by day."""
    gain = (1.0 - amount * (1.0 - paint(_NIGHT))).astype(np.float32)
    tables = 255 * (np.arange(256, dtype=np.float32)[:, None] / 255) ** 1.5 * gain
    return np.asarray(cv2.LUT(pixels, np.rint(tables).astype(np.uint8)[None]))


def _draw(out: Bytes, piece: Piece, y: int, pen: _Pen) -> None:
    layout = pen.layout
    if piece.block is None:
        _draw_rule(out, piece, y, pen)
        return
    ink_width, ink_height, _ = extent(piece.block)
    left = _left(layout, ink_width)
    if pen.style.glow:
        _light_up(out, piece.block, (left, y), pen)
    picture = _lettered(piece.block, pen, is_headline=piece.is_headline)
    spare = (picture.shape[0] - ink_height) // 2
    stamp(out, picture, left - (picture.shape[1] - ink_width) // 2, y - spare)


def _lettered(block: Block, pen: _Pen, *, is_headline: bool) -> Bytes:
    style = pen.style
    light = pen.tone is LIGHT
    if not is_headline:
        color = pen.accent if style.kicker else pen.tone.ink
        shadow = max(0.1, style.shadow) if light else 0.0
        return sprite(block, color=color, shadow=shadow, align=pen.layout.align)
    words = "".join(
        f"{'' if n in block.carried else ' '}{line}" for n, line in enumerate(block.lines)
    ).split()
    return sprite(
        block,
        color=_tube(pen.accent) if style.glow else pen.tone.ink,
        accent=pen.accent,
        accented=_picked(words) if style.picks_word else (),
        stroke=style.stroke if light else 0.0,
        stroke_color=_OUTLINE,
        shadow=style.shadow if light else 0.0,
        align=pen.layout.align,
    )


def _picked(words: Sequence[str]) -> tuple[int, ...]:
    """Return the word to stress: the longest one, of several the last; none in a single word."""
    if len(words) < 2:
        return ()
    return (max(range(len(words)), key=lambda index: (len(words[index]), index)),)


def _draw_rule(out: Bytes, piece: Piece, y: int, pen: _Pen) -> None:
    length = pen.layout.stack.rule
    left = _left(pen.layout, length)
    out[y : y + piece.height, left : left + length] = pen.accent


def _left(layout: Layout, width: int) -> int:
    """Return the left edge of what is as wide as this and part of a title."""
    spare = layout.stack.width - width
    return layout.left + {"left": 0, "center": spare // 2, "right": spare}[layout.align]


def _tube(accent: Color) -> Color:
    """Return the color of the lit gas itself: nearly white with a breath of its glow."""
    red, green, blue = (round(255 - 0.16 * (255 - channel)) for channel in accent)
    return red, green, blue


def _light_up(out: Bytes, block: Block, at: tuple[int, int], pen: _Pen) -> None:
    """Add the glow of lit letters to a picture, in place."""
    reach = round(1.1 * block.size)
    letters = mask(block, margin=reach, align=pen.layout.align)
    glow = np.zeros(letters.shape, np.float32)
    for share, amount in _GLOWS:
        glow += amount / 255 * softened(letters, max(1.0, share * block.size))
    colored = np.clip(glow, 0, 1)[..., None] * np.array(pen.accent, np.float32)
    rows = slice(max(0, at[1] - reach), min(out.shape[0], at[1] - reach + letters.shape[0]))
    columns = slice(max(0, at[0] - reach), min(out.shape[1], at[0] - reach + letters.shape[1]))
    top, left = at[1] - reach, at[0] - reach
    part = colored[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left]
    below = out[rows, columns].astype(np.float32)
    out[rows, columns] = np.rint(255 - (255 - below) * (255 - part) / 255)


#: Of the width: a landscape is painted wider than the card, and that part of it is shown where the
#: sun is off the title.
_SPARE = 0.2


def make_card(job: Job, progress: Progress) -> Asset:
    """Render a job of the title-card model."""
    progress.report(0.0)
    values = job.parameters
    accent = values["accent"].strip().lower()
    title = Title(
        headline=job.prompt,
        subtitle=values.get("subtitle") or "",
        face=values["font"],
        style=values["style"],
        position=values["position"],
        accent=None if accent in ("", "auto") else color_of(accent),
    )
    width, height = longest_side(values["aspect_ratio"], values["size"])
    painted = not job.media.get("image")
    spare = round(_SPARE * width) if painted and _is_place(values) else 0
    ground = _background(job, (width + spare, height), progress)
    progress.report(0.3)
    setting = progress.part(0.3, 0.8)
    pixels, facts = titled(ground, title, spare=spare, painted=painted, report=setting.report)
    return finished(job, progress, "title-card", pixels, facts={**facts, "seed": job.seed})


def _is_place(values: Mapping[str, Any]) -> bool:
    words = (values.get("background") or "").strip()
    return not words or asks_for_place(words)


def _background(job: Job, size: tuple[int, int], progress: Progress) -> Bytes:
    width, height = size
    if job.media.get("image"):
        picture = flat(source(job))
        progress.report(0.15)
        return scaled(crop(picture, width / height), width, height)
    words = (job.parameters.get("background") or "").strip()
    if words:
        return behind(words, width, height, job.seed, progress)
    brief = read(job.prompt, {}, job.seed, family="poster")
    return landscape(brief, width, height, progress)
