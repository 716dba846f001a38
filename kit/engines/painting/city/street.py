"""A street in perspective: where the camera stands, and the buildings along both sides.

Lengths are meters: x to the right of the street's middle, y up from the road, z ahead of the
camera. A point is seen at (x / z, (eye - y) / z) times the focal length from the vanishing point.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from kit.engines.painting.framing import framed, third
from kit.engines.painting.noise import Plane
from kit.engines.prompt.brief import Brief

ROAD = 5.6  # half the width between the curbs
_NEAREST, _FARTHEST = 3.0, 210.0
_STYLES, _OFTEN = ("grid", "brick", "glass", "bands"), (0.36, 0.30, 0.18, 0.16)
#: Word of composition -> focal length against the usual one, horizon as a share of the height,
#: height of the camera, factors on buildings, on the street's width and on the air, and where the
#: figure stands that the picture is about: meters aside and ahead.
_SHOTS = {
    "": {"lens": 1.0, "horizon": 0.56, "eye": 0.0, "tall": 1.0, "broad": 1.0, "air": 1.0},
    "close": {"lens": 2.1, "horizon": 0.50, "eye": 1.5, "aside": 0.35, "ahead": 4.7},
    "wide": {"lens": 0.62, "horizon": 0.60, "eye": 2.2, "broad": 1.75, "aside": 1.2, "ahead": 14.0},
    "low": {"lens": 0.8, "horizon": 0.86, "eye": 0.42, "tall": 1.5, "aside": 1.0, "ahead": 4.6},
    "high": {"lens": 0.9, "horizon": 0.10, "eye": 34.0, "air": 0.4},
    "dramatic": {"lens": 0.72, "horizon": 0.76, "eye": 1.2, "tall": 2.3, "air": 1.7,
                 "aside": 0.8, "ahead": 11.0},
    "minimal": {"lens": 0.95, "horizon": 0.62, "eye": 1.7, "aside": 0.9, "ahead": 9.0},
    "thirds": {"horizon": 2 / 3, "eye": 1.7, "aside": 1.4, "ahead": 8.5},
    "centered": {"aside": 0.0, "ahead": 7.0},
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A camera that looks straight down a street; its vanishing point is at (x, y), in pixels.

    Parameters
    ----------
    shot : dict
        Numbers that the words of composition chose.
    right, up : ndarray of float32
        x / z of every column, shape (1, width), and (y - eye) / z of every row, (height, 1).
    """

    width: int
    height: int
    x: float
    y: float
    focal: float
    eye: float
    shot: dict[str, float]
    right: Plane = field(init=False)
    up: Plane = field(init=False)

    def __post_init__(self) -> None:
        columns = np.arange(self.width, dtype=np.float32)[None]
        rows = np.arange(self.height, dtype=np.float32)[:, None]
        object.__setattr__(self, "right", (columns + (0.5 - self.x)) / self.focal)
        object.__setattr__(self, "up", ((self.y - 0.5) - rows) / self.focal)

    def column(self, x: float, z: float) -> float:
        """Return where a point is seen, in pixels from the left."""
        return self.x + self.focal * x / z

    def row(self, y: float, z: float) -> float:
        """Return where a point is seen, in pixels from the top."""
        return self.y - self.focal * (y - self.eye) / z

    def window(self, ends: tuple[float, float], top: float, bottom: float) -> tuple[slice, slice]:
        """Return the pixels of the frame between two columns and two rows."""
        places = (top, bottom, min(ends), max(ends))
        first, last, left, right = (int(np.clip(it, -9, 99999)) for it in places)
        rows = slice(max(0, first), max(0, min(self.height, last + 1)))
        return rows, slice(max(0, left), max(0, min(self.width, right + 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Building:
    """A building on one side of a street, -1 or 1.

    Parameters
    ----------
    near, far : float
        Where it begins and ends along the street.
    wall : float
        Distance of its front from the middle of the street.
    floor, bay : float
        Height of a floor and width of a window with the wall beside it.
    tone : float
        0 to 1, chooses among colors.
    number : int
        Shifts the random tables of its windows, so that no two are alike.
    """

    side: int
    near: float
    far: float
    wall: float
    tall: float
    style: str
    floor: float
    bay: float
    tone: float
    number: int


def view_of(rng: np.random.Generator, brief: Brief) -> View:
    """Return the camera that a brief asks for."""
    width, height, shot = brief.width, brief.height, framed(brief, _SHOTS)
    middle, eye = 0.5 + float(rng.choice([-1, 1])) * 0.06, float(rng.uniform(1.75, 2.3))
    if "centered" in brief.composition:
        middle = 0.5
    elif "thirds" in brief.composition:
        middle = third(brief)[0]
    # An upright frame sees less to the sides: a shorter focal length keeps both walls in it.
    focal = shot["lens"] * (0.52 * width + 0.36 * min(height, 1.4 * width))
    return View(
        width=width, height=height, x=width * middle, y=height * shot["horizon"], focal=focal,
        eye=shot["eye"] or eye, shot=shot,
    )  # fmt: skip


def buildings_of(rng: np.random.Generator, brief: Brief, view: View) -> list[Building]:
    """Return the buildings on both sides, the farthest first."""
    tall = 0.7 if brief.mood == "calm" else view.shot["tall"]
    tall *= 1.7 if "towers" in brief.things else 0.6 if "low_houses" in brief.things else 1.0
    broad = view.shot["broad"] * (0.62 if "narrow" in brief.things else 1.0)
    found = []
    for side in (-1, 1):
        z = _NEAREST
        while z < _FARTHEST:
            deep = float(rng.uniform(9.0, 21.0)) * (1.0 + z / 160.0)
            building = Building(
                side=side,
                near=z,
                far=z + deep - float(rng.choice([0.0, 0.0, 0.5, 2.2])),
                wall=float(ROAD + rng.uniform(2.6, 4.2)) * broad,
                tall=float(rng.uniform(11.0, 34.0) + rng.pareto(2.2) * 9.0 + z / 9.0) * tall,
                style=str(rng.choice(_STYLES, p=_OFTEN)),
                floor=float(rng.uniform(3.0, 3.7)),
                bay=float(rng.uniform(2.1, 3.4)),
                tone=float(rng.random()),
                number=int(rng.integers(0, 4096)),
            )
            if "high" in brief.composition and z < 130.0:  # one looks over the roofs that are near
                most = view.eye * (0.40 + 0.42 * building.tone)
                building = replace(building, tall=min(building.tall, most))
            found.append(building)
            z += deep
    if "centered" in brief.composition:  # both sides are alike
        left = [it for it in found if it.side < 0]
        found = [*left, *(replace(it, side=1) for it in left)]
    return sorted(found, key=lambda it: -it.near)
