"""The contents of a view of space: bodies, gas and stars, from words, camera and seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from kit.engines.painting.camera import unit
from kit.engines.painting.framing import focus, shot_of
from kit.engines.painting.tints import Trio, strength, three_tints, tints_of
from kit.engines.prompt.brief import Brief

Range: TypeAlias = tuple[float, float]
Vector: TypeAlias = tuple[float, float, float]

#: Subject -> share of gas in the sky; position of its main body, aside and down; radius as a share
#: of the shorter side, tilt and opening. The first named one is painted.
_SUBJECTS: dict[str, tuple[Range, ...]] = {
    "hole": ((0.05, 0.22), (0.0, 0.07), (0.45, 0.55), (0.53, 0.55), (0.04, 0.34), (0.087, 0.19)),
    "orbit": ((0.12, 0.5), (0.0, 0.12), (0.60, 0.70), (1.0, 1.0), (0.0, 0.4), (0.0, 0.0)),
    "ringed": ((0.12, 0.5), (0.10, 0.18), (0.46, 0.62), (0.15, 0.19), (0.0, 0.5), (0.14, 0.34)),
    "planet": ((0.12, 0.5), (0.10, 0.18), (0.46, 0.62), (0.23, 0.35), (0.0, 0.5), (0.0, 0.0)),
    "galaxy": ((0.0, 0.06), (0.0, 0.06), (0.44, 0.56), (0.72, 0.92), (0.0, 0.7), (0.38, 0.9)),
    "stars": ((0.12, 0.3),),
    "nova": ((0.02, 0.1), (0.0, 0.12), (0.38, 0.62), (0.34, 0.34), (0.0, 0.0), (0.0, 0.0)),
    "nebula": ((0.45, 0.95),),
    "wormhole": ((0.45, 0.95), (0.0, 0.07), (0.45, 0.55), (0.78, 0.8), (0.0, 0.3), (0.1, 0.1)),
}
#: Random subjects if none is named, with frequencies.
_SUBJECT_CHANCES = {"nebula": 0.28, "planet": 0.22, "ringed": 0.18, "galaxy": 0.18, "orbit": 0.14}
#: Kind of planet -> hues of the ground and of the air, and its random frequency.
PLANETS = {
    "ocean": ((252.0, 240.0), 0.25), "moon": ((255.0, 250.0), 0.10), "lava": ((32.0, 30.0), 0.12),
    "icy": ((225.0, 220.0), 0.15), "rocky": ((42.0, 40.0), 0.15), "banded": ((62.0, 70.0), 0.23),
}  # fmt: skip
#: Luminous object -> hues of its parts.
_LIGHT_HUES = {
    "hole": (62.0, 42.0), "wormhole": (225.0, 260.0), "nova": (28.0, 225.0),
    "galaxy": (70.0, 255.0, 355.0),
}  # fmt: skip
#: Random tints of gas: body, hottest parts, second gas.
_GAS_TINTS: list[Trio] = [
    ((352.0, 0.16), (55.0, 0.14), (215.0, 0.12)), ((298.0, 0.16), (345.0, 0.15), (255.0, 0.14)),
    ((205.0, 0.12), (85.0, 0.13), (20.0, 0.14)), ((25.0, 0.16), (75.0, 0.14), (262.0, 0.14)),
    ((262.0, 0.15), (205.0, 0.12), (320.0, 0.15)), ((235.0, 0.13), (60.0, 0.11), (285.0, 0.14)),
]  # fmt: skip
_MOOD_FACTORS = {"calm": 0.5, "dramatic": 1.25, "vivid": 1.2, "pastel": 0.8}
#: Word -> factors on a main body and on bare gas, minimum radius of a planet as a share of the
#: shorter side, factors on stars and flares, additional gas, rise of a horizon.
_SHOTS = {
    "": {"near": 1.0, "bare": 1.0, "fill": 0.0, "stars": 1.0, "flares": 1.0, "gas": 0.0,
         "alone": 0.0, "rise": 0.0},
    "wide": {"near": 0.42, "bare": 0.55, "stars": 1.5, "alone": 0.42, "rise": -0.26},
    "close": {"near": 2.0, "bare": 1.9, "fill": 0.66, "flares": 0.33, "rise": 0.19},
    "minimal": {"near": 0.55, "bare": 0.8, "stars": 0.16, "flares": 0.0, "gas": -0.2,
                "alone": 0.24, "rise": -0.4},
    "dramatic": {"near": 1.6, "bare": 1.6, "fill": 0.52, "stars": 1.3, "gas": 0.35, "rise": 0.1},
    "high": {"fill": 1.15, "rise": 0.33},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CelestialBody:
    """One body; positions and lengths are in pixels."""

    kind: str  # of `PLANETS`, or galaxy, hole, wormhole, nova or comet
    x: float
    y: float
    radius: float  # of a comet the length of its tails
    tilt: float = 0.0  # of its axis, rings, disk or tail in the picture, in radians
    opening: float = 0.0  # of rings or disk toward the viewer: 0 a line or none, 1 a circle
    sun: Vector = (0.0, 0.0, 1.0)  # unit vector toward the light: right, down, toward the viewer
    hues: tuple[float, ...] = (255.0, 250.0)  # of ground and air, or of a light, inside and outside
    chroma: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceSky:
    """A view of space, in a frame of `width` by `height` pixels."""

    width: int
    height: int
    hues: Vector  # of the main gas, of its hottest parts and of the second gas, in degrees
    chroma: float
    amount: float  # share of gas in the sky, 0 (a trace) to 1
    core: Range  # position of the stars that light the gas, as shares of width and height
    zoom: float = 1.0  # factor on the scale of the gas
    alone: float = 0.0  # radius of a single isolated cloud, of the shorter side
    glow: float = 1.0  # factor on the light of the gas
    stars: float
    flares: int
    main: CelestialBody | None = None  # the main subject; without one it is the gas
    others: tuple[CelestialBody, ...] = ()  # moons are behind it, the rest in front
    sun: Range | None = None  # position of a sun rising over the main body, in pixels

    @property
    def short(self) -> int:
        """The shorter side."""
        return min(self.width, self.height)


def sky_of(rng: np.random.Generator, brief: Brief) -> SpaceSky:
    """Return the view of space of a brief."""
    # Drawn in any case: the rest of the sky must not change when a word makes the choice.
    drawn = str(rng.choice(list(_SUBJECT_CHANCES), p=list(_SUBJECT_CHANCES.values())))
    drawn = "orbit" if brief.hour in ("dawn", "sunset") else drawn
    subject = next((it for it in _SUBJECTS if f"subject_{it}" in brief.things), drawn)
    if "wormhole" in brief.things and "closed_hole" not in brief.things:
        subject = "wormhole"
    tints, shot, calm = (
        three_tints(rng, brief, _GAS_TINTS),
        shot_of(brief, _SHOTS),
        brief.mood == "calm",
    )
    lively, bare = _MOOD_FACTORS.get(brief.mood, 1.0), len(_SUBJECTS[subject]) == 1
    gas = rng.uniform(*_SUBJECTS["nebula" if "gas" in brief.things else subject][0])
    gas += 0.2 if brief.weather in ("mist", "fog") else 0.0
    core = float(rng.choice([0.36, 0.64])), rng.uniform(0.32, 0.6)
    stars, flares = (1.7, 14) if subject == "stars" else (1.0, 7)
    sky = SpaceSky(
        width=brief.width, height=brief.height,
        hues=(tints[0][0], tints[1][0], tints[2][0]),
        chroma=strength(brief) * min(1.15, max(chroma for _, chroma in tints) / 0.15),
        amount=min(1.0, min(1.0, lively * gas) + shot["gas"]),
        core=_aim(brief, core) if bare else core,
        zoom=shot["bare"] if bare else 1.0,
        alone=shot["alone"] if bare else 0.0,
        glow=0.0 if "minimal" in brief.composition and not bare else 1.0,
        stars=stars * shot["stars"] * (0.6 if brief.hour == "day" else 1) * (0.6 if calm else 1),
        flares=min(round(flares * lively * shot["flares"]), 2 if calm else 99),
    )  # fmt: skip
    if not bare:
        sky = _add_main(rng.spawn(1)[0], brief, sky, subject, shot)
    x = sky.main.x / sky.width if sky.main else sky.core[0]
    if "comet" in brief.things:  # in the corner without the planet
        side = -1.0 if sky.main and x > 0.5 else 1.0
        turn, own = rng.uniform(-0.75, -0.35), tints_of(brief)
        place = (
            (0.5 + side * rng.uniform(0.02, 0.14)) * sky.width,
            rng.uniform(0.24, 0.36) * sky.height,
        )
        long, tilt = rng.uniform(0.40, 0.55) * sky.short, turn if side > 0 else np.pi - turn
        hue = own[-1][0] if len(own) > 1 else 225.0
        sky = replace(
            sky, others=(*sky.others, CelestialBody("comet", *place, long, tilt, hues=(hue,)))
        )
    return sky


def _aim(brief: Brief, at: Range) -> Range:
    """Return a position adjusted to words of composition, in shares of the frame."""
    x, y = at
    if "close" in brief.composition:
        x, y = 0.3 + 0.4 * x, 0.3 + 0.4 * y
    return focus(brief, (x, 0.34 if "low" in brief.composition else y))


def _add_main(
    rng: np.random.Generator, brief: Brief, sky: SpaceSky, subject: str, shot: dict[str, float]
) -> SpaceSky:
    _, aside, down, large, tilts, openings = _SUBJECTS[subject]
    side, lean = (float(sign) for sign in rng.choice([-1, 1], 2))
    high = -0.75 if brief.hour in ("dawn", "sunset", "dusk") else -0.4
    kind, hues = _kind(rng, brief, sky, subject)
    upright = sky.height > 1.2 * sky.width and subject == "galaxy"
    x, y = 0.5 + side * rng.uniform(*aside), rng.uniform(*down)
    radius = rng.uniform(*large) * sky.short
    tilt, opening = lean * rng.uniform(*tilts) + upright * np.pi / 2, rng.uniform(*openings)
    sun = unit(-side * 0.8, high * rng.uniform(0.7, 1.1), rng.uniform(0.1, 0.55))
    if subject == "orbit":  # so near that its rim is the horizon, over which the sun rises
        radius = 1.25 * max(sky.width, sky.height)
        off = rng.uniform(-0.28, 0.28) * sky.width
        rise = float(np.sqrt(radius**2 - off**2))
        at = _aim(brief, (x, 0.0))[0] * sky.width, min(0.76, 1.03 - shot["rise"]) * sky.height
        # The sun is behind the planet: only a strip along the rim is lit.
        behind = unit(0.36 * off / radius, -0.36 * rise / radius, -0.93)
        sun = unit(rng.uniform(-0.5, 0.5), -0.75, 0.35) if brief.hour == "day" else behind
        main = CelestialBody(kind, at[0] - off, at[1] + 1.002 * rise, radius, sun=sun, hues=hues)
        return replace(sky, main=replace(main, chroma=strength(brief)), sun=at)
    said, near, above = brief.composition, shot["near"], "high" in brief.composition
    if kind not in PLANETS or opening:
        wide = {"hole": 0.79, "galaxy": 0.96, "banded": 0.72}.get(kind, opening)
        opening = wide if above else opening
    else:
        near = max(shot["fill"] * sky.short / radius, min(near, 1.6))
        if above:  # the top of a world below
            y, sun = 0.42 + near * radius / sky.height, unit(-0.35, -0.55, 0.75)
    if "outline" in brief.tones:  # objects before the light show only their rims
        sun = unit(*sun[:2], -0.8)
    if "dramatic" in said:
        sun = unit(0.85 if x < 0.5 else -0.85, -0.55, -0.30)
    x, y = _aim(brief, (0.5 if above else x, y))
    x, y, radius = x * sky.width, y * sky.height, near * radius
    main = CelestialBody(kind, x, y, radius, tilt, opening, sun, hues, strength(brief))
    moons = int(rng.random() < 0.65) * ("comet" not in brief.things)
    moons = 2 if subject == "ringed" and "planet_moon" in brief.things else moons
    others = []
    for number in range(moons if kind in PLANETS and "minimal" not in said else 0):
        away = rng.uniform(1.55, 2.0) + (subject == "ringed") * (1.0 + 0.7 * number)
        up = rng.uniform(0.35, 1.1) - 1.6 * number
        size = near * rng.uniform(0.022, 0.05) * sky.short
        others.append(
            CelestialBody("moon", x - side * away * radius, y - up * radius, size, sun=sun)
        )
    return replace(sky, main=main, others=tuple(others))


def _kind(
    rng: np.random.Generator, brief: Brief, sky: SpaceSky, subject: str
) -> tuple[str, tuple[float, ...]]:
    drawn = str(rng.choice(list(PLANETS), p=[often for _, often in PLANETS.values()]))
    giant = float(rng.choice([62.0, 62.0, 40.0, 235.0, 190.0, 330.0]))
    own = tuple(hue for hue, _ in tints_of(brief))
    if subject in _LIGHT_HUES:
        body, hot, other = sky.hues
        gas = {"galaxy": (hot, body, other), "nova": (body, other)}
        return subject, gas.get(subject, (own[0], own[-1])) if own else _LIGHT_HUES[subject]
    kind = next((it for it in PLANETS if f"planet_{it}" in brief.things), drawn)
    kind, hues = "banded" if subject == "ringed" else kind, PLANETS[kind][0]
    if kind == "banded":
        hues = PLANETS[kind][0] if "amber_giant" in brief.things else (giant, giant)
    if kind == "banded" and "blue_giant" in brief.things:
        return kind, (240.0, 235.0)
    return kind, (own[0], own[-1]) if own else hues
