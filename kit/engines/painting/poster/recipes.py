"""Recipes: which ridges a subject is made of, from the horizon to the viewer's feet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Ridges of one kind, over a stretch of depth.

    Parameters
    ----------
    until : float
        Depth up to which it reaches, 0 for the horizon and 1 for the foreground.
    kind : str
        One of `kit.engines.painting.poster.crests.KINDS`.
    height : tuple of float
        Height of the first and the last ridge of the band, in units.
    spacing : float
        Distance between peaks, in units.
    plant : str or None
        What grows on it.
    tall : float
        Height of the plants at depth 1, in units.
    density : float
        See `kit.engines.painting.poster.trees.grow`.
    """

    until: float
    kind: str
    height: tuple[float, float]
    spacing: float
    plant: str | None = None
    tall: float = 0.0
    density: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a subject is laid out; all places are shares of the frame's height.

    Parameters
    ----------
    horizon : float
        Row where the sky ends.
    feet : tuple of float
        Rows of the feet of the farthest and the nearest ridge.
    shore : float or None
        Row where water begins, if there is water; ridges with feet above it are mirrored.
    rough : float
        See `kit.engines.painting.poster.water.water`.
    framing : str or None
        The large plants at both sides.
    hero : bool
        Whether one peak towers over the others.
    lone : float
        How far the others give way to it, 0 to 1.
    """

    horizon: float
    feet: tuple[float, float]
    bands: tuple[Band, ...]
    shore: float | None = None
    rough: float = 0.0
    framing: str | None = None
    framing_tall: float = 0.34
    hero: bool = True
    lone: float = 0.0


RECIPES = {
    "mountains": Recipe(
        horizon=0.62,
        feet=(0.60, 1.02),
        framing="conifer",
        bands=(
            Band(until=0.45, kind="mountains", height=(0.20, 0.31), spacing=0.26),
            Band(
                until=0.72,
                kind="mountains",
                height=(0.20, 0.15),
                spacing=0.36,
                plant="conifer",
                tall=0.050,
                density=0.55,
            ),
            Band(
                until=1.01,
                kind="hills",
                height=(0.09, 0.06),
                spacing=0.5,
                plant="conifer",
                tall=0.085,
                density=0.75,
            ),
        ),
    ),
    "hills": Recipe(
        horizon=0.60,
        feet=(0.60, 1.03),
        hero=False,
        framing="broadleaf",
        framing_tall=0.25,
        bands=(
            Band(until=0.20, kind="mountains", height=(0.13, 0.13), spacing=0.40),
            Band(until=0.45, kind="hills", height=(0.11, 0.11), spacing=0.45),
            Band(
                until=0.72,
                kind="hills",
                height=(0.11, 0.12),
                spacing=0.62,
                plant="broadleaf",
                tall=0.062,
                density=0.42,
            ),
            Band(
                until=0.95,
                kind="hills",
                height=(0.12, 0.11),
                spacing=0.8,
                plant="poplar",
                tall=0.125,
                density=0.30,
            ),
            Band(until=1.01, kind="hills", height=(0.08, 0.08), spacing=0.9),
        ),
    ),
    "desert": Recipe(
        horizon=0.58,
        feet=(0.58, 1.06),
        framing="cactus",
        framing_tall=0.24,
        bands=(
            Band(until=0.36, kind="mesas", height=(0.12, 0.22), spacing=0.5),
            Band(until=1.01, kind="dunes", height=(0.075, 0.19), spacing=0.74),
        ),
    ),
    "sea": Recipe(
        horizon=0.56,
        feet=(0.565, 1.03),
        shore=0.60,
        rough=0.9,
        framing="conifer",
        framing_tall=0.26,
        bands=(
            Band(until=0.6, kind="islands", height=(0.09, 0.20), spacing=0.17),
            Band(
                until=1.01,
                kind="hills",
                height=(0.05, 0.10),
                spacing=0.8,
                plant="conifer",
                tall=0.06,
                density=0.35,
            ),
        ),
    ),
    "forest": Recipe(
        horizon=0.62,
        feet=(0.56, 1.06),
        framing="conifer",
        framing_tall=0.52,
        bands=(
            Band(until=0.16, kind="mountains", height=(0.16, 0.20), spacing=0.36),
            Band(
                until=1.01,
                kind="hills",
                height=(0.12, 0.07),
                spacing=0.5,
                plant="conifer",
                tall=0.17,
                density=1.0,
            ),
        ),
    ),
    "lake": Recipe(
        horizon=0.58,
        feet=(0.57, 1.03),
        shore=0.665,
        rough=0.12,
        framing="conifer",
        framing_tall=0.40,
        bands=(
            Band(until=0.40, kind="mountains", height=(0.16, 0.27), spacing=0.25),
            Band(
                until=0.66,
                kind="hills",
                height=(0.07, 0.045),
                spacing=0.4,
                plant="conifer",
                tall=0.055,
                density=0.9,
            ),
            Band(
                until=1.01,
                kind="hills",
                height=(0.05, 0.05),
                spacing=0.7,
                plant="conifer",
                tall=0.07,
                density=0.3,
            ),
        ),
    ),
}
