"""Staging: what words of the camera make of a sky that is drawn already.

A sky has one anchor, the thing that it is of; words move it, bring it near or take it away, and
what accompanies it comes along or stays out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from kit.engines.painting.framing import third
from kit.engines.painting.space.cast import Cast
from kit.engines.painting.space.spheres import Planet, unit
from kit.engines.prompt.brief import Brief

Place: TypeAlias = tuple[float, float]

_FILLING = 0.66  # radius of a planet that fills the frame, as a share of the shorter side
_TINY = 0.035  # likewise, of one that shows how large all else is
_BELOW = 1.15  # likewise, of a world that is looked down at


def staged(seen: Cast, brief: Brief) -> Cast:
    """Return a sky as the brief's mood and its words of composition change it."""
    if brief.mood == "calm":
        seen = replace(seen, stars=0.6 * seen.stars, flares=min(seen.flares, 2))
    if "outline" in brief.tones:  # what stands before the light shows its rim alone
        planets = (replace(it, sun=unit(*it.sun[:2], -0.8)) for it in seen.planets)
        seen = replace(seen, planets=tuple(planets))
    for word, change in _CHANGES.items():
        if word in brief.composition:
            seen = change(seen, brief)
    return seen


def anchor(seen: Cast, brief: Brief) -> Place:
    """Return where the thing stands that a sky is of, in pixels."""
    if seen.sun:
        return seen.sun
    bodies = (seen.hole, seen.nova, *seen.planets[-1:], *seen.galaxies)
    for body in bodies:
        if body:
            return body.x, body.y
    return seen.gas.core[0] * brief.width, seen.gas.core[1] * brief.height


def _moved(seen: Cast, brief: Brief, to: Place) -> Cast:
    """Return a sky whose anchor stands elsewhere, `to` as shares of width and height."""
    x, y = anchor(seen, brief)
    over, down = to[0] * brief.width - x, to[1] * brief.height - y
    core = seen.gas.core
    shifted = (core[0] + over / brief.width, core[1] + down / brief.height)
    return replace(
        seen,
        gas=replace(seen.gas, core=shifted),
        galaxies=tuple(replace(it, x=it.x + over, y=it.y + down) for it in seen.galaxies),
        planets=tuple(replace(it, x=it.x + over, y=it.y + down) for it in seen.planets),
        sun=(seen.sun[0] + over, seen.sun[1] + down) if seen.sun else None,
        nova=replace(seen.nova, x=seen.nova.x + over, y=seen.nova.y + down) if seen.nova else None,
        hole=replace(seen.hole, x=seen.hole.x + over, y=seen.hole.y + down) if seen.hole else None,
    )


def _scaled(seen: Cast, brief: Brief, factor: float) -> Cast:
    """Return a sky seen from nearer; the horizon of a world below rises instead."""
    if seen.sun:
        rise = seen.sun[1] / brief.height - 0.30 * float(np.log(factor))
        return _moved(seen, brief, (seen.sun[0] / brief.width, float(np.clip(rise, 0.2, 0.9))))
    x, y = anchor(seen, brief)

    def nearer(it: Planet) -> Planet:
        radius = it.radius * factor
        return replace(it, x=x + (it.x - x) * factor, y=y + (it.y - y) * factor, radius=radius)

    nova, hole = seen.nova, seen.hole
    return replace(
        seen,
        gas=replace(seen.gas, zoom=seen.gas.zoom / factor) if _bare(seen) else seen.gas,
        galaxies=tuple(replace(it, radius=it.radius * factor) for it in seen.galaxies),
        planets=tuple(nearer(it) for it in seen.planets),
        nova=replace(nova, radius=nova.radius * factor) if nova else None,
        hole=replace(hole, mass=hole.mass * factor) if hole else None,
    )


def _bare(seen: Cast) -> bool:
    """Return whether nothing stands before the gas: then the sky is of the gas."""
    return not (seen.planets or seen.galaxies or seen.nova or seen.hole)


def _wide(seen: Cast, brief: Brief) -> Cast:
    far = _scaled(seen, brief, 0.55 if _bare(seen) else 0.42)
    alone = 0.42 if _bare(seen) else far.gas.alone
    return replace(far, stars=1.5 * seen.stars, gas=replace(far.gas, alone=alone))


def _close(seen: Cast, brief: Brief) -> Cast:
    factor = 1.9
    if seen.planets and not seen.sun:
        filling = _FILLING * min(brief.width, brief.height) / seen.planets[-1].radius
        factor = 2.2 if seen.planets[-1].opening else max(1.6, filling)
        seen = replace(seen, planets=seen.planets[-1:])
    near = _scaled(seen, brief, factor)
    if seen.sun:
        return near
    x, y = anchor(near, brief)
    middle = (0.5 + 0.4 * (x / brief.width - 0.5), 0.5 + 0.4 * (y / brief.height - 0.5))
    return replace(_moved(near, brief, middle), flares=seen.flares // 3)


def _minimal(seen: Cast, brief: Brief) -> Cast:
    """Return a sky with one small thing in it."""
    x, _ = anchor(seen, brief)
    few = replace(
        seen,
        planets=seen.planets[-1:],
        stars=0.16 * seen.stars,
        flares=0,
        gas=replace(seen.gas, amount=0.45, alone=0.24)
        if _bare(seen)
        else replace(seen.gas, amount=0.0, glow=0.0),
    )
    small = _scaled(few, brief, 0.8 if _bare(seen) or seen.sun else 0.55)
    if seen.sun:
        return _moved(small, brief, (x / brief.width, 0.84))
    return _moved(small, brief, third(brief))


def _dramatic(seen: Cast, brief: Brief) -> Cast:
    """Return a sky of something huge, lit from behind, with a small world before it."""
    gas = replace(seen.gas, amount=min(1.0, seen.gas.amount + 0.35))
    seen = replace(seen, gas=gas, stars=1.3 * seen.stars)
    if seen.sun:
        return _scaled(seen, brief, 1.4)
    huge = _scaled(seen, brief, 1.6)
    if seen.planets:
        main = huge.planets[-1]
        side = 1.0 if main.x > brief.width / 2 else -1.0
        radius = max(main.radius, 0.52 * min(brief.width, brief.height))
        grown = 1.0 if main.opening else radius / main.radius
        huge = _moved(_scaled(huge, brief, grown), brief, (0.5 + 0.16 * side, 0.66))
        backlit = unit(-0.85 * side, -0.55, -0.30)
        planets = tuple(replace(it, sun=backlit) for it in huge.planets)
        huge = replace(huge, planets=planets)
    galaxies = tuple(replace(it, opening=0.6 * it.opening) for it in huge.galaxies)
    return _with_tiny(replace(huge, galaxies=galaxies), brief)


def _with_tiny(seen: Cast, brief: Brief) -> Cast:
    """Return a sky with a small dark world that shows how large the rest is."""
    x, y = anchor(seen, brief)
    side = 1.0 if x < brief.width / 2 else -1.0
    at = (0.5 + 0.26 * side) * brief.width, 0.72 * brief.height
    toward = unit(x - at[0], y - at[1], 0.2 * brief.width)
    tiny = Planet(
        kind="rocky", x=at[0], y=at[1], radius=_TINY * min(brief.width, brief.height), sun=toward,
        tilt=0.2, opening=0.0, hues=(45.0, 50.0), chroma=0.5,
    )  # fmt: skip
    return replace(seen, planets=(*seen.planets, tiny))


def _low(seen: Cast, brief: Brief) -> Cast:
    """Return a sky above the rocks on which the viewer stands."""
    x, _ = anchor(seen, brief)
    raised = seen if seen.sun else _moved(seen, brief, (x / brief.width, 0.34))
    return replace(raised, rocks=0.24)


def _high(seen: Cast, brief: Brief) -> Cast:
    """Return a sky as it is looked down on: disks open up, and of a planet the top is seen."""
    if seen.sun:
        return _scaled(seen, brief, 3.0)
    if seen.hole:
        return replace(seen, hole=replace(seen.hole, above=float(np.radians(38.0))))
    if seen.galaxies:
        return replace(seen, galaxies=tuple(replace(it, opening=0.96) for it in seen.galaxies))
    main = seen.planets[-1] if seen.planets else None
    if main and main.opening:
        return replace(seen, planets=(*seen.planets[:-1], replace(main, opening=0.72)))
    return replace(seen, planets=(*seen.planets[:-1], _world_below(main, brief)))


def _world_below(main: Planet | None, brief: Brief) -> Planet:
    radius = _BELOW * min(brief.width, brief.height)
    x, y, sun = 0.5 * brief.width, 0.42 * brief.height + radius, unit(-0.35, -0.55, 0.75)
    if main:
        return replace(main, sun=sun, x=x, y=y, radius=radius)
    return Planet(
        kind="ocean", x=x, y=y, radius=radius, sun=sun, tilt=0.3, opening=0.0,
        hues=(252.0, 240.0), chroma=1.0,
    )  # fmt: skip


def _centered(seen: Cast, brief: Brief) -> Cast:
    y = seen.sun[1] / brief.height if seen.sun else 0.5
    return _moved(seen, brief, (0.5, y))


def _thirds(seen: Cast, brief: Brief) -> Cast:
    x, y = third(brief)
    return _moved(seen, brief, (x, 2 / 3 if seen.sun else y))


#: Word -> what it changes, in the order in which words act: the place is chosen last.
_CHANGES: dict[str, Callable[[Cast, Brief], Cast]] = {
    "wide": _wide,
    "minimal": _minimal,
    "dramatic": _dramatic,
    "close": _close,
    "low": _low,
    "high": _high,
    "thirds": _thirds,
    "centered": _centered,
}
