"""The view down a street: where the camera stands and what stands along both sides.

Lengths are meters: x to the right of the street's middle, y up from the road, z ahead of the
camera. A point is seen at (x / z, -(y - eye) / z) times the focal length from the vanishing point.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kit.engines.painting.framing import factor, third
from kit.engines.painting.noise import Plane
from kit.engines.prompt.brief import Brief

ROAD = 5.6  # half the width between the curbs
NEAREST = 3.0
_FARTHEST = 210.0
_OVERSEEN = 130.0  # how far a camera on a roof sees over the buildings
_STYLES = ("grid", "brick", "glass", "bands")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A camera that looks straight down a street.

    Parameters
    ----------
    x, y : float
        The vanishing point, in pixels.
    focal : float
        In pixels.
    eye : float
        Height of the camera above the road.
    """

    width: int
    height: int
    x: float
    y: float
    focal: float
    eye: float

    def across(self) -> Plane:
        """Return x / z of every column, shape (1, width)."""
        columns = np.arange(self.width, dtype=np.float32)[None]
        return np.asarray((columns + np.float32(0.5 - self.x)) / np.float32(self.focal))

    def up(self) -> Plane:
        """Return (y - eye) / z of every row, shape (height, 1)."""
        rows = np.arange(self.height, dtype=np.float32)[:, None]
        return np.asarray((np.float32(self.y - 0.5) - rows) / np.float32(self.focal))

    def column(self, x: float, z: float) -> float:
        """Return where a point is seen, in pixels from the left."""
        return self.x + self.focal * x / z

    def row(self, y: float, z: float) -> float:
        """Return where a point is seen, in pixels from the top."""
        return self.y - self.focal * (y - self.eye) / z


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One building.

    Parameters
    ----------
    side : int
        -1 on the left, 1 on the right.
    near, far : float
        Where it begins and ends along the street.
    wall : float
        Distance of its front from the middle of the street.
    tall : float
        Its height.
    style : str
        grid, brick, glass or bands: how its windows lie.
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


#: Word -> how long a lens is, against the usual one.
_LENSES = {"close": 2.1, "wide": 0.62, "low": 0.8, "high": 0.9, "dramatic": 0.72, "minimal": 0.95}
#: Word -> where the horizon lies in the frame, and how high the camera stands.
_STANDS = {
    "high": (0.10, 34.0),
    "low": (0.86, 0.42),
    "close": (0.50, 1.5),
    "dramatic": (0.76, 1.2),
    "thirds": (2 / 3, 1.7),
    "minimal": (0.62, 1.7),
    "wide": (0.60, 2.2),
}


def view_of(rng: np.random.Generator, brief: Brief) -> View:
    """Return the camera that a brief asks for."""
    width, height = brief.width, brief.height
    middle = 0.5 + float(rng.choice([-1, 1])) * 0.06
    horizon, eye = 0.56, float(rng.uniform(1.75, 2.3))
    if said := next((word for word in _STANDS if word in brief.composition), ""):
        horizon, eye = _STANDS[said]
    if "centered" in brief.composition:
        middle = 0.5
    elif "thirds" in brief.composition:
        middle = third(brief)[0]
    zoom = factor(brief, _LENSES)
    # An upright frame sees less to the sides: a shorter focal length keeps both walls in it.
    focal = zoom * (0.52 * width + 0.36 * min(height, 1.4 * width))
    return View(
        width=width,
        height=height,
        x=width * middle,
        y=height * horizon,
        focal=focal,
        eye=eye,
    )


def blocks_of(rng: np.random.Generator, brief: Brief) -> list[Block]:
    """Return the buildings on both sides, the farthest first."""
    tall = 0.7 if brief.mood == "calm" else factor(brief, {"dramatic": 2.3, "low": 1.5})
    if "towers" in brief.things:
        tall *= 1.7
    elif "low_houses" in brief.things:
        tall *= 0.6
    narrow = 0.62 if "narrow" in brief.things else 1.0
    narrow *= factor(brief, {"wide": 1.75})
    found = []
    for side in (-1, 1):
        z = NEAREST
        while z < _FARTHEST:
            deep = float(rng.uniform(9.0, 21.0)) * (1.0 + z / 160.0)
            found.append(
                Block(
                    side=side,
                    near=z,
                    far=z + deep - float(rng.choice([0.0, 0.0, 0.5, 2.2])),
                    wall=float(ROAD + rng.uniform(2.6, 4.2)) * narrow,
                    tall=float(rng.uniform(11.0, 34.0) + rng.pareto(2.2) * 9.0 + z / 9.0) * tall,
                    style=str(rng.choice(_STYLES, p=[0.36, 0.30, 0.18, 0.16])),
                    floor=float(rng.uniform(3.0, 3.7)),
                    bay=float(rng.uniform(2.1, 3.4)),
                    tone=float(rng.random()),
                    number=int(rng.integers(0, 4096)),
                )
            )
            z += deep
    if "centered" in brief.composition:  # both sides are alike
        left = [block for block in found if block.side < 0]
        found = [*left, *(replace(block, side=1) for block in left)]
    if "high" in brief.composition:  # one looks over the roofs that are near
        found = [replace(block, tall=_under(block)) for block in found]
    return sorted(found, key=lambda block: -block.near)


def _under(block: Block) -> float:
    """Return a height over which a camera on a roof sees; far buildings may stand out."""
    most = _STANDS["high"][1] * (0.40 + 0.42 * block.tone)
    return min(block.tall, most) if block.near < _OVERSEEN else block.tall
