"""Space: nebulae, stars, galaxies, planets and moons, painted from the back to the front."""

from __future__ import annotations

import numpy as np

from kit.engines.base import Progress
from kit.engines.painting.noise import Plane
from kit.engines.painting.painting import Painting, paint_in_detail
from kit.engines.painting.space.bursts import add_comet, add_nova
from kit.engines.painting.space.cast import Cast, cast
from kit.engines.painting.space.galaxy import spiral
from kit.engines.painting.space.gas import nebula
from kit.engines.painting.space.holes import add_disk, lensed
from kit.engines.painting.space.rocks import add_rocks
from kit.engines.painting.space.spheres import add_planet
from kit.engines.painting.space.staging import staged
from kit.engines.painting.space.stars import add_flare, add_flares, field_of_stars
from kit.engines.painting.tone import Film, blend, light
from kit.engines.prompt.brief import Brief

_OCTAVES = {"low": 6, "standard": 9, "high": 11}
_FILM = Film(exposure=1.3, contrast=1.04, saturation=1.06, vignette=0.28, bloom=0.42)


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted sky.

    Raises
    ------
    CanceledError
        Raised by `progress`.
    """
    return paint_in_detail(brief, progress, _painted)


def _painted(brief: Brief, progress: Progress) -> Painting:
    rng = np.random.default_rng([brief.seed, 41])
    octaves = _OCTAVES[brief.detail]
    seen = staged(cast(rng, brief), brief)
    progress.report(0.02)
    picture, hidden = _depths(rng, brief, seen, octaves, progress.part(0.02, 0.5))
    progress.report(0.5)
    picture += field_of_stars(rng, hidden, seen.stars)
    progress.report(0.55)
    add_flares(rng, picture, seen.flares)
    progress.report(0.6)
    if seen.hole:
        picture = lensed(picture, seen.hole)
        if not seen.hole.open:
            add_disk(rng, picture, seen.hole, progress.part(0.6, 0.8))
    for number, planet in enumerate(seen.planets):
        own = progress.part(0.6, 0.8).part(*_share(number, len(seen.planets)))
        add_planet(rng, picture, planet, octaves, own)
    progress.report(0.8)
    if seen.nova:
        add_nova(rng, picture, seen.nova, octaves, progress.part(0.8, 0.85))
    progress.report(0.85)
    if seen.comet:
        add_comet(rng, picture, seen.comet, octaves)
        progress.report(0.86)
    if seen.sun:
        _rise(picture, seen.sun)
    _directed(rng, brief, picture, seen)
    progress.report(0.87)
    progress.report(1.0)
    return Painting(light=np.asarray(picture, np.float32), film=_FILM.graded(brief))


def _directed(rng: np.random.Generator, brief: Brief, picture: Plane, seen: Cast) -> None:
    """Add what only words of camera and mood ask for, in place: rocks to stand on, a pale sky."""
    if brief.mood == "pastel":
        down = np.linspace(0.0, 1.0, brief.height, dtype=np.float32)[:, None]
        hues = seen.gas.hues
        picture += blend(light((0.40, 0.07, hues[2])), light((0.52, 0.08, hues[0])), down)
    if seen.rocks:
        add_rocks(rng.spawn(1)[0], picture, seen.rocks)


def _depths(
    rng: np.random.Generator, brief: Brief, seen: Cast, octaves: int, progress: Progress
) -> tuple[Plane, Plane]:
    """Return the light of gas and galaxies, and how much of the stars behind they hide."""
    height, width = brief.height, brief.width
    cloud = nebula(rng, height, width, seen.gas, octaves, progress.part(0.0, 0.6))
    picture, hidden = cloud.shine, cloud.thickness
    if seen.galaxies:
        picture, hidden = picture * np.float32(0.5), hidden * np.float32(0.5)
    progress.report(0.6)
    for number, galaxy in enumerate(seen.galaxies):
        own = progress.part(0.6, 1.0).part(*_share(number, len(seen.galaxies)))
        disc = spiral(rng, height, width, galaxy, octaves, own)
        picture = picture + disc.shine
        hidden = np.maximum(hidden, disc.thickness)
    return picture, hidden


def _share(number: int, count: int) -> tuple[float, float]:
    """Return from where to where one of several things takes a work's progress."""
    return number / count, (number + 1) / count


def _rise(picture: Plane, at: tuple[float, float]) -> None:
    """Add a sun at the rim of a planet, with the glare it makes in the lens."""
    size = max(picture.shape[1:])
    y, x = np.ogrid[0 : picture.shape[1], 0 : picture.shape[2]]
    dx, dy = (x - at[0]) / size, (y - at[1]) / size
    far = np.sqrt(dx * dx + dy * dy).astype(np.float32)
    wide = np.sqrt(dx * dx / 9.0 + dy * dy * 6.0).astype(np.float32)
    glare = 0.5 * np.exp(-far * 11.0) + 1.2 * np.exp(-far * 46.0) + 0.35 * np.exp(-wide * 26.0)
    picture += glare * light((0.9, 0.07, 72))
    add_flare(picture, at, 2.2 * size / 1024, light((0.99, 0.02, 90)) * np.float32(1.6))
