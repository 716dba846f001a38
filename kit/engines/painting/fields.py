"""Fields: noise that is bent by other noise, and the light that its slopes catch."""

from __future__ import annotations

from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.noise import field

#: One number for each pixel, or three planes of them; painters make them float32.
Plane: TypeAlias = NDArray[np.floating]


def across(cells: float, height: int, width: int) -> tuple[int, int]:
    """Return blobs down and across for `cells` of them along the longer side."""
    size = max(height, width)
    return max(2, round(cells * height / size)), max(2, round(cells * width / size))


def grown(
    rng: np.random.Generator,
    height: int,
    width: int,
    *,
    cells: tuple[int, int],
    octaves: int = 4,
    gain: float = 0.5,
) -> Plane:
    """Return a noise field of mean 0 and deviation 1, shape (height, width).

    It takes the same from the generator at every size, so that a larger picture shows the same
    scene, only finer.
    """
    own = rng.spawn(1)[0]
    return field(own, height, width, cells=cells, octaves=octaves, gain=gain)


def warped(plane: Plane, dx: Plane, dy: Plane, amount: float) -> Plane:
    """Return a field whose every point is taken from `amount` pixels times (dx, dy) away."""
    height, width = plane.shape[:2]
    x = dx * np.float32(amount)
    x += np.arange(width, dtype=np.float32)
    y = dy * np.float32(amount)
    y += np.arange(height, dtype=np.float32)[:, None]
    return np.asarray(cv2.remap(plane, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101))


def neared(plane: Plane, times: float) -> Plane:
    """Return the middle of a field, `times` as large, in the size of the whole."""
    height, width = plane.shape
    rows, columns = max(2, round(height / times)), max(2, round(width / times))
    top, left = (height - rows) // 2, (width - columns) // 2
    middle = plane[top : top + rows, left : left + columns]
    return np.asarray(cv2.resize(middle, (width, height), interpolation=cv2.INTER_CUBIC))


def symmetric(picture: Plane) -> Plane:
    """Return planes whose right half is the mirror image of the left one."""
    width = picture.shape[-1]
    half = picture[..., : (width + 1) // 2]
    return np.concatenate([half, half[..., ::-1][..., width % 2 :]], axis=-1)


def ridges(coarse: Plane, fine: Plane) -> Plane:
    """Return ridges, 0 to 1, where the coarse field crosses zero, broken up by the fine one."""
    sharp = np.clip(1.0 - np.abs(coarse) * 0.9, 0.0, 1.0) ** 2
    small = np.clip(1.0 - np.abs(fine) * 0.9, 0.0, 1.0) ** 2
    return np.asarray(sharp * (0.55 + 0.45 * small), np.float32)


def slopes(plane: Plane, reach: float) -> tuple[Plane, Plane]:
    """Return how much a field rises to the right and downward, per `reach` pixels."""
    over = cv2.Scharr(plane, cv2.CV_32F, 1, 0, scale=reach / 32)
    down = cv2.Scharr(plane, cv2.CV_32F, 0, 1, scale=reach / 32)
    return np.asarray(over), np.asarray(down)
