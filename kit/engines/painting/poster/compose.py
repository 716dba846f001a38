"""Composition: a brief becomes planes, from the sky to the trees that frame the view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.media.color import Bytes, Floats, mix
from kit.engines.media.noise import field, smooth_step
from kit.engines.media.picture import write_still
from kit.engines.media.threads import one_thread
from kit.engines.painting.falling import draw_air, kind_of
from kit.engines.painting.looks import look_for
from kit.engines.painting.painting import Painting
from kit.engines.painting.poster import land, sky
from kit.engines.painting.poster.colors import palette_for
from kit.engines.painting.poster.planes import (
    Backdrop,
    Plane,
    Stage,
    Strip,
    fill,
    print_strips,
    solid,
    strips,
)
from kit.engines.painting.sky import Sun
from kit.engines.painting.tone import Film, decode
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.reading import read

_LAYERS = {"low": 5, "standard": 7, "high": 9}
_GRAIN = 2.2
_NEAREST_METERS = 10.0  # meters to the nearest plane
_MIN_MIST = {"overcast": 0.3, "mist": 0.85, "rain": 0.65, "snow": 0.65, "fog": 1.0}
_MIRROR_SCALE = 1.12  # vertical scale of reflections, which look shorter
_COLUMNS = 20  # columns in which waves are computed
_GLITTER_COUNT = 190  # of light on the water
_Grid: TypeAlias = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class PosterWater:
    """Water from its shore row down to the bottom of the stage.

    It oscillates between two waves, stored a few columns wide. Over the reflection are planes of
    its own color, haze at the shore and glitter.
    """

    shore: int
    waves: tuple[Floats, Floats]
    planes: tuple[Plane, ...]

    def wave(self, number: int) -> Floats:
        """Return the displacement of the reflection by the first or the second wave."""
        small, size = self.waves[number], self.planes[0].alpha.shape[::-1]
        return np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_CUBIC))


@dataclass(frozen=True, slots=True)
class PosterPicture:
    """A composed landscape: planes behind and before the water; without water, all are back."""

    stage: Stage
    backdrop: Backdrop
    back: tuple[Plane, ...]
    front: tuple[Plane, ...]
    water: PosterWater | None


def compose(
    brief: Brief, stage: Stage, *, layers: int = 7, mist: float = 0.4, stars: bool = True
) -> PosterPicture:
    """Return the planes of a scene, with a number of ridges and a minimum of mist, 0 to 1.

    Every part has its own stream of random numbers, so that a change of one setting leaves the
    rest of the picture unchanged.
    """
    rng = (np.random.default_rng([brief.seed, part]) for part in count())
    recipe, size, number = land.recipe_for(brief, layers)
    horizon, look = stage.y(recipe.horizon), look_for(brief)
    palette = palette_for(brief, look)
    light = sky.light_of(next(rng), stage, brief, look, horizon, size)
    misty = max(mist, _MIN_MIST.get(brief.weather, 0.0))
    setting = sky.SkySetting(stage, palette, light, brief, horizon, misty)
    above = [*sky.sky_planes(rng, setting, starry=stars)]
    far, near = land.ridges(next(rng), setting, recipe, number)
    wet = None
    if recipe.shore is not None:
        # The shore moves with the last ridge behind the water.
        depth = max(plane.depth for plane in far if plane.name == "ridge")
        wet = _water(next(rng), setting, recipe.rough, round(stage.y(recipe.shore)), depth)
    return PosterPicture(stage, sky.paint_sky(setting), (*above, *far), tuple(near), wet)


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a flat layered landscape; the brief's detail is the number of its ridges."""
    progress.report(0.0)
    picture = compose(brief, Stage(brief.width, brief.height), layers=_LAYERS[brief.detail])
    light = decode(_print(picture, brief, progress))
    depth = np.full((brief.height, brief.width), np.inf, np.float32)
    water = picture.water.planes[:1] if picture.water else ()
    for plane in (*picture.back, *water, *picture.front):
        if plane.name in ("ridge", "water"):
            part = depth[max(0, plane.top) : plane.bottom]
            cover = plane.alpha[max(0, -plane.top) :][: len(part)] > 127 * (plane.name == "ridge")
            part[cover] = _NEAREST_METERS * max(plane.depth, 0.02) ** -2.7
    # Its colors are already those of a print.
    film = Film(filmic=False, vignette=0.0, grain=0.0)
    return Painting(light=light, film=film, depth=depth, sky=np.isinf(depth).astype(np.float32))


@one_thread()
def paint_poster(job: Job, progress: Progress) -> Asset:
    """Render a job of the poster model."""
    values = job.parameters
    progress.report(0.0)
    brief = read(job.prompt, values, job.seed, family="poster")
    look = {name: values[name] for name in ("layers", "mist", "stars")}
    grain = _GRAIN if values["grain"] else 0.0
    picture = compose(brief, Stage(brief.width, brief.height), **look)
    pixels = _print(picture, brief, progress.part(0.0, 0.7), grain)
    facts = {**brief.facts(), "seed": job.seed}
    # Its gradients and edges look the same with color at half resolution.
    return write_still(
        pixels, job, "poster", progress.part(0.7, 1.0), facts=facts, fine_color=False
    )


def _print(picture: PosterPicture, brief: Brief, progress: Progress, grain: float = 0.0) -> Bytes:
    stage = picture.stage
    progress.report(0.4)
    kind = kind_of(brief)
    air: tuple[Plane, ...] = ()
    if kind:
        mask = draw_air(kind, np.random.default_rng([brief.seed, 97]), (stage.columns, stage.rows))
        color = (0.93, 0.14, 105) if kind == "fireflies" else (0.97, 0.01, 250)
        air = (Plane("weather", 1.0, 0, solid(color), mask),)

    progress.report(0.6)
    return print_strips(stage, paint_strips(picture, air), grain=grain)


def paint_strips(picture: PosterPicture, air: tuple[Plane, ...] = ()) -> Iterator[Strip]:
    """Yield a picture strip by strip, from the top down; `air` is in front of all else."""
    stage, wet = picture.stage, picture.water
    if wet is None:
        yield from strips(stage, picture.backdrop, (*picture.back, *air))
        return
    above = np.empty((3, wet.shore, stage.columns), np.float32)
    for _ in strips(stage, picture.backdrop, picture.back, until=wet.shore, into=above):
        pass

    wave = wet.wave(0)

    def mirror_rows(canvas: Floats, first: int) -> None:
        dry = int(np.clip(wet.shore - first, 0, canvas.shape[1]))
        canvas[:, :dry] = above[:, first : first + dry]
        if dry < canvas.shape[1]:
            start = first + dry - wet.shore
            swell = wave[start : start + canvas.shape[1] - dry]
            grid = mirror_grid(swell, wet.shore, first + dry)
            for source, target in zip(above, canvas[:, dry:], strict=True):
                mirror(source, grid, target)

    yield from strips(stage, mirror_rows, (*wet.planes, *picture.front, *air))


def mirror_grid(swell: Floats, shore: float, first: float) -> _Grid:
    """Return the source columns and rows of the reflection in rows from `first` on."""
    rows, columns = swell.shape
    down = np.arange(rows, dtype=np.float32)[:, None] + np.float32(first - shore)
    at_y = np.multiply(swell, np.float32(0.6))
    at_y += np.float32(shore - 1) - _MIRROR_SCALE * down
    return np.add(swell, np.arange(columns, dtype=np.float32)), np.asarray(at_y, np.float32)


def mirror(source: Floats | Bytes, grid: _Grid, target: Floats | Bytes) -> None:
    """Remap the source to a target by a grid."""
    cv2.remap(source, *grid, cv2.INTER_LINEAR, dst=target, borderMode=cv2.BORDER_REFLECT)


def _water(
    rng: np.random.Generator, setting: sky.SkySetting, rough: float, shore: int, depth: float
) -> PosterWater:
    stage, palette = setting.stage, setting.palette
    rows = stage.rows - shore
    near = np.linspace(0.0, 1.0, rows, dtype=np.float32)[:, None]
    # Ripples are fine at the far shore and coarse in front: rows are sampled in perspective,
    # up to the limit of their widest ripple.
    deep = np.repeat((np.log1p(near * 9.0) / np.log(10.0) * 500.0).astype(np.float32), _COLUMNS, 1)
    across = np.repeat(np.arange(_COLUMNS, dtype=np.float32)[None], rows, axis=0)
    reach = stage.unit * (0.0014 + 0.0105 * near) * (0.45 + rough)
    waves = []
    for _ in range(2):
        flat = field(rng, 512, _COLUMNS, cells=(40, 5), octaves=3, gain=0.55)
        wave = cv2.remap(flat, across, deep, cv2.INTER_LINEAR) * reach
        waves.append(np.asarray(wave))
    haze = smooth_step(0.012 * stage.height, 0.0, np.arange(rows, dtype=np.float32))[:, None] * 0.5
    planes = []
    for share, color in (
        (0.14 + 0.34 * near, mix(palette.sky[1], palette.land[1], 0.5)),
        (haze[: int(np.count_nonzero(haze))], palette.air[0]),
    ):
        alpha = np.repeat(np.rint(share * 255).astype(np.uint8), stage.columns, axis=1)
        planes.append(Plane("water", depth, shore, solid(color), alpha))
    if setting.brief.open_sky:  # an invisible sun has no glitter
        glitter = _glitter(rng, stage, setting.light, shore)
        planes.append(Plane("glitter", depth, shore, solid(palette.light[0]), glitter))
    return PosterWater(shore, (waves[0], waves[1]), tuple(planes))


def _glitter(rng: np.random.Generator, stage: Stage, light: Sun, shore: int) -> Bytes:
    mask = stage.blank(shore, stage.rows)
    near = rng.random(_GLITTER_COUNT) ** 1.25
    x = light.x + rng.normal(0.0, 0.55, _GLITTER_COUNT) * stage.unit * (0.020 + 0.075 * near)
    half = stage.unit * (0.005 + 0.026 * near) * rng.uniform(0.35, 1.2, _GLITTER_COUNT)
    thick = stage.unit * (0.0006 + 0.0016 * near)
    values = (rng.uniform(60, 205, _GLITTER_COUNT) * (1 - 0.55 * near)).astype(int).tolist()
    turn = np.linspace(0.0, 2 * np.pi, 16, endpoint=False)
    across = x[:, None] + half[:, None] * np.cos(turn)
    down = (near * len(mask))[:, None] + thick[:, None] * np.sin(turn)
    fill(mask, np.stack([across, down], axis=2), values=values)
    return mask
