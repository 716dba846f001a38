"""What stands in a sky: words and seed choose the bodies and their light.

How the camera's words place them is said in `kit.engines.painting.space.staging`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kit.engines.painting.space.bursts import Comet, Nova
from kit.engines.painting.space.galaxy import Spiral
from kit.engines.painting.space.gas import Gas
from kit.engines.painting.space.holes import Hole
from kit.engines.painting.space.spheres import Planet, unit
from kit.engines.painting.tints import Trio, asked, strength, three
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.vocabulary import Tint

#: The first subject that a brief names is the picture's.
_SUBJECTS = ("hole", "orbit", "ringed", "planet", "galaxy", "stars", "nova", "nebula")
_OPEN = (("nebula", "planet", "ringed", "galaxy", "orbit"), (0.28, 0.22, 0.18, 0.18, 0.14))
#: Of planets; the first that a brief names is painted.
_KINDS = ("ocean", "moon", "lava", "icy", "rocky", "banded")
#: Kind -> hue of the ground and of the air.
_HUES = {
    "ocean": (252.0, 240.0),
    "moon": (255.0, 250.0),
    "lava": (32.0, 30.0),
    "icy": (225.0, 220.0),
    "rocky": (42.0, 40.0),
    "banded": (62.0, 70.0),
}
#: Tints of gas that the seed draws from: body, hottest parts, second gas.
_GASES: list[tuple[Tint, Tint, Tint]] = [
    ((352.0, 0.16), (55.0, 0.14), (215.0, 0.12)),
    ((298.0, 0.16), (345.0, 0.15), (255.0, 0.14)),
    ((205.0, 0.12), (85.0, 0.13), (20.0, 0.14)),
    ((25.0, 0.16), (75.0, 0.14), (262.0, 0.14)),
    ((262.0, 0.15), (205.0, 0.12), (320.0, 0.15)),
    ((235.0, 0.13), (60.0, 0.11), (285.0, 0.14)),
]
#: Subject -> between which shares of the sky are filled with gas.
_FILLED = {
    "nebula": (0.45, 0.95),
    "nova": (0.02, 0.1),
    "galaxy": (0.0, 0.06),
    "stars": (0.12, 0.3),
    "hole": (0.05, 0.22),
}
_LIVELY = {"calm": 0.5, "dramatic": 1.25, "vivid": 1.2, "pastel": 0.8}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """What is painted, from the back to the front.

    Parameters
    ----------
    rocks : float
        How high the ground stands from which one looks up, as a share of the height; 0 for none.
    """

    subject: str
    gas: Gas
    galaxies: tuple[Spiral, ...]
    planets: tuple[Planet, ...]
    stars: float
    flares: int
    sun: tuple[float, float] | None
    nova: Nova | None = None
    comet: Comet | None = None
    hole: Hole | None = None
    rocks: float = 0.0


def cast(rng: np.random.Generator, brief: Brief) -> Cast:
    """Return what a brief's sky shows."""
    subject = _subject(rng, brief)
    tints = three(rng, brief, _GASES)
    lively = _LIVELY.get(brief.mood, 1.0)
    planets: tuple[Planet, ...] = ()
    sun = None
    if subject in ("planet", "ringed"):
        planets = _planets(rng, brief, ringed=subject == "ringed")
    elif subject == "orbit":
        limb, sun = _limb(rng, brief)
        planets = (limb,)
    galaxies = (_spiral(rng, brief, tints),) if subject == "galaxy" else ()
    return Cast(
        subject=subject,
        gas=_gas(rng, brief, tints, _filled(rng, subject, brief) * lively),
        galaxies=galaxies,
        planets=planets,
        stars=(1.7 if subject == "stars" else 1.0) * (0.6 if brief.hour == "day" else 1.0),
        flares=round((14 if subject == "stars" else 7) * lively),
        sun=sun,
        nova=_nova(rng, brief, tints) if subject == "nova" else None,
        comet=_comet(rng, brief, planets) if "comet" in brief.things else None,
        hole=_hole(rng, brief) if subject == "hole" else None,
    )


def _hole(rng: np.random.Generator, brief: Brief) -> Hole:
    x, y = 0.5 + rng.uniform(-0.07, 0.07), rng.uniform(0.45, 0.55)
    across = min(brief.width, 1.15 * brief.height)
    own = asked(brief)
    worm = "wormhole" in brief.things and "closed_hole" not in brief.things
    return Hole(
        x=x * brief.width,
        y=y * brief.height,
        mass=0.49 * across / (13.0 if worm else 19.0),
        tilt=float(rng.choice([-1, 1])) * rng.uniform(0.04, 0.34),
        above=np.radians(rng.uniform(79, 85)),
        hues=(own[0][0], own[-1][0]) if own else (225.0, 260.0) if worm else (62.0, 42.0),
        chroma=strength(brief),
        open=worm,
    )


def _nova(rng: np.random.Generator, brief: Brief, tints: Trio) -> Nova:
    x, y = rng.uniform(0.38, 0.62, 2)
    own = bool(asked(brief))
    hues = (tints[0][0], tints[2][0]) if own else (28.0, 225.0)
    radius = 0.34 * min(brief.width, brief.height)
    return Nova(x * brief.width, y * brief.height, radius, hues, strength(brief))


def _comet(rng: np.random.Generator, brief: Brief, planets: tuple[Planet, ...]) -> Comet:
    """Return a comet in the corner that the planet leaves free, its tail away from the sun."""
    side = -1.0 if planets and planets[-1].x > brief.width / 2 else 1.0
    head = (0.5 + side * rng.uniform(0.02, 0.14), rng.uniform(0.24, 0.36))
    own = asked(brief)
    return Comet(
        head[0] * brief.width,
        head[1] * brief.height,
        length=rng.uniform(0.40, 0.55) * min(brief.width, brief.height),
        angle=float(rng.uniform(-0.75, -0.35) if side > 0 else np.pi - rng.uniform(-0.75, -0.35)),
        hue=own[-1][0] if len(own) > 1 else 225.0,
    )


def _subject(rng: np.random.Generator, brief: Brief) -> str:
    # Drawn in any case: the rest of the sky must not change when a word makes the choice.
    drawn = str(rng.choice(_OPEN[0], p=_OPEN[1]))
    named = (subject for subject in _SUBJECTS if f"subject_{subject}" in brief.things)
    return next(named, "orbit" if brief.hour in ("dawn", "sunset") else drawn)


def _filled(rng: np.random.Generator, subject: str, brief: Brief) -> float:
    """Return how much of the sky the gas fills."""
    if "gas" in brief.things:
        return float(rng.uniform(0.55, 0.95))
    low, high = _FILLED.get("nebula" if "wormhole" in brief.things else subject, (0.12, 0.5))
    more = 0.2 if brief.weather in ("mist", "fog") else 0.0
    return float(rng.uniform(low, high)) + more


def _gas(rng: np.random.Generator, brief: Brief, tints: Trio, amount: float) -> Gas:
    core = (float(rng.choice([0.36, 0.64])), rng.uniform(0.32, 0.6))
    strongest = max(chroma for _, chroma in tints) / 0.15
    return Gas(
        hues=(tints[0][0], tints[1][0], tints[2][0]),
        chroma=strength(brief) * min(1.15, strongest),
        amount=min(1.0, amount),
        core=core,
    )


def _planets(rng: np.random.Generator, brief: Brief, *, ringed: bool) -> tuple[Planet, ...]:
    first = _main(rng, brief, ringed=ringed)
    if rng.random() < 0.35:
        return (first,)
    away = -1.0 if first.x > brief.width / 2 else 1.0
    short = min(brief.width, brief.height)
    moon = Planet(
        kind="moon",
        x=first.x + away * first.radius * (2.5 if ringed else rng.uniform(1.55, 2.0)),
        y=first.y - first.radius * rng.uniform(0.35, 1.1),
        radius=short * rng.uniform(0.022, 0.05),
        sun=first.sun,
        tilt=0.0,
        opening=0.0,
        hues=_HUES["moon"],
        chroma=1.0,
    )
    return (moon, first)


def _main(rng: np.random.Generator, brief: Brief, *, ringed: bool) -> Planet:
    short = min(brief.width, brief.height)
    share = rng.uniform(0.15, 0.19) if ringed else rng.uniform(0.22, 0.34)
    side = float(rng.choice([-1.0, 1.0]))
    x, y = 0.5 + side * rng.uniform(0.10, 0.18), rng.uniform(0.46, 0.62)
    kind = "banded" if ringed else _kind(rng, brief)
    high = -0.75 if brief.hour in ("dawn", "sunset", "dusk") else -0.4
    return Planet(
        kind=kind,
        x=x * brief.width,
        y=y * brief.height,
        radius=share * short,
        sun=unit(-side * 0.8, high * rng.uniform(0.7, 1.1), rng.uniform(0.1, 0.55)),
        tilt=rng.uniform(-0.5, 0.5),
        opening=rng.uniform(0.14, 0.34) if ringed else 0.0,
        hues=_planet_hues(rng, brief, kind),
        chroma=strength(brief),
    )


def _limb(rng: np.random.Generator, brief: Brief) -> tuple[Planet, tuple[float, float]]:
    """Return a planet so near that its rim is the horizon, and where the sun rises over it."""
    width, height = brief.width, brief.height
    radius = 1.25 * max(width, height)
    rise = height * rng.uniform(0.60, 0.70)
    shift = rng.uniform(-0.12, 0.12) * width
    kind = _kind(rng, brief)
    center_x, center_y = width / 2 + shift, rise + radius
    off = width * rng.uniform(-0.28, 0.28) - shift
    spot = (center_x + off, center_y - np.sqrt(radius**2 - off**2) * 1.002)
    # The sun stands behind the planet: only a strip along the rim sees it.
    behind = unit(0.36 * (spot[0] - center_x) / radius, 0.36 * (spot[1] - center_y) / radius, -0.93)
    day = unit(rng.uniform(-0.5, 0.5), -0.75, 0.35)
    bright = brief.hour == "day"
    limb = Planet(
        kind=kind,
        x=center_x,
        y=center_y,
        radius=radius,
        sun=day if bright else behind,
        tilt=rng.uniform(-0.4, 0.4),
        opening=0.0,
        hues=_planet_hues(rng, brief, kind),
        chroma=strength(brief),
    )
    return limb, spot


def _spiral(rng: np.random.Generator, brief: Brief, tints: Trio) -> Spiral:
    size = max(brief.width, brief.height)
    own = asked(brief)
    hues = (tints[1][0], tints[0][0], tints[2][0]) if own else (70.0, 255.0, 355.0)
    return Spiral(
        x=brief.width * rng.uniform(0.44, 0.56),
        y=brief.height * rng.uniform(0.44, 0.56),
        radius=0.55 * size * rng.uniform(0.9, 1.1),
        opening=rng.uniform(0.38, 0.9),
        turn=rng.uniform(-0.7, 0.7) + (np.pi / 2 if brief.height > 1.2 * brief.width else 0.0),
        arms=int(rng.choice([2, 2, 3, 4])),
        pitch=rng.uniform(0.24, 0.38),
        hues=hues,
        chroma=strength(brief),
    )


def _kind(rng: np.random.Generator, brief: Brief) -> str:
    drawn = str(rng.choice(_KINDS, p=[0.25, 0.1, 0.12, 0.15, 0.15, 0.23]))
    return next((kind for kind in _KINDS if f"planet_{kind}" in brief.things), drawn)


def _planet_hues(rng: np.random.Generator, brief: Brief, kind: str) -> tuple[float, float]:
    ground, air = _HUES[kind]
    if kind == "banded" and "blue_giant" in brief.things:
        return 240.0, 235.0
    if kind == "banded" and "amber_giant" not in brief.things:
        ground = float(rng.choice([62.0, 62.0, 40.0, 235.0, 190.0, 330.0]))
        air = ground
    own = asked(brief)
    return (own[0][0], own[-1][0]) if own else (ground, air)
