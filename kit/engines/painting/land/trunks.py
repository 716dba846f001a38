"""Trunks and leaves: what is near in a forest, where no tree is seen whole."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.media.noise import line
from kit.engines.painting.land.sprites import Sprite, sprite
from kit.engines.painting.noise import tile

_TALL, _WIDE = 1024, 176


def trunk(rng: np.random.Generator, *, birch: bool = False) -> Sprite:
    """Return a trunk with a flared foot, bark and the stubs of dead branches.

    Parameters
    ----------
    birch : bool
        White bark with dark marks, and no stubs.
    """
    y = np.linspace(0.0, 1.0, _TALL, dtype=np.float32)[:, None]
    x = np.arange(_WIDE, dtype=np.float32)[None]
    drift = np.cumsum(np.cumsum(rng.standard_normal(_TALL))) / 9000
    drift -= np.linspace(drift[0], drift[-1], _TALL)
    center = _WIDE / 2 + np.clip(drift, -10, 10).astype(np.float32)[:, None]
    half = 5.0 + 5.5 * y + 10.0 * (np.maximum(y - 0.935, 0.0) / 0.065) ** 2.2
    round_ = (x - center) / half
    cover = np.clip((1.0 - np.abs(round_)) * half, 0.0, 1.0)
    # It stands in the soil, between roots that reach out to the sides.
    roots = line(rng, np.arange(_WIDE, dtype=np.float32), 9.0, octaves=2)[None]
    soil = 0.984 + 0.009 * (1.0 - round_**2) + 0.0022 * roots
    cover *= np.clip((soil - y) * 160, 0.0, 1.0)
    turned = np.clip(0.62 - 0.52 * round_, 0.16, 1.2) * np.sqrt(
        np.clip(1.08 - round_**2, 0.05, 1.0)
    )
    shade = np.asarray(turned * _bark(rng, birch), np.float32)
    if not birch:
        _stubs(rng, cover, shade)
    return sprite(np.asarray(cover, np.float32), np.asarray(shade, np.float32), _TALL)


def spray(rng: np.random.Generator, *, needles: bool, tall: int = 200) -> Sprite:
    """Return a hanging cluster of leaves, or a drooping bough of needles, seen near by."""
    high, wide = tall * 2, int(tall * 2 * 1.5)
    cover = np.zeros((high, wide), np.uint8)
    shade = np.full((high, wide), 60, np.uint8)
    for _ in range(7):
        start = np.array([rng.uniform(0.3, 0.7) * wide, rng.uniform(0.02, 0.25) * high])
        way = rng.uniform(-1, 1)
        for share in np.linspace(0.0, 1.0, 80):
            droop = 0.62 * share**1.6 + 0.05
            spot = start + np.array([way * 0.42 * wide * share, droop * 0.75 * high * abs(way)])
            _leaf(rng, (cover, shade), spot, needles=needles)
    rise = np.linspace(1.3, 0.6, high, dtype=np.float32)[:, None]
    return sprite(cover.astype(np.float32) / 255, shade.astype(np.float32) / 120 * rise, tall)


def fern(rng: np.random.Generator, *, tall: int = 120) -> Sprite:
    """Return a fern: arching fronds with leaflets to both sides."""
    high, wide = tall * 2, int(tall * 2 * 1.9)
    cover = np.zeros((high, wide), np.uint8)
    shade = np.full((high, wide), 60, np.uint8)
    for number in range(11):
        way = np.clip((number - 5) / 5 + 0.15 * rng.standard_normal(), -1.1, 1.1)
        tone = float(np.clip(110 + 34 * rng.standard_normal() - 30 * way, 45, 220))
        _frond(rng, (cover, shade), float(way), tone)
    rise = np.linspace(1.3, 0.35, high, dtype=np.float32)[:, None]
    return sprite(cover.astype(np.float32) / 255, shade.astype(np.float32) / 120 * rise, tall)


def _bark(rng: np.random.Generator, birch: bool) -> Floats:
    furrows = cv2.resize(tile(rng, cells=16, octaves=5, gain=0.75, side=256), (_WIDE * 2, 420))
    long = cv2.resize(furrows, (_WIDE, _TALL), interpolation=cv2.INTER_CUBIC)
    rough = np.clip(1.0 + 0.30 * long, 0.35, 1.7)
    if not birch:
        return np.asarray(rough, np.float32)
    marks = cv2.resize(tile(rng, cells=8, octaves=4, gain=0.8, side=128), (_WIDE, _TALL * 4))
    marks = cv2.resize(marks, (_WIDE, _TALL), interpolation=cv2.INTER_AREA)
    return np.asarray(np.where(marks > 1.15, 0.25, 1.0 + 0.08 * long), np.float32)


def _stubs(rng: np.random.Generator, cover: Floats, shade: Floats) -> None:
    for _ in range(26):
        y, way = rng.uniform(0.02, 0.72) * _TALL, float(rng.choice([-1, 1]))
        reach = rng.uniform(12, _WIDE * 0.44)
        x = np.linspace(_WIDE / 2, _WIDE / 2 + way * reach, 6)
        drop = y + np.linspace(0, 1, 6) ** 1.5 * reach * rng.uniform(-0.2, 0.5)
        drop += rng.normal(0, 1.2, 6)
        points = [np.round(np.stack([x, drop], axis=1) * 8).astype(np.int32)]
        mask = np.zeros(cover.shape, np.uint8)
        cv2.polylines(mask, points, False, 255, 1 if reach > 40 else 2, cv2.LINE_AA, 3)
        drawn = mask.astype(np.float32) / 255
        shade[:] = np.where(drawn > 0.1, 0.55, shade)
        np.maximum(cover, drawn, out=cover)


def _leaf(
    rng: np.random.Generator,
    drawing: tuple[np.ndarray, np.ndarray],
    spot: np.ndarray,
    *,
    needles: bool,
) -> None:
    cover, shade = drawing
    tone = float(np.clip(96 + 34 * rng.standard_normal(), 25, 230))
    high = cover.shape[0]
    if needles:
        for _ in range(2):
            end = spot + high * np.array([0.05 * rng.standard_normal(), rng.uniform(0.02, 0.085)])
            ends = tuple(map(int, spot)), tuple(map(int, end))
            cv2.line(cover, *ends, 255, 2)
            cv2.line(shade, *ends, tone, 2)
        return
    place = spot + 0.055 * high * rng.standard_normal(2)
    axes = (max(2, int(0.022 * high)), max(1, int(0.012 * high)))
    where = (int(place[0]), int(place[1]))
    angle = float(rng.uniform(0, 180))
    cv2.ellipse(cover, where, axes, angle, 0, 360, 255, -1)
    cv2.ellipse(shade, where, axes, angle, 0, 360, tone, -1)


def _frond(
    rng: np.random.Generator, drawing: tuple[np.ndarray, np.ndarray], way: float, tone: float
) -> None:
    cover, shade = drawing
    high, wide = cover.shape
    along = np.linspace(0.0, 1.0, 30)
    arch = rng.uniform(0.65, 0.95)
    x = wide / 2 + way * 0.46 * wide * along
    y = high - high * arch * (along * 1.75 - (0.75 + 0.55 * abs(way)) * along**2)
    for number in range(2, 30):
        leaf = high * rng.uniform(0.08, 0.13) * (1 - along[number] ** 2) + 1
        for side in (-1, 1):
            tip = (int(x[number] + way * leaf * 0.5), int(y[number] + side * leaf + 0.25 * leaf))
            root = (int(x[number]), int(y[number]))
            cv2.line(cover, root, tip, 255, 2)
            cv2.line(shade, root, tip, tone * (1.15 if side < 0 else 0.7), 2)
