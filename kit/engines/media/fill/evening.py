"""Evening: patches from elsewhere keep their texture and take the tone of where they are laid."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats

_ROUNDS = 60
_SOFT, _HARD = 6.0, 16.0  # steps in tone that are evened out, and that stay an edge
_SHADE = 0.65  # how much less a step in light alone counts
_TONE, _MUCH = 3.0, 14.0  # pixels over which tones are compared, and by how much they may differ
_HELD = 0.004  # how strongly a pixel is held to the color that it had


def evened(canvas: Floats, gap: Bytes, slopes: Floats, *, shades: bool = False) -> Floats:
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
    shades : bool
        Whether larger steps are evened out as well where only light changes and no color: one wall
        in two lights, put together.

    Source: Perez, Gangnet and Blake, "Poisson image editing" (SIGGRAPH 2003), solved by conjugate
    gradients.
    """
    x, y, width, height = cv2.boundingRect(gap)
    rows = slice(max(0, y - 1), y + height + 1)
    columns = slice(max(0, x - 1), x + width + 1)
    hole = (gap[rows, columns] > 0)[..., None].astype(np.float32)
    first = canvas[rows, columns]
    across, down = slopes[rows, columns, :3], slopes[rows, columns, 3:]
    across = _kept(across[:, :-1], np.diff(first, axis=1), shades)
    down = _kept(down[:-1], np.diff(first, axis=0), shades)
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


def toned(canvas: Floats, gap: Bytes, before: Floats) -> Floats:
    """Return the canvas with the tones that its hole had before it was painted anew.

    What was evened out in a smaller picture would come back with the colors of where patches are
    from. Where it is not the tone that differs but what is shown, it stays as it is painted.

    Parameters
    ----------
    canvas, before : ndarray of float32
        Shape (height, width, 3).
    gap : ndarray of uint8
        Shape (height, width), 255 in the hole.
    """
    hole = (gap > 0).astype(np.float32)
    off = cv2.GaussianBlur((before - canvas) * hole[..., None], (0, 0), _TONE)
    off /= np.maximum(cv2.GaussianBlur(hole, (0, 0), _TONE), 1e-3)[..., None]
    much = np.abs(off).max(axis=2)
    share = hole * np.clip(2.0 - much / _MUCH, 0, 1)
    return np.asarray(canvas + share[..., None] * off, np.float32)


def _kept(wanted: Floats, found: Floats, shades: bool) -> Floats:
    """Return wanted slopes, but those found where the two differ so much that it is an edge."""
    step = found - wanted
    off = np.abs(step).max(axis=2, keepdims=True)
    if shades:
        # As much as the three colors change together is light, the rest is another thing.
        light = step.mean(axis=2, keepdims=True)
        color = np.abs(step - light).max(axis=2, keepdims=True)
        off = np.maximum(off - _SHADE * np.abs(light), 2 * color)
    share = np.clip((off - _SOFT) / (_HARD - _SOFT), 0, 1)
    return np.asarray(wanted + share * step)


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
