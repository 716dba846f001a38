"""Composition: a scene becomes planes, from the sky to the trees that frame the view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kit.engines.media.color import Floats
from kit.engines.painting.poster import clouds, ridges, sky
from kit.engines.painting.poster.framing import framed, ridges_of
from kit.engines.painting.poster.palettes import Palette, palette_for
from kit.engines.painting.poster.plane import Plane, Stage
from kit.engines.painting.poster.recipes import RECIPES
from kit.engines.painting.poster.strips import Strip, gathered, strips
from kit.engines.painting.poster.water import Mirror, Water, water
from kit.engines.prompt.brief import Brief

#: Weather -> how much mist there is at least.
_LEAST_MIST = {
    "clear": 0.0,
    "overcast": 0.3,
    "mist": 0.85,
    "rain": 0.65,
    "snow": 0.65,
    "fog": 1.0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the settings ask for beside the prompt.

    Parameters
    ----------
    layers : int
        Ridges from the horizon to the foreground.
    mist : float
        0 for clear air, 1 for ridges that float in fog.
    stars, birds : bool
        Whether they may appear where the scene suits them.
    """

    layers: int = 7
    mist: float = 0.4
    stars: bool = True
    birds: bool = True


@dataclass(frozen=True, slots=True)
class Picture:
    """A composed landscape, ready to be painted or to be flown through.

    Parameters
    ----------
    heaven : Sky
        The gradient with its glow.
    back, front : tuple of Plane
        What stands behind the water and before it; without water all is in `back`.
    """

    stage: Stage
    palette: Palette
    light: sky.Light
    heaven: sky.Sky
    back: tuple[Plane, ...]
    front: tuple[Plane, ...]
    water: Water | None

    @property
    def sky(self) -> Floats:
        """The sky over the whole stage: encoded sRGB, 0 to 1, shape (3, rows, columns)."""
        canvas = np.empty((3, self.stage.rows, self.stage.columns), np.float32)
        self.heaven.fill(canvas, 0)
        return canvas


def compose(brief: Brief, look: Look, stage: Stage) -> Picture:
    """Return the planes of a scene.

    Every part draws from its own stream of random numbers, so that a change of one setting leaves
    the rest of the picture as it was.
    """
    rng = _streams(brief)
    palette = palette_for(brief)
    recipe = framed(RECIPES[brief.place], brief)
    horizon = stage.y(recipe.horizon)
    light = sky.light_of(next(rng), stage, brief, horizon)
    glow = 0.7 if not brief.open else 0.5 if light.shadow else 1.0
    heaven = sky.sky(stage, palette, light, horizon, glow)
    back = [*_heaven(rng, stage, brief, look, palette, light, horizon)]
    setting = ridges.Setting(stage, palette, light, brief, _mist(brief, look))
    far, near = ridges.ridges(next(rng), setting, recipe, ridges_of(look.layers, brief.composition))
    shore = round(stage.y(recipe.shore)) if recipe.shore else None
    sheet = water(next(rng), stage, light, shore, recipe.rough) if shore else None
    if sheet and not brief.open:  # a sun that is not seen does not glitter
        sheet = replace(sheet, glitter=np.zeros_like(sheet.glitter))
    return Picture(stage, palette, light, heaven, (*back, *far), tuple(near), sheet)


def flat(picture: Picture) -> Floats:
    """Paint a picture; return encoded sRGB, shape (3, rows, columns), 0 to 1."""
    return gathered(picture.stage, painted(picture))


def painted(picture: Picture, falling: Sequence[Plane] = ()) -> Iterator[Strip]:
    """Yield a picture strip by strip, from the top down.

    Parameters
    ----------
    falling : sequence of Plane
        Weather before all else.
    """
    stage, wet = picture.stage, picture.water
    if wet is None:
        yield from strips(stage, picture.heaven.fill, (*picture.back, *falling))
        return
    above = np.empty((3, wet.shore, stage.columns), np.float32)
    for _ in strips(stage, picture.heaven.fill, picture.back, until=wet.shore, into=above):
        pass
    mirror = Mirror(above, stage, wet, picture.palette)
    yield from strips(stage, mirror.fill, (*picture.front, *falling))


def _heaven(
    rng: Iterator[np.random.Generator],
    stage: Stage,
    brief: Brief,
    look: Look,
    palette: Palette,
    light: sky.Light,
    horizon: float,
) -> Iterator[Plane]:
    """Yield what hangs in the sky; each part has its stream whether it is drawn or not."""
    streams = [next(rng) for _ in range(6)]
    clear = not brief.covered
    if look.stars and brief.dark and (clear or "stars" in brief.lights):
        if brief.hour == "night" and clear:
            yield sky.milky_way(streams[0], stage, palette, horizon)
        yield sky.stars(streams[1], stage, horizon, light, 1.0 if brief.hour == "night" else 0.65)
    if "aurora" in brief.things and brief.dark:
        yield from clouds.aurora(streams[2], stage, horizon)
    if brief.open:
        if "dramatic" in brief.composition and not sky.moonlit(brief):
            yield sky.shafts(stage, palette, light, horizon)
        shine = sky.moon(streams[3], stage, palette, light) if sky.moonlit(brief) else None
        yield from shine or sky.sun(stage, palette, light)
    if brief.weather != "fog" and (brief.covered or "minimal" not in brief.composition):
        yield from clouds.CLOUDS[_clouds(brief)](streams[4], stage, palette, light, horizon)
    if look.birds and _birds(brief):
        yield sky.birds(streams[5], stage, palette, light, horizon)


def _clouds(brief: Brief) -> str:
    if brief.covered:
        return "overcast"
    return "cumulus" if brief.hour == "day" else "streaks"


def _birds(brief: Brief) -> bool:
    """Return whether birds fly: where they are asked for, or an open sky by day has room."""
    still = brief.mood == "calm" or "minimal" in brief.composition
    empty = brief.dark or brief.covered or still
    return "birds" in brief.things or not empty


def _mist(brief: Brief, look: Look) -> float:
    return max(look.mist, _LEAST_MIST[brief.weather])


def _streams(brief: Brief) -> Iterator[np.random.Generator]:
    for part in range(64):
        yield np.random.default_rng([brief.seed, part])
