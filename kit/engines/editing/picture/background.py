"""Background changes: find the subject, make the new background, composite both."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.edit_thread import keep_reporting
from kit.engines.editing.picture import files
from kit.engines.media.color import Bytes, dither, encode, lab_of, linear, srgb
from kit.engines.media.cutout import MIN_CERTAINTY, Box, cut_out
from kit.engines.media.edges import clean_rim
from kit.engines.media.noise import smooth_step
from kit.engines.media.scaling import fit_size, resize
from kit.engines.media.stills import Still
from kit.engines.media.subject import crop
from kit.engines.painting.families import paint as paint_brief
from kit.engines.prompt.backgrounds import background_of, no_background
from kit.engines.prompt.brief import Brief
from kit.engines.sizes import BOX
from kit.errors import EngineError

_MASK_SHARES = (0.001, 0.97)  # shares of the picture that a mask may cover
_MIN_SUBJECT = 0.004  # of the picture: smaller subjects are ignored
_OPAQUE = 0.9  # mean coverage below which a picture counts as cut out; round corners are above it
_DISC_RADIUS = 9  # pixels of the blur's radius in the reduced picture
_MAX_BLUR = 0.045  # of the blur, as a share of the longer side
_NOTE_CERTAINTY = 0.75  # a less certain cutout is returned with a note
_ADVICE = "mark it with a mask or with subject_x, subject_y, subject_width and subject_height"
_MAX_PAINTED = 2048  # maximum side in pixels of a painting; flat shapes can be enlarged
_MIN_SIDE = 64  # pixels a side; narrower strips are cut from that


@keep_reporting
def change_background(job: Job, progress: Progress) -> Asset:
    """Render a job of the background model."""
    progress.report(0.0)
    operation, feather = job.parameters["operation"], job.parameters["feather"]
    # Check the other file first, alone: decoding a picture takes most of the memory.
    given = operation == "replace" and bool(job.media.get("backdrop"))
    backdrop = files.read_picture(job, "backdrop").flatten() if given else None
    still = files.read_picture(job)
    near = _read_hint(job, still.pixels.shape[:2])
    progress.report(0.1)
    alpha, sure = _find_subject(still, near, blurs=operation == "blur")
    progress.report(0.6)
    if feather:
        # Shrink first: a soft edge must fade inside the subject, not show the old background.
        disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, [2 * round(0.6 * feather) + 1] * 2)
        soft = cv2.GaussianBlur(cv2.erode(alpha, disc), (0, 0), 0.5 * feather)
        alpha = np.minimum(soft, alpha)
    strength, pixels, kept = job.parameters["blur_strength"], still.pixels, still.alpha
    if operation == "remove":
        pixels, kept = clean_rim(pixels, alpha), alpha
        # Invisible pixels would only make the file larger.
        cv2.add(pixels, (255, 255, 255, 0), dst=pixels, mask=cv2.compare(alpha, 0, cv2.CMP_EQ))
    elif operation == "replace":
        back, kept = _make_backdrop(job, alpha, backdrop, progress), None
        pixels = files.composite(back, clean_rim(pixels, alpha), alpha)
    elif strength:
        radius = max(1.0, _MAX_BLUR * strength * max(alpha.shape))
        back = _defocus(pixels, alpha, radius)
        pixels = files.composite(back, clean_rim(pixels, alpha), alpha)
    progress.report(0.8)
    facts = {"operation": operation, "subjectShare": round(float(alpha.mean()) / 255, 3)}
    if sure is not None:
        facts["certainty"] = round(float(sure), 2)
        if sure < _NOTE_CERTAINTY:
            facts["note"] = f"the subject may be cut out roughly here: {_ADVICE}"
    return files.write_result(job, progress, "background", pixels, alpha=kept, facts=facts)


def _read_hint(job: Job, shape: tuple[int, int]) -> Bytes | Box | None:
    """Return the user's hint of the subject as a mask or a box, None without one."""
    if job.media.get("mask"):
        where = "about where the subject is and black elsewhere"
        return files.read_mask(job, shape, _MASK_SHARES, where)
    if any(job.parameters.get(name) is None for name in BOX):
        return None
    (x, y, wide, high), (height, width) = (float(job.parameters[name]) for name in BOX), shape
    left, top = max(0, round((x - wide / 2) * width)), max(0, round((y - high / 2) * height))
    right, bottom = round((x + wide / 2) * width), round((y + high / 2) * height)
    return slice(top, max(top + 1, bottom)), slice(left, max(left + 1, right))


def _find_subject(
    still: Still, near: Bytes | Box | None, *, blurs: bool
) -> tuple[Bytes, float | None]:
    """Return the coverage of each pixel by the subject, and its certainty, 0 to 1.

    A picture that is already cut out has its own mask; a user's hint is certain.
    """
    if near is None and still.alpha is not None:
        if not blurs:
            return _require_subject(still.alpha, known=False), None
        if still.alpha.mean() < 255 * _OPAQUE:
            # Only hidden pixels would become visible.
            sentence = "the picture has no background to blur: it is transparent around its subject"
            raise EngineError(sentence, code="no_background")
    found = cut_out(still.flatten(), near)
    alpha, sure = found.alpha, found.certainty
    alpha = alpha if still.alpha is None else np.minimum(alpha, still.alpha)
    alpha = _require_subject(alpha, known=near is not None)
    if sure < MIN_CERTAINTY:
        sentence = f"the subject does not stand out clearly enough to be cut out well: {_ADVICE}"
        raise EngineError(sentence, code="unsure_subject")
    return alpha, sure if near is None else None


def _require_subject(alpha: Bytes, *, known: bool) -> Bytes:
    if alpha.mean() >= 255 * _MIN_SUBJECT:
        return alpha
    sentence = "no subject stands out from the background of this picture"
    raise EngineError(sentence if known else f"{sentence}: {_ADVICE}", code="no_subject")


def _make_backdrop(job: Job, alpha: Bytes, backdrop: Bytes | None, progress: Progress) -> Bytes:
    height, width = alpha.shape
    if backdrop is not None:
        return np.asarray(resize(crop(backdrop, width / height), width, height))
    if job.prompt.strip():
        return paint_backdrop(job.prompt, width, height, job.seed, progress)
    return np.full((height, width, 3), files.color_of(job.parameters["color"]), np.uint8)


def _defocus(pixels: Bytes, alpha: Bytes, radius: float) -> Bytes:
    """Return the background with the blur of a lens, filled in behind the subject.

    Bokeh needs linear light (a square is close enough); the subject has no weight, or it would
    glow around its own outline.
    """
    longer = max(alpha.shape)
    size = fit_size(alpha.shape, round(longer * min(1.0, _DISC_RADIUS / radius)))
    small, cover = (resize(plane, *size).astype(np.float32) / 255 for plane in (pixels, alpha))
    weight = (1.0 - cover)[..., None] ** 4 + 1e-4
    reach = max(1, round(radius * max(size) / longer))
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    kernel = cv2.GaussianBlur(disc.astype(np.float32), (0, 0), 0.8)
    layers = np.dstack([small * small * weight, weight])
    total = cv2.filter2D(layers, -1, kernel / kernel.sum(), borderType=cv2.BORDER_REFLECT)
    soft = np.sqrt(np.maximum(total[..., :3] / total[..., 3:], 0.0))
    soft = cv2.convertScaleAbs(soft, alpha=255)
    return np.asarray(cv2.resize(soft, alpha.shape[::-1], interpolation=cv2.INTER_CUBIC))


def paint_backdrop(words: str, width: int, height: int, seed: int, progress: Progress) -> Bytes:
    """Return a background of a size: a landscape if words name a place, else their colors."""
    asked = background_of(words, seed)
    if isinstance(asked, Brief):
        return paint_landscape(asked, width, height, progress)
    if not asked:
        raise EngineError(no_background(words), code="unknown_background")
    # A color is sRGB of 0 to 255, or hue and chroma.
    first, *others = (
        np.array(it, np.float32) / 255 if len(it) == 3 else srgb((0.62, it[1], it[0]))
        for it in asked
    )
    if others:  # from top to bottom
        top, bottom = lab_of(first), lab_of(others[0])
        down = smooth_step(0.0, 1.0, np.linspace(0.0, 1.0, height)[:, None])
        column = encode(linear(top + (bottom - top) * down))
        light = np.broadcast_to(column.T[:, :, None], (3, height, width))
    else:  # lit from above its center, as in a studio
        rows, columns = np.ogrid[-0.42:0.58:64j, -1:1:64j]
        far = (min(1.0, width / height) * columns) ** 2 + (1.7 * rows) ** 2
        small = 1.0 - 0.16 * smooth_step(0.1, 1.4, far)
        shade = cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
        light = first[:, None, None] * shade
    return dither(np.asarray(light, np.float32), np.random.default_rng(1))


def paint_landscape(brief: Brief, width: int, height: int, progress: Progress) -> Bytes:
    """Return a painted landscape, as in the poster model."""
    progress.check()
    wide, tall = fit_size((height, width), _MAX_PAINTED, least=_MIN_SIDE)
    brief = replace(brief, width=wide, height=tall, falling=False)
    picture = paint_brief(brief, Progress(lambda _: progress.check())).pixels()
    return np.asarray(resize(picture, width, height))
