"""What stands and passes in a street: trees, lamps, cars and walkers, far ones first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kit.engines.base import Progress
from kit.engines.painting.city import cars, trees, walkers
from kit.engines.painting.city.directing import Hour
from kit.engines.painting.city.stencil import Spot, Stencil, stand, visible
from kit.engines.painting.city.view import NEAREST, ROAD, View
from kit.engines.painting.noise import Plane
from kit.engines.prompt.brief import Brief

Draw: TypeAlias = Callable[[np.random.Generator, Stencil], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """Something in the street: where, how large its stencil is, and what draws it."""

    spot: Spot
    wide: float
    tall: float
    draw: Draw


def things_of(rng: np.random.Generator, brief: Brief, hour: Hour) -> list[Thing]:
    """Return what stands and passes in a brief's street, the farthest first."""
    things = [*_lamps(rng, brief, hour)]
    if brief.things.isdisjoint(("neon", "alley")) and rng.random() < 0.75:
        things += _trees(rng, brief)
    cars_, walkers_ = _cars(rng, brief, hour), _walkers(rng, brief)
    things += [] if "no_cars" in brief.things else cars_
    things += [] if "no_people" in brief.things else walkers_
    return sorted(things, key=lambda thing: -thing.spot.z)


def populate(
    rng: np.random.Generator,
    things: list[Thing],
    view: View,
    hour: Hour,
    sheets: tuple[Plane, Plane],
    progress: Progress,
) -> None:
    """Paint things into a street, in their order; `sheets` are the picture and its haze."""
    picture, haze = sheets
    for number, thing in enumerate(things):
        progress.report(number / len(things))
        own = rng.spawn(1)[0]  # what one draws must not depend on whether another is seen
        if not visible(view, thing.spot, thing.wide, thing.tall):
            continue
        stencil = Stencil(thing.wide, thing.tall, view.focal / thing.spot.z)
        thing.draw(own, stencil)
        progress.report((number + 0.5) / len(things))
        stand(picture, view, thing.spot, hour, haze, stencil)


def lamps_at(brief: Brief) -> list[Spot]:
    """Return where the lamps stand; their light lies on the ground below."""
    if "minimal" in brief.composition:
        return []
    apart = 21.0 if brief.mood != "calm" else 26.0
    places = np.arange(9.5, 120.0, apart)
    shift = 0.0 if "centered" in brief.composition else apart / 2
    return [
        Spot(x=side * (ROAD + 0.45), z=float(z + (side > 0) * shift))
        for z in places
        for side in (-1, 1)
    ]


def _lamps(rng: np.random.Generator, brief: Brief, hour: Hour) -> list[Thing]:
    def drawn(side: int) -> Draw:
        return lambda _, stencil: trees.lamp(stencil, side, on=hour.neon > 0.2)

    return [
        Thing(
            spot=spot,
            wide=trees.LAMP_WIDE,
            tall=trees.LAMP_TALL,
            draw=drawn(1 if spot.x > 0 else -1),
        )
        for spot in lamps_at(brief)
    ]


def _trees(rng: np.random.Generator, brief: Brief) -> list[Thing]:
    season = "winter" if brief.weather == "snow" else brief.season

    def draw(dice: np.random.Generator, stencil: Stencil) -> None:
        trees.tree(dice, stencil, season)

    places = [Spot(x=side * (ROAD + 1.3), z=float(z + rng.uniform(-1.2, 1.2)))
              for z in np.arange(13.5, 75.0, 10.5) for side in (-1, 1)]  # fmt: skip
    kept = [spot for spot in places if rng.random() < 0.72]
    return [
        Thing(spot=spot, wide=trees.TREE_WIDE, tall=trees.TREE_TALL, draw=draw) for spot in kept
    ]


def _cars(rng: np.random.Generator, brief: Brief, hour: Hour) -> list[Thing]:
    busy = 1.7 if "traffic" in brief.things else 1.0
    calm = 0.4 if brief.mood == "calm" else 1.0

    def drawn(coming: bool) -> Draw:
        return lambda dice, stencil: cars.car(dice, stencil, coming=coming, neon=hour.neon)

    found = []
    for side in (-1, 1):
        z = float(rng.uniform(15.0, 30.0))
        while z < 110.0:
            spot = Spot(x=side * float(rng.uniform(2.3, 2.9)), z=z)
            found.append(Thing(spot=spot, wide=cars.WIDE, tall=cars.TALL, draw=drawn(side < 0)))
            z += float(rng.uniform(8.0, 34.0)) / (busy * calm)
    return found


def _walkers(rng: np.random.Generator, brief: Brief) -> list[Thing]:
    sheltered = brief.weather in ("rain", "snow") or "umbrellas" in brief.things

    def drawn(coming: bool) -> Draw:
        umbrella = sheltered and bool(rng.random() < 0.85)
        return lambda dice, stencil: walkers.walker(dice, stencil, umbrella=umbrella, coming=coming)

    count = 22 if "crowd" in brief.things else 11
    spots = [
        Spot(
            x=float(rng.choice([-1, 1])) * (ROAD + float(rng.uniform(0.6, 2.2))),
            z=float(rng.uniform(8.0, 60.0)),
        )
        for _ in range(count)
    ]
    hero = Spot(x=float(rng.choice([-1, 1]) * rng.uniform(0.7, 1.9)), z=NEAREST + 3.4)
    chosen = [*spots, hero] if rng.random() < 0.75 or sheltered else spots
    return [
        Thing(
            spot=spot,
            wide=walkers.WIDE,
            tall=walkers.TALL,
            draw=drawn(spot is not hero and bool(rng.random() < 0.5)),
        )
        for spot in chosen
    ]
