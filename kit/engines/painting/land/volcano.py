"""Volcanoes: a cone with a crater that stands in a landscape's heights, and what it is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land.ground import Ground
from kit.engines.painting.land.relief import grid
from kit.engines.painting.land.vista import Vista
from kit.engines.painting.noise import octave, sample, tile
from kit.engines.prompt.brief import Brief

_STEEP = 1.62  # exponent of the slope: it grows steeper toward the top
#: What it does -> the share of the sky that it takes: smoke wants room above it.
_PARTS = {"asleep": 0.70, "smoking": 0.56, "erupting": 0.48}
_AROUND = 2  # times that the noise of the gullies is laid around the cone
_LOWERED = 0.72  # share by which other mountains make room


@dataclass(frozen=True, slots=True)
class Cone:
    """Where a volcano stands and how large it is, in world units.

    Parameters
    ----------
    x, z : float
        Of its axis.
    foot : float
        Height of the ground or of the bottom of the water that it stands on.
    rise : float
        Of the crater's rim over the foot.
    radius, crater : float
        Of the foot and of the crater.
    """

    x: float
    z: float
    foot: float
    rise: float
    radius: float
    crater: float

    @property
    def top(self) -> float:
        """Height of the rim."""
        return self.foot + self.rise


def cone_of(scene: Vista, *, away: float, foot: float = 0.0) -> Cone | None:
    """Return the volcano that a prompt asks for, as large as the frame has room, else None.

    Parameters
    ----------
    away : float
        Distance of its axis.
    """
    if "volcano" not in scene.brief.things:
        return None
    camera, dice = scene.camera, scene.dice(30)
    half = camera.widest * away
    part = dice.uniform(0.85, 1.05) * _PARTS[activity(scene.brief)]
    part, grown = min(part * scene.staging.part, max(part, 0.95)), scene.staging.part
    room = part * camera.horizon / camera.focal * away
    broad = dice.uniform(1.75, 2.1)
    rise = min(room, 1.15 * half / broad * grown) + camera.height - foot
    radius = min(broad * rise, away - 120.0)
    shift = 0.72 * scene.subject if camera.rows < 1.2 * camera.columns else 0.4 * scene.subject
    return Cone(shift * half, away, foot, rise, radius, radius * dice.uniform(0.085, 0.11))


def raised(heights: Floats, cone: Cone, scene: Vista) -> Floats:
    """Return heights with a volcano among them; mountains around it are lowered."""
    rng, points = scene.dice(31), scene.points
    x, z = grid(points)
    away = np.hypot(x - np.float32(cone.x), z - np.float32(cone.z)) * np.float32(1 / cone.radius)
    angle = np.arctan2(z - np.float32(cone.z), x - np.float32(cone.x))
    slope = _slope(rng, away, angle, octave(rng, points, 22), octave(rng, points, 60))
    rim = cone.crater / cone.radius
    at_rim = (1.0 - rim) ** _STEEP
    uneven = sample(tile(rng, cells=8, octaves=4), _turn(angle), np.full_like(angle, 7.0))
    breach = np.exp(-(((np.cos(angle + 1.9) - 1.0) / 0.12) ** 2))
    edge = 1.0 + 0.022 * np.clip(uneven, -1.3, 1.3) - 0.05 * breach
    own = np.minimum(slope / np.float32(at_rim), edge)
    own -= 0.30 * smooth_step(1.02 * rim, 0.45 * rim, away)
    others = np.maximum(heights - 14.0, 0.0) * smooth_step(90.0, 260.0, z)
    lowered = heights - np.float32(_LOWERED) * others
    lowered = _opened(lowered, cone, scene)
    rise = np.float32(cone.rise) * own - 6.0 * smooth_step(0.92, 1.05, away)
    # Gullies finer than a map's points would turn into stairs.
    rise = cv2.GaussianBlur(np.asarray(rise, np.float32), (0, 0), 0.8)
    return _joined(lowered, np.asarray(rise + np.float32(cone.foot), np.float32))


def ground_with(ground: Ground, cone: Cone, brief: Brief) -> Ground:
    """Return a ground whose steep and high parts are a volcano's: lava and ash, or snow."""
    dark = replace(
        ground,
        rock=(0.31, 0.022, 40),
        rock_other=(0.44, 0.030, 48),
        bands=min(ground.bands, 0.25),
        steep=min(ground.steep, 0.17),
    )
    if brief.season == "winter" and brief.family == "lake":
        return replace(dark, top_line=ground.top_line)
    if snowcapped(brief):
        line = cone.foot + 0.52 * cone.rise
        return replace(
            dark,
            rock=(0.36, 0.025, 30),
            rock_other=(0.46, 0.030, 20),
            top=(0.97, 0.010, 250),
            top_line=line,
        )
    return replace(dark, top=(0.37, 0.022, 38), top_line=cone.foot + 0.50 * cone.rise)


def activity(brief: Brief) -> str:
    """Return what a prompt's volcano does: erupting, smoking or asleep."""
    if "eruption" in brief.things:
        return "erupting"
    calm = snowcapped(brief) and "smoke" not in brief.things
    return "asleep" if calm or "asleep" in brief.things else "smoking"


def snowcapped(brief: Brief) -> bool:
    """Return whether snow lies on the top of a prompt's volcano."""
    erupts = "eruption" in brief.things
    return not erupts and (brief.season == "winter" or "snowcapped" in brief.things)


def _slope(
    rng: np.random.Generator, away: Floats, angle: Floats, bend: Floats, fine: Floats
) -> Floats:
    """Return the flanks, 1 at the axis: steeper upward, cut by gullies that branch downward."""
    flank = np.maximum(1.0 - away * (1.0 + 0.06 * bend), 0.0)
    turn = _turn(angle) + 9.0 * bend + 3.0 * fine
    noise = tile(rng, cells=16, octaves=4, gain=0.6)
    broad = np.abs(sample(noise, turn, 40.0 * away))
    narrow = np.abs(sample(noise, 2.0 * turn + 90.0, 90.0 * away))
    # Some flanks are deeply cut, others hardly: none is pleated like a curtain.
    deep = np.clip(0.55 + 0.9 * bend, 0.15, 1.2)
    cut = 0.055 * deep * np.minimum(broad, 1.2)
    cut += 0.030 * np.minimum(narrow, 1.2) * smooth_step(0.1, 0.4, away)
    worn = cut * smooth_step(0.05, 0.22, away) * smooth_step(1.0, 0.55, away)
    return np.asarray(flank**_STEEP + 0.04 - worn - 0.04 * smooth_step(0.1, 0.5, away), np.float32)


def _turn(angle: Floats) -> Floats:
    """Return directions as places in a tile, without a seam."""
    return np.asarray(angle * np.float32(_AROUND * 512 / (2 * np.pi)), np.float32)


def _opened(heights: Floats, cone: Cone, scene: Vista) -> Floats:
    """Lower what would hide more than the foot of a volcano."""
    x, z = grid(scene.points)
    eye = scene.camera.height
    away = z * np.float32(1 / cone.z)
    sight = eye + (cone.foot + 0.22 * cone.rise - eye) * away
    # Beside the cone the land may rise.
    beside = np.abs(x - cone.x * away) - 0.8 * cone.radius * away
    sight = sight + 0.35 * np.maximum(beside, 0.0)
    return np.asarray(np.minimum(heights, np.maximum(sight, 0.5 * eye)), np.float32)


def _joined(one: Floats, other: Floats) -> Floats:
    """Return the higher of two grounds, without a crease where they meet."""
    apart = one - other
    return np.asarray(0.5 * (one + other + np.sqrt(apart * apart + np.float32(36.0))), np.float32)
