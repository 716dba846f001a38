"""Neon signs: blades of glowing tubes that hang off the walls, with words or emblems."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from PIL import Image, ImageDraw

from kit.engines.media.color import Bytes
from kit.engines.media.typesetting import font_of
from kit.engines.painting.city.directing import Hour
from kit.engines.painting.city.view import Block, View
from kit.engines.painting.noise import Plane
from kit.engines.painting.tone import light

_WORDS = (
    "HOTEL", "BAR", "NOODLES", "OPEN", "CAFE", "JAZZ", "RAMEN", "CLUB", "CINEMA", "TEA", "ARCADE",
    "SUSHI", "BOOKS", "24H", "DINER", "PHARMACY", "KARAOKE", "RECORDS", "TAXI", "GRILL", "LOUNGE",
)  # fmt: skip
_FACES = ("bebas", "neon", "rubik", "anton")
_FARTHEST = 75.0
_LEAST = 5  # pixels across, below which nobody sees a sign


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """A blade that stands out from a wall, facing up and down the street.

    Parameters
    ----------
    left, right, low, high : float
        In meters, at the distance `z`.
    letters, frame : int
        Which of the hour's colors the word and the tube round it have.
    filled : bool
        A glowing panel with dark letters instead of glowing letters.
    """

    z: float
    left: float
    right: float
    low: float
    high: float
    word: str
    face: str
    letters: int
    frame: int
    filled: bool


def signs_of(rng: np.random.Generator, block: Block, crowd: float) -> list[Sign]:
    """Return the signs of a building, the farthest first."""
    found = []
    z = block.near + float(rng.uniform(0.6, 2.5))
    while z < min(block.far - 1.0, _FARTHEST):
        word = str(rng.choice(_WORDS))
        wide = float(rng.uniform(0.8, 1.5))
        low = float(rng.uniform(3.6, 8.5))
        high = min(low + wide * 0.92 * len(word) * float(rng.uniform(0.85, 1.1)), block.tall - 0.8)
        inner = block.wall - 0.25
        ends = (block.side * inner, block.side * (inner - wide))
        sign = Sign(
            z=z, left=min(ends), right=max(ends), low=low, high=high, word=word,
            face=str(rng.choice(_FACES)), letters=int(rng.integers(64)),
            frame=int(rng.integers(64)), filled=bool(rng.random() < 0.22),
        )  # fmt: skip
        if high - low > wide and rng.random() < crowd:
            found.append(sign)
        z += float(rng.uniform(3.5, 9.0))
    return found[::-1]


def hang(picture: Plane, cover: Plane, view: View, sign: Sign, hour: Hour, haze: Plane) -> None:
    """Paint a sign into a picture of linear light, and count it as wall in `cover`."""
    left, right = view.column(sign.left, sign.z), view.column(sign.right, sign.z)
    top, bottom = view.row(sign.high, sign.z), view.row(sign.low, sign.z)
    wide, tall = round(right - left), round(bottom - top)
    x, y = round(left), round(top)
    if wide < _LEAST or tall < 2 * _LEAST or wide > view.width or tall > 2 * view.height:
        return
    rows = slice(max(0, y), min(view.height, y + tall))
    columns = slice(max(0, x), min(view.width, x + wide))
    if rows.start >= rows.stop or columns.start >= columns.stop:
        return
    panel, tube, word = _drawn(sign, wide, tall)
    part = (slice(rows.start - y, rows.stop - y), slice(columns.start - x, columns.stop - x))
    glow = _shone(sign, hour, panel[part], tube[part], word[part])
    fade = np.float32(1.0 - np.exp(-sign.z * hour.thick * 0.8))
    air = haze[:, rows, columns]
    glow += (air - glow) * fade
    alpha = panel[part]
    below = picture[:, rows, columns]
    below += (glow - below) * alpha
    veil = cover[rows, columns]
    veil += (1.0 - veil) * alpha


def _shone(sign: Sign, hour: Hour, panel: Plane, tube: Plane, word: Plane) -> Plane:
    count = len(hour.signs)
    ink, frame = light(hour.signs[sign.letters % count]), light(hour.signs[sign.frame % count])
    power = np.float32(hour.neon)
    board = light((0.24, 0.02, 260)) * np.float32(0.35 + hour.fill)
    unlit = np.float32(0.35 * hour.fill + 0.25 * hour.power)
    pale = ink * np.float32(0.6) + np.float32(0.4)
    if sign.filled:
        face = ink * (power * 1.5 + unlit)
        return np.asarray(face * (1.0 - 0.88 * word) + frame * (tube * power * 0.8), np.float32)
    shine = pale * (word * (power * 2.6 + unlit)) + frame * (tube * (power * 2.2 + unlit))
    spill = ink * (power * 0.16)
    return np.asarray(board * panel + spill + shine, np.float32)


def _drawn(sign: Sign, wide: int, tall: int) -> tuple[Plane, Plane, Plane]:
    """Return the panel, the tube round it and the word, each (tall, wide), 0 to 1."""
    scale = 3 if wide < 40 else 2
    size = (tall * scale, wide * scale)
    panel, tube = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    edge = max(1, round(0.055 * size[1]))
    last = (size[1] - 1 - edge, size[0] - 1 - edge)
    cv2.rectangle(
        panel, (edge // 2, edge // 2), (last[0] + edge // 2, last[1] + edge // 2), 255, -1
    )
    cv2.rectangle(tube, (edge, edge), last, 255, max(1, edge))
    parts = (panel, tube, _column(sign, size[1], size[0]))
    small = [cv2.resize(part, (wide, tall), interpolation=cv2.INTER_AREA) for part in parts]
    one, two, three = (np.asarray(part, np.float32) / np.float32(255.0) for part in small)
    return one, two, three


def _column(sign: Sign, wide: int, tall: int) -> Bytes:
    """Return the letters of the word below one another."""
    sheet = Image.new("L", (wide, tall))
    pen = ImageDraw.Draw(sheet)
    pitch = tall * 0.94 / len(sign.word)
    font = font_of(sign.face, max(4, int(min(0.86 * wide, 1.18 * pitch))))
    for number, letter in enumerate(sign.word):
        at = (wide / 2, tall * 0.03 + pitch * (number + 0.5))
        pen.text(at, letter, fill=255, font=font, anchor="mm")
    return np.asarray(sheet)
