"""Sunlight in a street: what the roofs across the street leave of it."""

from __future__ import annotations

import numpy as np

from kit.engines.media.noise import smooth_step
from kit.engines.painting.city.directing import Hour
from kit.engines.painting.city.view import Block
from kit.engines.painting.noise import Plane

_FALL = 1.9  # how far the sunlight falls on each meter across the street


class Sunlight:
    """Where the sun reaches the walls, past the roofs across the street.

    Parameters
    ----------
    side : int
        The side whose walls face the sun.
    """

    def __init__(self, blocks: list[Block], hour: Hour, side: int) -> None:
        self._hour = hour
        self._side = side
        depths = np.arange(0.0, 260.0, 0.5, dtype=np.float32)
        tall = np.full(len(depths), 6.0, np.float32)
        for block in blocks:
            if block.side != side:
                tall[(depths >= block.near) & (depths < block.far)] = block.tall
        self._roofs = np.convolve(np.pad(tall, 2, mode="edge"), np.ones(5) / 5, "valid")

    def on(self, block: Block, z: Plane, up: Plane) -> Plane:
        """Return the sunlight on a wall along the street, 0 to 1."""
        if not self._hour.power:
            return np.zeros_like(up)
        if self._hour.ahead:
            # The low sun grazes both rows; the air does the rest.
            share = 0.20 if block.side == self._side else 0.10
            return np.asarray(share * smooth_step(2.0, 14.0, up) + 0.0 * z, np.float32)
        if block.side != self._side:
            return np.zeros_like(up)
        shifted = np.clip((z + np.float32(6.0)) * 2.0, 0, len(self._roofs) - 1).astype(np.int32)
        edge = self._roofs[shifted] - np.float32(2.0 * _FALL * block.wall)
        return np.asarray(0.85 * smooth_step(-0.3, 0.3, up - edge), np.float32)

    def ground(self, x: Plane, z: Plane) -> Plane:
        """Return the sunlight on the road, 0 to 1; a low sun at its end reaches all of it."""
        if not self._hour.power or self._hour.ahead:
            return np.ones(np.broadcast_shapes(x.shape, z.shape), np.float32)
        shifted = np.clip((z + np.float32(6.0)) * 2.0, 0, len(self._roofs) - 1).astype(np.int32)
        away = x * np.float32(self._side) + np.float32(9.0)
        return smooth_step(-0.8, 0.8, away * np.float32(_FALL) - self._roofs[shifted])

    def front(self, block: Block) -> float:
        """Return the sunlight on a wall that looks up the street."""
        if not self._hour.power or self._hour.ahead:
            return 0.0
        return 0.40 if block.side == self._side else 0.12
