"""Evening: patches from elsewhere keep their texture and take the tone of where they are laid."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats

_ROUNDS = 60
_SOFT, _HARD = 6.0, 16.0  # steps in tone that are evened out, and that stay an edge
_HELD = 0.004  # how strongly a pixel is held to the color that it had


def evened(canvas: Floats, gap: Bytes, slopes: Floats) -> Floats:
    """Return the canvas with the tones of its hole joined to what surrounds it.

    Parameters
    ----------
    canvas : ndarray of float32
        Shape (height, width, 3).
    gap : ndarray of uint8
        Shape (height, width), 255 in the hole.
    slopes : ndarray of float32
        Shape (height, width, 6): by how much the next pixel to the right, and the next one below,
        is to differ.

    Source: Perez, Gangnet and Blake, "Poisson image editing" (SIGGRAPH 2003), solved by conjugate
    gradients.
    """
    x, y, width, height = cv2.boundingRect(gap)
    rows = slice(max(0, y - 1), y + height + 1)
    columns = slice(max(0, x - 1), x + width + 1)
    hole = (gap[rows, columns] > 0)[..., None].astype(np.float32)
    first = canvas[rows, columns]
    across, down = slopes[rows, columns, :3], slopes[rows, columns, 3:]
    across = _kept(across[:, :-1], np.diff(first, axis=1))
    down = _kept(down[:-1], np.diff(first, axis=0))
    wanted = _gathered(across, down, first.shape) + _HELD * first
    off = (wanted - _applied(first)) * hole
    step, found = off.copy(), np.zeros_like(off)
    left = float(np.vdot(off, off))
    least = 0.02 * float(hole.sum())
    for _ in range(_ROUNDS):
        if left <= least:
            break
        turned = _applied(step) * hole
        share = left / float(np.vdot(step, turned))
        found += share * step
        off -= share * turned
        before, left = left, float(np.vdot(off, off))
        step *= left / before
        step += off
    out = canvas.copy()
    out[rows, columns] += found
    return out


def _kept(wanted: Floats, found: Floats) -> Floats:
    """Return wanted slopes, but those found where the two differ so much that it is an edge."""
    off = np.abs(found - wanted).max(axis=2, keepdims=True)
    share = np.clip((off - _SOFT) / (_HARD - _SOFT), 0, 1)
    return np.asarray(wanted + share * (found - wanted))


def _applied(pixels: Floats) -> Floats:
    return _gathered(np.diff(pixels, axis=1), np.diff(pixels, axis=0), pixels.shape) + (
        _HELD * pixels
    )


def _gathered(across: Floats, down: Floats, shape: tuple[int, ...]) -> Floats:
    """Return for each pixel the sum of how much it exceeds its neighbors."""
    out = np.zeros(shape, np.float32)
    out[:, :-1] -= across
    out[:, 1:] += across
    out[:-1] -= down
    out[1:] += down
    return out
