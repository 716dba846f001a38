"""Staging: what words of the camera and of mood leave in a street, and where a figure stands."""

from __future__ import annotations

from dataclasses import replace

from kit.engines.painting.city import cars, trees, walkers
from kit.engines.painting.city.passing import Thing
from kit.engines.painting.city.stencil import Spot
from kit.engines.painting.city.view import ROAD
from kit.engines.prompt.brief import Brief

#: Word -> where that walker stands: meters right of the middle, and ahead.
_STANDS = {
    "close": (0.35, 4.7),
    "minimal": (0.9, 9.0),
    "wide": (1.2, 14.0),
    "dramatic": (0.8, 11.0),
    "low": (1.0, 4.6),
    "centered": (0.0, 7.0),
    "thirds": (1.4, 8.5),
}
_FREE = 2.4  # how many times as far away as the hero of a close view all others are
_CALM = 0.5  # share of the walkers and cars that a calm street has


def staged(things: list[Thing], brief: Brief) -> list[Thing]:
    """Return what stands and passes in a street as the words of a brief change it.

    The farthest comes first.
    """
    said = set(brief.composition)
    hero = _hero(things, brief)
    if "minimal" in said:
        things = hero
    elif brief.mood == "calm":
        things = _fewer(things, hero)
    if "centered" in said:
        things = _even(things)
    if hero and said.intersection(_STANDS):
        x, z = next(place for word, place in _STANDS.items() if word in said)
        side = -1.0 if brief.seed & 1 else 1.0
        others = [thing for thing in things if thing is not hero[0]]
        if "close" in said:  # nobody stands before the one that the picture is of
            others = [thing for thing in others if thing.spot.z > _FREE * z]
        things = [*others, replace(hero[0], spot=Spot(x=side * x, z=z))]
    return sorted(things, key=lambda thing: -thing.spot.z)


def _hero(things: list[Thing], brief: Brief) -> list[Thing]:
    """Return the one that a picture is about: the nearest walker, or a car where nobody walks."""
    walking = [thing for thing in things if thing.tall == walkers.TALL]
    in_road = [thing for thing in walking if abs(thing.spot.x) < ROAD]
    driving = [thing for thing in things if thing.tall == cars.TALL]
    chosen = in_road or walking or ([] if "minimal" in brief.composition else driving)
    return chosen[-1:]


def _even(things: list[Thing]) -> list[Thing]:
    """Return things whose trees stand in pairs."""
    left = [thing for thing in things if thing.tall == trees.TREE_TALL and thing.spot.x < 0]
    others = [thing for thing in things if thing.tall != trees.TREE_TALL]
    mirrored = [replace(it, spot=Spot(x=-it.spot.x, z=it.spot.z)) for it in left]
    return [*others, *left, *mirrored]


def _fewer(things: list[Thing], hero: list[Thing]) -> list[Thing]:
    passing = [thing for thing in things if thing.tall in (walkers.TALL, cars.TALL)]
    gone = [thing for thing in passing[: round(_CALM * len(passing))] if thing not in hero]
    return [thing for thing in things if thing not in gone]
