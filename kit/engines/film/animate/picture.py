"""How a picture is animated: choose a technique, prepare once, then draw frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.film.animate.layers import Layers, separated
from kit.engines.film.animate.relief import GROWTH, STRENGTH, Relief, large
from kit.engines.film.animate.subject import Subject
from kit.engines.film.blocks import blocks_of
from kit.engines.film.filming import Draw, Take, View, filmed, take_of, view
from kit.engines.film.kenburns import MOVES, Room, Rostrum, flattened
from kit.engines.film.sheets import Matrix
from kit.engines.film.weather import Weather, dull
from kit.engines.media import stills
from kit.engines.media import subject as subjects
from kit.engines.media.clip import Frame, views
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.cutout import cut_out
from kit.engines.media.noise import smooth_step
from kit.engines.sizes import frame_size

_MOST = 3072  # pixels a side that are read of a picture
#: Moves of the other techniques -> what a flat picture makes of them.
_FLAT_MOVES = {"push": "zoom_in", "pull": "zoom_out", "arc": "drift", "rise": "pan_up"}
_SURE = 0.6  # of a subject that is cut out without being asked
_SHARES = (0.015, 0.72)  # of the picture that it may cover
_SUBJECT = 0.9  # nearness of a subject that is cut out

#: Prepares a technique: from the picture, its subject and the take to what draws frames.
Prepare: TypeAlias = Callable[[Bytes, Bytes, Take, np.random.Generator, Progress], Draw]


def animate(job: Job, progress: Progress) -> Asset:
    """Render a job of the animate model."""
    values = job.parameters
    progress.report(0.0)
    pixels = flattened(stills.opened(job.media["image"][0], most=_MOST))
    take = take_of(values, frame_size(values, (pixels.shape[1], pixels.shape[0])))
    progress.report(0.01)
    pixels = _framed(pixels, take)
    progress.report(0.02)
    technique, alpha = _chosen(values["technique"], pixels)
    progress.report(0.06)
    rng = np.random.default_rng([job.seed, 61])
    draw = _TECHNIQUES[technique](pixels, alpha, take, rng, progress.part(0.06, 0.25))
    progress.report(0.25)
    drawing = progress.part(0.25, 1.0)
    air = _air(values["weather"], take, rng)
    facts = {"technique": technique, "weather": values["weather"]}
    return filmed(
        job,
        drawing,
        take,
        lambda number: air(draw(number), number),
        name="animated",
        metadata=facts,
        light=True,
    )


def _chosen(technique: str, pixels: Bytes) -> tuple[str, Bytes]:
    """Return the technique that a picture allows, and the subject that it is for."""
    alpha = np.zeros(pixels.shape[:2], np.uint8)
    if technique == "ken_burns":
        return technique, alpha
    found = cut_out(pixels)
    low, high = _SHARES
    if (technique == "cutout" or found.certainty > _SURE) and low < found.alpha.mean() / 255 < high:
        return "cutout", found.alpha
    # Half a cliff that comes nearer tears a picture up as well as one that is cut out.
    return "parallax", alpha


def _cutout(
    pixels: Bytes, alpha: Bytes, take: Take, rng: np.random.Generator, progress: Progress
) -> Draw:
    layers = separated(pixels, alpha, int(rng.integers(2**31)), progress)
    progress.report(1.0)
    depth = 0.22 + 0.5 * _ground(pixels.shape[0], pixels.shape[1])
    relief = Relief(depth, take)
    background = blocks_of(relief.planes(layers.background))
    progress.report(1.0)
    subject = Subject(_fitted(layers, take), rng)
    foot = _foot(layers.alpha)

    def draw(number: int) -> Bytes:
        seen = _seen(take, number)
        out, frame = _blank(take)
        blocks = relief.look(background, seen)
        subject.lay(blocks, _placed(take, seen, foot))
        blocks.spread(frame)
        return out

    return draw


def _parallax(
    pixels: Bytes, alpha: Bytes, take: Take, rng: np.random.Generator, progress: Progress
) -> Draw:
    depth = _ground(pixels.shape[0], pixels.shape[1])
    if alpha.any():
        # Nothing is torn: what surrounds the subject is stretched, so its depth falls off softly.
        reach = 0.02 * max(alpha.shape)
        near = cv2.GaussianBlur(alpha, (0, 0), reach).astype(np.float32) / 255
        depth += near * np.maximum(0.85 - depth, 0.0)
    relief = Relief(depth, take)
    blocks = blocks_of(relief.planes(pixels))

    def draw(number: int) -> Bytes:
        out, frame = _blank(take)
        relief.look(blocks, _seen(take, number)).spread(frame)
        return out

    return draw


def _ken_burns(
    pixels: Bytes, alpha: Bytes, take: Take, rng: np.random.Generator, progress: Progress
) -> Draw:
    camera = _FLAT_MOVES.get(take.camera, take.camera)
    room = Room(1.0, 1.0, (0.5, 0.5), take.motion)
    return Rostrum(pixels, MOVES[camera](room), take).frame


_TECHNIQUES: dict[str, Prepare] = {
    "cutout": _cutout,
    "parallax": _parallax,
    "ken_burns": _ken_burns,
}


def _air(kind: str, take: Take, rng: np.random.Generator) -> Callable[[Bytes, int], Bytes]:
    """Return what draws weather over a frame and hands it on."""
    if kind == "none":
        return lambda out, number: out
    size = (take.width, take.height)
    weather = Weather(kind, size, rng, take.seconds, take.loop)

    def draw(out: Bytes, number: int) -> Bytes:
        frame = views(out, take.width, take.height)
        if kind == "rain":
            dull(frame)  # the picture may have been taken in the sun
        weather.draw(frame, take.moment(number))
        return out

    return draw


def _framed(pixels: Bytes, take: Take) -> Bytes:
    """Return the part of a picture that has the frame's shape, not larger than it can be seen."""
    part = subjects.crop(pixels, take.width / take.height)
    scale = max(take.width, take.height) * 1.6 / max(part.shape[:2])
    if scale < 1:
        return np.asarray(cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA))
    return np.ascontiguousarray(part)


def _fitted(layers: Layers, take: Take) -> Layers:
    """Return layers at the size at which the frame shows them, margins included."""
    size = large(take)
    way = cv2.INTER_AREA if layers.alpha.shape[1] > size[0] else cv2.INTER_CUBIC
    return Layers(
        *(
            cv2.resize(part, size, interpolation=way)
            for part in (layers.background, layers.subject, layers.alpha)
        )
    )


def _ground(height: int, width: int) -> Floats:
    """Return the depth of a picture of which nothing is known: what is lower down is nearer."""
    down = np.linspace(0.0, 1.0, height, dtype=np.float32)
    ramp = 0.08 + 0.84 * smooth_step(0.10, 1.05, down)
    return np.repeat(np.asarray(ramp, np.float32)[:, None], width, axis=1)


def _foot(alpha: Bytes) -> float:
    """Return how low a subject reaches, as a share of the height: it grows from where it stands."""
    rows = np.flatnonzero(alpha.max(axis=1) > 128)
    return float(min(1.0, (rows[-1] + 1) / alpha.shape[0])) if len(rows) else 1.0


def _placed(take: Take, seen: View, foot: float) -> Matrix:
    """Return the way from the subject's sheet to the frame."""
    near = STRENGTH * _SUBJECT
    scale = 1.0 + seen.zoom * GROWTH * _SUBJECT
    edge = [side - own for side, own in zip(large(take), (take.width, take.height), strict=True)]
    # It grows about the middle, and at its foot about as much as the ground that it stands on.
    center_x, center_y = take.width / 2, take.height * (0.52 if foot > 0.97 else 0.5 * foot + 0.1)
    x = center_x - scale * (center_x + edge[0] / 2) + seen.x * near * take.width
    y = center_y - scale * (center_y + edge[1] / 2) + seen.y * near * take.height
    return np.array([[scale, 0.0, x], [0.0, scale, y]])


def _seen(take: Take, number: int) -> View:
    return view(take.camera, take.moment(number), motion=take.motion, loop=take.loop)


def _blank(take: Take) -> tuple[Bytes, Frame]:
    out = np.empty((take.height * 3 // 2, take.width), np.uint8)
    return out, views(out, take.width, take.height)
