"""Animation of a picture: choose a technique, prepare once, then draw frame by frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.film.filming import Draw, FilmView, Take, read_take, record, view_at
from kit.engines.film.kenburns import MOVES, CropRoom, StillCamera
from kit.engines.film.parallax import GROWTH, STRENGTH, Blocks, DepthRelief, blocks_of, padded_size
from kit.engines.film.sheets import Overlay, draw_sheet
from kit.engines.media import stills
from kit.engines.media.clip import rgb_frame, views
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.cutout import cut_out
from kit.engines.media.edges import clean_rim
from kit.engines.media.noise import smooth_step
from kit.engines.media.scaling import fit_size, resize
from kit.engines.media.subject import find
from kit.engines.sizes import frame_size

_MAX_SIDE = 3072  # maximum side in pixels at which a picture is read
_MAX_SCALE = 1.6  # maximum size of the picture relative to the frame
#: Moves of the other techniques -> the equivalent for a flat picture.
_FLAT_MOVES = {"push": "zoom_in", "pull": "zoom_out", "arc": "drift", "rise": "pan_up"}
_NEARNESS = 0.9  # nearness of a subject that is cut out
_MIN_CERTAINTY = 0.6  # minimum certainty of a subject that is cut out automatically
_SUBJECT_SHARES = (0.015, 0.72)  # of the picture that a subject may cover
_FILL_SIDE = 400  # pixels of the longer side at which the background is filled in
_RIM = 0.005  # dilation of the subject for that, as a share of the longer side
_MIN_COVER = 12  # coverage from which a pixel is not background
_EDGE_MARGIN = 0.25  # minimum distance of a zoom's center from the edges


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture in the frame's aspect."""

    pixels: Bytes
    alpha: Bytes  # coverage of the subject, which moves in front of the rest
    focus: tuple[float, float]  # center of a zoom, in shares of the frame


#: Prepares a technique and returns the function that draws frames.
Prepare: TypeAlias = Callable[[Shot, Take, Progress], Draw]


def animate(job: Job, progress: Progress) -> Asset:
    """Render a job of the animate model."""
    values = job.parameters
    progress.report(0.0)
    path = job.media["image"][0]
    found = stills.info_of(path)
    take = read_take(values, frame_size(values, (found.width, found.height)))
    cover = round(_MAX_SCALE * take.width), round(_MAX_SCALE * take.height)
    pixels = stills.open_still(path, side=_MAX_SIDE, cover=cover).flatten()
    progress.report(0.01)
    pixels, focus = _crop_to_frame(pixels, take)
    progress.report(0.02)
    technique, alpha = _choose(values["technique"], pixels)
    progress.report(0.06)
    if values["weather"] == "rain":  # the picture may have been taken in the sun
        gray = np.repeat(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)[..., None], 3, axis=2)
        pixels = np.asarray(cv2.addWeighted(pixels, 0.8, gray, 0.13, 0.0))
    shot = Shot(pixels, alpha, focus)
    draw = _TECHNIQUES[technique](shot, take, progress.part(0.06, 0.25))
    progress.report(0.25)
    drawing, air = progress.part(0.25, 1.0), values["weather"]
    facts = {"technique": technique, "weather": air}
    return record(job, drawing, take, draw, name="animated", metadata=facts, weather=air)


def _choose(technique: str, pixels: Bytes) -> tuple[str, Bytes]:
    if technique in ("auto", "cutout"):
        found = cut_out(pixels)
        sure = technique == "cutout" or found.certainty > _MIN_CERTAINTY
        if sure and _SUBJECT_SHARES[0] < found.alpha.mean() / 255 < _SUBJECT_SHARES[1]:
            # Faint and isolated parts are not the subject, but would need a filled background.
            near = cv2.dilate(found.alpha, np.ones((9, 9), np.uint8))
            return "cutout", np.where(near > 200, found.alpha, np.uint8(0))
        # Half a cliff that moves closer tears a picture as much as a cut-out one.
        technique = "parallax"
    return technique, np.zeros(pixels.shape[:2], np.uint8)


def _cutout(shot: Shot, take: Take, progress: Progress) -> Draw:
    pixels, alpha, focus = shot.pixels, shot.alpha, shot.focus
    background = _background_of(pixels, alpha)
    progress.report(1.0)
    relief = DepthRelief(0.22 + 0.5 * _ground_nearness(pixels), take, focus)
    blocks = blocks_of(relief.planes(background))
    subject = _subject_of(pixels, background, alpha, padded_size(take))
    # It scales with the ground that it stands on: about its foot, unless that is out of sight.
    rows = np.flatnonzero(alpha.max(axis=1) > 128)
    foot = float(rows.max(initial=0)) / len(alpha)
    size = np.array([take.width, take.height])
    middle = size * (focus[0], focus[1] if foot > 0.97 else 0.5 * foot + 0.1)
    edge = (np.array(padded_size(take)) - size) / 2

    def draw(number: int) -> Bytes:
        seen = view_at(take, number)
        out = _draw_frame(relief, blocks, seen)
        scale = 1.0 + seen.zoom * GROWTH * _NEARNESS
        shift = size * (seen.x, seen.y) * STRENGTH * _NEARNESS
        x, y = (middle - scale * (middle + edge) + shift).tolist()
        matrix = np.array([[scale, 0.0, x], [0.0, scale, y]])
        draw_sheet(views(out, take.width, take.height), subject, matrix, take.height)
        return out

    return draw


def _parallax(shot: Shot, take: Take, progress: Progress) -> Draw:
    relief = DepthRelief(_ground_nearness(shot.pixels), take, shot.focus)
    blocks = blocks_of(relief.planes(shot.pixels))
    return lambda number: _draw_frame(relief, blocks, view_at(take, number))


def _ken_burns(shot: Shot, take: Take, progress: Progress) -> Draw:
    move = MOVES[_FLAT_MOVES.get(take.camera, take.camera)]
    return StillCamera(shot.pixels, move(CropRoom(1.0, 1.0, shot.focus, take.motion)), take).frame


_TECHNIQUES: Mapping[str, Prepare] = {
    "cutout": _cutout,
    "parallax": _parallax,
    "ken_burns": _ken_burns,
}


def _crop_to_frame(pixels: Bytes, take: Take) -> tuple[Bytes, tuple[float, float]]:
    """Return the part in the frame's aspect, no larger than needed, and its subject's center.

    A zoom is centered on the clearest face, or else on the subject, but not at the very edge.
    """
    seen, size = find(pixels), np.array(pixels.shape[1::-1])
    x, y, width, height = seen.window(take.width / take.height)
    part = pixels[y : y + height, x : x + width]
    middle = np.array(seen.faces[0].center) if seen.faces else size * seen.center
    middle = np.clip((middle - (x, y)) / (width, height), _EDGE_MARGIN, 1 - _EDGE_MARGIN)
    part = resize(part, *fit_size(part.shape, _MAX_SCALE * max(take.width, take.height)))
    return np.ascontiguousarray(part), (float(middle[0]), float(middle[1]))


def _ground_nearness(pixels: Bytes) -> Floats:
    down = np.linspace(0.0, 1.0, len(pixels), dtype=np.float32)
    ramp = 0.08 + 0.84 * smooth_step(0.10, 1.05, down)
    return np.repeat(np.asarray(ramp, np.float32)[:, None], pixels.shape[1], axis=1)


def _subject_of(pixels: Bytes, background: Bytes, alpha: Bytes, size: tuple[int, int]) -> Overlay:
    """Return the subject of a picture as a sheet of an even size.

    Composited over the background, its colors give the picture again, or the nearest ones; they
    are extended beyond the subject, so that subpixel motion shows no seam.
    """
    color = clean_rim(pixels.copy(), alpha)
    edge = (alpha > _MIN_COVER) & (alpha < 255)
    share = alpha[edge][:, None] * np.float32(1 / 255)
    behind = background[edge].astype(np.float32)
    color[edge] = np.rint((pixels[edge] - (1 - share) * behind) / share).clip(0, 255)
    color, alpha = (np.asarray(resize(part, *size)) for part in (color, alpha))
    half = np.asarray(resize(alpha, size[0] // 2, size[1] // 2))
    starts, counts = np.reshape(cv2.boundingRect(alpha), (2, 2))
    left, top = (int(start) for start in np.maximum(starts - 4, 0) & ~1)
    right, end = (int(stop) for stop in starts + counts + 5 & ~1)
    part = np.s_[top:end, left:right]
    halves = np.s_[top // 2 : end // 2, left // 2 : right // 2]
    luma, *chromas = views(rgb_frame(color), *size)
    alpha, half = np.ascontiguousarray(alpha[part]), half[halves]
    luma = cv2.multiply(luma[part], alpha, scale=1 / 255)
    small = [cv2.multiply(plane[halves], half, scale=1 / 255) for plane in chromas]
    # At the lower edge of the picture it is extended.
    wide, endless = not (left > 0 and right < size[0]), end >= size[1]
    return Overlay(np.asarray(luma), alpha, cv2.merge([*small, half]), top, left, wide, endless)


def _background_of(pixels: Bytes, alpha: Bytes) -> Bytes:
    """Return a picture with its subject replaced by the colors around it.

    It is filled at low resolution: little of it comes into view, and only briefly. Pixels farther
    from the subject than three times the rim are unchanged.
    """
    height, width = alpha.shape
    # The rim belongs to the subject: hair, and its color in some pixels around it.
    rim = max(2, round(_RIM * max(height, width)))
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * rim + 1, 2 * rim + 1))
    wide = cv2.dilate(np.where(alpha > _MIN_COVER, np.uint8(255), np.uint8(0)), disc)
    small, hidden = (resize(part, *fit_size(alpha.shape, _FILL_SIDE, 4)) for part in (pixels, wide))
    hidden = np.where(hidden > 0, np.uint8(255), np.uint8(0))
    filled = cv2.inpaint(small, hidden, 4, cv2.INPAINT_TELEA)
    filled = resize(filled, width, height)
    # A blur of limited reach, outside of the rim: it ends under the subject's edge.
    share = cv2.blur(cv2.dilate(wide, disc), (2 * rim + 1, 2 * rim + 1))
    share = share.astype(np.float32) / 255
    return np.asarray(cv2.blendLinear(filled, pixels, share, 1 - share))


def _draw_frame(relief: DepthRelief, blocks: Blocks, seen: FilmView) -> Bytes:
    width, height = relief.take.width, relief.take.height
    out = np.empty((height * 3 // 2, width), np.uint8)
    relief.view(blocks, seen).spread(views(out, width, height))
    return out
