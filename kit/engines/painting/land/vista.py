"""Vistas: the camera, the light and the order in which a landscape in depth is painted.

Every family of land or sea lays out its own heights and ground, then goes through the same steps:
sky, ground seen by voxel space, haze, and at the end beams, weather, bloom and development.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Floats
from kit.engines.painting.land import air, sky, voxel, weather
from kit.engines.painting.land.ground import Direction
from kit.engines.painting.land.look import Look, look_for
from kit.engines.painting.land.sky import Sun
from kit.engines.painting.land.staging import Staging, staging_of
from kit.engines.painting.land.voxel import Camera
from kit.engines.painting.painting import Motion, Painting
from kit.engines.painting.tone import Film
from kit.engines.prompt.brief import Brief

#: Detail -> points of a map a side, slices of the ground.
POINTS = {"low": 512, "standard": 768, "high": 1024}
SLICES = {"low": 460, "standard": 760, "high": 1100}
FAR = 940.0
_ASIDE = 0.5  # how far aside the subject at least is of a sun that is asked for
_CLOSE = 0.35  # share of its way aside that a subject near by keeps
#: Composition -> factor on the disc of the sun or moon.
_DISCS = {"wide": 0.8, "close": 1.5, "minimal": 1.6, "dramatic": 1.5}
_LOWEST = 0.80


@dataclass(frozen=True, slots=True)
class Vista:
    """Where the camera stands and what light falls.

    Parameters
    ----------
    toward : tuple of float
        Direction to the light that models the land: right, along z, up; of length 1.
    subject : float
        Where the main thing stands, -1 left to 1 right; the sun keeps to the other side.
    """

    brief: Brief
    look: Look
    camera: Camera
    sun: Sun
    toward: Direction
    subject: float
    motions: list[Motion] = field(default_factory=list)

    @property
    def staging(self) -> Staging:
        """What the camera's words make of the land."""
        return staging_of(self.brief.composition)

    @property
    def points(self) -> int:
        """Points of a map a side."""
        return POINTS[self.brief.detail]

    @property
    def slices(self) -> int:
        """Slices of the ground to look at."""
        return SLICES[self.brief.detail]

    def dice(self, stream: int) -> np.random.Generator:
        """Return randomness of its own for a part of the picture."""
        return np.random.default_rng([self.brief.seed, stream])


def vista(
    brief: Brief,
    *,
    horizon: float,
    height: float,
    focal: float = 0.92,
    raised: float = 2.0,
    lowered: float = 0.6,
) -> Vista:
    """Return where a family's camera stands when the prompt's composition words have moved it.

    Parameters
    ----------
    horizon : float
        Share of the frame above it.
    height : float
        Of the eye, in world units.
    focal : float
        In widths of a square frame.
    raised, lowered : float
        Factors on the height of an eye that looks from high up, or from low down.
    """
    dice = np.random.default_rng([brief.seed, 1])
    look = look_for(brief)
    framing = brief.composition
    width, rows = brief.width, brief.height
    lens = focal * brief.lens * max(width, 0.82 * rows)
    level = level_of(horizon + 0.05 * (rows > 1.4 * width), brief)
    height *= lowered if "low" in framing else raised if "high" in framing else 1.0
    camera = Camera(width, rows, lens, level * rows, height)
    side, across = _placed(framing, dice, named=look.named)
    size = math.prod(_DISCS.get(word, 1.0) for word in framing) * (1.25 if look.named else 1.0)
    sun = sky.sun_of(look, camera, across, size)
    return Vista(brief, look, camera, sun, _toward(look, across, dice), side)


def _placed(
    framing: Collection[str], dice: np.random.Generator, *, named: bool
) -> tuple[float, float]:
    """Return where the subject stands, -1 to 1, and where the light does, 0 to 1.

    Parameters
    ----------
    named : bool
        The prompt wants to see the light: it is the subject, and the land stands aside.
    """
    side = float(np.sign(dice.uniform(-1, 1)) * dice.uniform(0.22, 0.5))
    away = float(dice.uniform(0.7, 1.2))
    if "thirds" in framing:
        side, away = float(np.sign(side)) / 3, 1.0
    elif named:
        side = math.copysign(max(abs(side), _ASIDE), side)
    across = 0.5 - 0.5 * side * away
    if "centered" in framing:
        return (side, 0.5) if named else (0.0, 0.5)
    return side * (_CLOSE if "close" in framing else 1.0), across


def level_of(own: float, brief: Brief) -> float:
    """Return the share of the frame above the horizon, of a family whose own it is."""
    if "thirds" in brief.composition:
        return 1 / 3 if "high" in brief.composition else 2 / 3
    return min(own + brief.horizon, _LOWEST)


def finished(
    scene: Vista,
    progress: Progress,
    planes: Floats,
    depth: Floats,
    behind: NDArray[np.bool_],
    water: NDArray[np.bool_] | None = None,
) -> Painting:
    """Return a landscape of painted planes.

    Parameters
    ----------
    depth : ndarray of float32
        Of what each pixel shows, with all that stands there.
    behind : ndarray of bool
        Where there is sky, for the beams that come from it.
    """
    look = scene.look
    if scene.sun.shown and not scene.sun.moon:
        air.beams(planes, planes * behind, scene.sun, np.full(3, 0.5 * look.glow))
    progress.report(0.3)
    weather.falling(planes, scene.brief, scene.camera, light_of=look, rng=scene.dice(90))
    progress.report(1.0)
    film = Film(
        exposure=look.exposure,
        saturation=look.saturation,
        contrast=look.contrast,
        lift=look.lift,
        vignette=1.0 - (1.0 - look.vignette) ** 1.8,
        bloom=0.25,
        threshold=0.9,
        grain=1.3,
        seed=scene.brief.seed,
    )
    open_ = depth >= 0.99 * voxel.FAR
    return Painting(
        light=planes,
        film=film,
        depth=np.where(open_, np.float32(np.inf), depth),
        sky=open_.astype(np.float32),
        water=None if water is None else water.astype(np.float32),
        motions=tuple(scene.motions),
    )


def _toward(look: Look, across: float, dice: np.random.Generator) -> Direction:
    """Light falls from the sun's side: raking where the sun is low, from behind by day."""
    side = across - 0.5 or float(dice.choice([-1, 1])) * 0.1
    right = side * 1.6 + float(np.sign(side)) * 0.8
    along = 0.55 if look.elevation < 0.5 else 0.05
    direction = np.array([right, along, look.high_light * 1.2])
    right, along, up = direction / np.linalg.norm(direction)
    return float(right), float(along), float(up)
